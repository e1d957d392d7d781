// The epilogue of a product that a rule makes a custom operator: the elementwise operators that follow the product, such as a bias,
// an activation, a residual or the gate of two products. They become part of the custom operator.
//
//   silu(x w^T) (x v^T) + r      products x w^T and x v^T, operators silu, mul and add; r is loaded
//
//   const EpilogueReader reader(g, {.is_product = ..., .together = ...});
//   if (const std::optional<Epilogue> e = reader.ending_at(op))   // `op` is the last operator, here the add
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "rewrite/rewrite.hpp"

namespace zellige::rewrite {

/// One product, or several that are computed in one kernel, and the operators that follow them.
struct Epilogue {
  std::vector<const KernelOp*> products;
  std::vector<const KernelOp*> ops;  // each after those whose results it reads; none: the product alone
  int result = -1;                   // the tensor that the last operator makes
};

/// Which products a kernel may compute.
struct EpilogueProducts {
  std::function<bool(const KernelOp&)> is_product;
  std::function<bool(const KernelOp&, const KernelOp&)> together;  // whether one kernel may compute both
  std::size_t max_products = 2;                                    // products of a kernel
};

/// Finds the epilogues of a graph.
class EpilogueReader {
 public:
  EpilogueReader(const Known& g, EpilogueProducts products) : g_(g), products_(std::move(products)) {}

  /// Returns the epilogue whose last operator is `op`, or the product `op` if none follows it. Nobody else reads what the operators
  /// before the last one make. Each has the product's rows and columns; of other operands each has all of the rows or one, and all of the
  /// columns or one. Returns nullopt if `op` makes nothing of a product, or if a further operator belongs to the epilogue.
  std::optional<Epilogue> ending_at(const KernelOp& op) const;

 private:
  /// Returns the operators of which `op` is the last one, further ones perhaps after it.
  std::optional<Epilogue> with_last(const KernelOp& op) const;
  bool collect(const KernelOp& op, Epilogue& to, std::set<const KernelOp*>& seen) const;

  const Known& g_;
  EpilogueProducts products_;
};

/// Returns a shape as that of a matrix whose columns are its last dimension; a vector is one row.
Shape as_matrix(const Shape&);

/// Adds the operators of an epilogue to a block graph. `tiles`: by tensor, those of the products. `load(t)` returns the tile of another operand,
/// `add` adds an operator and returns its tile. Returns the tile of the result.
int add_epilogue(const Epilogue&, std::map<int, int> tiles, const std::function<int(int)>& load,
                 const std::function<int(const KernelOp&, std::vector<int>)>& add);

}  // namespace zellige::rewrite
