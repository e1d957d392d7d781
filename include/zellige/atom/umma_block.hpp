// The matrix instructions of SM100 with scales of blocks, under CuTe's names: d += (a sa) (b sb), where a scale is of 16 or 32
// elements along K and all scales are in tensor memory. Kinds mxf8f6f4, mxf4 and mxf4nvf4; A dense or sparse; one CTA or a pair.
// Those of SM103 have K = 96.
//
//   auto mma = make_tiled_mma(SM100_MMA_MXF8F6F4_SS<float_e4m3_t, float_e4m3_t, float, float_ue8m0_t, 128, 128,
//                                                  UMMA::Major::K, UMMA::Major::K>{});
//   gemm(mma.with(mma.accumulate_, scales_a(_, _, k), scales_b(_, _, k)), a(_, _, k), b(_, _, k), c);
//
// A sparse one takes the metadata before the scales: with(accumulate, metadata, scales_a, scales_b).
#pragma once

#include <zellige/atom/umma_form.hpp>
#include <zellige/tensor/zip.hpp>

namespace zellige {

namespace UMMA::detail {

/// An instruction of this form on K elements. VecSize elements along K, all of A's, have one scale.
template <UmmaForm op_form, int K, int VecSize, class A, class B, class C, class Scale, int M, int N, Major major_a,
          Major major_b, ScaleIn a_neg, ScaleIn b_neg>
struct BlockScaledOp {
  static constexpr UmmaForm form = op_form;
  static constexpr int ctas = op_form.ctas, m = M, n = N, k = K, vec_size = VecSize;
  static constexpr bool block_scaled = true, sparse = op_form.sparse, a_in_tmem = false;
  static constexpr Major a_major = major_a;
  static constexpr Major b_major = major_b;
  static constexpr uint32_t word =
      block_word(op_form.kind, number_of<A>, number_of<B>, number_of<Scale>, M, N, major_a == Major::MN,
                 major_b == Major::MN, a_neg == ScaleIn::Neg, b_neg == ScaleIn::Neg, op_form.sparse);
  using TypeA = A;
  using TypeB = B;
  using TypeC = C;
  using TypeSF = Scale;
  static constexpr bool packed = op_form.kind != Kind::mxf8f6f4;
  static_assert(packed ? number_of<A> == Number::e2m1 && number_of<B> == Number::e2m1
                       : takes(Kind::f8f6f4, number_of<A>) && takes(Kind::f8f6f4, number_of<B>),
                "SM100_MMA_MX: mxf8f6f4 multiplies floats of 4 to 8 bits, mxf4 and mxf4nvf4 float_e2m1_t");
  static_assert(number_of<C> == Number::f32, "SM100_MMA_MX: the accumulators are float");
  static_assert(number_of<Scale> == Number::ue8m0 ||
                    (op_form.block == ScaleBlock::of_16 && number_of<Scale> == Number::ue4m3),
                "SM100_MMA_MX: scales are float_ue8m0_t; those of 16 elements may be float_ue4m3_t");
  static_assert(
      op_form.ctas == 1 ? M == 128 && N % 8 == 0 && N >= 8 && N <= 256
                        : (M == 256 || (M == 128 && packed)) && N % 16 == 0 && N >= 16 && N <= 256,
      "SM100_MMA_MX: one CTA multiplies M = 128 with N a multiple of 8; a pair M = 256, or 128 of mxf4, with N a "
      "multiple of 16; N is at most 256");

  using DRegisters = void;
  using ARegisters = uint64_t[1];
  using BRegisters = uint64_t[1];
  using CRegisters = uint32_t[1];
  using SFARegisters = uint32_t[1];
  using SFBRegisters = uint32_t[1];

