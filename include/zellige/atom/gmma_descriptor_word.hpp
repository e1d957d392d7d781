// GmmaDescriptor: the 64-bit descriptor of a wgmma operand in shared memory. DescriptorIterator: the iterator
// of tensors whose elements are such descriptors, as fragments of shared-memory operands are.
//
//   GmmaDescriptor d;  d.bitfield.start_address_ = address >> 4;  d.reg32_[0]  // the low half
#pragma once

#include <zellige/atom/wgmma_type.hpp>
#include <zellige/layout/algebra.hpp>

namespace zellige {

/// The descriptor of a wgmma operand: its start address and two strides, in units of 16 bytes, and its swizzle.
union GmmaDescriptor {
  uint64_t desc_;
  uint32_t reg32_[2];
  uint16_t reg16_[4];
  struct {
    unsigned short start_address_ : 14, : 2;
    unsigned short leading_byte_offset_ : 14, : 2;
    unsigned short stride_byte_offset_ : 14, : 2;
    unsigned char : 1, base_offset_ : 3, : 4;
    unsigned char : 6, layout_type_ : 2;
  } bitfield;
  ZELLIGE_HOST_DEVICE constexpr GmmaDescriptor(uint64_t desc = 0) noexcept : desc_(desc) {}
  ZELLIGE_HOST_DEVICE constexpr operator uint64_t() const noexcept { return desc_; }
};

namespace SM90::GMMA {

using zellige::GmmaDescriptor;

/// An iterator over descriptors that differ only in their start address: it + i is i * 16 bytes further on.
/// Adds to the low 32 bits only, which contain the address, to save the carry. On a GPU the two halves are
/// assigned separately, because nvcc compiles the masked 64-bit expression of the host branch to a 64-bit
/// addition.
struct DescriptorIterator {
  using reference = GmmaDescriptor;
  using element_type = GmmaDescriptor;
  using value_type = GmmaDescriptor;
  GmmaDescriptor desc_;

  ZELLIGE_HOST_DEVICE constexpr GmmaDescriptor operator*() const { return desc_; }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr GmmaDescriptor operator[](I const& i) const {
    return *(*this + i);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr DescriptorIterator operator+(I const& i) const {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      GmmaDescriptor moved;
      moved.reg32_[0] = desc_.reg32_[0] + static_cast<uint32_t>(i);
      moved.reg32_[1] = desc_.reg32_[1];
      return {moved};
    }
#endif
    uint32_t const low = static_cast<uint32_t>(desc_.desc_) + static_cast<uint32_t>(i);
    return {(desc_.desc_ & 0xffffffff00000000u) | low};
  }
};

/// The fragment type (FrgTypeA, FrgTypeB) of an operand that wgmma reads from shared memory: its fragments are
/// tensors of descriptors.
template <Major major>
struct smem_desc : DescriptorIterator {};

}  // namespace SM90::GMMA
}  // namespace zellige
