// The compile-time API: numbers, tuples, layouts, coordinates and slices, mostly as static
// assertions.
#include <gtest/gtest.h>

#include <zellige/layout.hpp>

namespace zellige {
namespace {

// Arithmetic on static numbers is static; with a run-time number only 0*x, 0/x, 0%x and x%1 are.
static_assert(is_same_v<decltype(_4{} * _2{}), _8>);
static_assert(is_same_v<decltype(_0{} * 5), _0>);
static_assert(is_same_v<decltype(5 % _1{}), _0>);
static_assert(is_same_v<decltype(_1{} * 5), int>);
static_assert(is_same_v<decltype(7_c), Int<7>>);
static_assert(is_same_v<decltype(gcd(_12{}, _18{})), _6>);

// Static tuples take no space.
static_assert(sizeof(Layout<Shape<_2, Shape<_3, _5>>>) == 1);
static_assert(sizeof(make_shape(_4{}, 5)) == sizeof(int));

// Compact strides by default, on either side.
static_assert(is_same_v<Layout<Shape<_2, _3>>, Layout<Shape<_2, _3>, Stride<_1, _2>>>);
static_assert(is_same_v<decltype(make_layout(Shape<_2, _3>{}, LayoutRight{})), Layout<Shape<_2, _3>, Stride<_3, _1>>>);

// Coordinates whole, flat and nested; queries.
constexpr Layout<Shape<Shape<_2, _3>, _4>, Stride<Stride<_1, _8>, _2>> nested{};
static_assert(nested(make_coord(1, 2), 3) == 1 + 16 + 6);
static_assert(nested(5, 3) == 1 + 16 + 6);
static_assert(nested(5 + 6 * 3) == 1 + 16 + 6);
static_assert(size(nested) == 24 && rank(nested) == 2 && depth(nested) == 2 && cosize(nested) == 24);
static_assert(size<0, 1>(nested) == 3);
static_assert(is_same_v<decltype(nested(make_coord(1, _), 3)), Layout<Shape<_3>, Stride<_8>>>);

TEST(StaticLayout, CoordinatesMapBackToThemselves) {
  for (int i = 0; i < 24; ++i) EXPECT_EQ(crd2idx(idx2crd(i, nested.shape()), nested.shape()), i);
}

TEST(StaticLayout, SwizzledLayoutsAreEvaluatedAfterTheSwizzle) {
  auto const l = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _128, _3>, Stride<_128, _1, _8192>>{});
  for (int i : {0, 1, 37, 63}) {
    for (int j : {0, 9, 127}) {
      int const unswizzled = i * 128 + j + 8192;
      EXPECT_EQ(l(i, j, 1), unswizzled ^ ((unswizzled & (7 << 6)) >> 3));
      EXPECT_EQ(l(_, j, 1)(i) + get<1>(slice_and_offset(make_coord(_, j, 1), l)), l(i, j, 1));
    }
  }
}

// A slice of a tile of 8 rows of 64 elements, repeated by `part` and `block`: at run-time coordinates, of 8 elements of
// each block. Returns true if its swizzle is resolved into strides, false if it is still applied to each index.
template <int part, int block>
bool slice_is_resolved() {
  auto const l =
      composition(Swizzle<3, 3, 3>{},
                  Layout<Shape<Shape<_8, _8>, _8, _3, _3>, Stride<Stride<_1, _8>, _64, Int<part>, Int<block>>>{});
  bool resolved = false;
  for (int j = 0; j < 8; ++j) {
    for (int row = 0; row < 8; ++row) {
      for (int w = 0; w < 3; ++w) {
        auto const [slice, offset] = slice_and_offset(make_coord(make_coord(_, j), row, w, _), l);
        for (int i = 0; i < 8; ++i) {
          for (int b = 0; b < 3; ++b) EXPECT_EQ(slice(i + 8 * b) + offset, l(make_coord(i, j), row, w, b));
        }
        resolved = is_layout_v<remove_cvref_t<decltype(slice)>>;
      }
    }
  }
  return resolved;
}
TEST(StaticLayout, CarriesAboveASwizzleLeaveItsSlicesResolved) {
  EXPECT_TRUE((slice_is_resolved<512, 4096>()));    // no two strides share a bit
  EXPECT_TRUE((slice_is_resolved<4096, 12288>()));  // 2 * 4096 + 12288 carries above bit 8
  EXPECT_FALSE((slice_is_resolved<64, 192>()));     // 2 * 64 + 192 carries into bit 8
}

TEST(StaticLayout, BasisElementsSpanCoordinates) {
  auto const c = 2 * (2 * E<0, 1>{}) + 3 * E<1>{} + 4 * (5 * E<1>{}) + 7 * E<0, 0>{};
  EXPECT_EQ(int(get<0, 0>(c)), 7);
  EXPECT_EQ(int(get<0, 1>(c)), 4);
  EXPECT_EQ(int(get<1>(c)), 23);
}

}  // namespace
// Structured bindings of tuples, as for the standard library's.
constexpr int rows_and_columns() {
  auto const layout = make_layout(make_shape(3, make_shape(_4{}, 5)));
  auto const [m, nk] = layout.shape();
  auto const& [n, k] = nk;
  auto pair = make_tuple(1, _2{});
  auto& [first, second] = pair;
  first = 7;
  return m * 1000 + n * 100 + k * 10 + get<0>(pair) + second - 2;
}
static_assert(rows_and_columns() == 3457);
static_assert(std::tuple_size<Shape<_1, _2, int>>::value == 3);

}  // namespace zellige
