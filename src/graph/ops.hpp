// The table of operators: what each is called, how many tensors it takes and gives, and which level admits
// it.
//
//   const OpInfo& row = info(OpKind::matmul);   // row.name == "matmul", row.inputs == 2, row.kernel &&
//   row.block std::optional<OpKind> kind = find_op("exp");
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace zellige::graph {

/// What family an operator belongs to: one family, one rule for shapes.
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
  int inputs, outputs;  // how many tensors; -1: one or more, as the graph says; a scalar may stand for one
  bool kernel, block;   // which levels admit it
  /// The stem of Mirage's op_type: exp of kn_exp_op and tb_exp_op; '#' stands for a dimension. Empty: Mirage has none.
  std::string_view mirage;
  int optional = 0;  // how many of the last tensors may be missing
};

/// An attribute as our JSON calls it; what is not required has the default of Attributes.
struct AttributeKey {
  std::string_view name;
  bool required = true;
};

const OpInfo& info(OpKind);
std::vector<AttributeKey> attribute_keys(OpKind);
std::optional<OpKind> find_op(std::string_view name);
/// "; known operators of the block level are matmul, ...; did you mean exp?", for one that is not known.
std::string known_operators(std::string_view name, bool block);
/// Every operator, in the order of OpKind.
std::vector<OpKind> all_ops();

inline OpFamily family(OpKind kind) { return info(kind).family; }
inline bool is_accumulator(OpKind kind) { return family(kind) == OpFamily::accumulator; }

}  // namespace zellige::graph
