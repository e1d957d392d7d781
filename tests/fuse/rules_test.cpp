// Each rule separately, in every kernel that it produces: loops, running maxima, factors applied after
// accumulation, and loops split over blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "../all_cases.hpp"
#include "fuse/assemble.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "run/run.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::OpKind;
using graph::Shape;
using graph::TensorHandle;

struct Rule {
  const char* name;
  std::function<TensorHandle(Builder&)> body;
  /// The expected contents of one of its kernels: the operators of its first part, and the number of kernels
  /// into which it is split.
  std::vector<OpKind> holds;
  std::size_t parts = 1;
};

/// Kernels of all operators that are no views.
std::vector<candidate::GroupKernel> kernels(const KernelGraph& g) {
  std::vector<int> ops;
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (g.ops[i].kind != OpKind::permute) ops.push_back(static_cast<int>(i));
  std::string why;
  std::vector<candidate::GroupKernel> found = candidate::kernels_of(g, ops, target::find("sm_90a"), why);
  EXPECT_FALSE(found.empty()) << g.name << ": " << why;
  return found;
}

KernelGraph fused(const KernelGraph& g, const candidate::GroupKernel& k) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (g.ops[i].kind == OpKind::permute) groups.push_back({{static_cast<int>(i)}, {}, 0});
  groups.push_back({k.ops, {k}, 0});
  return assemble(g, groups).graph;
}

bool holds(const candidate::GroupKernel& k, OpKind kind) {
  return std::ranges::any_of(k.parts[0].block->ops, [&](const graph::BlockOp& op) { return op.kind == kind; });
}

