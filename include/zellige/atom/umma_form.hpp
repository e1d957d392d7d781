// The forms of tcgen05.mma other than those of umma.hpp: with scales of blocks of A and B in tensor memory, with a sparse A and its
// metadata in tensor memory, both, and with accumulators that are scaled by a power of two first. umma_block.hpp and
// umma_sparse.hpp name the instructions.
#pragma once

#include <zellige/atom/sparse_layout.hpp>
#include <zellige/atom/tmem_scale_fragment.hpp>
#include <zellige/atom/umma.hpp>

namespace zellige::UMMA {

/// The descriptor of an instruction with scales of blocks.
struct InstrDescriptorBlockScaled {
  uint32_t desc_ = 0;
  ZELLIGE_HOST_DEVICE constexpr operator uint32_t() const noexcept { return desc_; }
};

namespace detail {

/// Which PTX says `.block16` or `.block32` of a kind: what the scales' elements are.
enum class ScaleBlock : signed char { none, of_kind, of_16, of_32 };

/// An instruction as PTX has it. scale_d: the accumulators are multiplied by 2^-scale_d first; -1 if they are not.
struct UmmaForm {
  Kind kind = Kind::f16;
  int ctas = 1;
  bool sparse = false;
  ScaleBlock block = ScaleBlock::none;
  bool a_in_tmem = false;
  int scale_d = -1;
};
ZELLIGE_ALGEBRA constexpr char const* kind_name(Kind kind) {
  switch (kind) {
    case Kind::tf32:
      return "tf32";
    case Kind::f16:
      return "f16";
    case Kind::i8:
      return "i8";
    case Kind::f8f6f4:
      return "f8f6f4";
    case Kind::mxf8f6f4:
      return "mxf8f6f4";
    case Kind::mxf4:
      return "mxf4";
    default:
      return "mxf4nvf4";
  }
}
/// The PTX of the instruction, up to its operands.
template <UmmaForm form>
struct FormMnemonic {
  ZELLIGE_ALGEBRA static constexpr zellige::detail::ComposedText make() {
    zellige::detail::ComposedText t;
    t += form.sparse ? "tcgen05.mma.sp.cta_group::" : "tcgen05.mma.cta_group::";
    t += form.ctas;
    t += ".kind::";
    t += kind_name(form.kind);
    if (form.block != ScaleBlock::none) t += ".block_scale";
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 9
    if (form.block == ScaleBlock::of_16) t += ".scale_vec::4X";
    if (form.block == ScaleBlock::of_32) t += ".scale_vec::2X";
#else
    if (form.block == ScaleBlock::of_16) t += ".block16";
    if (form.block == ScaleBlock::of_32) t += ".block32";
#endif
    return t;
  }
  static constexpr zellige::detail::ComposedText composed = make();
};

#if defined(__CUDACC__)
/// The addresses in tensor memory of what an instruction reads besides A and B.
struct UmmaExtra {
  uint32_t metadata = 0, scales_a = 0, scales_b = 0;
};
/// Issues the instruction.
template <UmmaForm form, class A>
ZELLIGE_CALL void issue_form(A a, uint64_t b, uint32_t c, uint32_t accumulate, uint32_t instruction,
                             [[maybe_unused]] UmmaExtra const& extra) {
  using M = zellige::detail::LettersOf<FormMnemonic<form>>;
#define ZELLIGE_UMMA_ISSUE(a_operand, a_kind, operands, after, ...)                                         \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n%5 [%0], " a_operand ", %2, " operands ", p" after \
               ";\n}" ::"r"(c),                                                                             \
               a_kind(a), "l"(b), "r"(instruction), "r"(accumulate), "C"(M::text)__VA_ARGS__                \
               : "memory")
#define ZELLIGE_UMMA_OPERANDS ,
  if constexpr (form.sparse && form.block != ScaleBlock::none)
    ZELLIGE_UMMA_ISSUE("%1", "l", "[%6], %3, [%7], [%8]", "", ZELLIGE_UMMA_OPERANDS "r"(extra.metadata),
                       "r"(extra.scales_a), "r"(extra.scales_b));
  else if constexpr (form.block != ScaleBlock::none)
    ZELLIGE_UMMA_ISSUE("%1", "l", "%3, [%6], [%7]", "", ZELLIGE_UMMA_OPERANDS "r"(extra.scales_a), "r"(extra.scales_b));
  else if constexpr (form.sparse)
    ZELLIGE_UMMA_ISSUE("%1", "l", "[%6], %3", "", ZELLIGE_UMMA_OPERANDS "r"(extra.metadata));
  else if constexpr (form.a_in_tmem)
    ZELLIGE_UMMA_ISSUE("[%1]", "r", "%3", ", %6", ZELLIGE_UMMA_OPERANDS "n"(form.scale_d));
  else if constexpr (form.scale_d >= 0)
    ZELLIGE_UMMA_ISSUE("%1", "l", "%3", ", %6", ZELLIGE_UMMA_OPERANDS "n"(form.scale_d));
  else
    ZELLIGE_UMMA_ISSUE("%1", "l", "%3", "", );
#undef ZELLIGE_UMMA_OPERANDS
#undef ZELLIGE_UMMA_ISSUE
}
#endif

/// Returns the descriptor of an instruction with scales. Elements of 4 bits have another code where two share a byte.
ZELLIGE_ALGEBRA constexpr uint32_t block_word(Kind kind, Number a, Number b, Number scale, int m, int n, bool a_mn,
                                              bool b_mn, bool negate_a, bool negate_b, bool sparse) {
  bool const packed = kind != Kind::mxf8f6f4;
  uint32_t const code_a = packed ? 1u : uint32_t(operand_code(a)), code_b = packed ? 1u : uint32_t(operand_code(b));
  return uint32_t(sparse) << 2 | code_a << 7 | code_b << 10 | uint32_t(negate_a) << 13 | uint32_t(negate_b) << 14 |
         uint32_t(a_mn) << 15 | uint32_t(b_mn) << 16 | uint32_t(n / 8) << 17 | uint32_t(scale == Number::ue8m0) << 23 |
         uint32_t(m / 16) << 24;
}

}  // namespace detail

