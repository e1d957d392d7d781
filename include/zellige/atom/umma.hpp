// The matrix instructions of SM100, tcgen05.mma, under CuTe's names: d += a b, where D is in tensor memory, B in shared
// memory, and A in shared (SS) or tensor memory (TS). One thread issues them, alone or for a pair of CTAs (2x1SM).
//
//   auto mma = make_tiled_mma(SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>{});
//   auto a = mma.make_fragment_A(part_of_shared);      // descriptors
//   auto c = mma.make_fragment_C(part_of_c);           // a tensor in tensor memory, at address 0: c.data() = address
//   mma.accumulate_ = UMMA::ScaleOut::Zero;
//   gemm(mma, a(_, _, k), b(_, _, k), c);              // all threads of one warp; then tcgen05_commit: tcgen05.hpp
//
// Kinds tf32, f16, i8 and f8f6f4 are here; those with scales of blocks are in umma_block.hpp, sparse ones in
// umma_sparse.hpp. Compile for sm_100a or sm_103a, i8 for sm_100a alone.
#pragma once

#include <zellige/atom/gemm_call.hpp>
#include <zellige/atom/tmem_copy.hpp>
#include <zellige/atom/tmem_fragment.hpp>
#include <zellige/atom/umma_descriptor.hpp>
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/elect.hpp>
#include <zellige/atom/tcgen05.hpp>
#endif

namespace zellige {

namespace UMMA {

/// The kinds of tcgen05.mma, and their names in PTX.
enum class Kind : signed char { tf32, f16, i8, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

namespace detail {

/// True if an instruction of this kind has operands of number type n.
ZELLIGE_ALGEBRA constexpr bool takes(Kind kind, Number n) {
  switch (kind) {
    case Kind::tf32:
      return n == Number::tf32 || n == Number::f32;
    case Kind::f16:
      return n == Number::f16 || n == Number::bf16;
    case Kind::i8:
      return n == Number::s8 || n == Number::u8;
    default:
      return n == Number::e4m3 || n == Number::e5m2 || n == Number::e2m3 || n == Number::e3m2 || n == Number::e2m1;
  }
}
ZELLIGE_ALGEBRA constexpr bool sums_in(Kind kind, Number n) {
  if (kind == Kind::i8) return n == Number::s32;
  return n == Number::f32 || (n == Number::f16 && kind != Kind::tf32);
}
/// Returns true if an instruction of `ctas` CTAs multiplies m x n tiles.
ZELLIGE_ALGEBRA constexpr bool has_shape(Kind kind, int ctas, int m, int n) {
  if (n < 8 || n > 256) return false;
  if (ctas == 2) return (m == 128 || m == 256) && n % 32 == 0;
  if (m == 64) return kind == Kind::i8 ? n % 16 == 0 || n == 8 || n == 24 : n % 8 == 0;
  return m == 128 && n % 16 == 0;
}

template <Kind kind, int ctas, bool a_in_tmem>
struct Mnemonic {
  ZELLIGE_ALGEBRA static constexpr zellige::detail::ComposedText make() {
    zellige::detail::ComposedText t;
    t += "tcgen05.mma.cta_group::";
    t += ctas;
    t += ".kind::";
    t += kind == Kind::tf32 ? "tf32" : kind == Kind::f16 ? "f16" : kind == Kind::i8 ? "i8" : "f8f6f4";
    return t;
  }
  static constexpr zellige::detail::ComposedText composed = make();
};

#if defined(__CUDACC__)
/// Issues the instruction: a is a descriptor, or the address of A in tensor memory.
template <class M, class A>
ZELLIGE_CALL void issue(A a, uint64_t b, uint32_t c, uint32_t accumulate, uint32_t instruction) {
  if constexpr (sizeof(A) == 8)
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n%5 [%0], %1, %2, %3, p;\n}" ::"r"(c), "l"(a), "l"(b),
                 "r"(instruction), "r"(accumulate), "C"(M::text)
                 : "memory");
  else
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n%5 [%0], [%1], %2, %3, p;\n}" ::"r"(c), "r"(a), "l"(b),
                 "r"(instruction), "r"(accumulate), "C"(M::text)
                 : "memory");
}
#endif

/// An instruction of this kind and shape. `ctas` CTAs issue it together: 1 or 2.
template <Kind op_kind, int op_ctas, bool in_tmem, class A, class B, class C, int M, int N, Major major_a,
          Major major_b, ScaleIn a_neg, ScaleIn b_neg, Saturate c_sat>
