// Random tensor graphs, identified by a seed: any operator of either level, primes, odd strides, grids, loops
// and blocks.
//
//   graph::KernelGraph g = random_graph(17);      // valid, and small enough to compile and emulate in about a second
//   Coverage c; c.add(g); puts(c.table().c_str());
#pragma once
#include <map>
#include <set>

#include "value.hpp"

namespace zellige::random_graphs {

/// Every tenth seed draws a chain.
graph::KernelGraph random_graph(std::uint64_t seed);
constexpr std::uint64_t chain_every = 10;

/// One custom operator: a chain of 2 to 6 products.
graph::KernelGraph random_chain(std::uint64_t seed);

/// Operators of the kernel level alone.
graph::KernelGraph random_unfused(std::uint64_t seed);

/// A matmul with M of 1 to 77, any K and N, of any dtype, with the epilogues of models.
graph::KernelGraph random_product(std::uint64_t seed);

/// A product of 1 to 330 rows with a weight of 4 or 8 bits, scales and zero points.
graph::KernelGraph random_weights(std::uint64_t seed);

/// The features that a set of graphs exercises.
struct Coverage {
  int graphs = 0, chains = 0, with_tail = 0, with_reread = 0, with_matmul = 0, with_prime = 0, with_loop = 0,
      with_strides = 0;
  std::map<std::string, int> kernel_operators, block_operators, dtypes, threads, ranks;

  void add(const graph::KernelGraph&);
  std::string table() const;
  /// The features below the requirement for 2,000 graphs, in proportion; "" if there are none.
  std::string shortfall() const;
};

// The generator's own parts.
using KernelValue = Value<graph::KernelLevel>;
using BlockValue = Value<graph::BlockLevel>;

/// Sizes and inputs, as both levels draw them.
class RandomBuilder {
 public:
  RandomBuilder(Rng& rng, graph::Builder& builder, graph::DType dtype) : rng(rng), builder(builder), dtype(dtype) {}

  /// An extent, often prime, of at most `maximum`.
  std::int64_t extent(std::int64_t maximum);
  graph::Strides strides(const Shape&);
  KernelValue input(const Shape&);
  /// An input whose integers name rows.
  graph::TensorHandle numbers(const Shape&);

  Rng& rng;
  graph::Builder& builder;
  graph::DType dtype;
  std::vector<KernelValue> pool;  // inputs and results so far
  std::set<int> placed = {};      // results in the memory of an input
  bool whole = false;             // extents that instructions divide
  bool large = false;

 private:
  int inputs_ = 0;
};

/// One custom operator; its results join the pool.
void random_custom(RandomBuilder&);

}  // namespace zellige::random_graphs
