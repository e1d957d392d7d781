// Sections: loop-invariant values are computed before the loop, its states inside it, and their readers after it.
#include "tile/sections.hpp"

#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "flat_steps.hpp"
#include "graph/builder.hpp"
#include "plan/plan.hpp"

namespace zellige::plan {
namespace {

struct SectionsBody {
  tile::TileProgram p;
  explicit SectionsBody(std::int64_t loop = 4) { p.loop = loop; }
  int add(tile::NodeKind kind, std::vector<int> in) {
    tile::Node n;
    n.kind = kind, n.in = std::move(in), n.shape = {16, 32};
    return p.add(n);
  }
  tile::Node& node(int i) { return p.nodes[static_cast<std::size_t>(i)]; }
  int load() { return add(tile::NodeKind::load, {}); }
  int iterating(tile::NodeKind kind, std::vector<int> in = {}) {
    const int i = add(kind, std::move(in));
    node(i).view.cuts = {{}, {.loop = true}};
    return i;
  }
  int carried(tile::NodeKind kind, std::vector<int> in) {
    const int i = add(kind, std::move(in));
    node(i).carried = true;
    return i;
  }
  void expect(tile::Section section, const std::vector<int>& nodes) const {
    const tile::Sections sections(p);
    for (int i : nodes) EXPECT_EQ(tile::name(sections.of(i)), tile::name(section)) << i;
  }
};

TEST(Sections, WhatIsMadeOfWhatIsLoadedOnceIsBeforeTheLoop) {
  SectionsBody b;
  const int x = b.load(), y = b.iterating(tile::NodeKind::load);
  const int square = b.add(tile::NodeKind::map, {x}), sum = b.add(tile::NodeKind::reduce, {square}),
            scaled = b.add(tile::NodeKind::map, {x, sum}), operand = b.add(tile::NodeKind::round, {scaled});
  const int both = b.add(tile::NodeKind::map, {x, y}), product = b.add(tile::NodeKind::matmul, {operand, y}),
            alone = b.add(tile::NodeKind::matmul, {operand, operand}), rows = b.add(tile::NodeKind::load, {y});
  b.expect(tile::Section::before, {x, square, sum, scaled, operand});
  b.expect(tile::Section::inside, {y, both, product, alone, rows});
}

TEST(Sections, StatesOfTheLoopAreInsideAndTheirReadersAfterIt) {
  SectionsBody b;
  const int x = b.load(), factor = b.add(tile::NodeKind::map, {x});
  const int sum = b.carried(tile::NodeKind::reduce, {x}), mask = b.iterating(tile::NodeKind::map, {x}),
            running = b.add(tile::NodeKind::running_max, {x}), grown = b.add(tile::NodeKind::running_diff, {running}),
            state = b.add(tile::NodeKind::accumulate, {x, grown}), product = b.carried(tile::NodeKind::matmul, {x, x});
  const int row = b.add(tile::NodeKind::map, {sum, factor}), ratio = b.add(tile::NodeKind::map, {state, row}),
            after = b.add(tile::NodeKind::matmul, {product, x}), store = b.add(tile::NodeKind::store, {factor});
  b.expect(tile::Section::before, {x, factor});
  b.expect(tile::Section::inside, {sum, mask, running, grown, state, product});
  b.expect(tile::Section::after, {row, ratio, after, store});
  const tile::Sections sections(b.p);
  for (int i : {sum, state, product, row}) EXPECT_EQ(sections.complete(i), tile::Section::after) << i;
  for (int i : {running, grown, mask}) EXPECT_EQ(sections.complete(i), tile::Section::inside) << i;
  EXPECT_EQ(sections.complete(factor), tile::Section::before);
}

TEST(Sections, WithoutALoopAllIsAfterIt) {
  SectionsBody b(1);
  const int x = b.load();
  b.expect(tile::Section::after, {x, b.add(tile::NodeKind::reduce, {x}), b.add(tile::NodeKind::matmul, {x, x})});
}

/// Work that updates a state is done where the state's node is, all other work where the node's value is complete.
TEST(Sections, OfWorkFollowFromItsNode) {
  SectionsBody b;
  const int x = b.iterating(tile::NodeKind::load), sum = b.carried(tile::NodeKind::reduce, {x});
  const tile::Sections sections(b.p);
  for (kernel::WorkKind kind :
       {kernel::WorkKind::mma, kernel::WorkKind::rescale, kernel::WorkKind::reduce, kernel::WorkKind::accumulate})
    EXPECT_EQ(kernel::section_of({.kind = kind, .node = sum}, sections), tile::Section::inside) << kernel::name(kind);
  for (kernel::WorkKind kind : {kernel::WorkKind::finish, kernel::WorkKind::to_shared, kernel::WorkKind::to_cluster,
                                kernel::WorkKind::from_cluster})
    EXPECT_EQ(kernel::section_of({.kind = kind, .node = sum}, sections), tile::Section::after) << kernel::name(kind);
  EXPECT_EQ(kernel::section_of({.kind = kernel::WorkKind::copy_in, .node = x}, sections), tile::Section::inside);
}

/// The scores of normalised queries: their norm is computed once for all keys, while the first keys are in
/// flight.
TEST(Sections, QueriesAreNormedBeforeTheLoop) {
  graph::Builder b("scores");
  const graph::TensorHandle q = b.input("Q", {64, 64}), k = b.input("K", {64, 512}), v = b.input("V", {512, 64});
  b.output(b.custom({.grid = {2}, .block = {128}, .loop = 4},
                    [&](graph::BlockBuilder& t) {
                      const auto x = t.load(q, {.x = 0});
                      const auto s = matmul(rms_norm(x), t.load(k, {.loop = 1}));
                      t.store(accum(matmul(exp(s), t.load(v, {.loop = 0}))), {.x = 0});
                    })
               .at(0),
           "O");
  const Plan plan = test::make_plan(b.build(), target::find("sm_90a"));
  const kernel::Kernel& kernel = plan.kernels.at(0);
  std::vector<kernel::WorkKind> hoisted;
  for (const kernel::Step& s : flat(kernel.agents.at(0).steps)) {
    if (const kernel::Loop* loop = begins_loop(s); loop && loop->kind == kernel::Loop::iterations) break;
    if (kernel::as<kernel::Compute>(s)) hoisted.push_back(s.work.kind);
  }
  EXPECT_EQ(hoisted, (std::vector{kernel::WorkKind::reduce, kernel::WorkKind::finish, kernel::WorkKind::to_shared}));
}

}  // namespace
}  // namespace zellige::plan