TensorHandle scores(Builder& b) {
  return matmul(b.input("Q", {2, 16, 32}), permute(b.input("K", {2, 512, 32}), {0, 2, 1})) * 0.25;
}
TensorHandle values(Builder& b) { return b.input("V", {2, 512, 32}); }

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"factor",
       [](Builder& b) {
         const DType d = DType::bf16;  // in f16 what lacks its factor could overflow
         return matmul(rms_norm(b.input("X", {16, 512}, d), b.input("g", {512}, d), 1e-5), b.input("W", {512, 64}, d));
       },
       {OpKind::accum, OpKind::accum_red_sum}},
      {"factor_right",
       [](Builder& b) {
         TensorHandle w = b.input("W", {512, 64});
         return matmul(b.input("X", {16, 512}), w / sqrt(sum(square(w), 0, true)));
       },
       {OpKind::accum, OpKind::reduction},
       2},
      {"bias",
       [](Builder& b) {
         return relu(matmul(b.input("X", {16, 512}), b.input("W", {512, 64}), b.input("c", {64})));
       },
       {OpKind::accum, OpKind::add}},
      {"maximum_of_all",
       [](Builder& b) {
         return exp(amax(matmul(b.input("X", {16, 64}), b.input("W", {64, 64})), {0, 1}, true) * 0.125);
       },
       {OpKind::amax}},
      {"two_products",
       [](Builder& b) {
         TensorHandle x = b.input("X", {16, 512});
         return silu(matmul(x, b.input("G", {512, 64}))) * matmul(x, b.input("U", {512, 64}));
       },
       {OpKind::accum, OpKind::matmul},
       2},
      {"softmax",
       [](Builder& b) { return matmul(softmax(scores(b), 2), values(b)); },
       {OpKind::reduction_max, OpKind::accum_rescale}},
      {"softmax_split",
       [](Builder& b) { return matmul(softmax(scores(b), 2), values(b)); },
       {OpKind::accum_max, OpKind::expand},
       2},
      {"safe_softmax",
       [](Builder& b) { return matmul(safe_softmax(mask(scores(b), {.length = 300}), 2), values(b)); },
       {OpKind::reduction_max, OpKind::mask},
       2},
      {"lengths",
       [](Builder& b) {
         TensorHandle l = b.input("L", {2, 1, 1}, DType::int32);
         return matmul(safe_softmax(mask(scores(b), l), 2), values(b));
       },
       {OpKind::reduction_max, OpKind::mask},
       2},
      {"causal",
       [](Builder& b) { return matmul(softmax(mask(scores(b), {.tril = 496}), 2), values(b)); },
       {OpKind::reduction_max, OpKind::mask}},
      {"other_base",
       [](Builder& b) {
         TensorHandle s = scores(b), e = exp((s - amax(s, 2, true)) * 0.5);
         return matmul(e, values(b)) / sum(e, 2, true);
       },
       {OpKind::reduction_max, OpKind::accum_rescale},
       2},
      {"no_maximum",
       [](Builder& b) {
         TensorHandle e = exp(scores(b));
         return matmul(e, values(b)) / reduction(e, 2);
       },
       {OpKind::accum, OpKind::expand},
       2},
      {"logsumexp",
       [](Builder& b) {
         return logsumexp(matmul(b.input("X", {16, 32}), b.input("W", {32, 1024})), 1);
       },
       {OpKind::logsumexp, OpKind::accum_logsumexp}},
      {"logsumexp_split",
       [](Builder& b) {
         return logsumexp(matmul(b.input("X", {16, 32}), b.input("W", {32, 1024})), 1, true);
       },
       {OpKind::logsumexp, OpKind::accum_logsumexp},
       2},
      {"logsumexp_parts",
       [](Builder& b) {
         return logsumexp(matmul(b.input("X", {16, 128}), b.input("W", {128, 512})) * 0.5, 1);
       },
       {OpKind::accum, OpKind::logsumexp},
       2},
      {"sums_of_parts",
       [](Builder& b) {
         return sqrt(mean(square(matmul(b.input("X", {16, 128}), b.input("W", {128, 512}))), 1, true)) +
                b.input("r", {16, 1});
       },
       {OpKind::accum, OpKind::reduction},
       2},
      {"columns_of_parts",
       [](Builder& b) {
         return maximum(amax(silu(matmul(b.input("X", {512, 128}), b.input("W", {128, 64}))), 0, true), 0.5) * 2.0;
       },
       {OpKind::accum, OpKind::amax},
       2},
      {"columns",
       [](Builder& b) {
         TensorHandle x = b.input("X", {512, 64}), e = exp(x - amax(x, 0, true));
         return matmul(permute(b.input("A", {512, 16}), {1, 0}), e) / sum(e, 0, true);
       },
       {OpKind::reduction_max, OpKind::accum_rescale},
       2},
      {"half",
       [](Builder& b) { return matmul(cast(softmax(cast(scores(b), DType::f32), 2), DType::f16), values(b)); },
       {OpKind::reduction_max, OpKind::cast},
       2},
      {"other_maximum",
       [](Builder& b) {
         TensorHandle s = scores(b), z = b.input("z", {2, 1, 1}), m = maximum(z, amax(s, 2, true)), e = exp(s - m);
         return matmul(e, values(b)) / (sum(e, 2, true) + exp(z - m));
       },
       {OpKind::reduction_max, OpKind::maximum},
       2},
      // Extents that no tile divides: out-of-bounds elements must not count.
      {"odd_keys",
       [](Builder& b) {
         TensorHandle s = matmul(b.input("Q", {2, 67, 32}), permute(b.input("K", {2, 211, 32}), {0, 2, 1}));
         return matmul(softmax(s * 0.25, 2), b.input("V", {2, 211, 32}));
       },
       {OpKind::reduction_max, OpKind::mask}},
      {"odd_keys_split",
       [](Builder& b) {
         TensorHandle s = matmul(b.input("Q", {2, 16, 32}), permute(b.input("K", {2, 499, 32}), {0, 2, 1}));
         return matmul(softmax(s * 0.25, 2), b.input("V", {2, 499, 32}));
       },
       {OpKind::reduction_max, OpKind::mask},
       2},
      {"odd_causal",
       [](Builder& b) {
         TensorHandle s = matmul(b.input("Q", {67, 32}), permute(b.input("K", {211, 32}), {1, 0}));
         return matmul(softmax(mask(s * 0.25, {.tril = 144}), 1), b.input("V", {211, 32}));
       },
       {OpKind::reduction_max, OpKind::mask}},
      {"odd_columns",
       [](Builder& b) {
         return logsumexp(matmul(b.input("X", {16, 32}), b.input("W", {32, 509})), 1);
       },
       {OpKind::accum_logsumexp, OpKind::mask}},
      {"odd_rows_and_sums",
       [](Builder& b) {
         return relu(matmul(rms_norm(b.input("X", {67, 211}), 1e-5), b.input("W", {211, 64}), b.input("c", {64})));
       },
       {OpKind::accum, OpKind::accum_red_sum}},
  };
  return all;
}