  /// Issues the instruction by one thread of the warp, all of whose threads call it. A sparse one takes the address of the
  /// metadata last. In host code it does nothing.
  ZELLIGE_HOST_DEVICE static void fma([[maybe_unused]] uint64_t const& a, [[maybe_unused]] uint64_t const& b,
                                      [[maybe_unused]] uint32_t const& c, [[maybe_unused]] uint32_t const& accumulate,
                                      [[maybe_unused]] uint64_t const& instruction_and_zero,
                                      [[maybe_unused]] uint32_t const& scales_a,
                                      [[maybe_unused]] uint32_t const& scales_b,
                                      [[maybe_unused]] uint32_t const& metadata = 0) {
#if defined(__CUDA_ARCH__)
    if (elect_one())
      issue_form<op_form>(a, b, c, accumulate, uint32_t(instruction_and_zero >> 32), {metadata, scales_a, scales_b});
#elif defined(ZELLIGE_EMULATE)
    static_assert(!op_form.sparse && K != 96,
                  "the emulator runs dense matrix instructions of SM100 with scales, neither sparse ones nor those of "
                  "SM103");
    if (elect_one())
      emulate::tcgen05_mma({c, a, b, uint32_t(instruction_and_zero >> 32), zellige::reference::UmmaKind(op_form.kind),
                            op_form.ctas, false, accumulate != 0, scales_a, scales_b, unsigned(VecSize)});
#endif
  }
};
template <class T>
concept block_op = requires {
  T::block_scaled;
};
/// The forms of kind mxf8f6f4, and of kinds mxf4 and mxf4nvf4 whose scales are of `vec_size` elements that A stores.
ZELLIGE_ALGEBRA constexpr UmmaForm mxf8_form(int ctas, bool sparse) {
  return {Kind::mxf8f6f4, ctas, sparse, ScaleBlock::of_kind};
}
ZELLIGE_ALGEBRA constexpr UmmaForm mxf4_form(int ctas, bool sparse, int vec_size) {
  return vec_size == 16 ? UmmaForm{Kind::mxf4nvf4, ctas, sparse, ScaleBlock::of_16}
                        : UmmaForm{Kind::mxf4, ctas, sparse, ScaleBlock::of_32};
}
ZELLIGE_ALGEBRA constexpr UmmaForm ultra_form(int ctas, int vec_size) {
  return {Kind::mxf4nvf4, ctas, false, vec_size == 16 ? ScaleBlock::of_16 : ScaleBlock::of_32};
}
/// The rows of a CTA's scales of A: those of half of a pair's M, if these are 128.
ZELLIGE_ALGEBRA constexpr int scale_rows(int ctas, int m) { return ctas == 2 && m == 256 ? 128 : m; }
/// The least multiple of 128 that is not less than n.
ZELLIGE_ALGEBRA constexpr int up_to_128(int n) { return (n + 127) / 128 * 128; }

}  // namespace UMMA::detail

#define ZELLIGE_UMMA_PARAMETERS                                                                             \
  template <class A, class B, class C, class Scale, int M, int N, UMMA::Major a_major, UMMA::Major b_major, \
            UMMA::ScaleIn a_neg = UMMA::ScaleIn::One, UMMA::ScaleIn b_neg = UMMA::ScaleIn::One>
// `of_scales` is the instruction as whose operands the scales of `op` are divided: of one CTA, with N a multiple of 128.
#define ZELLIGE_UMMA_MXF8(op, of_scales, ctas, sparse)                                                                 \
  ZELLIGE_UMMA_PARAMETERS struct op                                                                                    \
      : UMMA::detail::BlockScaledOp<UMMA::detail::mxf8_form(ctas, sparse), sparse ? 64 : 32, sparse ? 64 : 32, A, B,   \
                                    C, Scale, M, N, a_major, b_major, a_neg, b_neg> {                                  \
    using OfScales = of_scales<A, B, C, Scale, UMMA::detail::scale_rows(ctas, M), UMMA::detail::up_to_128(N), a_major, \
                               b_major, a_neg, b_neg>;                                                                 \
  };
ZELLIGE_UMMA_MXF8(SM100_MMA_MXF8F6F4_SS, SM100_MMA_MXF8F6F4_SS, 1, false)
ZELLIGE_UMMA_MXF8(SM100_MMA_MXF8F6F4_2x1SM_SS, SM100_MMA_MXF8F6F4_SS, 2, false)
ZELLIGE_UMMA_MXF8(SM100_MMA_MXF8F6F4_SS_SPARSE, SM100_MMA_MXF8F6F4_SS_SPARSE, 1, true)
ZELLIGE_UMMA_MXF8(SM100_MMA_MXF8F6F4_2x1SM_SS_SPARSE, SM100_MMA_MXF8F6F4_SS_SPARSE, 2, true)
#undef ZELLIGE_UMMA_MXF8
#undef ZELLIGE_UMMA_PARAMETERS
#define ZELLIGE_UMMA_MXF4(op, of_scales, ctas, form, K)                                                                \
  template <class A, class B, class C, class Scale, int M, int N, int VS, UMMA::Major a_major, UMMA::Major b_major,    \
            UMMA::ScaleIn a_neg = UMMA::ScaleIn::One, UMMA::ScaleIn b_neg = UMMA::ScaleIn::One>                        \
  struct op                                                                                                            \
      : UMMA::detail::BlockScaledOp<UMMA::detail::form, K, VS, A, B, C, Scale, M, N, a_major, b_major, a_neg, b_neg> { \
    static_assert(VS * 64 / (K == 128 ? 128 : 64) == 16 || VS * 64 / (K == 128 ? 128 : 64) == 32,                      \
                  #op ": a scale is of 16 or 32 elements along K that A stores");                                      \
    using OfScales = of_scales<A, B, C, Scale, UMMA::detail::scale_rows(ctas, M), UMMA::detail::up_to_128(N), VS,      \
                               a_major, b_major, a_neg, b_neg>;                                                        \
  };
ZELLIGE_UMMA_MXF4(SM100_MMA_MXF4_SS, SM100_MMA_MXF4_SS, 1, mxf4_form(1, false, VS), 64)
ZELLIGE_UMMA_MXF4(SM100_MMA_MXF4_2x1SM_SS, SM100_MMA_MXF4_SS, 2, mxf4_form(2, false, VS), 64)
ZELLIGE_UMMA_MXF4(SM100_MMA_MXF4NVF4_SS_SPARSE, SM100_MMA_MXF4NVF4_SS_SPARSE, 1, mxf4_form(1, true, VS / 2), 128)
ZELLIGE_UMMA_MXF4(SM100_MMA_MXF4NVF4_2x1SM_SS_SPARSE, SM100_MMA_MXF4NVF4_SS_SPARSE, 2, mxf4_form(2, true, VS / 2), 128)
namespace SM103 {
ZELLIGE_UMMA_MXF4(SM103_MXF4_ULTRA_SS_VS, SM100_MMA_MXF4_SS, 1, ultra_form(1, VS), 96)
ZELLIGE_UMMA_MXF4(SM103_MXF4_ULTRA_2x1SM_SS_VS, SM100_MMA_MXF4_SS, 2, ultra_form(2, VS), 96)
}  // namespace SM103
#undef ZELLIGE_UMMA_MXF4

namespace UMMA::detail {
/// The members of MMA_Traits that depend on whether A is sparse.
template <class Op, bool sparse>
struct BlockScaledA {
  using ValTypeA = typename Op::TypeA;
  using FrgTypeA = smem_desc<Op::a_major>;
};
template <class Op>
struct BlockScaledA<Op, true> {
  using ValTypeA = conditional_t<Op::packed, sparse_elem<4, uint8_t>, sparse_elem<2, typename Op::TypeA>>;
  using ValTypeE = conditional_t<Op::packed, sparse_elem<16, uint8_t>, sparse_elem<8, uint8_t>>;
  using FrgTypeA = sparse_smem_desc<Op::a_major>;
  using FrgTypeE = conditional_t<Op::packed, tmem_e_frg<typename Op::TypeA>, tmem_e_frg<uint8_t>>;
};
}  // namespace UMMA::detail

/// Traits of an instruction with scales of blocks. A sparse one is complete with Metadata = uint32_t, after `with`.
template <UMMA::detail::block_op Op, class... Metadata>
struct MMA_Traits<Op, Metadata...> : UMMA::detail::BlockScaledA<Op, Op::sparse> {
  using Operation = Op;
  using ValTypeD = typename Op::TypeC;
  using ValTypeB = typename Op::TypeB;
  using ValTypeC = typename Op::TypeC;
  using ValTypeSFA = typename Op::TypeSF;
  using ValTypeSFB = typename Op::TypeSF;
  static constexpr int K = Op::k, SFVecSize = Op::vec_size;
  static constexpr UMMA::TmemAllocMode TmemAlloc = Op::ctas == 2 && Op::m == 128
                                                       ? UMMA::TmemAllocMode::ScaleFactorDuplicated2by2
                                                       : UMMA::TmemAllocMode::ScaleFactorDuplicated4by1;
  using FrgTypeB = UMMA::smem_desc<Op::b_major>;
  using FrgTypeC = UMMA::tmem_frg<ValTypeC, uint32_t, Op::ctas>;
  using FrgTypeSFA = UMMA::tmem_sf_frg<ValTypeSFA, SFVecSize, Op::ctas, true, TmemAlloc>;
  using FrgTypeSFB = UMMA::tmem_sf_frg<ValTypeSFB, SFVecSize, Op::ctas, false, TmemAlloc>;
  using MMA_ScaleFactor = typename Op::OfScales;

  using Shape_MNK = Shape<Int<Op::m>, Int<Op::n>, Int<Op::k>>;
  using ThrID = Layout<Int<Op::ctas>>;
  using ALayout = UMMA::detail::part_of_cta<Op::ctas, Op::m, Op::k>;
  using BLayout = UMMA::detail::part_of_cta<Op::ctas, Op::n, Op::k>;
  using CLayout = UMMA::detail::part_of_cta<Op::ctas, Op::m, Op::n>;

  UMMA::ScaleOut accumulate_ = UMMA::ScaleOut::One;
  uint32_t tsfa_addr_ = 0, tsfb_addr_ = 0;
  uint32_t metadata_addr_ = 0;
  UMMA::InstrDescriptorBlockScaled idesc_ = {Op::word};

  /// Returns these traits with the scales, and the metadata if A is sparse: tensors in tensor memory.
  template <tensor_like SFA, tensor_like SFB>
  ZELLIGE_HOST_DEVICE constexpr auto with(UMMA::ScaleOut accumulate, SFA const& scales_a, SFB const& scales_b) const {
    static_assert(!Op::sparse,
                  "with(accumulate, E, SFA, SFB): a sparse instruction takes its metadata before the scales");
    return given<>(accumulate, 0, raw_pointer_cast(scales_a.data()), raw_pointer_cast(scales_b.data()));
  }
  template <tensor_like E, tensor_like SFA, tensor_like SFB>
  ZELLIGE_HOST_DEVICE constexpr auto with(UMMA::ScaleOut accumulate, E const& metadata, SFA const& scales_a,
                                          SFB const& scales_b) const {
    static_assert(Op::sparse, "with(accumulate, SFA, SFB): only a sparse instruction takes metadata");
    return given<uint32_t>(accumulate, raw_pointer_cast(metadata.data()), raw_pointer_cast(scales_a.data()),
                           raw_pointer_cast(scales_b.data()));
  }

 private:
  template <class... M>
  ZELLIGE_HOST_DEVICE constexpr MMA_Traits<Op, M...> given(UMMA::ScaleOut accumulate, uint32_t metadata,
                                                           uint32_t scales_a, uint32_t scales_b) const {
    MMA_Traits<Op, M...> r;
    r.accumulate_ = accumulate, r.metadata_addr_ = metadata, r.tsfa_addr_ = scales_a, r.tsfb_addr_ = scales_b;
    r.idesc_ = idesc_;
    return r;
  }
};

namespace UMMA::detail {
/// Returns descriptor a of an operand of K = 96 whose last elements are at descriptor `next`.
ZELLIGE_HOST_DEVICE constexpr uint64_t with_next(uint64_t a, uint64_t next) {
  return (a & ~(uint64_t(0x3fff) << 16)) | (next & 0x3fff) << 16 | uint64_t(1) << 52;
}
}  // namespace UMMA::detail

/// Issues d = a b + c with scales; c is d. All threads of a warp call it. Of SM103, a and b are zips of a descriptor, the next
/// one, and the scales.
template <UMMA::detail::block_op Op, class... Metadata, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_HOST_DEVICE constexpr void mma_unpack(MMA_Traits<Op, Metadata...> const& traits, TD&& d, TA const& a,
                                              TB const& b, TC const&) {
  static_assert(!Op::sparse || sizeof...(Metadata) == 1,
                "a sparse SM100 MMA runs .with(accumulate, metadata, scales_a, scales_b)");
  static_assert(is_tmem_v<remove_cvref_t<TD>> && is_tmem_v<TC>,
                "an SM100 MMA takes accumulators in tensor memory: make_fragment_C");
  uint32_t const at_d = raw_pointer_cast(d.data());
  uint32_t const accumulate = traits.accumulate_ == UMMA::ScaleOut::One;
  if constexpr (Op::k == 96) {
    auto const of_a = unzip_tensor(a), of_b = unzip_tensor(b);
    uint32_t const sfa = raw_pointer_cast(get<2>(of_a).data()), sfb = raw_pointer_cast(get<2>(of_b).data());
    UMMA::InstrDescriptorBlockScaled const word{traits.idesc_.desc_ | 1u << 31};
    Op::fma(UMMA::detail::with_next(get<0>(of_a)(0), get<1>(of_a)(0)),
            UMMA::detail::with_next(get<0>(of_b)(0), get<1>(of_b)(0)), at_d, accumulate,
            UMMA::make_runtime_instr_desc_block_scaled(word, sfa, sfb), sfa, sfb);
  } else {
    static_assert(is_rmem_v<TA> && is_rmem_v<TB>,
                  "an SM100 MMA takes descriptors of A and B in shared memory: make_fragment_A, _B");
    uint64_t const instruction =
        UMMA::make_runtime_instr_desc_block_scaled<Op::sparse>(traits.idesc_, traits.tsfa_addr_, traits.tsfb_addr_);
    Op::fma(a(0), b(0), at_d, accumulate, instruction, traits.tsfa_addr_, traits.tsfb_addr_, traits.metadata_addr_);
  }
}

}  // namespace zellige
