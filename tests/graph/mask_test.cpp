// Masks by index against their definition, element by element.
#include <gtest/gtest.h>

#include <cmath>

#include "../loaded.hpp"
#include "graph/builder.hpp"
#include "graph/kept.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"

namespace zellige::graph {
namespace {

constexpr double lowest = -std::numeric_limits<double>::infinity();

/// All elements differ, and from the values that a mask inserts.
reference::Array numbered(const Shape& shape) {
  reference::Array a = reference::make_array(shape);
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<double>(i) + 1;
  return a;
}

bool keeps(const Kept& k, std::int64_t i, std::int64_t j) {
  return (!k.tril || j - i <= *k.tril) && (!k.triu || j - i >= *k.triu) && (!k.length || j < *k.length);
}

const std::vector<Kept> several{{.tril = 0},
                                {.tril = 3},
                                {.tril = -2},
                                {.triu = 1},
                                {.triu = -2},
                                {.tril = 0, .triu = -1},
                                {.tril = 1, .triu = -4, .length = 3},
                                {.length = 2},
                                {.length = 0},
                                {.length = 100},
                                {.tril = -100},
                                {.tril = 2, .triu = 3},
                                {.tril = max_extent, .triu = -max_extent}};

TEST(Mask, KeepsWhatItsDefinitionKeeps) {
  int kept_at_all = 0, filled = 0;
  for (const Shape& shape : {Shape{5, 7}, {7, 5}, {3, 4, 6}, {2, 5, 3, 1}})
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i)
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(shape.size()); ++j) {
        if (i == j) continue;
        const bool last_two = i + 2 == static_cast<std::int64_t>(shape.size()) && j == i + 1;
        for (const Kept& k : several) {
          Builder b("g");
          b.output(mask(b.input("X", shape, DType::f32), k, -0.5,
                        last_two ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{i, j}));
          const KernelGraph g = b.build();
          const reference::Array x = numbered(shape), y = reference::run_reference(g, {x}).at(0);
          for (std::size_t n = 0; n < x.values.size(); ++n) {
            const Shape at = coordinates(static_cast<std::int64_t>(n), shape);
            const bool kept = keeps(k, at[static_cast<std::size_t>(i)], at[static_cast<std::size_t>(j)]);
            ASSERT_EQ(y.values[n], kept ? x.values[n] : -0.5) << to_string(shape) << " at " << to_string(at);
            (kept ? kept_at_all : filled) += 1;
          }
        }
      }
  EXPECT_GT(kept_at_all, 1000);
  EXPECT_GT(filled, 1000);
}

// Blocks and iterations see coordinates of the whole: the same mask as one of the whole.
TEST(Mask, OfATileCountsInTheWhole) {
  const Shape shape{2, 12, 30};
  for (const Kept& k : several) {
    for (const Split& split :
         {Split{.x = 2, .y = 1, .loop = 1}, {.x = 1, .y = 2, .loop = 2}, {.y = 2, .z = 1, .loop = 0}}) {
      Builder one("one");
      const TensorHandle Y = one.input("X", shape, DType::f32);
      const int looped = split.loop;
      one.output(reduction(mask(Y, k, 0), looped), "whole");
      const auto made = one.custom(
          {.grid = {split.x < 0 ? 1 : 2, split.y < 0 ? 1 : 3, split.z < 0 ? 1 : 2}, .block = {32}, .loop = 2},
          [&](BlockBuilder& t) {
            t.store(accum(reduction(t.mask(t.load(Y, split), k, split, 0), looped)), {split.x, split.y, split.z});
          });
      one.output(reduction(made.at(0), looped), "parts");
      const KernelGraph g = one.build();
      const std::vector<reference::Array> y = reference::run_reference(g, {numbered(shape)});
      EXPECT_EQ(y[0].values, y[1].values);
    }
  }
}

