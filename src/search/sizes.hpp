// The sizes of one or two graphs as a system of equations: which extents, grids, loops and tiles are equal,
// which are products of others, and which are totals of others.
//
//   Sizes sizes;
//   GraphSizes a = sizes.add(A), b = sizes.add(B);
//   sizes.same(a.tensors[A.inputs[0]][0], b.tensors[B.inputs[0]][0]);
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::search {

/// The variables of a graph's sizes in the system.
struct GraphSizes {
  using Extents = std::vector<int>;
  struct Op {
    int to = -1;             // reduction
    std::vector<int> parts;  // split; reshape: the result's extents; norm over several dimensions: theirs
    std::array<int, 3> grid{-1, -1, -1};
    int loop = -1;
    std::vector<Extents> tiles;  // by index into BlockGraph::tensors
    std::vector<Op> body;        // by index into BlockGraph::ops
  };
  std::vector<Extents> tensors;  // by index into KernelGraph::tensors
  std::vector<Op> ops;           // by index into KernelGraph::ops
};

class Sizes {
 public:
  /// whole = product of the factors. `owner`: the graph's index.
  struct Product {
    int whole;
    std::vector<int> factors;
    int owner;
  };
  /// whole = sum of the parts.
  struct Sum {
    int whole;
    std::vector<int> parts;
  };

  /// The graph must be valid.
  GraphSizes add(const graph::KernelGraph&);
  void same(int u, int v);
  int find(int u) const;
  std::int64_t value(int u) const { return values_[u]; }
  int count() const { return static_cast<int>(values_.size()); }
  const std::vector<Product>& products() const { return products_; }
  const std::vector<Sum>& sums() const { return sums_; }
  /// (variable, owner) of every grid axis and loop.
  const std::vector<std::pair<int, int>>& launches() const { return launches_; }
  /// The number of elements that each reduction leaves.
  const std::vector<int>& reductions() const { return reductions_; }

 private:
  friend class SizesOfGraph;
  int variable(std::int64_t value);
  void product(int whole, std::vector<int> factors);

  std::vector<std::int64_t> values_;
  std::vector<int> parent_;
  std::vector<Product> products_;
  std::vector<Sum> sums_;
  std::vector<std::pair<int, int>> launches_;
  std::vector<int> reductions_;
  int owner_ = -1;
};

}  // namespace zellige::search
