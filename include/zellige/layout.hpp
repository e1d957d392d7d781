// The complete layout library, as one include: static integers, tuples, layouts, swizzles and their algebra,
// for host and device.
//
//   using namespace zellige;
//   auto tile = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _128>, Stride<_128, _1>>{});
//   int index = tile(k, n);                                     // plain integer arithmetic on constants
//   auto mine = zipped_divide(tile, Shape<_8, _16>{});          // ((8, 16), (8, 8)): the tile, and the tiles
#pragma once
#include <zellige/layout/compatibility.hpp>
#include <zellige/layout/coord_iterator.hpp>
#include <zellige/layout/equality.hpp>
#include <zellige/layout/modes.hpp>
#include <zellige/layout/structured_bindings.hpp>
