#include "graphs.hpp"

#include "json/json.hpp"

namespace zellige::plan {
namespace {

using graph::BlockBuilder;
using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::TensorHandle;
using graph::TileHandle;

/// No extent divides an instruction's: operands are padded with zeros, the last step of K is one of 8.
KernelGraph ragged_matmul() {
  Builder b("ragged_matmul");
  TensorHandle A = b.input("A", {15, 57}), B = b.input("B", {57, 19});
  b.output(
      b.custom({.grid = {}, .block = {64}, .loop = 3},
               [&](BlockBuilder& t) { t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.loop = 0})))); })[0],
      "C", {19, 1});
  return b.build();
}

/// The loop accumulates a product of tiles, not a matmul: its state starts like accumulators.
KernelGraph sums_of_products() {
  Builder b("sums_of_products");
  TensorHandle A = b.input("A", {16, 64}), W = b.input("W", {64, 128});
  b.output(b.custom({.grid = {}, .block = {64}, .loop = 4},
                    [&](BlockBuilder& t) { t.store(accum(relu(matmul(t.load(A), t.load(W, {.loop = 1}))))); })[0],
           "C");
  return b.build();
}

/// More accumulators than registers: N is cut into slices.
KernelGraph wide_matmul() {
  Builder b("wide_matmul");
  TensorHandle A = b.input("A", {64, 32}), B = b.input("B", {32, 512});
  b.output(
      b.custom({.grid = {}, .block = {128}}, [&](BlockBuilder& t) { t.store(relu(matmul(t.load(A), t.load(B)))); })[0],
      "C", {512, 1});
  return b.build();
}

/// Two column-major inputs and an output that nobody asked to be row-major: the cheapest layout of all three.
KernelGraph open_layouts() {
  Builder b("open_layouts");
  TensorHandle X = b.input("X", {48, 80}, DType::f16, {1, 48}), Y = b.input("Y", {48, 80}, DType::f16, {1, 48});
  b.output(exp(X + Y), "Z");
  return b.build();
}

/// float32: no tensor cores; lanes of a warp share each product.
KernelGraph float_products() {
  Builder b("float_products");
  TensorHandle A = b.input("A", {4, 96}, DType::f32), B = b.input("B", {96, 5}, DType::f32);
  b.output(b.custom({.grid = {}, .block = {96}}, [&](BlockBuilder& t) { t.store(matmul(t.load(A), t.load(B))); })[0],
           "C", {5, 1});
  return b.build();
}

/// float32 on FMA units: tiles and K that none divides, W in the layout of weights, a bias after the loop.
KernelGraph outer_products() {
  Builder b("outer_products");
  const TensorHandle A = b.input("A", {257, 515}, DType::f32), W = b.input("W", {515, 130}, DType::f32, {1, 516}),
                     C = b.input("C", {130}, DType::f32);
  b.output(matmul(A, W, C), "Y", {130, 1});
  return b.build();
}

/// float32 as tf32 on tensor cores: tiles and K that nothing divides, A that ldmatrix loads and B that it cannot transpose.
KernelGraph tf32_products() {
  Builder b("tf32_products");
  const TensorHandle A = b.input("A", {33, 75}, DType::f32, {76, 1}), B = b.input("B", {75, 44}, DType::f32),
                     C = b.input("C", {44}, DType::f32);
  b.output(matmul(A, B, C, true), "Y");
  return b.build();
}

/// e4m3 by its own instruction: both operands lie along K, which no step divides.
KernelGraph float8_products() {
  Builder b("float8_products");
  const TensorHandle A = b.input("A", {33, 75}, DType::e4m3, {80, 1}), B = b.input("B", {75, 44}, DType::e4m3, {1, 80}),
                     C = b.input("C", {44}, DType::f32);
  b.output(matmul(A, B, C), "Y");
  return b.build();
}

/// Attention in float32: row sums over lanes with a stride of two, P through shared memory.
KernelGraph float_attention() {
  Builder b("float_attention");
  const TensorHandle Q = b.input("Q", {2, 64, 32}, DType::f32),
                     K = b.input("K", {2, 32, 128}, DType::f32, {4096, 1, 32}),
                     V = b.input("V", {2, 128, 32}, DType::f32);
  b.output(b.custom({.grid = {2}, .block = {128}, .loop = 4},
                    [&](BlockBuilder& t) {
                      const TileHandle q = t.load(Q, {.x = 0}), k = t.load(K, {.x = 0, .loop = 2}),
                                       v = t.load(V, {.x = 0, .loop = 1});
                      const TileHandle s = matmul(q, k) * 0.25, e = exp(s);
                      t.store(accum(matmul(e, v)) / accum(reduction(e, 2)), {.x = 0});
                    })[0],
           "Y");
  return b.build();
}

