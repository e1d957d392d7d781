// Checking by sample finds errors in a sampled tile, and reports the sample.
#include "run/check.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../unfused.hpp"
#include "fuse/assemble.hpp"
#include "graph/builder.hpp"
#include "run/compile.hpp"
#include "target/target.hpp"

namespace zellige::run {
namespace {

using namespace graph;

/// A program and what a right run of it leaves: the reference's own values.
struct Right {
  KernelGraph graph;
  emit::EmittedProgram program;
  reference::RandomInputs inputs;
  std::vector<Bytes> storage;

  explicit Right(KernelGraph g)
      : graph(fuse::separate(g, target::find("sm_80"))), program(run::transpile(graph, target::find("sm_80"))) {
    inputs = reference::random_inputs(graph, 1);
    for (const manifest::TensorPlace& t : program.manifest.tensors) {
      const int at = graph_tensor(graph, t);
      if (t.role == manifest::Role::input)
        storage.push_back(pack(t, inputs.arrays[static_cast<std::size_t>(t.position)].values));
      else
        storage.push_back(pack(t, inputs.reference.tensors[static_cast<std::size_t>(at)].values));
    }
  }

  int place(const std::string& name) const {
    for (std::size_t i = 0; i < program.manifest.tensors.size(); ++i)
      if (program.manifest.tensors[i].name == name) return static_cast<int>(i);
    ADD_FAILURE() << "no tensor " << name;
    return 0;
  }

  void plant(const std::string& name, std::int64_t element, double by) {
    const auto at = static_cast<std::size_t>(place(name));
    std::vector<double> values = unpack(program.manifest.tensors[at], storage[at]);
    values[static_cast<std::size_t>(element)] += by;
    storage[at] = pack(program.manifest.tensors[at], values);
  }

