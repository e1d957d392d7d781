// Programs over ranks: on the emulator against the reference of all ranks together.
#include "ranks.hpp"

#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "graph/dtype.hpp"
#include "ranks/over_ranks.hpp"
#include "ranks/rank_program.hpp"
#include "ranks/run_ranks.hpp"

namespace zellige::ranks {
namespace {

using namespace run;
using graph::Builder, graph::DType, graph::KernelGraph, graph::Shape;
using reference::Array;

/// Random programs: every rank's outputs are within the tolerance of the reference's.
TEST(Ranks, RandomProgramsComputeWhatTheReferenceDoes) {
  test::Rng rng(4);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (int i = 0; i < (test::all_cases() ? 40 : 4); ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    const DType dtype = std::vector{DType::f16, DType::bf16, DType::f32}[static_cast<std::size_t>(i % 3)];
    const KernelGraph g = test::random_over_ranks(rng, ranks, dtype, 2);
    const RunResult r = run_ranks(g, {.on = Machine::emulator, .compile = {.fuse = i % 2 == 0}, .workers = 1}, cache);
    EXPECT_EQ(name(r.status), name(Status::correct)) << r.reason;
    int outputs = 0;
    for (const TensorResult& t : r.tensors) outputs += t.output;
    EXPECT_EQ(outputs, ranks);
  }
}

Array random(test::Rng& rng, const Shape& shape, DType dtype) {
  Array a = reference::make_array(shape);
  for (double& v : a.values) v = graph::round_to(dtype, static_cast<double>(rng.between(-1000, 1000)) / 64);
  return a;
}

/// Collectives on the host are those of the elements, and sums have the same bits on all ranks.
TEST(Ranks, CollectivesOnTheHostAreThoseOfTheElements) {
  test::Rng rng(11);
  for (int i = 0; i < 60; ++i) {
    const int ranks = 1 + i % 5;
    const DType dtype = std::vector{DType::bf16, DType::f16, DType::f32, DType::int32}[static_cast<std::size_t>(i % 4)];
    Builder b("g", ranks);
    const auto x = b.input("x", {ranks * rng.between(1, 3), ranks * rng.between(1, 4)}, dtype);
    const int dim = static_cast<int>(rng.below(2));
    b.output(all_reduce(x)), b.output(all_reduce_max(x)), b.output(all_gather(x, dim));
    b.output(reduce_scatter(x, dim)), b.output(all_to_all(x, dim, 1 - dim));
    b.output(broadcast(x, static_cast<int>(rng.below(ranks))));
    const KernelGraph g = b.build();
    const manifest::TensorPlace from = place_of_rank(g.tensors[0], manifest::Role::input, 0);
    std::vector<std::vector<Bytes>> memory(static_cast<std::size_t>(ranks), std::vector<Bytes>(g.tensors.size()));
    std::vector<Array> arrays;
    for (std::vector<Bytes>& mine : memory) {
      arrays.push_back(random(rng, x.shape(), dtype));
      if (dtype == DType::int32)
        for (double& v : arrays.back().values) v = std::floor(v);
      mine[0] = pack(from, arrays.back().values);
    }
    for (const graph::KernelOp& op : g.ops) {
      collective_on_host(g, op, memory);
      const auto y = static_cast<std::size_t>(op.outputs[0]);
      const manifest::TensorPlace to = place_of_rank(g.tensors[y], manifest::Role::output, 0);
      const std::vector<Array> expected = test::collective(op, arrays);
      for (std::size_t r = 0; r < memory.size(); ++r) {
        std::vector<double> rounded = expected[r].values;
        for (double& v : rounded) v = graph::round_to(dtype, v);
        EXPECT_EQ(unpack(to, memory[r][y]), rounded) << graph::name(op.kind) << ", rank " << r << " of " << ranks;
        if (op.kind == graph::OpKind::all_reduce) EXPECT_EQ(memory[r][y], memory[0][y]);
      }
    }
  }
}

/// A rank that computes something else than the reference is found, with its number.
TEST(Ranks, WrongRankIsNamed) {
  Builder b("g", 3);
  const auto x = b.input("x", {4, 8}, DType::f32);
  b.output(all_reduce(relu(x)) + x, "y");
  const KernelGraph g = b.build(), over = over_ranks(g);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const reference::RandomInputs inputs = reference::random_inputs(over, 1);
  RankProgram p = compile_over_ranks(g, target::find("sm_80"), {}, cache);
  RunResult right{.status = Status::correct}, wrong = right;
  RanksRun ran = run_ranks_emulated(p, over, inputs, cache, 1);
  check_all(over, ran.manifest, ran.storage, inputs, right);
  EXPECT_EQ(name(right.status), name(Status::correct)) << right.reason;
  for (RankStep& step : p.steps)
    if (!step.program) step.segment.collective.kind = graph::OpKind::all_reduce_max;
  ran = run_ranks_emulated(p, over, inputs, cache, 1);
  check_all(over, ran.manifest, ran.storage, inputs, wrong);
  EXPECT_EQ(name(wrong.status), name(Status::wrong));
  EXPECT_TRUE(wrong.reason.starts_with("g: tensor ")) << wrong.reason;
  EXPECT_NE(wrong.reason.find("@0: "), std::string::npos) << wrong.reason;
}

std::string refusal(const KernelGraph& g, RunOptions o) {
  o.workers = 1;
  const RunResult r = run_ranks(g, o, toolchain::Cache::temporary());
  EXPECT_EQ(name(r.status), name(Status::refused));
  return r.reason;
}

TEST(Ranks, RefusalsSayWhatToDo) {
  Builder b("mlp", 2);
  b.output(all_reduce(relu(b.input("x", {4, 8}))), "y");
  const KernelGraph g = b.build();
  EXPECT_EQ(refusal(g, {.on = Machine::gpu}),
            "mlp: its graph is over 2 ranks: expected 2 processes, as torchrun and mpirun start them, found no "
            "WORLD_SIZE; give "
            "--on emulator to run all ranks in this one");
  EXPECT_EQ(refusal(g, {.compile = {.tune = 3}}), "mlp: --tune: a graph over 2 ranks is not tuned");
  try {
    compile(g, target::find("sm_80"), {.fuse = true});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "graph mlp, operator 1 (all_reduce): expected a graph without collectives, found one over 2 ranks; `zellige "
        "run` runs it, as programs between its collectives");
  }
}

}  // namespace
}  // namespace zellige::ranks
