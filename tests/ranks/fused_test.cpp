// Products whose kernels add over ranks at their end, and totals in two shots: on the emulator, launch after launch, in random orders.
#include <gtest/gtest.h>

#include <regex>
#include <span>

#include "../all_cases.hpp"
#include "graph/dtype.hpp"
#include "ir/ir.hpp"
#include "launches.hpp"
#include "ranks.hpp"
#include "ranks/flat_collectives.hpp"
#include "ranks/run_ranks.hpp"
#include "run/run.hpp"

namespace zellige::ranks {
namespace {

using namespace run;
using graph::Builder, graph::DType, graph::KernelGraph, graph::OpKind;
using test::twice, test::with;

/// y = the sum over ranks of a b.
KernelGraph product_over(int ranks, std::int64_t m, std::int64_t k, std::int64_t n, DType dtype, OpKind sum) {
  Builder b("g", ranks);
  const auto p = matmul(b.input("a", {m, k}, dtype), b.input("b", {k, n}, dtype));
  b.output(sum == OpKind::all_reduce       ? all_reduce(p)
           : sum == OpKind::all_reduce_max ? all_reduce_max(p)
                                           : reduce_scatter(p, 0),
           "y");
  return b.build();
}

/// Computes a graph of one product and one sum on the host.
void on_host(const KernelGraph& g, std::vector<std::vector<Bytes>>& memory) {
  const graph::KernelOp& product = g.ops[0];
  const auto place = [&](int t) { return place_of_rank(g.tensors[t], manifest::Role::input, 0); };
  const graph::KernelTensor &a = g.tensors[product.inputs[0]], &p = g.tensors[product.outputs[0]];
  const std::int64_t m = p.shape[0], n = p.shape[1], k = a.shape[1];
  for (std::vector<Bytes>& mine : memory) {
    const std::vector<double> x = unpack(place(product.inputs[0]), mine[product.inputs[0]]),
                              w = unpack(place(product.inputs[1]), mine[product.inputs[1]]);
    std::vector<double> y(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += x[i * k + l] * w[l * n + j];
        y[i * n + j] = graph::round_to(p.dtype, sum);
      }
    mine[product.outputs[0]] = pack(place(product.outputs[0]), y);
  }
  collective_on_host(g, g.ops[1], memory);
}

std::string first_fault(const RankStep& step, const RankProgram& p, const toolchain::Cache& cache,
                        unsigned launches = 4) {
  return test::first_fault(step, p, cache, launches, on_host);
}

/// A program of one step, the product's kernel with its sum.
RankProgram fused(const KernelGraph& g, const char* target, const toolchain::Cache& cache, SumBy by) {
  RankProgram p{.graph = flat_collectives(g)};
  const std::vector<Segment> all = segments(p.graph);
  std::string why;
  if (auto step = fused_step(p.graph, all.at(0), all.at(1), by, target::find(target), {.fuse = true}, cache, why))
    p.steps.push_back(*std::move(step));
  EXPECT_EQ(why, "");
  return p;
}

/// Random products: every rank has the bits of the host, in every launch.
TEST(Fused, ProductsHaveTheBitsOfTheHost) {
  test::Rng rng(8);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  constexpr OpKind sums[] = {OpKind::all_reduce, OpKind::reduce_scatter, OpKind::all_reduce_max};
  for (int i = 0; i < (test::all_cases() ? 24 : 4); ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    const DType dtype = i % 3 == 1 ? DType::f16 : DType::bf16;
    const std::int64_t m = ranks * rng.between(1, 40), n = 8 * rng.between(1, 20), k = 16 * rng.between(1, 6);
    const RankProgram p = fused(product_over(ranks, m, k, n, dtype, sums[i % 3]), i % 2 ? "sm_80" : "sm_90a", cache,
                                i % 4 > 1 ? SumBy::two_shots : SumBy::one_shot);
    ASSERT_EQ(p.steps.size(), 1u);
    EXPECT_EQ(first_fault(p.steps[0], p, cache), "") << m << " x " << k << " x " << n << " over " << ranks;
  }
}

/// A product whose kernel is on warpgroups.
KernelGraph on_warpgroups(int ranks, OpKind sum) {
  Builder b("g", ranks);
  const graph::TensorHandle x = b.input("a", {256, 128}, DType::f16), w = b.input("b", {128, 128}, DType::f16);
  const graph::TensorHandle p = b.custom({.grid = {1, 2}, .block = {256}, .loop = 2}, [&](graph::BlockBuilder& t) {
    const graph::TileHandle rows = t.load(x, {.y = 0, .loop = 1}), columns = t.load(w, {.loop = 0});
    t.store(accum(matmul(rows, columns)), {.y = 0});
  })[0];
  b.output(sum == OpKind::all_reduce ? all_reduce(p) : reduce_scatter(p, 0), "y");
  return b.build();
}

/// On warpgroups the tile is stored by TMA, and the consumers exchange it.
TEST(Fused, ProductOnWarpgroups) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const SumBy by :
       test::all_cases() ? std::vector{SumBy::one_shot, SumBy::two_shots} : std::vector{SumBy::one_shot}) {
    const OpKind sum = by == SumBy::one_shot ? OpKind::reduce_scatter : OpKind::all_reduce;
    const RankProgram p = fused(on_warpgroups(2, sum), "sm_90a", cache, by);
    ASSERT_EQ(p.steps.size(), 1u);
    const std::string& source = p.steps[0].program->source;
    EXPECT_NE(source.find("tma_store_wait_complete<0>();\n    synchronize_symmetric<256, 0, 1>"), std::string::npos);
    EXPECT_EQ(first_fault(p.steps[0], p, cache), "");
    EXPECT_NE(first_fault(with(p.steps[0], "tma_store_wait_complete<0>();", ""), p, cache), "");
  }
}

