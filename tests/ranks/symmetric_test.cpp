// Kernels in which ranks exchange tiles, on the emulator: all ranks together, launch after launch, in random orders.
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "graph/dtype.hpp"
#include "ir/ir.hpp"
#include "ranks.hpp"
#include "ranks/emulated_symmetric.hpp"
#include "ranks/run_ranks.hpp"
#include "run/run.hpp"

namespace zellige::ranks {
namespace {

using namespace run;
using graph::Builder, graph::DType, graph::KernelGraph, graph::Shape;

KernelGraph all_reduce_of(int ranks, const Shape& shape, DType dtype, bool sum = true) {
  Builder b("g", ranks);
  const auto x = b.input("x", shape, dtype);
  b.output(sum ? all_reduce(x) : all_reduce_max(x), "y");
  return b.build();
}

/// Returns random values of a graph's input on each rank.
std::vector<std::vector<Bytes>> random_memory(test::Rng& rng, const KernelGraph& g) {
  std::vector<std::vector<Bytes>> memory;
  for (int r = 0; r < g.ranks; ++r) {
    memory.emplace_back(g.tensors.size());
    for (int t : g.inputs) {
      std::vector<double> values(static_cast<std::size_t>(graph::size(g.tensors[t].shape)));
      for (double& v : values)
        v = graph::round_to(g.tensors[t].dtype, static_cast<double>(rng.between(-1000, 1000)) / 64);
      memory.back()[t] = pack(place_of_rank(g.tensors[t], manifest::Role::input, 0), values);
    }
  }
  return memory;
}

/// Sums of random shapes have the bits of those on the host, on every rank, in each of several launches.
void expect_bits_of_the_host(Collectives how, std::uint64_t seed) {
  test::Rng rng(seed);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (int i = 0; i < (test::all_cases() ? 16 : 5); ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    const DType dtype = std::vector{DType::bf16, DType::f16, DType::f32}[static_cast<std::size_t>(i % 3)];
    const KernelGraph g = all_reduce_of(ranks, {rng.between(1, 9), rng.between(1, 700)}, dtype, i % 5 != 4);
    const RankProgram p = compile_over_ranks(g, target::find("sm_80"), {}, cache, how);
    ASSERT_EQ(p.steps.size(), 1u);
    ASSERT_TRUE(p.steps[0].by_symmetric);
    EmulatedSymmetric symmetric(p.steps[0], ranks, cache);
    for (unsigned launch = 0; launch < 5; ++launch) {
      std::vector<std::vector<Bytes>> memory = random_memory(rng, p.graph), expected = memory;
      const EmulatedRun ran = symmetric.run(memory, launch);
      for (const auto& f : ran.findings) ADD_FAILURE() << f.message;
      ASSERT_TRUE(ran.complete);
      collective_on_host(p.graph, p.graph.ops[0], expected);
      const int y = p.graph.outputs[0];
      for (int r = 0; r < ranks; ++r)
        EXPECT_TRUE(memory[r][y] == expected[r][y]) << "rank " << r << " of " << ranks << ", launch " << launch;
    }
  }
}

TEST(Symmetric, HasTheBitsOfTheHostInEveryLaunch) { expect_bits_of_the_host(Collectives::one_shot, 6); }
TEST(Symmetric, HasTheBitsOfTheHostInTwoShots) { expect_bits_of_the_host(Collectives::two_shots, 7); }

/// Random programs with kernels in which ranks exchange tiles: every rank's outputs are within the tolerance of the reference's.
TEST(Symmetric, RandomProgramsComputeWhatTheReferenceDoes) {
  test::Rng rng(15);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  int met = 0;
  constexpr Collectives hows[] = {Collectives::one_shot, Collectives::two_shots, Collectives::fused};
  for (int i = 0; i < (test::all_cases() ? 16 : 4); ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    const DType dtype = std::vector{DType::f16, DType::bf16, DType::f32}[static_cast<std::size_t>(i % 3)];
    const KernelGraph g = test::random_over_ranks(rng, ranks, dtype, 2);
    const RunResult r = run_ranks(g, {.compile = {.fuse = true}, .workers = 1, .collectives = hows[i % 3]}, cache);
    EXPECT_EQ(name(r.status), name(Status::correct)) << r.reason;
    for (const std::string& note : r.notes) met += note.starts_with("ranks exchange tiles");
  }
  EXPECT_GE(met, 2);
}

/// A residual and a norm are computed in the kernel in which ranks exchange tiles, and a product after them in another one.
TEST(Symmetric, TailIsComputedInTheSameKernel) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const std::int64_t rows :
       test::all_cases() ? std::vector<std::int64_t>{1, 5, 16} : std::vector<std::int64_t>{5}) {
    Builder b("g", 2);
    const auto x = b.input("x", {rows, 256}, DType::bf16), residual = b.input("residual", {rows, 256}, DType::bf16);
    const auto w = b.input("w", {256, 64}, DType::bf16);
    const auto r = all_reduce(x) + residual;
    b.output(r, "r"), b.output(matmul(rms_norm(r), w), "y");
    const KernelGraph g = b.build();
    const RankProgram p = compile_over_ranks(g, target::find("sm_90a"), {.fuse = true}, cache, Collectives::one_shot);
    ASSERT_EQ(p.steps.size(), 2u);
    EXPECT_TRUE(p.steps[0].by_symmetric);
    EXPECT_EQ(p.steps[0].program->manifest.kernels.size(), 1u);
    EXPECT_EQ(p.steps[0].segment.outputs.size(), 2u);
    EXPECT_EQ(p.steps[0].otherwise.size(), 2u);
    const RunResult ran = run_ranks(
        g, {.target = "sm_90a", .compile = {.fuse = true}, .workers = 1, .collectives = Collectives::one_shot}, cache);
    EXPECT_EQ(name(ran.status), name(Status::correct)) << ran.reason;
  }
}

