// The eight programs for which the muGraphs were searched, written as graphs.
#pragma once
#include "graph/builder.hpp"

namespace zellige::search::test {

using graph::Builder;
using graph::KernelGraph;
using graph::Shape;
using graph::TensorHandle;

inline KernelGraph rmsnorm() {
  Builder b("rmsnorm");
  const TensorHandle x = b.input("X", {2, 4096}), w = b.input("W", {4096, 6144});
  b.output(matmul(rms_norm(x), w), "Y");
  return b.build();
}

inline KernelGraph gated_mlp() {
  Builder b("gated_mlp");
  const TensorHandle x = b.input("X", {8, 4096}), w1 = b.input("W1", {4096, 4096}), w2 = b.input("W2", {4096, 4096});
  b.output(silu(matmul(x, w1)) * matmul(x, w2), "Y");
  return b.build();
}

inline KernelGraph lora() {
  Builder b("lora");
  const TensorHandle x = b.input("X", {16, 256}), w = b.input("W", {256, 4096});
  const TensorHandle a = b.input("A", {256, 16}), c = b.input("B", {16, 4096});
  b.output(matmul(x, w) + matmul(matmul(x, a), c), "Y");
  return b.build();
}

inline TensorHandle attention(TensorHandle q, TensorHandle k, TensorHandle v) {
  const TensorHandle e = exp(matmul(q, k));
  return matmul(e, v) / reduction(e, 2);
}

/// Heads, queries of each, keys.
inline KernelGraph attention(const std::string& name, std::int64_t heads, std::int64_t queries, bool normed) {
  Builder b(name);
  const TensorHandle q = b.input("Q", {heads, queries, 64}), k = b.input("K", {heads, 64, 4096});
  const TensorHandle v = b.input("V", {heads, 4096, 64});
  b.output(normed ? attention(rms_norm(q), k, rms_norm(v)) : attention(q, k, v), "Y");
  return b.build();
}

inline KernelGraph ntrans() {
  Builder b("ntrans");
  const TensorHandle h = b.input("H", {8, 4096}), x = b.input("X", {8, 4096}), a = b.input("a", {8, 4096});
  b.output(rms_norm(x + a * (rms_norm(h) + x)), "Y");
  return b.build();
}

struct Program {
  std::string file;  // of the muGraphs
  std::size_t candidates;
  bool equal;  // are they what they were searched for?
  KernelGraph graph;
};

inline std::vector<Program> programs() {
  return {{"rmsnorm_bs1", 18, true, rmsnorm()},
          {"gated_mlp", 32, true, gated_mlp()},
          {"lora", 4, true, lora()},
          {"gqa_bs1", 28, true, attention("gqa", 2, 256, false)},
          {"mqa_bs1", 12, true, attention("mqa", 1, 1024, false)},
          {"mha_bs1", 21, true, attention("mha", 32, 16, false)},
          {"ntrans_bs1", 9, true, ntrans()},
          {"qknorm_gqa_bs1", 190, false, attention("qknorm", 2, 256, true)}};
}

}  // namespace zellige::search::test
