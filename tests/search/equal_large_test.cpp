// Pairs of graphs whose given sizes take too long: `equal` decides them at small sizes.
#include "expect_equal.hpp"

namespace zellige::search {
namespace {

using namespace test;

/// If the given sizes take too long, an extent that a scalar represents is kept while the others shrink.
TEST(EqualLarge, ScalarsThatStandForExtentsOfLargeGraphs) {
  const std::vector<Shape> shapes = {{4096, 6144}, {6144, 16384}};
  const auto original = [](const Inputs& x) { return matmul(rms_norm(x[0]), x[1]); };
  const auto moved = [](double s) {
    return [s](const Inputs& x) { return matmul(x[0], x[1]) / sqrt(s * reduction(square(x[0]), 1)); };
  };
  expect(Answer::equal, shapes, original, moved(1.0 / 6144), "field");
  // 1/3 of 1/2048: no size has that name, and the given ones are out of reach.
  const auto folded = [](const Inputs& x) {
    return matmul(x[0], x[1]) / sqrt((1.0 / 3) * ((1.0 / 2048) * reduction(square(x[0]), 1)));
  };
  expect(Answer::undecided, shapes, original, folded);
}

/// The given sizes take too long, and at the least small sizes all extents are 2.
TEST(EqualLarge, ExtentsThatDifferInLargeGraphs) {
  const std::vector<Shape> shapes = {{2048, 4096}, {4096, 8192}};
  const auto product = [](const Inputs& x) { return matmul(x[0], x[1]); };
  // A mean over one dimension of the sum over another.
  const auto mean_of_sum = [&](int mean_dim, int sum_dim) {
    return [=](const Inputs& x) { return mean(sum(product(x), sum_dim, true), mean_dim, true); };
  };
  const auto sum_of_mean = [&](int sum_dim, int mean_dim) {
    return [=](const Inputs& x) { return sum(mean(product(x), mean_dim, true), sum_dim, true); };
  };
  expect(Answer::different, shapes, mean_of_sum(0, 1), mean_of_sum(1, 0));
  expect(Answer::equal, shapes, mean_of_sum(0, 1), sum_of_mean(1, 0), "field");
  const std::vector<Shape> heads = {{8, 64, 4096}, {4096, 8192}};
  expect(Answer::different, heads, mean_of_sum(1, 2), mean_of_sum(2, 1));
  expect(Answer::equal, {{4096, 4096}, {4096, 4096}}, mean_of_sum(0, 1), mean_of_sum(1, 0), "field");
  expect(
      Answer::different, shapes, [&](const Inputs& x) { return mean(x[0], 1, true) * sum(product(x), 1, true); },
      [&](const Inputs& x) { return sum(x[0], 1, true) * mean(product(x), 1, true); });
  // Sums that count, 2048, 4096 and 8192 of them, however they are multiplied.
  const auto count = [](const TensorHandle& x, int dim) { return sum(exp(x - x), dim, true); };
  expect(
      Answer::different, shapes, [&](const Inputs& x) { return product(x) * count(x[0], 1); },
      [&](const Inputs& x) { return product(x) * count(product(x), 1); });
  expect(
      Answer::different, shapes, [&](const Inputs& x) { return product(x) * (count(x[0], 1) * count(product(x), 0)); },
      [&](const Inputs& x) { return product(x) * count(product(x), 1); });
}

/// The same if the extents are sums of others.
TEST(EqualLarge, PartsThatDifferInLargeGraphs) {
  const auto of_parts = [](std::int64_t left, bool squares, bool whole) {
    return make({{4096, left}, {4096, 4096 - left}, {4096, 4096}}, [=](Builder&, const Inputs& x) {
      const TensorHandle a = squares ? square(x[0]) : x[0], b = squares ? square(x[1]) : x[1];
      return matmul(x[2], x[2]) *
             (whole ? mean(concat(a, b, 1), 1, true) : 0.5 * (mean(a, 1, true) + mean(b, 1, true)));
    });
  };
  for (const bool squares : {false, true}) {
    EXPECT_NE(equal(of_parts(1024, squares, true), of_parts(1024, squares, false)).answer, Answer::equal);
    expect(Answer::equal, of_parts(2048, squares, true), of_parts(2048, squares, false), "field");
  }
}

/// A triangle has columns without a number only if it is wider than high.
TEST(EqualLarge, TrianglesOfLargeGraphs) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto masked = [=](const Inputs& x) { return graph::mask(matmul(x[0], x[1]), {.tril = 0}, -infinity); };
  const auto masked_softmax = [&](const Inputs& x) { return graph::softmax(masked(x), 0); };
  const auto safe = [&](const Inputs& x) { return graph::safe_softmax(masked(x), 0); };
  EqualOptions small;
  small.given_sizes = false;
  for (const std::int64_t columns : {2048, 4096, 8192}) {
    const std::vector<Shape> shapes = {{4096, 1024}, {1024, columns}};
    const KernelGraph a = make(shapes, [&](Builder&, const Inputs&x) { return masked_softmax(x); }),
                      b = make(shapes, [&](Builder&, const Inputs&x) { return safe(x); });
    const Equality e = equal(a, b, small);
    EXPECT_EQ(name(e.answer), name(columns > 4096 ? Answer::different : Answer::equal)) << describe(e, "a", "b");
  }
}

}  // namespace
}  // namespace zellige::search
