// Implements gemm(...) for the MMA operations that are not one mma.sync (mma_traits/composed.hpp): complex matmuls,
// which consist of several real instructions, and the dot products DP4A and DP2A. Each function computes one
// operation on a thread's fragments; gemm_call.hpp calls it for every (M, N, K).
#pragma once

#include <zellige/atom/fragment_registers.hpp>
#include <zellige/atom/mma_atom.hpp>
#include <zellige/atom/mma_traits/composed.hpp>

namespace zellige {
namespace detail {

template <class Op>
concept complex_op = requires {
  typename Op::RealForm;
};
template <class Op>
concept dot_op = is_same_v<Op, SM61_DP4A> || is_same_v<Op, SM61_DP2A>;

}  // namespace detail

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
/// Computes d = a * b + c with a complex matmul, which issues three or four real instructions.
template <detail::complex_op Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_DEVICE inline void mma_unpack(MMA_Traits<Op> const&, TD&& d, TA const& a, TB const& b, TC const& c) {
  typename Op::ARegisters ra;
  typename Op::BRegisters rb;
  typename Op::DRegisters sums;
  ZELLIGE_UNROLL
  for (int i = 0; i < Op::na; ++i) ra[i] = a(i);
  ZELLIGE_UNROLL
  for (int i = 0; i < Op::nb; ++i) rb[i] = b(i);
  ZELLIGE_UNROLL
  for (int i = 0; i < Op::nd; ++i) sums[i] = c(i);
  Op::call(sums, ra, rb);
  ZELLIGE_UNROLL
  for (int i = 0; i < Op::nd; ++i) d(i) = sums[i];
}

/// Computes d(0) = c(0) + the dot product of a and b in one thread. On the device, DP4A is one instruction.
template <detail::dot_op Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_DEVICE inline void mma_unpack(MMA_Traits<Op> const&, TD&& d, TA const& a, TB const& b, TC const& c) {
  int sum = c(0);
#if defined(__CUDA_ARCH__)
  if constexpr (is_same_v<Op, SM61_DP4A>) {
    int ra[1], rb[1];
    load_registers(ra, a);
    load_registers(rb, b);
    sum = __dp4a(ra[0], rb[0], sum);
  } else
#endif
  {
    ZELLIGE_UNROLL
    for (int i = 0; i < int(size(a)); ++i) sum += int(a(i)) * int(b(i));
  }
  d(0) = sum;
}
#endif

}  // namespace zellige
