// More matrix instructions of SM100 under CuTe's names: those with a sparse A, whose metadata is in tensor memory; those of kind
// f16 that multiply the accumulators by a power of two first (..._SCALED); and SM100_MMA_F8F6F4_SS, whose types are arguments
// of its traits.
//
//   gemm(mma.with(metadata), a(_, _, k), b(_, _, k), c);                          SM100_MMA_F16BF16_SS_SPARSE
//   gemm(mma.with(UMMA::ScaleOut::One, C<2>{}), a, b, c);                         ..._SCALED: d = a b + c / 4
#pragma once

#include <zellige/atom/umma_form.hpp>

namespace zellige {

namespace UMMA::detail {

/// An instruction of this form: a sparse one, or one that scales accumulators.
template <UmmaForm op_form, class A, class B, class C, int M, int N, Major major_a, Major major_b, ScaleIn a_neg,
          ScaleIn b_neg, Saturate c_sat>
struct FormOp {
  static constexpr UmmaForm form = op_form;
  static constexpr Kind kind = op_form.kind;
  static constexpr int ctas = op_form.ctas, m = M, n = N;
  static constexpr int k = (op_form.sparse ? 2 : 1) * (kind == Kind::f8f6f4 ? 32 : 256 / int(sizeof_bits_v<A>));
  static constexpr bool in_form = true, sparse = op_form.sparse, a_in_tmem = op_form.a_in_tmem;
  static constexpr Major a_major = major_a;
  static constexpr Major b_major = major_b;
  static constexpr uint32_t word = uint32_t(op_form.sparse) << 2 | InstrWord < kind == Kind::tf32 ? Number::tf32
                                                                                                  : number_of<A>,
                            kind == Kind::tf32 ? Number::tf32 : number_of<B>, number_of<C>, M, N, major_a, major_b,
                            a_neg, b_neg, c_sat > ::value;
  using TypeA = A;
  using TypeB = B;
  using TypeC = C;
  static_assert(
      takes(kind, number_of<A>) && takes(kind, number_of<B>) && sums_in(kind, number_of<C>),
      "SM100_MMA: the kind has no operands or accumulators of these types: tf32 multiplies tfloat32_t or float into "
      "float, f16 half_t or bfloat16_t into float or half_t, i8 bytes into int, f8f6f4 floats of 4 to 8 bits "
      "into float or half_t");
  static_assert(
      has_shape(kind, op_form.ctas, M, N),
      "SM100_MMA: one CTA multiplies M = 64 with N a multiple of 8 (S8: 8, 24 or a multiple of 16), or M = 128 "
      "with N a multiple of 16; a pair M = 128 or 256 with N a multiple of 32; N is at most 256");
  static_assert(op_form.scale_d <= 15, "SM100_MMA_F16BF16_SCALED: the accumulators are divided by at most 2^15");

  using DRegisters = void;
  using AOperand = conditional_t<op_form.a_in_tmem, uint32_t, uint64_t>;
  using ARegisters = AOperand[1];
  using BRegisters = uint64_t[1];
  using CRegisters = uint32_t[1];

