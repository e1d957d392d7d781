#include "candidate/steps.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/reductions.hpp"
#include "rewrite/rewrite.hpp"

namespace zellige::candidate {
namespace {

/// Returns whether an operand of a matmul is a vector.
bool reads_vector(const graph::KernelGraph& g, const graph::KernelOp& matmul) {
  return std::ranges::any_of(std::span(matmul.inputs).first(2), [&](int t) { return g.tensors[t].shape.size() < 2; });
}

class Expansion {
 public:
  Expansion(const graph::KernelGraph& g, Readers readers) : g_(g), readers_(readers) {}

  /// Returns the steps of the operators `all`. Throws Error if the operators cannot form one group.
  GroupSteps run(const std::vector<int>& all) {
    std::vector<int> ops;
    const std::vector<int> copies = concatenations(g_, all);
    std::ranges::set_difference(all, copies, std::back_inserter(ops));
    if (!copies.empty()) check_concatenations(all, g_.ops[copies[0]]);
    if (ops.empty()) fail("nothing but copies");
    for (int i : ops)
      if (leaves(g_, all, g_.ops[i].outputs[0])) left_.insert(g_.ops[i].outputs[0]);
    multiplies_ = std::ranges::any_of(ops, [&](int i) { return g_.ops[i].kind == graph::OpKind::matmul; });
    for (int i : ops) add(i);
    for (int i : ops) {
      const int t = g_.ops[i].outputs[0];
      if (left_.count(t) == 0) continue;
      result_.outputs.push_back(made_.at(t));
      if (std::vector<OutputSlice> s = slices(ops, t); !s.empty()) result_.slices[made_.at(t)] = std::move(s);
    }
    return std::move(result_);
  }

 private:
  /// Returns whether operand `i` of an operator is a vector that is broadcast along the rows of matrices, as a bias is, in a
  /// group with matmuls. It is loaded as one row, because a row can be transposed and a vector cannot.
  bool is_row(const graph::KernelOp& op, int i) const {
    const bool broadcast = graph::is_elementwise(op.kind) || (op.kind == graph::OpKind::matmul && i == 2);
    return multiplies_ && broadcast && g_.tensors[op.inputs[i]].shape.size() == 1 &&
           g_.tensors[op.outputs[0]].shape.size() > 1;
  }

  /// Returns the value that operator `index` reads as tensor `tensor`, its operand `i`. Throws Error if shapes differ: the
  /// group keeps a reduced dimension in the value, with extent 1, and the tensor does not have it.
  int operand(int tensor, int index, int i) {
    if (const auto made = made_.find(tensor); made != made_.end()) {
      if (result_.values[made->second].shape != g_.tensors[tensor].shape)
        fail("{} has lost a dimension that its readers count", g_.tensors[tensor].name);
      return stored(tensor, made->second);
    }
    const bool separate = readers_ == Readers::separate, row = is_row(g_.ops[index], i);
    const int side = separate && g_.ops[index].kind == graph::OpKind::matmul ? i : 0;  // x x: two readers of one tensor
    const auto [at, is_new] = loaded_.insert({{tensor, separate ? index : -1, side, row}, -1});
    if (is_new) {
      graph::Shape shape = g_.tensors[tensor].shape;
      if (row) shape.insert(shape.begin(), 1);
      at->second = result_.add({std::move(shape), g_.tensors[tensor].dtype, tensor, true});
    }
    return at->second;
  }

