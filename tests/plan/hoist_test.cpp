// Hoist: loop-invariant values are computed before the loop, and nothing else is.
#include <gtest/gtest.h>

#include "flat_steps.hpp"
#include "graph/builder.hpp"
#include "plan/plan.hpp"
#include "tile/rules.hpp"

namespace zellige::plan {
namespace {

struct Body {
  TileProgram p;
  Body() { p.loop = 4; }
  int add(NodeKind kind, std::vector<int> in, Section section = Section::inside) {
    Node n;
    n.kind = kind, n.in = std::move(in), n.section = section, n.shape = {16, 32};
    return p.add(n);
  }
  int load(Section section) { return add(NodeKind::load, {}, section); }
  bool hoisted(int i) const { return p.nodes[static_cast<std::size_t>(i)].section == Section::before; }
};

TEST(Hoist, MovesWhatIsMadeOfWhatIsLoadedOnce) {
  Body b;
  const int x = b.load(Section::before), y = b.load(Section::inside);
  const int square = b.add(NodeKind::map, {x}), sum = b.add(NodeKind::reduce, {square}),
            scaled = b.add(NodeKind::map, {x, sum}), operand = b.add(NodeKind::round, {scaled});
  const int both = b.add(NodeKind::map, {x, y}), product = b.add(NodeKind::matmul, {operand, y}),
            alone = b.add(NodeKind::matmul, {operand, operand});
  hoist(b.p, target::find("sm_90a"));
  for (int i : {square, sum, scaled, operand}) EXPECT_TRUE(b.hoisted(i)) << i;
  for (int i : {y, both, product, alone}) EXPECT_FALSE(b.hoisted(i)) << i;
}

TEST(Hoist, LeavesWhatIsCarriedOrSaysWhereTheLoopIs) {
  Body b;
  const int x = b.load(Section::before);
  const int carried = b.add(NodeKind::reduce, {x}), mask = b.add(NodeKind::map, {x}),
            running = b.add(NodeKind::running_max, {x}), sums = b.add(NodeKind::accumulate, {x});
  b.p.nodes[static_cast<std::size_t>(carried)].carried = true;
  b.p.nodes[static_cast<std::size_t>(mask)].view.cuts = {{}, {.loop = true}};
  hoist(b.p, target::find("sm_90a"));
  for (int i : {carried, mask, running, sums}) EXPECT_FALSE(b.hoisted(i)) << i;
  Body once;
  once.p.loop = 1;
  const int y = once.load(Section::after), sum = once.add(NodeKind::reduce, {y}, Section::after);
  hoist(once.p, target::find("sm_90a"));
  EXPECT_FALSE(once.hoisted(sum));
}

/// The scores of normalised queries: their norm is computed once for all keys, while the first keys are in
/// flight.
TEST(Hoist, NormsQueriesInFrontOfTheLoop) {
  graph::Builder b("scores");
  const graph::Tensor q = b.input("Q", {64, 64}), k = b.input("K", {64, 512}), v = b.input("V", {512, 64});
  b.output(b.custom({.grid = {2}, .block = {128}, .loop = 4},
                    [&](graph::BlockBuilder& t) {
                      const auto x = t.load(q, {.x = 0});
                      const auto s = matmul(rms_norm(x), t.load(k, {.loop = 1}));
                      t.store(accum(matmul(exp(s), t.load(v, {.loop = 0}))), {.x = 0});
                    })
               .at(0),
           "O");
  const Plan plan = make_plan(b.build(), target::find("sm_90a"));
  const Kernel& kernel = plan.kernels.at(0);
  std::vector<WorkKind> hoisted;
  for (const Step& s : flat(kernel.agents.at(0).steps)) {
    if (const Loop* loop = begins_loop(s); loop && loop->kind == Loop::iterations) break;
    if (as<Compute>(s)) hoisted.push_back(s.work.kind);
  }
  EXPECT_EQ(hoisted, (std::vector{WorkKind::reduce, WorkKind::finish, WorkKind::to_shared}));
}

}  // namespace
}  // namespace zellige::plan
