// Outputs that store slices of the blocks' results, on the emulator: along rows and columns, of odd tiles,
// together with a whole output, by blocks along one axis or two; expected results are computed in the test.
#include "emulate_graph.hpp"
#include "graph/builder.hpp"

namespace zellige::run {
namespace {

using graph::Shape;
using graph::TensorHandle;
using graph::TileHandle;

class Slices : public testing::TestWithParam<const char*> {};

TEST_P(Slices, OfBlocksTiles) {
  struct Case {
    Shape whole;  // of X
    graph::Dim3 grid;
    int dim;                         // along which slices are taken, cut by x; y cuts the other
    std::vector<std::int64_t> ends;  // of slices, in elements
  };
  const std::vector<Case> cases = {{{12, 40}, {4, 1, 1}, 0, {3, 9, 12}},
                                   {{12, 40}, {5, 3, 1}, 1, {8, 24, 40}},
                                   {{15, 21}, {3, 3, 1}, 1, {7, 21}},
                                   {{64, 32}, {4, 2, 1}, 0, {16, 48}},
                                   {{10, 7}, {5, 7, 1}, 0, {2, 6, 10}}};
  for (const Case& c : cases) {
    graph::Builder b("slices");
    const TensorHandle x = b.input("X", c.whole);
    const auto made = b.custom({.grid = c.grid, .block = {64}}, [&](graph::BlockBuilder& t) {
      const graph::Split split{.x = c.dim, .y = c.grid.y > 1 ? 1 - c.dim : -1};
      const TileHandle y = t.load(x, split), twice = y * 2.0, sum = y + 1.0;
      std::int64_t at = 0;
      for (std::size_t i = 0; i < c.ends.size(); at = c.ends[i++])
        t.store(i % 2 == 0 ? twice : sum, split, {}, {}, {c.dim, at, c.ends[i]});
      t.store(y, split);
    });
    for (std::size_t i = 0; i < made.size(); ++i) b.output(made[i], "Y" + std::to_string(i));
    reference::Array values = reference::make_array(c.whole);
    for (std::size_t i = 0; i < values.values.size(); ++i) values.values[i] = static_cast<double>(i % 500);
    const auto found = emulate_graph(b.build(), {values}, GetParam());
    ASSERT_EQ(found.size(), c.ends.size() + 1);
    EXPECT_EQ(found.back(), values.values);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < c.ends.size(); at = c.ends[i++]) {
      std::vector<double> expected;
      for (std::int64_t row = 0; row < c.whole[0]; ++row)
        for (std::int64_t column = 0; column < c.whole[1]; ++column) {
          const std::int64_t along = c.dim == 0 ? row : column;
          const double v = values.values[static_cast<std::size_t>(row * c.whole[1] + column)];
          if (along >= at && along < c.ends[i]) expected.push_back(i % 2 == 0 ? 2 * v : v + 1);
        }
      EXPECT_EQ(found[i], expected) << graph::to_string(c.whole) << ", slice " << i;
    }
  }
}

// After matmuls, whose accumulators are stored through shared memory or directly.
TEST_P(Slices, OfProducts) {
  for (const std::int64_t columns : {64, 24}) {
    graph::Builder b("products");
    const TensorHandle x = b.input("X", {32, 64}), w = b.input("W", {64, 4 * columns});
    const auto made = b.custom({.grid = {4, 2}, .block = {128}, .loop = 2}, [&](graph::BlockBuilder& t) {
      const TileHandle y = accum(matmul(t.load(x, {.y = 0, .loop = 1}), t.load(w, {.x = 1, .loop = 0})));
      t.store(y, {.x = 1, .y = 0}, {}, {}, {1, 0, 3 * columns});
      t.store(relu(y), {.x = 1, .y = 0}, {}, {}, {1, 3 * columns, 4 * columns});
      t.store(-y, {.x = 1, .y = 0}, {}, {}, {0, 16, 32});
    });
    for (std::size_t i = 0; i < made.size(); ++i) b.output(made[i], "Y" + std::to_string(i));
    reference::Array a = reference::make_array({32, 64}), c = reference::make_array({64, 4 * columns});
    for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<double>(i % 7) - 3;
    for (std::size_t i = 0; i < c.values.size(); ++i) c.values[i] = static_cast<double>(i % 5) - 2;
    const auto found = emulate_graph(b.build(), {a, c}, GetParam());
    for (std::int64_t row = 0; row < 32; ++row)
      for (std::int64_t column = 0; column < 4 * columns; ++column) {
        double y = 0;
        for (std::int64_t k = 0; k < 64; ++k)
          y += a.values[static_cast<std::size_t>(row * 64 + k)] *
               c.values[static_cast<std::size_t>(k * 4 * columns + column)];
        if (column < 3 * columns)
          ASSERT_EQ(found[0][static_cast<std::size_t>(row * 3 * columns + column)], y);
        else
          ASSERT_EQ(found[1][static_cast<std::size_t>(row * columns + column - 3 * columns)], std::max(0.0, y));
        if (row >= 16) ASSERT_EQ(found[2][static_cast<std::size_t>((row - 16) * 4 * columns + column)], -y);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Slices, testing::Values("sm_80", "sm_90a"),
                         [](const auto& i) { return std::string(i.param); });

}  // namespace
}  // namespace zellige::run
