// The fused graph computes the same as the original: parts of models at small sizes.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

void expect_equal(const graph::KernelGraph& g, std::string_view target) {
  const Optimized o = optimize(g, target::find(target));
  EXPECT_NO_THROW(graph::validate(o.graph)) << g.name;
  EXPECT_LT(o.kernels.size(), g.ops.size()) << g.name;
  const search::Equality e = search::equal(g, o.graph, {.given_sizes = false});
  EXPECT_EQ(search::name(e.answer), "equal") << search::describe(e, g.name, g.name + " fused");
}

TEST(Fuse, PartsOfModels) {
  const char* target = "sm_80";
  for (const char* name : {"gpt_mlp", "llama_decode", "norm_gated_mlp", "plain_attention", "residual_rms_norm",
                           "rms_qkv_rope", "cross_entropy"}) {
    expect_equal(json::load(fmt::format("{}/tests/run/layers/{}.json", ZELLIGE_SOURCE_DIR, name)).at(0), target);
    target = target == std::string("sm_80") ? "sm_90a" : "sm_80";
  }
}

using graph::Builder;
using graph::TensorHandle;

/// Softmax of what becomes of q k^T, times v.
template <class Scores>
TensorHandle attention(Builder& b, std::int64_t queries, std::int64_t keys, const Scores& scores) {
  const TensorHandle q = b.input("q", {2, queries, 32}), k = b.input("k", {2, keys, 32}),
                     v = b.input("v", {2, keys, 32});
  const TensorHandle s = cast(matmul(q, permute(k, {0, 2, 1})), graph::DType::f32) * 0.25;
  return matmul(cast(softmax(scores(s), 2), graph::DType::f16), v);
}

// Of other models: soft caps, sliding windows, biases, odd lengths, norms of heads, low rank.
TEST(Fuse, PartsOfOtherModels) {
  struct Part {
    const char* name;
    std::size_t kernels;
    std::function<TensorHandle(Builder&)> body;
  };
  const std::vector<Part> parts = {
      {"soft_cap", 1,
       [](Builder& b) { return attention(b, 64, 128, [](TensorHandle s) { return tanh(s * 0.125) * 8.0; }); }},
      {"window", 1,
       [](Builder& b) {
         return attention(b, 128, 128, [](TensorHandle s) { return mask(s, {.tril = 0, .triu = -47}); });
       }},
      {"bias", 1,
       [](Builder& b) {
         const TensorHandle bias = b.input("bias", {1, 64, 128}, graph::DType::f32);
         return attention(b, 64, 128, [&](TensorHandle s) { return s + bias; });
       }},
      {"odd", 1, [](Builder& b) { return attention(b, 50, 77, [](TensorHandle s) { return s; }); }},
      {"prime", 1, [](Builder& b) { return attention(b, 67, 211, [](TensorHandle s) { return s; }); }},
      {"sinks", 1,
       [](Builder& b) {
         const TensorHandle q = b.input("q", {2, 64, 32}), k = b.input("k", {2, 128, 32});
         const TensorHandle sink = expand(b.input("z", {2, 1, 1}), {2, 64, 1});
         const TensorHandle p = softmax(concat(mask(matmul(q, permute(k, {0, 2, 1})) * 0.25, {.tril = 0}), sink, 2), 2);
         return matmul(slice(p, 2, 0, 128), b.input("v", {2, 128, 32}));
       }},
      {"norm_of_heads", 2,
       [](Builder& b) {
         const TensorHandle t = reshape(matmul(b.input("x", {8, 128}), b.input("w", {128, 256})), {8, 4, 64});
         return rotary(rms_norm(t, 1e-6) * b.input("n", {64}), b.input("c", {8, 1, 32}), b.input("s", {8, 1, 32}));
       }},
      {"low_rank", 1,
       [](Builder& b) {
         const TensorHandle t = matmul(b.input("x", {16, 256}), b.input("a", {256, 32}));
         return matmul(rms_norm(t, b.input("n", {32}), 1e-6), b.input("b", {32, 512}));
       }},
  };
  for (const Part& part : parts) {
    Builder b(part.name);
    b.output(part.body(b), "Y");
    const graph::KernelGraph g = b.build();
    EXPECT_EQ(optimize(g, target::find("sm_90a")).kernels.size(), part.kernels) << part.name;
    expect_equal(g, "sm_90a");
  }
}

