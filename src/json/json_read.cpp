#include <algorithm>
#include <limits>
#include <map>

#include "graph/collective.hpp"
#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/sized_graph.hpp"
#include "json/json.hpp"
#include "strings/nearest.hpp"

namespace zellige::json {
namespace {

using graph::Where, graph::OpKind, graph::fail_at, graph::max_extent, graph::max_rank;

/// Maps names to tensors of one level, in the order in which the tensors are defined. `operators` is the JSON
/// of the operators that define them. With it, messages distinguish a name that is used too early from one
/// that is never defined.
class TensorNames {
 public:
  explicit TensorNames(const Json* operators) : operators_(operators) {}
  /// Appends a tensor to those of the level and returns its index. Throws Error if another tensor has its name; the
  /// message names the operator `where`.
  template <class Tensor>
  int make(const Where& where, std::vector<Tensor>& tensors, Tensor tensor) {
    const int index = static_cast<int>(tensors.size());
    if (!index_.emplace(tensor.name, index).second)
      fail_at(where, "expected each tensor to have a name of its own, found {} twice", tensor.name);
    tensors.push_back(std::move(tensor));
    return index;
  }
  /// Returns the index of the tensor with this name, an operand of the operator `where`. Throws Error if no input
  /// or earlier operator defines the tensor.
  int use(const Where& where, const std::string& name) const {
    const auto it = index_.find(name);
    if (it == index_.end())
      fail_at(where, "expected a tensor that an input or an earlier operator makes, found {}{}", name, producer(name));
    return it->second;
  }

 private:
  /// Returns ", which operator N makes: ...", for a message, if a later operator defines the tensor; otherwise "".
  std::string producer(const std::string& name) const {
    for (std::size_t i = 0; i < operators_->size(); ++i) {
      const Json& j = (*operators_)[i];
      if (!j.is_object() || !j.contains("outputs")) continue;
      for (const Json& result : j["outputs"]) {
        const Json& known_as = result.is_object() && result.contains("name") ? result["name"] : result;
        if (known_as.is_string() && known_as.get_ref<const std::string&>() == name)
          return fmt::format(", which operator {} makes: the operators are out of order or cyclic", i);
      }
    }
    return "";
  }

  const Json* operators_;
  std::map<std::string, int> index_;
};

/// Throws Error unless `j` is an object with no other keys than the known ones.
void only_keys(const Where& where, const Json& j, const std::vector<std::string_view>& known) {
  if (!j.is_object()) fail_at(where, "expected an object, found {}", describe(j));
  for (const auto& [key, value] : j.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    std::string keys;
    for (std::string_view k : known) keys.append(keys.empty() ? "" : ", ").append(k);
    fail_at(where, "expected one of the keys {}, found {}{}", keys, describe(Json(key)),
            did_you_mean(key, {known.begin(), known.end()}));
  }
}

graph::DType read_dtype(const Where& where, const std::string& what, const Json& j) {
  const std::string name = text(where, what, j);
  std::vector<std::string> known;
  for (graph::DType d : graph::all_dtypes()) {
    if (graph::name(d) == name) return d;
    known.emplace_back(graph::name(d));
  }
  fail_at(where, "expected {} to be {}, found {}{}", what, listed(known), describe(j), did_you_mean(name, known));
}

using Of = graph::IntegerPlace::Of;

/// Reads the graph's sizes, and integers that may depend on them: a number, or an expression of names, integers, + and *. Such integers of
/// the graph are those at the greatest values; their expressions are kept by place.
class SizedIntegers {
 public:
  void read_sizes(const Where& where, const Json& j) {
    if (!j.is_object()) fail_at(where, "expected \"sizes\" to be an object, found {}", describe(j));
    for (const auto& [name, size] : j.items()) {
      only_keys(where, size, {"min", "max", "multiple", "typical"});
      graph::NamedSize s{.name = name};
      const auto value = [&where, &name = name, &size = size](const char* key, std::int64_t min) {
        return integer(where, fmt::format("{} of size {}", key, name), member(where, size, key), min, max_extent);
      };
      s.max = value("max", 0);
      if (size.contains("min")) s.min = value("min", 0);
      if (size.contains("multiple")) s.multiple = value("multiple", 1);
      if (const Json* typical = find(where, size, "typical"))
        s.typical = integers(where, fmt::format("typical of size {}", name), *typical, 0, max_extent);
      graph::check_size(graph::to_string(where), s);
      sizes_.names.push_back(std::move(s));
    }
    greatest_ = graph::greatest(sizes_.names);
  }

