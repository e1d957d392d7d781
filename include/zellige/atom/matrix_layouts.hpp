// Defines the thread-value layouts of the operands of ldmatrix, stmatrix and movmatrix: one, two or four 8x8 matrices
// of 16-bit elements. They express the fragment figures of the PTX ISA in the convention of CuTe's traits: a layout
// maps (thread, bit) to an offset in bits.
#pragma once

#include <zellige/atom/thread_value.hpp>

namespace zellige::matrix_layouts {

// rows_*: the shared-memory side, one 16-byte matrix row per thread that passes an address. Stride 0 marks threads
// whose address is unused. matrix_*: the register side, one 32-bit register per thread and matrix.
inline constexpr ThreadValue rows_x1{{{8, 128}, {4, 0}}, {{128, 1}}};
inline constexpr ThreadValue rows_x2{{{16, 128}, {2, 0}}, {{128, 1}}};
inline constexpr ThreadValue rows_x4{{{32, 128}}, {{128, 1}}};
inline constexpr ThreadValue matrix_x1{{{32, 32}}, {{32, 1}}};
inline constexpr ThreadValue matrix_x2{{{32, 32}}, {{32, 1}, {2, 1024}}};
inline constexpr ThreadValue matrix_x4{{{32, 32}}, {{32, 1}, {4, 1024}}};
inline constexpr ThreadValue matrix_x1_trans{{{4, 256}, {8, 16}}, {{16, 1}, {2, 128}}};
inline constexpr ThreadValue matrix_x2_trans{{{4, 256}, {8, 16}}, {{16, 1}, {2, 128}, {2, 1024}}};
inline constexpr ThreadValue matrix_x4_trans{{{4, 256}, {8, 16}}, {{16, 1}, {2, 128}, {4, 1024}}};

}  // namespace zellige::matrix_layouts
