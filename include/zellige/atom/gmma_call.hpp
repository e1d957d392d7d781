// Implements gemm(mma, rA, rB, rC) with wgmma. The fragments rA and rB are tensors of shared-memory descriptors; rA
// may instead be in registers. No other code may access the accumulators rC from warpgroup_arrive() until
// warpgroup_wait() returns.
//
//   warpgroup_fence_operand(rC);
//   warpgroup_arrive();
//   gemm(mma, rA(_, _, _, stage), rB(_, _, _, stage), rC);
//   warpgroup_commit_batch();
//   warpgroup_wait<0>();
//   warpgroup_fence_operand(rC);
#pragma once

#include <zellige/atom/gemm_call.hpp>
#include <zellige/atom/gmma_descriptor.hpp>
#include <zellige/atom/mma_traits/fma.hpp>
#include <zellige/atom/wgmma.hpp>
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include <zellige/atom/wgmma_references.hpp>
#endif
#if !defined(__CUDACC_RTC__)
#include <zellige/atom/mma_call.hpp>
#endif

namespace zellige {
namespace detail {

/// The type of the registers of accumulators of type T.
template <class T>
struct accumulator_register {
  using type = uint32_t;  // two halves
};
template <>
struct accumulator_register<float> {
  using type = float;
};
template <>
struct accumulator_register<int> {
  using type = int32_t;
};

/// Returns the registers of fragment x as an array of R. The result is a reference, because wgmma writes to
/// the registers asynchronously. Fails to compile if the values of x are not consecutive.
template <class R, tensor_like X>
ZELLIGE_DEVICE inline auto& registers_in_place(X& x) {
  using T = typename remove_cvref_t<X>::value_type;
  constexpr int n = decltype(size(x))::value * int(sizeof(T)) / int(sizeof(R));
  static_assert(
      is_constant<1, decltype(stride<0>(coalesce(x.layout())))>::value && decltype(coalesce(x.layout()))::rank == 1,
      "a warpgroup instruction needs the values of a fragment in consecutive registers");
  return reinterpret_cast<R(&)[n]>(const_cast<T&>(*x.data()));
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
/// Returns the layout by which issue_wgmma accesses the n accumulators of the fragment d: d's own, as in CuTe, or n:1 for
/// more than 64 accumulators. The code of these is long enough with simple indices, and nvcc's time grows faster than
/// the length: FlashMLA's kernel, of 128 accumulators, takes 15 seconds with n:1 and 44 with d's layout, for equal PTX.
template <int n, class X>
ZELLIGE_CALL auto accumulator_layout(X& d) {
  if constexpr (n > 64)
    return Layout<Int<n>, Int<1>>{};
  else
    return recast<typename accumulator_register<typename remove_cvref_t<X>::value_type>::type>(d).layout();
}
/// Issues one wgmma of type Op on the accumulators d[I]..., of type Register. The descriptor or the registers of A are
/// a, the descriptor of B is b.
///
/// Each accumulator is an argument of its own, which is an access to a tensor, as in CuTe. nvcc inlines a short
/// function before it orders sums and hoists them out of loops, and a long one after that; it measures the length
/// before it simplifies. A kernel that multiplies in a lambda, as attention kernels do, is compiled to CuTe's machine
/// code only if the code that issues an instruction is about as long as CuTe's.
template <class Op, class Register, class Sums, class OperandA, int... I>
ZELLIGE_CALL void issue_wgmma(Sums& d, OperandA const& a, uint64_t const& b, bool accumulate, seq<I...>) {
  using T = typename Op::TypeA;
  constexpr int sa = int(Op::a_scale), sb = int(Op::b_scale), n = sizeof...(I);
  constexpr bool is_float = is_float_register<Register>;
  using Type = wgmma_saturated<wgmma_type<T, typename Op::TypeB, Register>, Op::saturates>;
  using N = wgmma_digits<2 * n * Type::packed>;
  wgmma_check<T, 2 * n * Type::packed, Op::a_major, Op::b_major, sa, sb, Op::saturates, Register>();
  using Tail = wgmma_tail<T, sa, sb, !Op::a_registers, Op::a_major, Op::b_major>;
  using Instruction = wgmma_references<n, is_float>;
  if constexpr (Op::a_registers)
    Instruction::template rs<Register, N, Type, Tail>(a[0], a[1], a[2], a[3], b, d[I]..., accumulate);
  else
    Instruction::template ss<Register, N, Type, Tail>(a, b, d[I]..., accumulate);
}
#endif

}  // namespace detail

/// Issues one wgmma: d += a b, or d = a b if traits.accumulate_ is ScaleOut::Zero. The caller must pass `d`
/// as `c`, because the instruction accumulates in place.
template <SM90::GMMA::warpgroup_operation Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_DEVICE inline void mma_unpack(MMA_Traits<Op> const& traits, TD&& d, TA const& a, TB const& b, TC const& c) {
  (void)c;  // d itself: the instruction accumulates in place
  using Register = typename detail::accumulator_register<typename Op::TypeD>::type;
  auto& registers = detail::registers_in_place<Register>(d);
  bool const accumulate = traits.accumulate_ == SM90::GMMA::ScaleOut::One;
  unsigned long long const db = b(0);
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int n = int(sizeof(registers) / sizeof(Register));
  auto sums = make_tensor(&registers[0], detail::accumulator_layout<n>(d));
  if constexpr (Op::a_registers)
    detail::issue_wgmma<Op, Register>(sums, detail::registers_in_place<uint32_t>(a), db, accumulate, make_seq<n>{});
  else
    detail::issue_wgmma<Op, Register>(sums, uint64_t(a(0)), db, accumulate, make_seq<n>{});
#else
  using T = typename Op::TypeA;
  using U = typename Op::TypeB;
  constexpr int sa = int(Op::a_scale), sb = int(Op::b_scale);
  if constexpr (Op::a_registers) {
    auto& ra = detail::registers_in_place<uint32_t>(a);
    wgmma<T, Op::b_major, U, sa, sb, Op::saturates>(registers, ra, db, accumulate);
  } else {
    unsigned long long const da = a(0);
    wgmma<T, Op::a_major, Op::b_major, U, sa, sb, Op::saturates>(registers, da, db, accumulate);
  }
#endif
}

namespace SM90::GMMA {
/// The operands of Op::fma(a..., b, c..., scale_D), collected in arrays: the descriptor or registers of A, the
/// descriptor of B, the accumulators, and the accumulator scale, which is One if it is not passed.
template <class Op, class... R>
struct GivenRegisters {
  static constexpr int na = zellige::detail::register_count<typename Op::ARegisters>;
  static constexpr int nc = zellige::detail::register_count<typename Op::CRegisters>;
  static_assert(sizeof...(R) == na + 1 + nc || sizeof...(R) == na + 2 + nc,
                "fma of a warpgroup takes A, B, each register of the accumulators, and their scale");
  conditional_t<Op::a_registers, uint32_t, uint64_t> a[na];
  uint64_t b;
  conditional_t<Op::row().d == Number::f32, float, conditional_t<Op::row().d == Number::f16, uint32_t, int32_t>>
      sums[nc];
  ScaleOut scale = ScaleOut::One;

