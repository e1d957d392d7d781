// Defines algorithms over all elements of tensors: fill, clear, axpby, for_each and transform.
//
//   axpby(2.f, x, 0.f, y)        y = 2 x + 0 y; y is not read if its factor is 0
//   transform(x, f)              x(i) = f(x(i))
//   transform(x, y, f)           y(i) = f(x(i))
//
// The tensors of a call must have the same number of elements, and none may be a partial tile that reaches beyond the
// end of its tensor. A violation is a compile error if the numbers are static; else it is reported at run time
// (tensor/check.hpp).
#pragma once
#include <zellige/tensor/copy.hpp>
#include <zellige/tensor/gemm.hpp>
#include <zellige/tensor/partition.hpp>
#include <zellige/tensor/reduce.hpp>

namespace zellige {

/// Assigns the value, converted to the element type, to every element of dst.
template <tensor_like D, class V>
ZELLIGE_HOST_DEVICE constexpr void fill(D&& dst, V const& value) {
  using T = typename remove_cvref_t<D>::value_type;
  detail::require_whole<Algorithm::fill>(dst);
  ZELLIGE_UNROLL
  for (int i = 0; i < int(dst.size()); ++i) dst(i) = T(value);
}
/// Assigns a value-initialised element, which is zero for numbers, to every element of dst.
template <tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void clear(D&& dst) {
  using T = typename remove_cvref_t<D>::value_type;
  detail::require_whole<Algorithm::clear>(dst);
  ZELLIGE_UNROLL
  for (int i = 0; i < int(dst.size()); ++i) dst(i) = T{};
}

namespace detail {
ZELLIGE_CALLS_BACK
template <class A, class S, class B, class D, class P>
ZELLIGE_HOST_DEVICE constexpr void axpby_each(A const& alpha, S const& x, B const& beta, D& y, P const& pred) {
  using T = typename D::value_type;
  bool const reads = !(beta == B(0));
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x.size()); ++i) {
    if (pred(i)) {
      if (reads)
        y(i) = T(alpha * loaded(x(i)) + beta * loaded(y(i)));
      else
        y(i) = T(alpha * loaded(x(i)));
    }
  }
}
struct everywhere {
  ZELLIGE_HOST_DEVICE constexpr true_type operator()(int) const { return {}; }
};
}  // namespace detail
/// Computes y = alpha * x + beta * y element by element. y is not read if beta is 0.
template <class A, tensor_like S, class B, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void axpby(A const& alpha, S const& x, B const& beta, D&& y) {
  detail::require_same_counts<Algorithm::axpby>(x, y);
  if constexpr (detail::same_counts<S, remove_cvref_t<D>>) detail::axpby_each(alpha, x, beta, y, detail::everywhere{});
}
/// Computes y(i) = alpha * x(i) + beta * y(i) for every i for which pred(i) is true. `pred` is a function or a
/// tensor; a tensor must have at least as many elements as x.
ZELLIGE_CALLS_BACK
template <class A, tensor_like S, class B, tensor_like D, class P>
ZELLIGE_HOST_DEVICE constexpr void axpby(A const& alpha, S const& x, B const& beta, D&& y, P const& pred) {
  detail::require_same_count<Algorithm::axpby>(x, y);
  if constexpr (tensor_like<P>) detail::require_as_many<Algorithm::axpby>(pred.size(), x.size());
  detail::axpby_each(alpha, x, beta, y, pred);
}

/// Calls f(x(i)) for every element of x.
ZELLIGE_CALLS_BACK
template <tensor_like X, class F>
ZELLIGE_HOST_DEVICE constexpr void for_each(X&& x, F&& f) {
  detail::require_whole<Algorithm::for_each>(x);
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x.size()); ++i) f(x(i));
}

namespace detail {
ZELLIGE_CALLS_BACK
template <class X, class F>
ZELLIGE_HOST_DEVICE constexpr void transform_each(X& x, F& f) {
  require_whole<Algorithm::transform>(x);
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x.size()); ++i) x(i) = f(loaded(x(i)));
}
}  // namespace detail
/// Replaces every element x(i) by f(x(i)).
ZELLIGE_CALLS_BACK
template <tensor_like X, class F>
ZELLIGE_HOST_DEVICE constexpr void transform(X& x, F&& f) {
  detail::transform_each(x, f);
}
ZELLIGE_CALLS_BACK
template <tensor_like X, class F>
ZELLIGE_HOST_DEVICE constexpr void transform(X const& x, F&& f) {
  detail::transform_each(x, f);
}
/// Sets y(i) = f(x(i)) for every element of x and y.
ZELLIGE_CALLS_BACK
template <tensor_like S, tensor_like D, class F>
requires(!tensor_like<F>) ZELLIGE_HOST_DEVICE constexpr void transform(S const& x, D&& y, F&& f) {
  detail::require_same_counts<Algorithm::transform>(x, y);
  if constexpr (detail::same_counts<S, remove_cvref_t<D>>) {
    ZELLIGE_UNROLL
    for (int i = 0; i < int(x.size()); ++i) y(i) = f(detail::loaded(x(i)));
  }
}
/// Sets y(i) = f(x0(i), x1(i)) for every element of x0, x1 and y.
ZELLIGE_CALLS_BACK
template <tensor_like S, tensor_like S1, tensor_like D, class F>
ZELLIGE_HOST_DEVICE constexpr void transform(S const& x0, S1 const& x1, D&& y, F&& f) {
  detail::require_same_counts<Algorithm::transform>(x0, y);
  if constexpr (detail::same_counts<S, remove_cvref_t<D>>) {
    detail::require_same_counts<Algorithm::transform>(x1, y);
    if constexpr (detail::same_counts<S1, remove_cvref_t<D>>) {
      ZELLIGE_UNROLL
      for (int i = 0; i < int(x0.size()); ++i) y(i) = f(detail::loaded(x0(i)), detail::loaded(x1(i)));
    }
  }
}

}  // namespace zellige
