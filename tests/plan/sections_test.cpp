// Sections: loop-invariant values are computed before the loop, its states inside it, and their readers after it.
#include "tile/sections.hpp"

#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "flat_steps.hpp"
#include "graph/builder.hpp"
#include "plan/plan.hpp"

namespace zellige::plan {
namespace {

struct Body {
  TileProgram p;
  explicit Body(std::int64_t loop = 4) { p.loop = loop; }
  int add(NodeKind kind, std::vector<int> in) {
    Node n;
    n.kind = kind, n.in = std::move(in), n.shape = {16, 32};
    return p.add(n);
  }
  Node& node(int i) { return p.nodes[static_cast<std::size_t>(i)]; }
  int load() { return add(NodeKind::load, {}); }
  int iterating(NodeKind kind, std::vector<int> in = {}) {
    const int i = add(kind, std::move(in));
    node(i).view.cuts = {{}, {.loop = true}};
    return i;
  }
  int carried(NodeKind kind, std::vector<int> in) {
    const int i = add(kind, std::move(in));
    node(i).carried = true;
    return i;
  }
  void expect(Section section, const std::vector<int>& nodes) const {
    const Sections sections(p);
    for (int i : nodes) EXPECT_EQ(name(sections.of(i)), name(section)) << i;
  }
};

TEST(Sections, WhatIsMadeOfWhatIsLoadedOnceIsBeforeTheLoop) {
  Body b;
  const int x = b.load(), y = b.iterating(NodeKind::load);
  const int square = b.add(NodeKind::map, {x}), sum = b.add(NodeKind::reduce, {square}),
            scaled = b.add(NodeKind::map, {x, sum}), operand = b.add(NodeKind::round, {scaled});
  const int both = b.add(NodeKind::map, {x, y}), product = b.add(NodeKind::matmul, {operand, y}),
            alone = b.add(NodeKind::matmul, {operand, operand}), rows = b.add(NodeKind::load, {y});
  b.expect(Section::before, {x, square, sum, scaled, operand});
  b.expect(Section::inside, {y, both, product, alone, rows});
}

TEST(Sections, StatesOfTheLoopAreInsideAndTheirReadersAfterIt) {
  Body b;
  const int x = b.load(), factor = b.add(NodeKind::map, {x});
  const int sum = b.carried(NodeKind::reduce, {x}), mask = b.iterating(NodeKind::map, {x}),
            running = b.add(NodeKind::running_max, {x}), grown = b.add(NodeKind::running_diff, {running}),
            state = b.add(NodeKind::accumulate, {x, grown}), product = b.carried(NodeKind::matmul, {x, x});
  const int row = b.add(NodeKind::map, {sum, factor}), ratio = b.add(NodeKind::map, {state, row}),
            after = b.add(NodeKind::matmul, {product, x}), store = b.add(NodeKind::store, {factor});
  b.expect(Section::before, {x, factor});
  b.expect(Section::inside, {sum, mask, running, grown, state, product});
  b.expect(Section::after, {row, ratio, after, store});
  const Sections sections(b.p);
  for (int i : {sum, state, product, row}) EXPECT_EQ(sections.complete(i), Section::after) << i;
  for (int i : {running, grown, mask}) EXPECT_EQ(sections.complete(i), Section::inside) << i;
  EXPECT_EQ(sections.complete(factor), Section::before);
}

TEST(Sections, WithoutALoopAllIsAfterIt) {
  Body b(1);
  const int x = b.load();
  b.expect(Section::after, {x, b.add(NodeKind::reduce, {x}), b.add(NodeKind::matmul, {x, x})});
}

/// Work that updates a state is done where the state's node is, all other work where the node's value is complete.
TEST(Sections, OfWorkFollowFromItsNode) {
  Body b;
  const int x = b.iterating(NodeKind::load), sum = b.carried(NodeKind::reduce, {x});
  const Sections sections(b.p);
  for (WorkKind kind : {WorkKind::mma, WorkKind::rescale, WorkKind::reduce, WorkKind::accumulate})
    EXPECT_EQ(section_of({.kind = kind, .node = sum}, sections), Section::inside) << name(kind);
  for (WorkKind kind : {WorkKind::finish, WorkKind::to_shared, WorkKind::to_cluster, WorkKind::from_cluster})
    EXPECT_EQ(section_of({.kind = kind, .node = sum}, sections), Section::after) << name(kind);
  EXPECT_EQ(section_of({.kind = WorkKind::copy_in, .node = x}, sections), Section::inside);
}

/// The scores of normalised queries: their norm is computed once for all keys, while the first keys are in
/// flight.
TEST(Sections, QueriesAreNormedBeforeTheLoop) {
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
  const Plan plan = test::make_plan(b.build(), target::find("sm_90a"));
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
