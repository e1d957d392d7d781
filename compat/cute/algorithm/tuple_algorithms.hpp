// CuTe's header for algorithms on tuples: fold, transform, find_if, filter_tuple.
#pragma once
#include <cute/algorithm/functional.hpp>
#include <cute/container/tuple.hpp>
#include <cute/numeric/integer_sequence.hpp>
#include <zellige/layout/tuple_modes.hpp>

namespace zellige {

namespace detail {
// CuTe's internal names, which CUTLASS uses: apply returns f(get<I>(t)...), tapply returns
// g(f(get<I>(t))...).
template <class T, class F, int... I>
CUTE_HOST_DEVICE constexpr auto apply(T&& t, F&& f, seq<I...>) {
  return f(get<I>(static_cast<T&&>(t))...);
}
template <class T, class F, class G, int... I>
CUTE_HOST_DEVICE constexpr auto tapply(T&& t, F&& f, G&& g, seq<I...>) {
  return g(f(get<I>(static_cast<T&&>(t)))...);
}
template <class T, class U, class F, class G, int... I>
CUTE_HOST_DEVICE constexpr auto tapply(T&& t, U&& u, F&& f, G&& g, seq<I...>) {
  return g(f(get<I>(static_cast<T&&>(t)), get<I>(static_cast<U&&>(u)))...);
}
template <class T, class U, class V, class F, class G, int... I>
CUTE_HOST_DEVICE constexpr auto tapply(T&& t, U&& u, V&& v, F&& f, G&& g, seq<I...>) {
  return g(f(get<I>(static_cast<T&&>(t)), get<I>(static_cast<U&&>(u)), get<I>(static_cast<V&&>(v)))...);
}
}  // namespace detail

}  // namespace zellige
