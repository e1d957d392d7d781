// Compositions of layouts whose numbers are known only at run time: one is refused if and only if the layout that CuTe
// gives for it is wrong. Modes of the left operand that continue each other are one mode, as among static numbers.
#include <gtest/gtest.h>

#include <random>
#include <vector>
#include <zellige/layout/print.hpp>

namespace zellige {
namespace {

using Numbers = std::vector<int>;

/// A flat layout of any number of modes.
struct FlatLayout {
  Numbers shape, stride;

  [[nodiscard]] int size() const {
    int n = 1;
    for (int const s : shape) n *= s;
    return n;
  }
  /// Returns the index of linear coordinate i; beyond the size, it continues along the last mode.
  [[nodiscard]] int operator()(int i) const {
    int index = 0;
    for (std::size_t m = 0; m + 1 < shape.size(); ++m) {
      index += i % shape[m] * stride[m];
      i /= shape[m];
    }
    return index + i * stride.back();
  }
};

/// Returns the layout that CuTe gives for a composed with one mode s:d: the mode steps through the modes of a, and
/// each extent and stride is rounded. Empty if a number is divided by 0.
FlatLayout composed_mode(FlatLayout const& a, int s, int d) {
  FlatLayout r;
  for (std::size_t m = 0; m + 1 < a.shape.size(); ++m) {
    if (d == 0) return {};
    int const offered = std::max(1, (a.shape[m] + d - 1) / d), placed = std::min(offered, s);
    r.shape.push_back(placed), r.stride.push_back(d * a.stride[m]);
    s /= placed;
    d = (d + a.shape[m] - 1) / a.shape[m];
  }
  r.shape.push_back(s), r.stride.push_back(d * a.stride.back());
  return r;
}
/// True if CuTe's layout for composition(a, b) has the modes of b, and maps each of their coordinates to a(b(c)).
bool is_right(FlatLayout const& a, FlatLayout const& b) {
  std::vector<FlatLayout> modes;
  for (std::size_t m = 0; m < b.shape.size(); ++m) {
    modes.push_back(composed_mode(a, b.shape[m], b.stride[m]));
    if (modes.back().shape.empty() || modes.back().size() != b.shape[m]) return false;
  }
  for (int i = 0; i < b.size(); ++i) {
    int index = 0, rest = i;
    for (std::size_t m = 0; m < modes.size(); ++m) {
      index += modes[m](rest % b.shape[m]);
      rest /= b.shape[m];
    }
    if (index != a(b(i))) return false;
  }
  return true;
}

template <int N>
auto layout_of_modes(FlatLayout const& l) {
  if constexpr (N == 1)
    return make_layout(l.shape[0], l.stride[0]);
  else if constexpr (N == 2)
    return make_layout(make_shape(l.shape[0], l.shape[1]), make_stride(l.stride[0], l.stride[1]));
  else
    return make_layout(make_shape(l.shape[0], l.shape[1], l.shape[2]),
                       make_stride(l.stride[0], l.stride[1], l.stride[2]));
}

/// Counts the compositions that are given, refused, and given where modes of the left operand continue each other.
struct Counts {
  int given = 0, refused = 0;
};
template <int NA, int NB>
void expect_refused_if_wrong(std::mt19937& random, Counts& counts) {
  auto const pick = [&](Numbers const& from) { return from[random() % from.size()]; };
  Numbers const extents = {2, 3, 4, 5, 6, 8, 9, 12, 16};
  for (int trial = 0; trial < 4000; ++trial) {
    FlatLayout a, b;
    int next = 1;
    for (int m = 0; m < NA; ++m) {
      a.shape.push_back(pick(extents)), a.stride.push_back(next);
      next *= a.shape.back() * pick({1, 1, 1, 2});
    }
    for (int m = 0; m < NB; ++m)
      b.shape.push_back(pick({1, 2, 3, 4, 6})), b.stride.push_back(pick({1, 2, 3, 8, a.shape[0], 2 * a.shape[0]}));
    bool const right = is_right(a, b);
    try {
      auto const r = composition(layout_of_modes<NA>(a), layout_of_modes<NB>(b));
      ++counts.given;
      EXPECT_TRUE(right) << to_text(r);
      for (int i = 0; right && i < b.size(); ++i) ASSERT_EQ(r(i), a(b(i))) << to_text(r) << " at " << i;
    } catch (LayoutError const& e) {
      ++counts.refused;
      EXPECT_FALSE(right) << to_text(layout_of_modes<NA>(a)) << " o " << to_text(layout_of_modes<NB>(b)) << ": "
                          << e.what();
    }
  }
}
TEST(RunTimeComposition, IsRefusedIfAndOnlyIfItIsWrong) {
  std::mt19937 random(64);
  Counts counts;
  expect_refused_if_wrong<1, 2>(random, counts);
  expect_refused_if_wrong<2, 1>(random, counts);
  expect_refused_if_wrong<2, 2>(random, counts);
  expect_refused_if_wrong<2, 3>(random, counts);
  expect_refused_if_wrong<3, 2>(random, counts);
  EXPECT_GE(counts.given, 4000);
  EXPECT_GE(counts.refused, 4000);
}

TEST(RunTimeComposition, CarriesBetweenModesThatContinueEachOther) {
  auto const compact = make_layout(make_shape(12, 6));
  auto const r = composition(compact, make_layout(make_shape(4, 2), make_stride(3, 8)));
  EXPECT_EQ(to_text(r), "((4,1),(2,1)):((3,12),(8,12))");
  EXPECT_EQ(r(3, 1), 17);
  // Extents are static, strides are not, and the other way round.
  EXPECT_EQ(composition(make_layout(Shape<_12, _6>{}, make_stride(1, 12)), Layout<Shape<_4, _2>, Stride<_3, _8>>{})(7),
            17);
  EXPECT_EQ(composition(make_layout(make_shape(12, 6), make_stride(_1{}, 12)),
                        make_layout(make_shape(4, _2{}), make_stride(_3{}, 8)))(7),
            17);
  // Both carries of three modes.
  auto const three = make_layout(make_shape(4, 4, 9));
  EXPECT_EQ(composition(three, make_layout(make_shape(4, 4, 2), make_stride(1, 4, 16)))(31), 31);
  EXPECT_EQ(composition(three, make_layout(make_shape(4, 2, 4), make_stride(1, 2, 4)))(31), 3 + 2 + 12);
  // Steps in opposite directions through what is one mode.
  EXPECT_EQ(composition(compact, make_layout(make_shape(4, 2), make_stride(3, -1)))(5), 2);
}
/// Returns the message with which the composition is refused.
std::string composition_refusal(auto const& a, auto const& b) {
  try {
    return "given: " + to_text(composition(a, b));
  } catch (LayoutError const& e) {
    return e.what();
  }
}
TEST(RunTimeComposition, RefusesCarriesBetweenOtherModes) {
  EXPECT_EQ(
      composition_refusal(make_layout(make_shape(12, 6), make_stride(1, 13)),
                          make_layout(make_shape(4, 2), make_stride(3, 8))),
      "the modes of the right operand together reach element 17 of a mode of the left operand whose extent is 12: "
      "they overlap");
  // The first carry is into a mode that continues the first one, which then is full.
  EXPECT_EQ(
      composition_refusal(make_layout(make_shape(4, 4, 9), make_stride(1, 4, 17)),
                          make_layout(make_shape(4, 2, 4), make_stride(1, 2, 4))),
      "the modes of the right operand together reach element 4 of a mode of the left operand whose extent is 4: they "
      "overlap");
  EXPECT_EQ(composition_refusal(make_layout(make_shape(12, 6), make_stride(1, 13)),
                                make_layout(make_shape(4, 2), make_stride(3, -1))),
            "strides -1 and 3 of the right operand step in opposite directions");
}

}  // namespace
}  // namespace zellige
