// Rotary embeddings are fused into the matmul of their columns: queries and keys are rotated, values are not,
// and one kernel stores all.
#include <gtest/gtest.h>

#include <algorithm>

#include "../all_cases.hpp"
#include "candidate/kernel.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "rules/table.hpp"
#include "run/run.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::OpKind;
using graph::Shape;
using graph::TensorHandle;

constexpr std::int64_t rows = 5, width = 64, dim = 16;

struct Form {
  bool halves = true;                        // the convention
  Shape table{rows, 1, dim / 2};             // of cos and sin
  std::vector<std::int64_t> heads{4, 2, 2};  // of queries, keys and values
  bool bias = false;
  bool ones = false;  // seen as (rows, heads, 1, dim), by way of (rows, 1, heads, dim)
};

/// Rotated queries and keys, and unrotated values, all of them outputs.
KernelGraph attention_inputs(const Form& f) {
  Builder b("qkv");
  std::int64_t all = 0;
  for (std::int64_t n : f.heads) all += n;
  const TensorHandle x = rms_norm(b.input("x", {rows, width}), b.input("g", {width}), 1e-5);
  TensorHandle product = matmul(x, permute(b.input("w", {all * dim, width}), {1, 0}));
  if (f.bias) product = product + b.input("bias", {all * dim});
  const TensorHandle t =
      f.ones ? permute(reshape(product, {rows, 1, all, dim}), {0, 2, 1, 3}) : reshape(product, {rows, all, dim});
  const TensorHandle cos = b.input("cos", f.table), sin = b.input("sin", f.table);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < 3; at += f.heads[i++]) {
    const TensorHandle part = slice(t, 1, at, at + f.heads[i]);
    b.output(i == 2     ? part
             : f.halves ? rotary(part, cos, sin)
                        : rotary_interleaved(part, cos, sin),
             std::string(1, "qkv"[i]));
  }
  return b.build();
}

TEST(FusePairs, OneKernelMakesQueriesKeysAndValues) {
  const std::vector<Form> forms = {{},
                                   {.halves = false},
                                   {.table = {rows, 1, dim}},
                                   {.halves = false, .table = {1, dim}},
                                   {.table = {dim / 2}, .heads = {6, 3, 3}},
                                   {.bias = true},
                                   {.halves = false, .bias = true},
                                   {.table = {rows, 1, 1, dim / 2}, .ones = true},
                                   {.halves = false, .table = {dim}, .bias = true, .ones = true}};
  for (const char* target : {"sm_80", "sm_90a"})
    for (const Form& f : forms) {
      const auto place = &f - forms.data() + (target == std::string_view("sm_80"));
      if (!test::all_cases() && place % 4) continue;  // by default every other one, for one of the two targets
      const KernelGraph g = attention_inputs(f);
      const Optimized o = optimize(g, target::find(target));
      ASSERT_EQ(o.kernels.size(), 1) << target << o.notes.front();
      EXPECT_EQ(o.kernels[0].parts, 1);
      EXPECT_NO_THROW(graph::validate(o.graph));
      const search::Equality e = search::equal(g, o.graph);
      EXPECT_EQ(search::name(e.answer), "equal") << search::describe(e, "given", "fused");
      if (place % 8 != 0) continue;  // the emulator has some of them
      const run::RunResult r = run::run(g, {.on = run::Machine::emulator, .target = target, .compile = {.fuse = true}},
                                        toolchain::Cache::standard());
      EXPECT_EQ(r.kernels.size(), 1) << target;  // nothing is copied
      EXPECT_EQ(r.status, run::Status::correct) << r.reason;
    }
}

// An optimised graph can be optimised again: its views are written directly to the outputs, and no copies are
// added.
TEST(FusePairs, IsLeftAsItIsTheSecondTime) {
  for (const char* target : {"sm_80", "sm_90a"}) {
    const Optimized once = optimize(attention_inputs({}), target::find(target));
    const Optimized twice = optimize(once.graph, target::find(target));
    EXPECT_EQ(twice.graph.ops.size(), once.graph.ops.size()) << target;
    EXPECT_EQ(twice.kernels.size(), 1) << target << ": " << twice.notes.front();
  }
}

/// True if pairs are separated in the function's result.
template <class F>
bool separates(const F& f) {
  Builder b("g");
  const TensorHandle t = matmul(b.input("x", {rows, width}), b.input("w", {width, 4 * dim}));
  f(b, t);
  return rewrite::separate_pairs(b.build()).has_value();
}

TEST(FusePairs, OnlyOfHeadsThatAreRotatedEqually) {
  const Shape split{rows, 4, dim};
  const auto table = [](Builder& b, const char* name, const Shape& s) { return b.input(name, s); };
  const auto rotated = [&](Builder& b, TensorHandle x, const Shape& s) {
    return rotary(x, table(b, "cos", s), table(b, "sin", s));
  };
  const Shape shared{rows, 1, dim / 2};
  EXPECT_TRUE(separates([&](Builder& b, TensorHandle t) { b.output(rotated(b, reshape(t, split), shared), "y"); }));
  // Each head by angles of its own.
  EXPECT_FALSE(separates([&](Builder& b, TensorHandle t) {
    b.output(rotated(b, reshape(t, split), {rows, 4, dim / 2}), "y");
  }));
  // Somebody reads the product as it is.
  EXPECT_FALSE(separates([&](Builder& b, TensorHandle t) {
    b.output(rotated(b, reshape(t, split), shared), "y");
    b.output(t, "t");
  }));
  EXPECT_FALSE(separates([&](Builder& b, TensorHandle t) {
    const TensorHandle h = reshape(t, split);
    b.output(rotated(b, h, shared), "y");
    b.output(exp(h), "e");
  }));
  // Rows of what is seen are not the product's.
  EXPECT_FALSE(separates([&](Builder& b, TensorHandle t) {
    b.output(rotated(b, reshape(t, {2 * rows, 2, dim}), {2 * rows, 1, dim / 2}), "y");
  }));
  // Two conventions of one product.
  EXPECT_FALSE(separates([&](Builder& b, TensorHandle t) {
    const TensorHandle h = reshape(t, split), c = table(b, "cos", shared), s = table(b, "sin", shared);
    b.output(rotary(slice(h, 1, 0, 2), c, s), "y");
    b.output(rotary_interleaved(slice(h, 1, 2, 4), c, s), "z");
  }));
}