struct UmmaOp {
  static constexpr Kind kind = op_kind;
  static constexpr int ctas = op_ctas, m = M, n = N, k = op_kind == Kind::f8f6f4 ? 32 : 256 / sizeof_bits_v<A>;
  static constexpr bool a_in_tmem = in_tmem;
  static constexpr Major a_major = major_a;
  static constexpr Major b_major = major_b;
  static constexpr uint32_t instruction = InstrWord < op_kind == Kind::tf32 ? Number::tf32 : number_of<A>,
                            op_kind == Kind::tf32 ? Number::tf32 : number_of<B>, number_of<C>, M, N, major_a, major_b,
                            a_neg, b_neg, c_sat > ::value;
  using TypeA = A;
  using TypeB = B;
  using TypeC = C;
  static_assert(
      takes(op_kind, number_of<A>) && takes(op_kind, number_of<B>) && sums_in(op_kind, number_of<C>),
      "SM100_MMA: the kind has no operands or accumulators of these types: tf32 multiplies tfloat32_t or float into "
      "float, f16 "
      "half_t or bfloat16_t into float or half_t, i8 bytes into int, f8f6f4 floats of 4 to 8 bits into float or "
      "half_t");
  static_assert(
      has_shape(op_kind, op_ctas, M, N),
      "SM100_MMA: one CTA multiplies M = 64 with N a multiple of 8 (S8: 8, 24 or a multiple of 16), or M = 128 with N "
      "a multiple of 16; a pair M = 128 or 256 with N a multiple of 32; N is at most 256");
  static_assert(!in_tmem || major_a == Major::K, "SM100_MMA: an A in tensor memory is K-major");

  using DRegisters = void;
  using ARegisters = conditional_t<in_tmem, uint32_t[1], uint64_t[1]>;
  using BRegisters = uint64_t[1];
  using CRegisters = uint32_t[1];

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
  /// Issues the instruction, called by one thread: d += a b, or d = a b if `accumulate` is 0.
  ZELLIGE_CALL static void issue(conditional_t<in_tmem, uint32_t, uint64_t> a, uint64_t b, uint32_t c,
                                 uint32_t accumulate, uint32_t word = instruction) {
#if defined(__CUDACC__)
    using Text = zellige::detail::LettersOf<Mnemonic<op_kind, op_ctas, in_tmem>>;
    UMMA::detail::issue<Text>(a, b, c, accumulate, word);
#else
    emulate::tcgen05_mma({c, a, b, word, zellige::reference::UmmaKind(kind), ctas, in_tmem, accumulate != 0});
#endif
  }
#endif

  /// Issues the instruction by one thread of the warp, all of whose threads call it: d += a b, or d = a b if
  /// `accumulate` is 0. The upper half of `instruction_and_zero` is the instruction's descriptor. In host code it does
  /// nothing.
  ZELLIGE_HOST_DEVICE static void fma([[maybe_unused]] conditional_t<in_tmem, uint32_t, uint64_t> const& a,
                                      [[maybe_unused]] uint64_t const& b, [[maybe_unused]] uint32_t const& c,
                                      [[maybe_unused]] uint32_t const& accumulate,
                                      [[maybe_unused]] uint64_t const& instruction_and_zero) {
#if defined(__CUDA_ARCH__) || defined(ZELLIGE_EMULATE)
    if (elect_one()) issue(a, b, c, accumulate, uint32_t(instruction_and_zero >> 32));
#endif
  }
};

/// The layout (CTA, element) -> element of a matrix whose rows are divided among the CTAs.
template <int ctas, int rows, int columns>
using part_of_cta = Layout<Shape<Int<ctas>, Shape<Int<rows / ctas>, Int<columns>>>,
                           Stride<Int<ctas == 1 ? 0 : rows / ctas>, Stride<_1, Int<rows>>>>;

template <class T>
concept umma_op = requires {
  T::a_in_tmem;
  T::instruction;
};

}  // namespace detail
}  // namespace UMMA

#define ZELLIGE_UMMA_SS(op, kind, ctas)                                                                          \
  template <class A, class B, class C, int M, int N, UMMA::Major a_major, UMMA::Major b_major,                   \
            UMMA::ScaleIn a_neg = UMMA::ScaleIn::One, UMMA::ScaleIn b_neg = UMMA::ScaleIn::One>                  \
  struct op : UMMA::detail::UmmaOp<UMMA::Kind::kind, ctas, false, A, B, C, M, N, a_major, b_major, a_neg, b_neg, \
                                   UMMA::Saturate::False> {};
#define ZELLIGE_UMMA_TS(op, kind, ctas)                                                         \
  template <class A, class B, class C, int M, int N, UMMA::Major a_major, UMMA::Major b_major,  \
            UMMA::ScaleIn a_neg = UMMA::ScaleIn::One, UMMA::ScaleIn b_neg = UMMA::ScaleIn::One, \
            UMMA::Saturate c_sat = UMMA::Saturate::False>                                       \
  struct op                                                                                     \
      : UMMA::detail::UmmaOp<UMMA::Kind::kind, ctas, true, A, B, C, M, N, a_major, b_major, a_neg, b_neg, c_sat> {};
#define ZELLIGE_UMMA_S8(op, ctas, in_tmem)                                                                             \
  template <class A, class B, class C, int M, int N, UMMA::Major a_major, UMMA::Major b_major,                         \
            UMMA::Saturate c_sat = UMMA::Saturate::False>                                                              \
  struct op : UMMA::detail::UmmaOp<UMMA::Kind::i8, ctas, in_tmem, A, B, C, M, N, a_major, b_major, UMMA::ScaleIn::One, \
                                   UMMA::ScaleIn::One, c_sat> {};
