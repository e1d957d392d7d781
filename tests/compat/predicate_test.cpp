// copy_if with a tiled copy: predicates as CuTe's users write them, compared with a copy element by element.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>
#include <vector>

using namespace cute;

namespace {

using Vectors = decltype(make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, float>{}, Layout<Shape<_8, _2>>{},
                                         Layout<Shape<_4, _1>>{}));

/// Every thread of every block of 64 x 8 copies its part of m x n; `copy_part(block, thread, from, to, at)`
/// gets the thread's partitions, `at` of coordinates. m is a multiple of 4.
template <class Part>
std::vector<float> copied(int m, int n, Part const& copy_part) {
  // The part beyond the end is memory that must not be accessed.
  int const columns = (n + 7) / 8 * 8;
  std::vector<float> source(size_t(m) * columns + 64), target(source.size(), -1.0f);
  for (size_t i = 0; i < source.size(); ++i) source[i] = float(i + 1);
  auto const layout = make_layout(make_shape(m, n));
  auto const from = make_tensor(make_gmem_ptr(source.data()), layout);
  auto const to = make_tensor(make_gmem_ptr(target.data()), layout);
  auto const at = make_identity_tensor(make_shape(m, n));
  auto const tile = Shape<_64, _8>{};
  for (int bm = 0; bm < (m + 63) / 64; ++bm) {
    for (int bn = 0; bn < columns / 8; ++bn) {
      auto const block = make_coord(bm, bn);
      for (int t = 0; t < 16; ++t) {
        auto const mine = Vectors{}.get_slice(t);
        copy_part(mine.partition_S(local_tile(from, tile, block)), mine.partition_D(local_tile(to, tile, block)),
                  mine.partition_S(local_tile(at, tile, block)));
      }
    }
  }
  return target;
}
void expect_copied(std::vector<float> const& target, int m, int n) {
  for (size_t i = 0; i < target.size(); ++i)
    ASSERT_EQ(target[i], i < size_t(m) * n ? float(i + 1) : -1.0f) << "element " << i << " of " << m << "x" << n;
}

constexpr int sizes[][2] = {{64, 8}, {4, 1}, {60, 7}, {132, 9}};

TEST(CopyIf, ThePredicateHasTheModesOfTheSource) {
  for (auto [m, n] : sizes) {
    auto const inside = make_shape(m, n);
    expect_copied(copied(m, n,
                         [&](auto const& from, auto const& to, auto const& at) {
                           auto const holds = cute::lazy::transform(at, [&](auto c) { return elem_less(c, inside); });
                           static_assert(decltype(rank(holds))::value == 3);
                           copy_if(Vectors{}, holds, from, to);
                         }),
                  m, n);
  }
}
TEST(CopyIf, ThePredicateHasAllModesButTheFirst) {
  for (auto [m, n] : sizes) {
    auto const inside = make_shape(m, n);
    expect_copied(copied(m, n,
                         [&](auto const& from, auto const& to, auto const& at) {
                           auto holds = make_tensor<bool>(make_shape(size<1>(at), size<2>(at)));
                           for (int i = 0; i < size<0>(holds); ++i) {
                             for (int j = 0; j < size<1>(holds); ++j) holds(i, j) = elem_less(at(_0{}, i, j), inside);
                           }
                           copy_if(Vectors{}, holds, from, to);
                         }),
                  m, n);
  }
}
TEST(CopyIf, ThePredicateIsAFunctionOfTheInstruction) {
  for (auto [m, n] : sizes) {
    auto const inside = make_shape(m, n);
    expect_copied(copied(m, n,
                         [&](auto const& from, auto const& to, auto const& at) {
                           auto const rest = group_modes<1, 3>(at);
                           copy_if(
                               Vectors{}, [&](int i) { return elem_less(rest(_0{}, i), inside); }, from, to);
                         }),
                  m, n);
  }
}
TEST(CopyIf, OneInstruction) {
  std::vector<float> source{1, 2, 3, 4}, target(4);
  auto const from = make_tensor(source.data(), Layout<_4>{}), to = make_tensor(target.data(), Layout<_4>{});
  auto holds = make_tensor<bool>(Layout<_1, _0>{});
  Copy_Atom<UniversalCopy<uint128_t>, float> const atom;
  holds(0) = false;
  copy_if(atom, holds, from, to);
  EXPECT_EQ(target, (std::vector<float>{0, 0, 0, 0}));
  holds(0) = true;
  copy_if(atom, holds, from, to);
  EXPECT_EQ(target, source);
}

