// Extents and strides of views of tensors with sizes that are known at launch. A view says with strides where it lies in its base; which
// dimensions of the base that are, and so which sizes, follows from the strides of the largest sizes.
//
//   base (B, T, 4096) of strides (T*4096, 4096, 1), view (32768, 4096) of strides (4096, 1)    // (B*T, 4096)
//   base (T, 4096), view (32, T, 128) of strides (128, 4096, 1)                                // heads: (32, T, 128)
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tile/program.hpp"

namespace zellige::lower {

/// The extent of a dimension as a product of extents that were merged into it, the outermost first: of (B, T, 24), seen as one
/// dimension, B, T and 24. They say where a view may divide it again.
using ExtentFactors = std::vector<tile::SymbolicNumber>;
tile::SymbolicNumber product_of(const ExtentFactors&);

/// A tensor's layout in its memory, in integers for the largest sizes; and as numbers.
struct SizedLayout {
  graph::Shape shape, starts;
  graph::Strides strides;
  std::vector<ExtentFactors> extents;
  // Of a view, by dimension: its extent, where it is known already, as of a slice whose ends have names.
  std::map<int, tile::SymbolicNumber> known = {};
};

/// A dimension of a view in its base: its extent, and its stride as a multiple of that of the base's dimension `of`.
struct SizedDimension {
  ExtentFactors extent;
  tile::SymbolicNumber steps = 1;
  int of = -1;  // -1: of an extent of 1, or of a stride of 0; its extent is not known
};

/// Returns what the dimensions of a view are in a base whose extents are known. Throws Error, which begins with `what`, if a dimension
/// is no product of extents of the base, no part of one, and no slice that all sizes have.
std::vector<SizedDimension> dimensions_in(const SizedLayout& base, const SizedLayout& view, const tile::SizeList&,
                                          const std::string& what);

/// Returns the strides of a tensor that has memory of its own and strides for the largest sizes: of each dimension what the dimensions
/// inside it reach. Throws Error if the strides are not those of its extents, one after another.
std::vector<tile::SymbolicNumber> own_strides(const tile::TilePrograms&, int tensor);

}  // namespace zellige::lower
