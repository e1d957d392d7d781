// Attention over keys of which each sequence has its own number, in a tensor on the device: right for any lengths, and tiles of keys
// beyond a sequence's length are neither copied nor multiplied.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "run/compile.hpp"

namespace zellige::run {
namespace {

using graph::Builder, graph::DType, graph::TensorHandle;

struct Attention {
  const char *name, *target;
  std::int64_t batch, heads, queries, keys, depth;
  bool causal;
};

graph::KernelGraph graph_of(const Attention& a) {
  Builder b(a.name);
  const TensorHandle q = b.input("q", {a.batch, a.heads, a.queries, a.depth}),
                     k = b.input("k", {a.batch, a.heads, a.keys, a.depth}),
                     v = b.input("v", {a.batch, a.heads, a.keys, a.depth}),
                     lengths = b.input("lengths", {a.batch, 1, 1, 1}, DType::int32);
  const TensorHandle scores = matmul(q, permute(k, {0, 1, 3, 2})) * 0.125;
  graph::Kept kept;
  if (a.causal) kept.tril = a.keys - a.queries;
  b.output(matmul(softmax(mask(scores, lengths, kept), 3), v), "y");
  return b.build();
}

struct Result {
  std::vector<double> y;
  std::uint64_t products = 0, bytes = 0;
};

Result ran(const graph::KernelGraph& g, const emit::EmittedProgram& p, const std::vector<reference::Array>& inputs,
           const toolchain::Cache& cache) {
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : p.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun run = run_emulated(p, storage, cache, 2);
  for (const auto& f : run.findings) ADD_FAILURE() << g.name << ": " << f.message;
  Result r;
  for (const EmulatedKernel& k : run.kernels) {
    r.products += k.counters[emulate::Counter::mma] + k.counters[emulate::Counter::wgmma];
    for (const emulate::Counter c : {emulate::Counter::cp_async_source_bytes, emulate::Counter::tma_load_bytes})
      r.bytes += k.counters[c];
  }
  for (std::size_t t = 0; t < storage.size(); ++t)
    if (p.manifest.tensors[t].role == manifest::Role::output) r.y = unpack(p.manifest.tensors[t], storage[t]);
  return r;
}

void expect_right(const Attention& a, const std::vector<std::int64_t>& lengths, const graph::KernelGraph& g,
                  const emit::EmittedProgram& p, const toolchain::Cache& cache, Result& r) {
  std::vector<reference::Array> inputs;
  for (const int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
  for (std::size_t i = 0; i < lengths.size(); ++i) inputs[3].values[i] = static_cast<double>(lengths[i]);
  r = ran(g, p, inputs, cache);
  const std::vector<double> right = reference::run_reference(g, inputs)[0].values;
  ASSERT_EQ(r.y.size(), right.size()) << a.name;
  for (std::size_t i = 0; i < right.size(); ++i)
    ASSERT_NEAR(r.y[i], right[i], 0.02 * std::fabs(right[i]) + 0.02) << a.name << ", element " << i;
}

TEST(Lengths, TilesBeyondThemTakeNoWork) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::mt19937 random(6002);
  for (const Attention& a :
       {Attention{"decode", "sm_80", 3, 2, 4, 512, 64, false}, Attention{"causal", "sm_80", 2, 2, 32, 256, 64, true},
        Attention{"prefill", "sm_90a", 2, 2, 128, 512, 64, true}}) {
    const graph::KernelGraph g = graph_of(a);
    const emit::EmittedProgram p = compile(g, target::find(a.target), {.fuse = true}).program;
    SCOPED_TRACE(fmt::format("{} on {}", a.name, a.target));
    EXPECT_NE(ir::print(p).find(" lengths %"), std::string::npos) << ir::print(p);
    std::vector<std::int64_t> all(static_cast<std::size_t>(a.batch), a.keys), few(all.size(), 3), some;
    for (std::size_t i = 0; i < all.size(); ++i)
      some.push_back(std::uniform_int_distribution<std::int64_t>(1, a.keys)(random));
    Result whole, short_ones, drawn;
    expect_right(a, all, g, p, cache, whole);
    expect_right(a, few, g, p, cache, short_ones);
    expect_right(a, some, g, p, cache, drawn);
    EXPECT_LT(short_ones.products, whole.products);
    EXPECT_LE(drawn.products, whole.products);
    EXPECT_LT(short_ones.bytes, whole.bytes);
    some[0] = 2 * a.keys;  // beyond the keys: all of them
    expect_right(a, some, g, p, cache, drawn);
  }
}

TEST(Lengths, ALoopThatLeavesItsLastIterationToStepsAfterIt) {
  const graph::KernelGraph g = graph_of({"causal", "sm_90a", 1, 2, 256, 256, 64, true});
  plan::Plan plan = compile(g, target::find("sm_90a"), {.fuse = true}).program.plan;
  const auto source = [&] { return emit::from_plan(plan, g.name, {}, false).source; };
  const auto has = [](const std::string& text, const char* what) { return text.find(what) != std::string::npos; };
  EXPECT_TRUE(has(source(), "it < trips;")) << source();
  for (kernel::Kernel& k : plan.kernels)
    for (kernel::Agent& agent : k.agents)
      for (kernel::Step& step : agent.steps)
        if (kernel::Loop* loop = kernel::as<kernel::Loop>(step); loop && loop->bounded) {
          loop->from -= loop->from == loop->trip_count ? 1 : 0;
          loop->trip_count -= 1;
        }
  EXPECT_TRUE(has(source(), "it < trips - 1;")) << source();
  EXPECT_FALSE(has(source(), "it < trips;")) << source();
}

}  // namespace
}  // namespace zellige::run
