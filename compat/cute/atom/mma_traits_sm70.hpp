// CuTe's header for the thread-value layouts of matrix instructions of SM70.
#pragma once
#include <cute/atom/mma_atom.hpp>

namespace zellige {

/// The threads of a warp that issue one instruction together: two groups of four.
using SM70_QuadPair = Layout<Shape<_4, _2>, Stride<_1, _16>>;
// Layouts from (thread of the eight, value) to an element of an operand of 8 x 4, or of an accumulator of 8 x 8.
using SM70_8x4_Row = Layout<Shape<_8, _4>, Stride<_1, _8>>;
using SM70_8x4_Col = Layout<Shape<Shape<_4, _2>, _4>, Stride<Stride<_8, _4>, _1>>;
using SM70_8x8_16b = Layout<Shape<_8, _8>, Stride<_1, _8>>;
using SM70_8x8_32b =
    Layout<Shape<Shape<_2, _2, _2>, Shape<_2, _2, _2>>, Stride<Stride<_1, _16, _4>, Stride<_8, _2, _32>>>;

}  // namespace zellige
