// gemm, reductions, zips and similar against their definitions, and pointers' traits.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>
#include <zellige/numeric/int.hpp>
#include <zellige/tensor.hpp>
#include <zellige/tensor/zip.hpp>

namespace zellige {
namespace {

template <class L>
auto random_tensor(L const& layout, unsigned seed) {
  std::mt19937 random(seed);
  auto t = make_tensor<int>(layout);
  for (int i = 0; i < int(size(layout)); ++i) t(i) = int(random() % 17) - 8;
  return t;
}

// Every dispatch, with strides of several kinds, and with a D of its own.
TEST(Gemm, OfEveryRank) {
  auto const a3 = random_tensor(Layout<Shape<_2, _3, _4>, Stride<_12, _4, _1>>{}, 1);
  auto const b3 = random_tensor(Layout<Shape<_2, _5, _4>>{}, 2);
  auto const c3 = random_tensor(Layout<Shape<_2, _3, _5>>{}, 3);
  auto d3 = make_tensor<int>(Layout<Shape<_2, _3, _5>, Stride<_15, _5, _1>>{});
  gemm(d3, a3, b3, c3);
  auto e3 = c3;
  gemm(a3, b3, e3);
  auto const a2 = a3(1, _, _);
  auto const b2 = b3(1, _, _);
  auto d2 = make_tensor<int>(Shape<_3, _5>{});
  gemm(d2, a2, b2, c3(1, _, _));
  auto f3 = make_tensor<int>(Shape<_2, _3, _5>{});
  gemm(f3, a3(_, _, 2), b3(_, _, 2), c3);
  auto f2 = make_tensor<int>(Shape<_3, _5>{});
  gemm(f2, a2(_, 1), b2(_, 1), c3(0, _, _));
  auto g1 = make_tensor<int>(Shape<_4>{});
  gemm(g1, a2(0, _), b2(3, _), b2(4, _));
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 5; ++n) {
      for (int v = 0; v < 2; ++v) {
        int sum = c3(v, m, n);
        for (int k = 0; k < 4; ++k) sum += a3(v, m, k) * b3(v, n, k);
        EXPECT_EQ(d3(v, m, n), sum);
        EXPECT_EQ(e3(v, m, n), sum);
        if (v == 1) {
          EXPECT_EQ(d2(m, n), sum);
        }
        EXPECT_EQ(f3(v, m, n), a3(v, m, 2) * b3(v, n, 2) + c3(v, m, n));
      }
      EXPECT_EQ(f2(m, n), a2(m, 1) * b2(n, 1) + c3(0, m, n));
    }
  }
  for (int v = 0; v < 4; ++v) EXPECT_EQ(g1(v), a2(0, v) * b2(3, v) + b2(4, v));
}
TEST(Gemm, OfRunTimeSizes) {
  std::vector<float> a(6), b(8), c(12);
  std::iota(a.begin(), a.end(), 1.f);
  std::iota(b.begin(), b.end(), -2.f);
  auto tc = make_tensor(c.data(), make_shape(3, 4));
  gemm(make_tensor(a.data(), make_shape(3, 2)), make_tensor(b.data(), make_shape(4, 2)), tc);
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 4; ++n) {
      EXPECT_EQ(tc(m, n), a[std::size_t(m)] * b[std::size_t(n)] + a[std::size_t(m + 3)] * b[std::size_t(n + 4)]);
    }
  }
}

TEST(Reduce, AlongTheModesThatAreNotKept) {
  auto const x = random_tensor(Layout<Shape<_4, Shape<_3, _2>, _5>, Stride<_30, Stride<_10, _5>, _1>>{}, 9);
  int all = 0;
  for (int i = 0; i < 120; ++i) all += x(i);
  EXPECT_EQ(reduce(x, 0), all);
  EXPECT_EQ(reduce(x, -100, [](int a, int b) { return a < b ? b : a; }), 8);
  auto kept = make_tensor<int>(Shape<_4, _5>{});
  clear(kept);
  logical_reduce(x, kept, make_coord(_, 0, _));
  auto inner = make_tensor<int>(Shape<_4, _2>{});
  fill(inner, 100);
  logical_reduce(x, inner, make_coord(_, make_coord(0, _), 0));
  auto none = make_tensor<int>(Shape<_1>{});
  clear(none);
  logical_reduce(x, none, make_coord(0, 0, 0));
  EXPECT_EQ(none(0), all);
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 5; ++k) {
      int sum = 0;
      for (int j = 0; j < 6; ++j) sum += x(i, j, k);
      EXPECT_EQ(kept(i, k), sum);
    }
    for (int j = 0; j < 2; ++j) {
      int sum = 100;
      for (int k = 0; k < 5; ++k) {
        for (int h = 0; h < 3; ++h) sum += x(i, make_coord(h, j), k);
      }
      EXPECT_EQ(inner(i, j), sum);
    }
  }
  auto batch = make_tensor<int>(Shape<_6>{});
  clear(batch);
  batch_reduce(x(_, _, 3), batch);
  for (int j = 0; j < 6; ++j) {
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += x(i, j, 3);
    EXPECT_EQ(batch(j), sum);
  }
}

