// Rules of matmuls.
#include <algorithm>
#include <cmath>
#include <span>

#include "graph/view.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Returns whether the operator exchanges the last two dimensions.
bool exchanges(const KernelOp* op) {
  return op && op->kind == OpKind::permute && op->attributes.sizes.size() >= 2 &&
         op->attributes.sizes == exchanged(op->attributes.sizes.size());
}

/// Returns whether a product does not overflow or vanish for lack of this factor, unless it nearly does with it.
bool is_moderate(double scale) { return std::abs(scale) >= 0x1p-12 && std::abs(scale) <= 0x1p12; }

/// A matmul's operand that is rows of a weight, w[start:end] transposed.
struct WeightRows {
  int weight = -1;
  std::int64_t start = 0, end = 0;
};
/// Returns the rows of a weight that a matmul of two operands multiplies by, or no weight.
WeightRows rows_of(const Known& g, const KernelOp& op) {
  if (op.kind != OpKind::matmul || op.inputs.size() != 2 || g.shape(op.inputs[1]).size() != 2) return {};
  const KernelOp* transposed = g.made_by(op.inputs[1], OpKind::permute);
  const KernelOp* part = exchanges(transposed) ? g.made_by(transposed->inputs[0], OpKind::slice) : nullptr;
  if (!part || part->attributes.dim != 0) return {};
  return {part->inputs[0], part->attributes.start, part->attributes.end};
}

}  // namespace

/// Scales a product instead of an operand: (s a) b -> s (a b).
bool scale_after_product(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::matmul || op.inputs.size() != 2 || !has_range(g.dtype(op.inputs[0]))) return false;
  for (const std::size_t i : {0, 1}) {
    std::vector<const KernelOp*> views;  // between the scale and the matmul, the last one first
    int t = op.inputs[i];
    while (g.readers[t] == 1 && g.producer[t] && graph::is_view(g.producer[t]->kind))
      views.push_back(g.producer[t]), t = views.back()->inputs[0];
    const KernelOp* scale = g.made_by(t, OpKind::mul_scalar);
    if (!scale || g.readers[t] != 1 || is_copy(*scale) || !is_moderate(scale->attributes.scalar)) continue;
    std::vector<int> in = op.inputs;
    in[i] = scale->inputs[0];
    for (auto view = views.rbegin(); view != views.rend(); ++view)
      in[i] = out.step(op, (*view)->kind, {in[i]}, (*view)->attributes, "_view");
    const int product = out.step(op, op.kind, in, op.attributes, "_unscaled");
    return out.replace(op, OpKind::mul_scalar, {product}, scale->attributes);
  }
  return false;
}

/// Reads a matmul's operand before it is expanded: a expand(b) -> a b.
bool broadcast_batches(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::matmul) return false;
  for (const std::size_t i : {0, 1}) {
    const KernelOp* wide = g.made_by(op.inputs[i], OpKind::expand);
    if (!wide) continue;
    const Shape &whole = g.shape(op.inputs[i]), &other = g.shape(op.inputs[1 - i]), &given = g.shape(wide->inputs[0]);
    if (whole.size() < 3 || given.size() != whole.size() || other.size() < whole.size()) continue;
    const std::size_t missing = other.size() - whole.size();
    bool same = std::ranges::equal(std::span(given).last(2), std::span(whole).last(2));
    for (std::size_t d = 0; d + 2 < whole.size(); ++d)
      same = same && (given[d] == whole[d] || other[missing + d] == whole[d]);
    if (!same) continue;
    std::vector<int> in = op.inputs;
    in[i] = wide->inputs[0];
    return out.replace_operands(op, in);
  }
  return false;
}

/// Multiplies by groups of batches that share an operand instead of repeating it:
/// a reshape(expand(b)) -> reshape(reshape(a) expand(b)).
bool separate_batches(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::matmul || op.inputs.size() != 2) return false;
  const Shape &a = g.shape(op.inputs[0]), &b = g.shape(op.inputs[1]);
  if (a.size() < 3 || a.size() != b.size() || !std::equal(a.begin(), a.end() - 2, b.begin())) return false;
  for (const std::size_t i : {0, 1}) {
    // The repeated operand, perhaps transposed after it is repeated.
    const KernelOp* transposed = exchanges(g.producer[op.inputs[i]]) ? g.producer[op.inputs[i]] : nullptr;
    const int merged = transposed ? transposed->inputs[0] : op.inputs[i];
    const KernelOp* view = g.made_by(merged, OpKind::reshape);
    const KernelOp* wide = view ? g.made_by(view->inputs[0], OpKind::expand) : nullptr;
    if (!wide) continue;
    const Shape &split = g.shape(view->inputs[0]), &whole = g.shape(merged);
    if (split.size() != whole.size() + 1 || g.shape(wide->inputs[0]).size() != split.size()) continue;
    // All dimensions but one, which two are merged into, are the same.
    const auto [in_split, in_whole] = std::ranges::mismatch(split, whole);
    const auto at = in_split - split.begin();
    if (at + 2 >= static_cast<std::ptrdiff_t>(whole.size()) || in_split[0] * in_split[1] != *in_whole ||
        !std::equal(in_split + 2, split.end(), in_whole + 1))
      continue;
    const std::int64_t outer = in_split[0], inner = in_split[1];
    const auto separated = [&](Shape shape) {
      shape[at] = outer;
      shape.insert(shape.begin() + at + 1, inner);
      return shape;
    };
    std::vector<int> in = op.inputs;
    in[i] = view->inputs[0];
    if (transposed) in[i] = out.step(op, OpKind::permute, {in[i]}, {.sizes = exchanged(split.size())}, "_turned");
    in[1 - i] = out.step(op, OpKind::reshape, {in[1 - i]}, {.sizes = separated(g.shape(op.inputs[1 - i]))}, "_apart");
    const int product = out.step(op, op.kind, in, op.attributes, "_split");
    return out.replace(op, OpKind::reshape, {product}, {.sizes = g.shape(op.outputs[0])});
  }
  return false;
}

