// Evaluates single operations of the layout algebra that are given as strings, for tests and other programs:
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

/// Returns the result of operation `op`. Throws Unreadable if the operation is unknown or an argument cannot
/// be parsed, and LayoutError or Error if the operation rejects its operands.
std::string evaluate_record(const std::string& op, const std::vector<std::string>& arguments);

/// The answer to a record: one line of JSON, {"id", "result"} or {"id", "error"}.
struct RecordAnswer {
  std::string line;
  // False if the record itself is malformed; true if the operation gave a result or rejected its operands.
  bool readable = true;
};
/// Evaluates a record, one line of JSON with "op", "args" and optionally "id", and returns the answer to it.
/// Does not throw; errors are part of the answer.
RecordAnswer answer_record(const std::string& line);

}  // namespace zellige::view
