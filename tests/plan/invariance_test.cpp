// Values evaluated before a nest's loop are invariant over its steps, by enumeration, and all invariant
// values are evaluated there.
#include <gtest/gtest.h>

#include <algorithm>
#include <zellige/layout/runtime.hpp>

#include "kernel/evaluated_layout.hpp"
#include "kernel/evaluation.hpp"
#include "random_plans.hpp"
#include "steps_of.hpp"

namespace zellige::plan {
namespace {

/// True if a thread finds every position of `item` at one coordinate for all its steps along axis 0 of the
/// same row.
bool same_at_all_steps(const kernel::EvaluatedLayout& layout, const kernel::Context& c, const kernel::Item& item) {
  bool same = true;
  std::map<std::pair<int, graph::Shape>, std::vector<graph::Shape>> found;  // by thread and line
  graph::Shape line;
  kernel::for_each(layout, [&](int thread, int value, const graph::Shape& at) {
    if (at.empty() || value % c.vector() != 0) return;
    layout.find_line(thread, value, line);
    std::vector<graph::Shape> here;
    for (const std::vector<kernel::TileCoordinate>& piece : item.pieces) {
      here.emplace_back();
      for (const kernel::TileCoordinate& p : piece) here.back().push_back(p.of(at));
    }
    same = same && found.try_emplace({thread, line}, here).first->second == here;
  });
  return same;
}

/// A layout of pairs as the layout library writes it: "1+(2,50):(-1,2)" without the number in front.
std::int64_t in_library(const kernel::PairLayout& l, std::int64_t x) {
  return l.added + index(kernel::strided({2, 50}, {l.element, l.pair}), {x % 2, x / 2});
}

TEST(PairLayouts, AreThoseOfTheLibrary) {
  for (std::int64_t x = 0; x < 100; ++x) {
    EXPECT_EQ(in_library(kernel::itself, x), x);
    EXPECT_EQ(in_library(kernel::number_of_pair, x), x / 2);
    EXPECT_EQ(in_library(kernel::neighbour_in_pair, x), x ^ 1);
    for (const kernel::PairLayout& l : {kernel::itself, kernel::number_of_pair, kernel::neighbour_in_pair}) {
      EXPECT_EQ(l(x), in_library(l, x));
      // Along dimension 1 of a nest, limited to 60, and moved after the limit and the layout.
      const kernel::TileCoordinate c{.from = 1, .offset = 2, .layout = l};
      EXPECT_EQ(c.of({7, x}), l(x + 2));
      EXPECT_EQ(c.moved(3).of({7, x}), l == kernel::itself ? x + 5 : l(x + 2) + 3);
      EXPECT_EQ(c.clamped(60).moved(3).of({7, x}), l(std::min<std::int64_t>(x + 2, 60)) + 3);
    }
  }
}

TEST(Invariance, OfANestIsWhatEnumerationFinds) {
  int invariant = 0, varying = 0, lines = 0, in_parts = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::Step* step : steps_of(k)) {
      const kernel::Work& work = step->work;
      if (!kernel::in_nest(k, work) && work.kind != kernel::WorkKind::reduce) continue;
      const kernel::Context& c = k.layout_of(work);
      const bool loop = !c.row && !c.replicated() && c.steps(0) > 1;
      const kernel::EvaluatedLayout layout(c);
      const std::vector<kernel::Item> items = kernel::evaluate(k, kernel::StepSpan(step, 1));
      int open = 0;  // parts of concatenations, which stay in their branches
      for (const kernel::Item& item : items) {
        const std::string where = fmt::format("{}: {} %{}, %{}", name, kernel::name(work.kind), work.node, item.node);
        const bool in_a_part = open > 0;
        open += (item.kind == kernel::Item::Kind::part) - (item.kind == kernel::Item::Kind::take);
        if (!loop || in_a_part) {
          in_parts += loop && item.kind == kernel::Item::Kind::read_shared;
          EXPECT_FALSE(item.invariant) << where;
        } else if (item.kind == kernel::Item::Kind::apply && item.pieces.empty()) {
          const bool known =
              std::ranges::all_of(item.in, [&](int i) { return items[static_cast<std::size_t>(i)].invariant; });
          EXPECT_EQ(item.invariant, known && item.vector == 1 && k.program.nodes[item.node].kind == tile::NodeKind::map)
              << where;
        } else if (item.kind == kernel::Item::Kind::read_shared && graph::size(c.domain) < 1 << 16) {
          const bool same = same_at_all_steps(layout, c, item);
          if (item.invariant) {
            EXPECT_TRUE(same) << where;
            EXPECT_NE(item.buffer, work.tensor) << where;
          } else if (c.axes() > 1 && item.vector == 1 && item.buffer != work.tensor) {
            EXPECT_FALSE(same) << where;
          }
          (item.invariant ? invariant : varying) += 1;
          lines += item.invariant && c.axes() > 1;
        }
      }
    }
  });
  EXPECT_GE(invariant, 20);
  EXPECT_GE(lines, 5);
  EXPECT_GE(in_parts, 5);
  EXPECT_GE(varying, 200);
}

}  // namespace
}  // namespace zellige::plan