  RunResult check(std::uint64_t seed, reference::SampleLimits limits = {}) const {
    RunResult r{.graph = graph.name, .seed = seed, .status = Status::correct};
    reference::InputChoice choice =
        inputs;  // which tiles are taken follows from the seed; the inputs stay those of the storage
    choice.seed = seed;
    for (std::size_t i = 0; i < inputs.arrays.size(); ++i)
      choice.given[i] = std::make_shared<reference::Array>(inputs.arrays[i]);
    check_sample(graph, program.manifest, storage, choice, {.threads = 2, .limits = limits}, r);
    return r;
  }
};

KernelGraph mlp() {
  Builder b("mlp");
  const TensorHandle X = b.input("X", {512, 512}), W = b.input("W", {512, 256}), V = b.input("V", {256, 384});
  b.output(matmul(softmax(matmul(X, W), 1), V), "Y");
  return b.build();
}

TEST(Check, ARightRunIsCorrect) {
  Right right(mlp());
  const RunResult r = right.check(1);
  EXPECT_EQ(r.status, Status::correct) << r.reason;
  EXPECT_EQ(r.reason, "");
  const TensorResult& y = r.tensors.back();
  EXPECT_EQ(y.name, "Y");
  EXPECT_EQ(y.tiles, 12);
  EXPECT_EQ(y.of_tiles, 12);
  EXPECT_EQ(y.from, (std::vector<std::string>{"X", "W", "V"}));
  EXPECT_EQ(describe_sample(r, y), "Y by sample: 12 of 12 tiles of 128x128 (100%, seed 1), from the inputs X, W, V");
}

// With all tiles taken, a wrong value is found wherever it is, and called by its place in the whole.
TEST(Check, AllTilesFindAWrongValueAnywhere) {
  for (const std::int64_t element : {0L, 511L * 384 + 383, 200L * 384 + 300, 128L * 384 + 127}) {
    Right right(mlp());
    right.plant("Y", element, 1000);
    const RunResult r = right.check(1);
    EXPECT_EQ(r.status, Status::wrong);
    EXPECT_NE(r.reason.find(fmt::format("mlp: tensor Y: relative norm ")), std::string::npos) << r.reason;
    EXPECT_NE(r.reason.find(fmt::format(", worst at ({}, {}): ", element / 384, element % 384)), std::string::npos)
        << r.reason;
    EXPECT_NE(r.reason.find(", 1 elements wrong"), std::string::npos) << r.reason;
  }
}

// 4 of 12 tiles, the last among them: one of the other 11 is found by 3 seeds of 11, and by exactly those that take it.
TEST(Check, ASampleFindsAWrongTileAsOftenAsItTakesIt) {
  Right right(mlp());
  right.plant("Y", 130 * 384 + 5, 1000);  // tile 3
  const reference::SampleLimits limits{.work = 4e10, .max_tiles = 4};
  int found = 0;
  constexpr int seeds = 66;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const RunResult r = right.check(seed, limits);
    const std::vector<reference::Sample> samples =
        reference::sample(right.graph, {right.graph.ops.back().outputs[0]}, seed, limits);
    const auto& tiles = samples[0].tiles;
    const bool taken = std::find(tiles.begin(), tiles.end(), 3) != tiles.end();
    EXPECT_EQ(r.status, taken ? Status::wrong : Status::correct) << "seed " << seed << ": " << r.reason;
    EXPECT_EQ(r.tensors.back().tiles, 4);
    found += r.status == Status::wrong;
  }
  EXPECT_NEAR(found, seeds * 3.0 / 11, 4 * std::sqrt(seeds * 3.0 / 11 * 8 / 11));
  Right last(mlp());
  last.plant("Y", 511 * 384 + 383, 1000);
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(last.check(seed, limits).status, Status::wrong);
}

// A kernel may store a tensor with merged dimensions, under a name of its own; it is compared as the graph declares it.
TEST(Check, ATensorStoredInAnotherShapeIsCompared) {
  Builder b("merged");
  const TensorHandle T = exp(b.input("X", {4, 8, 32}));
  b.output(softmax(T, 2), "Y");
  const KernelGraph g = b.build();
  Right right(g);
  right.graph = g;
  const std::string t = g.tensors[static_cast<std::size_t>(g.ops[0].outputs[0])].name;
  const manifest::TensorPlace& place =
      right.program.manifest.tensors[static_cast<std::size_t>(right.place(fuse::stored_name(t)))];
  ASSERT_NE(place.shape, (Shape{4, 8, 32}));
  const RunResult correct = right.check(1);
  EXPECT_EQ(correct.status, Status::correct) << correct.reason;
  ASSERT_EQ(correct.tensors.size(), 2u);
  EXPECT_EQ(correct.tensors[0].name, t);
  EXPECT_EQ(correct.tensors[0].shape, (Shape{4, 8, 32}));
  right.plant(fuse::stored_name(t), (1 * 8 + 2) * 32 + 3, 1000);
  const RunResult wrong = right.check(1);
  EXPECT_EQ(wrong.status, Status::wrong);
  EXPECT_NE(wrong.reason.find("worst at (1, 2, 3): "), std::string::npos) << wrong.reason;
}

TEST(Check, NamesOfStoredTensorsAreReadBack) {
  EXPECT_EQ(fuse::declared_name(fuse::stored_name("T")), "T");
  EXPECT_EQ(fuse::declared_name(fuse::stored_name("T_kept") + "__"), "T_kept");
  EXPECT_EQ(fuse::declared_name("T"), "");
  EXPECT_EQ(fuse::declared_name("T_kept2"), "");
}

// Unwritten elements are found in the whole tensor, sampled or not.
TEST(Check, WhatWasNeverWrittenIsSeenEverywhere) {
  Right right(mlp());
  const auto y = static_cast<std::size_t>(right.place("Y"));
  for (std::size_t i = 2000; i < 2100; ++i) right.storage[y][i] = std::byte{0xff};
  const reference::SampleLimits one{.work = 1, .max_tiles = 1};
  const RunResult r = right.check(1, one);
  EXPECT_EQ(r.status, Status::wrong);
  EXPECT_EQ(r.reason, "mlp: tensor Y: 50 of its 196608 elements were never written");
  EXPECT_EQ(r.tensors.back().fault, "50 of its 196608 elements were never written");
}

// Stage by stage: a wrong intermediate is reported, and later values are checked against the inputs that they
// received.
TEST(Check, StagesAreCheckedAgainstWhatTheRunGaveThem) {
  Right right(mlp());
  std::string middle;
  for (const manifest::TensorPlace& t : right.program.manifest.tensors)
    if (t.role == manifest::Role::intermediate && t.shape == Shape{512, 256}) middle = t.name;
  ASSERT_NE(middle, "");
  right.plant(middle, 511 * 256 + 255, 500);  // in the last tile, which every sample takes
  const reference::SampleLimits few{.work = 1e7, .max_tiles = 2};
  const RunResult staged = right.check(1, few);
  EXPECT_EQ(staged.status, Status::wrong);
  EXPECT_TRUE(staged.reason.starts_with("mlp: tensor " + middle + ": relative norm ")) << staged.reason;
  EXPECT_NE(staged.reason.find(", worst at (511, 255): "), std::string::npos) << staged.reason;
  const TensorResult& y = staged.tensors.back();
  EXPECT_TRUE(y.staged);
  EXPECT_EQ(y.from, (std::vector<std::string>{"V", middle}));
  EXPECT_NE(y.fault, "") << "Y is no longer what follows from the wrong value";
  EXPECT_EQ(describe_sample(staged, y), fmt::format("Y by sample: 1 of 12 tiles of 128x128 (8.33%, seed 1), stage by "
                                                    "stage from V, {}",
                                                    middle));
}

// Like check_all, on attention that needs all keys, in every dtype.
TEST(Check, AgreesWithTheCheckOfTheWhole) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    Builder b("attention");
    const TensorHandle Q = b.input("Q", {2, 150, 32}, dtype), K = b.input("K", {2, 32, 200}, dtype),
                       V = b.input("V", {2, 200, 32}, dtype);
    const TensorHandle P = exp(matmul(Q, K) * 0.17);
    b.output(matmul(P, V) / reduction(P, 2), "O");
    Right right(b.build());
    for (const bool injected : {false, true}) {
      if (injected) right.plant("O", 170 * 32 + 3, 2);
      RunResult full{.status = Status::correct};
      check_all(right.graph, right.program.manifest, right.storage, right.inputs, full);
      const RunResult r = right.check(1);
      EXPECT_EQ(r.status, injected ? Status::wrong : Status::correct) << r.reason;
      EXPECT_EQ(full.status, r.status) << full.reason;
      ASSERT_EQ(full.tensors.size(), r.tensors.size());
      for (std::size_t i = 0; i < r.tensors.size(); ++i)
        EXPECT_EQ(full.tensors[i].out_of_tolerance, r.tensors[i].out_of_tolerance);
    }
  }
}

