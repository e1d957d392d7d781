// gemm(mma, D, A, B, C): computes D = A B^T + C on the fragments of one thread with `mma`, an MMA_Atom or a
// TiledMMA. Issues one instruction per (M, N, K) of the fragments A (V, M, K), B (V, N, K), and C and D (V,
// M, N).
//
// The functions that issue one instruction are in mma_call.hpp (mma.sync) and gmma_call.hpp (wgmma).
#pragma once

#include <zellige/atom/tiled_mma.hpp>

namespace zellige {

/// Computes d(0) = a(0) * b(0) + c(0), where the fragments have one element each. This is the overload for
/// UniversalFMA, a scalar multiply-add; overloads for other traits issue one matrix instruction.
template <class D, class A, class B, class C, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_HOST_DEVICE constexpr void mma_unpack(MMA_Traits<UniversalFMA<D, A, B, C>> const&, TD&& d, TA const& a,
                                              TB const& b, TC const& c) {
  d(0) = D(A(a(0)) * B(b(0)) + C(c(0)));
}

/// An MMA_Atom or a TiledMMA.
template <class T>
concept mma_like = requires {
  typename T::Shape_MNK;
  typename T::LayoutC_TV;
};

namespace detail {
/// True if A and B are in shared memory, and the instruction of Mma, which several threads issue, reads registers.
template <class Mma, class A, class B>
ZELLIGE_ALGEBRA consteval bool loads_operands() {
  if constexpr (!is_smem_v<A> || !is_smem_v<B> || decltype(size(typename Mma::ThrID{}))::value == 1)
    return false;
  else
    return is_rmem_v<decltype(Mma::make_fragment_A(lvalue<A const>()))>;
}
}  // namespace detail

/// Computes D = A B^T + C on fragments. A, B and C have the modes (V), (V), (V); or (V,M), (V,N), (V,M,N); or
/// (V,M,K), (V,N,K), (V,M,N). D has the modes of C. Of rank 3, A and B may be a thread's parts of shared memory, which
/// are copied to registers. Fails to compile for other ranks, or if static extents differ.
template <mma_like Mma, tensor_like D, tensor_like A, tensor_like B, tensor_like C>
ZELLIGE_HOST_DEVICE constexpr void gemm(Mma const& mma, D&& d, A const& a, B const& b, C const& c) {
  constexpr int ra = A::rank, rb = B::rank, rc = C::rank;
  constexpr bool known =
      (ra == 1 && rb == 1 && rc == 1) || (ra == 2 && rb == 2 && rc == 3) || (ra == 3 && rb == 3 && rc == 3);
  static_assert(known,
                "gemm(mma, D, A, B, C): the ranks are 1, 1, 1 (V), 2, 2, 3 (V,M),(V,N) or 3, 3, 3 (V,M,K),(V,N,K)");
  if constexpr (!known) {
    return;
  } else if constexpr (ra == 1) {
    mma.call(d, a, b, c);
  } else if constexpr (ra == 2) {
    static_assert(!detail::clash<decltype(size<1>(a)), decltype(size<1>(c))>,
                  "gemm(mma, D, A, B, C): A and C differ in M");
    static_assert(!detail::clash<decltype(size<1>(b)), decltype(size<2>(c))>,
                  "gemm(mma, D, A, B, C): B and C differ in N");
    int const rows = int(size<1>(a)), columns = int(size<1>(b));
    // Serpentine order: odd columns are traversed from the last row to the first, so that consecutive
    // instructions share an operand.
    ZELLIGE_UNROLL
    for (int n = 0; n < columns; ++n) {
      ZELLIGE_UNROLL
      for (int m = 0; m < rows; ++m) {
        int const i = n % 2 == 0 ? m : rows - 1 - m;
        gemm(mma, d(Underscore{}, i, n), a(Underscore{}, i), b(Underscore{}, n), c(Underscore{}, i, n));
      }
    }
  } else {
    static_assert(!detail::clash<decltype(size<2>(a)), decltype(size<2>(b))>,
                  "gemm(mma, D, A, B, C): A and B differ in K");
    if constexpr (detail::loads_operands<Mma, A, B>()) {
      auto in_a = Mma::make_fragment_A(a);
      auto in_b = Mma::make_fragment_B(b);
      copy(a, in_a);
      copy(b, in_b);
      gemm(mma, d, in_a, in_b, c);
    } else {
      ZELLIGE_UNROLL
      for (int k = 0; k < int(size<2>(a)); ++k) {
        if (k == 0)
          gemm(mma, d, a(Underscore{}, Underscore{}, k), b(Underscore{}, Underscore{}, k), c);
        else
          gemm(mma, d, a(Underscore{}, Underscore{}, k), b(Underscore{}, Underscore{}, k), d);
      }
    }
  }
}
/// Adds A B^T to C: the same as gemm(mma, C, A, B, C).
template <mma_like Mma, tensor_like A, tensor_like B, tensor_like C>
ZELLIGE_HOST_DEVICE constexpr void gemm(Mma const& mma, A const& a, B const& b, C&& c) {
  gemm(mma, c, a, b, c);
}

}  // namespace zellige
