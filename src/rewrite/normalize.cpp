#include "rewrite/normalize.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "rewrite/rules.hpp"

namespace zellige::fuse {
namespace {

/// Rule `broadcast`: if an operand is expanded to the result's shape and another operand has that shape,
/// replaces the operand by the tensor before the expand. Returns false if the rule does not apply.
bool broadcast(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!graph::is_elementwise(op.kind) || op.inputs.size() < 2) return false;
  const Shape& whole = g.shape(op.outputs[0]);
  KernelOp anew = op;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const KernelOp* wide = g.made_by(op.inputs[i], OpKind::expand);
    if (!wide || g.shape(wide->inputs[0]).size() != whole.size()) continue;
    const bool others = std::ranges::any_of(
        anew.inputs, [&](const int& t) { return &t != &anew.inputs[i] && g.shape(t) == whole; });
    if (others) anew.inputs[i] = wide->inputs[0];
  }
  if (anew.inputs == op.inputs) return false;
  out.keep(anew);
  return true;
}

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

/// Returns whether an operator of this kind runs along rows: a reduction, softmax or norm.
bool along_rows(OpKind kind) {
  return graph::reduces(kind) || kind == OpKind::softmax || kind == OpKind::safe_softmax ||
         kind == OpKind::rms_norm || kind == OpKind::layer_norm;
}

/// Rule `reshape after`: if the operands of an elementwise operator are reshapes that merge dimensions, applies the
/// operator to the tensors before the reshapes, and reshapes its result. Returns false if the rule does not apply.
bool reshape_after(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!graph::is_elementwise(op.kind)) return false;
  const Shape& merged = g.shape(op.outputs[0]);
  const KernelOp* view = nullptr;
  for (const int t : op.inputs) {
    const KernelOp* made = g.made_by(t, OpKind::reshape);
    if (g.shape(t) != merged) continue;
    if (!made || g.shape(made->inputs[0]).size() <= merged.size() ||
        (view && g.shape(view->inputs[0]) != g.shape(made->inputs[0])))
      return false;
    const KernelOp* inside = g.producer[made->inputs[0]];
    if (g.readers[t] != 1 || !inside) return false;
    if (!graph::is_elementwise(inside->kind) && !along_rows(inside->kind)) return false;
    view = made;
  }
  if (!view) return false;
  const Shape& split = g.shape(view->inputs[0]);
  const std::vector<Shape> of = pieces(split, merged);
  if (of.empty()) return false;
  KernelOp anew = op;
  for (int& t : anew.inputs) {
    const KernelOp* made = g.made_by(t, OpKind::reshape);
    if (g.shape(t) == merged)
      t = made->inputs[0];
    else
      t = out.add(OpKind::reshape, {t}, {.sizes = split_as(g.shape(t), of, merged)}, g.name(t) + "_split");
  }
  const int made = out.make({g.dtype(op.outputs[0]), split, {}, g.name(op.outputs[0]) + "_split"});
  anew.outputs = {made};
  out.keep(anew);
  out.add(OpKind::reshape, {made}, {.sizes = merged}, "", op.outputs[0]);
  return true;
}

/// Returns whether a tensor is an input of the graph, or is made of inputs by operators element by element, all
/// of its shape and read by nobody else.
bool of_inputs(const Known& g, int tensor) {
  const KernelOp* made = g.producer[tensor];
  if (!made) return true;
  return graph::is_elementwise(made->kind) && g.readers[tensor] == 1 &&
         std::ranges::all_of(made->inputs,
                             [&](int t) { return g.shape(t) == g.shape(tensor) && of_inputs(g, t); });
}

/// Appends the operators that make a tensor of inputs, on the view `view` of each, and returns their result,
/// which is tensor `to` unless that is -1.
int on_views(const Known& g, int tensor, const KernelOp& view, Rewrite& out, int to = -1) {
  const std::string name = g.name(tensor) + "_view";
  const KernelOp* made = g.producer[tensor];
  if (!made) return out.add(view.kind, {tensor}, view.attributes, name);
  std::vector<int> in;
  for (const int t : made->inputs) in.push_back(on_views(g, t, view, out));
  const int result = out.add(made->kind, in, made->attributes, name, to);
  out.set_dtype(result, g.dtype(tensor));
  return result;
}