  /// Issues the instruction by one thread of the warp, all of whose threads call it. A sparse one takes the address of the
  /// metadata. In host code it does nothing.
  ZELLIGE_HOST_DEVICE static void fma([[maybe_unused]] AOperand const& a, [[maybe_unused]] uint64_t const& b,
                                      [[maybe_unused]] uint32_t const& c, [[maybe_unused]] uint32_t const& accumulate,
                                      [[maybe_unused]] uint64_t const& instruction_and_zero,
                                      [[maybe_unused]] uint32_t const& metadata = 0) {
#if defined(__CUDA_ARCH__)
    if (elect_one()) issue_form<op_form>(a, b, c, accumulate, uint32_t(instruction_and_zero >> 32), {metadata, 0, 0});
#endif
  }
};
template <class T>
concept form_op = requires {
  T::in_form;
};

/// The members of MMA_Traits that depend on where A is and whether it is sparse.
template <class Op, bool sparse>
struct FormOperandA {
  using ValTypeA = typename Op::TypeA;
  using FrgTypeA = conditional_t<
      Op::a_in_tmem,
      tmem_frg<ValTypeA, ValTypeA, Op::ctas, Op::ctas == 2 ? TmemAllocMode::Duplicated : TmemAllocMode::NonInterleaved>,
      smem_desc<Op::a_major>>;
};
template <class Op>
struct FormOperandA<Op, true> {
  using ValTypeA = sparse_elem<2, typename Op::TypeA>;
  using ValTypeE = sparse_elem<Op::kind == Kind::tf32 ? 4 : 8, uint8_t>;
  using FrgTypeA = sparse_smem_desc<Op::a_major>;
  using FrgTypeE = tmem_e_frg<conditional_t<Op::kind == Kind::f8f6f4, uint8_t, typename Op::TypeA>>;
};

}  // namespace UMMA::detail

#define ZELLIGE_UMMA_SPARSE(op, kind, ctas)                                                                      \
  template <class A, class B, class C, int M, int N, UMMA::Major a_major, UMMA::Major b_major,                   \
            UMMA::ScaleIn a_neg = UMMA::ScaleIn::One, UMMA::ScaleIn b_neg = UMMA::ScaleIn::One>                  \
  struct op : UMMA::detail::FormOp<UMMA::detail::UmmaForm{UMMA::Kind::kind, ctas, true}, A, B, C, M, N, a_major, \
                                   b_major, a_neg, b_neg, UMMA::Saturate::False> {};
#define ZELLIGE_UMMA_SPARSE_S8(op, ctas)                                                                       \
  template <class A, class B, class C, int M, int N, UMMA::Major a_major, UMMA::Major b_major,                 \
            UMMA::Saturate c_sat = UMMA::Saturate::False>                                                      \
  struct op : UMMA::detail::FormOp<UMMA::detail::UmmaForm{UMMA::Kind::i8, ctas, true}, A, B, C, M, N, a_major, \
                                   b_major, UMMA::ScaleIn::One, UMMA::ScaleIn::One, c_sat> {};
ZELLIGE_UMMA_SPARSE(SM100_MMA_TF32_SS_SPARSE, tf32, 1)
ZELLIGE_UMMA_SPARSE(SM100_MMA_TF32_2x1SM_SS_SPARSE, tf32, 2)
ZELLIGE_UMMA_SPARSE(SM100_MMA_F16BF16_SS_SPARSE, f16, 1)
ZELLIGE_UMMA_SPARSE(SM100_MMA_F16BF16_2x1SM_SS_SPARSE, f16, 2)
ZELLIGE_UMMA_SPARSE(SM100_MMA_F8F6F4_SS_SPARSE, f8f6f4, 1)
ZELLIGE_UMMA_SPARSE(SM100_MMA_F8F6F4_2x1SM_SS_SPARSE, f8f6f4, 2)
ZELLIGE_UMMA_SPARSE_S8(SM100_MMA_S8_SS_SPARSE, 1)
ZELLIGE_UMMA_SPARSE_S8(SM100_MMA_S8_2x1SM_SS_SPARSE, 2)
#undef ZELLIGE_UMMA_SPARSE
#undef ZELLIGE_UMMA_SPARSE_S8
#define ZELLIGE_UMMA_SCALED(op, ctas, in_tmem)                                                                   \
  template <class A, class B, class C, int M, int N, UMMA::Major a_major, UMMA::Major b_major, uint32_t ScaleC,  \
            UMMA::ScaleIn a_neg = UMMA::ScaleIn::One, UMMA::ScaleIn b_neg = UMMA::ScaleIn::One,                  \
            UMMA::Saturate c_sat = UMMA::Saturate::False>                                                        \
  struct op : UMMA::detail::FormOp<UMMA::detail::UmmaForm{UMMA::Kind::f16, ctas, false,                          \
                                                          UMMA::detail::ScaleBlock::none, in_tmem, int(ScaleC)}, \
                                   A, B, C, M, N, a_major, b_major, a_neg, b_neg, c_sat> {                       \
    template <uint32_t scale>                                                                                    \
    using Scaled = op<A, B, C, M, N, a_major, b_major, scale, a_neg, b_neg, c_sat>;                              \
  };
ZELLIGE_UMMA_SCALED(SM100_MMA_F16BF16_SS_SCALED, 1, false)
ZELLIGE_UMMA_SCALED(SM100_MMA_F16BF16_TS_SCALED, 1, true)
ZELLIGE_UMMA_SCALED(SM100_MMA_F16BF16_2x1SM_SS_SCALED, 2, false)
ZELLIGE_UMMA_SCALED(SM100_MMA_F16BF16_2x1SM_TS_SCALED, 2, true)
#undef ZELLIGE_UMMA_SCALED

/// Traits of these instructions. A sparse one is complete with Metadata = uint32_t, after `with`.
template <UMMA::detail::form_op Op, class... Metadata>
struct MMA_Traits<Op, Metadata...> : UMMA::detail::FormOperandA<Op, Op::sparse> {
  using Operation = Op;
  using ValTypeD = typename Op::TypeC;
  using ValTypeB = typename Op::TypeB;
  using ValTypeC = typename Op::TypeC;
  static constexpr int K = Op::k;
  using FrgTypeB = UMMA::smem_desc<Op::b_major>;
  using FrgTypeC = UMMA::tmem_frg<ValTypeC, uint32_t, Op::ctas,
                                  Op::a_in_tmem && Op::ctas == 1 ? UMMA::TmemAllocMode::NonInterleaved
                                                                 : UMMA::TmemAllocMode::Interleaved>;

