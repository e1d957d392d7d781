#include <cmath>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/sized_graph.hpp"
#include "json/json.hpp"

namespace zellige::json {
namespace {

/// Returns the names of the tensors with these indices, as a JSON list.
template <class Tensor>
Json names(const std::vector<int>& indices, const std::vector<Tensor>& tensors) {
  Json list = Json::array();
  for (int t : indices) list.push_back(tensors[t].name);
  return list;
}

using Of = graph::IntegerPlace::Of;

/// Returns an integer of the graph: a number, or its expression.
Json integer_json(const graph::KernelGraph& g, const graph::IntegerPlace& place) {
  const graph::SymbolicExtent e = graph::integer_of(g, place);
  if (!e.sizes().empty()) return to_string(e);
  return evaluate(e, {});
}

/// Returns `count` integers of the graph from `place` on, as a JSON list.
Json integers_json(const graph::KernelGraph& g, graph::IntegerPlace place, std::size_t count) {
  Json list = Json::array();
  for (; place.entry < static_cast<int>(count); ++place.entry) list.push_back(integer_json(g, place));
  return list;
}

/// Returns the graph's sizes as a JSON object, without optional entries that have their default.
Json sizes_json(const std::vector<graph::NamedSize>& sizes) {
  Json j = Json::object();
  for (const graph::NamedSize& s : sizes) {
    Json& one = j[s.name] = {{"min", s.min}, {"max", s.max}};
    if (s.multiple != 1) one["multiple"] = s.multiple;
    if (!s.typical.empty()) one["typical"] = s.typical;
  }
  return j;
}

/// Returns an operator's results as a JSON list. Each element is a name, or an object if the graph sets the
/// result's strides or the input whose memory it shares.
Json results(const graph::KernelOp& op, const graph::KernelGraph& g) {
  Json list = Json::array();
  for (int t : op.outputs) {
    const graph::KernelTensor& tensor = g.tensors[t];
    Json j = {{"name", tensor.name}};
    if (!tensor.strides.empty()) j["strides"] = integers_json(g, {Of::strides, t}, tensor.strides.size());
    if (tensor.memory >= 0) j["memory"] = g.tensors[tensor.memory].name;
    list.push_back(j.size() > 1 ? j : Json(tensor.name));
  }
  return list;
}

/// Returns x as a JSON number. Infinities, which JSON lacks, become the strings "inf" and "-inf".
Json scalar_text(double x) {
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

/// Adds an attribute of an unfold, unless it has its default.
void put_unfold(Json& j, const std::string& name, const std::vector<std::int64_t>& sizes) {
  if (name == "size") j[name] = sizes[0];
  if (name == "step" && sizes[1] != 1) j[name] = sizes[1];
  if (name == "dilation" && sizes[2] != 1) j[name] = sizes[2];
  if (name == "padding" && (sizes[3] != 0 || sizes[4] != 0)) j[name] = {sizes[3], sizes[4]};
}

/// Adds an operator's attributes to its JSON object, without optional ones that have their default.
/// `operands`: number of tensor operands.
void put_attributes(Json& j, graph::OpKind kind, const graph::Attributes& a, std::size_t operands) {
  for (const graph::AttributeKey& key : graph::attribute_keys(kind)) {
    const std::string name(key.name);
    if (name == "scalar" && (key.required || graph::takes_scalar(kind, operands))) j[name] = scalar_text(a.scalar);
    if (name == "lo") j[name] = a.lo;
    if (name == "hi") j[name] = a.hi;
    if (name == "eps" && a.eps != 0) j[name] = a.eps;
    const bool several = graph::reduces(kind) && !a.sizes.empty();
    if (name == "dim" && several) j[name] = a.sizes;
    if (name == "dim" && !several) j[name] = a.dim;
    if (name == "to") j[name] = a.to;
    const bool list = name == "sizes" || name == "dims" || name == "shape" || name == "normalized_shape";
    if (list && (key.required || !a.sizes.empty())) j[name] = a.sizes;
    if (kind == graph::OpKind::unfold) put_unfold(j, name, a.sizes);
    if (name == "start" && (key.required || a.start != 0)) j[name] = a.start;
    if (name == "end") j[name] = a.end;
    if (name == "dtype") j[name] = graph::name(a.dtype);
    if (name == "precision" && a.dtype != graph::DType::f32) j[name] = graph::name(a.dtype);
    if (name == "tf32" && a.tf32) j[name] = true;
    if (name == "saturate" && a.saturate) j[name] = true;
    if (name == "keepdim") j[name] = a.keepdim;
    if (name == "tril" && a.kept.tril) j[name] = *a.kept.tril;
    if (name == "triu" && a.kept.triu) j[name] = *a.kept.triu;
    if (name == "length" && a.kept.length) j[name] = *a.kept.length;
    if (name == "first" && a.kept.first) j[name] = true;
    if (name == "root") j[name] = a.start;
    if (name == "value" && a.value != graph::Attributes{}.value) j[name] = scalar_text(a.value);
  }
}

/// Replaces the attributes of a kernel operator that depend on the graph's sizes by the expressions themselves.
void put_expressions(Json& j, const graph::KernelOp& op, const graph::KernelGraph& g) {
  const int index = static_cast<int>(&op - g.ops.data());
  for (const char* name : {"shape", "normalized_shape", "sizes"})
    if (j.contains(name)) j[name] = integers_json(g, {Of::sizes, index}, op.attributes.sizes.size());
  for (const auto& [name, of] : {std::pair{"start", Of::start},
                                 {"end", Of::end},
                                 {"tril", Of::tril},
                                 {"triu", Of::triu},
                                 {"length", Of::length}})
    if (g.sizes->integers.contains({of, index})) j[name] = integer_json(g, {of, index});
}

Json map_object(const std::array<int, 3>& map) {
  Json j = Json::object();
  for (int axis = 0; axis < 3; ++axis)
    if (map[axis] >= 0) j[std::string(1, "xyz"[axis])] = map[axis];
  return j;
}

Json block_operator(const graph::BlockOp& op, const graph::KernelOp& custom, const graph::BlockGraph& b,
                    const graph::KernelGraph& g) {
  Json j = {{"op", graph::name(op.kind)}};
  if (op.kind == graph::OpKind::input) {
    j["from"] = g.tensors[custom.inputs[op.kernel_tensor]].name;
    j["map"] = map_object(op.map);
    j["loop_dim"] = op.loop_dim;
    if (!op.attributes.sizes.empty()) j["shape"] = op.attributes.sizes;
    j["outputs"] = names(op.outputs, b.tensors);
  } else if (op.kind == graph::OpKind::output) {
    j["inputs"] = names(op.inputs, b.tensors);
    j["map"] = map_object(op.map);
    j["to"] = g.tensors[custom.outputs[op.kernel_tensor]].name;
    if (const graph::Attributes& a = op.attributes; a.dim >= 0)
      j["dim"] = a.dim, j["start"] = a.start, j["end"] = a.end;
    if (!op.attributes.sizes.empty()) j["shape"] = op.attributes.sizes;
  } else {
    j["inputs"] = names(op.inputs, b.tensors);
    j["outputs"] = names(op.outputs, b.tensors);
    put_attributes(j, op.kind, op.attributes, op.inputs.size());
    if (op.kind == graph::OpKind::mask) {
      j["map"] = map_object(op.map);
      j["loop_dim"] = op.loop_dim;
    }
  }
  return j;
}

Json dim3(const graph::Dim3& d) { return Json::array({d.x, d.y, d.z}); }

Json kernel_operator(const graph::KernelOp& op, const graph::KernelGraph& g) {
  Json j = {{"op", graph::name(op.kind)}, {"inputs", names(op.inputs, g.tensors)}, {"outputs", results(op, g)}};
  put_attributes(j, op.kind, op.attributes, op.inputs.size());
  if (g.sizes) put_expressions(j, op, g);
  if (!op.block) return j;
  j["grid"] = dim3(op.block->grid);
  j["block"] = dim3(op.block->block);
  j["loop"] = op.block->loop;
  Json body = Json::array();
  for (const graph::BlockOp& b : op.block->ops) body.push_back(block_operator(b, op, *op.block, g));
  j["body"] = std::move(body);
  return j;
}

/// Appends the elements of a JSON list to `out`, one operator per line, each line after `indent`.
void put(std::string& out, const Json& list, std::string_view indent) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool last = i + 1 == list.size();
    Json entry = list[i];
    if (!entry.is_object() || !entry.contains("body")) {
      out += fmt::format("{}{}{}\n", indent, entry.dump(), last ? "" : ",");
      continue;
    }
    const Json body = std::move(entry["body"]);
    entry.erase("body");
    std::string head = entry.dump();
    head.pop_back();
    out += fmt::format("{}{},\"body\":[\n", indent, head);
    put(out, body, fmt::format("{}  ", indent));
    out += fmt::format("{}]}}{}\n", indent, last ? "" : ",");
  }
}

}  // namespace

