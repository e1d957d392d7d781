#include "chains.hpp"

namespace zellige::plan {

using graph::BlockBuilder;
using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::TensorHandle;
using graph::TileHandle;

std::string ChainShape::name() const {
  return fmt::format("chain_{}x{}_{}threads_{}products{}", m, inner, threads, products, maps ? "_maps" : "");
}

KernelGraph chain(const ChainShape& s) {
  Builder b(s.name());
  const TensorHandle X = b.input("X", {s.m, s.inner}), W = b.input("W", {s.inner, s.inner});
  b.output(b.custom({.grid = {}, .block = {s.threads}},
                    [&](BlockBuilder& t) {
                      const TileHandle w = t.load(W);
                      TileHandle x = t.load(X);
                      for (int i = 0; i < s.products; ++i) {
                        if (s.maps && i > 0) x = relu(x);
                        x = matmul(x, w);
                      }
                      t.store(x);
                    })[0],
           "Y", {s.inner, 1});
  return b.build();
}

std::vector<ChainShape> chains() {
  std::vector<ChainShape> all;
  for (int products : {3, 4})
    for (std::int64_t m : {8, 16, 24, 32, 48, 64})
      for (std::int64_t inner : {16, 32, 64, 96, 128})
        for (int threads : {64, 128, 192, 256})
          for (bool maps : {false, true}) all.push_back({m, inner, threads, products, maps});
  return all;
}

KernelGraph attention_projected(std::int64_t queries, std::int64_t keys, std::int64_t dim, int threads) {
  Builder b(fmt::format("attention_{}_{}_{}_{}", queries, keys, dim, threads));
  const TensorHandle Q = b.input("Q", {queries, dim}), K = b.input("K", {dim, keys}), V = b.input("V", {keys, dim}),
                     O = b.input("O", {dim, dim});
  b.output(b.custom({.grid = {}, .block = {threads}},
                    [&](BlockBuilder& t) {
                      const TileHandle p = exp(mul_scalar(matmul(t.load(Q), t.load(K)), 0.125));
                      const TileHandle o = matmul(p, t.load(V)) / reduction(p, 1);
                      t.store(matmul(o, t.load(O)));
                    })[0],
           "Y", {dim, 1});
  return b.build();
}

KernelGraph sums_of_slices() {
  Builder b("sums_of_slices");
  const TensorHandle A = b.input("A", {16, 64}), B = b.input("B", {64, 256});
  b.output(b.custom({.grid = {}, .block = {32}},
                    [&](BlockBuilder& t) { t.store(reduction(matmul(t.load(A), t.load(B)), 1)); })[0],
           "Y", {1, 1});
  return b.build();
}

KernelGraph raw_and_mapped(std::int64_t m, std::int64_t k, std::int64_t n, int threads, bool left, bool column_major) {
  Builder b(fmt::format("raw_and_mapped_{}x{}x{}_{}{}{}", m, k, n, threads, left ? "_left" : "",
                        column_major ? "_columns" : ""));
  const graph::Shape a = {m, k}, x = {k, n};
  const auto strides = [&](const graph::Shape& s) {
    return column_major ? graph::Strides{1, s[0]} : graph::Strides{s[1], 1};
  };
  const TensorHandle A = b.input("A", a, DType::f16, strides(a)), X = b.input("X", x, DType::f16, strides(x));
  b.output(b.custom({.grid = {}, .block = {threads}},
                    [&](BlockBuilder& t) {
                      const TileHandle ta = t.load(A), tx = t.load(X);
                      t.store(matmul(ta, tx) + (left ? matmul(relu(ta), tx) : matmul(ta, relu(tx))));
                    })[0],
           "Y", {n, 1});
  return b.build();
}

}  // namespace zellige::plan
