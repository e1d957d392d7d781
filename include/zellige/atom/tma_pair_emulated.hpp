// The TMA loads of pairs of CTAs (tma_pair.hpp) on the emulator.
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige::detail {

/// Loads the box at these coordinates, which the offsets of a filter's tap follow if the load is of im2col. It completes on the
/// mbarrier of the pair's first CTA.
template <bool im2col, bool multicast, class... C>
ZELLIGE_CALL void tma_pair_emulated(emulate::Place tile, void const* map, emulate::Place barrier, uint16_t mask,
                                    C const&... coordinates) {
  constexpr int all = int(sizeof...(C)), n = im2col ? (all + 2) / 2 : all;
  int const given[] = {int(coordinates)...};
  uint16_t offsets[3] = {};
  for (int i = n; i < all; ++i) offsets[i - n] = static_cast<uint16_t>(given[i]);
  emulate::tma_load(map, tile, barrier, n, given, im2col ? offsets : nullptr,
                    (multicast ? emulate::multicast | mask : 0u) | emulate::of_pair);
}

}  // namespace zellige::detail