/// Rule `view of an input`: if what one elementwise operator makes of an input of the graph, or several make of
/// vectors, is reshaped or permuted, reshapes or permutes the inputs instead. Returns false if the rule does not apply.
bool view_of_input(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::reshape && op.kind != OpKind::permute) return false;
  const KernelOp* made = g.producer[op.inputs[0]];
  if (!made || !of_inputs(g, op.inputs[0])) return false;
  const bool one = made->inputs.size() == 1 && !g.producer[made->inputs[0]];
  if (!one && g.shape(op.inputs[0]).size() != 1) return false;
  on_views(g, op.inputs[0], op, out, op.outputs[0]);
  return true;
}

/// Rule `kept dimensions`: if an elementwise operator with one operand reads a reduction, or the same reduction
/// keeps its dimensions elsewhere, makes the reduction keep its dimensions (keepdim) and adds a reshape after it.
/// Returns false if the rule does not apply.
bool kept_dimensions(const Known& g, const KernelOp& op, Rewrite& out) {
  const int made = op.outputs[0];
  if (!graph::reduces(op.kind) || op.attributes.keepdim || is_output(g.graph, made)) return false;
  Attributes kept = op.attributes;
  kept.keepdim = true;
  Shape whole = g.shape(op.inputs[0]);
  for (const int d : graph::composed_dims(op.kind, kept, whole)) whole[static_cast<std::size_t>(d)] = 1;
  const bool read = std::ranges::any_of(g.graph.ops, [&](const KernelOp& o) {
    const bool put_back = o.kind == OpKind::reshape && g.shape(o.outputs[0]) == whole;
    const bool twice = o.kind == op.kind && o.inputs == op.inputs && o.attributes == kept;
    return ((graph::is_elementwise(o.kind) || put_back) && o.inputs == std::vector{made}) || twice;
  });
  if (!read) return false;
  const int wide = out.add(op.kind, op.inputs, kept, g.name(made) + "_kept");
  out.add(OpKind::reshape, {wide}, {.sizes = g.shape(made)}, "", made);
  return true;
}

/// Returns the graph without repeated computations of a value (common-subexpression elimination). Outputs of
/// the graph are kept even if they are repeated.
KernelGraph once(const KernelGraph& g) {
  std::map<std::pair<OpKind, std::vector<int>>, std::vector<const KernelOp*>> before;
  std::vector<int> as(g.tensors.size());
  std::iota(as.begin(), as.end(), 0);
  Rewrite out(g);
  bool changed = false;
  for (const KernelOp& given : g.ops) {
    KernelOp op = given;
    for (int& t : op.inputs) t = as[t];
    const KernelTensor& made = g.tensors[op.outputs[0]];
    const bool may = op.kind != OpKind::custom && op.outputs.size() == 1 && made.memory < 0;
    if (may) {
      auto& duplicates = before[{op.kind, op.inputs}];
      const auto same = std::ranges::find_if(duplicates, [&](const KernelOp* o) {
        return o->attributes == op.attributes && g.tensors[o->outputs[0]].dtype == made.dtype;
      });
      if (same != duplicates.end() && !is_output(g, op.outputs[0])) {
        as[op.outputs[0]] = (*same)->outputs[0], changed = true;
        continue;
      }
      duplicates.push_back(&given);
    }
    out.keep(op);
  }
  return changed ? out.finished() : g;
}

