// Each row of the table of rewrites of graphs on 40 random graphs: where its condition holds, the row applies and what it
// makes is proved equal (by default on the first 8); where the condition is broken, it does not apply, and what it would
// make is different.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <zellige/atom/math.hpp>

#include "../all_cases.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "rewrite_cases.hpp"
#include "rules/table.hpp"
#include "search/equal.hpp"
#include "target/target.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::TensorHandle;
using test::Case;
using test::Draw;
using test::Form;

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> both = test::cases_of_views(), functions = test::cases_of_functions();
    for (Case& c : functions) both.push_back(std::move(c));
    return both;
  }();
  return all;
}

using Row = rules::RewriteRule<KernelGraph>;

KernelGraph built(const Form& form, unsigned seed) {
  Draw d(seed);
  d.b.output(form.body(d), "y");
  return d.b.build();
}

/// What a level makes of a graph, and how often the row applied.
struct Rewritten {
  KernelGraph graph;
  int times = 0;
};
/// As rewrite(), and proves each application of the row, if asked.
Rewritten by_hand(const KernelGraph& g, const Row& row, bool proves) {
  Rewritten r{g};
  for (const Row* at = std::begin(rewrite::graph_rules); at != std::end(rewrite::graph_rules);) {
    const KernelGraph before = r.graph;
    const bool made = at->level == row.level && at->apply(r.graph);
    if (made && at == &row) {
      EXPECT_NO_THROW(graph::validate(r.graph)) << row.name;
      if (proves) EXPECT_EQ(search::equal(before, r.graph).answer, search::Answer::equal) << row.name;
      ++r.times;
    }
    at = made ? std::begin(rewrite::graph_rules) : at + 1;
  }
  return r;
}

std::string kinds_of(const KernelGraph& g) {
  std::string all;
  for (const graph::KernelOp& op : g.ops) all += (all.empty() ? "" : " ") + std::string(graph::name(op.kind));
  return all;
}

// By default `equal` decides the first graphs of each row alone: all of them take it a minute.
TEST(RewriteRules, EachRowWithItsConditionTrueAndFalse) {
  const unsigned proved = zellige::test::all_cases() ? 40 : 8;
  for (const Row& row : rewrite::graph_rules) {
    const auto c = std::ranges::find(cases(), row.name, &Case::rule);
    ASSERT_NE(c, cases().end()) << row.name;
    int different = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      const KernelGraph valid = built(c->valid, seed), broken = built(c->broken, seed);
      const Rewritten made = by_hand(valid, row, seed < proved), kept = by_hand(broken, row, seed < proved);
      EXPECT_GT(made.times, 0) << row.name << ", seed " << seed;
      EXPECT_EQ(kept.times, 0) << row.name << ", seed " << seed;
      EXPECT_EQ(kinds_of(made.graph), c->valid.expected) << row.name << ", seed " << seed;
      EXPECT_EQ(kinds_of(kept.graph), c->broken.expected) << row.name << ", seed " << seed;
      if (c->why_equal.empty() && different == 0)
        different += search::equal(broken, made.graph).answer == search::Answer::different;
      if (HasFailure()) break;
    }
    EXPECT_EQ(different > 0, c->why_equal.empty()) << row.name;
  }
  EXPECT_EQ(cases().size(), std::size(rewrite::graph_rules));
}

/// Columns of a matmul, 64 in each of 132 blocks.
KernelGraph columns_of(std::int64_t rows, std::int64_t k) {
  Builder b("g");
  const TensorHandle x = b.input("x", {rows, 2 * k}), w = b.input("w", {2 * k, 132 * 64});
  b.output(b.custom({.grid = {132}, .block = {128}, .loop = 2}, [&](graph::BlockBuilder& t) {
              const graph::TileHandle row = t.load(x, {.loop = 1}), column = t.load(w, {.x = 1, .loop = 0});
              t.store(square(accum(matmul(row, column))), {.x = 1});
            }).at(0));
  return b.build();
}

TEST(RewriteRules, SwappedOperandsAreEqual) {
  const target::Target& target = target::find("sm_90a");
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const std::int64_t rows = 8 * (2 + static_cast<std::int64_t>(random() % 6)),
                       k = 16 * (1 + static_cast<std::int64_t>(random() % 2));
    const KernelGraph g = columns_of(rows, k);
    KernelGraph swapped = g, filled = columns_of(64 * (1 + seed % 2), k);
    ASSERT_TRUE(rewrite::swap_operands(swapped.ops[0].block, target)) << rows;
    EXPECT_FALSE(rewrite::swap_operands(swapped.ops[0].block, target)) << "twice, " << rows;
    EXPECT_EQ(search::equal(g, graph::infer(swapped)).answer, search::Answer::equal) << rows << " rows";
    // Rows that fill a wgmma. Where the condition is broken, the rewritten block graph would be slower, not different.
    EXPECT_FALSE(rewrite::swap_operands(filled.ops[0].block, target));
  }
}

// The only row of expressions: the function that it prints instead, where y is the row's, and where it is another row's.
TEST(RewriteRules, ExpOfScaledLessIsExp) {
  int different = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> number(-4, 4);
    const float x = number(random), c = number(random), y = number(random), other = number(random);
    const double expected = std::exp(static_cast<double>(x) * c - y);
    EXPECT_NEAR(exp_below(x, c, y) / expected, 1, 1e-5) << seed;
    different += std::fabs(exp_below(x, c, other) / expected - 1) > 1e-5;
  }
  EXPECT_GT(different, 0);
}

// All rows of the table, and of the page's tables no other rows. A row of another level than graphs has a test by hand: here,
// or in steps_rules_test.cpp or plan/tile_rules_test.cpp.
TEST(RewriteRules, AreListedInTheDocs) {
  std::stringstream file;
  file << std::ifstream(ZELLIGE_SOURCE_DIR "/docs/explanation/fusion.md").rdbuf();
  const std::string page = file.str();
  std::map<rules::Level, int> rows;
  rules::for_each_rule([&](rules::Level level, std::string_view name, std::string_view condition) {
    const std::string_view shown_level = rules::level_names[static_cast<std::size_t>(level)];
    const std::string shown = fmt::format("\n| {} | {} | {} | ", shown_level, name, condition);
    EXPECT_NE(page.find(shown), std::string::npos) << shown;
    if (rows.contains(level)) EXPECT_EQ(level, rows.rbegin()->first) << name << ": levels are in order";
    ++rows[level];
  });
  for (std::size_t level = 0; level < std::size(rules::level_names); ++level) {
    int listed = 0;
    const std::string begin = fmt::format("\n| {} | ", rules::level_names[level]);
    for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) ++listed;
    EXPECT_EQ(listed, rows[static_cast<rules::Level>(level)]) << rules::level_names[level];
  }
  EXPECT_EQ(rows[rules::Level::grouped] + rows[rules::Level::tiled] + rows[rules::Level::block] +
                rows[rules::Level::expression],
            4);
}

}  // namespace
}  // namespace zellige::fuse