  /// Appends the steps of operator `index` of the graph.
  void add(int index) {
    const graph::KernelOp& op = g_.ops[index];
    if (op.kind == graph::OpKind::matmul && reads_vector(g_, op)) return product_of_vectors(op);
    std::vector<int> in;
    std::vector<graph::Shape> shapes;
    for (int i = 0; i < std::ssize(op.inputs); ++i)
      in.push_back(operand(op.inputs[i], index, i)), shapes.push_back(g_.tensors[op.inputs[i]].shape);
    if (op.kind == graph::OpKind::matmul && in.size() > 2)
      return product(op, {in[0], in[1]}, g_.tensors[op.outputs[0]].shape, in[2]);
    const graph::DType dtype = g_.tensors[op.outputs[0]].dtype;
    graph::Attributes a = op.attributes;
    a.keepdim = true;
    if (!graph::is_composed(op.kind) || rewrite::is_rotary(op.kind) || graph::is_primitive_fold(op.kind, a)) {
      const graph::Shape shape = graph::infer_shapes({g_.name}, op.kind, a, shapes).at(0);
      made_[op.outputs[0]] = result_.add(op.kind, in, a, {shape, dtype, op.outputs[0]});
      return;
    }
    const std::vector<graph::ComposedStep> steps =
        graph::compose(op.kind, op.attributes, shapes, g_.tensors[op.inputs[0]].dtype);
    const std::vector<graph::Shape> results = graph::step_shapes(steps, shapes);
    std::vector<int> values = in;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool last = i + 1 == steps.size();
      std::vector<int> operands;
      for (int k : steps[i].inputs) operands.push_back(values[k]);
      values.push_back(result_.add(steps[i].kind, std::move(operands), steps[i].attributes,
                                   {results[i], dtype, last ? op.outputs[0] : -1}));
    }
    made_[op.outputs[0]] = values.back();
  }

  /// Appends the steps of matmul `op`, of which an operand is a vector, as a product of matrices with one row or column.
  void product_of_vectors(const graph::KernelOp& op) {
    const auto shape = [&](int i) -> const graph::Shape& { return g_.tensors[op.inputs[i]].shape; };
    const graph::MatmulShapes of = graph::matrices(shape(0), shape(1));
    const auto load = [&](int i, graph::Shape as) {
      return result_.add({std::move(as), g_.tensors[op.inputs[i]].dtype, op.inputs[i], true});
    };
    std::vector<int> in{load(0, of.a), load(1, of.b)};
    if (op.inputs.size() < 3) return product(op, std::move(in), of.product);
    graph::Shape bias = shape(2);  // of the result, which has lost the dimensions that vectors lack
    if (shape(1).size() == 1) bias.push_back(1);
    if (shape(0).size() == 1 && bias.size() < of.product.size()) bias.insert(bias.end() - 1, 1);
    product(op, std::move(in), of.product, load(2, std::move(bias)));
  }

  /// Appends the steps of matmul `op`: the matmul of the values `in`, whose result has this shape, and the addition of a bias.
  void product(const graph::KernelOp& op, std::vector<int> in, const graph::Shape& shape, int bias = -1) {
    const int tensor = op.outputs[0];
    const StepValue result{shape, g_.tensors[tensor].dtype, tensor}, inner{shape, result.dtype};
    made_[tensor] = result_.add(op.kind, std::move(in), op.attributes, bias < 0 ? result : inner);
    if (bias >= 0) made_[tensor] = result_.add(graph::OpKind::add, {made_[tensor], bias}, {}, result);
  }

