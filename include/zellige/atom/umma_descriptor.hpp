// The two descriptors of SM100's matrix instructions: of an operand in shared memory (64 bits), and of the instruction:
// number types, shape, major orders (32 bits).
//
//   UMMA::make_umma_desc<UMMA::Major::K>(tile)       start address, strides and swizzle of a tile
//   UMMA::make_instr_desc<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>()
#pragma once

#include <zellige/atom/gmma_descriptor.hpp>
#include <zellige/atom/narrow_number.hpp>

namespace zellige::UMMA {

using zellige::Major;
using zellige::SM90::GMMA::ScaleIn;
using zellige::SM90::GMMA::ScaleOut;
/// Whether integer accumulators saturate.
enum class Saturate { False = 0, True = 1 };
/// The swizzle of an operand in shared memory, as its descriptor has it.
enum class LayoutType : unsigned char {
  SWIZZLE_NONE = 0,
  SWIZZLE_128B_BASE32B = 1,
  SWIZZLE_128B = 2,
  SWIZZLE_64B = 4,
  SWIZZLE_32B = 6
};

/// The descriptor of an operand in shared memory: its start address and two strides, in units of 16 bytes, its swizzle,
/// and the version 1.
union SmemDescriptor {
  uint64_t desc_;
  struct {
    uint32_t lo, hi;
  };
  ZELLIGE_HOST_DEVICE constexpr SmemDescriptor(uint64_t desc = 0) noexcept : desc_(desc) {}
  ZELLIGE_HOST_DEVICE constexpr operator uint64_t() const noexcept { return desc_; }
};

/// An iterator over descriptors that differ only in their start address: it + i is i * 16 bytes further on.
struct DescriptorIterator {
  using reference = SmemDescriptor;
  using element_type = SmemDescriptor;
  using value_type = SmemDescriptor;
  SmemDescriptor desc_;

  ZELLIGE_HOST_DEVICE constexpr SmemDescriptor operator*() const { return desc_; }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr SmemDescriptor operator[](I const& i) const {
    return *(*this + i);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr DescriptorIterator operator+(I const& i) const {
    uint32_t const low = static_cast<uint32_t>(desc_.desc_) + static_cast<uint32_t>(i);
    return {(desc_.desc_ & 0xffffffff00000000u) | low};
  }
};
/// The fragment type of an operand that an instruction reads from shared memory: its fragments are tensors of descriptors.
template <Major major>
struct smem_desc : DescriptorIterator {};

/// Returns the descriptor of the operand tile x, (M or N, K), in shared memory. The tile's extent along K is that of
/// one instruction, 32 bytes. Fails to compile if the layout is not static, or if the instructions cannot read it.
template <Major major, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr SmemDescriptor make_umma_desc(X const& x) {
  static_assert(is_smem_v<X>, "make_umma_desc: the tile is in shared memory, make_smem_ptr");
  // The fields are those of wgmma and the version. The swizzle has a bit more, which is 0 for the swizzles of wgmma.
  return SM90::GMMA::make_gmma_desc<major>(x).desc_ | uint64_t(1) << 46;
}

namespace detail {
/// Returns the code of the number type in an instruction's descriptor: of an operand, or of the accumulator.
ZELLIGE_ALGEBRA constexpr int operand_code(Number n) {
  switch (n) {
    case Number::bf16:
    case Number::s8:
    case Number::e5m2:
      return 1;
    case Number::tf32:
      return 2;
    case Number::e2m3:
      return 3;
    case Number::e3m2:
      return 4;
    case Number::e2m1:
      return 5;
    default:
      return 0;  // f16, u8, e4m3
  }
}
ZELLIGE_ALGEBRA constexpr int sum_code(Number n) { return n == Number::f32 ? 1 : n == Number::s32 ? 2 : 0; }
/// Returns the descriptor of an instruction.
ZELLIGE_ALGEBRA constexpr uint32_t instruction_word(Number a, Number b, Number c, int m, int n, bool a_mn, bool b_mn,
                                                    bool negate_a, bool negate_b, bool saturate) {
  return uint32_t(saturate) << 3 | uint32_t(sum_code(c)) << 4 | uint32_t(operand_code(a)) << 7 |
         uint32_t(operand_code(b)) << 10 | uint32_t(negate_a) << 13 | uint32_t(negate_b) << 14 | uint32_t(a_mn) << 15 |
         uint32_t(b_mn) << 16 | uint32_t(n / 8) << 17 | uint32_t(m / 16) << 24;
}
}  // namespace detail

/// The descriptor of an instruction.
struct InstrDescriptor {
  uint32_t desc_ = 0;
  ZELLIGE_HOST_DEVICE constexpr explicit operator uint32_t() const noexcept { return desc_; }
};
template <Number a, Number b, Number c, int M, int N, Major a_major, Major b_major, ScaleIn a_neg = ScaleIn::One,
          ScaleIn b_neg = ScaleIn::One, Saturate c_sat = Saturate::False>
struct InstrWord {
  static constexpr uint32_t value =
      detail::instruction_word(a, b, c, M, N, a_major == Major::MN, b_major == Major::MN, a_neg == ScaleIn::Neg,
                               b_neg == ScaleIn::Neg, c_sat == Saturate::True);
};
template <class A, class B, class C, int M, int N, Major a_major, Major b_major, ScaleIn a_neg = ScaleIn::One,
          ScaleIn b_neg = ScaleIn::One, Saturate c_sat = Saturate::False>
ZELLIGE_HOST_DEVICE constexpr InstrDescriptor make_instr_desc() {
  return {InstrWord<number_of<A>, number_of<B>, number_of<C>, M, N, a_major, b_major, a_neg, b_neg, c_sat>::value};
}

}  // namespace zellige::UMMA
