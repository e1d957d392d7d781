// Attention kernels on warpgroups: head dimensions in steps of 8, lengths that no tile divides, masks,
// grouped heads, tensors with heads first or last. ZELLIGE_ATTENTIONS=100 draws more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "fuse/assemble.hpp"
#include "graph/builder.hpp"
#include "graph/error.hpp"
#include "graph/view.hpp"
#include "json/json.hpp"
#include "plan/plan.hpp"
#include "run/run.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::TensorHandle;

struct Attention {
  std::int64_t batch = 1, heads = 2, shared = 1, queries = 128, keys = 128, dim = 64;
  bool causal = false, heads_last = false;
  DType dtype = DType::f16;
};

std::string told(const Attention& a) {
  return fmt::format("batch {}, {} heads, {} share keys, {} queries, {} keys, dimension {}{}{}, {}", a.batch, a.heads,
                     a.shared, a.queries, a.keys, a.dim, a.causal ? ", causal" : "", a.heads_last ? ", heads last" : "",
                     graph::name(a.dtype));
}

TensorHandle by_heads(Builder& b, const Attention& a, const char* name, std::int64_t heads, std::int64_t n) {
  if (!a.heads_last) return b.input(name, {a.batch, heads, n, a.dim}, a.dtype);
  return permute(b.input(name, {a.batch, n, heads, a.dim}, a.dtype), {0, 2, 1, 3});
}

/// For each head of a group, as torch's repeat_interleave.
TensorHandle repeated(TensorHandle x, std::int64_t times) {
  if (times == 1) return x;
  const graph::Shape s = x.shape();
  return reshape(expand(reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], times, s[2], s[3]}),
                 {s[0], s[1] * times, s[2], s[3]});
}

KernelGraph graph_of(const Attention& a) {
  Builder b("attention");
  const TensorHandle q = by_heads(b, a, "Q", a.heads, a.queries), k = by_heads(b, a, "K", a.heads / a.shared, a.keys),
                     v = by_heads(b, a, "V", a.heads / a.shared, a.keys);
  TensorHandle scores =
      matmul(q, repeated(permute(k, {0, 1, 3, 2}), a.shared)) * (1 / std::sqrt(static_cast<double>(a.dim)));
  if (a.causal) scores = mask(scores, {.tril = 0});
  b.output(matmul(cast(softmax(scores, 3), a.dtype), repeated(v, a.shared)), "O");
  return b.build();
}

/// One kernel of all operators that are no views, in the first of its tilings, in a random order, that is a chain on warpgroups.
std::optional<KernelGraph> chain(const KernelGraph& g, std::mt19937& random) {
  std::vector<int> ops;
  std::vector<Group> views;
  for (int i = 0; i < static_cast<int>(g.ops.size()); ++i)
    if (graph::is_view(g.ops[static_cast<std::size_t>(i)].kind))
      views.push_back({{i}, {}, 0});
    else
      ops.push_back(i);
  std::string why;
  std::vector<candidate::GroupKernel> kernels = candidate::kernels_of(g, ops, target::find("sm_90a"), why);
  std::ranges::shuffle(kernels, random);
  for (const candidate::GroupKernel& k : kernels) {
    if (k.parts.size() > 1) continue;
    std::vector<Group> groups = views;
    groups.push_back({k.ops, {k}, 0});
    KernelGraph fused = assemble(g, groups).graph;
    try {
      const plan::Plan plan = test::make_plan(fused, target::find("sm_90a"));
      const auto chained = [](const kernel::Work& w) { return w.matmul.chained(); };
      if (plan.kernels.size() == 1 && kernel::find_work(plan.kernels[0], chained)) return fused;
    } catch (const Error&) {  // tiles that do not fit
    }
  }
  return std::nullopt;
}

void expect_right(const KernelGraph& g) {
  const run::RunResult r =
      run::run(g, {.on = run::Machine::emulator, .target = "sm_90a"}, toolchain::Cache::standard());
  EXPECT_TRUE(r.status == run::Status::correct || r.status == run::Status::borderline) << r.reason << "\n"
                                                                                       << json::to_json(g);
}

Attention drawn(std::mt19937& random) {
  const auto up_to = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  Attention a;
  a.batch = 1 + up_to(2), a.shared = 1 + up_to(3), a.heads = a.shared * (1 + up_to(2));
  a.dim = 16 + 8 * up_to(31), a.queries = 1 + up_to(200), a.keys = 65 + up_to(500);
  a.causal = up_to(2) == 0, a.heads_last = up_to(2) == 0;
  if (a.causal) a.queries = a.keys = 65 + up_to(200);
  a.dtype = up_to(2) == 0 ? DType::f16 : DType::bf16;
  return a;
}

TEST(FuseAttention, RunsOnWarpgroupsAtRandomSizes) {
  const char* more = std::getenv("ZELLIGE_ATTENTIONS");
  const int draws = more ? std::atoi(more) : test::all_cases() ? 5 : 3;
  int ran = 0;
  for (int i = 0; i < draws; ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    const Attention a = drawn(random);
    SCOPED_TRACE(fmt::format("draw {}: {}", i, told(a)));
    const std::optional<KernelGraph> found = chain(graph_of(a), random);
    if (!found) continue;
    expect_right(*found);
    ++ran;
  }
  EXPECT_GT(2 * ran, draws) << "few of the draws have a kernel on warpgroups";
}

// Heads that share keys read them where they lie: no copy, whatever the layout and the mask.
TEST(FuseAttention, ReadsSharedKeysInPlace) {
  for (const bool heads_last : {false, true})
    for (const bool causal : {false, true}) {
      const Attention a{.batch = 2,
                        .heads = 6,
                        .shared = 3,
                        .queries = 128,
                        .keys = 128,
                        .dim = 80,
                        .causal = causal,
                        .heads_last = heads_last};
      SCOPED_TRACE(told(a));
      std::mt19937 random(7);
      const std::optional<KernelGraph> found = chain(graph_of(a), random);
      ASSERT_TRUE(found);
      if (heads_last == causal) expect_right(*found);
    }
}

// One key head for all heads, and keys that an unfused operator also reads: that operator needs them
// repeated.
TEST(FuseAttention, RepeatsKeysWhereAnotherOperatorReadsThem) {
  std::mt19937 random(7);
  const std::optional<KernelGraph> one = chain(graph_of({.heads = 3, .shared = 3, .keys = 192}), random);
  ASSERT_TRUE(one);
  expect_right(*one);
  Builder b("both");
  const TensorHandle k = repeated(b.input("K", {1, 2, 128, 64}), 2);
  b.output(matmul(softmax(matmul(b.input("Q", {1, 4, 128, 64}), permute(k, {0, 1, 3, 2})), 3), k), "O");
  b.output(k, "repeated");
  const KernelGraph g = b.build();
  for (const char* target : {"sm_80", "sm_90a"}) {
    const run::RunResult r = run::run(g, {.on = run::Machine::emulator, .target = target, .compile = {.fuse = true}},
                                      toolchain::Cache::standard());
    EXPECT_TRUE(r.status == run::Status::correct || r.status == run::Status::borderline) << r.reason;
  }
}

}  // namespace
}  // namespace zellige::fuse
