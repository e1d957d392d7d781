// The table of operators: the name of each, the number of its operands and results, and the levels that admit
// it.
//
//   const OpInfo& row = info(OpKind::matmul);  // row.name == "matmul", row.inputs == 2
//   std::optional<OpKind> kind = find_op("exp");
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace zellige::graph {

/// The family of an operator; one family has one rule for shapes.
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
  accumulator
};

struct OpInfo {
  OpKind kind;
  std::string_view name;  // in our JSON, in messages and in the builder
  OpFamily family;
  int inputs, outputs;  // number of tensors; -1: one or more, as in the graph; a scalar may replace one
  bool kernel, block;   // levels that admit it
  /// The stem of Mirage's op_type: exp of kn_exp_op and tb_exp_op; '#' represents a dimension. Empty: not in
  /// Mirage.
  std::string_view mirage;
  int optional = 0;  // how many of the last operands are optional
};

/// An attribute's name in our JSON; an optional attribute has the default of Attributes.
struct AttributeKey {
  std::string_view name;
  bool required = true;
};

const OpInfo& info(OpKind);
std::vector<AttributeKey> attribute_keys(OpKind);
std::optional<OpKind> find_op(std::string_view name);
/// "; known operators of the block level are matmul, ...; did you mean exp?", for an unknown name.
std::string known_operators(std::string_view name, bool block);
/// Every operator, in the order of OpKind.
std::vector<OpKind> all_ops();

inline OpFamily family(OpKind kind) { return info(kind).family; }
inline bool is_accumulator(OpKind kind) { return family(kind) == OpFamily::accumulator; }

}  // namespace zellige::graph