TEST(Check, NothingFiniteIsNothingToCompare) {
  Builder b("g");
  b.output(mul_scalar(b.input("X", {8, 8}), 1), "Y");
  Right right(b.build());
  reference::InputChoice choice = right.inputs;
  choice.exponents = {1000};  // beyond the largest f16
  for (const manifest::TensorPlace& t : right.program.manifest.tensors)
    if (t.role == manifest::Role::output)
      right.storage[static_cast<std::size_t>(right.place("Y"))] =
          pack(t, reference::input_part(right.graph, choice, 0, reference::whole(t.shape)).values);
  RunResult r{.status = Status::correct};
  check_sample(right.graph, right.program.manifest, right.storage, choice, {}, r);
  EXPECT_EQ(r.status, Status::refused);
  EXPECT_EQ(r.reason, "g: tensor Y: nothing finite is expected in 1 tiles of 1; there is nothing to compare");
}

TEST(Check, IsBySampleFromSomeSizeOn) {
  Builder b("small");
  const TensorHandle A = b.input("A", {2048, 2048}), B = b.input("B", {2048, 2048});
  b.output(matmul(A, B));
  EXPECT_EQ(standard_check(b.build()), Check::full);
  Builder c("large");
  const TensorHandle C = c.input("C", {4096, 4096}), D = c.input("D", {4096, 4096});
  c.output(matmul(C, D));
  EXPECT_EQ(standard_check(c.build()), Check::sampled);
}

}  // namespace
}  // namespace zellige::run