/// Reductions of every form: whole rows, to several elements, over the loop, and of one long row by several
/// warps.
KernelGraph sums() {
  Builder b("sums");
  TensorHandle X = b.input("X", {8, 512}), L = b.input("L", {1, 4096});
  auto made = b.custom({.grid = {}, .block = {128}, .loop = 2}, [&](BlockBuilder& t) {
    TileHandle x = t.load(X, {.loop = 1});
    t.store(accum_redtox_sum(x, 64), {}, "folded", {64, 1});
    t.store(accum(reduction(exp(x), 1)) + accum_red_mean(x), {}, "rows", {1, 1});
    t.store(accum_red_sum(t.load(L, {.loop = 1})), {}, "total", {1, 1});
  });
  for (TensorHandle y : made) b.output(y);
  return b.build();
}

/// A value is written and read by the same threads: no barrier is required for it.
KernelGraph same_threads() {
  Builder b("same_threads");
  TensorHandle X = b.input("X", {32, 64}), S = b.input("S", {32, 1});
  b.output(b.custom({.grid = {}, .block = {64}, .loop = 4},
                    [&](BlockBuilder& t) {
                      TileHandle x = t.load(X, {.loop = 0}), s = t.load(S, {.loop = 0});
                      t.store(accum(square(x) * s));
                    })[0],
           "Y", {64, 1});
  return b.build();
}

/// Pieces are read from where the whole lies: nothing is copied.
KernelGraph pieces() {
  Builder b("pieces");
  TensorHandle X = b.input("X", {16, 48}), Y = b.input("Y", {16, 16});
  b.output(b.custom({.grid = {}, .block = {64}},
                    [&](BlockBuilder& t) {
                      auto parts = split(t.load(X), 1, {16, 32});
                      t.store(concat(silu(parts[1]), parts[0] * t.load(Y), 1));
                    })[0],
           "Z", {48, 1});
  return b.build();
}

/// Batches along warps; both operands transposed in memory.
KernelGraph batched_matmul() {
  Builder b("batched_matmul");
  TensorHandle A = b.input("A", {4, 16, 32}, DType::bf16, {512, 1, 16}),
               B = b.input("B", {4, 32, 24}, DType::bf16, {768, 1, 32});
  b.output(
      b.custom({.grid = {2}, .block = {64}},
               [&](BlockBuilder& t) { t.store(gelu(matmul(t.load(A, {.x = 0}), t.load(B, {.x = 0}))), {.x = 0}); })[0],
      "C", {384, 24, 1});
  return b.build();
}

/// Two consecutive matmuls after the loop, in a block of three dimensions: buffers of the loop are reused
/// after it.
KernelGraph reuse() {
  Builder b("reuse");
  TensorHandle X = b.input("X", {32, 256}), W = b.input("W", {256, 64}), V = b.input("V", {64, 48});
  b.output(b.custom({.grid = {}, .block = {8, 8, 2}, .loop = 4},
                    [&](BlockBuilder& t) {
                      TileHandle h = gelu(accum(matmul(t.load(X, {.loop = 1}), t.load(W, {.loop = 0}))));
                      t.store(matmul(h / sqrt(reduction(square(h), 1)), t.load(V)));
                    })[0],
           "Y", {48, 1});
  return b.build();
}

/// The threads that write a padded operand's zeros hold no element of the tile that it is computed from.
KernelGraph padded_operand() {
  Builder b("padded_operand");
  TensorHandle A = b.input("A", {16, 38}), X = b.input("X", {38, 64});
  b.output(b.custom({.grid = {}, .block = {64}, .loop = 2},
                    [&](BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.loop = 1}), exp(t.load(X, {.loop = 0})))));
                    })[0],
           "C", {64, 1});
  return b.build();
}

/// A part of a product is read at other coordinates than the thread's own: not from its registers.
KernelGraph part_of_product() {
  Builder b("part_of_product");
  TensorHandle A = b.input("A", {16, 16}), B = b.input("B", {16, 8});
  b.output(b.custom({.grid = {}, .block = {64}},
                    [&](BlockBuilder& t) {
                      TileHandle product = matmul(t.load(A), t.load(B));
                      t.store(product - split(product, 1, {1, 7})[0]);
                    })[0],
           "Y", {8, 1});
  return b.build();
}

