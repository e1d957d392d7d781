// Which tiles of matmuls are tried for a group of operators.
#pragma once
#include "candidate/tiles.hpp"

namespace zellige::candidate {

/// Returns the tiles to try for the matmuls of a group whose steps are given; none if it has no matmul.
///
/// - A matmul of loaded operands: those of all for which the target has instructions (tiling/matmul_shapes.hpp) that are
///   fastest for the matmul by itself.
/// - Several matmuls: a few of each size.
MatmulTiles shapes_of(const graph::KernelGraph&, const GroupSteps&, const target::Target&);

}  // namespace zellige::candidate
