// Invariants of any graph that a parser accepts, for any input bytes.
#pragma once
#include <cstdlib>

#include "../loaded.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"

namespace zellige::graph::fuzz {

/// Is the graph small enough to be run for every input of a fuzzer?
inline bool small(const KernelGraph& g) {
  std::int64_t elements = 0;
  for (const KernelTensor& t : g.tensors) elements += size(t.shape);
  if (elements > 20000) return false;
  for (const KernelOp& op : g.ops) {
    if (op.kind == OpKind::matmul && elements > 2000) return false;
    if (op.block && (op.block->grid.count() > 64 || op.block->loop > 64 || op.block->ops.size() > 64)) return false;
  }
  return g.ops.size() <= 64;
}

/// It has one serialised form, which parses to itself, and it can be run.
inline void check(const KernelGraph& g) {
  const std::string text = json::to_json(g);
  if (json::to_json(json::from_json(json::parse_json(text, "json"), "json")) != text) std::abort();
  if (!small(g)) return;
  std::vector<reference::Array> inputs;
  for (int t : g.inputs) inputs.push_back(reference::make_array(g.tensors[t].shape));
  reference::ReferenceOptions options;
  options.threads = 1;
  if (reference::run_reference(g, inputs, options).size() != g.outputs.size()) std::abort();
}

/// Errors are how a parser refuses; anything else is a finding.
inline void parse(const std::uint8_t* data, std::size_t bytes) {
  try {
    for (const json::Loaded& l : json::load_text({reinterpret_cast<const char*>(data), bytes}, "fuzz", "fuzz"))
      if (l.error.empty()) check(l.graph);
  } catch (const Error&) {
  }
}

}  // namespace zellige::graph::fuzz
