// structure(): equal under other names, different for any other difference.
#include "reference/structure.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "graph/builder.hpp"

namespace zellige::graph {
namespace {

KernelGraph sample() {
  Builder b("sample");
  TensorHandle x = b.input("x", {16, 256}), w = b.input("w", {256, 64});
  TensorHandle y = b.custom({.grid = {4}, .block = {128}, .loop = 4}, [&](BlockBuilder& t) {
                      TileHandle l = t.load(x, {.loop = 1}), r = t.load(w, {.x = 1, .loop = 0});
                      t.store(accum(matmul(l, r)), {.x = 1});
                    }).at(0);
  b.output(exp(y), "z");
  return b.build();
}

/// The custom operator's block graph, to be changed.
void edit(KernelGraph& g, const std::function<void(BlockGraph&)>& change) {
  auto block = std::make_shared<BlockGraph>(*g.ops[0].block);
  change(*block);
  g.ops[0].block = std::move(block);
}

TEST(Structure, HasNoNames) {
  KernelGraph g = sample();
  const std::string before = reference::structure(g);
  g.name = "other";
  for (KernelTensor& t : g.tensors) t.name += "_1";
  edit(g, [](BlockGraph& b) {
    for (BlockTensor& t : b.tensors) t.name += "_2";
  });
  EXPECT_EQ(reference::structure(g), before);
}

TEST(Structure, EverythingElseCounts) {
  const std::vector<std::function<void(KernelGraph&)>> changes = {
      [](KernelGraph& g) { g.tensors[0].dtype = DType::bf16; },
      [](KernelGraph& g) { g.tensors[0].shape[0] = 17; },
      [](KernelGraph& g) { g.tensors[0].shape.push_back(1); },
      [](KernelGraph& g) { g.tensors[0].strides[0] = 512; },
      [](KernelGraph& g) { g.tensors[0].strides.clear(); },
      [](KernelGraph& g) { g.tensors[0].memory = 1; },
      [](KernelGraph& g) { g.tensors[0].constant = true; },
      [](KernelGraph& g) { std::swap(g.inputs[0], g.inputs[1]); },
      [](KernelGraph& g) { g.outputs.push_back(2); },
      [](KernelGraph& g) { g.ops.pop_back(); },
      [](KernelGraph& g) { g.ops[1].kind = OpKind::log; },
      [](KernelGraph& g) { g.ops[1].inputs[0] = 0; },
      [](KernelGraph& g) { g.ops[1].outputs[0] = 0; },
      [](KernelGraph& g) { g.ops[1].attributes.scalar = 2; },
      [](KernelGraph& g) { g.ops[1].attributes.lo = 2; },
      [](KernelGraph& g) { g.ops[1].attributes.hi = 2; },
      [](KernelGraph& g) { g.ops[1].attributes.hi = -0.0; },
      [](KernelGraph& g) { g.ops[1].attributes.dim = 2; },
      [](KernelGraph& g) { g.ops[1].attributes.to = 2; },
      [](KernelGraph& g) { g.ops[1].attributes.sizes = {2}; },
      [](KernelGraph& g) { g.ops[1].attributes.keepdim = true; },
      [](KernelGraph& g) { g.ops[1].attributes.eps = 2; },
      [](KernelGraph& g) { g.ops[1].attributes.start = 2; },
      [](KernelGraph& g) { g.ops[1].attributes.end = 2; },
      [](KernelGraph& g) { g.ops[1].attributes.dtype = DType::int8; },
      [](KernelGraph& g) { g.ops[1].attributes.tf32 = true; },
      [](KernelGraph& g) { g.ops[1].attributes.saturate = true; },
      [](KernelGraph& g) { g.ops[1].attributes.kept.tril = 0; },
      [](KernelGraph& g) { g.ops[1].attributes.kept.triu = 0; },
      [](KernelGraph& g) { g.ops[1].attributes.kept.length = 0; },
      [](KernelGraph& g) { g.ops[1].attributes.value = 2; },
      [](KernelGraph& g) { g.ops[0].block = nullptr; },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.grid.y = 2; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.block.x = 64; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.loop = 8; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.tensors[0].dtype = DType::f32; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.tensors[0].shape[1] = 1; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.tensors[0].after_loop = true; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.ops[0].map[0] = 0; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.ops[0].loop_dim = 0; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.ops[0].kernel_tensor = 1; }); },
      [](KernelGraph& g) { edit(g, [](BlockGraph& b) { b.ops[2].attributes.tf32 = true; }); },
  };
  std::vector<std::string> seen{reference::structure(sample())};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    KernelGraph g = sample();
    changes[i](g);
    const std::string changed = reference::structure(g);
    for (std::size_t j = 0; j < seen.size(); ++j) EXPECT_NE(changed, seen[j]) << i << " and " << j;
    seen.push_back(changed);
  }
}

}  // namespace
}  // namespace zellige::graph