TEST(Zip, IsItsTensorsSideBySide) {
  std::vector<int> a(24), b(24);
  std::iota(a.begin(), a.end(), 0);
  std::iota(b.begin(), b.end(), 100);
  auto const ta = make_tensor(a.data(), make_shape(4, _6{}));
  auto const tb = make_tensor(b.data(), make_shape(4, _6{}), make_stride(_6{}, _1{}));
  auto const tc = make_identity_tensor(make_shape(4, _6{}));
  auto const z = make_zip_tensor(ta, tb, tc);
  static_assert(decltype(z)::rank == 2);
  EXPECT_EQ(int(size(z)), 24);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 6; ++j) {
      auto const e = z(i, j);
      EXPECT_EQ(get<0>(e), ta(i, j));
      EXPECT_EQ(get<1>(e), tb(i, j));
      EXPECT_EQ(int(get<0>(get<2>(e))), i);
      EXPECT_EQ(get<0>(z(i, _)(j)), ta(i, j));
      EXPECT_EQ(get<1>(z(_, j)(i)), tb(i, j));
    }
  }
  auto const tiles = zipped_divide(z, Shape<_2, _3>{});
  auto const unzipped = unzip_tensor(tiles);
  auto const one = zipped_divide(ta, Shape<_2, _3>{});
  auto const two = zipped_divide(tb, Shape<_2, _3>{});
  for (int t = 0; t < 4; ++t) {
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(get<0>(tiles(i, t)), one(i, t));
      EXPECT_EQ(get<1>(tiles(i, t)), two(i, t));
      EXPECT_EQ(get<1>(unzipped)(i, t), two(i, t));
    }
  }
  // A zip partitioned beyond its end records it, and so do its tensors.
  auto sink = make_tensor<int>(Shape<_3, _3>{});
  auto const odd = unzip_tensor(local_tile(z, Shape<_3, _3>{}, make_coord(1, 0)));
  EXPECT_THROW(copy(get<0>(odd), sink), LayoutError);
  EXPECT_NO_THROW(copy(get<0>(unzip_tensor(local_tile(z, Shape<_3, _3>{}, make_coord(0, 1)))), sink));
  EXPECT_EQ(sink(2, 2), 2 + 4 * 5);
  get<0>(unzipped)(0, 0) = -7;  // a view
  EXPECT_EQ(a[0], -7);
  EXPECT_THROW(make_zip_tensor(ta, make_tensor(a.data(), make_shape(3, _6{}))), LayoutError);
}

TEST(Algorithms, TransformFillAndForEach) {
  auto x = random_tensor(Layout<Shape<_4, _3>, Stride<_3, _1>>{}, 4);
  auto const before = x;
  transform(x, [](int v) { return v * v; });
  auto y = make_tensor<int>(Shape<_4, _3>{});
  transform(before, y, [](int v) { return v + 1; });
  auto w = make_tensor<int>(Shape<_4, _3>{});
  transform(before, y, w, [](int p, int q) { return p * q; });
  transform(w(_, 1), [](int) { return 5; });  // a view that is a temporary
  int sum = 0;
  for_each(before, [&](int v) { sum += v; });
  EXPECT_EQ(sum, reduce(before, 0));
  for_each(y(0, _), [](int& v) { v = 0; });
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) {
      int const v = before(i, j);
      EXPECT_EQ(x(i, j), v * v);
      EXPECT_EQ(y(i, j), i == 0 ? 0 : v + 1);
      EXPECT_EQ(w(i, j), j == 1 ? 5 : v * (v + 1));
    }
  }
  auto pred = make_tensor<bool>(Shape<_4, _3>{});
  for (int i = 0; i < 12; ++i) pred(i) = i % 3 == 0;
  auto z = before;
  axpby(2, before, 3, z, pred);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(z(i), i % 3 == 0 ? 5 * before(i) : before(i));
  fill(z(_, 2), 9);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(z(i, 2), 9);
}
// A linear layout under a swizzle: the offset goes under it, and elements are the same seen from anywhere.
TEST(Tensor, DomainOffsetsAndSlicesOfSwizzledLayouts) {
  std::vector<int> memory(512);
  std::iota(memory.begin(), memory.end(), 0);
  auto const x = make_tensor(memory.data(), composition(Swizzle<3, 0, 3>{}, Layout<Shape<_8, _8>>{}));
  auto const y = domain_offset(make_coord(2, 3), x);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 5; ++j) {
      EXPECT_EQ(y(i, j), x(i + 2, j + 3));
      EXPECT_EQ(x(_, j)(i), x(i, j));
      EXPECT_EQ(local_tile(x, Shape<_2, _4>{}, make_coord(i / 2, j / 4))(i % 2, j % 4), x(i, j));
    }
  }
}
TEST(Tensor, RecastOfNegativeStridesBeginsAtTheLowestAddress) {
  alignas(16) unsigned char bytes[16];
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(i);
  auto const back = make_tensor(&bytes[15], Layout<Shape<_16>, Stride<Int<-1>>>{});
  auto const words = recast<unsigned>(back);
  ASSERT_EQ(int(size(words)), 4);
  EXPECT_EQ(words(0), 0x0f0e0d0cu);
  EXPECT_EQ(words(3), 0x03020100u);
}