/// True if they are after dimensions of 1 are removed.
template <class F>
bool separates_heads(const Shape& seen, const std::vector<std::int64_t>& order, const F& f) {
  Builder b("g");
  const TensorHandle t = matmul(b.input("x", {rows, width}), b.input("w", {width, 4 * dim}));
  f(b, permute(reshape(t, seen), order));
  const KernelGraph g = b.build();
  return rewrite::separate_pairs(rewrite::heads_first(g).value_or(g)).has_value();
}

TEST(FusePairs, DimensionsOfOneAreInNobodysWay) {
  const auto rotated = [](const Shape& angles) {
    return [angles](Builder& b, TensorHandle h) {
      b.output(rotary(slice(h, 1, 0, 3), b.input("cos", angles), b.input("sin", angles)), "y");
    };
  };
  EXPECT_TRUE(separates_heads({rows, 1, 4, dim}, {0, 2, 1, 3}, rotated({1, dim / 2})));
  EXPECT_TRUE(separates_heads({rows, 1, 4, dim}, {0, 2, 1, 3}, rotated({rows, 1, 1, dim / 2})));
  EXPECT_TRUE(separates_heads({rows, 4, 1, 1, dim}, {0, 1, 3, 2, 4}, rotated({dim / 2})));
  // Angles of each head; rows that are not one dimension; heads that are not sliced.
  EXPECT_FALSE(separates_heads({rows, 1, 4, dim}, {0, 2, 1, 3}, rotated({1, 3, 1, dim / 2})));
  EXPECT_FALSE(separates_heads({1, rows, 4, dim}, {0, 2, 1, 3}, rotated({rows, dim / 2})));
  EXPECT_FALSE(separates_heads({rows, 1, 4, dim}, {0, 2, 1, 3}, [&](Builder& b, TensorHandle h) {
    b.output(rotary(slice(h, 0, 0, 2), b.input("cos", {dim / 2}), b.input("sin", {dim / 2})), "y");
  }));
}

TEST(FusePairs, CachesAreWrittenByTheProduct) {
  for (const bool named : {false, true}) {
    Builder b("step");
    const TensorHandle x = rms_norm(b.input("x", {rows, width}), b.input("g", {width}), 1e-5);
    const TensorHandle w = b.input("w", {8 * dim, width}), at = b.input("at", {1}, graph::DType::int32);
    const TensorHandle t = permute(reshape(matmul(x, permute(w, {1, 0})), {rows, 1, 8, dim}), {0, 2, 1, 3});
    const TensorHandle cos = b.input("cos", {1, dim / 2}), sin = b.input("sin", {1, dim / 2});
    const auto kept = [&](const char* name, TensorHandle part) {
      const TensorHandle cache = b.input(name, {rows, 2, 9, dim});
      b.output(b.in_place(named ? slice_scatter(cache, part, 2, at) : slice_scatter(cache, part, 2, 8), cache),
               std::string(name) + "_new");
    };
    b.output(rotary(slice(t, 1, 0, 4), cos, sin), "q");
    kept("k", rotary(slice(t, 1, 4, 6), cos, sin));
    kept("v", slice(t, 1, 6, 8));
    const run::RunResult r =
        run::run(b.build(), {.on = run::Machine::emulator, .target = "sm_90a", .compile = {.fuse = true}},
                 toolchain::Cache::standard());
    EXPECT_EQ(r.kernels.size(), 1) << named;
    EXPECT_EQ(r.status, run::Status::correct) << r.reason;
  }
}

// Values read in slices are stored in slices, if blocks' tiles are parts of them; otherwise as a whole.
TEST(FuseSlices, AreStoredWhereTheyAreWholeTiles) {
  const auto kernel = [](std::int64_t at) {
    Builder b("g");
    const TensorHandle y = relu(matmul(b.input("x", {64, 128}), b.input("w", {128, 96})));
    b.output(neg(permute(slice(y, 0, 0, at), {1, 0})), "a");
    b.output(exp(slice(y, 0, at, 64)), "b");
    const KernelGraph g = b.build();
    std::vector<int> ops;
    for (std::size_t i = 0; i < g.ops.size(); ++i)
      if (g.ops[i].kind == OpKind::matmul || g.ops[i].kind == OpKind::relu) ops.push_back(static_cast<int>(i));
    std::string why;
    const std::vector<candidate::GroupKernel> found = candidate::kernels_of(g, ops, target::find("sm_80"), why);
    const auto cut = std::ranges::find_if(found, [](const candidate::GroupKernel& k) {  // 16 rows a block
      return k.parts.size() == 1 && k.parts[0].block->grid.x * k.parts[0].block->grid.y > 1 &&
             k.parts[0].stores[0].shape[0] + (k.parts[0].stores.size() > 1 ? k.parts[0].stores[1].shape[0] : 0) == 64;
    });
    EXPECT_NE(cut, found.end()) << why;
    return cut == found.end() ? 0 : cut->parts[0].stores.size();
  };
  EXPECT_EQ(kernel(32), 2);
  EXPECT_EQ(kernel(31), 1);
}

}  // namespace
}  // namespace zellige::fuse
