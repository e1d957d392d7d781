// CuTe's header for `_`, the marker of modes that a slice keeps, with slice and dice.
#pragma once
#include <cute/container/tuple.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout/slice.hpp>

namespace zellige {

/// True if a tuple contains a leaf of type Elem, at any depth. all_elem: if all leaves have that type.
template <class T, class Elem>
struct has_elem : bool_constant<is_same_v<T, Elem>> {};
template <class... T, class Elem>
struct has_elem<tuple<T...>, Elem> : bool_constant<(has_elem<T, Elem>::value || ...)> {};
template <class T, class Elem>
struct all_elem : bool_constant<is_same_v<T, Elem>> {};
template <class... T, class Elem>
struct all_elem<tuple<T...>, Elem> : bool_constant<(all_elem<T, Elem>::value && ...)> {};

template <class T>
using has_underscore = has_elem<T, Underscore>;
template <class T>
using all_underscore = all_elem<T, Underscore>;
template <class T>
using has_int0 = has_elem<T, Int<0>>;
template <class T>
using has_int1 = has_elem<T, Int<1>>;

}  // namespace zellige