ZELLIGE_UMMA_SS(SM100_MMA_TF32_SS, tf32, 1)
ZELLIGE_UMMA_TS(SM100_MMA_TF32_TS, tf32, 1)
ZELLIGE_UMMA_SS(SM100_MMA_TF32_2x1SM_SS, tf32, 2)
ZELLIGE_UMMA_TS(SM100_MMA_TF32_2x1SM_TS, tf32, 2)
ZELLIGE_UMMA_SS(SM100_MMA_F16BF16_SS, f16, 1)
ZELLIGE_UMMA_TS(SM100_MMA_F16BF16_TS, f16, 1)
ZELLIGE_UMMA_SS(SM100_MMA_F16BF16_2x1SM_SS, f16, 2)
ZELLIGE_UMMA_TS(SM100_MMA_F16BF16_2x1SM_TS, f16, 2)
ZELLIGE_UMMA_S8(SM100_MMA_S8_SS, 1, false)
ZELLIGE_UMMA_S8(SM100_MMA_S8_TS, 1, true)
ZELLIGE_UMMA_S8(SM100_MMA_S8_2x1SM_SS, 2, false)
ZELLIGE_UMMA_S8(SM100_MMA_S8_2x1SM_TS, 2, true)
ZELLIGE_UMMA_TS(SM100_MMA_F8F6F4_TS, f8f6f4, 1)
ZELLIGE_UMMA_TS(SM100_MMA_F8F6F4_2x1SM_TS, f8f6f4, 2)
#undef ZELLIGE_UMMA_SS
#undef ZELLIGE_UMMA_TS
#undef ZELLIGE_UMMA_S8

/// Traits of a matrix instruction of SM100. The threads of the layouts are CTAs: one, or the two of a pair.
template <UMMA::detail::umma_op Op>
struct MMA_Traits<Op> {
  using Operation = Op;
  using ValTypeD = typename Op::TypeC;
  using ValTypeA = typename Op::TypeA;
  using ValTypeB = typename Op::TypeB;
  using ValTypeC = typename Op::TypeC;
  static constexpr int K = Op::k;
  using FrgTypeA = conditional_t<
      Op::a_in_tmem,
      UMMA::tmem_frg<ValTypeA, ValTypeA, Op::ctas,
                     Op::ctas == 2 ? UMMA::TmemAllocMode::Duplicated : UMMA::TmemAllocMode::NonInterleaved>,
      UMMA::smem_desc<Op::a_major>>;
  using FrgTypeB = UMMA::smem_desc<Op::b_major>;
  using FrgTypeC = UMMA::tmem_frg<ValTypeC, uint32_t, Op::ctas,
                                  Op::a_in_tmem && Op::ctas == 1 ? UMMA::TmemAllocMode::NonInterleaved
                                                                 : UMMA::TmemAllocMode::Interleaved>;

  using Shape_MNK = Shape<Int<Op::m>, Int<Op::n>, Int<Op::k>>;
  using ThrID = Layout<Int<Op::ctas>>;
  using ALayout = UMMA::detail::part_of_cta<Op::ctas, Op::m, Op::k>;
  using BLayout = UMMA::detail::part_of_cta<Op::ctas, Op::n, Op::k>;
  using CLayout = UMMA::detail::part_of_cta<Op::ctas, Op::m, Op::n>;

  UMMA::InstrDescriptor idesc_ = {Op::instruction};
  UMMA::ScaleOut accumulate_ = UMMA::ScaleOut::One;
};

/// Issues d = a b + c, or d = a b if accumulate_ is Zero; c is d. All threads of a warp call it.
template <UMMA::detail::umma_op Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_HOST_DEVICE constexpr void mma_unpack(MMA_Traits<Op> const& traits, TD&& d, TA const& a, TB const& b,
                                              TC const&) {
  static_assert(is_tmem_v<remove_cvref_t<TD>> && is_tmem_v<TC>,
                "an SM100 MMA takes accumulators in tensor memory: make_fragment_C");
  static_assert(
      is_tmem_v<TA> == Op::a_in_tmem && is_rmem_v<TB>,
      "an SM100 MMA takes descriptors of A and B in shared memory, or A in tensor memory: make_fragment_A, _B");
  uint32_t const at_d = raw_pointer_cast(d.data());
  uint64_t const instruction = uint64_t(uint32_t(traits.idesc_)) << 32;
  uint32_t const accumulate = traits.accumulate_ == UMMA::ScaleOut::One;
  if constexpr (Op::a_in_tmem)
    Op::fma(raw_pointer_cast(a.data()), b(0), at_d, accumulate, instruction);
  else
    Op::fma(a(0), b(0), at_d, accumulate, instruction);
}

}  // namespace zellige
