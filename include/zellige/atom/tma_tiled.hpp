// Makes TMA copies whose tile is given by two layouts: (value -> coordinate of the global tensor) and (CTA -> index of its
// share of the tile), as the matrix instructions of SM100 divide tiles among CTAs. CUTLASS's headers call these functions;
// tma_operands.hpp calls them with the layouts of a TiledMMA.
#pragma once

#include <zellige/atom/tma_copy.hpp>

namespace zellige {

namespace detail {

#if !defined(__CUDACC_RTC__)

/// Returns the Copy_Atom of one TMA instruction for the tile whose element i is at coordinate modes(i) of `global`. The
/// elements of a box have type Box; `multicast` CTAs share it.
template <class Box, class Op, tensor_like X, class SLayout, class Multicast, class S, class D>
auto make_tma_copy_atom(Op const& op, X const& global, SLayout const& shared, Multicast const& multicast,
                        Layout<S, D> const& modes) {
  return make_tma_atom<Box>(op, global, shared, modes, multicast);
}
/// Returns the TiledCopy of such a tile. ctas maps each CTA to the index of its share.
template <class Box, class Op, tensor_like X, class SLayout, class CS, class CD, class S, class D>
auto make_tma_copy_tiled(Op const& op, X const& global, SLayout const& shared, Layout<CS, CD> const& ctas,
                         Layout<S, D> const& modes) {
  auto const atom = make_tma_copy_atom<Box>(op, global, shared, cosize(ctas), modes);
  using Basis = typename remove_cvref_t<decltype(atom)>::AuxParams::TmaGmemBasis;
  auto const tile = tma_tile<typename X::value_type, Box>(global, shared, modes);
  auto const tiling = tile.template ask<TiledOp::tma_tiling>(Basis{}, ctas);
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}

#endif

}  // namespace detail

}  // namespace zellige
