// Layouts whose strides are of a user's type: every operation of the algebra that keeps strides gives the
// same as for integers, checked by weighting the user's elements; the others are refused, in one error.
#include <gtest/gtest.h>

#include <zellige/layout.hpp>

namespace zellige {
namespace {

/// Two integers at once; nothing but what a module must have.
struct Pixel {
  int right = 0, down = 0;
  friend constexpr Pixel operator+(Pixel a, Pixel b) { return {a.right + b.right, a.down + b.down}; }
  friend constexpr Pixel operator*(int n, Pixel p) { return {n * p.right, n * p.down}; }
};
template <class T>
constexpr long long weighed(T const& x) {
  if constexpr (is_same_v<remove_cvref_t<T>, Pixel>)
    return x.right * 1000LL + x.down;
  else
    return static_cast<long long>(x);
}
constexpr Pixel a{3, 1}, b{0, 20}, c{-7, 2};
/// The same layout over pixels and over the integers that weigh them.
template <class S, class D, class W>
void same_function(Layout<S, D> const& pixels, W const& weights) {
  ASSERT_EQ(int(size(pixels)), int(size(weights)));
  for (int i = 0; i < int(size(pixels)); ++i) ASSERT_EQ(weighed(pixels(i)), static_cast<long long>(weights(i))) << i;
}
template <class S>
auto both(S const& shape, Pixel x, Pixel y) {
  return make_tuple(make_layout(shape, make_stride(x, y)),
                    make_layout(shape, make_stride(int(weighed(x)), int(weighed(y)))));
}
/// f of both is the same function.
template <class F>
void keeps(F f) {
  auto const on = [&](auto const& shape) {
    auto const [pixels, weights] = both(shape, a, b);
    same_function(f(pixels), f(weights));
    auto const [p, w] = both(shape, c, a);
    same_function(f(p), f(w));
  };
  on(Shape<_8, _6>{});
  on(make_shape(8, 6));
  on(make_shape(_8{}, 6));
}

/// A run-time integer that knows more: the greatest of several lengths.
struct Longest {
  int longest;
  int const* lengths = nullptr;
  constexpr operator int() const { return longest; }
};
}  // namespace
template <>
struct is_integral<Longest> : true_type {};
namespace {

// The layouts keep it as it was given; what is computed of it is an int.
TEST(UserModule, IntegersOfAUsersTypeAreExtents) {
  Longest const n{12};
  auto const own = make_layout(make_shape(n, 5), LayoutRight{});
  auto const plain = make_layout(make_shape(12, 5), LayoutRight{});
  static_assert(is_same_v<remove_cvref_t<decltype(own.shape<0>())>, Longest>);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(own(i), plain(i));
  auto const tiles = zipped_divide(own, Shape<_4, _5>{});
  static_assert(is_same_v<decltype(tiles), decltype(zipped_divide(plain, Shape<_4, _5>{})) const>);
  EXPECT_TRUE(tiles == zipped_divide(plain, Shape<_4, _5>{}));
  EXPECT_EQ(ceil_div(n, 5), 3);
  EXPECT_EQ(size(make_layout(n)), 12);
  EXPECT_EQ(crd2idx(make_coord(3, 2), make_shape(n, 5)), 27);
}

TEST(UserModule, WhatKeepsStridesWorks) {
  keeps([](auto const& l) { return l; });
  keeps([](auto const& l) { return coalesce(l); });
  keeps([](auto const& l) { return coalesce(l, Shape<_1, _1>{}); });
  keeps([](auto const& l) { return composition(l, Layout<Shape<_4, _3>, Stride<_2, _8>>{}); });
  keeps([](auto const& l) { return composition(l, make_tile(_4{}, Layout<_3, _2>{})); });
  keeps([](auto const& l) { return composition(l, Layout<Shape<_4, _2>, Stride<_1, _0>>{}); });
  keeps([](auto const& l) { return logical_divide(l, Shape<_4, _3>{}); });
  keeps([](auto const& l) { return zipped_divide(l, Shape<_4, _3>{}); });
  keeps([](auto const& l) { return tiled_divide(l, Shape<_4, _3>{}); });
  keeps([](auto const& l) { return flat_divide(l, Shape<_4, _3>{}); });
  keeps([](auto const& l) { return zipped_divide(l, Layout<_4, _2>{}); });
  keeps([](auto const& l) { return l.with_shape(make_shape(_16{}, _3{})); });
  keeps([](auto const& l) { return take<0, 1>(l); });
  keeps([](auto const& l) { return select<1, 0>(l); });
  keeps([](auto const& l) { return get<1>(l); });
  keeps([](auto const& l) { return flatten(group<0, 2>(l)); });
  keeps([](auto const& l) { return append(l, l); });
  keeps([](auto const& l) { return prepend(get<0>(l), get<1>(l)); });
  keeps([](auto const& l) { return replace<1>(l, get<0>(l)); });
  keeps([](auto const& l) { return make_layout(l, get<1>(l)); });
  keeps([](auto const& l) { return zip(l, l); });
  keeps([](auto const& l) { return l(_, 3); });
  keeps([](auto const& l) { return zipped_divide(l, Shape<_4, _3>{})(_, make_coord(1, 1)); });
}
TEST(UserModule, SlicesAndOffsets) {
  auto const [pixels, weights] = both(make_shape(8, 6), a, b);
  auto const p = slice_and_offset(make_coord(2, _), pixels);
  auto const w = slice_and_offset(make_coord(2, _), weights);
  same_function(get<0>(p), get<0>(w));
  EXPECT_EQ(weighed(get<1>(p)), static_cast<long long>(get<1>(w)));
}

}  // namespace
}  // namespace zellige
