// What a kernel computes before, in and after its loop, in words.
//
//   in_words(program)
//   // "In each of 16 iterations: square, reduction (s2), matmul (s6). After the loop: mul_scalar, sqrt, div"
#pragma once
#include <string>

#include "tile/program.hpp"

namespace zellige::explain {

/// Returns the operations of a tile program by section, without loads and stores; "" if it has none.
std::string in_words(const tile::TileProgram&);

}  // namespace zellige::explain