  /// Returns the integer `j`, or the value of its expression at the greatest sizes. Throws Error if it is neither, or not from
  /// `min` to `max` for all sizes. `what` names it in the message.
  std::int64_t read(const Where& where, std::string_view what, const Json& j, const graph::IntegerPlace& place,
                    std::int64_t min, std::int64_t max) {
    if (!j.is_string() || sizes_.names.empty()) return integer(where, what, j, min, max);
    graph::SymbolicExtent e;
    if (const auto error = refused([&] {
          e = graph::parse_extent(j.get_ref<const std::string&>(), sizes_.names);
          e.low(), e.high();
        }))
      fail_at(where, "{}: {}", what, error->what());
    if (e.low() < min || e.high() > max)
      fail_at(where, "expected {} to be from {} to {} for all sizes, found {}, which is {} to {}", what, min, max, e,
              e.low(), e.high());
    if (!e.sizes().empty()) sizes_.integers.emplace(place, e);
    return evaluate(e, greatest_);
  }

  std::vector<std::int64_t> read_list(const Where& where, std::string_view what, const Json& j,
                                      graph::IntegerPlace place, std::int64_t min, std::int64_t max) {
    std::vector<std::int64_t> all;
    for (const Json& entry : list(where, what, j)) {
      place.entry = static_cast<int>(all.size());
      all.push_back(read(where, what, entry, place, min, max));
    }
    return all;
  }

  /// Returns the strides of a row-major tensor.
  graph::Strides row_major(const graph::Shape& shape, int tensor) {
    graph::SymbolicShape extents(shape);
    for (const auto& [place, e] : sizes_.integers)
      if (place.of == Of::shape && place.index == tensor) extents[static_cast<std::size_t>(place.entry)] = e;
    const graph::SymbolicShape strides = graph::row_major(extents);
    for (std::size_t d = 0; d < strides.size(); ++d)
      if (!strides[d].sizes().empty())
        sizes_.integers.emplace(graph::IntegerPlace{Of::strides, tensor, static_cast<int>(d)}, strides[d]);
    return graph::row_major(shape);
  }

  /// Returns what is known of the sizes; nullptr if the graph has none.
  std::shared_ptr<const graph::SymbolicSizes> take() {
    if (sizes_.names.empty()) return nullptr;
    return std::make_shared<const graph::SymbolicSizes>(std::move(sizes_));
  }