TEST(Pointers, KnowTheirMemory) {
  float x[4] = {1, 2, 3, 4};
  static_assert(is_same_v<decltype(make_gmem_ptr<float>(&x[0])), gmem_ptr<float*>>);
  static_assert(is_same_v<decltype(make_gmem_ptr<float const>(static_cast<void const*>(x))), gmem_ptr<float const*>>);
  static_assert(is_same_v<decltype(make_gmem_ptr<float>(nullptr)), gmem_ptr<float*>>);
  static_assert(
      is_same_v<decltype(make_smem_ptr<int4b_t>(static_cast<void*>(x))), smem_ptr<subbyte_iterator<int4b_t>>>);
  auto const g = make_gmem_ptr(&x[0]);
  static_assert(is_same_v<decltype(make_gmem_ptr(g)), gmem_ptr<float*>>);  // once is enough
  static_assert(is_gmem_v<decltype(g)> && !is_smem_v<decltype(g)> && !is_rmem_v<decltype(g)>);
  EXPECT_TRUE(g < g + 1 && g + 1 > g && g <= g && g >= g && !(g >= g + 1) && !(g + 1 <= g));
  counting_iterator<int> const three(3), five(5);
  EXPECT_TRUE(three < five && five > three && three <= three && five >= three && !(three > five) && three != five);
  auto const t = make_tensor(make_smem_ptr(&x[0], Swizzle<1, 2, 3>{}), Shape<_4>{});
  static_assert(is_smem_v<decltype(t)> && is_smem_v<decltype(t)::engine_type>);
  static_assert(is_rmem_v<decltype(make_tensor<float>(Shape<_4>{}))> && is_rmem_v<float*>);
  static_assert(is_same_v<get_swizzle_t<decltype(t)>, Swizzle<1, 2, 3>>);
  static_assert(is_same_v<iter_value_t<gmem_ptr<float const*>>, float>);
  static_assert(is_same_v<iter_reference_t<counting_iterator<int>>, int>);
  EXPECT_EQ(raw_pointer_cast(g + 2), &x[2]);
  EXPECT_EQ((g + 1)[2], 4.f);
  EXPECT_EQ(recast_ptr<int>(g).get(), reinterpret_cast<int*>(&x[0]));
  static_assert(is_gmem_v<decltype(recast_ptr<int>(g))>);
  EXPECT_EQ(*make_transform_iter(g + 1, [](float f) { return 10 * f; }), 20.f);
  auto const tm = make_tmem_ptr<unsigned short>(0x00100004u);
  EXPECT_EQ((tm + 6).get(), 0x00100007u);
  EXPECT_EQ((tm + 7).get(), 0x80100007u);  // the odd element, selected by the unused high bits
  EXPECT_EQ(recast_ptr<float>(tm + 6).get(), 0x00100007u);
  static_assert(is_tmem_v<decltype(tm)>);
}
TEST(Vectors, MaxCommonVectorAndAlignment) {
  float x[64];
  int y[64];
  auto const a = make_tensor(x, Shape<_4, _8>{});
  auto const b = make_tensor(x, Layout<Shape<_4, _8>, Stride<_1, _5>>{});
  static_assert(decltype(max_common_vector(a, a))::value == 32);
  static_assert(decltype(max_common_vector(a, b))::value == 4);
  static_assert(decltype(max_common_vector(a, make_tensor(y, Shape<_4, _8>{})))::value == 0);
  static_assert(decltype(max_common_vector(a, make_identity_tensor(Shape<_4, _8>{})))::value == 0);
  static_assert(decltype(size(max_common_layout(a, b)))::value == 4);
  static_assert(decltype(max_alignment(a))::value == 32);
  static_assert(decltype(max_alignment(b))::value == 1);
}

}  // namespace
}  // namespace zellige
