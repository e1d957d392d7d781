// Rules of views that move or cut dimensions, and of what reads them.
#include <algorithm>
#include <span>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/view.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Returns whether the operator is a permute that only moves dimensions of extent 1, and does not exchange the last
/// two: the rules of products look for a transposed row or column as for any other matrix.
bool moves_ones(const Known& g, const KernelOp& op) {
  if (op.kind != OpKind::permute || std::ranges::is_sorted(op.attributes.sizes)) return false;
  const auto& dims = op.attributes.sizes;
  const bool transposed = dims.size() > 1 && dims.end()[-1] + 1 == dims.end()[-2];
  return !transposed && keeps_sequence(g.shape(op.inputs[0]), dims);
}

/// Returns a tensor's batches: its extents without the last two.
std::span<const std::int64_t> batches(const Shape& shape) { return std::span(shape).first(shape.size() - 2); }

/// Returns whether the last two extents are the same.
bool same_matrix(const Shape& a, const Shape& b) {
  return std::ranges::equal(std::span(a).last(2), std::span(b).last(2));
}

/// Returns the slice of `dim` that makes the tensor, or nullptr.
const KernelOp* slice_along(const Known& g, int tensor, std::size_t dim) {
  const KernelOp* part = g.made_by(tensor, OpKind::slice);
  return part && part->attributes.dim == static_cast<int>(dim) ? part : nullptr;
}

/// A sum of columns of a matmul and the same elements of a vector.
struct BiasedPart {
  int product = -1, bias = -1;
  const KernelOp* columns = nullptr;
};
/// Returns the parts of such a sum, or none.
BiasedPart biased_part(const Known& g, const KernelOp& op) {
  if (op.kind != OpKind::add || op.inputs.size() != 2) return {};
  for (const std::size_t i : {0, 1}) {
    const KernelOp* columns = slice_along(g, op.inputs[i], g.shape(op.inputs[i]).size() - 1);
    const KernelOp* part = slice_along(g, op.inputs[1 - i], 0);
    if (!columns || !part || g.readers[op.inputs[i]] != 1) continue;
    const int product = columns->inputs[0], bias = part->inputs[0];
    if (g.made_by(product, OpKind::matmul) && g.shape(bias).size() == 1 &&
        g.shape(bias)[0] == g.shape(product).back() && part->attributes.start == columns->attributes.start &&
        part->attributes.end == columns->attributes.end)
      return {product, bias, columns};
  }
  return {};
}

/// Returns whether a tensor is a matmul's result, or a reshape or permute of one.
bool views_a_matmul(const Known& g, int tensor) {
  const KernelOp* made = g.producer[tensor];
  while (made && graph::is_whole_view(made->kind)) made = g.producer[made->inputs[0]];
  return made && made->kind == OpKind::matmul;
}

}  // namespace

/// Makes a permute that only moves dimensions of 1 a part of the reshape next to it, unless it exchanges the last two
/// dimensions.
bool moved_ones(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind == OpKind::reshape) {
    const KernelOp* transposed = g.made_by(op.inputs[0], OpKind::permute);
    if (!transposed || !moves_ones(g, *transposed)) return false;
    return out.replace(op, OpKind::reshape, transposed->inputs, op.attributes);
  }
  const KernelOp* view = op.kind == OpKind::permute ? g.made_by(op.inputs[0], OpKind::reshape) : nullptr;
  return view && moves_ones(g, op) && out.replace(op, OpKind::reshape, view->inputs, {.sizes = g.shape(op.outputs[0])});
}

/// Multiplies by a matrix instead of by a batch of one.
bool batch_of_one(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::matmul || op.inputs.size() != 2) return false;
  const Shape &a = g.shape(op.inputs[0]), &b = g.shape(op.inputs[1]);
  if (b.size() < 3 || a.size() < b.size() || !g.made_by(op.inputs[1], OpKind::reshape) ||
      !std::ranges::all_of(batches(b), [](std::int64_t n) { return n == 1; }))
    return false;
  const int matrix = out.add(OpKind::reshape, {op.inputs[1]}, {.sizes = Shape(b.end() - 2, b.end())},
                             g.name(op.inputs[1]) + "_matrix");
  return out.replace_operands(op, {op.inputs[0], matrix});
}