  /// Throws Error if the operators `ops`, whose first concatenation is `first`, contain one that cannot be read operand by
  /// operand. The planner runs an elementwise kernel once per operand (lower/by_parts.hpp), so all other operators must be
  /// elementwise, and all concatenations must have operands of equal shapes.
  void check_concatenations(const std::vector<int>& ops, const graph::KernelOp& first) const {
    const graph::KernelTensor& copy = g_.tensors[first.outputs[0]];
    const graph::Shape& shape = copy.shape;
    for (int i : ops) {
      const graph::KernelOp& op = g_.ops[i];
      const graph::KernelTensor& y = g_.tensors[op.outputs[0]];
      const bool is_concat = op.kind == graph::OpKind::concat;
      if (!is_concat && !graph::is_elementwise(op.kind))
        fail("{} ({}) is not elementwise, and {} is a concatenation", y.name, graph::name(op.kind), copy.name);
      if (!is_concat && leaves(g_, ops, op.outputs[0]) && y.shape != shape)
        fail("{} {} lacks a dimension of the concatenation {}", y.name, graph::to_string(y.shape),
             graph::to_string(shape));
      if (!is_concat) continue;
      if (leaves(g_, ops, op.outputs[0]) || !y.strides.empty()) fail("{} is read outside of the kernel, too", y.name);
      for (int t : op.inputs)
        if (std::ranges::any_of(ops, [&](int by) { return g_.ops[by].outputs[0] == t; }))
          fail("{} is an operand of {}, which the kernel reads operand by operand", g_.tensors[t].name, y.name);
      if (y.shape != shape || op.attributes.dim != first.attributes.dim || !same_parts(op, first))
        fail("{} and {} are concatenated at different places", y.name, copy.name);
    }
  }
  /// Returns whether two concatenations have operands of equal shapes, in order.
  bool same_parts(const graph::KernelOp& a, const graph::KernelOp& b) const {
    return std::ranges::equal(a.inputs, b.inputs,
                              [&](int x, int y) { return g_.tensors[x].shape == g_.tensors[y].shape; });
  }

  /// Returns the slices through which operators outside of the group `ops` read tensor `t`. Returns an empty
  /// list if `t` is also read without a slice, or if the slices are along different dimensions.
  std::vector<OutputSlice> slices(const std::vector<int>& ops, int t) const {
    std::vector<OutputSlice> result;
    if (rewrite::is_output(g_, t) || !g_.tensors[t].strides.empty()) return {};
    for (int r : rewrite::readers(g_, t)) {
      if (std::ranges::count(ops, r) > 0) continue;
      const graph::KernelOp& op = g_.ops[r];
      const graph::Attributes& a = op.attributes;
      if (op.kind != graph::OpKind::slice || (!result.empty() && result[0].dim != a.dim)) return {};
      result.push_back({op.outputs[0], a.dim, a.start, a.end});
    }
    return result;
  }

  /// Returns the value that readers in the group use for tensor `tensor`, which the group computes as value
  /// `v`: a cast of `v` to the tensor's dtype if the group also stores the tensor, otherwise `v`.
  int stored(int tensor, int v) {
    const graph::DType dtype = g_.tensors[tensor].dtype;
    if (left_.count(tensor) == 0 || !graph::is_narrow(dtype)) return v;
    const auto [at, is_new] = rounded_.insert({tensor, -1});
    if (is_new) at->second = result_.add(graph::OpKind::cast, {v}, {.dtype = dtype}, {g_.tensors[tensor].shape, dtype});
    return at->second;
  }

  const graph::KernelGraph& g_;
  Readers readers_;
  GroupSteps result_;
  std::set<int> left_;          // tensors that the group stores
  std::map<int, int> rounded_;  // by tensor that the group stores and reads: its rounded value
  std::map<int, int> made_;     // by tensor that the group computes: its value
  bool multiplies_ = false;     // the group has matmuls
  // By tensor, with Readers::separate the reading operator and the side of a matmul, and whether it is_row().
  std::map<std::array<int, 4>, int> loaded_;
};

/// Returns whether the operand of `permute` is a matmul's result (with or without a bias), and only rotary
/// embeddings read the result of `permute`. Such a permute is the only view that a group may contain.
bool is_of_pairs(const graph::KernelGraph& g, const graph::KernelOp& permute) {
  const auto makes = [&](const graph::KernelOp& op) {  // possibly with a bias
    return (op.kind == graph::OpKind::matmul || op.kind == graph::OpKind::add) && op.outputs[0] == permute.inputs[0];
  };
  const auto turns = [&](int reader) { return rewrite::is_rotary(g.ops[reader].kind); };
  return std::ranges::any_of(g.ops, makes) && std::ranges::all_of(rewrite::readers(g, permute.outputs[0]), turns);
}

}  // namespace

int GroupSteps::add(StepValue v) {
  values.push_back(std::move(v));
  return static_cast<int>(values.size()) - 1;
}

