// Tiles with several wgmma instructions below one another for each warpgroup, and those that have too many.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "plan/plan.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using plan::Blocks;

// 64 rows are an instruction: a warpgroup issues several, one below the other. Columns in eights are the
// single tiles of a Fragment.
TEST(TallTiles, IssueSeveralInstructionsForTheirRows) {
  std::size_t place = 0;
  for (const auto& [rows, n, threads] :
       {std::tuple<int, int, int>{256, 152, 256}, {128, 72, 128}, {192, 128, 128}, {256, 64, 128}})
    for (bool a_along_m : {false, true})
      for (Blocks way : {Blocks::a_tile, Blocks::persistent}) {
        if (!test::one_a_row(place++, 4)) continue;
        const std::int64_t m = 2 * rows, k = 192;
        graph::Builder b("tall");
        const auto A = b.input("A", {m, k}, DType::bf16, a_along_m ? graph::Strides{1, m} : graph::Strides{});
        const auto B = b.input("B", {k, n}, DType::bf16, {1, k});
        b.output(b.custom({.grid = {1, 2}, .block = {threads}, .loop = 3},
                          [&](graph::BlockBuilder& t) {
                            t.store(accum(matmul(t.load(A, {.y = 0, .loop = 1}), t.load(B, {.loop = 0}))), {.y = 0});
                          })[0],
                 "C");
        SCOPED_TRACE(testing::Message() << rows << " x " << n << " by " << threads << " threads, A along "
                                        << (a_along_m ? "M" : "K"));
        const graph::KernelGraph g = b.build();
        const plan::PlanOptions plan_options{{way}};
        const plan::Plan plan = test::make_plan(g, target::find("sm_90a"), plan_options);
        ASSERT_EQ(plan.kernels.size(), 1u);
        ASSERT_EQ(plan.kernels[0].agents.size(), 2u) << "not a producer and a consumer";
        expect_as_reference(g, {integers({m, k}, 1), integers({k, n}, 2)}, 0, 0, "sm_90a", plan_options);
      }
}

// More accumulators than a thread has registers for are no case for warpgroups.
TEST(TallTiles, LeaveRowsWithTooManyAccumulators) {
  graph::Builder b("tall");
  const auto A = b.input("A", {256, 128}), B = b.input("B", {128, 256}, DType::f16, {1, 128});
  b.output(b.custom({.grid = {1}, .block = {256}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.loop = 0}))), {});
                    })[0],
           "C");
  const plan::Plan plan = test::make_plan(b.build(), target::find("sm_90a"), {});
  EXPECT_TRUE(std::ranges::any_of(plan.kernels[0].notes, [](const std::string& note) {
    return note.find("1 products leave 256 accumulators in a thread, which has room for 192") != note.npos;
  })) << ir::print(plan);
}

}  // namespace
}  // namespace zellige::run
