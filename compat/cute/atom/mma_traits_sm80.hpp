// CuTe's header for the thread-value layouts of matrix instructions of SM80.
#pragma once
#include <cute/atom/mma_atom.hpp>

namespace zellige {

// Layouts from (thread, value) to an element of a warp's accumulator tile.
using SM80_8x4 = Layout<Shape<Shape<_4, _8>, _1>, Stride<Stride<_8, _1>, _0>>;
using SM80_8x8_Row = Layout<Shape<Shape<_4, _8>, _2>, Stride<Stride<_16, _1>, _8>>;
using SM80_8x16_Row = Layout<Shape<Shape<_4, _8>, _4>, Stride<Stride<_32, _1>, _8>>;
using SM80_16x8_Row = Layout<Shape<Shape<_4, _8>, Shape<_2, _2>>, Stride<Stride<_32, _1>, Stride<_16, _8>>>;

}  // namespace zellige