 private:
  graph::SymbolicSizes sizes_;
  graph::SizeValues greatest_;
};

graph::Strides read_strides(const Where& where, const Json& j, int tensor, SizedIntegers& sized) {
  constexpr std::int64_t maximum = std::int64_t{1} << 40;
  return sized.read_list(where, "strides", j, {Of::strides, tensor}, -maximum, maximum);  // validate() checks them
}

int read_dim(const Where& where, const char* what, const Json& j, int min) {
  return static_cast<int>(integer(where, what, j, min, max_rank - 1));
}

/// Returns the scalar in `j`: a number, or "inf" or "-inf", as JSON has no infinities. Throws Error for others.
double read_scalar(const Where& where, const char* what, const Json& j) {
  if (j == "inf" || j == "-inf")
    return j == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  return number(where, what, j);
}

/// Returns whether the operator has the key "scalar", which replaces the last operand. Throws Error if the
/// operator has both the scalar and that operand, or neither.
bool has_scalar(const Where& where, OpKind kind, const Json& j) {
  const bool given = find(where, j, "scalar");
  const std::size_t tensors = list(where, "inputs", member(where, j, "inputs")).size();
  if (graph::takes_scalar(kind, tensors) && !given)
    fail_at(where, "expected {} operands, or {} and a \"scalar\" in place of the last, found {}",
            graph::info(kind).inputs, tensors, tensors);
  if (!graph::takes_scalar(kind, tensors) && given)
    fail_at(where, "expected \"scalar\" in place of the last of {} operands, found it with {}",
            graph::info(kind).inputs, tensors);
  return given;
}

bool read_flag(const Where& where, const char* what, const Json& j) {
  if (!j.is_boolean()) fail_at(where, "expected {} to be true or false, found {}", what, describe(j));
  return j.get<bool>();
}

/// Reads one of the attributes of an unfold.
void read_unfold(const Where& where, std::string_view name, const Json& value, graph::Attributes& a) {
  if (a.sizes.empty()) a.sizes = {1, 1, 1, 0, 0};
  if (name == "size") a.sizes[0] = integer(where, "size", value, 1, max_extent);
  if (name == "step") a.sizes[1] = integer(where, "step", value, 1, max_extent);
  if (name == "dilation") a.sizes[2] = integer(where, "dilation", value, 1, max_extent);
  if (name != "padding") return;
  const std::vector<std::int64_t> zeros = integers(where, "padding", value, 0, max_extent);
  if (zeros.size() != 2)
    fail_at(where, "expected padding to hold 2 numbers (zeros before and after), found {}", zeros.size());
  a.sizes[3] = zeros[0], a.sizes[4] = zeros[1];
}

/// Returns the attributes that operators of this kind have, read from the JSON object `j`. `op` is the operator's index in the
/// kernel graph, whose integers may depend on sizes; of an operator of a block graph the sizes are empty.
graph::Attributes read_attributes(const Where& where, OpKind kind, const Json& j, int op, SizedIntegers& sized) {
  graph::Attributes a;
  const auto sized_integer = [&](const char* name, const Json& value, Of of, std::int64_t min) {
    return sized.read(where, name, value, {of, op}, min, max_extent);
  };
  for (const graph::AttributeKey& key : graph::attribute_keys(kind)) {
    const char* name = key.name.data();
    if (!key.required && key.name != "scalar" && !find(where, j, name)) continue;
    if (key.name == "scalar" && !key.required && !has_scalar(where, kind, j)) continue;
    const Json& value = member(where, j, name);
    if (key.name == "scalar") a.scalar = key.required ? number(where, name, value) : read_scalar(where, name, value);
    if (key.name == "lo") a.lo = number(where, name, value);
    if (key.name == "hi") a.hi = number(where, name, value);
    if (key.name == "eps") a.eps = number(where, name, value);
    if (key.name == "dim" && graph::reduces(kind) && value.is_array())
      a.sizes = integers(where, name, value, 0, max_rank - 1);
    else if (key.name == "dim")
      a.dim = read_dim(where, name, value, 0);
    if (key.name == "to") a.to = integer(where, name, value, 1, max_extent);
    if (key.name == "dims") a.sizes = integers(where, name, value, 0, max_rank - 1);
    if (key.name == "shape" || key.name == "normalized_shape" || key.name == "sizes")
      a.sizes = sized.read_list(where, name, value, {Of::sizes, op}, 1, max_extent);
    if (key.name == "start") a.start = sized_integer(name, value, Of::start, 0);
    if (kind == OpKind::unfold) read_unfold(where, key.name, value, a);
    if (key.name == "end") a.end = sized_integer(name, value, Of::end, 1);
    if (key.name == "dtype") a.dtype = read_dtype(where, name, value);
    if (key.name == "precision") a.dtype = read_dtype(where, name, value);
    if (key.name == "tf32") a.tf32 = read_flag(where, name, value);
    if (key.name == "saturate") a.saturate = read_flag(where, name, value);
    if (key.name == "keepdim") a.keepdim = read_flag(where, name, value);
    if (key.name == "tril") a.kept.tril = sized_integer(name, value, Of::tril, -max_extent);
    if (key.name == "triu") a.kept.triu = sized_integer(name, value, Of::triu, -max_extent);
    if (key.name == "length") a.kept.length = sized_integer(name, value, Of::length, 0);
    if (key.name == "first") a.kept.first = read_flag(where, name, value);
    if (key.name == "root") a.start = integer(where, name, value, 0, graph::max_ranks - 1);
    if (key.name == "value") a.value = read_scalar(where, name, value);
  }
  return a;
}

/// Throws Error if the operator's JSON object has a key that operators of its kind do not have. `block`: the
/// operator is a block operator.
void only_operator_keys(const Where& where, OpKind kind, const Json& j, bool block) {
  if (kind == OpKind::input) return only_keys(where, j, {"op", "from", "map", "loop_dim", "shape", "outputs"});
  if (kind == OpKind::output) return only_keys(where, j, {"op", "inputs", "map", "to", "dim", "start", "end", "shape"});
  if (kind == OpKind::custom) return only_keys(where, j, {"op", "inputs", "outputs", "grid", "block", "loop", "body"});
  std::vector<std::string_view> keys{"op", "inputs", "outputs"};
  for (const graph::AttributeKey& key : graph::attribute_keys(kind)) keys.push_back(key.name);
  if (block && kind == OpKind::mask) keys.insert(keys.end(), {"map", "loop_dim"});
  only_keys(where, j, keys);
}

graph::Dim3 read_dim3(const Where& where, const char* what, const Json& j) {
  const std::vector<std::int64_t> d = integers(where, what, j, 1, max_extent);
  if (d.size() != 3) fail_at(where, "expected {} to hold 3 numbers (x, y, z), found {}", what, d.size());
  return {d[0], d[1], d[2]};
}

std::array<int, 3> read_map(const Where& where, const Json& j) {
  only_keys(where, j, {"x", "y", "z"});
  std::array<int, 3> map{-1, -1, -1};
  for (int axis = 0; axis < 3; ++axis)
    if (const Json* dim = find(where, j, std::string(1, "xyz"[axis]).c_str()))
      map[axis] = read_dim(where, "map", *dim, 0);
  return map;
}

/// Returns the name and kind of the operator that `j` describes. Throws Error, with the nearest name, if unknown.
std::pair<std::string, OpKind> read_kind(const Where& where, const Json& j, bool block) {
  const std::string name = identifier(where, "op", member(where, j, "op"));
  const auto kind = graph::find_op(name);
  if (!kind)
    fail_at(where, "expected an operator that is known, found {}{}", name, graph::known_operators(name, block));
  return {name, *kind};
}

/// Reads one graph; the constructor does all the work.
class GraphReader {
 public:
  GraphReader(const Json& j, const std::string& fallback) : where_{fallback} {
    if (const Json* name = find(where_, j, "name")) where_.graph = identifier(where_, "name", *name);
    const std::int64_t version = integer(where_, "zellige_graph", member(where_, j, "zellige_graph"), 1, INT64_MAX);
    if (version != json_version) fail_at(where_, "expected version {} of the form, found {}", json_version, version);
    only_keys(where_, j, {"zellige_graph", "name", "ranks", "sizes", "inputs", "operators", "outputs"});
    if (const Json* sizes = find(where_, j, "sizes")) sized_.read_sizes(where_, *sizes);
    g_.name = where_.graph;
    if (const Json* ranks = find(where_, j, "ranks"))
      g_.ranks = static_cast<int>(integer(where_, "ranks", *ranks, 1, graph::max_ranks));
    const Json& operators = list(where_, "operators", member(where_, j, "operators"));
    names_ = TensorNames(&operators);
    for (const Json& input : list(where_, "inputs", member(where_, j, "inputs"))) read_input(input);
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const auto [name, kind] = read_kind(where_.at(static_cast<int>(i), "unknown"), operators[i], false);
      read_operator(where_.at(static_cast<int>(i), name), kind, operators[i]);
    }
    for (const Json& output : list(where_, "outputs", member(where_, j, "outputs")))
      g_.outputs.push_back(names_.use(where_, identifier(where_, "outputs", output)));
  }
  graph::KernelGraph take() {
    g_.sizes = sized_.take();
    return std::move(g_);
  }

