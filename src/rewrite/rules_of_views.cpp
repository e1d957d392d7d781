// Rules of views and masks.
#include <algorithm>
#include <span>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/view.hpp"
#include "lower/write_through.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Returns whether the operator's result is its operand.
bool changes_nothing(const Known& g, const KernelOp& op) {
  const int from = op.inputs[0], to = op.outputs[0];
  if (g.dtype(from) != g.dtype(to) || g.graph.tensors[to].memory >= 0) return false;
  if (op.kind == OpKind::permute) return std::ranges::is_sorted(op.attributes.sizes);
  if (op.kind == OpKind::cast) return is_widening(op.kind, op.attributes);  // to 16 bits it rounds what is not stored
  return is_copy(op) || (graph::is_view(op.kind) && g.shape(from) == g.shape(to));
}

/// Returns whether the last n dimensions of two shapes are the same.
bool same_last(const Shape& a, const Shape& b, std::size_t n) {
  return a.size() >= n && b.size() >= n && std::equal(a.end() - n, a.end(), b.end() - n);
}

/// Returns the first dimension along which a softmax or norm runs.
std::size_t first_dim(const Known& g, const KernelOp& op) {
  return static_cast<std::size_t>(graph::composed_dims(op.kind, op.attributes, g.shape(op.inputs[0])).back());
}

/// Returns the number of last dimensions from the first one on whose position a mask looks at.
std::size_t masked_last(const KernelOp& mask, std::size_t rank) {
  const std::vector<std::int64_t>& dims = mask.attributes.sizes;
  return dims.empty() ? 2 : rank - static_cast<std::size_t>(std::ranges::min(dims));
}

/// A step from the result of an operator to the operand of which it makes each row separately.
struct RowStep {
  const KernelOp* op = nullptr;
  std::size_t operand = 0;  // which operand that is
  std::size_t last = 0;     // the number of last dimensions that the operator distinguishes
  bool full = false;        // another operand has the result's shape
};

/// Returns the step through an operator, whose operand 0 it is unless the operator is elementwise. op: nullptr if it
/// does not work row by row.
RowStep step_through(const Known& g, const KernelOp& op) {
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
  if (along_rows(op.kind)) return {&op, 0, x.size() - first_dim(g, op)};
  if (op.kind == OpKind::mask && op.inputs.size() == 1) return {&op, 0, masked_last(op, x.size())};
  // The last dimension of a matmul is another one.
  const bool rows = op.kind == OpKind::matmul && op.inputs.size() == 2 && g.shape(op.inputs[1]).size() == 2;
  return rows && x.size() >= 2 ? RowStep{&op, 0, 1} : RowStep{};
}

/// Returns the attributes of an operator whose operand has `rank` dimensions now, the last ones of which it
/// distinguishes as before.
Attributes on_rank(const RowStep& step, std::size_t rank) {
  Attributes a = step.op->attributes;
  if (along_rows(step.op->kind) && a.dim >= 0) a.dim = static_cast<int>(rank - step.last);
  if (step.op->kind == OpKind::mask && !a.sizes.empty()) {
    const std::int64_t first = std::ranges::min(a.sizes);
    for (std::int64_t& d : a.sizes) d += static_cast<std::int64_t>(rank - step.last) - first;
  }
  return a;
}

}  // namespace

/// Reads x instead of a view or copy of it that changes nothing.
bool identity(const Known& g, const KernelOp& op, Rewrite& out) {
  std::vector<int> in = op.inputs;
  for (int& t : in)
    if (const KernelOp* made = g.producer[t]; made && made->outputs.size() == 1 && changes_nothing(g, *made))
      t = made->inputs[0];
  return out.replace_operands(op, in);
}

/// Makes one view of two: reshape(reshape(x)), permute(permute(x)).
bool two_views(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape && op.kind != OpKind::permute) return false;
  const KernelOp* first = g.made_by(op.inputs[0], op.kind);
  if (!first) return false;
  Attributes a = op.attributes;
  if (op.kind == OpKind::permute)
    for (std::int64_t& d : a.sizes) d = first->attributes.sizes[d];
  return out.replace(op, op.kind, first->inputs, a);
}

