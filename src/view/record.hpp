// Evaluates records {"op", "args"}: an operation's name and its operands as strings in CuTe's notation; so is
// the result.
#pragma once
#include <string>
#include <vector>

#include "graph/error.hpp"

namespace zellige::view {

/// An unknown operation, or an argument that cannot be parsed.
struct Unreadable : Error {
  using Error::Error;
};

/// Returns the result. Throws Unreadable, or LayoutError or Error if the operation rejects its operands.
std::string evaluate_record(const std::string& op, const std::vector<std::string>& arguments);

/// One line of JSON in, one out: {"id", "result"} or {"id", "error"}.
struct Answer {
  std::string line;
  bool readable = true;
};
Answer answer_record(const std::string& line);

}  // namespace zellige::view