/// So it is where the norm is spelled out as a mean of squares, and where its values by row are wanted.
TEST(Symmetric, NormThatIsSpelledOutIsInTheSameKernel) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const std::int64_t rows : {1, 16, 200}) {
    Builder b("g", 2);
    const auto r = all_reduce(b.input("x", {rows, 512}, DType::bf16)) + b.input("residual", {rows, 512}, DType::bf16);
    const auto wide = cast(r, DType::f32);
    const auto scale = rsqrt(mean(wide * wide, {1}, true) + 1e-5);
    b.output(r, "r"), b.output(scale, "scale");
    b.output(cast(wide * scale, DType::bf16) * b.input("w", {1, 512}, DType::bf16), "y");
    const KernelGraph g = b.build();
    const RankProgram p = compile_over_ranks(g, target::find("sm_90a"), {.fuse = true}, cache, Collectives::one_shot);
    ASSERT_EQ(p.steps.size(), 1u);
    EXPECT_TRUE(p.steps[0].by_symmetric);
    EXPECT_EQ(p.steps[0].program->manifest.kernels.size(), 1u) << rows;
    if (rows != 16 && !test::all_cases()) continue;
    const RunResult ran = run_ranks(
        g, {.target = "sm_90a", .compile = {.fuse = true}, .workers = 1, .collectives = Collectives::one_shot}, cache);
    EXPECT_EQ(name(ran.status), name(Status::correct)) << ran.reason;
  }
}

/// The plan as IR is the same after it is read, and one in which ranks cannot exchange tiles is refused.
TEST(Symmetric, IsPrintedAndReadAsIr) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const RankProgram p = compile_over_ranks(all_reduce_of(2, {4, 512}, DType::bf16), target::find("sm_80"), {}, cache,
                                           Collectives::one_shot);
  const emit::EmittedProgram& program = *p.steps.at(0).program;
  std::string text = ir::print(program);
  EXPECT_NE(text.find("  symmetric publishes g_x in g_window windows "), std::string::npos) << text;
  const emit::EmittedProgram again = ir::compile(text, "x.ir").program;
  EXPECT_EQ(ir::print(again), text);
  EXPECT_EQ(again.source, program.source);
  const std::string whole = "gmem g_state \"state\" int32 (";
  text.replace(text.find(whole), whole.size() + 1, whole + "9");
  try {
    ir::compile(text, "x.ir");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("exchange of ranks: the state is a number, and one for each block"),
              std::string::npos)
        << e.what();
  }
}

/// A step whose source has `text` replaced.
RankStep with_fault(const RankStep& step, const std::string& text, const std::string& by) {
  RankStep faulty = step;
  const std::size_t at = faulty.program->source.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  faulty.program->source.replace(at, text.size(), by);
  return faulty;
}

/// Returns the first finding of some launches, each in another order; "the wrong bits" if a result is wrong; "" if all is well.
std::string first_fault(const RankStep& step, const RankProgram& p, const toolchain::Cache& cache) {
  test::Rng rng(3);
  EmulatedSymmetric symmetric(step, p.graph.ranks, cache);
  for (unsigned launch = 0; launch < 6; ++launch) {
    std::vector<std::vector<Bytes>> memory = random_memory(rng, p.graph), expected = memory;
    const EmulatedRun ran = symmetric.run(memory, launch);
    if (!ran.findings.empty()) return ran.findings[0].message;
    collective_on_host(p.graph, p.graph.ops[0], expected);
    for (int r = 0; r < p.graph.ranks; ++r)
      if (memory[r][p.graph.outputs[0]] != expected[r][p.graph.outputs[0]]) return "the wrong bits";
  }
  return "";
}

TEST(Symmetric, FaultsAreFound) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const RankProgram p = compile_over_ranks(all_reduce_of(3, {4, 512}, DType::bf16), target::find("sm_80"), {}, cache,
                                           Collectives::one_shot);
  const RankStep& step = p.steps.at(0);
  EXPECT_EQ(first_fault(step, p, cache), "");
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"synchronize_symmetric<", "if (false) synchronize_symmetric<"},  // nobody waits
      {"publish<", "if (symmetric_block != 0) publish<"},               // one block does not publish
      {"epoch.half(", "(epoch.rank == 1 ? 0 : 1) * epoch.half("},       // a rank uses one half of its window alone
  };
  for (const auto& [text, by] : faults) EXPECT_NE(first_fault(with_fault(step, text, by), p, cache), "") << by;
}

}  // namespace
}  // namespace zellige::ranks