// A copy requires the same number of elements, in any modes: element i to element i.
template <class Policy, class S, class D>
void modes_do_not_matter(Policy const& policy, S const& from_layout, D const& to_layout) {
  std::vector<float> from(128), to(128, -1);
  for (int i = 0; i < 128; ++i) from[std::size_t(i)] = float(i);
  Tensor const src = make_tensor(from.data(), from_layout);
  Tensor dst = make_tensor(to.data(), to_layout);
  copy(policy, src, dst);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(dst(i), src(i)) << i;
  std::fill(to.begin(), to.end(), -1.f);
  copy_if([](int i) { return i % 3 == 0; }, src, dst);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(dst(i), i % 3 == 0 ? src(i) : -1) << i;
}
template <class Policy>
void modes_do_not_matter(Policy const& policy) {
  auto const all = make_tuple(Layout<_64>{}, Layout<Shape<_8, _8>>{}, Layout<Shape<Shape<_8>, Shape<_4, _2>>>{},
                              Layout<Shape<_4, _16>, Stride<_16, _1>>{}, Layout<Shape<_16, _4>, Stride<_1, _32>>{},
                              Layout<Shape<_2, Shape<_2, _4>, _4>, Stride<_1, Stride<_2, _16>, _4>>{},
                              make_layout(make_shape(16, 4)), make_layout(make_shape(4, 4, 4), make_stride(4, 1, 32)));
  for_each(all, [&](auto const& a) { for_each(all, [&](auto const& b) { modes_do_not_matter(policy, a, b); }); });
}
TEST(Copy, ModesDoNotMatter) {
  modes_do_not_matter(AutoVectorizingCopyWithAssumedAlignment<32>{});
  modes_do_not_matter(Copy_Atom<DefaultCopy, float>{});
  modes_do_not_matter(Copy_Atom<AutoVectorizingCopyWithAssumedAlignment<32>, float>{});
}

TEST(CopyIf, APredicateMayBeLarger) {
  std::vector<float> from(8), to(8, -1);
  for (int i = 0; i < 8; ++i) from[std::size_t(i)] = float(i);
  Tensor const src = make_tensor(from.data(), Layout<Shape<_1, _4, _2>>{});
  Tensor dst = make_tensor(to.data(), Layout<Shape<_1, _4, _2>>{});
  auto holds = make_tensor<bool>(Layout<Shape<_1, _4, _8>, Stride<_0, _1, _0>>{});
  for (int i = 0; i < 4; ++i) holds(0, i, 0) = i != 2;
  copy_if(Copy_Atom<UniversalCopy<float>, float>{}, holds, src, dst);
  EXPECT_EQ(to, (std::vector<float>{0, 1, -1, 3, 4, 5, -1, 7}));
}

TEST(CopyIf, APredicateThatRepeatsAValueSaysItOfAll) {
  std::vector<float> const from{1, 2, 3, 4};
  for (bool holds : {false, true}) {
    std::vector<float> to(4, 0);
    auto pred = make_tensor<bool>(Layout<Shape<_1, _2>, Stride<_1, _0>>{});
    pred(0, 0) = holds;
    Tensor dst = make_tensor(to.data(), Layout<Shape<_1, _4>>{});
    copy_if(Copy_Atom<UniversalCopy<float>, float>{}, pred, make_tensor(from.data(), Layout<Shape<_1, _4>>{}), dst);
    EXPECT_EQ(to, holds ? from : std::vector<float>(4, 0));
  }
}

TEST(CopyIf, RegistersAsASwizzledTileHasThem) {
  auto const l = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{});
  static_assert(std::is_same_v<decltype(make_fragment_like(l)), decltype(make_fragment_like(l.layout_b()))>);
  static_assert(std::is_same_v<decltype(make_layout_like(l)), decltype(make_layout_like(l.layout_b()))>);
  std::vector<half_t> data(512);
  Tensor const t = make_tensor(data.data(), l);
  Tensor r = make_fragment_like(t(_, 3));
  static_assert(decltype(size(recast<uint32_t>(r)))::value == 4);
}

}  // namespace
