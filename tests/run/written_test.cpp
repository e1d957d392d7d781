// Caches written directly by the kernel that computes their new rows, if the graph's views between the two
// are layouts of the cache.
#include <gtest/gtest.h>

#include <random>

#include "../all_cases.hpp"
#include "emulate_graph.hpp"
#include "fuse/separate.hpp"
#include "graph/builder.hpp"
#include "lower/lower.hpp"
#include "verify/proofs.hpp"

namespace zellige::run {
namespace {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::Shape;
using graph::TensorHandle;
using reference::Array;

constexpr std::int64_t heads = 3, keys = 11, dim = 16, width = 32;

struct Form {
  std::int64_t batch = 2, tokens = 1;
  bool named = false;         // where to begin is an input
  bool old_is_read = false;   // after the kernel that makes the rows
  bool part_is_read = false;  // by another operator than slice_scatter
  std::size_t kernels = 2;
};

/// Heads of a product, made by a custom operator, seen as (batch, heads, tokens, dim) and put into a cache, which another kernel reads.
KernelGraph cache(const Form& f) {
  Builder b("cache");
  const std::int64_t batch = f.batch, rows = batch * f.tokens;
  const TensorHandle X = b.input("X", {rows, width}), W = b.input("W", {heads, width, dim}),
                     K = b.input("K", {batch, heads, keys, dim}), at = b.input("at", {1}, DType::int32);
  const TensorHandle start = f.named ? at + 0.0 : at;
  const TensorHandle made = b.custom({.grid = {heads}, .block = {64}, .loop = 2}, [&](graph::BlockBuilder& t) {
    t.store(accum(matmul(t.load(X, {.loop = 1}), t.load(W, {.x = 0, .loop = 1}))), {.x = 0});
  })[0];
  const TensorHandle part = permute(reshape(made, {heads, batch, f.tokens, dim}), {1, 0, 2, 3});
  const TensorHandle N = b.in_place(f.named ? slice_scatter(K, part, 2, start) : slice_scatter(K, part, 2, 5), K);
  b.output(N, "N");
  b.output(exp(N), "new");
  if (f.old_is_read) b.output(part * slice(K, 2, 0, f.tokens), "old");
  if (f.part_is_read) b.output(exp(part), "part");
  return b.build();
}

std::vector<Array> inputs(const KernelGraph& g, double at) {
  std::mt19937 engine(3);
  std::uniform_int_distribution<int> eighths(-8, 8);
  std::vector<Array> arrays;
  for (int t : g.inputs) {
    arrays.push_back(reference::make_array(g.tensors[static_cast<std::size_t>(t)].shape));
    for (double& v : arrays.back().values) v = eighths(engine) / 8.0;
  }
  arrays.back().values[0] = at;
  return arrays;
}

TEST(Written, IntoTheCacheByTheKernelThatMakesIt) {
  const std::vector<Form> forms = {{},
                                   {.batch = 1, .tokens = 3},
                                   {.named = true, .kernels = 3},  // the number is computed
                                   {.batch = 1, .tokens = 3, .named = true, .kernels = 3},
                                   {.tokens = 3, .kernels = 3},  // rows of the product are no layout of the cache
                                   {.old_is_read = true, .kernels = 4},
                                   {.part_is_read = true, .kernels = 4}};
  for (const char* target : {"sm_80", "sm_90a"})
    for (const Form& f : forms) {
      const KernelGraph g = cache(f);
      const tile::TilePrograms p = lower::lower(fuse::separate(g, target::find(target)), target::find(target));
      EXPECT_EQ(p.kernels.size(), f.kernels) << target << ", form " << &f - forms.data();
      EXPECT_NO_THROW(verify::verify_memory(p));
      if ((&f - forms.data() + (target == std::string_view("sm_80"))) % test::every(2) != 0)
        continue;  // by default on the emulator for one of the two targets
      for (const double at : {0.0, static_cast<double>(keys - f.tokens)})
        expect_as_reference(g, inputs(g, at), 1e-3, 1e-3, target);
    }
}

}  // namespace
}  // namespace zellige::run
