// The marker `_` of slices, and the modes that it keeps.
#pragma once
#include <cute/container/tuple.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout/slice.hpp>

namespace zellige {

/// True if a tuple has an element of this type, or only such elements; at any
/// depth.
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
