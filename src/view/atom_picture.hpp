// Draws instructions by name: which thread has which element of each operand.
//
//   atom_picture("SM80_16x8x16_F32F16F16F32_TN", 0)                             // A, B and C next to each other
//   atom_picture("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2,1))", 0)    // of a TiledMMA
//   atom_picture("SM75_U32x4_LDSM_N", 16)                                       // source and destination, of 16-bit elements
//   atom_picture("make_tiled_copy(UniversalCopy<uint128_t>, half_t, (32,4):(4,1), (1,8))", 0)
//   atom_picture("make_tiled_copy_A(SM75_U32x4_LDSM_N, half_t, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))", 0)
//
// Every matrix instruction and every copy of the tables has a picture; other instructions are refused.
#pragma once
#include <string>
#include <string_view>

#include "view/picture.hpp"

namespace zellige::view {

/// Returns true if this is the name of an instruction, known or not, or a TiledMMA or TiledCopy.
bool names_atom(std::string_view text);

/// Returns the picture of an instruction, TiledMMA or TiledCopy. `element_bits` is the size of the elements that a copy
/// moves, if the expression names no type; 0: the size that the instruction is made for. Throws Error if there is no such
/// instruction, with the nearest name, or if it has no layouts of threads and values.
Picture atom_picture(const std::string& text, int element_bits);

}  // namespace zellige::view
