// Products whose kernels gather the rows of all ranks: on the emulator, launch after launch, in random orders.
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "graph/dtype.hpp"
#include "ir/ir.hpp"
#include "launches.hpp"
#include "ranks.hpp"
#include "ranks/flat_collectives.hpp"
#include "ranks/run_ranks.hpp"
#include "ranks/tails.hpp"

namespace zellige::ranks {
namespace {

using graph::Builder, graph::DType, graph::KernelGraph, graph::OpKind;
using run::Bytes, run::Collectives, run::RunResult, run::Status;
using test::with;

/// y = the rows of all ranks, times b.
KernelGraph gathered_product(int ranks, std::int64_t m, std::int64_t k, std::int64_t n, DType dtype) {
  Builder b("g", ranks);
  b.output(matmul(all_gather(b.input("a", {m, k}, dtype), 0), b.input("b", {k, n}, dtype)), "y");
  return b.build();
}

/// Computes a graph of a gather and a product on the host.
void on_host(const KernelGraph& g, std::vector<std::vector<Bytes>>& memory) {
  collective_on_host(g, g.ops[0], memory);
  const graph::KernelOp& product = g.ops[1];
  const auto place = [&](int t) { return place_of_rank(g.tensors[t], manifest::Role::input, 0); };
  const graph::KernelTensor &a = g.tensors[product.inputs[0]], &y = g.tensors[product.outputs[0]];
  const std::int64_t m = y.shape[0], n = y.shape[1], k = a.shape[1];
  for (std::vector<Bytes>& mine : memory) {
    const std::vector<double> x = run::unpack(place(product.inputs[0]), mine[product.inputs[0]]),
                              w = run::unpack(place(product.inputs[1]), mine[product.inputs[1]]);
    std::vector<double> of(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += x[i * k + l] * w[l * n + j];
        of[i * n + j] = graph::round_to(y.dtype, sum);
      }
    mine[product.outputs[0]] = run::pack(place(product.outputs[0]), of);
  }
}

/// A program of one step, the product's kernel that gathers its rows; none if there is no such kernel.
RankProgram gathering(const KernelGraph& g, const char* target, const toolchain::Cache& cache) {
  RankProgram p{.graph = flat_collectives(g)};
  std::vector<Segment> all = segments(p.graph);
  const TailCut cut = cut_product(p.graph, all.at(1), all.at(0).outputs[0]);
  std::string why;
  if (auto step = gather_step(p.graph, all.at(0), cut.tail, target::find(target), {.fuse = true}, cache, why))
    p.steps.push_back(*std::move(step));
  EXPECT_EQ(why, "");
  return p;
}

/// Random products: every rank has the bits of the host, in every launch.
TEST(Gather, ProductsHaveTheBitsOfTheHost) {
  test::Rng rng(62);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (int i = 0; i < (test::all_cases() ? 40 : 2); ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    const DType dtype = i % 3 == 1 ? DType::f16 : DType::bf16;
    const std::int64_t m = rng.between(2, 70), n = 8 * rng.between(1, 20), k = 8 * rng.between(1, 12);
    const RankProgram p = gathering(gathered_product(ranks, m, k, n, dtype), i % 2 ? "sm_80" : "sm_90a", cache);
    ASSERT_EQ(p.steps.size(), 1u) << m << " x " << k << " x " << n << " over " << ranks;
    EXPECT_EQ(test::first_fault(p.steps[0], p, cache, 5, on_host), "")
        << m << " x " << k << " x " << n << " over " << ranks;
  }
}

/// Ranks that run one block at a time, in two launches, have no fault in random orders, and every fault that is injected is found. (In a third
/// one the emulator does not know that copies of the first have ended: only threads release what they have done.)
TEST(Gather, FaultsAreFoundWhileRanksAreInSeveralLaunches) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const RankProgram p = gathering(gathered_product(3, 32, 32, 64, DType::bf16), "sm_80", cache);
  ASSERT_EQ(p.steps.size(), 1u);
  const RankStep& step = p.steps[0];
  const auto fault = [&](const RankStep& of) {
    return test::first_fault(test::one_after_another(of, 2), p, cache, 6, on_host);
  };
  EXPECT_EQ(fault(step), "");
  const std::string& source = step.program->source;
  const auto statement = [&](const std::string& begin) {
    const std::size_t at = source.find(begin);
    EXPECT_NE(at, std::string::npos) << begin;
    return source.substr(at, source.find(';', at) + 1 - at);
  };
  const std::string wait = statement("await_rows<"), tell = statement("set_pushed<");
  const auto changed = [](const std::string& call, const std::string& from, const std::string& to) {
    return std::regex_replace(call, std::regex(from), to) + " if (tid == 0) p_state[1 + epoch.block] = epoch.launch;";
  };
  const int flags = std::stoi(wait.substr(wait.find('<') + 1));
  const auto epoch = [](const char* launch) {
    return fmt::format("(SymmetricEpoch{{epoch.rank, {}, epoch.block, epoch.blocks}}", launch);
  };
  const std::pair<const char*, RankStep> faults[] = {
      {"no wait", with(step, wait, changed(wait, "<\\d+", "<0"))},
      {"the flag of the launch before", with(step, wait, changed(wait, "\\(epoch", epoch("epoch.launch - 1")))},
      {"the flags of other rows", with(step, wait, changed(wait, "row_tile", "(row_tile + 1) % 3"))},
      {"one flag too few", with(step, wait, changed(wait, "<\\d+", fmt::format("<{}", flags - 1)))},
      {"flags that nobody sets", with(step, "set_pushed<", "if (epoch.rank != 1) set_pushed<")},
      {"a count too high", with(step, tell, changed(tell, "\\(epoch", epoch("epoch.launch + 1")))},
      {"rows that nobody stores", with(step, "push_rows<", "if (epoch.rank != 2) push_rows<")},
      {"the other half", with(step, " + half;", " + (epoch.launch + 1) % 2 * half;")},
      {"the rows of another rank", with(step, "epoch.rank *", "(epoch.rank + 1) % 3 *")},
  };
  for (std::size_t i = 0; i < std::size(faults); i += test::every(4))
    EXPECT_NE(fault(faults[i].second), "") << faults[i].first;
}

/// What the command takes: the gather goes into the product's kernel, with elementwise operators after it, and is one of NCCL where no
/// product alone reads it.
TEST(Gather, ProgramsHaveOneKernelForGatherAndProduct) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  Builder b("mlp", 2);
  const auto x = b.input("x", {16, 32}, DType::bf16);
  const auto h = silu(matmul(all_gather(x, 0), b.input("up", {32, 64}, DType::bf16)));
  b.output(reduce_scatter(matmul(h, b.input("down", {64, 32}, DType::bf16)), 0) + x, "y");
  const KernelGraph g = b.build();
  const RankProgram p = compile_over_ranks(g, target::find("sm_80"), {.fuse = true}, cache, Collectives::fused);
  EXPECT_EQ(notes_of(p),
            (std::vector<std::string>{"2 ranks, each with 3 kernels and 0 collectives",
                                      "ranks exchange tiles in 2 of the kernels, in place of collectives"}));
  const RunResult r = run_ranks(g, {.compile = {.fuse = true}, .workers = 1, .collectives = Collectives::fused}, cache);
  EXPECT_EQ(name(r.status), name(Status::correct)) << r.reason;
  Builder c("g", 2);
  const auto all = all_gather(c.input("a", {16, 64}, DType::bf16), 0);
  c.output(matmul(all, c.input("b", {64, 64}, DType::bf16)), "y"), c.output(all + 1.0, "z");
  const RankProgram separate =
      compile_over_ranks(c.build(), target::find("sm_80"), {.fuse = true}, cache, Collectives::fused);
  EXPECT_EQ(notes_of(separate)[1],
            "NCCL computes t1, since no kernel can: no product alone reads it, as the first operand");
}

/// A plan with a gather is the same after it is printed and read.
TEST(Gather, IsPrintedAndReadAsIr) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const RankProgram p = gathering(gathered_product(2, 64, 64, 64, DType::bf16), "sm_80", cache);
  const emit::EmittedProgram& program = *p.steps.at(0).program;
  const std::string text = ir::print(program);
  EXPECT_NE(text.find(" gathers"), std::string::npos) << text;
  const emit::EmittedProgram again = ir::compile(text, "x.ir").program;
  EXPECT_EQ(ir::print(again), text);
  EXPECT_EQ(again.source, program.source);
}

}  // namespace
}  // namespace zellige::ranks
