// Precomputed operands: the A operand of a matmul with small M is computed for all iterations before the
// loop, and nothing else is.
#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "flat_steps.hpp"
#include "graph/builder.hpp"
#include "plan/plan.hpp"
#include "rules/table.hpp"
#include "tile/sections.hpp"

namespace zellige::plan {
namespace {

/// Four iterations of S += f16(x g) W, and of the sum of x squared.
struct Body {
  TileProgram p;
  int x, g, squares, sum, scaled, operand, w, product;
  explicit Body(std::int64_t rows = 1, DType dtype = DType::f16) {
    p.loop = 4, p.grid = {64, 1, 1};
    x = load({rows, 32}, 1), g = load({1, 32}, 1), w = load({32, 16}, 0);
    squares = add(NodeKind::map, {x}, {rows, 32}), sum = add(NodeKind::reduce, {squares}, {rows, 1});
    scaled = add(NodeKind::map, {x, g}, {rows, 32}), operand = add(NodeKind::round, {scaled}, {rows, 32});
    product = add(NodeKind::matmul, {operand, w}, {rows, 16});
    node(operand).dtype = dtype;
    node(sum).dim = 1, node(sum).carried = node(product).carried = true;
  }
  Node& node(int i) { return p.nodes[static_cast<std::size_t>(i)]; }
  int add(NodeKind kind, std::vector<int> in, Shape shape) {
    Node n;
    n.kind = kind, n.in = std::move(in), n.shape = std::move(shape);
    return p.add(n);
  }
  int load(Shape shape, std::size_t looped) {
    const int i = add(NodeKind::load, {}, shape);
    node(i).dtype = DType::f16;
    for (std::size_t d = 0; d < shape.size(); ++d)
      node(i).view.cuts.push_back(
          {.loop = d == looped, .tile = shape[d], .extent = d == looped ? 4 * shape[d] : shape[d]});
    return i;
  }
  bool made(const char* target = "sm_90a") {
    precompute_a(p, target::find(target));
    return node(product).window;
  }
};

TEST(PrecomputeA, MakesAnOperandOfFewRowsInFrontOfTheLoop) {
  Body b;
  ASSERT_TRUE(b.made());
  const Sections sections(b.p);
  for (int i : {b.x, b.g, b.squares, b.scaled, b.operand}) {
    EXPECT_EQ(sections.of(i), Section::before) << i;
    EXPECT_EQ(b.node(i).shape, (Shape{1, 128})) << i;
  }
  EXPECT_EQ(b.node(b.x).view.cuts[1], (Cut{.tile = 128, .extent = 128}));
  EXPECT_EQ(sections.of(b.sum), Section::before);
  EXPECT_FALSE(b.node(b.sum).carried);
  for (int i : {b.w, b.product}) EXPECT_TRUE(sections.inside(i)) << i;
  EXPECT_TRUE(b.node(b.product).carried);
}

TEST(PrecomputeA, LeavesWhatIsMuch) {
  EXPECT_TRUE(Body(8).made());
  EXPECT_FALSE(Body(9).made());  // rows
  Body deep(8);
  deep.p.loop = 128;  // 8 x 4096 of x and of the operand, 1 x 4096 of g: 136 KB
  EXPECT_FALSE(deep.made());
  for (const char* target : {"sm_86", "sm_90a"}) {  // 2 x 4096: 40 KB, of 99 that a block may have or of 227
    Body two(2);
    two.p.loop = 128;
    EXPECT_EQ(two.made(target), std::string_view(target) == "sm_90a");
  }
  Body many;
  many.p.grid.x = 265;  // blocks on 132 multiprocessors
  EXPECT_FALSE(many.made());
  EXPECT_FALSE(Body(1, DType::f32).made());  // products of float32 are no tensor core's
}

TEST(PrecomputeA, LeavesWhatAnIterationNeedsOtherwise) {
  Body stored;  // by iteration
  stored.add(NodeKind::accumulate, {stored.scaled}, {1, 32});
  EXPECT_FALSE(stored.made());
  Body kept;  // a sum of each iteration
  kept.node(kept.sum).carried = false;
  EXPECT_FALSE(kept.made());
  Body masked;  // a mask says where in the loop it is
  masked.node(masked.scaled).view.cuts = {{}, {.loop = true}};
  EXPECT_FALSE(masked.made());
  Body loaded;  // nothing to make
  loaded.node(loaded.product).in[0] = loaded.x;
  EXPECT_FALSE(loaded.made());
  Body direct;  // what one product reads as it is, another would have to find in parts
  direct.add(NodeKind::matmul, {direct.x, direct.w}, {1, 16});
  EXPECT_FALSE(direct.made());
}

/// The norm's factor and its weight are applied to the matmul in one operand: computed once, by all threads,
/// before one barrier.
TEST(PrecomputeA, LeavesALoopOfProductsAlone) {
  graph::Builder b("norm_linear");
  const graph::Tensor x = b.input("X", {1, 2048}), g = b.input("G", {2048}), w = b.input("W", {2048, 1024});
  b.output(b.custom({.grid = {32}, .block = {128}, .loop = 8},
                    [&](graph::BlockBuilder& t) {
                      const auto tile = t.load(x, {.loop = 1});
                      const auto product = accum(matmul(tile * t.load(g, {.loop = 0}), t.load(w, {.x = 1, .loop = 0})));
                      t.store(product / accum_red_rms(tile), {.x = 1});
                    })
               .at(0),
           "Y");
  const Plan plan = test::make_plan(b.build(), target::find("sm_90a"));
  const Kernel& kernel = plan.kernels.at(0);
  std::vector<WorkKind> before, inside;
  bool looped = false;
  int barriers = 0;
  for (const Step& s : flat(kernel.agents.at(0).steps)) {
    if (const Loop* loop = begins_loop(s); loop && loop->kind == Loop::iterations) looped = true;
    if (is_end(s) && looped) break;
    if (as<Compute>(s)) (looped ? inside : before).push_back(s.work.kind);
    barriers += looped && as<Barrier>(s);
  }
  EXPECT_EQ(inside, (std::vector{WorkKind::mma}));
  EXPECT_EQ(barriers, 1);
  EXPECT_EQ(std::ranges::count(before, WorkKind::to_shared), 1);
  EXPECT_EQ(std::ranges::count(before, WorkKind::reduce), 1);
}

}  // namespace
}  // namespace zellige::plan
