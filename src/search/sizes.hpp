// Describes the sizes of one or two graphs as a system of equations over variables: which extents, grids,
// loops and tiles are equal, which are products of others, and which are sums of others. shrink.hpp solves
// the system with smaller values.
//
//   Sizes sizes;
//   GraphSizes a = sizes.add(A), b = sizes.add(B);                       // the variables of graphs A and B
//   sizes.same(a.tensors[A.inputs[0]][0], b.tensors[B.inputs[0]][0]);    // the first extents of their first inputs
#pragma once
#include "graph/graph.hpp"

namespace zellige::search {

/// The size variables of one graph, as indices in a system of equations (Sizes); -1: none.
struct GraphSizes {
  using Extents = std::vector<int>;
  /// The size variables of one operator, as indices in the system of equations; -1: none.
  struct Op {
    int to = -1;  // reduction: the extent that it leaves
    // Split: its parts; reshape, expand: the result's extents; norm: the normalized extents.
    std::vector<int> parts;
    std::array<int, 3> grid{-1, -1, -1};
    int loop = -1;
    std::vector<Extents> tiles;  // by index into BlockGraph::tensors
    std::vector<Op> body;        // by index into BlockGraph::ops
  };
  std::vector<Extents> tensors;  // by index into KernelGraph::tensors
  std::vector<Op> ops;           // by index into KernelGraph::ops
};

/// A system of equations of sizes. Variables with equal values may be declared to be the same.
struct Sizes {
  /// The equation whole = product of the factors. `owner` is the index of the graph that it is from.
  struct Product {
    int whole;
    std::vector<int> factors;
    int owner;
  };
  /// The equation whole = sum of the parts.
  struct Sum {
    int whole;
    std::vector<int> parts;
  };

  /// Adds the sizes of a valid graph as variables, with the equations between them, and returns the variables.
  /// Throws Error if an operator, such as a slice, has attributes with sizes that cannot shrink.
  GraphSizes add(const graph::KernelGraph&);
  /// Adds a variable, whose size in the given graphs is `value`, and returns the variable's index.
  int variable(std::int64_t value);
  /// Adds the equation whole = product of the factors, of the graph that add() adds.
  void product(int whole, std::vector<int> factors);
  /// Declares that variables u and v are the same size. Throws Error if their values in the given graphs differ.
  void same(int u, int v);
  /// Returns the variable that represents all variables declared to be the same as u.
  int find(int u) const;
  /// Returns the size that variable u has in the given graphs.
  std::int64_t value(int u) const { return values[u]; }
  /// Returns the number of variables.
  int count() const { return static_cast<int>(values.size()); }

  std::vector<std::int64_t> values;  // by variable
  std::vector<int> parent;           // union-find
  std::vector<Product> products;
  std::vector<Sum> sums;
  std::vector<std::pair<int, int>> launches;  // every grid axis and loop, with the index of its graph
  std::vector<int> reductions;                // the extents to which dimensions are reduced
  // The variables whose values may influence results: the counts of summands of sums, products and means, and the trip
  // counts of loops.
  std::vector<int> counted;
  std::vector<std::pair<int, int>> triangles;  // rows and columns of every matrix of which a triangle is masked
  int owner = -1;                              // index of the graph that was added last
};

}  // namespace zellige::search