int GroupSteps::add(graph::OpKind kind, std::vector<int> inputs, const graph::Attributes& a, StepValue result) {
  steps.push_back({kind, a, std::move(inputs), add(std::move(result))});
  return steps.back().output;
}

std::int64_t from_last(const graph::Shape& s, std::size_t back) { return back < s.size() ? s[s.size() - 1 - back] : 1; }

const GroupStep& step_of(const GroupSteps& steps, int v) {
  const auto s = std::ranges::find(steps.steps, v, &GroupStep::output);
  if (s == steps.steps.end()) fault("value {} of a group is read, but no step makes it", v);
  return *s;
}

bool same_numbers(const GroupSteps& s, int a, int b) {
  const auto origin = [&](int v) {
    for (std::size_t i = s.steps.size(); i-- > 0;)
      if (const GroupStep& step = s.steps[i]; step.output == v && rewrite::is_widening(step.kind, step.attributes) &&
                                              s.values[step.inputs[0]].dtype != graph::DType::f64)
        v = step.inputs[0];
    return v;
  };
  return origin(a) == origin(b);
}

bool is_reduction(graph::OpKind kind) { return kind == graph::OpKind::reduction || graph::folds(kind); }

std::vector<std::size_t> readers_of(const GroupSteps& s) {
  // By value: reductions and matmuls as indices of steps, outputs as indices of values after them.
  std::vector<std::set<std::size_t>> readers(s.values.size());
  for (int v : s.outputs) readers[v].insert(s.steps.size() + static_cast<std::size_t>(v));
  for (std::size_t i = s.steps.size(); i-- > 0;) {
    const GroupStep& step = s.steps[i];
    const std::set<std::size_t> of_result = readers[step.output];
    for (int v : step.inputs) {
      std::set<std::size_t>& of = readers[v];
      if (is_reduction(step.kind) || is_matmul(step))
        of.insert(i);
      else
        of.insert(of_result.begin(), of_result.end());
    }
  }
  std::vector<std::size_t> counts;
  for (const std::set<std::size_t>& of : readers) counts.push_back(of.size());
  return counts;
}

std::vector<int> concatenations(const graph::KernelGraph& g, const std::vector<int>& ops) {
  std::vector<int> result;
  for (int i : ops)
    if (g.ops[i].kind == graph::OpKind::concat) result.push_back(i);
  return result;
}

bool leaves(const graph::KernelGraph& g, const std::vector<int>& ops, int tensor) {
  const auto outside = [&](int reader) { return std::ranges::count(ops, reader) == 0; };
  return rewrite::is_output(g, tensor) || std::ranges::any_of(rewrite::readers(g, tensor), outside);
}

bool computes(const graph::KernelGraph& g, int index) {
  using enum graph::OpFamily;
  constexpr graph::OpFamily families[] = {matmul, elementwise, composed, reduction, mask, rotary};
  return std::ranges::count(families, graph::family(g.ops[index].kind)) > 0;
}

bool fusable(const graph::KernelGraph& g, int index) {
  const graph::KernelOp& op = g.ops[index];
  if (op.kind == graph::OpKind::permute) return is_of_pairs(g, op);
  if (op.kind == graph::OpKind::matmul)
    for (std::size_t side = 0; side < 2; ++side) {
      const graph::KernelTensor& t = g.tensors[op.inputs[side]];
      if (t.shape.size() < 2 || graph::is_integer(t.dtype) || t.dtype == graph::DType::f64)
        return false;  // a matrix-vector product
    }
  for (int t : op.outputs)
    if (g.tensors[t].memory >= 0) return false;
  if (op.kind == graph::OpKind::concat) return !graph::writes_in_place(g);
  return computes(g, index);
}

GroupSteps steps_of(const graph::KernelGraph& g, const std::vector<int>& ops, Readers readers) {
  return Expansion(g, readers).run(ops);
}

}  // namespace zellige::candidate
