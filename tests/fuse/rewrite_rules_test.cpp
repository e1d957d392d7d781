// Each row of the table of rewrites of graphs on 40 random graphs: where its condition holds, the row applies and what it
// makes is proved equal; where the condition is broken, it does not apply, and what it would make is different.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <zellige/atom/math.hpp>

#include "emit/kernel_text.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "graph/validate.hpp"
#include "rewrite/rules.hpp"
#include "rewrite_cases.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::Tensor;
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

/// The stages of which rules are rows, in the order in which they run.
constexpr Stage stages[] = {Stage::custom, Stage::given, Stage::normal, Stage::copied, Stage::heads, Stage::priced};

struct Row {
  Stage stage{};
  const Rule* rule = nullptr;
};
std::vector<Row> rows() {
  std::vector<Row> all;
  for (const Stage stage : stages)
    for (const Rule& rule : rules(stage)) all.push_back({stage, &rule});
  return all;
}

KernelGraph built(const Form& form, unsigned seed) {
  Draw d(seed);
  d.b.output(form.body(d), "y");
  return d.b.build();
}

/// What a stage makes of a graph, and how often the row applied.
struct Rewritten {
  KernelGraph graph;
  int times = 0;
};
/// As rewritten(), and proves each application of the row.
Rewritten by_hand(const KernelGraph& g, const Row& row) {
  Rewritten r{g};
  const std::span<const Rule> all = rules(row.stage);
  for (std::size_t at = 0; at < all.size();) {
    const std::optional<KernelGraph> made = all[at].apply(r.graph);
    if (made && &all[at] == row.rule) {
      EXPECT_NO_THROW(graph::validate(*made)) << row.rule->name;
      EXPECT_EQ(search::equal(r.graph, *made).answer, search::Answer::equal) << row.rule->name;
      ++r.times;
    }
    at = made ? 0 : at + 1;
    if (made) r.graph = *made;
  }
  return r;
}

std::string kinds(const KernelGraph& g) {
  std::string all;
  for (const graph::KernelOp& op : g.ops) all += (all.empty() ? "" : " ") + std::string(graph::name(op.kind));
  return all;
}

TEST(RewriteRules, EachRowWithItsConditionHeldAndBroken) {
  for (const Row& row : rows()) {
    const auto c = std::ranges::find(cases(), row.rule->name, &Case::rule);
    ASSERT_NE(c, cases().end()) << row.rule->name;
    int different = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      const KernelGraph held = built(c->held, seed), broken = built(c->broken, seed);
      const Rewritten made = by_hand(held, row), kept = by_hand(broken, row);
      EXPECT_GT(made.times, 0) << row.rule->name << ", seed " << seed;
      EXPECT_EQ(kept.times, 0) << row.rule->name << ", seed " << seed;
      EXPECT_EQ(kinds(made.graph), c->held.expected) << row.rule->name << ", seed " << seed;
      EXPECT_EQ(kinds(kept.graph), c->broken.expected) << row.rule->name << ", seed " << seed;
      if (c->alike.empty() && different == 0)
        different += search::equal(broken, made.graph).answer == search::Answer::different;
      if (HasFailure()) break;
    }
    EXPECT_EQ(different > 0, c->alike.empty()) << row.rule->name;
  }
  EXPECT_EQ(cases().size(), rows().size());
}

/// Columns of a matmul, 64 in each of 132 blocks.
KernelGraph columns_of(std::int64_t rows, std::int64_t k) {
  Builder b("g");
  const Tensor x = b.input("x", {rows, 2 * k}), w = b.input("w", {2 * k, 132 * 64});
  b.output(b.custom({.grid = {132}, .block = {128}, .loop = 2}, [&](graph::BlockBuilder& t) {
              const graph::Tile row = t.load(x, {.loop = 1}), column = t.load(w, {.x = 1, .loop = 0});
              t.store(square(accum(matmul(row, column))), {.x = 1});
            }).at(0));
  return b.build();
}

TEST(RewriteRules, SwappedOperandsAreEqual) {
  const target::Target& target = target::find("sm_90a");
  ASSERT_EQ(block_rules().size(), 1);
  const BlockRule& rule = block_rules()[0];
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const std::int64_t rows = 8 * (2 + static_cast<std::int64_t>(random() % 6)),
                       k = 16 * (1 + static_cast<std::int64_t>(random() % 2));
    const KernelGraph g = columns_of(rows, k);
    std::optional<graph::BlockGraph> made = rule.apply(*g.ops[0].block, target);
    ASSERT_TRUE(made) << rows;
    KernelGraph swapped = g;
    swapped.ops[0].block = std::make_shared<graph::BlockGraph>(*std::move(made));
    EXPECT_EQ(search::equal(g, graph::infer(swapped)).answer, search::Answer::equal) << rows << " rows";
    // Rows that fill a wgmma. Where the condition is broken, the rewritten block graph would be slower, not different.
    EXPECT_FALSE(rule.apply(*columns_of(64 * (1 + seed % 2), k).ops[0].block, target));
  }
}

// The only row of expressions: the function that it prints instead, where y is the row's, and where it is another row's.
TEST(RewriteRules, ExpOfScaledLessIsExp) {
  ASSERT_EQ(emit::KernelText::rules().size(), 1);
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

TEST(RewriteRules, AreListedInTheDocs) {
  std::stringstream page;
  page << std::ifstream(ZELLIGE_SOURCE_DIR "/docs/explanation/fusion.md").rdbuf();
  const std::string text = page.str();
  for (const Row& row : rows()) {
    const std::string shown = fmt::format("| {} | {} |", row.rule->name, row.rule->condition);
    EXPECT_NE(text.find(shown), std::string::npos) << shown;
  }
  const auto listed = [&](std::string_view level, const auto& rows) {
    for (const auto& row : rows) {
      const std::string shown = fmt::format("| {} | {} | {} |", level, row.name, row.condition);
      EXPECT_NE(text.find(shown), std::string::npos) << shown;
    }
  };
  listed("block", block_rules()), listed("kernel", emit::KernelText::rules());
}

}  // namespace
}  // namespace zellige::fuse
