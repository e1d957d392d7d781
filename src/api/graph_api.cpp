// Implements zellige_graph_* of the C API: reads graphs from JSON, and describes their inputs and outputs; and
// zellige_layout*: evaluates and draws layout expressions, as the command `zellige layout` does.
#include <algorithm>

#include "api/arguments.hpp"
#include "api/caller_memory.hpp"
#include "api/guard.hpp"
#include "api/handles.hpp"
#include "graph/error.hpp"
#include "json/json.hpp"
#include "run/sized.hpp"
#include "view/expression.hpp"
#include "view/layout_picture.hpp"

using namespace zellige;
using namespace zellige::api;

namespace {

/// Returns a description of one input or output of a graph for the caller. Throws Error if the index is out
/// of range. `list`: the graph's inputs or outputs; `what`: "input" or "output", for the message.
zellige_tensor_info info(const graph::KernelGraph& g, const std::vector<int>& list, int index, const char* what) {
  const graph::KernelTensor& t = g.tensors[element_of(list, index, "graph " + g.name, what)];
  int memory = -1;
  for (std::size_t k = 0; k < g.inputs.size(); ++k)
    if (t.memory >= 0 && g.inputs[k] == t.memory) memory = static_cast<int>(k);
  return described(t, graph::bytes_of(graph::size(t.shape), t.dtype), memory);
}

std::shared_ptr<const graph::KernelGraph> graph_of(const zellige_graph* handle) {
  return object_of<const graph::KernelGraph>(handle, "graph");
}

}  // namespace

zellige_status zellige_graph_from_json(const char* text, const char* name, zellige_graph** made) {
  return guarded([&] {
    zellige_graph*& to = place_for(made, "graph");
    const std::string stem = name ? text_at(name, "name") : "graph", json = text_at(text, "text");
    json::GraphFile from(std::string_view(json), stem, stem);
    std::optional<json::Loaded> one = from.next();
    if (!one) fail("{}: expected a graph, found an empty list", stem);
    if (!one->error.empty()) throw Error(one->error);
    to = add_handle<zellige_graph>(std::make_shared<graph::KernelGraph>(std::move(one->graph)));
  });
}
void zellige_graph_free(zellige_graph* g) {
  guarded([&] { remove_handle(g, "graph"); });
}
zellige_status zellige_graph_json(const zellige_graph* g, char** text) {
  return give_text(text, "text", [&] { return json::to_json(*graph_of(g)); });
}
int zellige_graph_inputs(const zellige_graph* g) {
  return guarded_or(-1, [&] { return static_cast<int>(graph_of(g)->inputs.size()); });
}
int zellige_graph_outputs(const zellige_graph* g) {
  return guarded_or(-1, [&] { return static_cast<int>(graph_of(g)->outputs.size()); });
}
zellige_status zellige_graph_input(const zellige_graph* g, int index, zellige_tensor_info* to) {
  return guarded([&] {
    const auto graph = graph_of(g);
    place_for(to, "info") = info(*graph, graph->inputs, index, "input");
  });
}
zellige_status zellige_graph_output(const zellige_graph* g, int index, zellige_tensor_info* to) {
  return guarded([&] {
    const auto graph = graph_of(g);
    place_for(to, "info") = info(*graph, graph->outputs, index, "output");
  });
}

zellige_status zellige_graph_find_sizes(const zellige_graph* g, const int64_t* const* shapes, const int* ranks,
                                        int input_count, int64_t* sizes, int size_count) {
  return guarded([&] {
    const auto graph = graph_of(g);
    const auto count = static_cast<std::size_t>(std::max(input_count, 0));
    const auto of = array_at(shapes, count, "shapes");
    const auto rank = array_at(ranks, count, "ranks");
    std::vector<std::optional<graph::Shape>> given(count);
    for (std::size_t i = 0; i < count; ++i)
      if (of[i]) {
        const auto shape = array_at(of[i], static_cast<std::size_t>(std::clamp(rank[i], 0, 64)), "a shape");
        given[i] = graph::Shape(shape.begin(), shape.end());
      }
    const std::vector<std::int64_t> values = run::values_of_shapes(*graph, given);
    if (std::ssize(values) != size_count)
      fail("graph {}: expected {} sizes, found {}", graph->name, values.size(), size_count);
    for (std::size_t i = 0; i < values.size(); ++i) place_for(sizes + i, "sizes") = values[i];
  });
}

zellige_status zellige_layout(const char* expression, char** result) {
  return give_text(result, "result", [&] { return view::evaluate_expression(text_at(expression, "expression")).text; });
}
zellige_status zellige_layout_operations(char** list) { return give_text(list, "list", view::list_of_operations); }
zellige_status zellige_layout_svg(const char* expression, int element_bits, char** svg) {
  return give_text(svg, "svg", [&] {
    view::PictureOptions options;
    options.element_bits = view::element_bits(fmt::format("{}", element_bits));
    const std::string text = text_at(expression, "expression");
    const view::Result result = view::evaluate_expression(text);
    return view::svg(view::layout_picture(result.value, text, options));
  });
}
