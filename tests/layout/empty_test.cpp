// Layouts without elements: a tile of 0 of an empty mode is an empty tile, of which there are none. A tile of 0 of a mode
// that has elements is refused.
#include <gtest/gtest.h>

#include <zellige/layout/print.hpp>
#include <zellige/tensor.hpp>

namespace zellige {
namespace {

TEST(EmptyLayouts, ATileOf0OfAnEmptyModeIsEmpty) {
  EXPECT_EQ(to_text(logical_divide(Layout<_0>{}, _0{})), "(_0,_0):(_0,_0)");
  EXPECT_EQ(to_text(logical_divide(Layout<_0>{}, Layout<_0>{})), "(_0,_0):(_0,_0)");
  auto const rows = make_layout(make_shape(_0{}, 100), make_stride(int64_t(128), _1{}));
  EXPECT_EQ(to_text(logical_divide(rows, Shape<_0, _32>{})), "((_0,_0),(_32,4)):((_0,_0),(_1,_32))");
  EXPECT_EQ(to_text(zipped_divide(rows, Shape<_0, _32>{})), "((_0,_32),(_0,4)):((_0,_1),(_0,_32))");
  EXPECT_EQ(to_text(tiled_divide(rows, Shape<_0, _32>{})), "((_0,_32),_0,4):((_0,_1),_0,_32)");
  EXPECT_EQ(to_text(flat_divide(rows, Shape<_0, _32>{})), "(_0,_32,_0,4):(_0,_1,_0,_32)");
}

// The size of a divided layout is that of its tile times that of its rest, and the tile has the tiler's shape.
TEST(EmptyLayouts, TilesOfEveryStaticExtentHaveTheShapeOfTheTiler) {
  auto const expect_tile = [](auto const& layout, auto const& tiler) {
    auto const divided = zipped_divide(layout, tiler);
    EXPECT_EQ(shape<0>(divided), tiler) << to_text(divided);
    EXPECT_EQ(size(divided), 0) << to_text(divided);
    EXPECT_EQ(to_text(local_tile(make_counting_tensor(layout), tiler, make_coord(0, 0)).shape()), to_text(tiler));
  };
  expect_tile(Layout<Shape<_0, _8>>{}, Shape<_0, _4>{});
  expect_tile(Layout<Shape<_0, _8>>{}, Shape<_16, _4>{});
  expect_tile(Layout<Shape<_8, _0>, Stride<_1, _8>>{}, Shape<_4, _0>{});
  expect_tile(Layout<Shape<_0, _0>>{}, Shape<_0, _0>{});
  expect_tile(make_layout(make_shape(8, _0{})), Shape<_4, _0>{});
  expect_tile(make_layout(make_shape(_0{}, 7), make_stride(9, _1{})), Shape<_0, _8>{});
}

TEST(EmptyLayouts, HaveNoComplementBelow0) {
  EXPECT_EQ(to_text(complement(Layout<_0>{}, _0{})), "_0:_0");
  EXPECT_EQ(to_text(complement(Layout<Shape<_0, _8>>{}, _0{})), "_0:_0");
}

TEST(EmptyLayouts, AreRepeatedAndTiledAgain) {
  EXPECT_EQ(to_text(logical_product(Layout<_0>{}, Layout<_4>{})), "(_0,_4):(_1,_0)");
  EXPECT_EQ(size(blocked_product(Layout<Shape<_0, _4>>{}, Layout<Shape<_4, _2>>{})), 0);
  EXPECT_EQ(to_text(tile_to_shape(Layout<Shape<_8, _4>>{}, Shape<_0, _8>{})), "((_8,_0),(_4,_2)):((_1,_32),(_8,_0))");
  EXPECT_EQ(size(make_fragment_like<float>(make_counting_tensor(Layout<Shape<_0, _8>>{}))), 0);
}

TEST(EmptyLayouts, TensorsOfThemAreCopiedAndCleared) {
  float* const nowhere = nullptr;
  auto const empty = make_tensor(nowhere, make_shape(_0{}, 128), make_stride(int64_t(128), _1{}));
  auto tile = local_tile(empty, Shape<_0, _128>{}, make_coord(0, 0));
  EXPECT_EQ(to_text(tile.layout()), "(_0,_128):(_0,_1)");
  auto fragment = make_tensor<float>(tile.layout());
  clear(fragment);
  copy(tile, fragment);
  copy(fragment, tile);
}

// An extent that is known only at run time may be 0: the tile of 0 is refused, whatever it is.
TEST(EmptyLayouts, ATileOf0OfOtherModesIsRefused) {
  auto const refusal = [](Value const& layout, Value const& tiler) {
    Tape t;
    algebra::logical_divide(t, layout, tiler);
    return to_text(t.refusal());
  };
  EXPECT_EQ(refusal(describe(Layout<_8>{}), describe(_0{})), "8 is divided by 0");
  EXPECT_EQ(refusal(describe(make_layout(make_shape(_4{}, 6))), describe(make_shape(_2{}, _0{}))), "6 is divided by 0");
  EXPECT_EQ(refusal(describe(Layout<_0>{}), describe(_0{})), "");
}

}  // namespace
}  // namespace zellige