/// Runs operators on x instead of on a reshape of it, after which the result is reshaped back:
/// reshape(f(reshape(x))) -> f(x).
bool there_and_back(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape) return false;
  std::vector<RowStep> steps;
  Shape wanted = g.shape(op.outputs[0]);  // the shape of tensor t without reshapes
  std::vector<Shape> shapes;              // of the results of the steps
  int t = op.inputs[0], full = 0;
  for (bool back = false; !back;) {
    const KernelOp* made = g.producer[t];
    if (!made || made->outputs.size() != 1) return false;
    if (made->kind == OpKind::reshape) {
      steps.push_back({made});
    } else {
      const RowStep step = step_through(g, *made);
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
  if (std::ranges::all_of(steps, [](const RowStep& s) { return s.op->kind == OpKind::reshape; })) return false;
  const std::string& name = g.name(op.outputs[0]);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const KernelOp& old = *steps[i].op;
    if (old.kind == OpKind::reshape) continue;
    std::vector<int> in = old.inputs;
    in[steps[i].operand] = t;
    for (std::size_t k = 0; k < in.size() && graph::is_elementwise(old.kind); ++k)
      if (k != steps[i].operand) {
        const Shape& other = g.shape(in[k]);
        Shape to = steps[i].full ? shapes[i] : Shape(other.end() - steps[i].last, other.end());
        if (to.empty()) to = {1};
        if (to != other) in[k] = out.add(OpKind::reshape, {in[k]}, {.sizes = to}, name + "_other");
      }
    const bool last =
        std::ranges::none_of(std::span(steps).first(i), [](const RowStep& s) { return s.op->kind != OpKind::reshape; });
    t = out.add(old.kind, in, on_rank(steps[i], shapes[i].size()), name + "_rows", last ? op.outputs[0] : -1);
  }
  return true;
}

/// Runs an operator before leading dimensions of 1 are added or removed instead of after that.
bool leading_ones(const Known& g, const KernelOp& op, Rewrite& out) {
  RowStep step = step_through(g, op);
  if (op.kind == OpKind::matmul && op.inputs.size() == 2 && g.shape(op.inputs[1]).size() == 2) step = {&op, 0, 1};
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
  std::vector<int> in = op.inputs;
  in[step.operand] = view->inputs[0];
  const int made = out.step(op, op.kind, in, on_rank(step, from.size()), "_before");
  return out.replace(op, OpKind::reshape, {made}, {.sizes = g.shape(op.outputs[0])});
}

/// Adds a bias before a view instead of after it: reshape(x) + reshape(b) -> reshape(x + b).
bool bias_before_view(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::add || op.inputs.size() != 2) return false;
  for (const std::size_t i : {0, 1}) {
    const KernelOp* view = g.inner(op.inputs[i], OpKind::reshape);
    const KernelOp* of_bias = g.made_by(op.inputs[1 - i], OpKind::reshape);
    if (!view || !of_bias || g.shape(op.inputs[i]) != g.shape(op.outputs[0])) continue;
    const Shape &x = g.shape(view->inputs[0]), &bias = g.shape(of_bias->inputs[0]);
    Shape split = g.shape(op.inputs[1 - i]);
    while (split.size() > 1 && split.front() == 1) split.erase(split.begin());
    const bool columns = bias.size() == 1 && bias[0] == x.back();
    if (!columns || g.shape(op.inputs[i]).size() <= x.size() || split.size() < 2 ||
        !same_last(g.shape(op.inputs[i]), split, split.size()))
      continue;
    const int sum = out.step(op, OpKind::add, {view->inputs[0], of_bias->inputs[0]}, {}, "_merged");
    return out.replace(op, OpKind::reshape, {sum}, view->attributes);
  }
  return false;
}

/// Makes one mask of two: mask(mask(x)).
bool two_masks(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::mask || op.inputs.size() != 1) return false;
  const KernelOp* first = g.inner(op.inputs[0], OpKind::mask);
  if (!first || !same_bits(first->attributes.value, op.attributes.value) ||
      first->attributes.sizes != op.attributes.sizes)
    return false;
  const auto both = [](auto a, auto b, auto stricter) { return a && b ? std::optional(stricter(*a, *b)) : a ? a : b; };
  const auto smaller = [](std::int64_t a, std::int64_t b) { return std::min(a, b); };
  const auto greatest = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
  const graph::Kept &a = op.attributes.kept, &b = first->attributes.kept;
  Attributes joint = op.attributes;
  joint.kept = {both(a.tril, b.tril, smaller), both(a.triu, b.triu, greatest), both(a.length, b.length, smaller),
                b.first};
  return out.replace(op, OpKind::mask, first->inputs, joint);
}

/// Adds a copy after a view that is an output and that no kernel writes, so that the copy may be fused.
bool copied_view(const Known& g, const KernelOp& op, Rewrite& out) {
  const int to = op.outputs[0];
  if (!graph::is_view(op.kind) || !is_output(g.graph, to)) return false;
  for (const lower::WrittenAs& w : lower::written_as(g.graph))
    if (g.graph.ops[w.view].outputs[0] == to) return false;
  const int seen = out.step(op, op.kind, op.inputs, op.attributes, "_view");
  return out.replace(op, OpKind::mul_scalar, {seen});
}

}  // namespace zellige::rewrite
