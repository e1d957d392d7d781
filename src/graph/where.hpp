// Defines Where, the place in a graph that an error message names: "graph lora[0], operator 4 (custom), block
// operator 6 (matmul)".
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// A graph, one of its operators, or an operator of its block graph.
struct Where {
  std::string graph;
  int op = -1;         // index into KernelGraph::ops; -1: the graph itself
  std::string kind{};  // the operator's name; a string, so that it can be an unknown one
  int block_op = -1;   // index into BlockGraph::ops; -1: the kernel-level operator itself
  std::string block_kind{};

  /// Returns the place (for an error message) of operator number `index` of this graph. `name`: the kind of
  /// operator, such as "matmul".
  Where at(int index, std::string_view name) const { return {graph, index, std::string(name), -1, {}}; }
  /// Returns the place (for an error message) of operator number `index` in the block graph of this operator.
  /// `name`: the kind of that block operator, such as "matmul".
  Where inside(int index, std::string_view name) const { return {graph, op, kind, index, std::string(name)}; }
};

inline std::string to_string(const Where& w) {
  std::string text = fmt::format("graph {}", w.graph.empty() ? "(unnamed)" : w.graph);
  if (w.op >= 0) text += fmt::format(", operator {} ({})", w.op, w.kind);
  if (w.block_op >= 0) text += fmt::format(", block operator {} ({})", w.block_op, w.block_kind);
  return text;
}

/// Throws Error with a formatted message, preceded by the place in the graph: fail_at(where, "expected {}, found
/// {}", 2, 3).
template <class... Args>
[[noreturn]] void fail_at(const Where& where, fmt::format_string<Args...> format, Args&&... args) {
  fail("{}: {}", to_string(where), fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zellige::graph
