// Implements gemm(...) for mma.sync: the function that issues one instruction on a thread's register fragments.
// gemm_call.hpp calls it for every (M, N, K) of the fragments. `mma` is an MMA_Atom, or a TiledMMA, which repeats the
// instruction over threads and values.
//
//   gemm(mma, a, b, c);            (V), (V) => (V)                 one instruction, c += a * b
//                                  (V, M), (V, N) => (V, M, N)     every pair
//                                  (V, M, K), (V, N, K) => (V, M, N)
//   gemm(mma, d, a, b, c);         d = a * b + c
#pragma once

#include <zellige/atom/gemm_call.hpp>
#include <zellige/atom/mma_composed.hpp>
#include <zellige/atom/mma_traits/names.hpp>

namespace zellige {

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace detail {
template <class X>
inline constexpr bool elsewhere = is_gmem_v<X> || is_smem_v<X> || is_tmem_v<X>;
/// An instruction with a mma_unpack of its own: it takes scales or metadata beside A and B (narrow_mma_call.hpp), or its
/// operands are in tensor or shared memory (umma.hpp).
template <class Op>
concept takes_other_operands = requires {
  requires Op::scaled || Op::sparse;
}
|| requires { Op::a_in_tmem; };
}  // namespace detail
/// Computes d = a * b + c with one mma.sync. The four tensors are a thread's fragments for one instruction, in
/// registers. Called by MMA_Atom::call.
template <class Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
requires(requires { typename Op::ARegisters; } && !detail::complex_op<Op> && !SM90::GMMA::warpgroup_operation<Op> &&
         !detail::dot_op<Op> && !detail::takes_other_operands<Op>) ZELLIGE_DEVICE
    inline void mma_unpack(MMA_Traits<Op> const&, TD&& d, TA const& a, TB const& b, TC const& c) {
  static_assert(!detail::elsewhere<remove_cvref_t<TD>> && !detail::elsewhere<TA> && !detail::elsewhere<TB> &&
                    !detail::elsewhere<TC>,
                "a warp's MMA takes registers: fragments, not tensors in global or shared memory");
  typename Op::ARegisters ra;
  typename Op::BRegisters rb;
  typename Op::DRegisters rd;
  load_registers(ra, a);
  load_registers(rb, b);
  load_registers(rd, c);
  mma<Op>(rd, ra, rb);
  store_registers(d, rd);
}
#endif

}  // namespace zellige