/// Returns the step with every wait for other ranks spelled out. `set` and `wait`: the epoch and the launch that they name.
RankStep spelled_out(const RankStep& step, int time, const std::string& set, const std::string& wait) {
  const std::string of =
      fmt::format("synchronize_symmetric<(\\d+){}>\\(epoch, tid, (\\w+), ([^;]*)\\);", time ? ", 1" : "");
  RankStep changed = step;
  std::string& source = changed.program->source;
  const std::string by = fmt::format(
      "synchronize_threads<$1, 0>(); set_flags<{0}>({1}, tid, $3); wait_for_flags<{0}>(epoch, {2}, tid, $3); "
      "if (tid == 0) $2[1 + epoch.block] = epoch.launch; synchronize_threads<$1, 0>();",
      time, set, wait);
  const std::string before = source;
  source = std::regex_replace(source, std::regex(of), by);
  EXPECT_NE(source, before) << time;
  return changed;
}

/// Expects that faults are found while ranks are in two launches: all of them, or by default every third.
void expect_found(std::span<const std::pair<const char*, RankStep>> faults, const RankProgram& p,
                  const toolchain::Cache& cache) {
  for (std::size_t i = 0; i < faults.size(); i += test::every(3))
    EXPECT_NE(first_fault(twice(faults[i].second), p, cache, 40), "") << faults[i].first;
}

constexpr const char* later = "SymmetricEpoch{epoch.rank, epoch.launch + 1, epoch.block, epoch.blocks}";

