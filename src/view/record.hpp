// Evaluates single operations of the layout algebra that are given as text, for tests and other programs:
// the operation's name, its operands and the result are strings in CuTe's notation.
//
//   evaluate_record("composition", {"(8):(2)", "(4):(2)"})                                   // "(4):(4)"
//   answer_record(R"({"id": 1, "op": "size", "args": ["(4,8):(8,1)"]})").line   // {"id":1,"result":"32"}
#pragma once
#include <string>
#include <vector>

#include "graph/error.hpp"

namespace zellige::view {

/// Thrown for an unknown operation, or an argument that cannot be parsed.
struct Unreadable : Error {
  using Error::Error;
};

/// Returns the result of an operation. Throws Unreadable, or LayoutError or Error if the operation rejects
/// its operands.
std::string evaluate_record(const std::string& op, const std::vector<std::string>& arguments);

/// The answer to a record: one line of JSON, {"id", "result"} or {"id", "error"}.
struct Answer {
  std::string line;
  // False if the record itself is malformed; true if the operation gave a result or rejected its operands.
  bool readable = true;
};
/// Returns the answer to a record, which is one line of JSON with "op", "args" and optionally "id". Does
/// not throw.
Answer answer_record(const std::string& line);

}  // namespace zellige::view
