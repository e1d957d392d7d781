// Tiles and parts by brute force: every element of a tensor is in exactly one part, an identity tensor
// partitioned the same way gives its coordinates, and `copy` refuses a part exactly if one of its coordinates
// is out of bounds.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <utility>
#include <vector>
#include <zellige/tensor.hpp>

namespace zellige {
namespace {

std::vector<int> counted(int n) {
  std::vector<int> v(std::size_t(n), 0);
  std::iota(v.begin(), v.end(), 0);
  return v;
}
template <class F>
bool refused(F f) {
  try {
    f();
  } catch (LayoutError const&) {
    return true;
  }
  return false;
}

// A part lies inside when all its coordinates do. Its identity tensor has them.
template <class C, class S>
bool inside(C const& coordinates, S const& shape) {
  for (int i = 0; i < int(size(coordinates)); ++i) {
    auto const c = coordinates(i);
    if (get<0>(c) >= int(get<0>(shape)) || get<1>(c) >= int(get<1>(shape))) return false;
  }
  return true;
}
template <class X>
bool copies(X const& part) {
  std::vector<int> sink(4096);
  return !refused([&] { copy(part, make_tensor(sink.data(), part.layout().shape())); });
}

// For every extent and every tile: local_tile partitions, and copy(tile) is refused iff the tile hangs over.
template <class T0, class T1>
void check_tiles(T0 t0, T1 t1) {
  auto const tiler = make_shape(t0, t1);
  for (int m = 1; m <= 9; ++m) {
    for (int n = 1; n <= 7; ++n) {
      auto const memory = counted(m * n);
      auto const shape = make_shape(m, n);
      auto const a = make_tensor(memory.data(), shape, make_stride(n, _1{}));
      auto const c = make_identity_tensor(shape);
      std::map<int, int> seen;
      int const rows = (m + int(t0) - 1) / int(t0), columns = (n + int(t1) - 1) / int(t1);
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          auto const tile = local_tile(a, tiler, make_coord(i, j));
          auto const crd = local_tile(c, tiler, make_coord(i, j));
          for (int k = 0; k < int(size(crd)); ++k) {
            int const r = get<0>(crd(k)), s = get<1>(crd(k));
            if (r >= m || s >= n) continue;
            EXPECT_EQ(tile(k), r * n + s);
            ++seen[tile(k)];
          }
          EXPECT_EQ(copies(tile), inside(crd, shape)) << m << "x" << n << " tile " << i << "," << j;
        }
      }
      EXPECT_EQ(int(seen.size()), m * n);
      for (auto const& [element, times] : seen) EXPECT_EQ(times, 1) << element;
    }
  }
}
TEST(Partition, TilesCoverEachElementOnceAndOverhangsAreRefused) {
  check_tiles(_1{}, _1{});
  check_tiles(_2{}, _3{});
  check_tiles(_4{}, _2{});
  check_tiles(_5{}, _8{});
  check_tiles(3, _2{});
  check_tiles(2, 4);
}

// Likewise for the threads of a layout, which need not be compact.
template <class L>
void check_threads(L const& threads) {
  for (int m = 1; m <= 9; ++m) {
    for (int n = 1; n <= 7; ++n) {
      auto const memory = counted(m * n);
      auto const shape = make_shape(m, n);
      auto const a = make_tensor(memory.data(), shape);
      auto const c = make_identity_tensor(shape);
      std::map<int, int> seen;
      for (int t = 0; t < int(size(threads)); ++t) {
        auto const part = local_partition(a, threads, t);
        auto const crd = local_partition(c, threads, t);
        for (int k = 0; k < int(size(crd)); ++k) {
          int const r = get<0>(crd(k)), s = get<1>(crd(k));
          if (r >= m || s >= n) continue;
          EXPECT_EQ(part(k), r + s * m);
          ++seen[part(k)];
        }
        EXPECT_EQ(copies(part), inside(crd, shape)) << m << "x" << n << " thread " << t;
      }
      EXPECT_EQ(int(seen.size()), m * n);
      for (auto const& [element, times] : seen) EXPECT_EQ(times, 1) << element;
    }
  }
}
TEST(Partition, ThreadsCoverEachElementOnceAndOverhangsAreRefused) {
  check_threads(Layout<Shape<_4, _2>>{});
  check_threads(Layout<Shape<_2, _4>, Stride<_4, _1>>{});
  check_threads(Layout<Shape<_3, _1>>{});
  check_threads(make_layout(make_shape(2, 3)));
}

