// Tiled copies and tiled MMAs follow the rule of tensor/overhang.hpp: an unpredicated copy refuses a thread's
// part that is out of bounds, and copies one that is in bounds.
#include <gtest/gtest.h>

#include <vector>
#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/tiled_copy.hpp>
#include <zellige/atom/tiled_mma.hpp>

namespace zellige {
namespace {

std::string refusal(int tile, int extent) {
  return "copy: a tile of " + std::to_string(tile) + " hangs over the end of a tensor whose extent is " +
         std::to_string(extent) + "; copy_if takes a predicate";
}
/// The error of a copy to registers, and whether the coordinates of the same part are in bounds.
template <class X, class C>
void expect_exact(X const& part, C const& crd, int rows, int columns, std::vector<std::string> const& words) {
  bool inside = true;
  for (int i = 0; i < int(size(crd)); ++i) inside &= int(get<0>(crd(i))) < rows && int(get<1>(crd(i))) < columns;
  std::vector<float> sink(4096);
  std::string why;
  try {
    copy(part, make_tensor(sink.data(), part.layout().shape()));
  } catch (LayoutError const& e) {
    why = e.what();
  }
  if (inside)
    EXPECT_EQ(why, "") << rows << "x" << columns;
  else
    EXPECT_TRUE(why == words[0] || why == words[1]) << rows << "x" << columns << ": " << why;
}

TEST(TiledOverhang, OfACopyThreadByThread) {
  std::vector<float> from(2048);
  auto const tiled =
      make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4, _8>>{}, Layout<Shape<_1, _2>>{});
  for (int rows = 1; rows <= 9; ++rows) {
    for (int columns = 13; columns <= 33; ++columns) {
      auto const a = make_tensor(from.data(), make_shape(rows, columns));
      auto const c = make_identity_tensor(make_shape(rows, columns));
      for (int t = 0; t < 32; ++t) {
        auto const mine = tiled.get_slice(t);
        expect_exact(mine.partition_S(a), mine.partition_S(c), rows, columns, {refusal(4, rows), refusal(16, columns)});
      }
    }
  }
}
TEST(TiledOverhang, OfATileOfATensor) {
  std::vector<float> from(2048);
  auto const tiled = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4, _8>>{});
  for (int rows = 9; rows <= 24; ++rows) {
    auto const shape = make_shape(rows, 32);
    auto const a = make_tensor(from.data(), shape);
    auto const at = make_coord((rows + 7) / 8 - 1, 0);
    auto const tile = local_tile(a, Shape<_8, _32>{}, at);
    auto const crd = local_tile(make_identity_tensor(shape), Shape<_8, _32>{}, at);
    for (int t = 0; t < 32; ++t) {
      auto const mine = tiled.get_slice(t);
      expect_exact(mine.partition_S(tile), mine.partition_S(crd), rows, 32, {refusal(4, 8), refusal(4, 8)});
    }
  }
}
TEST(TiledOverhang, OfAnMmaThreadByThread) {
  std::vector<float> from(2048);
  auto const mma = make_tiled_mma(UniversalFMA<float, float, float, float>{}, Layout<Shape<_4, _2, _1>>{});
  for (int rows = 1; rows <= 9; ++rows) {
    for (int columns = 1; columns <= 5; ++columns) {
      auto const a = make_tensor(from.data(), make_shape(rows, columns));
      auto const c = make_identity_tensor(make_shape(rows, columns));
      for (int t = 0; t < 8; ++t) {
        auto const mine = mma.get_slice(t);
        expect_exact(mine.partition_C(a), mine.partition_C(c), rows, columns, {refusal(4, rows), refusal(2, columns)});
      }
    }
  }
}
TEST(TiledOverhang, IsNotInTheType) {
  float memory[320] = {};
  auto const tiled =
      make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4, _8>>{}, Layout<Shape<_1, _2>>{});
  auto const even = tiled.get_slice(1).partition_S(make_tensor(memory, Shape<_8, _32>{}));
  static_assert(is_same_v<decltype(even)::engine_type, ViewEngine<float*>>);
  auto const mma = make_tiled_mma(UniversalFMA<float, float, float, float>{}, Layout<Shape<_4, _4, _1>>{});
  auto const odd = mma.get_slice(1).partition_A(make_tensor(memory, Shape<_10, _32>{}));
  static_assert(is_same_v<decltype(odd)::engine_type, ViewEngine<float*>>);
  EXPECT_EQ(int(size(odd)), 3 * 32);
}

}  // namespace
}  // namespace zellige
