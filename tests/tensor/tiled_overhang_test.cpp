// Tiled copies and tiled MMAs keep the rule of tensor/overhang.hpp: what a tiling cuts past the end of a
// tensor is refused by an unpredicated copy.
#include <gtest/gtest.h>

#include <vector>
#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/tiled_copy.hpp>
#include <zellige/atom/tiled_mma.hpp>

namespace zellige {
namespace {

TEST(TiledOverhang, OfACopy) {
  std::vector<float> from(1024), to(1024);
  for (int i = 0; i < 1024; ++i) from[std::size_t(i)] = float(i);
  auto const tiled = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4, _8>>{},
                                     Layout<Shape<_1, _2>>{});
  for (int rows = 1; rows <= 16; ++rows) {
    auto const a = make_tensor(from.data(), make_shape(rows, 32));
    auto const b = make_tensor(to.data(), make_shape(rows, 32));
    std::string why;
    try {
      for (int t = 0; t < 32; ++t) {
        auto const mine = tiled.get_slice(t);
        copy(tiled, mine.partition_S(a), mine.partition_D(b));
      }
    } catch (LayoutError const& e) {
      why = e.what();
    }
    if (rows % 4 == 0) {
      EXPECT_EQ(why, "");
      for (int i = 0; i < 32 * rows; ++i) EXPECT_EQ(to[std::size_t(i)], float(i));
    } else {
      EXPECT_EQ(why, "copy: a tile of 4 hangs over the end of a tensor whose extent is " +
                         std::to_string(rows) + "; copy_if takes a predicate");
    }
  }
}
TEST(TiledOverhang, IsARecordOfTheType) {
  float memory[320] = {};
  auto const tiled = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4, _8>>{},
                                     Layout<Shape<_1, _2>>{});
  auto const even = tiled.get_slice(1).partition_S(make_tensor(memory, Shape<_8, _32>{}));
  static_assert(is_same_v<decltype(even)::engine_type, ViewEngine<float*>>);
  auto const mma = make_tiled_mma(UniversalFMA<float, float, float, float>{}, Layout<Shape<_4, _4, _1>>{});
  auto const odd = mma.get_slice(1).partition_A(make_tensor(memory, Shape<_10, _32>{}));
  static_assert(is_same_v<decltype(odd)::engine_type, ViewEngine<float*, Overhang<4, 10>>>);
  auto const coordinates = mma.get_slice(1).partition_A(make_identity_tensor(Shape<_10, _32>{}));
  static_assert(is_same_v<decltype(coordinates)::engine_type::overhang, Whole>);
  EXPECT_EQ(int(size(odd)), 3 * 32);
}

}  // namespace
}  // namespace zellige