// A division that is not sliced has every tile in it: it may be copied iff all of them lie inside.
TEST(Partition, WholeDivisionsAreRefusedWhereATileHangsOver) {
  std::vector<int> const memory = counted(400);
  for (int m = 1; m <= 12; ++m) {
    for (int n = 1; n <= 6; ++n) {
      auto const a = make_tensor(memory.data(), make_shape(m, n));
      bool const divides = m % 4 == 0 && n % 2 == 0;
      EXPECT_EQ(copies(zipped_divide(a, Shape<_4, _2>{})), divides);
      EXPECT_EQ(copies(logical_divide(a, Shape<_4, _2>{})), divides);
      EXPECT_EQ(copies(tiled_divide(a, Shape<_4, _2>{})), divides);
      EXPECT_EQ(copies(flat_divide(a, Shape<_4, _2>{})), divides);
      EXPECT_EQ(copies(logical_divide(a, make_tile(_4{}, _))), m % 4 == 0);
    }
  }
}
// A tile with a stride of its own: every other element, of 8 and of 7.
TEST(Partition, TilesWithLayoutsOfTheirOwn) {
  std::vector<int> const memory = counted(64);
  auto const tile = make_tile(Layout<_4, _2>{});
  EXPECT_TRUE(copies(logical_divide(make_tensor(memory.data(), make_shape(8, 2)), tile)));
  EXPECT_TRUE(copies(logical_divide(make_tensor(memory.data(), make_shape(16, 2)), tile)));
  EXPECT_FALSE(copies(logical_divide(make_tensor(memory.data(), make_shape(7, 2)), tile)));
  EXPECT_TRUE(copies(composition(make_tensor(memory.data(), 8), Layout<_4, _2>{})));
  EXPECT_FALSE(copies(composition(make_tensor(memory.data(), 6), Layout<_4, _2>{})));
  EXPECT_FALSE(copies(composition(make_tensor(memory.data(), make_shape(6, 4)), Shape<_8, _4>{})));
}

