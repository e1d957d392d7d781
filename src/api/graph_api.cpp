// zellige_graph_*: graphs as JSON text, and what they take and give.
#include "api/graph_api.hpp"

#include "api/arguments.hpp"
#include "api/guard.hpp"
#include "graph/candidates.hpp"
#include "graph/error.hpp"
#include "graph/json.hpp"

using namespace zellige;
using namespace zellige::api;

namespace {

zellige_tensor_info info(const graph::KernelGraph& g, const std::vector<int>& list, int index,
                         const char* what) {
  if (index < 0 || index >= static_cast<int>(list.size()))
    fail("graph {}: has {} {}s, counted from 0, found {}", g.name, list.size(), what, index);
  const graph::KernelTensor& t = g.tensors[static_cast<std::size_t>(list[static_cast<std::size_t>(index)])];
  zellige_tensor_info i{};
  i.name = t.name.c_str();
  i.dtype = graph::name(t.dtype).data();
  i.rank = static_cast<int32_t>(t.shape.size());
  i.shape = t.shape.data();
  i.strides = t.strides.empty() ? nullptr : t.strides.data();
  i.bytes = graph::size(t.shape) * graph::bytes(t.dtype);
  i.alignment = alignment;
  i.memory = -1;
  for (std::size_t k = 0; k < g.inputs.size(); ++k)
    if (t.memory >= 0 && g.inputs[k] == t.memory) i.memory = static_cast<int32_t>(k);
  i.constant = t.constant;
  return i;
}

}  // namespace

zellige_status zellige_graph_from_json(const char* text, const char* name, zellige_graph** made) {
  return guarded([&] {
    const std::string stem = name ? name : "graph";
    graph::Candidates from(std::string_view(text), stem, stem);
    std::optional<graph::Loaded> one = from.next();
    if (!one) fail("{}: expected a graph, found an empty list", stem);
    if (!one->error.empty()) throw Error(one->error);
    *made = new zellige_graph{std::move(one->graph)};
  });
}
void zellige_graph_free(zellige_graph* g) { delete g; }
zellige_status zellige_graph_json(const zellige_graph* g, char** text) {
  return guarded([&] { *text = text_copy(graph::to_json(g->graph)); });
}
int zellige_graph_inputs(const zellige_graph* g) { return static_cast<int>(g->graph.inputs.size()); }
int zellige_graph_outputs(const zellige_graph* g) { return static_cast<int>(g->graph.outputs.size()); }
zellige_status zellige_graph_input(const zellige_graph* g, int index, zellige_tensor_info* to) {
  return guarded([&] { *to = info(g->graph, g->graph.inputs, index, "input"); });
}
zellige_status zellige_graph_output(const zellige_graph* g, int index, zellige_tensor_info* to) {
  return guarded([&] { *to = info(g->graph, g->graph.outputs, index, "output"); });
}
