// Positions in a source, and the mistakes that are reported at them.
#pragma once
#include <string>
#include <vector>

#include "graph/error.hpp"

namespace zellige::ir {

/// A place in a source; lines and columns count from 1.
struct Position {
  int line = 1, column = 1;
};

/// A mistake in a source, or a plan that the proof rejects: one sentence that begins with FILE:line:column.
struct Mistake : Error {
  Mistake(const std::string& file, Position at, const std::string& what)
      : Error(fmt::format("{}:{}:{}: {}", file, at.line, at.column, what)) {}
};

/// The places of a kernel's parts in the source.
struct KernelPositions {
  Position kernel;
  std::vector<Position> nodes, layouts, tensors, setup, teardown;
  std::vector<std::vector<Position>> agents;  // by agent: of its steps, in the order of walk()
};

}  // namespace zellige::ir