// Lengths that broadcast, instead of a number or with others, along any two dimensions; 0, and beyond the extent.
TEST(Mask, LengthsOfATensor) {
  struct Case {
    Shape x, lengths;
    std::vector<std::int64_t> dims;
    Kept kept;
  };
  for (const Case& c : {Case{{3, 2, 4, 5}, {3, 1, 1, 1}, {}, {}},
                        {{3, 2, 4, 5}, {3, 1, 4, 1}, {}, {.tril = 1}},
                        {{3, 4, 5}, {1}, {}, {.triu = 0}},
                        {{5, 3, 4}, {3, 1}, {2, 0}, {.length = 4}},
                        {{3, 5, 4}, {1, 4}, {0, 1}, {}}}) {
    reference::Array lengths = reference::make_array(c.lengths);
    const double of[] = {2, 0, 7, -3, 5};
    for (std::size_t i = 0; i < lengths.values.size(); ++i) lengths.values[i] = of[i % 5];
    Builder b("g");
    const TensorHandle X = b.input("X", c.x, DType::f32), L = b.input("L", c.lengths, DType::int32);
    b.output(mask(X, L, c.kept, 0.5, c.dims), "whole");
    // Every dimension in parts: the first by the grid, the last by the loop.
    const int rank = static_cast<int>(c.x.size());
    const auto made = b.custom({.grid = {c.x[0]}, .block = {32}, .loop = c.x.back()}, [&](BlockBuilder& t) {
      const Split split{.x = 0, .loop = rank - 1};
      const bool rows = static_cast<int>(c.lengths.size()) == rank && c.lengths[0] > 1;
      const int last = c.lengths.back() > 1 ? static_cast<int>(c.lengths.size()) - 1 : -1;
      const TileHandle lengths = t.load(L, {.x = rows ? 0 : -1, .loop = last});
      t.store(accum(t.mask(t.load(X, split), lengths, c.kept, split, 0.5, c.dims)), {.x = 0});
    });
    b.output(made[0], "parts");
    const KernelGraph g = b.build();
    EXPECT_EQ(json::to_json(json::load_text(json::to_json(g), "g.json", "g").at(0).graph), json::to_json(g));
    const reference::Array x = numbered(c.x);
    const std::vector<reference::Array> y = reference::run_reference(g, {x, lengths});
    const std::size_t i = c.dims.empty() ? c.x.size() - 2 : static_cast<std::size_t>(c.dims[0]),
                      j = c.dims.empty() ? c.x.size() - 1 : static_cast<std::size_t>(c.dims[1]);
    std::vector<double> sums(y[1].values.size(), 0);
    for (std::size_t n = 0; n < x.values.size(); ++n) {
      const Shape at = coordinates(static_cast<std::int64_t>(n), c.x);
      std::int64_t from = 0;
      for (std::size_t d = 0; d < c.lengths.size(); ++d)
        from = from * c.lengths[d] + (c.lengths[d] == 1 ? 0 : at[d + c.x.size() - c.lengths.size()]);
      const bool kept =
          keeps(c.kept, at[i], at[j]) && static_cast<double>(at[j]) < lengths.values[static_cast<std::size_t>(from)];
      EXPECT_EQ(y[0].values[n], kept ? x.values[n] : 0.5) << to_string(c.x) << " at " << to_string(at);
      sums[n / static_cast<std::size_t>(c.x.back())] += y[0].values[n];
    }
    EXPECT_EQ(y[1].values, sums);
  }
}

// A row of which nothing is kept: NaN of softmax as in PyTorch, 0 of safe_softmax; others are the same in both.
TEST(Mask, RowsWhollyMasked) {
  Builder b("g");
  const TensorHandle X = b.input("X", {4, 6}, DType::f32), kept = mask(X, {.tril = -1});
  b.output(softmax(kept, 1));
  b.output(safe_softmax(kept, 1));
  reference::Array x = numbered({4, 6});
  const std::vector<reference::Array> y = reference::run_reference(b.build(), {x});
  for (std::size_t n = 0; n < 24; ++n) {
    if (n < 6)
      EXPECT_TRUE(std::isnan(y[0].values[n]));
    else
      EXPECT_EQ(y[0].values[n], y[1].values[n]);
    if (n < 6) EXPECT_EQ(y[1].values[n], 0);
  }
  EXPECT_EQ(y[1].values[6], 1);
  x.values[8] = std::numeric_limits<double>::quiet_NaN(), x.values[6] = lowest;  // row 1 keeps j = 0 alone
  x.values[12] = std::numeric_limits<double>::infinity();
  const std::vector<reference::Array> special = reference::run_reference(b.build(), {x});
  EXPECT_EQ(special[1].values[6], 0) << "a -inf that was there counts as masked";
  EXPECT_TRUE(std::isnan(special[1].values[12])) << "inf - inf";
}

TEST(Mask, IsWrittenAndReadAgain) {
  Builder b("g");
  const TensorHandle X = b.input("X", {8, 6});
  const TensorHandle m = mask(mask(X, {.tril = 2, .triu = -3, .length = 5}, -1.5, {1, 0}), {.tril = 0});
  b.output(b.custom({.grid = {4}, .block = {32}, .loop = 3}, [&](BlockBuilder& t) {
              const Split split{.x = 0, .loop = 1};
              t.store(accum(t.mask(t.load(m, split), {.length = 4}, split)), {.x = 0});
            }).at(0));
  const std::string text = json::to_json(b.build());
  const json::Loaded again = json::load_text(text, "g.json", "g").at(0);
  EXPECT_EQ(again.error, "");
  EXPECT_EQ(json::to_json(again.graph), text);
  for (const char* part : {R"("dims":[1,0],"tril":2,"triu":-3,"length":5,"value":-1.5})", R"("tril":0})",
                           R"("length":4,"map":{"x":0},"loop_dim":1})"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

}  // namespace
}  // namespace zellige::graph
