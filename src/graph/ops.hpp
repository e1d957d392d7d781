// Lists the operators in a table: name, number of operands and results, and the levels (kernel graph, block
// graph) that allow the operator.
//
//   const OpInfo& row = info(OpKind::matmul);  // row.name == "matmul", row.inputs == 3, row.optional == 1
//   std::optional<OpKind> kind = find_op("exp");
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Families of operators; the operators of a family share the rule by which shapes are inferred.
enum class OpFamily : std::uint8_t {
  boundary,
  custom,
  matmul,
  elementwise,
  reduction,
  composed,
  join,
  rows,
  view,
  mask,
  rotary,
  accumulator,
  collective
};

/// Properties of an operator: a row of the table.
struct OpInfo {
  OpKind kind;
  std::string_view name;  // in our JSON, in messages and in the builder
  OpFamily family;
  int inputs, outputs;  // number of tensors; -1: one or more. A scalar may replace one operand
  bool kernel, block;   // whether a kernel graph and a block graph may contain it
  /// Mirage's op_type without level and "_op": "exp" for kn_exp_op and tb_exp_op. '#' replaces the digit of a
  /// dimension. Empty: Mirage lacks the operator.
  std::string_view mirage;
  int optional = 0;  // how many of `inputs`, from the last, are optional
  // Whether operands become parts of the result as they are, so that what makes an operand may write it there.
  bool places = false;
};

/// An attribute's key in Zellige's JSON form. An optional attribute that is absent has the default of Attributes.
struct AttributeKey {
  std::string_view name;
  bool required = true;
};

const OpInfo& info(OpKind);
/// Returns the JSON keys of an operator's attributes.
std::vector<AttributeKey> attribute_keys(OpKind);
/// Returns the operator of this name, or nullopt if there is none.
std::optional<OpKind> find_op(std::string_view name);
/// Returns the end of a message about an unknown operator: "; known operators of the block level are matmul,
/// ...; did you mean exp?".
std::string known_operators(std::string_view name, bool block);
/// Returns all operators, in the order of OpKind.
std::vector<OpKind> all_ops();

inline OpFamily family(OpKind kind) { return info(kind).family; }
/// Returns whether the operator loads or stores a tile of a block: input or output.
inline bool is_boundary(OpKind kind) { return family(kind) == OpFamily::boundary; }
inline bool is_accumulator(OpKind kind) { return family(kind) == OpFamily::accumulator; }

}  // namespace zellige::graph
