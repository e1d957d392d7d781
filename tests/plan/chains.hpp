// Graphs whose values stay in registers: chains of matmuls; and operands read raw and mapped.
#pragma once
#include "graph/builder.hpp"

namespace zellige::plan {

struct ChainShape {
  std::int64_t m = 16, inner = 16;
  int threads = 128, products = 3;
  bool maps = false;  // relu between two products
  std::string name() const;
};

/// X W W .. W, each W (inner, inner).
graph::KernelGraph chain(const ChainShape&);

/// 480 of them: 3 and 4 products, M up to 64, inner 16 to 128, 64 to 256 threads.
std::vector<ChainShape> chains();

/// exp(Q K) V O: attention and the projection of its output, in one step of no loop.
graph::KernelGraph attention_projected(std::int64_t queries, std::int64_t keys, std::int64_t dim, int threads);

/// Row sums of a matmul with too many accumulators: it is computed in slices, and the totals span all of
/// them.
graph::KernelGraph sums_of_slices();

/// A X and A relu(X), or X A and relu(X) A, or both ways round: K of any size.
graph::KernelGraph raw_and_mapped(std::int64_t m, std::int64_t k, std::int64_t n, int threads, bool left,
                                  bool column_major);

}  // namespace zellige::plan
