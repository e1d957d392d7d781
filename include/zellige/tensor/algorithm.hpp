// copy, fill, gemm and their like on tensors, element by element.
//
// Tensors of different sizes are refused: by the compiler where both sizes are static, else at run time.
#pragma once
#include <zellige/tensor/partition.hpp>

namespace zellige {

namespace detail {
// Two static sizes that differ.
template <class A, class B>
inline constexpr bool clash = false;
template <auto a, auto b>
inline constexpr bool clash<C<a>, C<b>> = a != b;

// At compile time, or at run time, the two sizes are the same.
template <Op op, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void require_same(A const& a, B const& b) {
  if constexpr (is_constant_v<A> && is_constant_v<B>) {
    if constexpr (A::value != B::value) sizes_differ<op, A::value, B::value>();
  } else {
#if ZELLIGE_CHECK
    if (static_cast<long long>(a) != static_cast<long long>(b)) broken(Rule::sizes_differ, a, b);
#endif
  }
}
}  // namespace detail

namespace detail {
// Of one rank, and of one size mode by mode.
template <Op op, class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr void require_same_modes(A const& a, B const& b, seq<I...>) {
  (require_same<op>(size<I>(a), size<I>(b)), ...);
}
template <Op op, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void require_same_shape(A const& a, B const& b) {
  if constexpr (A::rank != B::rank)
    tensors_differ_in_rank<op, A::rank, B::rank>();
  else if constexpr (A::rank > 0)
    require_same_modes<op>(a, b, make_seq<A::rank>{});
}
}  // namespace detail

/// dst(i) = src(i) at every i where pred(i).
template <class P, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy_if(P const& pred, S const& src, D&& dst) {
  detail::require_same_shape<Op::copy>(src, dst);
  ZELLIGE_UNROLL
  for (int i = 0; i < int(src.size()); ++i) {
    if (pred(i)) dst(i) = src(i);
  }
}
template <tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(S const& src, D&& dst) {
  detail::require_same_shape<Op::copy>(src, dst);
  ZELLIGE_UNROLL
  for (int i = 0; i < int(src.size()); ++i) dst(i) = src(i);
}
template <tensor_like D, class V>
ZELLIGE_HOST_DEVICE constexpr void fill(D&& dst, V const& value) {
  using T = typename remove_cvref_t<D>::value_type;
  ZELLIGE_UNROLL
  for (int i = 0; i < int(dst.size()); ++i) dst(i) = T(value);
}
template <tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void clear(D&& dst) {
  using T = typename remove_cvref_t<D>::value_type;
  ZELLIGE_UNROLL
  for (int i = 0; i < int(dst.size()); ++i) dst(i) = T{};
}
/// y = alpha * x + beta * y; y is not read where beta is 0.
template <class A, tensor_like S, class B, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void axpby(A const& alpha, S const& x, B const& beta, D&& y) {
  detail::require_same<Op::axpby>(x.size(), y.size());
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x.size()); ++i) {
    if (beta == B(0))
      y(i) = alpha * x(i);
    else
      y(i) = alpha * x(i) + beta * y(i);
  }
}
template <tensor_like X, class F>
ZELLIGE_HOST_DEVICE constexpr void for_each(X const& x, F&& f) {
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x.size()); ++i) f(x(i));
}
/// y(i) = f(x(i)), and y(i) = f(x0(i), x1(i)).
template <tensor_like S, tensor_like D, class F>
requires(!tensor_like<F>) ZELLIGE_HOST_DEVICE constexpr void transform(S const& x, D&& y, F&& f) {
  detail::require_same<Op::transform>(x.size(), y.size());
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x.size()); ++i) y(i) = f(x(i));
}
template <tensor_like S, tensor_like S1, tensor_like D, class F>
ZELLIGE_HOST_DEVICE constexpr void transform(S const& x0, S1 const& x1, D&& y, F&& f) {
  detail::require_same<Op::transform>(x0.size(), y.size());
  detail::require_same<Op::transform>(x1.size(), y.size());
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x0.size()); ++i) y(i) = f(x0(i), x1(i));
}
template <tensor_like S, class V, class F = plus>
ZELLIGE_HOST_DEVICE constexpr V reduce(S const& x, V value, F&& f = {}) {
  ZELLIGE_UNROLL
  for (int i = 0; i < int(x.size()); ++i) value = f(value, x(i));
  return value;
}

/// D = A * B^T + C, with A of (M[, K]), B of (N[, K]), C and D of (M, N), or all of the same vector.
template <tensor_like D, tensor_like A, tensor_like B, tensor_like C>
ZELLIGE_HOST_DEVICE constexpr void gemm(D&& d, A const& a, B const& b, C const& c) {
  constexpr int ra = A::rank, rb = B::rank, rc = remove_cvref_t<C>::rank;
  static_assert((ra == 1 && rb == 1 && (rc == 1 || rc == 2)) || (ra == 2 && rb == 2 && rc == 2),
                "gemm(D, A, B, C): ranks must be 1, 1, 1 (elementwise), 1, 1, 2 (outer product) or 2, 2, 2");
  if constexpr (rc == 1) {
    detail::require_same<Op::gemm>(a.size(), c.size());
    detail::require_same<Op::gemm>(b.size(), c.size());
    ZELLIGE_UNROLL
    for (int i = 0; i < int(c.size()); ++i) d(i) = a(i) * b(i) + c(i);
  } else {
    if constexpr (!detail::clash<decltype(size<0>(a)), decltype(size<0>(c))>) {
      detail::require_same<Op::gemm>(size<0>(b), size<1>(c));
    }
    detail::require_same<Op::gemm>(size<0>(a), size<0>(c));
    if constexpr (ra == 2) detail::require_same<Op::gemm>(size<1>(a), size<1>(b));
    int const depth = ra == 2 ? int(a.size()) / int(size<0>(a)) : 1;
    ZELLIGE_UNROLL
    for (int m = 0; m < int(size<0>(c)); ++m) {
      ZELLIGE_UNROLL
      for (int n = 0; n < int(size<1>(c)); ++n) {
        auto sum = c(m, n);
        ZELLIGE_UNROLL
        for (int k = 0; k < depth; ++k) {
          if constexpr (ra == 2)
            sum = a(m, k) * b(n, k) + sum;
          else
            sum = a(m) * b(n) + sum;
        }
        d(m, n) = sum;
      }
    }
  }
}
template <tensor_like A, tensor_like B, tensor_like C>
ZELLIGE_HOST_DEVICE constexpr void gemm(A const& a, B const& b, C&& c) {
  gemm(c, a, b, c);
}

template <tensor_like A, tensor_like B>
ZELLIGE_HOST_DEVICE constexpr auto max_common_vector(A const& a, B const& b) {
  return max_common_vector(a.layout(), b.layout());
}
template <tensor_like A, tensor_like B>
ZELLIGE_HOST_DEVICE constexpr auto max_common_layout(A const& a, B const& b) {
  return max_common_layout(a.layout(), b.layout());
}

}  // namespace zellige
