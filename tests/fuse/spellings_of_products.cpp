// Spellings of views, masks, products and rotary embeddings.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fuse/spellings.hpp"
#include "fuse/written.hpp"
#include "graph/elementwise.hpp"

namespace zellige::fuse {
namespace {

// Views.

/// Returns whether the operator is elementwise with one operand.
bool alone(const graph::KernelOp& op) {
  return graph::is_elementwise(op.kind) && op.inputs.size() == 1 && op.kind != graph::OpKind::cast;
}
/// Row by row on another view of the rows: x (m, n) as (m / 2, 2, n).
bool rows_split(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  const bool along =
      op.kind == graph::OpKind::softmax || op.kind == graph::OpKind::rms_norm || op.kind == graph::OpKind::layer_norm;
  const graph::Shape& x = g.shape(op.inputs[0]);
  if ((!along && !alone(op)) || x.size() < 2 || x[0] % 2 != 0) return false;
  if (op.kind == graph::OpKind::softmax && op.attributes.dim == 0) return false;
  if (op.attributes.sizes.size() >= x.size()) return false;
  Written w(g, op, out);
  graph::Shape halves = x;
  halves[0] /= 2, halves.insert(halves.begin() + 1, 2);
  graph::KernelOp anew = op;
  anew.inputs[0] = w.add(graph::OpKind::reshape, {op.inputs[0]}, {.sizes = halves});
  if (op.kind == graph::OpKind::softmax) ++anew.attributes.dim;
  return w.last(graph::OpKind::reshape, {w.add(op.kind, anew.inputs, anew.attributes)}, {.sizes = x});
}
/// A batch of one around an operator: x (m, n) as (1, m, n).
bool batch_of_one(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  const bool norm = op.kind == graph::OpKind::rms_norm || op.kind == graph::OpKind::layer_norm;
  const bool product = op.kind == graph::OpKind::matmul && op.inputs.size() == 2 && g.shape(op.inputs[1]).size() == 2;
  const graph::Shape& x = g.shape(op.inputs[0]);
  if ((!norm && !product && !alone(op)) || x.size() < 2) return false;
  Written w(g, op, out);
  graph::Shape one = x;
  one.insert(one.begin(), 1);
  std::vector<int> in = op.inputs;
  in[0] = w.add(graph::OpKind::reshape, {in[0]}, {.sizes = one});
  return w.last(graph::OpKind::reshape, {w.add(op.kind, in, op.attributes)}, {.sizes = g.shape(op.outputs[0])});
}
/// The operand that is broadcast, expanded.
bool expanded(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  if (!graph::is_elementwise(op.kind) || op.inputs.size() != 2) return false;
  const graph::Shape& whole = g.shape(op.outputs[0]);
  for (const std::size_t i : {0, 1}) {
    graph::Shape narrow = g.shape(op.inputs[i]);
    if (narrow == whole || g.shape(op.inputs[1 - i]) != whole) continue;
    Written w(g, op, out);
    std::vector<int> in = op.inputs;
    if (narrow.size() < whole.size()) {
      narrow.insert(narrow.begin(), whole.size() - narrow.size(), 1);
      in[i] = w.add(graph::OpKind::reshape, {in[i]}, {.sizes = narrow});
    }
    in[i] = w.add(graph::OpKind::expand, {in[i]}, {.sizes = whole});
    return w.last(op.kind, in, op.attributes);
  }
  return false;
}
/// A permutation by two.
bool permuted_twice(Written& w) {
  const std::vector<std::int64_t>& dims = w.attributes().sizes;
  if (dims.size() < 3) return false;
  // First rotates the dimensions, then does the rest.
  std::vector<std::int64_t> first(dims.size()), rest(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) first[d] = static_cast<std::int64_t>((d + 1) % dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d)
    rest[d] = (dims[d] + static_cast<std::int64_t>(dims.size()) - 1) % static_cast<std::int64_t>(dims.size());
  return w.last(graph::OpKind::permute, {w.add(graph::OpKind::permute, {w.in()}, {.sizes = first})}, {.sizes = rest});
}
bool reshaped_twice(Written& w) {
  return w.last(graph::OpKind::reshape,
                {w.add(graph::OpKind::reshape, {w.in()}, {.sizes = {graph::size(w.shape(w.in()))}})}, w.attributes());
}
/// A mask of two conditions by two masks.
bool two_masks(Written& w) {
  const graph::Attributes& a = w.attributes();
  if (!a.kept.tril || !a.kept.triu) return false;
  graph::Attributes causal = a, window = a;
  causal.kept.triu = {}, window.kept.tril = {};
  return w.last(graph::OpKind::mask, {w.add(graph::OpKind::mask, {w.in()}, causal)}, window);
}
/// A bias after a view instead of before it.
bool bias_after(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  if (op.kind != graph::OpKind::reshape) return false;
  const graph::KernelOp* sum = g.made_by(op.inputs[0], graph::OpKind::add);
  if (!sum || sum->inputs.size() != 2 || g.readers[op.inputs[0]] != 1) return false;
  const graph::Shape& x = g.shape(sum->inputs[0]);
  const graph::Shape& bias = g.shape(sum->inputs[1]);
  const graph::Shape& to = op.attributes.sizes;
  // The last dimension is split into the last ones.
  if (bias != graph::Shape{x.back()}) return false;
  std::size_t from = to.size();
  std::int64_t n = 1;
  while (from > 0 && n < x.back()) n *= to[--from];
  if (n != x.back()) return false;
  Written w(g, op, out);
  const int a = w.add(graph::OpKind::reshape, {sum->inputs[0]}, op.attributes);
  const int b = w.add(graph::OpKind::reshape, {sum->inputs[1]}, {.sizes = graph::Shape(to.begin() + from, to.end())});
  return w.last(graph::OpKind::add, {a, b});
}

// Products.

int transposed(Written& w, int x) {
  std::vector<std::int64_t> dims(w.shape(x).size());
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return w.add(graph::OpKind::permute, {x}, {.sizes = dims});
}
bool product_transposed(Written& w) {
  if (w.shape(w.in(0)).size() < 2 || w.shape(w.in(1)).size() < 2) return false;
  const int p = w.add(graph::OpKind::matmul, {transposed(w, w.in(1)), transposed(w, w.in(0))}, w.attributes());
  std::vector<std::int64_t> dims(w.shape(p).size());
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return w.last(graph::OpKind::permute, {p}, {.sizes = dims});
}
/// a b + bias as a product of three operands.
bool product_bias(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  if (op.kind != graph::OpKind::add || op.inputs.size() != 2) return false;
  for (const std::size_t i : {0, 1}) {
    const graph::KernelOp* p = g.made_by(op.inputs[i], graph::OpKind::matmul);
    if (!p || p->inputs.size() != 2 || g.readers[op.inputs[i]] != 1 || g.shape(op.inputs[i]) != g.shape(op.outputs[0]))
      continue;
    return Written(g, op, out)
        .last(graph::OpKind::matmul, {p->inputs[0], p->inputs[1], op.inputs[1 - i]}, p->attributes);
  }
  return false;
}
/// A scale of a product, and the cast between them.
struct Scaled {
  const graph::KernelOp *product = nullptr, *cast = nullptr;
};
/// Returns the product that the operator scales; with a cast in between, that is passed.
Scaled scaled_product(const rewrite::Known& g, const graph::KernelOp& op, bool f16) {
  if (op.kind != graph::OpKind::mul_scalar || op.attributes.scalar == 1) return {};
  const graph::KernelOp* cast = g.made_by(op.inputs[0], graph::OpKind::cast);
  const graph::KernelOp* p = g.made_by(cast ? cast->inputs[0] : op.inputs[0], graph::OpKind::matmul);
  if (!p || p->inputs.size() != 2 || g.readers[op.inputs[0]] != 1 || g.readers[p->outputs[0]] != 1) return {};
  return (g.graph.tensors[p->outputs[0]].dtype == graph::DType::f16) == f16 ? Scaled{p, cast} : Scaled{};
}
/// Writes the product of operands that are scaled already.
bool product_of_scaled(const Scaled& s, const std::vector<int>& in, Written& w) {
  if (!s.cast) return w.last(graph::OpKind::matmul, in, s.product->attributes);
  return w.last(graph::OpKind::cast, {w.add(graph::OpKind::matmul, in, s.product->attributes)}, s.cast->attributes);
}
template <std::size_t Operand, bool F16 = false>
bool scale_of_operand(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  const Scaled s = scaled_product(g, op, F16);
  if (!s.product) return false;
  Written w(g, op, out);
  std::vector<int> in = s.product->inputs;
  in[Operand] = w.add(graph::OpKind::mul_scalar, {in[Operand]}, op.attributes);
  return product_of_scaled(s, in, w);
}
/// A scale of both operands, each by the root.
bool scale_of_both(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  const Scaled s = scaled_product(g, op, false);
  if (!s.product || !is_power_of_two(std::sqrt(op.attributes.scalar))) return false;
  Written w(g, op, out);
  std::vector<int> in = s.product->inputs;
  for (int& t : in) t = w.scalar(graph::OpKind::mul_scalar, t, std::sqrt(op.attributes.scalar));
  return product_of_scaled(s, in, w);
}
/// Keys or values of few heads, repeated for each head of the queries.
bool keys_repeated(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  if (op.kind != graph::OpKind::matmul || op.inputs.size() != 2) return false;
  const graph::Shape &a = g.shape(op.inputs[0]), &b = g.shape(op.inputs[1]);
  if (a.size() != b.size() || a.size() < 3) return false;
  graph::Shape whole = b;
  for (std::size_t d = 0; d + 2 < a.size(); ++d) whole[d] = std::max(a[d], b[d]);
  if (whole == b) return false;
  Written w(g, op, out);
  return w.last(graph::OpKind::matmul, {op.inputs[0], w.add(graph::OpKind::expand, {op.inputs[1]}, {.sizes = whole})},
                op.attributes);
}
/// The same with one dimension of heads: repeat_interleave.
bool heads_repeated(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  if (op.kind != graph::OpKind::matmul || op.inputs.size() != 2) return false;
  const graph::Shape &a = g.shape(op.inputs[0]), &b = g.shape(op.inputs[1]);
  if (a.size() != b.size() || a.size() != 4 || a[0] != b[0] || b[1] != 1 || a[1] == 1) return false;
  Written w(g, op, out);
  const int q = w.add(graph::OpKind::reshape, {op.inputs[0]}, {.sizes = {a[0] * a[1], a[2], a[3]}});
  const int wide = w.add(graph::OpKind::expand, {op.inputs[1]}, {.sizes = {b[0], a[1], b[2], b[3]}});
  const int k = w.add(graph::OpKind::reshape, {wide}, {.sizes = {a[0] * a[1], b[2], b[3]}});
  return w.last(graph::OpKind::reshape, {w.add(graph::OpKind::matmul, {q, k}, op.attributes)},
                {.sizes = g.shape(op.outputs[0])});
}
/// Columns of a product as a product with columns of the weight.
bool weight_split(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  if (op.kind != graph::OpKind::slice) return false;
  const graph::KernelOp* view = g.made_by(op.inputs[0], graph::OpKind::reshape);
  const graph::KernelOp* p = g.made_by(view ? view->inputs[0] : op.inputs[0], graph::OpKind::matmul);
  if (!p || p->inputs.size() != 2) return false;
  const graph::KernelOp* t = g.made_by(p->inputs[1], graph::OpKind::permute);
  const graph::Shape& whole = g.shape(p->outputs[0]);
  if (!t || g.shape(p->inputs[1]).size() != 2 || g.producer[t->inputs[0]]) return false;
  const graph::Shape& seen = g.shape(op.inputs[0]);
  const std::size_t d = whole.size() - 1;
  if (op.attributes.dim != static_cast<int>(d)) return false;
  const std::int64_t each = whole[d] / seen[d];
  Written w(g, op, out);
  const int rows = w.add(graph::OpKind::slice, {t->inputs[0]},
                         {.dim = 0, .start = op.attributes.start * each, .end = op.attributes.end * each});
  const int made = w.add(graph::OpKind::permute, {rows}, t->attributes);
  if (!view) return w.last(graph::OpKind::matmul, {p->inputs[0], made}, p->attributes);
  return w.last(graph::OpKind::reshape, {w.add(graph::OpKind::matmul, {p->inputs[0], made}, p->attributes)},
                {.sizes = g.shape(op.outputs[0])});
}
/// A rotary embedding by the halves of the last dimension.
bool rotary_out(Written& w) {
  const graph::Shape x = w.shape(w.in());
  const int d = static_cast<int>(x.size()) - 1;
  const auto part = [&](int t, bool second) {
    return w.add(graph::OpKind::slice, {t},
                 {.dim = static_cast<int>(w.shape(t).size()) - 1,
                  .start = second ? w.shape(t).back() / 2 : 0,
                  .end = second ? w.shape(t).back() : w.shape(t).back() / 2});
  };
  const int a = part(w.in(), false), b = part(w.in(), true);
  if (w.shape(w.in(1)).back() == x.back()) {  // x cos + rotate_half(x) sin
    const int rotated = w.add(graph::OpKind::concat, {w.add(graph::OpKind::neg, {b}), a}, {.dim = d});
    // As written in models: the cosines of both halves are those of one.
    return w.last(graph::OpKind::add,
                  {w.add(graph::OpKind::mul, {w.in(), w.in(1)}), w.add(graph::OpKind::mul, {rotated, w.in(2)})});
  }
  const int left =
      w.add(graph::OpKind::sub, {w.add(graph::OpKind::mul, {a, w.in(1)}), w.add(graph::OpKind::mul, {b, w.in(2)})});
  const int right =
      w.add(graph::OpKind::add, {w.add(graph::OpKind::mul, {b, w.in(1)}), w.add(graph::OpKind::mul, {a, w.in(2)})});
  return w.last(graph::OpKind::concat, {left, right}, {.dim = d});
}
/// x cos + rotate_half(x) sin, with the cosines of both halves concatenated.
bool rotary_half(Written& w) {
  const graph::Shape x = w.shape(w.in());
  const int d = static_cast<int>(x.size()) - 1;
  if (w.shape(w.in(1)).back() == x.back()) return false;
  const auto twice = [&](int t) {
    return w.add(graph::OpKind::concat, {t, t}, {.dim = static_cast<int>(w.shape(t).size()) - 1});
  };
  const int a = w.add(graph::OpKind::slice, {w.in()}, {.dim = d, .start = 0, .end = x.back() / 2});
  const int b = w.add(graph::OpKind::slice, {w.in()}, {.dim = d, .start = x.back() / 2, .end = x.back()});
  const int rotated = w.add(graph::OpKind::concat, {w.add(graph::OpKind::neg, {b}), a}, {.dim = d});
  return w.last(graph::OpKind::add, {w.add(graph::OpKind::mul, {w.in(), twice(w.in(1))}),
                                     w.add(graph::OpKind::mul, {rotated, twice(w.in(2))})});
}
/// Scores of 16 bits: without the cast to float32 that is before a softmax and the one that is after it.
bool no_cast(const rewrite::Known& g, const graph::KernelOp& op, rewrite::Rewrite& out) {
  if (op.kind != graph::OpKind::cast || op.attributes.dtype == graph::DType::f32 || g.readers[op.inputs[0]] != 1)
    return false;
  std::vector<const graph::KernelOp*> chain;
  int t = op.inputs[0];
  for (;;) {
    const graph::KernelOp* made = g.producer[t];
    if (!made || made->inputs.size() != 1 || g.readers[t] != 1) return false;
    const bool ends =
        made->kind == graph::OpKind::cast && g.graph.tensors[made->inputs[0]].dtype == op.attributes.dtype;
    t = made->inputs[0];
    if (ends) break;
    if (made->kind == graph::OpKind::cast) return false;
    if (!graph::is_elementwise(made->kind) && made->kind != graph::OpKind::mask && made->kind != graph::OpKind::softmax)
      return false;
    chain.push_back(made);
  }
  Written w(g, op, out);
  for (std::size_t i = chain.size(); i-- > 1;) t = w.add(chain[i]->kind, {t}, chain[i]->attributes);
  return !chain.empty() && w.last(chain[0]->kind, {t}, chain[0]->attributes);
}

constexpr SpellingRule table_of_products[] = {
    {"rows split", "x (m, n) as (m/2, 2, n)", rows_split},
    {"batch of one", "x (m, n) as (1, m, n)", batch_of_one},
    {"operand expanded", "x + expand(y)", expanded},
    {"permuted twice", "a permutation by two", on<graph::OpKind::permute, 1, permuted_twice>},
    {"reshaped twice", "by way of one dimension", on<graph::OpKind::reshape, 1, reshaped_twice>},
    {"two masks", "a window by two masks", on<graph::OpKind::mask, 0, two_masks>},
    {"bias after the view", "reshape(x) + reshape(b)", bias_after},
    {"product transposed", "(b' a')'", on<graph::OpKind::matmul, 2, product_transposed>},
    {"scale of queries", "(q s) k", scale_of_operand<0>},
    {"scale of keys", "q (k s)", scale_of_operand<1>},
    {"scale of both", "(q r) (k r), r r = s", scale_of_both},
    {"keys expanded", "q expand(k)", keys_repeated},
    {"keys repeated", "heads in one dimension", heads_repeated},
    {"weight split", "x slice(w)", weight_split},
    {"rotary written out", "halves", on<graph::OpKind::rotary, 3, rotary_out>},
    {"rotary by rotate_half", "x cos + rotate_half(x) sin", on<graph::OpKind::rotary, 3, rotary_half>},
};
constexpr SpellingRule differing_products[] = {
    {"scale of queries in f16", "the product that is not scaled may exceed f16", scale_of_operand<0, true>},
    {"scale of keys in f16", "the product that is not scaled may exceed f16", scale_of_operand<1, true>},
    {"bias in the product", "matmul(a, b, bias): the product is not rounded before the bias is added", product_bias},
    {"softmax without a cast", "scores of 16 bits are rounded if they are stored", no_cast},
};

}  // namespace

std::span<const SpellingRule> product_spellings() { return table_of_products; }
std::span<const SpellingRule> differing_product_spellings() { return differing_products; }

}  // namespace zellige::fuse