std::string to_json(const graph::KernelGraph& g) {
  graph::validate(g);
  Json inputs = Json::array(), operators = Json::array();
  for (int t : g.inputs) {
    const graph::KernelTensor& x = g.tensors[t];
    Json j = {{"name", x.name},
              {"dtype", graph::name(x.dtype)},
              {"shape", integers_json(g, {Of::shape, t}, x.shape.size())},
              {"strides", integers_json(g, {Of::strides, t}, x.strides.size())}};
    if (x.constant) j["constant"] = true;
    inputs.push_back(std::move(j));
  }
  for (const graph::KernelOp& op : g.ops) operators.push_back(kernel_operator(op, g));
  const std::string sizes = g.sizes ? fmt::format("\"sizes\":{},\n", sizes_json(g.sizes->names).dump()) : "";
  std::string out = fmt::format("{{\"zellige_graph\":{},\n\"name\":{},\n", json_version, Json(g.name).dump());
  if (g.ranks != 1) out += fmt::format("\"ranks\":{},\n", g.ranks);
  out += sizes + "\"inputs\":[\n";
  put(out, inputs, "  ");
  out += "],\n\"operators\":[\n";
  put(out, operators, "  ");
  out += fmt::format("],\n\"outputs\":{}}}\n", names(g.outputs, g.tensors).dump());
  return out;
}

}  // namespace zellige::json