/// Two launches one after another on each rank have no fault, and every fault that is injected is found.
TEST(Fused, FaultsAreFoundWhileRanksAreInTwoLaunches) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const RankProgram p =
      fused(product_over(2, 32, 32, 32, DType::bf16, OpKind::reduce_scatter), "sm_80", cache, SumBy::one_shot);
  ASSERT_EQ(p.steps.size(), 1u);
  const RankStep& step = p.steps[0];
  EXPECT_EQ(first_fault(twice(step), p, cache), "");
  if (test::all_cases()) EXPECT_EQ(first_fault(twice(spelled_out(step, 0, "epoch", "epoch.launch")), p, cache), "");
  const std::pair<const char*, RankStep> faults[] = {
      {"no wait for readers", with(step, "await_readers(", "(void)sizeof(")},
      {"no wait", spelled_out(step, 0, "epoch", "0")},
      {"the flag of the launch before", spelled_out(step, 0, "epoch", "epoch.launch - 1")},
      {"a count too high", spelled_out(step, 0, later, "epoch.launch")},
      {"readers that do not tell", with(step, "release_readers<", "if (false) release_readers<")},
      {"another rank's part", with(step, "epoch.rank *", "(1 - epoch.rank) *")},
  };
  expect_found(faults, p, cache);
}

TEST(Fused, FaultsInTwoShotsAreFound) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const RankProgram p =
      fused(product_over(3, 32, 32, 64, DType::bf16, OpKind::all_reduce), "sm_80", cache, SumBy::two_shots);
  ASSERT_EQ(p.steps.size(), 1u);
  const RankStep& step = p.steps[0];
  EXPECT_EQ(first_fault(twice(step), p, cache), "");
  const std::pair<const char*, RankStep> faults[] = {
      {"no second wait", spelled_out(step, 1, "epoch", "0")},
      {"no first wait", spelled_out(step, 0, "epoch", "0")},
      {"the second flag of the launch before", spelled_out(step, 1, "epoch", "epoch.launch - 1")},
      {"a second count too high", spelled_out(step, 1, later, "epoch.launch")},
      {"a share that nobody adds", with(step, "add_shares<", "if (epoch.rank != 1) add_shares<")},
  };
  expect_found(faults, p, cache);
}

/// What the command takes: the sum goes into the product's kernel where nothing follows it, and is one of NCCL where it cannot.
TEST(Fused, ProgramsHaveOneKernelForProductAndSum) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const KernelGraph g = product_over(2, 16, 64, 64, DType::bf16, OpKind::all_reduce);
  const RankProgram p = compile_over_ranks(g, target::find("sm_80"), {.fuse = true}, cache, Collectives::fused);
  ASSERT_EQ(p.steps.size(), 1u);
  EXPECT_TRUE(p.steps[0].by_symmetric);
  EXPECT_EQ(p.steps[0].otherwise.size(), 2u);
  const RunResult r = run_ranks(g, {.compile = {.fuse = true}, .workers = 1, .collectives = Collectives::fused}, cache);
  EXPECT_EQ(name(r.status), name(Status::correct)) << r.reason;
  Builder b("g", 2);
  b.output(reduce_scatter(matmul(b.input("a", {16, 64}, DType::bf16), b.input("b", {64, 64}, DType::bf16)), 1), "y");
  const RankProgram separate =
      compile_over_ranks(b.build(), target::find("sm_80"), {.fuse = true}, cache, Collectives::fused);
  EXPECT_EQ(notes_of(separate),
            (std::vector<std::string>{"2 ranks, each with 3 kernels and 1 collective",
                                      "NCCL computes y, since no kernel can: g_0: no kernel stores what ranks publish, "
                                      "but through a view"}));
  const RankProgram by_nccl = compile_over_ranks(g, target::find("sm_80"), {.fuse = true}, cache);
  EXPECT_EQ(by_nccl.steps.size(), 2u);
}

/// A plan with an exchange at its end is the same after it is printed and read.
TEST(Fused, IsPrintedAndReadAsIr) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const RankProgram p =
      fused(product_over(2, 64, 64, 64, DType::bf16, OpKind::all_reduce), "sm_80", cache, SumBy::two_shots);
  const emit::EmittedProgram& program = *p.steps.at(0).program;
  const std::string text = ir::print(program);
  EXPECT_NE(text.find("  symmetric in g_"), std::string::npos) << text;
  const emit::EmittedProgram again = ir::compile(text, "x.ir").program;
  EXPECT_EQ(ir::print(again), text);
  EXPECT_EQ(again.source, program.source);
}

}  // namespace
}  // namespace zellige::ranks
