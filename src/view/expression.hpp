// Evaluates the expressions of `zellige layout`: values in CuTe's notation, with operations, composition,
// slices and calls.
//
//   evaluate_expression("logical_divide((8,8):(8,1), (2,2))").text   // "((2,4),(2,4)):((8,16),(1,2))"
//   evaluate_expression("Sw<3,3,3> o (_8,_64):(_64,_1)").text        // "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"
//   evaluate_expression("(8,8):(8,1)(_,3)").text                     // "(8):(8)"
//   evaluate_expression("upcast<4>(composition(complement(4:2, 24), 3:1))")
//
// A layout, tensor or swizzle followed by parentheses is called; with `_` among the coordinates it is
// sliced. `A o B` is composition. If b in `A o b o C` is a number, it is CuTe's composed layout, the
// function c -> A(b + C(c)). Operations have CuTe's names. Template arguments are written as in C++ or
// after the first operand: `get<0>(L)` or `get(L, 0)`.
//
// Lists the operations that expressions of `zellige layout` may call, such as composition or logical_divide.
// They are taken from the library's tables, which have each operation's names and the kinds of its operands
// (zellige/layout/signature.hpp). Evaluates single operations that are given as strings, for tests and other programs, too:
// the operation's name, its operands and the result are strings in CuTe's notation.
//
//   evaluate_record("composition", {"(8):(2)", "(4):(2)"})                                   // "(4):(4)"
//   answer_record(R"({"id": 1, "op": "size", "args": ["(4,8):(8,1)"]})").line   // {"id":1,"result":"32"}
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/algebra/value.hpp>
#include <zellige/layout/evaluate.hpp>

#include "graph/error.hpp"

namespace zellige::view {

/// An error in an expression: one sentence, then the expression with a caret below the place.
struct ExpressionError : Error {
  ExpressionError(std::string sentence, const std::string& marks)
      : Error(fmt::format("{}\n{}", sentence, marks)), sentence(std::move(sentence)) {}
  std::string sentence;
};

/// The result of an expression.
struct Result {
  Value value = nothing();  // `nothing` if the result is a string only, as that of print_layout
  std::string text;
};

/// Returns the value of an expression. Throws ExpressionError if it cannot be parsed or evaluated.
Result evaluate_expression(std::string_view text);

/// An operand, and its position in the expression, for messages.
struct PlacedOperand : ParsedOperand {
  std::size_t at = 0;
};

/// Returns all operations: those on layouts and numbers, those on tensors, and those on instructions (atoms)
/// and tiled copies and MMAs.
const std::vector<Operation>& operations();
/// Returns the operations with this name, one per kind of operands; empty if there is none.
Rows named(std::string_view name);
/// Returns a hint for an unknown name, such as "; did you mean size?", or "" if no operation has a similar name.
std::string near_operation(std::string_view name);
/// Returns the list that `zellige layout --list` prints: one line per name and kind of operands.
std::string list_of_operations();

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
