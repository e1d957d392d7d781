// Finds the values of sizes in the shapes of tensors: of a call of a program, or of a graph.
//
//   const SizesOf of{"program", "rows", sizes};                   // T, and K has P + T rows
//   found_sizes(of, {{&T, 5, "input", "X", 0}, {&rows, 7, "input", "K", 0}})   // 5, 2
//   // ... of X(5, ..) and Y(6, ..): program rows: T is 5, dimension 0 of input X, and 6, dimension 0 of output Y
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "tile/size_expression.hpp"

namespace zellige::tile {

/// The sizes of something, with what it is and its name for messages: "program", "rows".
struct SizesOf {
  std::string_view what, name;
  const SizeList& sizes;
};

/// An extent of a tensor as an expression of sizes, and as it was found.
struct FoundExtent {
  const SizeExpression* is;
  std::int64_t found;
  std::string_view role, tensor;  // "input", "X"
  int dim;
};

/// Returns the values of all sizes at which all extents are as they were found. Throws Error, with both values and where each is
/// from, if extents contradict each other; if a size is out of its range; or if no extent gives it: `otherwise` ends that message.
std::vector<std::int64_t> found_sizes(const SizesOf&, const std::vector<FoundExtent>&, std::string_view otherwise = {});

/// Throws Error, with the value, what it may be and, if it is known, where the value is from, unless size number `size` may have it.
void check_value(const SizesOf&, std::size_t size, std::int64_t value, const std::function<std::string()>& origin = {});

}  // namespace zellige::tile
