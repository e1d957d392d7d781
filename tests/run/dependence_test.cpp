// Kernels that start before the previous one has ended (PDL), on the emulator: only constants are read before
// the wait, for any inputs declared constant, and each injected violation is found.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <random>

#include "../plan/flat_steps.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "generate.hpp"
#include "graph/builder.hpp"
#include "graph/error.hpp"
#include "json/json.hpp"
#include "kernel.hpp"
#include "reference/inputs.hpp"
#include "run/compile.hpp"

namespace zellige::run {
namespace {

reference::Array values(const graph::Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  reference::Array a{shape, {}};
  for (std::int64_t i = 0; i < graph::size(shape); ++i)
    a.values.push_back(static_cast<double>(random() % 17) / 16 - 0.5);
  return a;
}

std::vector<reference::Array> inputs_of(const graph::KernelGraph& g) {
  std::vector<reference::Array> inputs;
  for (const int t : g.inputs) inputs.push_back(values(g.tensors[t].shape, static_cast<unsigned>(t + 1)));
  return inputs;
}

/// Two kernels: T = (X W) accumulated over a loop, with prefetched copies, and Y = T + B.
graph::KernelGraph chain() {
  graph::Builder b("chain");
  const graph::TensorHandle X = b.input("X", {16, 256}), W = b.input("W", {256, 64}), B = b.input("B", {16, 64});
  const graph::TensorHandle T = b.custom({.grid = {2}, .block = {64}, .loop = 8}, [&](graph::BlockBuilder& t) {
    t.store(accum(matmul(t.load(X, {.loop = 1}), t.load(W, {.x = 1, .loop = 0}))), {.x = 1}, "T");
  })[0];
  b.output(b.custom({.grid = {2}, .block = {64}},
                    [&](graph::BlockBuilder& t) { t.store(t.load(T, {.x = 1}) + t.load(B, {.x = 1}), {.x = 1}); })[0],
           "Y");
  return b.build();
}

/// The emulator's first finding; the graph's inputs may be given, in their order.
std::string finding(const emit::EmittedProgram& p, const std::vector<reference::Array>& given = {}) {
  static const toolchain::Cache cache = toolchain::Cache::temporary();
  std::vector<Bytes> storage;
  std::size_t input = 0;
  for (const manifest::TensorPlace& t : p.manifest.tensors)
    if (t.role == manifest::Role::input)
      storage.push_back(pack(t, given.empty() ? values(t.shape, 3).values : given.at(input++).values));
    else
      storage.push_back(poisoned(t));
  const EmulatedRun r = run_emulated(p, storage, cache, 1);
  return r.findings.empty() ? "" : r.findings[0].message;
}

std::size_t place(const std::string& text, const char* what, std::size_t from = 0) {
  const std::size_t at = text.find(what, from);
  EXPECT_NE(at, text.npos) << what;
  return at;
}

TEST(Dependence, WhateverIsConstantTheResultIsRight) {
  for (unsigned set = 0; set < 8; ++set) {
    graph::KernelGraph g = chain();
    for (std::size_t i = 0; i < 3; ++i) g.tensors[g.inputs[i]].constant = set >> i & 1;
    expect_as_reference(g, inputs_of(g), 1e-2, 1e-2, "sm_90a");
  }
}

TEST(Dependence, ConstantsAreReadBeforeTheWait) {
  graph::KernelGraph g = chain();
  run::declare_constant(g, {"W", "B"});
  const std::string text = test::transpile(g, target::find("sm_90a")).source;
  const std::size_t wait = place(text, "griddep_wait();"), second = place(text, "griddep_wait();", wait + 1);
  EXPECT_LT(place(text, "gW("), wait) << text;
  EXPECT_GT(place(text, "gX("), wait) << text;
  EXPECT_EQ(text.find("griddep_wait();", second + 1), text.npos) << "one a kernel";
  // Without the declaration nothing is, and a target without the instruction has no word of it.
  const std::string simple = test::transpile(chain(), target::find("sm_90a")).source;
  EXPECT_LT(place(simple, "griddep_wait();"), place(simple, "gW("));
  EXPECT_EQ(test::transpile(g, target::find("sm_80")).source.find("griddep"), std::string::npos);
}

/// A row of X a block, through `bytes` of shared memory or so.
graph::KernelGraph rows(std::int64_t count, std::int64_t columns) {
  graph::Builder b("rows");
  const graph::TensorHandle X = b.input("X", {count, columns});
  b.output(b.custom({.grid = {count}, .block = {128}},
                    [&](graph::BlockBuilder& t) {
                      const graph::TileHandle x = t.load(X, {.x = 0});
                      t.store(x / reduction(x, 1), {.x = 0});
                    })[0],
           "Y");
  return b.build();
}

// Blocks that are placed before others have gone pile up where there is room.
TEST(Dependence, TheNextKernelStartsEarlyWhereTwoGridsHaveRoom) {
  const auto early = [](graph::KernelGraph g, bool constant = true) {
    g.tensors[g.inputs[0]].constant = constant;
    const std::string text = test::transpile(g, target::find("sm_90a")).source;
    const std::size_t at = text.find("griddep_launch_dependents();");
    EXPECT_TRUE(at == text.npos || at > text.find("griddep_wait();"));
    return at != text.npos;
  };
  EXPECT_TRUE(early(rows(132, 512)));
  EXPECT_TRUE(early(rows(132 * 8, 512)));  // 16 blocks of 128 threads a multiprocessor
  EXPECT_FALSE(early(rows(132 * 8 + 1, 512)));
  EXPECT_FALSE(early(rows(132, 512), false));  // nothing to read meanwhile
  EXPECT_FALSE(early(chain()));                // of two kernels
}

TEST(Dependence, AReadThatComesTooEarlyIsFound) {
  graph::KernelGraph g = chain();
  run::declare_constant(g, {"W", "B"});
  emit::EmittedProgram p = test::transpile(g, target::find("sm_90a"));
  EXPECT_EQ(finding(p), "");
  // Injected: W is not constant.
  emit::EmittedProgram wrong = p;
  for (manifest::TensorPlace& t : wrong.manifest.tensors) t.constant = t.constant && t.name != "W";
  EXPECT_TRUE(finding(wrong).starts_with("missing griddep_wait for global tensor W: ")) << finding(wrong);
  EXPECT_TRUE(finding(wrong).ends_with("and the kernel before may not have written them yet")) << finding(wrong);
  // Injected: a kernel does not wait.
  const std::size_t first = p.source.find("griddep_wait();"), second = p.source.find("griddep_wait();", first + 1);
  wrong = p;
  wrong.source.replace(first, 15, "");
  EXPECT_TRUE(finding(wrong).starts_with("missing griddep_wait for global tensor X: ")) << finding(wrong);
  wrong = p;
  wrong.source.replace(second, 15, "");
  EXPECT_TRUE(finding(wrong).starts_with("missing griddep_wait for global tensor T: ")) << finding(wrong);
  // Launched when the one before has ended it needs none.
  for (manifest::KernelLaunch& k : wrong.manifest.kernels) k.programmatic = false;
  EXPECT_EQ(finding(wrong), "");
}

TEST(Dependence, ExamplesMayHaveAnyConstants) {
  for (const char* name : {"lora", "mlp", "attention", "gemm"}) {
    graph::KernelGraph g = json::load(fmt::format(ZELLIGE_SOURCE_DIR "/examples/{}.json", name)).front();
    for (const int t : g.inputs) g.tensors[t].constant = true;
    EXPECT_EQ(finding(test::transpile(g, target::find("sm_90a"))), "") << name;
  }
}

// ZELLIGE_DEPENDENCE_RANDOM=200 takes that many instead of six.
TEST(Dependence, RandomGraphsMayHaveAnyConstants) {
  const char* asked = std::getenv("ZELLIGE_DEPENDENCE_RANDOM");
  const int count = asked ? std::atoi(asked) : 6;
  int early = 0, refused = 0;
  for (int seed = 1; seed <= count; ++seed) {
    graph::KernelGraph g = random_graphs::random_graph(seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    for (const int t : g.inputs) g.tensors[t].constant = random() % 2;
    std::optional<emit::EmittedProgram> p;
    try {
      p = test::transpile(g, target::find("sm_90a"));
    } catch (const Fault&) {
      throw;
    } catch (const Error&) {  // it asks for more than there is
      ++refused;
      continue;
    }
    // Indices of scatter are unique, or two threads may write the same row.
    EXPECT_EQ(finding(*p, reference::random_inputs(g, 1).arrays), "") << "seed " << seed;
    for (const kernel::Kernel& k : p->plan.kernels)
      for (const kernel::Agent& agent : k.agents)
        for (const kernel::Step& step : plan::flat(agent.steps)) {
          if (kernel::as<kernel::GriddepWait>(step)) break;
          early += step.global == kernel::Global::constants;
        }
  }
  EXPECT_LE(refused, count / 50);
  EXPECT_GT(early, 0) << "copies of constants before a wait";
}

// A table of constants is read where numbers say, and these are written by earlier work.
TEST(Dependence, ATableThatIsReadByNumbersWaitsForThem) {
  graph::Builder b("table");
  const graph::TensorHandle E = b.constant("E", {64, 32}), I = b.input("I", {16}, graph::DType::int32);
  b.output(gather(E, I), "Y");
  emit::EmittedProgram p = test::transpile(b.build(), target::find("sm_90a"));
  EXPECT_EQ(p.source.find("gE("), p.source.find("gE(", p.source.find("griddep_wait();")));
}

TEST(Dependence, AnUnknownConstantIsRefused) {
  graph::KernelGraph g = chain();
  try {
    run::declare_constant(g, {"w2"});
    FAIL() << "taken";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "graph chain has no input w2, which --constant names; known inputs are X, W, B; did you mean W?");
  }
}

}  // namespace
}  // namespace zellige::run
