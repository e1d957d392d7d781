// Interprets one block of a kernel: evaluates the nodes of its tile program before, in and after its loop.
#pragma once
#include "interpret/interpret.hpp"
#include "reference/evaluate.hpp"
#include "tile/sections.hpp"

namespace zellige::interpret {

class InterpretedBlock {
 public:
  InterpretedBlock(const tile::TilePrograms&, const tile::TileProgram&, int kernel, Rounding, Memory&);
  /// Runs the block of the grid, with its loads from the memory and its stores to it.
  void run(const graph::Dim3& block);

 private:
  void evaluate(tile::Section, std::int64_t iteration);
  void evaluate(int node, std::int64_t iteration);
  void move(const tile::Node&, std::int64_t iteration, reference::Array& value);
  void map(const tile::Node&, std::int64_t iteration, reference::Array& value);
  void matmul(const tile::Node&, std::int64_t iteration, reference::Array& value);
  void fold(const tile::Node&, std::int64_t iteration, reference::Array& value);
  void running_max(int node, std::int64_t iteration);
  void rearrange(const tile::Node&, reference::Array& value);
  void rotate(const tile::Node&, reference::Array& value);
  Places places(const tile::Node&, std::int64_t iteration) const;
  /// Rounds a value to a dtype, if it is one of integers or if roundings are asked for.
  void round(graph::DType, reference::Array& value) const;

  reference::OperandValues operand(const tile::Node& n, std::size_t k) const { return values_[n.in[k]]; }
  graph::DType dtype(const tile::Node& n, std::size_t k) const { return p_.nodes[n.in[k]].dtype; }

  const tile::TilePrograms& program_;
  const tile::TileProgram& p_;
  int kernel_;
  bool rounds_;
  Memory& memory_;
  tile::Sections sections_;
  std::vector<bool> needed_;
  graph::Dim3 block_;
  std::vector<reference::Array> values_;     // by node
  std::vector<std::vector<double>> before_;  // by running_max: its value in the iteration before
  std::vector<double> product_;              // of a matmul, in one iteration
};

}  // namespace zellige::interpret
