// Sequential layers, and independent copies of graphs.
#pragma once
#include <fmt/format.h>

#include <optional>

#include "graph/graph.hpp"
#include "graph/infer.hpp"

namespace zellige::fuse {

/// The first output that could be the first input of the same graph again.
inline std::optional<std::size_t> chained_output(const graph::KernelGraph& g) {
  const graph::KernelTensor& in = g.tensors[g.inputs[0]];
  for (std::size_t o = 0; o < g.outputs.size(); ++o) {
    const graph::KernelTensor& out = g.tensors[g.outputs[o]];
    if (out.memory < 0 && out.dtype == in.dtype && out.shape == in.shape) return o;
  }
  return std::nullopt;
}

/// `layers` copies of a graph, each with its own inputs: in sequence if one's output can be the next one's
/// first input, else independent.
inline graph::KernelGraph stack(const graph::KernelGraph& g, int layers) {
  const std::optional<std::size_t> chained = chained_output(g);
  graph::KernelGraph s;
  s.name = g.name;
  int before = -1;  // what the layer before hands on
  for (int layer = 0; layer < layers; ++layer) {
    std::vector<int> at(g.tensors.size());
    for (std::size_t t = 0; t < g.tensors.size(); ++t) {
      at[t] = static_cast<int>(s.tensors.size());
      if (before >= 0 && static_cast<int>(t) == g.inputs[0]) {
        at[t] = before;
        continue;
      }
      s.tensors.push_back(g.tensors[t]);
      if (layers > 1) s.tensors.back().name += fmt::format("_{}", layer);
    }
    for (std::size_t t = 0; t < g.tensors.size(); ++t)
      if (g.tensors[t].memory >= 0) s.tensors[at[t]].memory = at[g.tensors[t].memory];
    const auto placed = [&](std::vector<int> list) {
      for (int& t : list) t = at[t];
      return list;
    };
    for (int t : g.inputs)
      if (before < 0 || t != g.inputs[0]) s.inputs.push_back(at[t]);
    for (graph::KernelOp op : g.ops) {
      op.inputs = placed(op.inputs), op.outputs = placed(op.outputs);
      s.ops.push_back(std::move(op));
    }
    for (std::size_t o = 0; o < g.outputs.size(); ++o)
      if (o != chained || layer + 1 == layers) s.outputs.push_back(at[g.outputs[o]]);
    before = chained ? at[g.outputs[*chained]] : -1;
  }
  return graph::infer(std::move(s));
}

}  // namespace zellige::fuse