/// Exchanges operands instead of transposing a product of transposed operands: (b a')' -> a b'.
bool transposed_product(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!exchanges(&op)) return false;
  const KernelOp* product = g.inner(op.inputs[0], OpKind::matmul, 2);
  if (!product) return false;
  const std::vector<int> swapped = {product->inputs[1], product->inputs[0]};
  const auto is_transposed = [&](int t) { return exchanges(g.producer[t]); };
  const auto is_matrix = [&](int t) { return g.shape(t).size() >= 2; };
  if (std::ranges::none_of(swapped, is_transposed) || !std::ranges::all_of(swapped, is_matrix)) return false;
  std::vector<int> in;
  for (const int t : swapped)
    in.push_back(is_transposed(t)
                     ? g.producer[t]->inputs[0]
                     : out.add(OpKind::permute, {t}, {.sizes = exchanged(g.shape(t).size())}, g.name(t) + "_turned"));
  return out.replace(op, OpKind::matmul, in, product->attributes);
}

/// Multiplies by a whole weight once instead of by its parts: x w[i:j] -> (x w)[i:j].
bool whole_weight(const Known& g, const KernelOp& op, Rewrite& out) {
  const WeightRows own = rows_of(g, op);
  if (own.weight < 0) return false;
  // The same operand is multiplied by the whole weight, too, or by parts that are the whole weight, each once.
  std::vector<WeightRows> parts;
  bool whole_too = false;
  for (const KernelOp& o : g.graph.ops) {
    if (o.kind != OpKind::matmul || o.inputs.size() != 2 || o.inputs[0] != op.inputs[0] ||
        o.attributes != op.attributes)
      continue;
    const KernelOp* weight = g.producer[o.inputs[1]];
    whole_too = whole_too || (exchanges(weight) && weight->inputs[0] == own.weight);
    if (const WeightRows r = rows_of(g, o); r.weight == own.weight) parts.push_back(r);
  }
  std::ranges::sort(parts, {}, &WeightRows::start);
  std::int64_t end = 0;
  for (const WeightRows& r : parts) end = r.start == end ? r.end : -1;
  if (!whole_too && (parts.size() < 2 || end != g.shape(own.weight)[0])) return false;
  const int transposed = out.step(op, OpKind::permute, {own.weight}, {.sizes = {1, 0}}, "_weight");
  const int whole = out.step(op, OpKind::matmul, {op.inputs[0], transposed}, op.attributes, "_whole");
  const int last = static_cast<int>(g.shape(op.outputs[0]).size()) - 1;
  return out.replace(op, OpKind::slice, {whole}, {.dim = last, .start = own.start, .end = own.end});
}

/// Scales after a cast to float32 instead of before it: cast(x s) -> cast(x) s.
bool scale_after_cast(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!is_widening(op.kind, op.attributes)) return false;
  const KernelOp* scale = g.inner(op.inputs[0], OpKind::mul_scalar);
  if (!scale || !has_range(g.dtype(op.inputs[0]))) return false;
  const int wide = out.step(op, OpKind::cast, scale->inputs, op.attributes, "_unscaled");
  return out.replace(op, OpKind::mul_scalar, {wide}, scale->attributes);
}

/// Takes columns before they are split into heads: reshape(x[i:j]) -> reshape(x)[k:l].
bool slice_after_view(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape) return false;
  const KernelOp* part = g.made_by(op.inputs[0], OpKind::slice);
  if (!part) return false;
  const KernelOp* product = g.made_by(part->inputs[0], OpKind::matmul);
  const Shape &whole = g.shape(part->inputs[0]), &to = g.shape(op.outputs[0]);
  const std::size_t d = whole.size() - 1;
  if (!product || part->attributes.dim != static_cast<int>(d) || to.size() != whole.size() + 1 ||
      !std::equal(whole.begin(), whole.end() - 1, to.begin()))
    return false;
  const std::int64_t each = to.back(), start = part->attributes.start, end = part->attributes.end;
  if (each < 2 || start % each != 0 || end % each != 0 || whole[d] % each != 0) return false;
  Shape split = whole;
  split[d] /= each, split.push_back(each);
  const int view = out.step(op, OpKind::reshape, {part->inputs[0]}, {.sizes = split}, "_whole");
  return out.replace(op, OpKind::slice, {view}, {.dim = static_cast<int>(d), .start = start / each, .end = end / each});
}

}  // namespace zellige::rewrite
