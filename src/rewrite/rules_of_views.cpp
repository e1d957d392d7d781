// Rules of views and masks: rules.hpp says what each does.
#include <algorithm>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "rewrite/rules.hpp"

namespace zellige::fuse {
namespace {

/// Returns whether the operator's result is its operand.
bool changes_nothing(const Known& g, const KernelOp& op) {
  const int from = op.inputs[0], to = op.outputs[0];
  if (g.dtype(from) != g.dtype(to) || g.graph.tensors[to].memory >= 0) return false;
  switch (op.kind) {
    case OpKind::reshape:
    case OpKind::expand:
    case OpKind::slice:
      return g.shape(from) == g.shape(to);
    case OpKind::permute:
      return std::ranges::is_sorted(op.attributes.sizes);
    case OpKind::cast:  // of 16 bits it rounds what is not stored
      return g.dtype(to) == DType::f32;
    default:
      return is_copy(op);
  }
}

/// Returns whether the last n dimensions of two shapes are the same.
bool same_last(const Shape& a, const Shape& b, std::size_t n) {
  return a.size() >= n && b.size() >= n &&
         std::equal(a.end() - static_cast<std::ptrdiff_t>(n), a.end(),
                    b.end() - static_cast<std::ptrdiff_t>(n));
}

/// A step from the result of an operator to the operand of which it makes each row separately.
struct Step {
  const KernelOp* op = nullptr;
  std::size_t operand = 0;  // which operand that is
  std::size_t last = 0;     // the number of last dimensions that the operator distinguishes
  bool full = false;        // another operand has the result's shape
};

/// Returns the step through an operator, whose operand 0 it is unless the operator is elementwise. op: nullptr if it
/// does not work row by row.
Step step_through(const Known& g, const KernelOp& op) {
  const Shape &x = g.shape(op.inputs[0]), &y = g.shape(op.outputs[0]);
  if (graph::is_elementwise(op.kind)) {
    if (op.inputs.size() == 1) return {&op};
    if (op.inputs.size() != 2) return {};
    for (const std::size_t i : {0, 1}) {
      const Shape& other = g.shape(op.inputs[1 - i]);
      if (g.shape(op.inputs[i]) != y) continue;
      if (other == y) return {&op, i, 0, true};
      const auto leading = std::ranges::find_if(other, [](std::int64_t n) { return n != 1; });
      return {&op, i, static_cast<std::size_t>(other.end() - leading)};
    }
    return {};
  }
  switch (op.kind) {
    case OpKind::softmax:
    case OpKind::safe_softmax:
    case OpKind::log_softmax:
      return {&op, 0, x.size() - static_cast<std::size_t>(op.attributes.dim)};
    case OpKind::rms_norm:
    case OpKind::layer_norm:
      return {&op, 0, graph::composed_dims(op.kind, op.attributes, x).size()};
    case OpKind::mask:
      return op.inputs.size() == 1 && op.attributes.sizes.empty() ? Step{&op, 0, 2} : Step{};
    case OpKind::matmul:  // its last dimension is another one
      return op.inputs.size() == 2 && x.size() >= 2 && g.shape(op.inputs[1]).size() == 2 ? Step{&op, 0, 1}
                                                                                         : Step{};
    default:
      return {};
  }
}

}  // namespace

bool identity(const Known& g, const KernelOp& op, Rewrite& out) {
  KernelOp anew = op;
  for (int& t : anew.inputs)
    if (const KernelOp* made = g.producer[t]; made && made->outputs.size() == 1 && changes_nothing(g, *made))
      t = made->inputs[0];
  if (anew.inputs == op.inputs) return false;
  out.keep(anew);
  return true;
}

bool two_views(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape && op.kind != OpKind::permute) return false;
  const KernelOp* first = g.made_by(op.inputs[0], op.kind);
  if (!first) return false;
  KernelOp anew = op;
  anew.inputs = first->inputs;
  if (op.kind == OpKind::permute)
    for (std::int64_t& d : anew.attributes.sizes) d = first->attributes.sizes[static_cast<std::size_t>(d)];
  out.keep(anew);
  return true;
}

