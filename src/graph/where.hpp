// The place in a graph that a message points to: "graph lora[0], operator 4 (custom), block operator 6
// (matmul)".
#pragma once
#include <optional>
#include <string>

#include "graph/graph.hpp"

namespace zellige::graph {

struct Where {
  std::string graph;
  int op = -1;         // index into KernelGraph::ops; -1: the graph itself
  std::string kind{};  // its name, as a string so that an unknown operator can be named too
  int block_op = -1;   // index into BlockGraph::ops; -1: the kernel-level operator itself
  std::string block_kind{};

  Where at(int index, std::string_view name) const { return {graph, index, std::string(name), -1, {}}; }
  Where inside(int index, std::string_view name) const { return {graph, op, kind, index, std::string(name)}; }
};

inline std::string to_string(const Where& w) {
  std::string text = fmt::format("graph {}", w.graph.empty() ? "(unnamed)" : w.graph);
  if (w.op >= 0) text += fmt::format(", operator {} ({})", w.op, w.kind);
  if (w.block_op >= 0) text += fmt::format(", block operator {} ({})", w.block_op, w.block_kind);
  return text;
}

/// fail() with the place first: fail_at(where, "expected {}, found {}", 2, 3).
template <class... Args>
[[noreturn]] void fail_at(const Where& where, fmt::format_string<Args...> format, Args&&... args) {
  fail("{}: {}", to_string(where), fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zellige::graph