constexpr Rule table[] = {
    {"identity", "a view, cast of float32 or product with 1 that changes nothing is read", identity},
    {"permuted reduction",
     "a sum, mean, maximum or minimum of a permute of no matmul, perhaps below functions that nobody else "
     "reads, after which the other dimensions are in order",
     permuted_reduction},
    {"split reduction", "a reduction along all dimensions that a reshape splits one into", split_reduction},
    {"kept dimensions",
     "a sum, mean, maximum or minimum along dimensions that it drops, read by an operator of one operand or "
     "by a reshape that puts them back, or made elsewhere without dropping them",
     kept_dimensions},
    {"part of a concatenation", "a slice of a concatenation is one of its operands", part_of_concat},
    {"repeated concatenation", "a tensor of extent 1 is concatenated with itself along that dimension",
     repeated_concat},
    {"broadcast", "an operand is expanded to the result's shape, and another one has it", broadcast},
    {"moved ones", "a permute beside a reshape only moves dimensions of 1, and not between the last two",
     moved_ones},
    {"batch of one", "a matmul's second operand is a reshape that is a batch of one matrix", batch_of_one},
    {"broadcast batches", "a matmul's operand is expanded along batches that the other one has",
     broadcast_batches},
    {"there and back",
     "a reshape of what operators row by row make of another reshape, and nobody else reads what they make; "
     "it has "
     "the shape from before, but for a matmul's columns",
     there_and_back},
    {"transposed product", "a product with a transposed operand is transposed, and nobody else reads it",
     transposed_product},
    {"two views", "a reshape of a reshape, or a permute of a permute", two_views},
    {"merged batches",
     "a reshape splits a matmul's batches as they were before reshapes of both operands, and nobody else "
     "reads it",
     merged_batches},
    {"two masks", "a mask of a mask, with the same dimensions and value, and nobody else reads the first one",
     two_masks},
    {"square", "x x, or x to the power of 2", square},
    {"negative", "a product with -1", negative},
    {"negative factor", "a product with -x, and nobody else reads that", negative_factor},
    {"difference", "x + (-y)", difference},
    {"sigmoid", "1 / (1 + exp(-x))", sigmoid},
    {"relu", "the maximum of x and 0, or 0 where x < 0 and x elsewhere", relu},
    {"gelu of tanh",
     "x (1 + tanh(c (x + k x³))) / 2 with gelu_tanh's c and k, and nobody else reads the tanh", gelu_of_tanh},
    {"silu", "x sigmoid(x), or x / (1 + exp(-x))", silu},
    {"exact quotient", "a quotient by a power of two", exact_quotient},
    {"two factors", "two scalar factors, one a power of two, and nobody else reads the first product",
     two_factors},
    {"softmax", "exp(x - max) / sum along a dimension that is kept, and nobody else reads the steps",
     softmax},
    {"softmax of a logarithm",
     "exp(x - logsumexp(x)) or exp(log_softmax(x)), and nobody else reads the logarithm",
     softmax_of_logarithm},
    {"softmax beside its logarithm", "softmax(x) where log_softmax(x) is made, too, both f32",
     softmax_beside_logarithm},
    {"rotary of halves",
     "a cos - b sin and b cos + a sin are concatenated, a and b being the halves of a tensor",
     rotary_of_halves},
    {"rotary of rotated", "x cos + (-b, a) sin, where a and b are the halves of x", rotary_of_rotated},
    {"repeated angles", "a rotary embedding's cosines and sines are concatenated, each with itself",
     repeated_angles},
    {"scale after cast", "bf16 is scaled and then cast to float32, and nobody else reads the scaled",
     scale_after_cast},
    {"scale after product",
     "an operand of a matmul of bf16 or f32 is scaled, perhaps below views, and nobody else reads that",
     scale_after_product},
    {"batches apart", "a matmul's operand is expanded along a batch that a reshape merges", batches_apart},
    {"whole weight", "a tensor is multiplied by rows of a weight, and by all others or by the whole weight",
     whole_weight},
    {"bias in parts", "parts of a vector are added to all parts of a matmul's columns", bias_in_parts},
    {"slice before view", "a reshape merges a slice of what another reshape splits the last dimension into",
     slice_before_view},
    {"slice after view", "a reshape splits a slice of a matmul's columns into heads", slice_after_view},
    {"leading ones",
     "a norm, softmax or matmul reads, row by row, a reshape that adds or removes leading dimensions of 1; "
     "or "
     "a sum or product of vectors reads a row as a vector",
     leading_ones},
    {"bias before view", "a vector is added to a reshape that splits the last dimension, split as it",
     bias_before_view},
    {"reshape after",
     "each operand of the result's shape is a reshape that merges dimensions of one split shape, of what a "
     "reduction or an operator element by element makes, and nobody else reads it",
     reshape_after},
    {"view of an input",
     "a reshape or permute of what one operator makes of an input, or several make of vectors that are "
     "inputs, element by element, and nobody else reads that",
     view_of_input},
};

}  // namespace

Known::Known(const KernelGraph& g) : graph(g), producer(g.tensors.size()), readers(g.tensors.size()) {
  for (const KernelOp& op : g.ops) {
    for (const int t : op.inputs) ++readers[t];
    for (const int t : op.outputs) producer[t] = &op;
  }
  for (const int t : g.outputs) ++readers[t];
}
const KernelOp* Known::made_by(int tensor, OpKind kind) const {
  return producer[tensor] && producer[tensor]->kind == kind ? producer[tensor] : nullptr;
}

std::span<const Rule> rules() { return table; }

KernelGraph normalize(KernelGraph g) {
  g = once(g);
  // A rule waits until none before it fits anywhere.
  for (std::size_t at = 0; at < std::size(table);) {
    const Known known(g);
    Rewrite out(g);
    bool changed = false;
    for (const KernelOp& op : g.ops) {
      const bool fits = table[at].apply(known, op, out);
      if (!fits) out.keep(op);
      changed = changed || fits;
    }
    if (changed) g = once(out.finished());
    at = changed ? 0 : at + 1;
  }
  return g;
}

}  // namespace zellige::fuse
