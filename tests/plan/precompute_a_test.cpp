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
struct PrecomputedBody {
  tile::TileProgram p;
  int x, g, squares, sum, scaled, operand, w, product;
  explicit PrecomputedBody(std::int64_t rows = 1, graph::DType dtype = graph::DType::f16) {
    p.loop = 4, p.grid = {64, 1, 1};
    x = load({rows, 32}, 1), g = load({1, 32}, 1), w = load({32, 16}, 0);
    squares = add(tile::NodeKind::map, {x}, {rows, 32}), sum = add(tile::NodeKind::reduce, {squares}, {rows, 1});
    scaled = add(tile::NodeKind::map, {x, g}, {rows, 32}), operand = add(tile::NodeKind::round, {scaled}, {rows, 32});
    product = add(tile::NodeKind::matmul, {operand, w}, {rows, 16});
    node(operand).dtype = dtype;
    node(sum).dim = 1, node(sum).carried = node(product).carried = true;
  }
  tile::Node& node(int i) { return p.nodes[static_cast<std::size_t>(i)]; }
  int add(tile::NodeKind kind, std::vector<int> in, graph::Shape shape) {
    tile::Node n;
    n.kind = kind, n.in = std::move(in), n.shape = std::move(shape);
    return p.add(n);
  }
  int load(graph::Shape shape, std::size_t looped) {
    const int i = add(tile::NodeKind::load, {}, shape);
    node(i).dtype = graph::DType::f16;
    for (std::size_t d = 0; d < shape.size(); ++d)
      node(i).view.cuts.push_back(
          {.loop = d == looped, .tile = shape[d], .extent = d == looped ? 4 * shape[d] : shape[d]});
    return i;
  }
  bool made(const char* target = "sm_90a") {
    tile::precompute_a(p, target::find(target));
    return node(product).window;
  }
};

TEST(PrecomputeA, MakesAnOperandOfFewRowsInFrontOfTheLoop) {
  PrecomputedBody b;
  ASSERT_TRUE(b.made());
  const tile::Sections sections(b.p);
  for (int i : {b.x, b.g, b.squares, b.scaled, b.operand}) {
    EXPECT_EQ(sections.of(i), tile::Section::before) << i;
    EXPECT_EQ(b.node(i).shape, (graph::Shape{1, 128})) << i;
  }
  EXPECT_EQ(b.node(b.x).view.cuts[1], (tile::Cut{.tile = 128, .extent = 128}));
  EXPECT_EQ(sections.of(b.sum), tile::Section::before);
  EXPECT_FALSE(b.node(b.sum).carried);
  for (int i : {b.w, b.product}) EXPECT_TRUE(sections.inside(i)) << i;
  EXPECT_TRUE(b.node(b.product).carried);
}

TEST(PrecomputeA, LeavesWhatIsMuch) {
  EXPECT_TRUE(PrecomputedBody(8).made());
  EXPECT_FALSE(PrecomputedBody(9).made());  // rows
  PrecomputedBody deep(8);
  deep.p.loop = 128;  // 8 x 4096 of x and of the operand, 1 x 4096 of g: 136 KB
  EXPECT_FALSE(deep.made());
  for (const char* target : {"sm_86", "sm_90a"}) {  // 2 x 4096: 40 KB, of 99 that a block may have or of 227
    PrecomputedBody two(2);
    two.p.loop = 128;
    EXPECT_EQ(two.made(target), std::string_view(target) == "sm_90a");
  }
  PrecomputedBody many;
  many.p.grid.x = 265;  // blocks on 132 multiprocessors
  EXPECT_FALSE(many.made());
  EXPECT_FALSE(PrecomputedBody(1, graph::DType::f32).made());  // products of float32 are no tensor core's
}

TEST(PrecomputeA, LeavesWhatAnIterationNeedsOtherwise) {
  PrecomputedBody stored;  // by iteration
  stored.add(tile::NodeKind::accumulate, {stored.scaled}, {1, 32});
  EXPECT_FALSE(stored.made());
  PrecomputedBody kept;  // a sum of each iteration
  kept.node(kept.sum).carried = false;
  EXPECT_FALSE(kept.made());
  PrecomputedBody masked;  // a mask says where in the loop it is
  masked.node(masked.scaled).view.cuts = {{}, {.loop = true}};
  EXPECT_FALSE(masked.made());
  PrecomputedBody loaded;  // nothing to make
  loaded.node(loaded.product).in[0] = loaded.x;
  EXPECT_FALSE(loaded.made());
  PrecomputedBody direct;  // what one product reads as it is, another would have to find in parts
  direct.add(tile::NodeKind::matmul, {direct.x, direct.w}, {1, 16});
  EXPECT_FALSE(direct.made());
}

/// The norm's factor and its weight are applied to the matmul in one operand: computed once, by all threads,
/// before one barrier.
TEST(PrecomputeA, LeavesALoopOfProductsAlone) {
  graph::Builder b("norm_linear");
  const graph::TensorHandle x = b.input("X", {1, 2048}), g = b.input("G", {2048}), w = b.input("W", {2048, 1024});
  b.output(b.custom({.grid = {32}, .block = {128}, .loop = 8},
                    [&](graph::BlockBuilder& t) {
                      const auto tile = t.load(x, {.loop = 1});
                      const auto product = accum(matmul(tile * t.load(g, {.loop = 0}), t.load(w, {.x = 1, .loop = 0})));
                      t.store(product / accum_red_rms(tile), {.x = 1});
                    })
               .at(0),
           "Y");
  const Plan plan = test::make_plan(b.build(), target::find("sm_90a"));
  const kernel::Kernel& kernel = plan.kernels.at(0);
  std::vector<kernel::WorkKind> before, inside;
  bool looped = false;
  int barriers = 0;
  for (const kernel::Step& s : flat(kernel.agents.at(0).steps)) {
    if (const kernel::Loop* loop = begins_loop(s); loop && loop->kind == kernel::Loop::iterations) looped = true;
    if (is_end(s) && looped) break;
    if (kernel::as<kernel::Compute>(s)) (looped ? inside : before).push_back(s.work.kind);
    barriers += looped && kernel::as<kernel::Barrier>(s);
  }
  EXPECT_EQ(inside, (std::vector{kernel::WorkKind::mma}));
  EXPECT_EQ(barriers, 1);
  EXPECT_EQ(std::ranges::count(before, kernel::WorkKind::to_shared), 1);
  EXPECT_EQ(std::ranges::count(before, kernel::WorkKind::reduce), 1);
}

}  // namespace
}  // namespace zellige::plan
