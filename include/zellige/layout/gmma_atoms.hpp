// Defines the canonical layouts of shared-memory tiles that wgmma reads, one per major mode (K or MN) and swizzle width
// (none, 32, 64 or 128 bytes).
//
//   SM90::GMMA::Layout_K_SW128_Atom<half_t>   is   Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)
#pragma once
#include <zellige/layout/algebra.hpp>

namespace zellige {
namespace detail {
// Returns the canonical tile: eight rows (if k_major) or columns of 128 << B bits each, with a swizzle of B
// bits.
template <int B, bool k_major, class T>
ZELLIGE_HOST_DEVICE constexpr auto gmma_atom() {
  constexpr int bits = sizeof_bits<T>::value, line = (128 << B) / bits;
  using Flag = smem_ptr_flag_bits<bits>;
  if constexpr (k_major) {
    return ComposedLayout<Swizzle<B, 4, 3>, Flag, Layout<Shape<_8, Int<line>>, Stride<Int<line>, _1>>>{};
  } else {
    return ComposedLayout<Swizzle<B, 4, 3>, Flag, Layout<Shape<Int<line>, _8>, Stride<_1, Int<line>>>>{};
  }
}
template <int B, bool k_major, class T>
using GmmaAtom = remove_cvref_t<decltype(gmma_atom<B, k_major, T>())>;
}  // namespace detail

namespace SM90::GMMA {

template <class T>
using Layout_MN_INTER_Atom = zellige::detail::GmmaAtom<0, false, T>;
template <class T>
using Layout_MN_SW32_Atom = zellige::detail::GmmaAtom<1, false, T>;
template <class T>
using Layout_MN_SW64_Atom = zellige::detail::GmmaAtom<2, false, T>;
template <class T>
using Layout_MN_SW128_Atom = zellige::detail::GmmaAtom<3, false, T>;
template <class T>
using Layout_K_INTER_Atom = zellige::detail::GmmaAtom<0, true, T>;
template <class T>
using Layout_K_SW32_Atom = zellige::detail::GmmaAtom<1, true, T>;
template <class T>
using Layout_K_SW64_Atom = zellige::detail::GmmaAtom<2, true, T>;
template <class T>
using Layout_K_SW128_Atom = zellige::detail::GmmaAtom<3, true, T>;

}  // namespace SM90::GMMA
}  // namespace zellige