 private:
  void read_input(const Json& j) {
    only_keys(where_, j, {"name", "dtype", "shape", "strides", "constant"});
    graph::KernelTensor t{.name = identifier(where_, "an input's name", member(where_, j, "name"))};
    t.dtype = read_dtype(where_, "the dtype of input " + t.name, member(where_, j, "dtype"));
    const int index = static_cast<int>(g_.tensors.size());
    t.shape = sized_.read_list(where_, "the shape of input " + t.name, member(where_, j, "shape"), {Of::shape, index},
                               1, max_extent);
    graph::check_shape(where_, "input " + t.name, t.shape);
    const Json* strides = find(where_, j, "strides");
    t.strides = strides ? read_strides(where_, *strides, index, sized_) : sized_.row_major(t.shape, index);
    if (const Json* constant = find(where_, j, "constant")) t.constant = read_flag(where_, "constant", *constant);
    g_.inputs.push_back(names_.make(where_, g_.tensors, std::move(t)));
  }

  /// Adds the tensor of an operator's result and returns its index. `j` is the tensor's name, or an object
  /// with its name, its strides, and the input whose memory it shares.
  int make_result(const Where& where, const Json& j) {
    graph::KernelTensor t;
    if (j.is_object()) {
      only_keys(where, j, {"name", "strides", "memory"});
      t.name = identifier(where, "a result's name", member(where, j, "name"));
      if (const Json* strides = find(where, j, "strides"))
        t.strides = read_strides(where, *strides, static_cast<int>(g_.tensors.size()), sized_);
      if (const Json* memory = find(where, j, "memory"))
        t.memory = names_.use(where, identifier(where, "memory", *memory));
    } else {
      t.name = identifier(where, "a result", j);
    }
    return names_.make(where, g_.tensors, std::move(t));
  }