/// Multiplies before batches are merged: reshape(reshape(a) reshape(b)) -> a b.
bool merged_batches(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape) return false;
  const KernelOp* product = g.inner(op.inputs[0], OpKind::matmul, 2);
  if (!product) return false;
  const Shape &merged = g.shape(op.inputs[0]), &split = g.shape(op.outputs[0]);
  if (split.size() <= merged.size() || merged.size() < 3 || !same_matrix(merged, split)) return false;
  std::vector<int> in;
  for (const int t : product->inputs) {
    const KernelOp* view = g.made_by(t, OpKind::reshape);
    if (!view) return false;
    const Shape &from = g.shape(view->inputs[0]), &to = g.shape(t);
    if (from.size() != split.size() || to.size() != merged.size() || !same_matrix(from, to) ||
        !std::ranges::equal(batches(from), batches(split)) || !std::ranges::equal(batches(to), batches(merged)))
      return false;
    in.push_back(view->inputs[0]);
  }
  return out.replace(op, OpKind::matmul, in, product->attributes);
}

/// Slices before a view instead of after it: reshape(reshape(x)[i:j]) -> x[k:l].
bool slice_before_view(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape) return false;
  const KernelOp* part = g.made_by(op.inputs[0], OpKind::slice);
  const KernelOp* view = part ? g.made_by(part->inputs[0], OpKind::reshape) : nullptr;
  if (!view) return false;
  const Shape &from = g.shape(view->inputs[0]), &split = g.shape(part->inputs[0]), &to = g.shape(op.outputs[0]);
  const std::size_t last = from.size() - 1;
  if (split.size() != from.size() + 1 || to.size() != from.size() || part->attributes.dim != static_cast<int>(last))
    return false;
  const auto leading = [&](const Shape& s) { return std::span(s).first(last); };
  if (!std::ranges::equal(leading(from), leading(split)) || !std::ranges::equal(leading(from), leading(to)))
    return false;
  const std::int64_t each = split.back();
  return out.replace(
      op, OpKind::slice, view->inputs,
      {.dim = static_cast<int>(last), .start = part->attributes.start * each, .end = part->attributes.end * each});
}

/// Reads a concatenation's operand instead of the slice that is it.
bool part_of_concat(const Known& g, const KernelOp& op, Rewrite& out) {
  std::vector<int> in = op.inputs;
  for (int& t : in) {
    const KernelOp* part = g.made_by(t, OpKind::slice);
    const KernelOp* joined = part ? g.made_by(part->inputs[0], OpKind::concat) : nullptr;
    if (const int i = joined ? operand_of(g, *joined, *part) : -1; i >= 0) t = joined->inputs[i];
  }
  return out.replace_operands(op, in);
}

/// Expands a tensor instead of concatenating it with itself.
bool repeated_concat(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::concat || op.inputs.size() < 2) return false;
  const int x = op.inputs[0];
  if (g.shape(x)[op.attributes.dim] != 1 || std::ranges::count(op.inputs, x) != std::ssize(op.inputs)) return false;
  return out.replace(op, OpKind::expand, {x}, {.sizes = g.shape(op.outputs[0])});
}

/// Adds a whole bias once instead of its parts: (a b)[i:j] + c[i:j] -> (a b + c)[i:j].
bool bias_in_parts(const Known& g, const KernelOp& op, Rewrite& out) {
  const BiasedPart own = biased_part(g, op);
  if (own.product < 0) return false;
  int others = 0;
  for (const KernelOp& o : g.graph.ops) {
    const BiasedPart part = biased_part(g, o);
    others += part.product == own.product && part.bias == own.bias;
  }
  if (others != g.readers[own.product]) return false;
  const int sum = out.step(op, OpKind::add, {own.product, own.bias}, {}, "_whole");
  return out.replace(op, OpKind::slice, {sum}, own.columns->attributes);
}

