// Reduces tensors to a value or along some of their modes, with + or another binary function.
//
//   reduce(x, 0.f)                       the sum of x's elements; reduce(x, init, op) reduces with op
//   batch_reduce(x, y)                   y(i) += x(0, i) + x(1, i) + ...
//   logical_reduce(x, y, (_, 0))         y(m) += x(m, 0) + x(m, 1) + ...: modes marked with `_` are kept
#pragma once
#include <zellige/tensor/same.hpp>

namespace zellige {

namespace detail {
ZELLIGE_CALLS_BACK
template <class S, class V, class F>
ZELLIGE_HOST_DEVICE constexpr V fold_elements(S const& x, V value, F& f) {
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x.size()); ++i) value = f(value, loaded(x(i)));
  return value;
}

template <class F, class T>
concept combines = requires(F& f, T const& t) {
  f(t, t);
};
}  // namespace detail

/// Returns f(...f(f(value, x(0)), x(1))..., x(n-1)). Does not take part in overload resolution if `value` is
/// a function of two elements: reduce(x, f) is left to overloads that the user defines.
ZELLIGE_CALLS_BACK
template <tensor_like S, class V, class F = plus>
requires(!detail::combines<V, typename S::value_type>) ZELLIGE_HOST_DEVICE constexpr V
    reduce(S const& x, V value, F&& f = {}) {
  detail::require_whole<Algorithm::reduce>(x);
  return detail::fold_elements(x, value, f);
}

/// Reduces each column i of src into dst(i): sets dst(i) to f(...f(f(dst(i), src(0, i)), src(1, i))...). src
/// must have rank 2 and one column per element of dst.
ZELLIGE_CALLS_BACK
template <tensor_like S, tensor_like D, class F = plus>
ZELLIGE_HOST_DEVICE constexpr void batch_reduce(S const& src, D&& dst, F&& f = {}) {
  if constexpr (S::rank != 2) {
    tensors_differ_in_rank<Algorithm::batch_reduce, S::rank, 2>();
  } else {
    detail::require_same_size<Algorithm::batch_reduce>(size<1>(src), dst.size());
    detail::require_whole<Algorithm::batch_reduce>(src, dst);
    ZELLIGE_UNROLL
    for (int i = 0; i < int(dst.size()); ++i)
      dst(i) = detail::fold_elements(src(Underscore{}, i), detail::loaded(dst(i)), f);
  }
}

namespace detail {
// Returns l, or _1:_0 if l has no modes: such a layout counts as one element.
template <class L>
ZELLIGE_HOST_DEVICE constexpr auto none_empty(L const& l) {
  if constexpr (L::rank == 0)
    return Layout<Int<1>, Int<0>>{};
  else
    return l;
}
}  // namespace detail
/// Reduces src with f over the modes of src for which the profile has no `_`, and combines the results with
/// dst. dst must have one element per coordinate of the remaining modes, for which the profile has `_`.
ZELLIGE_CALLS_BACK
template <tensor_like S, tensor_like D, class P, class F = plus>
ZELLIGE_HOST_DEVICE constexpr void logical_reduce(S const& src, D&& dst, P const& profile, F&& f = {}) {
  using At = detail::misfit<P, remove_cvref_t<decltype(src.shape())>>;
  if constexpr (At::crd != At::layout) {
    coordinate_and_layout_differ_in_rank<At::crd, At::layout>();
  } else {
    auto const reduced = detail::none_empty(dice(profile, src.layout()));
    auto const kept = detail::none_empty(slice(profile, src.layout()));
    batch_reduce(detail::view_of(src, src.data(), make_layout(reduced, kept)), dst, f);
  }
}

}  // namespace zellige