/// The threads read what they copied themselves, but reductions cross threads: a barrier is required only for
/// the loop's back edge.
KernelGraph back_edge() {
  Builder b("back_edge");
  TensorHandle X = b.input("X", {2, 512});
  b.output(b.custom({.grid = {}, .block = {32}, .loop = 4},
                    [&](BlockBuilder& t) {
                      TileHandle x = t.load(X, {.loop = 1});
                      t.store(accum(x / reduction(x, 1)));
                    })[0],
           "Y", {128, 1});
  return b.build();
}

/// A loop without copies: its reductions still cross threads, and its back edge too.
KernelGraph no_loop_copies() {
  Builder b("no_loop_copies");
  TensorHandle X = b.input("X", {16, 64});
  b.output(b.custom({.grid = {}, .block = {64}, .loop = 3},
                    [&](BlockBuilder& t) {
                      TileHandle x = t.load(X);
                      t.store(accum(exp(x) / reduction(exp(x), 1)));
                    })[0],
           "Y", {64, 1});
  return b.build();
}

/// No barrier in the loop, and after it a reader of data that other threads copied before it.
KernelGraph delayed_reader() {
  Builder b("late_reader");
  TensorHandle X = b.input("X", {32, 64}), V = b.input("V", {1, 64});
  b.output(b.custom({.grid = {}, .block = {64}, .loop = 4},
                    [&](BlockBuilder& t) { t.store(accum(square(t.load(X, {.loop = 0}))) + t.load(V)); })[0],
           "Y", {64, 1});
  return b.build();
}

}  // namespace

KernelGraph example(const std::string& name) { return json::load(ZELLIGE_SOURCE_DIR "/examples/" + name + ".json")[0]; }

/// A matmul on warpgroups, whose tiles are loaded and stored by TMA: A is contiguous along K, B along N.
KernelGraph hopper_matmul() {
  Builder b("hopper_matmul");
  TensorHandle A = b.input("A", {256, 384}), B = b.input("B", {384, 256});
  b.output(b.custom({.grid = {2, 2}, .block = {256}, .loop = 6},
                    [&](BlockBuilder& t) {
                      TileHandle product = matmul(t.load(A, {.y = 0, .loop = 1}), t.load(B, {.x = 1, .loop = 0}));
                      t.store(accum(product), {.x = 1, .y = 0});
                    })[0],
           "C", {256, 1});
  return b.build();
}

/// Half of K for each of two blocks: two tiles are too few.
KernelGraph hopper_split_k() {
  Builder b("hopper_split_k");
  const TensorHandle A = b.input("A", {128, 4096}), B = b.input("B", {4096, 256});
  b.output(b.custom({.grid = {2}, .block = {256}, .loop = 64},
                    [&](BlockBuilder& t) {
                      const TileHandle product = matmul(t.load(A, {.loop = 1}), t.load(B, {.x = 1, .loop = 0}));
                      t.store(accum(product), {.x = 1});
                    })[0],
           "C", {256, 1});
  return b.build();
}

/// y = silu(x g) * (x u): two products of one loop, which share x.
KernelGraph hopper_gate_and_up() {
  Builder b("hopper_gate_and_up");
  const TensorHandle X = b.input("X", {256, 256}), G = b.input("G", {256, 256}), U = b.input("U", {256, 256});
  b.output(b.custom({.grid = {2, 2}, .block = {256}, .loop = 4},
                    [&](BlockBuilder& t) {
                      const TileHandle x = t.load(X, {.y = 0, .loop = 1});
                      const TileHandle gate = accum(matmul(x, t.load(G, {.x = 1, .loop = 0})));
                      const TileHandle up = accum(matmul(x, t.load(U, {.x = 1, .loop = 0})));
                      t.store(silu(gate) * up, {.x = 1, .y = 0});
                    })[0],
           "Y");
  return b.build();
}

