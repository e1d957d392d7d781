// Declares the class templates of layouts and of their parts without defining them. Code that only matches layout types
// in template specialisations, such as the tile classes of generated kernels, includes this header in place of
// layout.hpp, which defines the types and takes longer to compile.
#pragma once

namespace zellige {

template <auto v>
struct C;
template <int v>
using Int = C<v>;

template <class... T>
struct tuple;
// CuTe's names for a tuple, one per use of it.
template <class... T>
using Shape = tuple<T...>;
template <class... T>
using Stride = tuple<T...>;
template <class... T>
using Coord = tuple<T...>;
template <class... T>
using Step = tuple<T...>;
template <class... T>
using Tile = tuple<T...>;

template <class S, class D>
struct Layout;
template <int B, int M, int S>
struct Swizzle;
template <class A, class Offset, class B>
struct ComposedLayout;

/// The type of a swizzle applied to a layout of static numbers, with offset 0: Swizzled<3, 3, 3,
/// Layout<Shape<_64, _128>, Stride<_128, _1>>>.
template <int B, int M, int S, class L>
using Swizzled = ComposedLayout<Swizzle<B, M, S>, C<0>, L>;

}  // namespace zellige
