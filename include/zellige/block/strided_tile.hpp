// Tiles in global memory whose strides are known at launch.
//
//   const auto gX = strided_tile<int>(pX, nT, 1);   // nT: a parameter of the kernel
//   Vec<float, 1> x = read<1>(gX(row, column));     // element row * nT + column
#pragma once
#include <zellige/block/tile.hpp>

namespace zellige {

/// A pointer with a stride for each of `Rank` dimensions. Index is the type of its offsets.
template <class Pointer, class Index, int Rank>
struct StridedTile {
  Pointer data;
  Index strides[Rank];

  template <class... Coordinate>
  ZELLIGE_CALL Pointer operator()(Coordinate... c) const {
    static_assert(sizeof...(Coordinate) == Rank, "StridedTile: a coordinate for each dimension");
    int d = 0;
    Index offset = 0;
    ((offset += static_cast<Index>(c) * strides[d++]), ...);
    return data + offset;
  }
};

/// Returns the tile that begins at `data` and has these strides, in elements.
template <class Index, class Pointer, class... Stride>
ZELLIGE_CALL StridedTile<Pointer, Index, sizeof...(Stride)> strided_tile(Pointer data, Stride... strides) {
  return {data, {static_cast<Index>(strides)...}};
}

}  // namespace zellige