// In a row of minus infinities alone exp(x - max) is NaN, but 0 where a running maximum starts at a finite number: only quotients
// of such values may be in one kernel with the maximum.
TEST(Fuse, RowsOfMinusInfinityStayNaN) {
  struct Use {
    const char* name;
    std::size_t kernels;  // at most
    std::function<TensorHandle(TensorHandle e, TensorHandle v)> of;
  };
  const std::vector<Use> uses = {
      {"quotient", 1, [](TensorHandle e, TensorHandle v) { return matmul(e, v) / sum(e, 2, true); }},
      {"shifted_sum", 9, [](TensorHandle e, TensorHandle v) { return matmul(e, v) / (sum(e, 2, true) + 1e-6); }},
      {"bounded_sum", 9, [](TensorHandle e, TensorHandle v) { return matmul(e, v) / maximum(sum(e, 2, true), 1e-6); }},
      {"product_alone", 9, [](TensorHandle e, TensorHandle v) { return matmul(e, v); }}};
  for (const Use& use : uses) {
    Builder b(use.name);
    const TensorHandle x = b.input("x", {2, 64, 256}, graph::DType::f32),
                       v = b.input("v", {2, 256, 32}, graph::DType::f32);
    b.output(use.of(exp(x - amax(x, 2, true)), v), "Y");
    const graph::KernelGraph g = b.build();
    std::vector<reference::Array> inputs{reference::make_array({2, 64, 256}), reference::make_array({2, 256, 32})};
    for (std::size_t i = 0; i < inputs[0].values.size(); ++i)  // row 5 of the first matrix
      inputs[0].values[i] = i / 256 == 5 ? -INFINITY : static_cast<double>(i % 7) - 3;
    for (std::size_t i = 0; i < inputs[1].values.size(); ++i) inputs[1].values[i] = static_cast<double>(i % 5) - 2;
    for (const char* target : {"sm_80", "sm_90a"}) {
      const Optimized o = optimize(g, target::find(target));
      EXPECT_LE(o.kernels.size(), use.kernels) << use.name << " for " << target;
      const reference::Array y = reference::run_reference(o.graph, inputs).at(0);
      for (std::size_t i = 0; i < y.values.size(); ++i)
        ASSERT_EQ(std::isnan(y.values[i]), i / 32 == 5) << use.name << " for " << target << ", element " << i;
    }
  }
}

// The same where the row is split over blocks: the sum of a later kernel's parts loses the NaN, what it computes again does not.
TEST(Fuse, SplitRowsOfMinusInfinityStayNaN) {
  const std::int64_t columns = 40000;
  for (const bool summed : {false, true}) {
    Builder b(summed ? "sum" : "distance");
    const TensorHandle x = b.input("x", {2, columns}, graph::DType::f32), below = x - amax(x, 1, true);
    b.output(summed ? sum(exp(below), 1, true) : below, "Y");
    std::vector<reference::Array> inputs{reference::make_array({2, columns})};
    for (std::size_t i = 0; i < inputs[0].values.size(); ++i)
      inputs[0].values[i] = i < static_cast<std::size_t>(columns) ? -INFINITY : static_cast<double>(i % 7);
    const Optimized o = optimize(b.build(), target::find("sm_90a"));
    const reference::Array y = reference::run_reference(o.graph, inputs).at(0);
    for (std::size_t i = 0; i < y.values.size(); ++i)
      ASSERT_EQ(std::isnan(y.values[i]), i < y.values.size() / 2) << (summed ? "sum" : "distance") << ", element " << i;
  }
}

TEST(Fuse, WhatNobodyReads) {
  Builder b("dead");
  const TensorHandle x = b.input("x", {64, 64}), e = exp(x);
  square(e), permute(matmul(x, x), {1, 0});
  b.output(-x, "Y");
  const Optimized o = optimize(b.build(), target::find("sm_90a"));
  EXPECT_EQ(o.kernels.size(), 1u);
  EXPECT_EQ(std::ranges::count(o.graph.ops, graph::OpKind::custom, &graph::KernelOp::kind), 1);
  EXPECT_EQ(std::ranges::count(o.graph.tensors, "e", &graph::KernelTensor::name), 0);
}

}  // namespace
}  // namespace zellige::fuse
