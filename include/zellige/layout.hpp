// Includes the complete layout library, for host and device: static integers, tuples, layouts, swizzles, and the
// algebra of layouts.
//
//   using namespace zellige;
//   auto tile = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _128>, Stride<_128, _1>>{});
//   int index = tile(k, n);                                     // plain integer arithmetic on constants
//   auto mine = zipped_divide(tile, Shape<_8, _16>{});          // ((8, 16), (8, 8)): 8 x 8 tiles of 8 x 16
#pragma once
#include <zellige/layout/compatibility.hpp>
#include <zellige/layout/coord_iterator.hpp>
#include <zellige/layout/equality.hpp>
#include <zellige/layout/modes.hpp>
#include <zellige/layout/structured_bindings.hpp>