  /// Copies x, argument number I of fma(a..., b, c..., scale_D), and `more`, the arguments after it, to this object's
  /// members: arguments of A to `a`, of B to `b`, of C to `sums`, scale_D to `scale`.
  template <int I, class X, class... More>
  ZELLIGE_ANYWHERE void set(X const& x, More const&... more) {
    if constexpr (I < na)
      a[I] = x;
    else if constexpr (I == na)
      b = x;
    else if constexpr (I <= na + nc)
      sums[I - na - 1] = x;
    else
      scale = x;
    if constexpr (sizeof...(More) > 0) set<I + 1>(more...);
  }
  /// Copies the accumulators back to the arguments of fma: x is argument number I, `more` are the arguments after it.
  /// Arguments of A and B are not changed.
  template <int I, class X, class... More>
  ZELLIGE_ANYWHERE void get(X& x, More&... more) const {
    if constexpr (I > na) x = sums[I - na - 1];
    if constexpr (I < na + nc) get<I + 1>(more...);
  }
};

/// Issues one wgmma of type Op. `registers` are the arguments of Op::fma, each register a separate argument. Does
/// nothing in host code.
template <class Op, class... R>
ZELLIGE_ANYWHERE void fma_registers([[maybe_unused]] R&... registers) {
#if defined(__CUDA_ARCH__)
  GivenRegisters<Op, R...> g;
  g.template set<0>(registers...);
  using T = typename Op::TypeA;
  using U = typename Op::TypeB;
  constexpr int sa = int(Op::a_scale), sb = int(Op::b_scale);
  bool const accumulate = g.scale == ScaleOut::One;
  if constexpr (Op::a_registers)
    wgmma<T, Op::b_major, U, sa, sb, Op::saturates>(g.sums, g.a, g.b, accumulate);
  else
    wgmma<T, Op::a_major, Op::b_major, U, sa, sb, Op::saturates>(g.sums, g.a[0], g.b, accumulate);
  g.template get<0>(registers...);
#endif
}
}  // namespace SM90::GMMA

/// CuTe's name of wgmma_fence(): orders earlier accesses to the accumulators, and to registers of A, before the
/// wgmma that follow.
ZELLIGE_CALL void warpgroup_arrive() { wgmma_fence(); }
/// CuTe's name of wgmma_commit(): closes the group of the wgmma issued so far.
ZELLIGE_CALL void warpgroup_commit_batch() { wgmma_commit(); }
/// CuTe's name of wgmma_wait<N>(): waits until at most the N newest groups are in flight.
template <int N>
ZELLIGE_CALL void warpgroup_wait() {
  wgmma_wait<N>();
}
/// Prevents the compiler from moving accesses to the registers of fragment x across this call.
template <tensor_like X>
ZELLIGE_CALL void warpgroup_fence_operand(X& x) {
  static_assert(!is_gmem_v<X> && !is_smem_v<X>, "warpgroup_fence_operand(x): x is a fragment, in registers");
  using T = typename X::value_type;
  auto all = make_tensor(x.data(), make_layout(Int<size_v<typename X::layout_type>>{}));
  wgmma_fence_operand(detail::registers_in_place<typename detail::accumulator_register<T>::type>(all));
}
#if !defined(ZELLIGE_EMULATE)
/// Prevents the compiler from moving accesses to register r across this call.
ZELLIGE_CALL void warpgroup_fence_operand(uint32_t& r) { asm volatile("" : "+r"(r)::"memory"); }
/// Prevents the compiler from moving accesses to register r across this call.
ZELLIGE_CALL void warpgroup_fence_operand(float& r) { asm volatile("" : "+f"(r)::"memory"); }
#endif

}  // namespace zellige
