// The names of layouts and of what they are made of. A type that is but named costs a compiler next to nothing; text that takes layouts
// apart, as tiles of generated kernels do, needs no more than this.
#pragma once

namespace zellige {

template <auto v>
struct C;
template <int v>
using Int = C<v>;

template <class... T>
struct tuple;
// CuTe's names for the same thing, by what it is used for.
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

/// The type of a swizzle behind a layout without state: Swizzled<3, 3, 3, Layout<Shape<_64, _128>, Stride<_128, _1>>>.
template <int B, int M, int S, class L>
using Swizzled = ComposedLayout<Swizzle<B, M, S>, C<0>, L>;

}  // namespace zellige
