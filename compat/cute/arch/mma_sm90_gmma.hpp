// CuTe's header for wgmma: the instructions, their shared-memory operands and descriptors, and their fences
// and waits.
#pragma once
#include <cute/atom/mma_atom.hpp>
#include <cute/pointer_flagged.hpp>
#include <zellige/atom/gmma_descriptor.hpp>
#include <zellige/atom/gmma_names.hpp>
#include <zellige/atom/gmma_selector.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/gmma_call.hpp>
#endif

namespace zellige::SM90::GMMA {

/// The sparsity selector of wgmma.sp: which threads of each group of four contribute the metadata.
enum class SparseSel { Zero = 0, One = 1 };

/// Names that CUTLASS's collectives use to select a sparse wgmma. Zellige has no sparse instruction to
/// select, so a call is a compile error.
template <class A, class B, class C, class TileShape_MNK, Major = Major::K, Major = Major::K, auto... args>
CUTE_HOST_DEVICE constexpr auto ss_op_selector_sparse() {
  static_assert(sizeof(A) == 0, "ss_op_selector_sparse: name one of CUTLASS's GMMA::SPARSE instructions instead");
}
template <class A, class B, class C, class TileShape_MNK, Major = Major::K, Major = Major::K, auto... args>
CUTE_HOST_DEVICE constexpr auto rs_op_selector_sparse() {
  static_assert(sizeof(A) == 0, "rs_op_selector_sparse: name one of CUTLASS's GMMA::SPARSE instructions instead");
}

CUTE_HOST_DEVICE char const* to_string(LayoutType const& t) {
  switch (t) {
    case LayoutType::INTERLEAVE:
      return "INTERLEAVE";
    case LayoutType::B128:
      return "B128";
    case LayoutType::B64:
      return "B64";
    case LayoutType::B32:
      return "B32";
  }
  return nullptr;
}
using zellige::mma_unpack;

// Thread-value layouts: CLayout for accumulators of 64 x N, ALayout for A in registers by its number of
// columns K, ABLayout for shared-memory operands.
template <int N>
using CLayout_64xN =
    Layout<Shape<Shape<_4, _8, _4>, Shape<_2, _2, Int<N / 8>>>, Stride<Stride<_128, _1, _16>, Stride<_64, _8, _512>>>;
using CLayout_64x8 = CLayout_64xN<8>;
using CLayout_64x16 = CLayout_64xN<16>;
using CLayout_64x32 = CLayout_64xN<32>;
using CLayout_64x64 = CLayout_64xN<64>;
using CLayout_64x96 = CLayout_64xN<96>;
using CLayout_64x128 = CLayout_64xN<128>;
using CLayout_64x192 = CLayout_64xN<192>;
using CLayout_64x256 = CLayout_64xN<256>;
using ALayout_64x8 = Layout<Shape<Shape<_4, _8, _4>, Shape<_2, _2>>, Stride<Stride<_64, _1, _16>, Stride<_8, _256>>>;
using ALayout_64x16 =
    Layout<Shape<Shape<_4, _8, _4>, Shape<_2, _2, _2>>, Stride<Stride<_128, _1, _16>, Stride<_64, _8, _512>>>;
using ALayout_64x32 =
    Layout<Shape<Shape<_4, _8, _4>, Shape<_4, _2, _2>>, Stride<Stride<_256, _1, _16>, Stride<_64, _8, _1024>>>;
using ALayout_64x64 =
    Layout<Shape<Shape<_4, _8, _4>, Shape<_8, _2, _2>>, Stride<Stride<_512, _1, _16>, Stride<_64, _8, _2048>>>;
template <int M, int K>
using ABLayout = Layout<Shape<_128, Shape<Int<M>, Int<K>>>, Stride<_0, Stride<_1, Int<M>>>>;

// The canonical shared-memory tiles in bits, and by major mode.
#define ZELLIGE_GMMA_ATOM(name)                                          \
  using Layout_MN_##name##_Atom_Bits = Layout_MN_##name##_Atom<uint1_t>; \
  using Layout_K_##name##_Atom_Bits = Layout_K_##name##_Atom<uint1_t>;   \
  template <class T, Major major>                                        \
  using Layout_##name##_Atom =                                           \
      conditional_t<major == Major::MN, Layout_MN_##name##_Atom<T>, Layout_K_##name##_Atom<T>>;
ZELLIGE_GMMA_ATOM(INTER)
ZELLIGE_GMMA_ATOM(SW32)
ZELLIGE_GMMA_ATOM(SW64)
ZELLIGE_GMMA_ATOM(SW128)
#undef ZELLIGE_GMMA_ATOM

/// Returns the swizzle of a shared-memory tensor as wgmma descriptors encode it.
template <tensor_like X>
CUTE_HOST_DEVICE constexpr LayoutType layout_type(X const&) {
  constexpr int bits = get_swizzle_t<typename X::iterator>::num_bits;
  return bits == 0   ? LayoutType::INTERLEAVE
         : bits == 1 ? LayoutType::B32
         : bits == 2 ? LayoutType::B64
                     : LayoutType::B128;
}
CUTE_HOST_DEVICE void print(DescriptorIterator) { printf("GMMA::DescriptorIterator"); }

}  // namespace zellige::SM90::GMMA
namespace zellige {
CUTE_HOST_DEVICE void print(GmmaDescriptor const& d) {
  printf("GmmaDescriptor: 0x%016llx\n", static_cast<unsigned long long>(d.desc_));
  printf("  start_addr :  0x%04x\n", unsigned(d.bitfield.start_address_));
  printf("  leading_off:  0x%04x (%d)\n", unsigned(d.bitfield.leading_byte_offset_),
         int(d.bitfield.leading_byte_offset_));
  printf("  stride_off :  0x%04x (%d)\n", unsigned(d.bitfield.stride_byte_offset_),
         int(d.bitfield.stride_byte_offset_));
  printf("  base_offset:  0x%01x\n", unsigned(d.bitfield.base_offset_));
  printf("  layout_type:  0x%01x (%s)\n", unsigned(d.bitfield.layout_type_),
         to_string(static_cast<SM90::GMMA::LayoutType>(d.bitfield.layout_type_)));
}
}  // namespace zellige

#if defined(CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED)
#include <cute/atom/mma_traits_sm90_gmma_ext.hpp>
#endif