/// Returns the descriptor of an instruction with scales of type Scale: elements of 4 bits are those of two in a byte, as the
/// kinds mxf4 and mxf4nvf4 take them.
template <class A, class B, class C, class Scale, int M, int N, Major a_major, Major b_major,
          ScaleIn a_neg = ScaleIn::One, ScaleIn b_neg = ScaleIn::One, bool sparse = false>
ZELLIGE_HOST_DEVICE constexpr InstrDescriptorBlockScaled make_instr_desc_block_scaled() {
  constexpr bool packed = number_of<A> == Number::e2m1 && number_of<B> == Number::e2m1;
  constexpr uint32_t word = detail::block_word(packed ? Kind::mxf4 : Kind::mxf8f6f4, number_of<A>, number_of<B>,
                                               number_of<Scale>, M, N, a_major == Major::MN, b_major == Major::MN,
                                               a_neg == ScaleIn::Neg, b_neg == ScaleIn::Neg, sparse);
  return {word};
}
/// Returns the upper half of an instruction's operand: its descriptor with the bytes at which the scales begin, which are the
/// two uppermost bits of their addresses in tensor memory.
template <bool sparse = false>
ZELLIGE_HOST_DEVICE constexpr uint64_t make_runtime_instr_desc_block_scaled(InstrDescriptorBlockScaled descriptor,
                                                                            uint32_t scales_a, uint32_t scales_b,
                                                                            uint16_t metadata_id = 0, uint32_t = 0) {
  uint32_t const word = descriptor.desc_ | (sparse ? metadata_id : 0u) | (scales_b >> 30) << 4 | (scales_a >> 30) << 29;
  return uint64_t(word) << 32;
}
/// The same of an instruction without scales.
template <bool sparse = false>
ZELLIGE_HOST_DEVICE constexpr uint64_t make_runtime_instr_desc(InstrDescriptor descriptor, uint16_t metadata_id = 0,
                                                               uint32_t = 0) {
  return uint64_t(descriptor.desc_ | (sparse ? metadata_id : 0u)) << 32;
}

}  // namespace zellige::UMMA
