// Rules of reshapes and expands next to elementwise operators.
#include <algorithm>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Returns, for each dimension of shape `merged`, the extents of the dimensions of shape `split` that are
/// merged into it. Returns an empty list if `merged` is not `split` with adjacent dimensions merged.
std::vector<Shape> pieces(const Shape& split, const Shape& merged) {
  std::vector<Shape> result;
  std::size_t at = 0;
  for (const std::int64_t extent : merged) {
    Shape piece;
    std::int64_t product = 1;
    while (at < split.size() && (product < extent || (product == extent && split[at] == 1 && extent != 1)))
      product *= split[at], piece.push_back(split[at++]);
    if (piece.empty() && at < split.size() && split[at] == 1) piece.push_back(split[at++]);
    if (product != extent || piece.empty()) return {};
    result.push_back(std::move(piece));
  }
  // A last extent of 1, as that of a row's sum, takes all that are left.
  while (!result.empty() && at < split.size() && split[at] == 1) result.back().push_back(split[at++]);
  return at == split.size() ? result : std::vector<Shape>{};
}

/// Returns the shape of an operand of shape `operand`, which is broadcast to shape `merged`, after each
/// dimension d of `merged` is split into the extents split[d]. A dimension of extent 1 that is broadcast
/// becomes as many dimensions of extent 1.
Shape split_as(const Shape& operand, const std::vector<Shape>& split, const Shape& merged) {
  Shape result;
  const std::size_t missing = merged.size() - operand.size();
  for (std::size_t d = 0; d < operand.size(); ++d) {
    const Shape& piece = split[missing + d];
    if (operand[d] == merged[missing + d])
      result.insert(result.end(), piece.begin(), piece.end());
    else
      result.insert(result.end(), piece.size(), 1);  // the operand has extent 1
  }
  return result;
}

/// Returns whether a tensor is an input of the graph, or is made of inputs by operators element by element, all
/// of its shape and read by nobody else.
bool of_inputs(const Known& g, int tensor) {
  const KernelOp* made = g.producer[tensor];
  if (!made) return true;
  return graph::is_elementwise(made->kind) && g.readers[tensor] == 1 &&
         std::ranges::all_of(made->inputs, [&](int t) { return g.shape(t) == g.shape(tensor) && of_inputs(g, t); });
}

/// Appends the operators that make a tensor of inputs, on the view `view` of each, and returns their result,
/// which is tensor `to` unless that is -1.
int on_views(const Known& g, int tensor, const KernelOp& view, Rewrite& out, int to = -1) {
  const std::string name = g.name(tensor) + "_view";
  const KernelOp* made = g.producer[tensor];
  if (!made) return out.add(view.kind, {tensor}, view.attributes, name);
  std::vector<int> in;
  for (const int t : made->inputs) in.push_back(on_views(g, t, view, out));
  return out.add(made->kind, in, made->attributes, name, to);
}

}  // namespace

/// Reads an operand before it is expanded: f(x, expand(y)) -> f(x, y).
bool broadcast(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!graph::is_elementwise(op.kind) || op.inputs.size() < 2) return false;
  const Shape& whole = g.shape(op.outputs[0]);
  std::vector<int> in = op.inputs;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const KernelOp* wide = g.made_by(op.inputs[i], OpKind::expand);
    if (!wide || g.shape(wide->inputs[0]).size() != whole.size()) continue;
    const bool others = std::ranges::any_of(in, [&](const int& t) { return &t != &in[i] && g.shape(t) == whole; });
    if (others) in[i] = wide->inputs[0];
  }
  return out.replace_operands(op, in);
}

/// Applies an elementwise operator before dimensions are merged: f(reshape(x), w) -> reshape(f(x, reshape(w))).
bool reshape_after(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!graph::is_elementwise(op.kind)) return false;
  const Shape& merged = g.shape(op.outputs[0]);
  const KernelOp* view = nullptr;
  for (const int t : op.inputs) {
    const KernelOp* made = g.inner(t, OpKind::reshape);
    if (g.shape(t) != merged) continue;
    if (!made || g.shape(made->inputs[0]).size() <= merged.size() ||
        (view && g.shape(view->inputs[0]) != g.shape(made->inputs[0])))
      return false;
    const KernelOp* inside = g.producer[made->inputs[0]];
    if (!inside || (!graph::is_elementwise(inside->kind) && !graph::reduces(inside->kind) && !along_rows(inside->kind)))
      return false;
    view = made;
  }
  if (!view) return false;
  const Shape& split = g.shape(view->inputs[0]);
  const std::vector<Shape> of = pieces(split, merged);
  if (of.empty()) return false;
  std::vector<int> in = op.inputs;
  for (int& t : in) {
    if (g.shape(t) == merged)
      t = g.producer[t]->inputs[0];
    else
      t = out.add(OpKind::reshape, {t}, {.sizes = split_as(g.shape(t), of, merged)}, g.name(t) + "_split");
  }
  const int made = out.step(op, op.kind, in, op.attributes, "_split");
  return out.replace(op, OpKind::reshape, {made}, {.sizes = merged});
}

/// Reshapes or permutes inputs instead of what elementwise operators make of them: reshape(f(x)) -> f(reshape(x)).
bool view_of_input(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape && op.kind != OpKind::permute) return false;
  const KernelOp* made = g.producer[op.inputs[0]];
  if (!made || !of_inputs(g, op.inputs[0])) return false;
  const bool one = made->inputs.size() == 1 && !g.producer[made->inputs[0]];
  if (!one && g.shape(op.inputs[0]).size() != 1) return false;
  on_views(g, op.inputs[0], op, out, op.outputs[0]);
  return true;
}

}  // namespace zellige::rewrite
