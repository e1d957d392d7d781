// Defines print for instructions (MMA_Atom, Copy_Atom) and their tilings (TiledMMA, TiledCopy), on the host and in
// kernels. The output has CuTe's form.
//
//   print(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}));
#pragma once

#include <zellige/atom/tiled_copy.hpp>
#include <zellige/atom/tiled_mma.hpp>
#include <zellige/tensor/write.hpp>

namespace zellige {
namespace detail {
/// Prints label, value and a newline.
template <class T>
ZELLIGE_HOST_DEVICE inline void print_line(char const* label, T const& value) {
  print(label);
  print(value);
  print("\n");
}
}  // namespace detail

template <class... Args>
ZELLIGE_HOST_DEVICE inline void print(MMA_Atom<Args...> const&) {
  using Atom = typename MMA_Atom<Args...>::Traits;
  print("MMA_Atom\n");
  detail::print_line("  ThrID:      ", typename Atom::ThrID{});
  detail::print_line("  Shape_MNK:  ", typename Atom::Shape_MNK{});
  detail::print_line("  LayoutA_TV: ", typename Atom::ALayout{});
  detail::print_line("  LayoutB_TV: ", typename Atom::BLayout{});
  detail::print_line("  LayoutC_TV: ", typename Atom::CLayout{});
}
template <class Atom, class Threads, class Permutation>
ZELLIGE_HOST_DEVICE inline void print(TiledMMA<Atom, Threads, Permutation> const& mma) {
  print("TiledMMA\n");
  detail::print_line("  ThrLayoutVMNK:  ", mma.get_thr_layout_vmnk());
  detail::print_line("  PermutationMNK: ", Permutation{});
  print(static_cast<Atom const&>(mma));
}
template <class Tiled, class At>
ZELLIGE_HOST_DEVICE inline void print(ThrMMA<Tiled, At> const& mma) {
  print("ThrMMA\n");
  detail::print_line("  Thr VMNK: ", mma.thr_vmnk_);
  print(static_cast<Tiled const&>(mma));
}
template <class... Args>
ZELLIGE_HOST_DEVICE inline void print(Copy_Atom<Args...> const&) {
  using Atom = Copy_Atom<Args...>;
  print("Copy_Atom\n");
  detail::print_line("  ThrID:        ", typename Atom::ThrID{});
  detail::print_line("  ValLayoutSrc: ", typename Atom::ValLayoutSrc{});
  detail::print_line("  ValLayoutDst: ", typename Atom::ValLayoutDst{});
  detail::print_line("  ValLayoutRef: ", typename Atom::ValLayoutRef{});
  print("  ValueType:    ");
  print(int(sizeof_bits<typename Atom::ValType>::value));
  print("b\n");
}
template <class Atom, class TV, class Tiler>
ZELLIGE_HOST_DEVICE inline void print(TiledCopy<Atom, TV, Tiler> const& copy) {
  print("TiledCopy\n");
  detail::print_line("  Tiler_MN:       ", Tiler{});
  detail::print_line("  TiledLayout_TV: ", TV{});
  print(static_cast<Atom const&>(copy));
}
template <class Tiled, class I>
ZELLIGE_HOST_DEVICE inline void print(ThrCopy<Tiled, I> const& copy) {
  print("ThrCopy\n");
  detail::print_line("  ThrIdx: ", copy.thr_idx_);
  print(Tiled{});
}

}  // namespace zellige