  using Shape_MNK = Shape<Int<Op::m>, Int<Op::n>, Int<Op::k>>;
  using ThrID = Layout<Int<Op::ctas>>;
  using ALayout = UMMA::detail::part_of_cta<Op::ctas, Op::m, Op::k>;
  using BLayout = UMMA::detail::part_of_cta<Op::ctas, Op::n, Op::k>;
  using CLayout = UMMA::detail::part_of_cta<Op::ctas, Op::m, Op::n>;

  UMMA::ScaleOut accumulate_ = UMMA::ScaleOut::One;
  uint32_t metadata_addr_ = 0;
  UMMA::InstrDescriptor idesc_ = {Op::word};

  /// Returns these traits with the metadata of A, a tensor in tensor memory.
  template <tensor_like E>
  ZELLIGE_HOST_DEVICE constexpr auto with(E const& metadata, uint32_t = 0) const {
    static_assert(Op::sparse && is_tmem_v<E>, "with(E): the metadata of a sparse A, a tensor in tensor memory");
    MMA_Traits<Op, uint32_t> r;
    r.accumulate_ = accumulate_, r.metadata_addr_ = raw_pointer_cast(metadata.data()), r.idesc_ = idesc_;
    return r;
  }
  /// Returns these traits with accumulators that are divided by 2^scale.
  template <class Scale>
  requires requires { Scale::value; }
  ZELLIGE_HOST_DEVICE constexpr auto with(UMMA::ScaleOut accumulate, Scale const&) const {
    static_assert(Op::form.scale_d >= 0,
                  "with(accumulate, C<n>{}): only an instruction ..._SCALED divides accumulators");
    MMA_Traits<typename Op::template Scaled<uint32_t(Scale::value)>> r;
    r.accumulate_ = accumulate, r.idesc_ = idesc_;
    return r;
  }
};

/// Issues d = a b + c; c is d. All threads of a warp call it.
template <UMMA::detail::form_op Op, class... Metadata, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_HOST_DEVICE constexpr void mma_unpack(MMA_Traits<Op, Metadata...> const& traits, TD&& d, TA const& a,
                                              TB const& b, TC const&) {
#if defined(ZELLIGE_EMULATE)
  static_assert(never<Op>, "the emulator does not run the sparse matrix instructions of SM100");
#endif
  static_assert(!Op::sparse || sizeof...(Metadata) == 1, "a sparse SM100 MMA runs .with(metadata)");
  static_assert(is_tmem_v<remove_cvref_t<TD>> && is_tmem_v<TC>,
                "an SM100 MMA takes accumulators in tensor memory: make_fragment_C");
  static_assert(
      is_tmem_v<TA> == Op::a_in_tmem && is_rmem_v<TB>,
      "an SM100 MMA takes descriptors of A and B in shared memory, or A in tensor memory: make_fragment_A, _B");
  // The lowest bit of the metadata's address chooses between the halves of its columns.
  uint32_t const half = Op::kind == UMMA::Kind::tf32 || Op::kind == UMMA::Kind::f16 ? traits.metadata_addr_ & 1 : 0;
  uint64_t const instruction = UMMA::make_runtime_instr_desc<Op::sparse>(traits.idesc_, static_cast<uint16_t>(half));
  uint32_t const at_d = raw_pointer_cast(d.data()), accumulate = traits.accumulate_ == UMMA::ScaleOut::One;
  if constexpr (Op::a_in_tmem)
    Op::fma(raw_pointer_cast(a.data()), b(0), at_d, accumulate, instruction, 0);
  else
    Op::fma(a(0), b(0), at_d, accumulate, instruction, traits.metadata_addr_ - half);
}

/// The instructions of kind f8f6f4 with A in shared memory, of one CTA and of a pair: MMA_Traits<SM100_MMA_F8F6F4_SS, A, B, C,
/// Int<M>, Int<N>, integral_constant<UMMA::Major, a_major>, ..., integral_constant<UMMA::ScaleIn, a_neg>, ...>.
template <int op_ctas>
struct SM100_MMA_F8F6F4_SS_of {
  static constexpr int ctas = op_ctas;
  using DRegisters = void;
  using ARegisters = uint64_t[1];
  using BRegisters = uint64_t[1];
  using CRegisters = uint32_t[1];
  ZELLIGE_HOST_DEVICE static void fma([[maybe_unused]] uint64_t const& a, [[maybe_unused]] uint64_t const& b,
                                      [[maybe_unused]] uint32_t const& c, [[maybe_unused]] uint32_t const& accumulate,
                                      [[maybe_unused]] uint64_t const& instruction_and_zero) {
#if defined(__CUDA_ARCH__)
    using Text = zellige::detail::LettersOf<UMMA::detail::Mnemonic<UMMA::Kind::f8f6f4, op_ctas, false>>;
    if (elect_one()) UMMA::detail::issue<Text>(a, b, c, accumulate, uint32_t(instruction_and_zero >> 32));
#elif defined(ZELLIGE_EMULATE)
    if (elect_one())
      emulate::tcgen05_mma({c, a, b, uint32_t(instruction_and_zero >> 32),
                            zellige::reference::UmmaKind(UMMA::Kind::f8f6f4), op_ctas, false, accumulate != 0});
#endif
  }
};
struct SM100_MMA_F8F6F4_SS : SM100_MMA_F8F6F4_SS_of<1> {};
struct SM100_MMA_F8F6F4_2x1SM_SS : SM100_MMA_F8F6F4_SS_of<2> {};

namespace UMMA::detail {
/// The instruction that the arguments of such traits describe.
template <int ctas, class A, class B, class C, class M, class N, class AMajor, class BMajor, class ANeg, class BNeg>
struct F8F6F4Op : UmmaOp<Kind::f8f6f4, ctas, false, A, B, C, M::value, N::value, AMajor::value, BMajor::value,
                         ANeg::value, BNeg::value, Saturate::False> {};
}  // namespace UMMA::detail
template <class A, class B, class C, class M, class N, class... More>
struct MMA_Traits<SM100_MMA_F8F6F4_SS, A, B, C, M, N, More...>
    : MMA_Traits<UMMA::detail::F8F6F4Op<1, A, B, C, M, N, More...>> {};
template <class A, class B, class C, class M, class N, class... More>
struct MMA_Traits<SM100_MMA_F8F6F4_2x1SM_SS, A, B, C, M, N, More...>
    : MMA_Traits<UMMA::detail::F8F6F4Op<2, A, B, C, M, N, More...>> {};

}  // namespace zellige
