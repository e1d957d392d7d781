// Interprets one block of a kernel: evaluates the nodes of its tile program before, in and after its loop.
#pragma once
#include "interpret/interpret.hpp"
#include "reference/evaluate.hpp"
#include "tile/sections.hpp"

namespace zellige::plan {

class Block {
 public:
  Block(const Program&, const TileProgram&, int kernel, Rounding, Memory&);
  /// Runs the block of the grid, with its loads from the memory and its stores to it.
  void run(const graph::Dim3& block);

 private:
  void evaluate(Section, std::int64_t iteration);
  void evaluate(int node, std::int64_t iteration);
  void move(const Node&, std::int64_t iteration, graph::Array& value);
  void map(const Node&, std::int64_t iteration, graph::Array& value);
  void matmul(const Node&, std::int64_t iteration, graph::Array& value);
  void fold(const Node&, std::int64_t iteration, graph::Array& value);
  void running_max(int node, std::int64_t iteration);
  void rearrange(const Node&, graph::Array& value);
  void rotate(const Node&, graph::Array& value);
  Places places(const Node&, std::int64_t iteration) const;
  /// Rounds a value to a dtype, if it is one of integers or if roundings are asked for.
  void round(DType, graph::Array& value) const;

  graph::Operand operand(const Node& n, std::size_t k) const { return operand(n.in[k]); }
  graph::Operand operand(int node) const { return {values_[node].shape, values_[node].values.data()}; }
  DType dtype(const Node& n, std::size_t k) const { return p_.nodes[n.in[k]].dtype; }

  const Program& program_;
  const TileProgram& p_;
  int kernel_;
  bool rounds_;
  Memory& memory_;
  Sections sections_;
  std::vector<bool> needed_;
  graph::Dim3 block_;
  std::vector<graph::Array> values_;         // by node
  std::vector<std::vector<double>> before_;  // by running_max: its value in the iteration before
  std::vector<double> product_;              // of a matmul, in one iteration
};

}  // namespace zellige::plan