/// Reduces with keepdim, and drops the dimensions after that: sum(x) -> reshape(sum(x)).
bool kept_dimensions(const Known& g, const KernelOp& op, Rewrite& out) {
  const int made = op.outputs[0];
  if (!graph::reduces(op.kind) || op.attributes.keepdim || is_output(g.graph, made)) return false;
  Attributes kept = op.attributes;
  kept.keepdim = true;
  Shape whole = g.shape(op.inputs[0]);
  for (const int d : graph::composed_dims(op.kind, kept, whole)) whole[d] = 1;
  const bool read = std::ranges::any_of(g.graph.ops, [&](const KernelOp& o) {
    const bool put_back = o.kind == OpKind::reshape && g.shape(o.outputs[0]) == whole;
    const bool twice = o.kind == op.kind && o.inputs == op.inputs && o.attributes == kept;
    return ((graph::is_elementwise(o.kind) || put_back) && o.inputs == std::vector{made}) || twice;
  });
  if (!read) return false;
  const int wide = out.step(op, op.kind, op.inputs, kept, "_kept");
  return out.replace(op, OpKind::reshape, {wide}, {.sizes = g.shape(made)});
}

/// Reduces x instead of a permute of it.
bool permuted_reduction(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!graph::reduces(op.kind)) return false;
  // Where dimensions are kept, the result is reshaped, which only what reshapes it anyway does not see.
  const bool reshaped = g.readers[op.outputs[0]] == 1 && std::ranges::any_of(g.graph.ops, [&](const KernelOp& o) {
                          return o.kind == OpKind::reshape && o.inputs == op.outputs;
                        });
  if (op.attributes.keepdim && !reshaped) return false;
  std::vector<const KernelOp*> functions;  // between the permute and the reduction, the last one first
  int t = op.inputs[0];
  while (g.readers[t] == 1 && g.producer[t] && graph::is_elementwise(g.producer[t]->kind) &&
         g.producer[t]->inputs.size() == 1)
    functions.push_back(g.producer[t]), t = g.producer[t]->inputs[0];
  const KernelOp* transposed = g.made_by(t, OpKind::permute);
  if (!transposed || views_a_matmul(g, transposed->inputs[0])) return false;  // the rules of products rewrite these
  const std::vector<std::int64_t>& order = transposed->attributes.sizes;
  std::vector<std::int64_t> summed, rest;
  const std::vector<int> dims = graph::composed_dims(op.kind, op.attributes, g.shape(t));
  for (std::size_t d = 0; d < order.size(); ++d)
    (std::ranges::count(dims, static_cast<int>(d)) ? summed : rest).push_back(order[d]);
  if (!std::ranges::is_sorted(rest)) return false;
  int x = transposed->inputs[0];
  for (auto f = functions.rbegin(); f != functions.rend(); ++f)
    x = out.step(op, (*f)->kind, {x}, (*f)->attributes, "_as_it_is");
  Attributes a = op.attributes;
  std::ranges::sort(summed);
  a.dim = summed.size() == 1 ? static_cast<int>(summed[0]) : -1;
  a.sizes = summed.size() == 1 ? std::vector<std::int64_t>{} : summed;
  if (!a.keepdim) return out.replace(op, op.kind, {x}, a);
  const int made = out.step(op, op.kind, {x}, a, "_in_order");
  return out.replace(op, OpKind::reshape, {made}, {.sizes = g.shape(op.outputs[0])});
}

/// Reduces along a dimension instead of along the dimensions that a reshape splits it into.
bool split_reduction(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!graph::reduces(op.kind) || op.attributes.keepdim) return false;
  const KernelOp* view = g.made_by(op.inputs[0], OpKind::reshape);
  if (!view) return false;
  const Shape &whole = g.shape(view->inputs[0]), &split = g.shape(op.inputs[0]);
  const std::vector<int> dims = graph::composed_dims(op.kind, op.attributes, split);  // descending
  const int first = dims.back(), last = dims.front();
  if (dims.size() < 2 || last - first + 1 != static_cast<int>(dims.size()) ||
      whole.size() + dims.size() - 1 != split.size() ||
      !std::equal(split.begin(), split.begin() + first, whole.begin()) ||
      !std::equal(split.begin() + last + 1, split.end(), whole.begin() + first + 1))
    return false;
  Attributes a = op.attributes;
  a.dim = first, a.sizes = {};
  return out.replace(op, op.kind, view->inputs, a);
}

}  // namespace zellige::rewrite