/// An online softmax between two products: Q stays, K and V come through a ring, P is never stored. Causal: the first block of each
/// head has one tile of keys, the second two.
KernelGraph hopper_attention(bool causal) {
  Builder b(causal ? "hopper_causal" : "hopper_attention");
  const TensorHandle Q = b.input("Q", {2, causal ? 256 : 128, 64}),
                     K = b.input("K", {2, 64, 256}, DType::f16, {16384, 1, 64}), V = b.input("V", {2, 256, 64});
  b.output(b.custom({.grid = {2, causal ? 2 : 1}, .block = {256}, .loop = 2},
                    [&](BlockBuilder& t) {
                      const TileHandle q = t.load(Q, {.x = 0, .y = 1}), k = t.load(K, {.x = 0, .loop = 2}),
                                       v = t.load(V, {.x = 0, .loop = 1});
                      TileHandle scores = matmul(q, k) * 0.125;
                      if (causal) scores = t.mask(scores, {.tril = 0}, {.x = 0, .y = 1, .loop = 2});
                      const auto [maximum, fell] = reduction_max(scores, 2);
                      const TileHandle p = exp(scores - maximum), factor = exp(fell);
                      const TileHandle sums = accum_rescale(matmul(p, v), factor);
                      t.store(sums / accum_red_sum_rescale(p, factor), {.x = 0, .y = 1});
                    })[0],
           "O");
  return b.build();
}

/// Four heads of a matmul with the halves of their columns adjacent: the first two rotated in the accumulator
/// registers, as are those of the third, which is stored elsewhere; the last unchanged.
KernelGraph hopper_swapped() {
  Builder b("hopper_turned");
  const TensorHandle X = b.input("X", {128, 128}), cos = b.input("cos", {128, 64, 1}),
                     sin = b.input("sin", {128, 64, 1}),
                     W = b.input("W", {4, 2, 128, 64}, DType::f16, {16384, 8192, 1, 128});
  const auto heads = b.custom({.grid = {4}, .block = {256}, .loop = 2}, [&](BlockBuilder& t) {
    const TileHandle product = accum(matmul(t.load(X, {.loop = 1}), t.load(W, {.x = 0, .loop = 2})));
    const TileHandle rotated = rotary_interleaved(permute(product, {0, 2, 3, 1}), t.load(cos), t.load(sin));
    t.store(rotated, {.x = 0}, "Q", {128, 256, 1, 64}, {0, 0, 2});
    t.store(rotated, {.x = 0}, "K", {128, 128, 1, 64}, {0, 2, 3});
    t.store(product, {.x = 0}, "V", {128, 64, 128, 1}, {0, 3, 4});
  });
  for (std::size_t i = 0; i < heads.size(); ++i) b.output(heads[i], std::string(1, "QKV"[i]));
  return b.build();
}

/// The other majors, bfloat16, and sizes that no tile divides.
KernelGraph hopper_ragged() {
  Builder b("hopper_ragged");
  TensorHandle A = b.input("A", {520, 200}, DType::bf16, {1, 520}),
               B = b.input("B", {200, 1032}, DType::bf16, {1, 200});
  b.output(matmul(A, B), "C");
  return b.build();
}

const std::vector<GoldenGraph>& golden_graphs() {
  static const std::vector<GoldenGraph> graphs = {
      {"lora", [] { return example("lora"); }},
      {"attention", [] { return example("attention"); }},
      {"mlp", [] { return example("mlp"); }},
      {"rmsnorm", [] { return example("rmsnorm"); }},
      {"ragged_matmul", ragged_matmul},
      {"sums_of_products", sums_of_products},
      {"wide_matmul", wide_matmul},
      {"open_layouts", open_layouts},
      {"float_products", float_products},
      {"sums", sums},
      {"same_threads", same_threads},
      {"pieces", pieces},
      {"batched_matmul", batched_matmul},
      {"padded_operand", padded_operand},
      {"part_of_product", part_of_product},
      {"back_edge", back_edge},
      {"no_loop_copies", no_loop_copies},
      {"late_reader", delayed_reader},
      {"reuse", reuse},
      {"hopper_matmul", hopper_matmul, "sm_90a"},
      {"hopper_gate_and_up", hopper_gate_and_up, "sm_90a"},
      {"hopper_attention", [] { return hopper_attention(false); }, "sm_90a"},
      {"hopper_causal", [] { return hopper_attention(true); }, "sm_90a"},
      {"hopper_ragged", hopper_ragged, "sm_90a"},
      {"hopper_turned", hopper_swapped, "sm_90a"},
      {"hopper_split_k", hopper_split_k, "sm_90a"},
      {"outer_products", outer_products},
      {"tf32_products", tf32_products},
      {"float8_products", float8_products, "sm_90a"},
      {"float_attention", float_attention, "sm_90a"},
  };
  return graphs;
}

}  // namespace zellige::plan
