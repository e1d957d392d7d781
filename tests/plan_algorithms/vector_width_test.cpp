#include "plan/vector_width.hpp"

#include <gtest/gtest.h>

#include <random>

#include "failure.hpp"

using namespace zellige::plan;
using Numbers = std::vector<std::int64_t>;

namespace {

// Walks every chunk of `width` along `dim` and every element of it.
bool legal(const Numbers& shape, const Numbers& strides, std::int64_t alignment, std::int64_t width, int dim,
           Tail tail) {
  if (shape[dim] < width || (tail == Tail::refused && shape[dim] % width)) return false;
  Numbers c(shape.size(), 0);
  auto offset = [&] {
    std::int64_t o = 0;
    for (std::size_t d = 0; d < c.size(); ++d) o += c[d] * strides[d];
    return o;
  };
  for (;;) {
    if (c[dim] % width == 0) {
      // The base is any multiple of the alignment; `alignment` itself is the one that shows a misfit first.
      const std::int64_t start = offset();
      if (start % width || (start + alignment) % width) return false;
      for (std::int64_t i = 1; i < width && c[dim] + i < shape[dim]; ++i) {
        c[dim] += i;
        const bool next = offset() == start + i;
        c[dim] -= i;
        if (!next) return false;
      }
    }
    std::size_t d = 0;
    while (d < c.size() && ++c[d] == shape[d]) c[d++] = 0;
    if (d == c.size()) return true;
  }
}

}  // namespace

TEST(VectorWidth, KnownCopies) {
  auto width = [](auto... args) { return common_vector(args...).elements; };
  EXPECT_EQ(width(Numbers{64, 128}, Numbers{128, 1}, Numbers{136, 1}, 8, 8, 8), 8);
  EXPECT_EQ(common_vector({64, 128}, {128, 1}, {136, 1}, 8, 8, 8).dimension, 1);
  EXPECT_EQ(width(Numbers{64, 128}, Numbers{128, 1}, Numbers{1, 64}, 8, 8, 8), 1);  // transposed
  EXPECT_EQ(width(Numbers{64, 128}, Numbers{1, 64}, Numbers{1, 72}, 8, 8, 8), 8);
  EXPECT_EQ(width(Numbers{64, 128}, Numbers{128, 1}, Numbers{132, 1}, 8, 8, 8), 4);  // a pad of four
  EXPECT_EQ(width(Numbers{64, 128}, Numbers{128, 1}, Numbers{136, 1}, 8, 8, 2), 2);
  EXPECT_EQ(width(Numbers{64, 127}, Numbers{128, 1}, Numbers{128, 1}, 8, 8, 8), 1);
  EXPECT_EQ(width(Numbers{64, 127}, Numbers{128, 1}, Numbers{128, 1}, 8, 8, 8, Tail::predicated), 8);
  EXPECT_EQ(width(Numbers{64, 127}, Numbers{127, 1}, Numbers{128, 1}, 8, 8, 8, Tail::predicated), 1);
  EXPECT_EQ(width(Numbers{1, 127}, Numbers{127, 1}, Numbers{128, 1}, 8, 8, 8, Tail::predicated), 8);
  EXPECT_EQ(width(Numbers{4, 64}, Numbers{0, 1}, Numbers{64, 1}, 8, 8, 8), 8);  // broadcast source
  EXPECT_EQ(common_vector({5}, {2}, {1}, 8, 8, 8).dimension, -1);
}

TEST(VectorWidth, IsTheWidestThatWalkingAllElementsAllows) {
  std::mt19937 rng(6);
  int wide = 0;
  const std::int64_t extents[] = {1, 2, 3, 4, 6, 7, 8, 12, 16};
  for (int i = 0; i < 6000; ++i) {
    const int rank = 1 + rng() % 4;
    Numbers shape;
    for (int d = 0; d < rank; ++d) shape.push_back(extents[rng() % 9]);
    // Compact strides in a random order of dimensions, padded or spoilt here and there.
    auto strides = [&] {
      std::vector<int> order(rank);
      for (int d = 0; d < rank; ++d) order[d] = d;
      if (rng() % 3 == 0) std::shuffle(order.begin(), order.end(), rng);
      Numbers s(rank);
      std::int64_t next = rng() % 12 == 0 ? 2 : 1;
      for (int d : order) {
        s[d] = rng() % 12 == 0 ? 0 : next;
        next *= shape[d];
        if (rng() % 4 == 0) next = (next + 7) / 8 * 8;
        if (rng() % 10 == 0) ++next;
      }
      return s;
    };
    const Numbers a = strides(), b = strides();
    const std::int64_t align_a = 1 << rng() % 5, align_b = rng() % 8 == 0 ? 12 : 8;
    const Tail tail = rng() % 2 ? Tail::predicated : Tail::refused;
    const CommonVector got = common_vector(shape, a, b, 8, align_a, align_b, tail);
    int expected = 1;
    for (int w = 2; w <= 8; w *= 2)
      for (int d = 0; d < rank; ++d)
        if (legal(shape, a, align_a, w, d, tail) && legal(shape, b, align_b, w, d, tail)) expected = w;
    ASSERT_EQ(got.elements, expected) << "case " << i;
    if (expected > 1) {
      EXPECT_TRUE(legal(shape, a, align_a, expected, got.dimension, tail));
      EXPECT_TRUE(legal(shape, b, align_b, expected, got.dimension, tail));
    }
    wide += expected > 1;
  }
  EXPECT_GT(wide, 800);
}

TEST(VectorWidth, BadInputSaysWhatIsWrong) {
  EXPECT_EQ(failure([] {
              common_vector({4, 4}, {4, 1}, {1}, 8, 8, 8);
            }),
            "common vector: a shape of rank 2 with strides of rank 2 and 1; all must agree");
  EXPECT_EQ(failure([] { common_vector({4}, {1}, {1}, 0, 8, 8); }),
            "common vector: at most 0 elements were asked for; at least 1 is needed");
  EXPECT_EQ(failure([] { common_vector({4}, {1}, {1}, 8, 0, 8); }),
            "common vector: base alignments of 0 and 8 elements; both must be at least 1");
  EXPECT_EQ(failure([] {
              common_vector({4, 0}, {1, 4}, {1, 4}, 8, 8, 8);
            }),
            "common vector: dimension 1 has extent 0; at least 1 is needed");
}
