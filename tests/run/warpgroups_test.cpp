// Matmuls on warpgroups, as emitted: every block schedule, both majors of both operands, sizes that no tile
// divides.
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "../plan/flat_steps.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "plan/plan.hpp"
#include "selection/tile_schedule.hpp"
#include "tiled_product.hpp"
#include "verify/proofs.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using plan::Blocks;

void expect_right(const graph::KernelGraph& g, const TiledProduct& c, const plan::PlanOptions& plan_options) {
  const plan::Plan plan = test::make_plan(g, target::find("sm_90a"), plan_options);
  ASSERT_EQ(plan.kernels.size(), 1u);
  ASSERT_EQ(plan.kernels[0].agents.size(), 2u) << "not a producer and a consumer";
  expect_as_reference(g, {integers({c.m, c.k}, 1), integers({c.k, c.n}, 2)}, 0, 0, "sm_90a", plan_options);
}

TEST(Warpgroups, MultiplyInEveryWayOfBlocks) {
  std::size_t place = 0;
  for (Blocks way : {Blocks::a_tile, Blocks::persistent, Blocks::pairs})
    for (bool along : {false, true}) {
      if (!test::one_a_row(place++, 2)) continue;
      const TiledProduct c{256, 256, 192, along, along, along ? DType::f16 : DType::bf16};
      const plan::PlanOptions plan_options{{way}};
      const plan::Plan plan = test::make_plan(tiled(c), target::find("sm_90a"), plan_options);
      EXPECT_EQ(plan.kernels[0].cluster, way == Blocks::pairs ? 2 : 1);
      EXPECT_EQ(plan.kernels[0].blocks > 0, way != Blocks::a_tile);
      expect_right(tiled(c), c, plan_options);
    }
}

TEST(Warpgroups, TakeBothMajorsOfBothOperands) {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      if (a == b && !test::all_cases()) continue;  // in MultiplyInEveryWayOfBlocks, too
      const TiledProduct c{128, 256, 128, a, b, DType::f16};
      expect_right(tiled(c), c, {});
    }
}

// All columns in one tile, whose lines end within 128 bytes: TMA fills them up with zeros.
TEST(Warpgroups, TakeColumnsThatEndWithinALine) {
  std::size_t place = 0;
  for (std::int64_t n : {32, 80, 96, 160})
    for (Blocks way : {Blocks::a_tile, Blocks::persistent}) {
      if (!test::one_a_row(place++, 2)) continue;
      const TiledProduct c{256, n, 192, false, false, DType::f16};
      graph::Builder b("narrow");
      const auto A = b.input("A", {c.m, c.k}), B = b.input("B", {c.k, c.n});
      b.output(b.custom({.grid = {1, 2}, .block = {256}, .loop = 3},
                        [&](graph::BlockBuilder& t) {
                          t.store(accum(matmul(t.load(A, {.y = 0, .loop = 1}), t.load(B, {.loop = 0}))), {.y = 0});
                        })[0],
               "C");
      const graph::KernelGraph g = b.build();
      const plan::PlanOptions plan_options{{way}};
      const plan::Plan plan = test::make_plan(g, target::find("sm_90a"), plan_options);
      ASSERT_EQ(plan.kernels[0].agents.size(), 2u) << ir::print(plan);
      expect_as_reference(g, {integers({c.m, c.k}, 1), integers({c.k, c.n}, 2)}, 0, 0, "sm_90a", plan_options);
    }
}

