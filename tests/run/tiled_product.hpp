// A product as a custom operator whose tiles of 128 x 128 are planned on warpgroups.
//
//   tiled({.m = 128, .n = 256, .k = 1024, .a_along_m = false, .b_along_k = true, .dtype = DType::f16})
#pragma once
#include "graph/builder.hpp"

namespace zellige::run {

/// A product of m x k and k x n, and which dimension of each operand is contiguous.
struct TiledProduct {
  std::int64_t m, n, k;
  bool a_along_m, b_along_k;
  graph::DType dtype;
};

inline graph::KernelGraph tiled(const TiledProduct& c) {
  graph::Builder b("tiled");
  const graph::Strides along_m{1, c.m}, along_k{1, c.k};
  auto A = b.input("A", {c.m, c.k}, c.dtype, c.a_along_m ? along_m : graph::Strides{});
  auto B = b.input("B", {c.k, c.n}, c.dtype, c.b_along_k ? along_k : graph::Strides{});
  b.output(b.custom({.grid = {c.n / 128, c.m / 128}, .block = {256}, .loop = c.k / 64},
                    [&](graph::BlockBuilder& t) {
                      auto product = matmul(t.load(A, {.y = 0, .loop = 1}), t.load(B, {.x = 1, .loop = 0}));
                      t.store(accum(product), {.x = 1, .y = 0});
                    })[0],
           "C", {c.n, 1});
  return b.build();
}

}  // namespace zellige::run