bool there_and_back(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape) return false;
  std::vector<Step> steps;
  Shape wanted = g.shape(op.outputs[0]);  // the shape of tensor t without reshapes
  std::vector<Shape> shapes;              // of the results of the steps
  int t = op.inputs[0], full = 0;
  for (bool back = false; !back;) {
    const KernelOp* made = g.producer[t];
    if (!made || made->outputs.size() != 1) return false;
    if (made->kind == OpKind::reshape) {
      steps.push_back({made});
    } else {
      const Step step = step_through(g, *made);
      if (!step.op || g.readers[t] != 1 || !same_last(g.shape(t), wanted, step.last)) return false;
      // An operand of the result's shape needs a reshape of its own, which takes the place of two.
      full += step.full;
      if (full > 1) return false;
      steps.push_back(step);
    }
    shapes.push_back(wanted);
    t = made->inputs[steps.back().operand];
    if (made->kind == OpKind::matmul) wanted.back() = g.shape(t).back();
    back = made->kind == OpKind::reshape && g.shape(t) == wanted;
  }
  if (std::ranges::all_of(steps, [](const Step& s) { return s.op->kind == OpKind::reshape; })) return false;
  const std::string& name = g.name(op.outputs[0]);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const KernelOp& old = *steps[i].op;
    if (old.kind == OpKind::reshape) continue;
    std::vector<int> in = old.inputs;
    in[steps[i].operand] = t;
    for (std::size_t k = 0; k < in.size() && graph::is_elementwise(old.kind); ++k)
      if (k != steps[i].operand) {
        const Shape& other = g.shape(in[k]);
        Shape to = steps[i].full
                       ? shapes[i]
                       : Shape(other.end() - static_cast<std::ptrdiff_t>(steps[i].last), other.end());
        if (to.empty()) to = {1};
        if (to != other) in[k] = out.add(OpKind::reshape, {in[k]}, {.sizes = to}, name + "_other");
      }
    Attributes a = old.attributes;
    if (old.kind == OpKind::softmax || old.kind == OpKind::safe_softmax || old.kind == OpKind::log_softmax)
      a.dim = static_cast<int>(shapes[i].size() - steps[i].last);
    const bool last = std::ranges::none_of(std::span(steps).first(i),
                                           [](const Step& s) { return s.op->kind != OpKind::reshape; });
    t = out.add(old.kind, in, a, name + "_rows", last ? op.outputs[0] : -1);
    out.set_dtype(t, g.dtype(old.outputs[0]));
  }
  return true;
}

bool leading_ones(const Known& g, const KernelOp& op, Rewrite& out) {
  Step step = step_through(g, op);
  if (op.kind == OpKind::matmul && op.inputs.size() == 2 && g.shape(op.inputs[1]).size() == 2)
    step = {&op, 0, 1};
  // Unary functions are moved to the inputs instead.
  if (!step.op || (graph::is_elementwise(op.kind) && op.inputs.size() == 1)) return false;
  if (step.full && !g.made_by(op.inputs[step.operand], OpKind::reshape)) step.operand = 1 - step.operand;
  const KernelOp* view = g.made_by(op.inputs[step.operand], OpKind::reshape);
  if (!view) return false;
  const Shape &from = g.shape(view->inputs[0]), &to = g.shape(op.inputs[step.operand]);
  const auto rest = [](const Shape& s) {
    return Shape(std::ranges::find_if(s, [](auto n) { return n != 1; }), s.end());
  };
  if (from.size() < 2 || from.size() < step.last || from == to || rest(from) != rest(to)) return false;
  // A sum of two such tensors stays where most of its kind are, unless it is of vectors.
  if (graph::is_elementwise(op.kind) && to.size() != 1) return false;
  const std::string& name = g.name(op.outputs[0]);
  std::vector<int> in = op.inputs;
  in[step.operand] = view->inputs[0];
  Attributes a = op.attributes;
  if (op.kind == OpKind::softmax || op.kind == OpKind::safe_softmax || op.kind == OpKind::log_softmax)
    a.dim = static_cast<int>(from.size() - step.last);
  const int made = out.add(op.kind, in, a, name + "_before");
  out.set_dtype(made, g.dtype(op.outputs[0]));
  out.add(OpKind::reshape, {made}, {.sizes = g.shape(op.outputs[0])}, "", op.outputs[0]);
  return true;
}

bool bias_before_view(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::add || op.inputs.size() != 2) return false;
  for (const std::size_t i : {0, 1}) {
    const KernelOp* view = g.made_by(op.inputs[i], OpKind::reshape);
    const KernelOp* of_bias = g.made_by(op.inputs[1 - i], OpKind::reshape);
    if (!view || !of_bias || g.readers[op.inputs[i]] != 1 || g.shape(op.inputs[i]) != g.shape(op.outputs[0]))
      continue;
    const Shape &x = g.shape(view->inputs[0]), &bias = g.shape(of_bias->inputs[0]);
    Shape split = g.shape(op.inputs[1 - i]);
    while (split.size() > 1 && split.front() == 1) split.erase(split.begin());
    const bool columns = bias.size() == 1 && bias[0] == x.back();
    if (!columns || g.shape(op.inputs[i]).size() <= x.size() || split.size() < 2 ||
        !same_last(g.shape(op.inputs[i]), split, split.size()))
      continue;
    const int sum =
        out.add(OpKind::add, {view->inputs[0], of_bias->inputs[0]}, {}, g.name(op.outputs[0]) + "_merged");
    out.add(OpKind::reshape, {sum}, view->attributes, "", op.outputs[0]);
    return true;
  }
  return false;
}

bool two_masks(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::mask || op.inputs.size() != 1) return false;
  const KernelOp* first = g.made_by(op.inputs[0], OpKind::mask);
  if (!first || g.readers[op.inputs[0]] != 1 || first->attributes.value != op.attributes.value ||
      first->attributes.sizes != op.attributes.sizes)
    return false;
  const auto both = [](auto a, auto b, auto stricter) {
    return a && b ? std::optional(stricter(*a, *b)) : a ? a : b;
  };
  const auto least = [](std::int64_t a, std::int64_t b) { return std::min(a, b); };
  const auto greatest = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
  KernelOp anew = op;
  anew.inputs = first->inputs;
  const graph::Kept &a = op.attributes.kept, &b = first->attributes.kept;
  anew.attributes.kept = {both(a.tril, b.tril, least), both(a.triu, b.triu, greatest),
                          both(a.length, b.length, least)};
  out.keep(anew);
  return true;
}

}  // namespace zellige::fuse
