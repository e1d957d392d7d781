// Formats instructions (MMA_Atom, Copy_Atom) and their tilings (TiledMMA, TiledCopy) as strings, in the form in which
// CuTe prints them. Host only; write.hpp has print, which also runs in kernels.
//
//   std::string text = to_text(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}));
#pragma once

#include <zellige/atom/text.hpp>
#include <zellige/atom/tiled_copy.hpp>
#include <zellige/atom/write.hpp>
#include <zellige/tensor/print.hpp>

namespace zellige {

/// Returns the layouts and the shape of a matrix instruction as objects, for the functions of text.hpp. Traits is the
/// instruction's MMA_Traits, which has them as types.
template <class Traits>
MmaAtomValue mma_atom_value() {
  return {describe(typename Traits::ThrID{}), describe(typename Traits::Shape_MNK{}),
          describe(typename Traits::ALayout{}), describe(typename Traits::BLayout{}),
          describe(typename Traits::CLayout{})};
}
/// Returns the layouts and the element size of a copy instruction as objects, for the functions of text.hpp. Atom is
/// the instruction's Copy_Atom, which has them as types.
template <class Atom>
CopyAtomValue copy_atom_value() {
  return {describe(typename Atom::ThrID{}), describe(typename Atom::ValLayoutSrc{}),
          describe(typename Atom::ValLayoutDst{}), describe(typename Atom::ValLayoutRef{}),
          sizeof_bits<typename Atom::ValType>::value};
}

template <class... Args>
std::string to_text(MMA_Atom<Args...> const&) {
  return mma_atom_text(mma_atom_value<typename MMA_Atom<Args...>::Traits>());
}
template <class Atom, class Threads, class Permutation>
std::string to_text(TiledMMA<Atom, Threads, Permutation> const& mma) {
  return tiled_mma_text(describe(mma.get_thr_layout_vmnk()), describe(Permutation{}),
                        mma_atom_value<typename Atom::Traits>());
}
template <class Tiled, class At>
std::string to_text(ThrMMA<Tiled, At> const& mma) {
  return "ThrMMA\n" + lines_text({{"Thr VMNK", to_text(describe(mma.thr_vmnk_))}}, 12) +
         to_text(static_cast<Tiled const&>(mma));
}
template <class... Args>
std::string to_text(Copy_Atom<Args...> const&) {
  return copy_atom_text(copy_atom_value<Copy_Atom<Args...>>());
}
template <class Atom, class TV, class Tiler>
std::string to_text(TiledCopy<Atom, TV, Tiler> const&) {
  return tiled_copy_text(describe(Tiler{}), describe(TV{}), copy_atom_value<Atom>());
}
template <class Tiled, class I>
std::string to_text(ThrCopy<Tiled, I> const& c) {
  return "ThrCopy\n" + lines_text({{"ThrIdx", to_text(describe(c.thr_idx_))}}, 10) + to_text(Tiled{});
}

/// Returns the members of MMA_Traits<Op> as a string, one per line: shape, layouts, and the element sizes of D, A, B
/// and C in bits.
template <class Op>
std::string mma_traits_text() {
  using T = MMA_Traits<Op>;
  return mma_traits_text(
      mma_atom_value<T>(),
      {int(sizeof_bits<typename T::ValTypeD>::value), int(sizeof_bits<typename T::ValTypeA>::value),
       int(sizeof_bits<typename T::ValTypeB>::value), int(sizeof_bits<typename T::ValTypeC>::value)});
}
/// Returns the layouts of Copy_Traits<Op> as a string, one per line.
template <class Op>
std::string copy_traits_text() {
  using T = Copy_Traits<Op>;
  return copy_traits_text({describe(typename T::ThrID{}), describe(typename T::SrcLayout{}),
                           describe(typename T::DstLayout{}), describe(typename T::RefLayout{}), 1});
}

}  // namespace zellige