/// Have tiles passed the end of a tensor?
bool passes_an_end(const candidate::GroupKernel& k) {
  return std::ranges::any_of(k.parts[0].block->ops, [](const graph::BlockOp& op) {
    return op.kind == OpKind::input && !op.attributes.sizes.empty();
  });
}

KernelGraph graph_of(const Rule& rule) {
  Builder b(rule.name);
  b.output(rule.body(b), "Y");
  return b.build();
}

TEST(FuseRules, EveryKernelComputesTheSame) {
  for (const Rule& rule : rules()) {
    const KernelGraph g = graph_of(rule);
    std::vector<candidate::GroupKernel> found = kernels(g);
    const bool odd = std::string_view(rule.name).starts_with("odd_");
    std::erase_if(found, [&](const candidate::GroupKernel& k) {
      return k.parts.size() != rule.parts || (odd && !passes_an_end(k)) ||
             !std::ranges::all_of(rule.holds, [&](OpKind kind) { return holds(k, kind); });
    });
    ASSERT_FALSE(found.empty()) << rule.name;
    const std::size_t tried = zellige::test::all_cases() ? found.size() : 1;
    for (std::size_t i = 0; i < tried; ++i) {
      const KernelGraph h = fused(g, found[i]);
      EXPECT_NO_THROW(graph::validate(h)) << rule.name;
      const search::Equality e = search::equal(g, h);
      EXPECT_EQ(search::name(e.answer), "equal") << search::describe(e, rule.name, "fused") << json::to_json(h);
    }
  }
}

TEST(FuseRules, RunOnTheEmulator) {
  std::size_t odd_ones = 0;
  for (const Rule& rule : rules()) {
    const std::string_view name = rule.name;
    const bool odd = name.starts_with("odd_");
    const bool is_selected = name == "safe_softmax" || name == "logsumexp_split" || name == "lengths" ||
                             name == "other_maximum" || (odd && odd_ones++ % 2 == 0);
    if (!is_selected && !zellige::test::all_cases()) continue;
    const KernelGraph g = graph_of(rule);
    for (const candidate::GroupKernel& k : kernels(g)) {
      if (k.parts.size() != rule.parts || (odd && !passes_an_end(k))) continue;
      const run::RunResult r =
          run::run(fused(g, k), {.on = run::Machine::emulator, .target = "sm_90a"}, toolchain::Cache::standard());
      // The partial results are f32, and checked as f32.
      EXPECT_TRUE(r.status == run::Status::correct || r.status == run::Status::borderline)
          << rule.name << ": " << r.reason;
      break;
    }
  }
}

// Partial results with a prime number of columns are combined in partial tiles: a block per column would read
// one element of each row's sector of 32.
TEST(FuseRules, PutsPartsOfAPrimeTogetherInTiles) {
  Builder b("prime");
  b.output(matmul(b.input("A", {17, 2047}), b.input("B", {2047, 4099}, DType::f16, {1, 2047})), "C");
  const KernelGraph g = b.build();
  std::vector<candidate::GroupKernel> split = kernels(g);  // cheapest first
  std::erase_if(split, [](const candidate::GroupKernel& k) { return k.parts.size() != 2; });
  ASSERT_GE(split.size(), 10u);
  for (std::size_t k = 0; k < 10; ++k) {
    const graph::BlockGraph& merge = *split[k].parts[1].block;
    EXPECT_NE(merge.grid.count() % 4099, 0) << merge.grid.x << " x " << merge.grid.y;
  }
}

// Rows of 45 elements are read in place, eight at a time, where the last chunks are out of bounds: padding
// with undefined values.
TEST(FuseRules, ReadNoNeighboursOutOfBounds) {
  Builder b("lines");
  const TensorHandle x = b.input("X", {40, 45}, DType::f16, {48, 1});
  b.output(matmul(sum(x, 1, true), b.input("W", {1, 11})), "Y");
  const KernelGraph g = optimize(b.build(), target::find("sm_90a")).graph;
  const run::RunResult r =
      run::run(g, {.on = run::Machine::emulator, .target = "sm_90a"}, toolchain::Cache::standard());
  EXPECT_EQ(r.status, run::Status::correct) << r.reason;
}

}  // namespace
}  // namespace zellige::fuse
