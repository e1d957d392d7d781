// Zellige's layouts: static integers, tuples, Layout, swizzles and their algebra, for host and device.
//
//   using namespace zellige;
//   auto tile = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _128>, Stride<_128, _1>>{});
//   int index = tile(k, n);          // plain integer arithmetic on constants
#pragma once
#include <zellige/layout/composed.hpp>
