// Compares what a program's tile programs compute with its graph, in real numbers: translation validation of the lowering, and
// of a program that someone edited.
//
//   if (const auto d = difference(program, graph, inputs)) ...   // d->text(program): "store %7 writes 0.7 to C (3, 5), ..."
//
// Both are evaluated in float64, without the roundings to narrow types: kernels may round elsewhere than the graph says. Every
// output is compared, and every other tensor of the graph that a kernel stores, at all elements. A difference beyond the graph's
// float32 error (reference/rounding.hpp) is one; where that error is wide, one element of 64 may differ by it, and the others by
// 1e-4 of the tensor's size. So it proves, for these inputs, that no step of the lowering changed what is computed by more.
#pragma once
#include <optional>
#include <string>

#include "interpret/interpret.hpp"
#include "reference/reference.hpp"

namespace zellige::interpret {

/// An element of a tensor that the program computes otherwise than the graph.
struct Difference {
  int tensor = -1;  // index into TilePrograms::tensors
  graph::Shape at;
  double found = 0, expected = 0;
  LastStore by{};                  // who wrote it
  std::int64_t count = 1, of = 1;  // elements of the tensor that differ, of how many

  /// Returns what is wrong, in words: "store %7 writes 0.7 to C (3, 5), where the graph has 0.5".
  std::string text(const tile::TilePrograms&) const;
};

/// Returns the tensors of the graph that the program stores, each with its index in the program: all outputs, and tensors of the
/// graph's name and shape that have memory of their own.
std::vector<std::pair<int, int>> stored_tensors(const tile::TilePrograms&, const graph::KernelGraph&);

/// Returns a difference between the program and the graph at these inputs, of the store that comes first in launch order; none
/// if there is none. Elements that are not finite in the graph are not compared.
std::optional<Difference> difference(const tile::TilePrograms&, const graph::KernelGraph&,
                                     const std::vector<reference::Array>& inputs);

}  // namespace zellige::interpret
