// Loads of weights (graph::is_weight_only) as bytes: two elements of int4, uint4 or e2m1 are in a byte, an e8m0 is one.
//
//   const int w = load_packed(program, kernel, load);   // load: uint4 (32, 128), the last dimension contiguous
//   // %0 = load g_w_bytes : int8 (32, 64)
//   // %1 = unpack %0 : int8 (32, 128) as uint4 along 1
//
// So tiles in shared memory, copies, swizzles and the counters have whole bytes; `unpack` alone knows of halves.
#pragma once
#include "tile/program.hpp"

namespace zellige::lower {

/// Adds the load `n`, of a tensor of weights, as a load of its bytes and an `unpack` of them. Returns the latter's node.
/// Throws Error if a tile, a stride or the tensor's end parts a byte.
int load_packed(tile::TilePrograms&, tile::TileProgram&, tile::Node n);

}  // namespace zellige::lower