// The rows of a small M are the instruction's columns: 8, or what is filled up to 16 and 32; a row of another
// tensor is added, and B's columns may lie either way. The last tile may reach beyond B's columns.
TEST(Warpgroups, SwapAAndBForASmallM) {
  struct Few {
    std::int64_t m, n, k, columns;
    bool b_along_k, bias;
    DType dtype;
  };
  std::size_t place = 0;
  for (const Few& c :
       {Few{8, 128, 192, 8, true, false, DType::bf16}, Few{12, 128, 136, 16, true, true, DType::f16},
        Few{16, 192, 128, 16, false, false, DType::f16}, Few{24, 64, 256, 32, true, true, DType::bf16},
        Few{24, 200, 256, 32, true, true, DType::f16}, Few{40, 104, 192, 48, false, true, DType::bf16}}) {
    if (place++ % test::every(2) != 0) continue;
    graph::Builder b("few_rows");
    const auto A = b.input("A", {c.m, c.k}, c.dtype);
    const auto B = b.input("B", {c.k, c.n}, c.dtype, c.b_along_k ? graph::Strides{1, c.k} : graph::Strides{});
    b.output(c.bias ? matmul(A, B, b.input("bias", {c.n}, c.dtype)) : matmul(A, B), "C");
    const graph::KernelGraph g = b.build();
    const plan::PlanOptions plan_options{
        .tiling = {{.op = 0, .product = retile::MatmulTile{64, c.columns, 64, 128, true}}}};
    const plan::Plan plan = test::make_plan(g, target::find("sm_90a"), plan_options);
    ASSERT_EQ(plan.kernels[0].agents.size(), 2u) << ir::print(plan);
    std::vector<reference::Array> inputs;
    for (int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
    expect_as_reference(g, inputs, 0, 0, "sm_90a", plan_options);
  }
}

// More tiles than multiprocessors, and room for two blocks on each: nobody takes a second one.
TEST(Warpgroups, OfFewRowsAreTwoOnAMultiprocessor) {
  graph::Builder b("wide");
  const auto A = b.input("A", {16, 128}), B = b.input("B", {128, 64 * 140}, DType::f16, {1, 128});
  b.output(matmul(A, B), "C");
  const graph::KernelGraph g = b.build();
  const plan::PlanOptions options{.tiling = {{.op = 0, .product = retile::MatmulTile{64, 16, 64, 128, true}}}};
  const plan::Plan plan = test::make_plan(g, target::find("sm_90a"), options);
  EXPECT_EQ(plan.kernels[0].agents.size(), 2u);
  EXPECT_EQ(plan.kernels[0].program.grid.count(), 140);
  EXPECT_EQ(plan.kernels[0].blocks, 0);
  expect_as_reference(g, {integers({16, 128}, 1), integers({128, 64 * 140}, 2)}, 0, 0, "sm_90a", options);
}

/// Y = (X G) * (Z U), where Z may be X and U may be G; tiles of 128 rows and `columns` columns.
graph::KernelGraph two_products(bool same_left, bool same_right, std::int64_t columns = 128) {
  graph::Builder b("two_products");
  const auto X = b.input("X", {256, 128}), G = b.input("G", {128, 2 * columns});
  const auto Z = same_left ? X : b.input("Z", {256, 128}), U = same_right ? G : b.input("U", {128, 2 * columns});
  b.output(b.custom({.grid = {2, 2}, .block = {256}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      const auto x = t.load(X, {.y = 0, .loop = 1}), g = t.load(G, {.x = 1, .loop = 0});
                      const auto z = same_left ? x : t.load(Z, {.y = 0, .loop = 1});
                      const auto u = same_right ? g : t.load(U, {.x = 1, .loop = 0});
                      const auto left = accum(matmul(x, g));
                      t.store(left * accum(matmul(z, u)), {.x = 1, .y = 0});
                    })[0],
           "Y");
  return b.build();
}

TEST(Warpgroups, SeveralProductsShareALoop) {
  std::size_t place = 0;
  for (Blocks way : {Blocks::a_tile, Blocks::persistent, Blocks::pairs})
    for (const auto& [left, right] : {std::pair{true, false}, {false, true}, {false, false}}) {
      if (!test::one_a_row(place++, 3)) continue;
      const graph::KernelGraph g = two_products(left, right);
      const plan::PlanOptions plan_options{{way}};
      const plan::Plan plan = test::make_plan(g, target::find("sm_90a"), plan_options);
      int by_warpgroup = 0;
      for (const kernel::Work& w : kernel::works(plan.kernels[0])) by_warpgroup += w.matmul.asynchronous();
      ASSERT_EQ(by_warpgroup, 2) << ir::print(plan);
      std::vector<reference::Array> inputs;
      for (int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
      expect_as_reference(g, inputs, 1e-3, 1e-3, "sm_90a", plan_options);
    }
}

TEST(Warpgroups, ProductsWhoseAccumulatorsExceedTheRegistersAreSeparate) {
  const plan::Plan plan = test::make_plan(two_products(true, false, 256), target::find("sm_90a"));
  const std::string notes = ir::print(plan);
  EXPECT_NE(notes.find("products on warpgroups: 2 products leave 256 accumulators in a thread, which has "
                       "room for 192\"\n"),
            notes.npos)
      << notes;
}

// The last tiles are partial in every dimension, and there are more tiles than persistent blocks.
TEST(Warpgroups, TakeSizesThatNoTileDivides) {
  const TiledProduct c{520, 1032, 200, true, true, DType::bf16};
  graph::Builder b("ragged");
  auto A = b.input("A", {c.m, c.k}, c.dtype, {1, c.m}), B = b.input("B", {c.k, c.n}, c.dtype, {1, c.k});
  b.output(matmul(A, B), "C");
  const graph::KernelGraph g = b.build();
  for (Blocks way : {Blocks::a_tile, Blocks::persistent}) expect_right(g, c, {{way}});
}

// ---- two consecutive matmuls ----

struct Attended {
  std::int64_t dim = 64, tile = 128, heads = 2, tiles = 3;  // tiles: of keys
  bool keys_along_d = true;                                 // else along the keys
  int warps = 8;
  std::optional<std::int64_t> tril = {};
  double masked = -std::numeric_limits<double>::infinity();
  std::optional<double> lower_bound = {};  // of the masked scores
  std::optional<DType> narrow = {};        // to which the masked scores are cast, saturating
  DType dtype = DType::f16;
};

/// Heads of two tiles of queries; row sums of P accumulated in the same loop, rescaled like O.
graph::KernelGraph attention(const Attended& a) {
  const std::int64_t rows = 16 * a.warps, keys = a.tiles * a.tile;
  graph::Builder b("attention");
  const auto Q = b.input("Q", {a.heads, 2 * rows, a.dim}, a.dtype),
             K = b.input("K", {a.heads, a.dim, keys}, a.dtype,
                         a.keys_along_d ? graph::Strides{a.dim * keys, 1, a.dim} : graph::Strides{}),
             V = b.input("V", {a.heads, keys, a.dim}, a.dtype);
  b.output(b.custom({.grid = {a.heads, 2}, .block = {32 * a.warps}, .loop = a.tiles},
                    [&](graph::BlockBuilder& t) {
                      const auto q = t.load(Q, {.x = 0, .y = 1}), k = t.load(K, {.x = 0, .loop = 2}),
                                 v = t.load(V, {.x = 0, .loop = 1});
                      auto scores = matmul(q, k) * 0.125;
                      if (a.tril) scores = t.mask(scores, {.tril = a.tril}, {.x = 0, .y = 1, .loop = 2}, a.masked);
                      if (a.lower_bound) scores = graph::maximum(scores, *a.lower_bound);
                      if (a.narrow) scores = cast(cast(scores, *a.narrow, true), DType::f16) * 0.01;
                      const auto [maximum, fell] = reduction_max(scores, 2);
                      const auto p = exp(scores - maximum), factor = exp(fell);
                      const auto o = accum_rescale(matmul(p, v), factor);
                      t.store(o / accum_red_sum_rescale(p, factor), {.x = 0, .y = 1});
                    })[0],
           "O");
  return b.build();
}

void expect_attention(const Attended& a, const plan::PlanOptions& plan_options = {}) {
  const graph::KernelGraph g = attention(a);
  const plan::Plan plan = test::make_plan(g, target::find("sm_90a"), plan_options);
  int chained = 0;
  const kernel::Kernel& attends = plan.kernels.back();  // perhaps after copies of its operands
  for (const kernel::Work& w : kernel::works(attends)) chained += w.matmul.chained();
  ASSERT_EQ(chained, 1) << ir::print(plan);
  EXPECT_EQ(attends.loop_bounds.has_value(), a.tril && std::isinf(a.masked) && !a.lower_bound && !a.narrow);
  std::vector<reference::Array> inputs;
  for (int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
  expect_as_reference(g, inputs, 1e-2, 1e-2, "sm_90a", plan_options);
}

TEST(WarpgroupChains, AreAttention) {
  for (Blocks way : {Blocks::a_tile, Blocks::persistent}) expect_attention({}, {{way}});
  expect_attention({.dim = 128, .dtype = DType::bf16});
  expect_attention({.tile = 64, .keys_along_d = false});
  std::size_t place = 0;
  for (Blocks way : {Blocks::a_tile, Blocks::persistent})
    for (std::int64_t tril : {0, 1, -1, -100, 200})
      if (place++ % test::every(3) == 0) expect_attention({.tril = tril}, {{way}});  // four: the ways alternate
  expect_attention(
      {.tril = 0, .masked = -1e30});  // what is left of masked numbers might count: all tiles are multiplied
  // exp(max(-inf, -1) - maximum) is above 0, so masked keys count, too.
  expect_attention({.tril = 0, .lower_bound = -1.0});
  // So are the lowest numbers of dtypes that saturate: -448 and -57344.
  for (DType narrow : {DType::e4m3, DType::e5m2}) expect_attention({.tril = 0, .narrow = narrow});
  expect_attention({.warps = 4});
}

// Lines that TMA fills up with zeros, and columns that are filled up to pairs of tiles.
class HeadDimensions : public testing::TestWithParam<std::int64_t> {};
TEST_P(HeadDimensions, ComeInStepsOfEight) {
  const std::int64_t dim = GetParam();
  expect_attention({.dim = dim,
                    .tile = 64,
                    .heads = 1,
                    .tiles = 2,
                    .warps = 4,
                    .tril = dim % 16 == 0 ? std::optional<std::int64_t>{} : 3,
                    .dtype = dim % 24 == 0 ? DType::bf16 : DType::f16});
}
INSTANTIATE_TEST_SUITE_P(WarpgroupChains, HeadDimensions, testing::Range<std::int64_t>(16, 257, 8));

// Lines that begin at no multiple of 16 bytes are copied first, those of queries, too; the last chunk of a line is filled up with zeros.
TEST(WarpgroupChains, AreOfAnyHeadDimension) {
  for (const std::int64_t dim :
       test::all_cases() ? std::vector<std::int64_t>{36, 45, 61, 84, 100, 127} : std::vector<std::int64_t>{61, 100})
    expect_attention({.dim = dim,
                      .tril = dim % 2 == 0 ? std::optional<std::int64_t>{} : 0,
                      .dtype = dim % 4 == 0 ? DType::bf16 : DType::f16});
}

// Lines along the keys: K of the first product ends with the tile's last line.
TEST(WarpgroupChains, TakeKeysByLinesWhereTheHeadDimensionIsWholeSteps) {
  for (std::int64_t dim : test::all_cases() ? std::vector<std::int64_t>{48, 80, 112} : std::vector<std::int64_t>{80})
    expect_attention({.dim = dim, .tile = 64, .heads = 1, .tiles = 2, .keys_along_d = false, .warps = 4});
}

std::string verdict(const kernel::Kernel& plan) {
  try {
    verify::verify(plan, target::find("sm_90a"));
    verify::verify_registers(plan);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// Whatever orders two steps, and whatever fills registers that a later iteration takes: without it no plan is accepted.
TEST(WarpgroupChains, NeedEveryStep) {
  const plan::Plan made =
      test::make_plan(attention({.heads = 2000, .tiles = 9}), target::find("sm_90a"), {{Blocks::persistent}});
  const kernel::Kernel& plan = made.kernels.at(0);
  ASSERT_EQ(verdict(plan), "");
  const auto needed = [&](const kernel::Step& step) {
    using Kind = kernel::WorkKind;
    if (step.work.node < 0)
      return !kernel::as<kernel::Loop>(step) && !kernel::as<kernel::GriddepWait>(step) &&
             !kernel::as<kernel::GriddepLaunchDependents>(step);
    const Kind work = step.work.kind;
    return !kernel::as<kernel::Start>(step) &&
           (work == Kind::mma || work == Kind::to_operand || work == Kind::to_registers || work == Kind::to_lines ||
            work == Kind::rescale || work == Kind::copy_in);
  };
  int tried = 0;
  for (std::size_t a = 0; a < plan.agents.size(); ++a) {
    const std::vector<kernel::Step> all = plan::flat(plan.agents[a].steps);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!needed(all[k])) continue;
      kernel::Kernel without = plan;
      std::vector<kernel::Step> steps = all;
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(k));
      without.agents[a].steps = plan::nested(steps);
      EXPECT_NE(verdict(without), "") << plan.agents[a].name << " without step " << k << ", "
                                      << kernel::describe(all[k], static_cast<int>(k));
      ++tried;
    }
  }
  EXPECT_GE(tried, 40);
}

// Iterations that the mask leaves whole are ordered as the others are.
TEST(WarpgroupChains, RunWholeTilesAsTheOthers) {
  const plan::Plan made = test::make_plan(attention({.tril = 0}), target::find("sm_90a"), {{Blocks::persistent}});
  const kernel::Kernel& s = made.kernels.at(0);
  std::vector<std::string> bodies;
  kernel::walk(s.agents.at(0).steps, [&](const kernel::Step& of, const kernel::StepPosition&) {
    const auto* loop = kernel::as<kernel::Loop>(of);
    if (!loop || !loop->bounded) return;
    plan::Plan body = made;
    body.kernels.at(0).agents.at(0).steps = loop->body;
    bodies.push_back(ir::print(body));
  });
  ASSERT_EQ(bodies.size(), 2u);
  EXPECT_EQ(bodies[0], bodies[1]);
}

TEST(WarpgroupChains, TakeFragmentsOfTheRightIteration) {
  const plan::Plan made = test::make_plan(attention({}), target::find("sm_90a"));
  const auto changed = [&](const std::function<bool(kernel::Step&)>& change) {
    kernel::Kernel plan = made.kernels.at(0);
    std::vector<kernel::Step> steps = plan::flat(plan.agents.at(0).steps);
    for (kernel::Step& step : steps)
      if (change(step)) break;
    plan.agents[0].steps = plan::nested(steps);
    return verdict(plan);
  };
  EXPECT_EQ(changed([](kernel::Step& s) {
              auto* mma = kernel::as<kernel::Mma>(s);
              return mma && std::exchange(mma->pipelined, false);
            }),
            "attention_k0: 'mma %13' takes %12 as fragments, which no step before it in this section leaves in "
            "registers");
  EXPECT_EQ(changed([](kernel::Step& s) {
              if (const auto* mma = kernel::as<kernel::Mma>(s); !mma || !mma->pipelined) return false;
              s.reads.at(0).lag = 0;
              return true;
            }),
            "attention_k0: consumer reads V[1] in step 'mma s10' of iteration 1, but the TMA copy of step 'copy in "
            "V' "
            "of iteration 1, of agent producer, may still write it: consumer is 1 acquire of channel second ring "
            "short of it; acquire second ring before this step");
  EXPECT_EQ(changed([](kernel::Step& s) {
              auto* wait = kernel::as<kernel::WaitGroup>(s);
              if (!wait || wait->pending != 1) return false;
              wait->pending = 2;
              return true;
            }),
            "attention_k0: consumer reads the registers of channel scores in step 'reduce %5' of iteration 1, but "
            "the "
            "wgmma of step 'mma s3' of iteration 1 may still write them: 1 group was committed after its own, and "
            "consumer leaves the newest 2 in flight; put wait_group 1 before this step");
}

// Iterations that a mask leaves nothing of, and those that it leaves whole, counted one query and key after another.
TEST(WarpgroupChains, CountWhatTheMaskLeaves) {
  int some = 0;
  for (std::int64_t tile : {64, 128})
    for (std::int64_t tril = -130; tril <= 400; tril += 53) {
      const plan::Plan made =
          test::make_plan(attention({.tile = tile, .tiles = 5, .tril = tril}), target::find("sm_90a"));
      const std::optional<kernel::MaskedLoopBounds>& bounds = made.kernels.at(0).loop_bounds;
      if (!bounds) continue;
      for (std::int64_t block = 0; block < 2; ++block) {
        std::int64_t any = 0, all = 0;
        for (std::int64_t i = 0; i < 5; ++i) {
          std::int64_t kept = 0;
          for (std::int64_t q = 0; q < 128; ++q)
            for (std::int64_t k = 0; k < tile; ++k) kept += i * tile + k - (block * 128 + q) <= tril;
          any += kept > 0, all += kept == 128 * tile;
        }
        EXPECT_EQ(bounds->of(block, 5), std::max<std::int64_t>(any, 1)) << tile << " " << tril << " " << block;
        EXPECT_EQ(bounds->whole(block, 5), all) << tile << " " << tril << " " << block;
        some += all > 0 && any < 5;
      }
    }
  EXPECT_GT(some, 2);
}

// Two tiles for each persistent block, the second the shorter one.
TEST(WarpgroupChains, PairLongAndShortTiles) {
  const Attended a{.tile = 64, .heads = 132, .tiles = 2, .warps = 4, .tril = 0};
  const plan::Plan plan = test::make_plan(attention(a), target::find("sm_90a"), {{Blocks::persistent}});
  ASSERT_EQ(selection::tile_schedule(plan.kernels.at(0)).longer, 1);
  expect_attention(a, {{Blocks::persistent}});
}

TEST(WarpgroupChains, FallBackToMmaSyncWithANote) {
  const auto message = [](const Attended& a) {
    return ir::print(test::make_plan(attention(a), target::find("sm_90a")));
  };
  const std::string begin = "note \"products on warpgroups: ";
  for (const auto& [a, why] :
       {std::pair{Attended{.dim = 72, .keys_along_d = false}, "an iteration's K of 72 is no multiple of 16\"\n"},
        {Attended{.tile = 72}, "72 columns, which are lines of the operand, are no multiple of 16\"\n"},
        {Attended{.warps = 6}, "96 rows are not 64 for each four of 6 warps\"\n"}}) {
    const std::string text = message(a);
    EXPECT_NE(text.find(begin + why), text.npos) << text;
  }
}

// One tensor is both operands: its two loads have boxes of their own.
TEST(Warpgroups, MultiplyATensorByItself) {
  const TiledProduct c{1024, 1024, 1024, false, false, DType::f16};
  graph::Builder b("square");
  auto X = b.input("X", {c.m, c.k}, c.dtype);
  b.output(matmul(X, X), "Y");
  const graph::KernelGraph g = b.build();
  ASSERT_EQ(test::make_plan(g, target::find("sm_90a")).kernels[0].agents.size(), 2u);
  expect_as_reference(g, {integers({c.m, c.k}, 1)}, 0x1p-10, 0, "sm_90a");
}

}  // namespace
}  // namespace zellige::run
