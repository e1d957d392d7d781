// Which dimensions of a tile program have the same extent, whatever it is: those of the values that an operator combines element by
// element, of both operands of a sum of products, and of tiles of equal extents that the same digit of the blocks' index numbers or the loop divides.
//
//   const SizeClasses of(kernel);
//   of.along(node, dim)   // a number; -1: the value is the same along the dimension, or has one element there
#pragma once
#include <string>
#include <vector>

#include "tile/program.hpp"

namespace zellige::tile {

class SizeClasses {
 public:
  explicit SizeClasses(const TileProgram&);
  /// Returns the class of a dimension of a node's value.
  int along(int node, int dim) const;
  /// Returns the class over which the node sums or takes a maximum; -1: none, or of several iterations alone.
  int folded(int node) const;
  /// Returns the class of a dimension of the tensor of a load or store, or of what a mask masks; -1: it has one element.
  int of_view(int node, int dim) const;
  /// Returns the node that needs the class to be a constant; -1: none.
  int needs_constant(int which) const;

 private:
  int fresh();
  int root(int which) const;
  int join(int a, int b);
  void constant(int which, int node);
  void label(int node);
  void label_matmul(int node);
  void join_tiles();

  const TileProgram& p_;
  std::vector<int> same_;                   // by class: one that it is the same as
  std::vector<int> constant_;               // by class, as needs_constant() has it of roots
  std::vector<std::vector<int>> of_value_;  // by node and dimension
  std::vector<std::vector<int>> of_view_;   // by node and dimension, of loads, stores and masks
};

}  // namespace zellige::tile
