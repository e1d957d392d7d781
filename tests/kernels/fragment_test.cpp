// A warpgroup's accumulators and stmatrix's addresses, derived from the instructions' layouts, against PTX ISA's figures;
// orders of tiles.
#include <gtest/gtest.h>

#include <vector>
#include <zellige/block/fragment_wgmma.hpp>
#include <zellige/block/slab.hpp>
#include <zellige/block/tile_scheduler.hpp>

#include "../atom/wgmma_elements.hpp"

namespace zellige {
namespace {

template <int N>
void check_warpgroup() {
  using D = WarpgroupFragment<N>;
  static_assert(D::lines == 2 && D::runs == N / 4);
  for (int t = 0; t < 128; ++t) {
    for (int i = 0; i < N / 2; ++i) {
      const FragmentAt at = D::at(i / 2, t / 32, t % 32);
      const auto e = wgmma_element(t, i);
      ASSERT_EQ(at.m, e.row) << "thread " << t << ", register " << i;
      ASSERT_EQ(at.n + i % 2, e.column) << "thread " << t << ", register " << i;
      ASSERT_EQ(D::line_at(D::line(i / 2), t / 32, t % 32).m, at.m) << "thread " << t << ", register " << i;
    }
  }
}

TEST(WarpgroupFragment, HasTheRegistersOfWgmma) {
  check_warpgroup<8>();
  check_warpgroup<40>();
  check_warpgroup<176>();
  check_warpgroup<256>();
}

// PTX ISA, "stmatrix": lane 8 i + j addresses row j of matrix i, of which thread 4 j holds the first element in register i;
// with .trans a row is a column of what the threads hold.
template <int Matrices, bool Transposed, int N>
void check_addresses() {
  for (int t = 0; t < 128; ++t) {
    const int lane = t % 32, matrix = lane / 8 % Matrices, j = lane % 8;
    const FragmentAt at = addressed_element<half_t, StoreMatrix<Matrices, Transposed>, WarpgroupFragment<N>>(t);
    const int row = t / 32 * 16 + matrix % 2 * 8, column = matrix / 2 * 8;
    ASSERT_EQ(at.m, Transposed ? row : row + j) << Matrices << " matrices, thread " << t;
    ASSERT_EQ(at.n, Transposed ? column + j : column) << Matrices << " matrices, thread " << t;
  }
}
TEST(WarpgroupFragment, IsAddressedAsStmatrixDoes) {
  check_addresses<2, false, 64>();
  check_addresses<4, false, 64>();
  check_addresses<2, true, 64>();
  check_addresses<4, true, 64>();
  check_addresses<2, true, 8>();
  check_addresses<4, false, 40>();
}
// The rows of a quad: what the online softmax adds up over neighbouring lanes.
TEST(WarpgroupFragment, RowsAreSharedByNeighbours) {
  using D = WarpgroupFragment<64>;
  const auto row = [](int t) { return D::at(0, t / 32, t % 32).m; };
  for (int t = 0; t < 128; ++t)
    for (int u = 0; u < 128; ++u)
      ASSERT_EQ(row(t) == row(u), t / D::lanes_of_line == u / D::lanes_of_line) << t << " " << u;
}

TEST(TileOrder, TakesEachTileOnce) {
  for (int rows = 1; rows <= 13; ++rows)
    for (int columns = 1; columns <= 5; ++columns)
      for (int group = 1; group <= rows; ++group) {
        const TileOrder order{rows, columns, group};
        std::vector<bool> taken(static_cast<std::size_t>(order.tiles()), false);
        for (int t = 0; t < order.tiles(); ++t) {
          const auto [row, column] = order(t);
          ASSERT_TRUE(0 <= row && row < rows && 0 <= column && column < columns);
          ASSERT_EQ(row / group, t / (group * columns)) << "a group is whole before the next begins";
          const auto at = static_cast<std::size_t>(row * columns + column);
          ASSERT_FALSE(taken[at]) << rows << " x " << columns << " in groups of " << group << ", tile " << t;
          taken[at] = true;
        }
      }
}
TEST(TileOrder, PutsFourRowsOfTwoColumnsSideBySide) {
  const TileOrder order{12, 6, 8};
  for (int t = 0; t < order.tiles(); ++t) {
    const auto [row, column] = order(t);
    const auto [first, left] = order(t / 8 * 8);
    EXPECT_TRUE(first % 4 == 0 && left % 2 == 0 && row / 4 == first / 4 && column / 2 == left / 2) << t;
  }
}

template <bool Causal>
void check_head_order(int tiles, int heads, int blocks) {
  const HeadOrder<Causal> order{tiles, heads};
  std::vector<int> taken(static_cast<std::size_t>(tiles * heads));
  for (int block = 0; block < blocks; ++block)
    for (int iteration = 0; iteration < order.iterations(blocks); ++iteration) {
      const auto [tile, head] = order(iteration, block, blocks);
      if (tile >= 0) ++taken.at(static_cast<std::size_t>(head * tiles + tile));
    }
  for (int n : taken) ASSERT_EQ(n, 1) << tiles << " tiles, " << heads << " heads, " << blocks << " blocks";
}
TEST(HeadOrder, TakesEachTileOnce) {
  for (int tiles = 1; tiles < 8; ++tiles)
    for (int heads = 1; heads < 5; ++heads)
      for (int blocks : {1, 2, 3, 7, 32}) {
        check_head_order<false>(tiles, heads, blocks);
        check_head_order<true>(tiles, heads, blocks);
      }
}

TEST(LongAndShort, TakesEachTileOnceAndTwoThatMakeUpForEachOther) {
  for (int below : {1, 3})
    for (int extent : {2, 4, 10})
      for (int above : {1, 5})
        for (int blocks : {1, 2, 7}) {
          const LongAndShort order{below, extent};
          const int tiles = below * extent * above;
          std::vector<int> taken(static_cast<std::size_t>(tiles));
          for (int block = 0; block < blocks; ++block)
            for (int pair = block, iteration = 0, longer = 0; pair < tiles / 2;
                 pair += iteration * blocks, iteration ^= 1) {
              const int tile = order(pair, iteration), along = tile / below % extent;
              ++taken.at(static_cast<std::size_t>(tile));
              if (iteration == 0) ASSERT_GE(longer = along, extent / 2);
              if (iteration == 1) ASSERT_EQ(longer + along, extent - 1) << tile;
            }
          for (int n : taken) ASSERT_EQ(n, 1) << below << " " << extent << " " << above << " " << blocks;
        }
}

}  // namespace
}  // namespace zellige
