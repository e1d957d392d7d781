// Defines gemm([D,] A, B, C), which computes D = A * B^T + C with multiply and add, on elements that one thread holds.
// Without D, the result is written to C. The ranks of A, B and C select the operation:
//
//   (V)     x (V)     => (V)            d(v) = a(v) b(v) + c(v)
//   (M)     x (N)     => (M, N)         outer product, d(m, n) = a(m) b(n) + c(m, n)
//   (M, K)  x (N, K)  => (M, N)         matrix product, d(m, n) = sum over k of a(m, k) b(n, k) + c(m, n)
//   (V, M)  x (V, N)  => (V, M, N)      V outer products
//   (V, M, K) x (V, N, K) => (V, M, N)  V matrix products
//
// Sizes that do not match are refused, with a hint at the most frequent error: A and B swapped.
#pragma once
#include <zellige/tensor/same.hpp>

namespace zellige {

namespace detail {
// The condition of a matmul that static sizes violate.
enum class GemmMisfit : signed char { none, ranks, values, rows, columns, depth, result };

template <int I, class X>
using size_t_of = decltype(size<I>(lvalue<X const>()));

// The positions of V, M, N and K among the modes of A and B; -1: not present, -2: no valid case.
struct ProductModes {
  int v, m, n, k;
};
ZELLIGE_HOST_DEVICE consteval ProductModes product_modes(int ra, int rb, int rc) {
  if (ra == 1 && rb == 1 && rc == 1) return {0, -1, -1, -1};
  if (ra == 1 && rb == 1 && rc == 2) return {-1, 0, 0, -1};
  if (ra == 2 && rb == 2 && rc == 2) return {-1, 0, 0, 1};
  if (ra == 2 && rb == 2 && rc == 3) return {0, 1, 1, -1};
  if (ra == 3 && rb == 3 && rc == 3) return {0, 1, 1, 2};
  return {-2, -2, -2, -2};
}
/// Returns the first condition on the sizes of the tensors of a matmul that their static sizes violate, or
/// Misfit::none.
template <class D, class A, class B, class C>
ZELLIGE_HOST_DEVICE consteval GemmMisfit find_misfit() {
  constexpr ProductModes p = product_modes(A::rank, B::rank, C::rank);
  if constexpr (p.m == -2 || D::rank != C::rank) {
    return GemmMisfit::ranks;
  } else {
    if constexpr (p.v >= 0) {
      if (clash<size_t_of<0, A>, size_t_of<0, C>> || clash<size_t_of<0, B>, size_t_of<0, C>>) return GemmMisfit::values;
    }
    if constexpr (p.m >= 0) {
      if (clash<size_t_of<p.m, A>, size_t_of<p.m, C>>) return GemmMisfit::rows;
      if (clash<size_t_of<p.n, B>, size_t_of<p.m + 1, C>>) return GemmMisfit::columns;
    }
    if constexpr (p.k >= 0) {
      if (clash<size_t_of<p.k, A>, size_t_of<p.k, B>>) return GemmMisfit::depth;
    }
    return first_clash<D, C> >= 0 ? GemmMisfit::result : GemmMisfit::none;
  }
}

/// Reports the violated condition `misfit` as a compile error, with the two sizes that do not match.
template <Algorithm g, GemmMisfit misfit, class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void refuse_product(A const& a, B const& b, C const& c) {
  constexpr ProductModes p = product_modes(A::rank, B::rank, C::rank);
  if constexpr (misfit == GemmMisfit::values) {
    if constexpr (clash<decltype(size<0>(a)), decltype(size<0>(c))>)
      sizes_differ_in_a_mode<g, decltype(size<0>(a))::value, decltype(size<0>(c))::value>();
    else
      sizes_differ_in_a_mode<g, decltype(size<0>(b))::value, decltype(size<0>(c))::value>();
  } else if constexpr (misfit == GemmMisfit::rows) {
    sizes_differ_A_and_C_have_other_rows_are_A_and_B_swapped<g, decltype(size<p.m>(a))::value,
                                                             decltype(size<p.m>(c))::value>();
  } else if constexpr (misfit == GemmMisfit::columns) {
    sizes_differ_B_has_other_rows_than_C_has_columns<g, decltype(size<p.n>(b))::value,
                                                     decltype(size<p.m + 1>(c))::value>();
  } else {
    sizes_differ_A_and_B_have_other_depths<g, decltype(size<p.k>(a))::value, decltype(size<p.k>(b))::value>();
  }
}

/// Checks at run time that the sizes of A, B and C match, and that none of these tensors is a partial tile.
template <Algorithm g, class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void check_product(A const& a, B const& b, C const& c) {
  constexpr ProductModes p = product_modes(A::rank, B::rank, C::rank);
  if constexpr (p.v >= 0) {
    check_same(g, "A has {x} values and C has {y}; they must be the same", size<0>(a), size<0>(c));
    check_same(g, "B has {x} values and C has {y}; they must be the same", size<0>(b), size<0>(c));
  }
  if constexpr (p.m >= 0) {
    check_same(g, "A has {x} rows and C has {y}; they must be the same (are A and B swapped?)", size<p.m>(a),
               size<p.m>(c));
    check_same(g, "B has {x} rows and C has {y} columns; they must be the same", size<p.n>(b), size<p.m + 1>(c));
  }
  if constexpr (p.k >= 0)
    check_same(g, "A has {x} columns and B has {y}; they must be the same", size<p.k>(a), size<p.k>(b));
  require_whole<g>(a, b, c);
}

/// Computes d = a * b^T + c, without checks.
template <class D, class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void multiply(D& d, A const& a, B const& b, C const& c) {
  constexpr ProductModes p = product_modes(A::rank, B::rank, C::rank);
  if constexpr (p.m < 0) {
    ZELLIGE_UNROLL
    for (int v = 0; v < int(c.size()); ++v) d(v) = loaded(a(v)) * loaded(b(v)) + loaded(c(v));
  } else if constexpr (p.v >= 0) {
    ZELLIGE_UNROLL
    for (int v = 0; v < int(size<0>(c)); ++v) {
      auto dv = d(v, Underscore{}, Underscore{});
      auto const cv = c(v, Underscore{}, Underscore{});
      if constexpr (p.k >= 0)
        multiply(dv, a(v, Underscore{}, Underscore{}), b(v, Underscore{}, Underscore{}), cv);
      else
        multiply(dv, a(v, Underscore{}), b(v, Underscore{}), cv);
    }
  } else {
    ZELLIGE_UNROLL
    for (int m = 0; m < int(size<0>(c)); ++m) {
      ZELLIGE_UNROLL
      for (int n = 0; n < int(size<1>(c)); ++n) {
        typename C::value_type sum = c(m, n);
        if constexpr (p.k >= 0) {
          ZELLIGE_UNROLL
          for (int k = 0; k < int(size<1>(a)); ++k) sum = loaded(a(m, k)) * loaded(b(n, k)) + sum;
        } else {
          sum = loaded(a(m)) * loaded(b(n)) + sum;
        }
        d(m, n) = sum;
      }
    }
  }
}
}  // namespace detail

namespace detail {
/// Checks the arguments and computes d = a * b^T + c.
template <class D, class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void product_into(D& d, A const& a, B const& b, C const& c) {
  constexpr GemmMisfit misfit = find_misfit<D, A, B, C>();
  constexpr auto g = Algorithm::gemm;
  if constexpr (misfit == GemmMisfit::ranks) {
    no_product_of_such_ranks_needed_are_111_112_222_223_or_333<g, A::rank, B::rank, C::rank>();
  } else if constexpr (misfit == GemmMisfit::none || misfit == GemmMisfit::result) {
    // The result must have the modes of C, not only the same number of elements.
    require_same_shape<g>(c, d);
    if constexpr (C::rank == D::rank && !counts_clash<C, D>) {
      if constexpr (C::rank == 0 || first_clash<C, D> < 0) {
        require_whole<g>(c, d);
        if constexpr (same_counts<C, D>) {
          check_product<g>(a, b, c);
          multiply(d, a, b, c);
        }
      }
    }
  } else {
    refuse_product<g, misfit>(a, b, c);
  }
}
}  // namespace detail

/// Computes D = A * B^T + C; D must have the shape of C.
template <tensor_like D, tensor_like A, tensor_like B, tensor_like C>
ZELLIGE_HOST_DEVICE constexpr void gemm(D&& d, A const& a, B const& b, C const& c) {
  detail::product_into(d, a, b, c);
}
/// Computes C = A * B^T + C.
template <tensor_like A, tensor_like B, tensor_like C>
ZELLIGE_HOST_DEVICE constexpr void gemm(A const& a, B const& b, C&& c) {
  detail::product_into(c, a, b, c);
}

}  // namespace zellige