// The out-of-bounds record is not part of the type: a member of the type of one tile accepts any other.
TEST(Partition, TheTypeSaysNothingOfTheEdge) {
  int memory[120] = {};
  auto const a = make_tensor(memory, Shape<_12, _10>{});
  auto const tile = [&](auto m, auto n) { return local_tile(a, Shape<_4, _4>{}, make_coord(m, n)); };
  using Tile = Tensor<ViewEngine<int*>, Layout<Shape<_4, _4>, Stride<_1, _12>>>;
  struct Holder {
    decltype(local_tile(a, Shape<_4, _4>{}, make_coord(_0{}, _0{}))) tile;
  };
  static_assert(is_same_v<decltype(Holder::tile), Tile>);
  static_assert(is_same_v<decltype(tile(_0{}, _2{})), Tile>);  // leaves the tensor, as the compiler could know
  static_assert(is_same_v<decltype(tile(0, 2)), Tile>);
  static_assert(is_same_v<decltype(make_tensor(memory, Layout<Shape<_4, _4>, Stride<_1, _12>>{})), Tile>);
  Holder holder{tile(0, 2)};
  EXPECT_FALSE(copies(holder.tile));
  holder.tile = tile(_1{}, 1);
  EXPECT_TRUE(copies(holder.tile));
  auto const ragged = make_tensor(memory, make_shape(11, 10));
  using Part = decltype(local_partition(ragged, Layout<_4>{}, _0{}));
  static_assert(is_same_v<decltype(local_partition(ragged, Layout<_4>{}, 3)), Part>);
}
// Known extents and the tile's index decide, static or not.
TEST(Partition, RecordsOfOneTileAreExact) {
  int memory[120] = {};
  auto const a = make_tensor(memory, Shape<_12, _10>{});
  EXPECT_TRUE(copies(local_tile(a, Shape<_4, _5>{}, make_coord(1, 1))));
  EXPECT_TRUE(copies(local_tile(a, Shape<_4, _4>{}, make_coord(_0{}, _1{}))));
  EXPECT_FALSE(copies(local_tile(a, Shape<_4, _4>{}, make_coord(_0{}, _2{}))));
  // A number for the tile counts the tiles, the first mode fastest.
  for (int i = 0; i < 9; ++i) {
    auto const one = local_tile(a, Shape<_4, _4>{}, i);
    EXPECT_EQ(copies(one), i < 6) << i;
  }
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 3; ++n) {
      auto const some = local_tile(a, Shape<_4, _4>{}, make_coord(m, n));
      EXPECT_EQ(copies(some), n < 2) << m << "," << n;
      EXPECT_TRUE(copies(some(_, 0)));  // column 8 at most
      EXPECT_EQ(copies(some(0, _)), n < 2) << m << "," << n;
    }
  }
  auto const first = local_partition(a, Layout<Shape<_5, _5>>{}, _0{});  // thread 0: rows 0, 5, 10
  EXPECT_TRUE(copies(first));
  auto const last = local_partition(a, Layout<Shape<_5, _5>>{}, _2{});  // thread 2: rows 2, 7, 12
  EXPECT_FALSE(copies(last));
  // Coordinates are not memory: an identity tensor may run over.
  auto const crd = local_tile(make_identity_tensor(Shape<_10, _10>{}), Shape<_4, _4>{}, make_coord(2, 2));
  EXPECT_EQ(int(get<0>(crd(3, 3))), 11);
}
// Views of a part know whether the part hangs over. Rows 8 and 9 of the tile are the tensor's, 10 and 11 not.
TEST(Partition, WhatHangsOverIsNotForgotten) {
  std::vector<int> const memory = counted(100);
  auto const a = make_tensor(memory.data(), make_shape(10, 10));
  auto const edge = local_tile(a, Shape<_4, _4>{}, make_coord(2, 0));
  EXPECT_FALSE(copies(edge));
  EXPECT_FALSE(copies(edge(_, 1)));
  EXPECT_FALSE(copies(flatten(edge)));
  EXPECT_FALSE(copies(coalesce(edge)));
  EXPECT_FALSE((copies(group_modes<0, 2>(edge))));
  EXPECT_FALSE((copies(take<0, 1>(edge))));
  EXPECT_FALSE(copies(tensor<0>(edge)));
  EXPECT_FALSE(copies(local_partition(edge, Layout<Shape<_2, _2>>{}, 0)));
  EXPECT_FALSE(copies(edge.compose(Shape<_3, _2>{})));
  EXPECT_FALSE(copies(edge.compose(Shape<_3, _2>{})(_, 1)));
  EXPECT_FALSE(copies(local_tile(edge, Shape<_3, _2>{}, make_coord(0, 0))));
  EXPECT_FALSE(copies(local_tile(edge, Shape<_2, _2>{}, make_coord(1, 0))));
  EXPECT_FALSE(copies(zipped_divide(edge, Shape<_2, _2>{})));
  EXPECT_FALSE(copies(recast<short>(edge)));
  EXPECT_TRUE(copies(local_tile(a, Shape<_4, _4>{}, make_coord(1, 1))(_, 1)));
  // Of all tiles along a mode one may be the last; records of other modes are kept.
  auto const rows = local_tile(a, Shape<_4, _5>{}, make_coord(2, _));
  EXPECT_FALSE(copies(rows));
  EXPECT_FALSE(copies(rows(_, _, 0)));
  auto const columns = local_tile(a, Shape<_5, _4>{}, make_coord(0, _));
  EXPECT_FALSE(copies(columns));
}
// A part that lies inside is copied, whatever it was cut from.
TEST(Partition, PartsThatLieInsideAreCopied) {
  std::vector<int> const memory = counted(100);
  auto const a = make_tensor(memory.data(), make_shape(10, 10));
  auto const edge = local_tile(a, Shape<_4, _4>{}, make_coord(2, 0));
  EXPECT_TRUE(copies(edge(1, _)));
  EXPECT_TRUE(copies(edge.compose(Shape<_2, _4>{})));
  EXPECT_TRUE(copies(local_tile(edge, Shape<_2, _2>{}, make_coord(0, 1))));
  EXPECT_TRUE(copies(local_partition(edge(make_coord(_, _)).compose(Shape<_2, _4>{}), Layout<Shape<_2, _2>>{}, 3)));
  auto const tiles = zipped_divide(a, Shape<_4, _4>{});
  EXPECT_FALSE(copies(tiles));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) EXPECT_TRUE(copies(tiles(make_coord(_, _), make_coord(i, j))));
  EXPECT_TRUE(copies(tiled_divide(a, Shape<_4, _4>{})(make_coord(_, _), 1, 0)));
  EXPECT_TRUE(copies(local_tile(a, Shape<_5, _4>{}, make_coord(0, _))(_, _, 1)));
}
// copy_if with the predicate that the identity tensor gives copies exactly what is inside.
TEST(Partition, PredicatedCopiesGoOverTheEdge) {
  for (int m = 1; m <= 9; ++m) {
    for (int n = 1; n <= 9; ++n) {
      auto const memory = counted(m * n);
      std::vector<int> out(std::size_t(m * n), -1);
      auto const shape = make_shape(m, n);
      auto const a = make_tensor(memory.data(), shape);
      auto const b = make_tensor(out.data(), shape);
      auto const c = make_identity_tensor(shape);
      for (int i = 0; i < (m + 3) / 4; ++i) {
        for (int j = 0; j < (n + 3) / 4; ++j) {
          auto const at = make_coord(i, j);
          auto const crd = local_tile(c, Shape<_4, _4>{}, at);
          copy_if([&](int k) { return bool(elem_less(crd(k), shape)); }, local_tile(a, Shape<_4, _4>{}, at),
                  local_tile(b, Shape<_4, _4>{}, at));
        }
      }
      EXPECT_EQ(out, memory) << m << "x" << n;
    }
  }
}

// Projections pick the modes of one tiler that each operand has.
TEST(Partition, ProjectionsPickModes) {
  std::vector<int> const memory = counted(32 * 64);
  auto const tiler = Shape<_8, _16, _4>{};
  auto const crd = make_coord(2, 1, _);
  auto const a = make_tensor(memory.data(), make_shape(32, 64));  // (M, K)
  auto const by_hand = local_tile(a, Shape<_8, _4>{}, make_coord(2, _));
  auto const projected = local_tile(a, tiler, crd, Step<_1, X, _1>{});
  ASSERT_EQ(int(size(projected)), int(size(by_hand)));
  for (int i = 0; i < int(size(by_hand)); ++i) EXPECT_EQ(projected(i), by_hand(i));
  auto const threads = Layout<Shape<_2, _16, _1>, Stride<_16, _1, _0>>{};
  auto const part = local_partition(a, threads, 21, Step<_1, X, _1>{});
  auto const same = local_partition(a, Layout<Shape<_2, _1>, Stride<_16, _0>>{}, 21);
  ASSERT_EQ(int(size(part)), int(size(same)));
  for (int i = 0; i < int(size(part)); ++i) EXPECT_EQ(part(i), same(i));
}

}  // namespace
}  // namespace zellige
