// The (thread, value) layouts of 8x8 matrices of 16-bit elements: the operands of ldmatrix, stmatrix and
// movmatrix. PTX ISA's figures, in bits, in CuTe's convention.
#pragma once

#include <zellige/atom/thread_value.hpp>

namespace zellige::matrix_layouts {

// At one end a 16-byte row per addressing thread, at the other one register of each matrix per thread. Stride
// 0 marks threads whose address is unused.
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
