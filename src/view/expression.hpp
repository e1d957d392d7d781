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
#pragma once
#include <string>
#include <string_view>
#include <zellige/layout/algebra/value.hpp>

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

}  // namespace zellige::view