  void read_operator(const Where& where, OpKind kind, const Json& j) {
    only_operator_keys(where, kind, j, false);
    graph::KernelOp op{.kind = kind};
    if (!graph::info(kind).kernel)
      fail_at(where, "expected an operator of the kernel level, found {}", graph::name(kind));
    op.attributes = read_attributes(where, kind, j, static_cast<int>(g_.ops.size()), sized_);
    for (const Json& t : list(where, "inputs", member(where, j, "inputs")))
      op.inputs.push_back(names_.use(where, identifier(where, "inputs", t)));
    for (const Json& t : list(where, "outputs", member(where, j, "outputs")))
      op.outputs.push_back(make_result(where, t));
    if (kind == OpKind::custom) op.block = read_block(where, op, j);
    g_.ops.push_back(std::move(op));
  }

  std::shared_ptr<const graph::BlockGraph> read_block(const Where& where, const graph::KernelOp& custom,
                                                      const Json& j) {
    auto b = std::make_shared<graph::BlockGraph>();
    b->grid = read_dim3(where, "grid", member(where, j, "grid"));
    b->block = read_dim3(where, "block", member(where, j, "block"));
    const Json* loop = find(where, j, "loop");
    b->loop = loop ? integer(where, "loop", *loop, 1, max_extent) : 1;
    const Json& body = list(where, "body", member(where, j, "body"));
    TensorNames tiles(&body);
    for (std::size_t i = 0; i < body.size(); ++i) {
      const auto [name, kind] = read_kind(where.inside(static_cast<int>(i), "unknown"), body[i], true);
      read_block_operator(where.inside(static_cast<int>(i), name), kind, body[i], custom, *b, tiles);
    }
    return b;
  }

  void read_block_operator(const Where& where, OpKind kind, const Json& j, const graph::KernelOp& custom,
                           graph::BlockGraph& b, TensorNames& tiles) {
    if (!graph::info(kind).block)
      fail_at(where, "expected an operator of the block level, found {}", graph::name(kind));
    only_operator_keys(where, kind, j, true);
    SizedIntegers constants;
    graph::BlockOp op{.kind = kind, .attributes = read_attributes(where, kind, j, 0, constants)};
    if (graph::is_boundary(kind))
      op.kernel_tensor =
          kind == OpKind::input ? argument(where, "from", custom.inputs, j) : argument(where, "to", custom.outputs, j);
    if (graph::is_boundary(kind) || kind == OpKind::mask) {
      if (const Json* map = find(where, j, "map")) op.map = read_map(where, *map);
      if (const Json* dim = find(where, j, "loop_dim")) op.loop_dim = read_dim(where, "loop_dim", *dim, -1);
    }
    if (kind == OpKind::output && (j.contains("dim") || j.contains("start") || j.contains("end"))) {
      op.attributes.dim = read_dim(where, "dim", member(where, j, "dim"), 0);
      op.attributes.start = integer(where, "start", member(where, j, "start"), 0, max_extent);
      op.attributes.end = integer(where, "end", member(where, j, "end"), 0, max_extent);
    }
    if (graph::is_boundary(kind))
      if (const Json* shape = find(where, j, "shape"))
        op.attributes.sizes = integers(where, "shape", *shape, 1, max_extent);
    if (kind != OpKind::input)
      for (const Json& t : list(where, "inputs", member(where, j, "inputs")))
        op.inputs.push_back(tiles.use(where, identifier(where, "inputs", t)));
    if (kind != OpKind::output)
      for (const Json& t : list(where, "outputs", member(where, j, "outputs")))
        op.outputs.push_back(tiles.make(where, b.tensors, {.name = identifier(where, "outputs", t)}));
    b.ops.push_back(std::move(op));
  }

  /// Returns the position, in the list `arguments` of a custom operator's operands or results, of the tensor
  /// that a block operator names under `key`. Throws Error if the list does not have that tensor.
  int argument(const Where& where, const char* key, const std::vector<int>& arguments, const Json& j) {
    const std::string name = identifier(where, key, member(where, j, key));
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (g_.tensors[arguments[i]].name == name) return static_cast<int>(i);
    fail_at(where, "expected \"{}\" to name one of the custom operator's {}, found {}", key,
            std::string_view(key) == "from" ? "inputs" : "outputs", describe(Json(name)));
  }

  Where where_;
  graph::KernelGraph g_;
  SizedIntegers sized_;
  TensorNames names_{nullptr};
};

}  // namespace

bool is_own_form(const Json& j) { return j.is_object() && j.contains("zellige_graph"); }

graph::KernelGraph from_json(const Json& j, const std::string& name) {
  graph::KernelGraph g = graph::infer(GraphReader(j, name).take());
  graph::validate(g);
  return g;
}

}  // namespace zellige::json
