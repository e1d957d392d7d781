// Values evaluated before a nest's loop are invariant over its steps, by enumeration, and all invariant
// values are evaluated there.
#include "kernel/invariance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <zellige/layout/runtime.hpp>

#include "kernel/evaluated_layout.hpp"
#include "kernel/nests.hpp"
#include "random_plans.hpp"
#include "steps_of.hpp"

namespace zellige::plan {
namespace {

/// True if a thread finds every position of `item` at one coordinate for all its steps along axis 0 of the
/// same row.
bool same_at_all_steps(const EvaluatedLayout& layout, const Context& c, const Item& item) {
  bool same = true;
  std::map<std::pair<int, Shape>, std::vector<Shape>> found;  // by thread and line
  Shape line;
  for_each(layout, [&](int thread, int value, const Shape& at) {
    if (at.empty() || value % c.vector() != 0) return;
    layout.find_line(thread, value, line);
    std::vector<Shape> here;
    for (const std::vector<TileCoordinate>& piece : item.pieces) {
      here.emplace_back();
      for (const TileCoordinate& p : piece) here.back().push_back(p.of(at));
    }
    same = same && found.try_emplace({thread, line}, here).first->second == here;
  });
  return same;
}

/// A layout of pairs as the layout library writes it: "1+(2,50):(-1,2)" without the number in front.
std::int64_t in_library(const PairLayout& l, std::int64_t x) {
  return l.added + index(strided({2, 50}, {l.element, l.pair}), {x % 2, x / 2});
}

TEST(PairLayouts, AreThoseOfTheLibrary) {
  for (std::int64_t x = 0; x < 100; ++x) {
    EXPECT_EQ(in_library(itself, x), x);
    EXPECT_EQ(in_library(number_of_pair, x), x / 2);
    EXPECT_EQ(in_library(neighbour_in_pair, x), x ^ 1);
    for (const PairLayout& l : {itself, number_of_pair, neighbour_in_pair}) {
      EXPECT_EQ(l(x), in_library(l, x));
      // Along dimension 1 of a nest, limited to 60, and moved after the limit and the layout.
      const TileCoordinate c{.from = 1, .offset = 2, .layout = l};
      EXPECT_EQ(c.of({7, x}), l(x + 2));
      EXPECT_EQ(c.moved(3).of({7, x}), l == itself ? x + 5 : l(x + 2) + 3);
      EXPECT_EQ(c.clamped(60).moved(3).of({7, x}), l(std::min<std::int64_t>(x + 2, 60)) + 3);
    }
  }
}

TEST(Invariance, OfANestIsWhatEnumerationFinds) {
  int invariant = 0, varying = 0, lines = 0, in_parts = 0;
  for_each_kernel([&](const std::string& name, const Kernel& k, const Plan&) {
    for (const Step* step : steps_of(k)) {
      const Work& work = step->work;
      if (!in_nest(k, work) && work.kind != WorkKind::reduce) continue;
      const Context& c = k.layout_of(work);
      const bool loop = !c.row && !c.replicated() && c.steps(0) > 1;
      const EvaluatedLayout layout(c);
      const std::vector<Item> items = evaluate(k, Steps(step, 1));
      int open = 0;  // parts of concatenations, which stay in their branches
      for (const Item& item : items) {
        const std::string where = fmt::format("{}: {} %{}, %{}", name, plan::name(work.kind), work.node, item.node);
        const bool in_a_part = open > 0;
        open += (item.kind == Item::Kind::part) - (item.kind == Item::Kind::take);
        if (!loop || in_a_part) {
          in_parts += loop && item.kind == Item::Kind::read_shared;
          EXPECT_FALSE(item.invariant) << where;
        } else if (item.kind == Item::Kind::apply && item.pieces.empty()) {
          const bool known =
              std::ranges::all_of(item.in, [&](int i) { return items[static_cast<std::size_t>(i)].invariant; });
          EXPECT_EQ(item.invariant, known && item.vector == 1 && k.program.nodes[item.node].kind == NodeKind::map)
              << where;
        } else if (item.kind == Item::Kind::read_shared && graph::size(c.domain) < 1 << 16) {
          const bool same = same_at_all_steps(layout, c, item);
          if (item.invariant) {
            EXPECT_TRUE(same) << where;
            EXPECT_NE(item.buffer, work.buffer) << where;
          } else if (c.axes() > 1 && item.vector == 1 && item.buffer != work.buffer) {
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
