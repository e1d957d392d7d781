// Rewrites rotary embeddings of a matmul's columns so that the two numbers of a rotated pair are in a
// dimension of their own. m is the number of rows, h of heads, d of columns per head, K the reduced extent:
//
//   t (m, h d) -> reshape (m, h, d) -> slice of heads -> rotary
//
// becomes, with the same weights viewed as (h, 2, K, d / 2):
//
//   t (h, 2, m, d / 2) -> permute -> rotary_interleaved -> slice, permute and reshape
//
// Both columns of a pair are then in the same block, whatever part of d the block has, so that the embedding
// can be fused into the matmul. The slice moves after the embedding, so that one operator can rotate queries
// and keys together. Each block of a fused kernel then stores its result to the output of the slice to which
// its heads belong (GroupSteps::slices).
#include <algorithm>
#include <map>
#include <string>

#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// A matmul whose columns are heads and whose readers use whole heads, rotated or not.
struct Heads {
  const KernelOp *product = nullptr, *split = nullptr;  // the matmul, and the reshape to heads
  // The operator between them that adds a bias with one element per column, and the bias tensor; none: -1.
  const KernelOp* sum = nullptr;
  int bias = -1;
  bool halves = true;                        // the convention of all embeddings: of halves or interleaved
  std::vector<const KernelOp*> rotations{};  // the embeddings
  // The tensors that replace the matmul's result; in brackets their dimensions.
  int pairs = -1;                                // (h, 2, m, d / 2)
  int last = -1;                                 // (h, m, d / 2, 2)
  std::map<std::pair<int, int>, int> rotated{};  // by cosines and sines; dimensions as of `last`
};

/// Rewrites all matmuls of a graph whose columns are read as heads and rotated.
class Pairs {
 public:
  explicit Pairs(const KernelGraph& g) : g_(g), known_(g), out_(g) {}

  std::optional<KernelGraph> run() {
    for (const KernelOp& op : g_.ops)
      if (std::optional<Heads> h = heads(op)) found_[h->sum ? h->sum : h->product] = *h;
    if (found_.empty()) return std::nullopt;
    for (const KernelOp& op : g_.ops) {
      if (const auto at = found_.find(&op); at != found_.end()) {
        product(at->second);
        of_[at->second.split->outputs[0]] = {&at->second};
        continue;
      }
      const auto part = op.inputs.empty() ? of_.end() : of_.find(op.inputs[0]);
      if (part == of_.end())
        out_.keep(op);  // of the matmul and its views nothing is read any more
      else if (is_rotary(op.kind))
        rotate(part->second, op);
      else if (op.kind == OpKind::slice)  // for readers that are no rotary embeddings, if there are any
        store(of_[op.outputs[0]] = {part->second.of, &op}, op.outputs[0]);
      else if (is_copy(op) && unrotated_readers(part->second) == 1)  // a view that is an output
        store(part->second, op.outputs[0]);
      else
        out_.keep(op);
    }
    return out_.finished();
  }

 private:
  /// Heads, or those that a slice selects.
  struct Part {
    Heads* of = nullptr;
    const KernelOp* slice = nullptr;
  };

  const Shape& shape(int t) const { return known_.shape(t); }
  const std::string& name(int t) const { return known_.name(t); }
  bool is_output(int t) const { return rewrite::is_output(g_, t); }

  /// Returns how the columns of the matmul `p` are read as attention heads. Returns nullopt in these cases:
  /// the columns are not read as heads; no rotary embedding reads them; the embeddings differ in convention
  /// (halves or interleaved), or their cosines and sines differ between heads.
  std::optional<Heads> heads(const KernelOp& p) const {
    if (p.kind != OpKind::matmul || p.inputs.size() != 2 || is_output(p.outputs[0])) return std::nullopt;
    if (shape(p.inputs[0]).size() != 2 || shape(p.inputs[1]).size() != 2) return std::nullopt;
    Heads h{.product = &p};
    const KernelOp* first = only_reader(p.outputs[0]);
    if (first && first->kind == OpKind::add && first->inputs.size() == 2) {
      h.sum = first;
      h.bias = h.sum->inputs[0] == p.outputs[0] ? h.sum->inputs[1] : h.sum->inputs[0];
      const Shape& b = shape(h.bias);
      if (graph::size(b) != b.back() || b.back() != shape(p.outputs[0])[1] || is_output(h.sum->outputs[0]))
        return std::nullopt;
      first = only_reader(h.sum->outputs[0]);
    }
    if (!first || first->kind != OpKind::reshape) return std::nullopt;
    h.split = first;
    const int seen = first->outputs[0];
    if (is_output(seen) || shape(seen).size() != 3 || shape(seen)[0] != shape(p.outputs[0])[0]) return std::nullopt;
    h.rotations = rotations_of_heads(g_, seen, 1);
    if (h.rotations.empty()) return std::nullopt;
    const OpKind convention = h.rotations[0]->kind;
    h.halves = convention == OpKind::rotary;
    const bool equal = std::ranges::all_of(h.rotations, [&](const KernelOp* r) {
      return r->kind == convention && of_all_heads(r->inputs[1]) && of_all_heads(r->inputs[2]);
    });
    return equal ? std::optional(h) : std::nullopt;
  }

  const KernelOp* only_reader(int tensor) const {
    const std::vector<int> all = readers(g_, tensor);
    return all.size() == 1 ? &g_.ops[all[0]] : nullptr;
  }

  /// Returns whether tensor `t` (cosines or sines) has the same numbers for all heads.
  bool of_all_heads(int t) const {
    const Shape& s = shape(t);
    return s.size() <= 3 && (s.size() < 2 || s[s.size() - 2] == 1);
  }

  /// Returns how often the heads of a slice are read, other than by rotary embeddings, or are an output.
  std::ptrdiff_t unrotated_readers(const Part& part) const {
    const int t = part.slice->outputs[0];
    return known_.readers[t] - std::ranges::count(part.of->rotations, t, [](auto* r) { return r->inputs[0]; });
  }

  /// Writes the matmul with its weights viewed as (heads, 2, K, pairs), and the addition of its bias if it
  /// has one. Sets h.pairs to the result.
  void product(Heads& h) {
    const KernelOp& p = *h.product;
    const int w = p.inputs[1];
    const Shape& seen = shape(h.split->outputs[0]);  // (m, h, d)
    const std::int64_t heads = seen[1], pairs = seen[2] / 2;
    const Shape split = h.halves ? Shape{shape(w)[0], heads, 2, pairs} : Shape{shape(w)[0], heads, pairs, 2};
    const int columns = out_.add(OpKind::reshape, {w}, {.sizes = split}, name(w) + "_heads");
    const Shape order = h.halves ? Shape{1, 2, 0, 3} : Shape{1, 3, 0, 2};
    const int weights = out_.add(OpKind::permute, {columns}, {.sizes = order}, name(w) + "_pairs");
    h.pairs = out_.step(p, OpKind::matmul, {p.inputs[0], weights}, p.attributes, "_pairs");
    if (!h.sum) return;
    int bias = h.bias;
    if (!h.halves) {
      bias = out_.add(OpKind::reshape, {bias}, {.sizes = {heads, pairs, 2}}, name(h.bias) + "_heads");
      bias = out_.add(OpKind::permute, {bias}, {.sizes = {0, 2, 1}}, name(h.bias) + "_last");
    }
    bias = out_.add(OpKind::reshape, {bias}, {.sizes = {heads, 2, 1, pairs}}, name(h.bias) + "_pairs");
    h.pairs = out_.step(*h.sum, OpKind::add, {h.pairs, bias}, {}, "_pairs");
  }

  /// Writes tensor `to` of shape (rows, heads, columns per head): the heads of tensor `heads` that `slice` selects, or
  /// all if that is none. `order` is the permutation of their dimensions that puts rows first.
  void store(int heads, const KernelOp* slice, const Shape& order, int to) {
    if (slice && (slice->attributes.start != 0 || slice->attributes.end != out_.shape(heads)[0]))
      heads = out_.add(OpKind::slice, {heads},
                       {.dim = 0, .start = slice->attributes.start, .end = slice->attributes.end}, name(to) + "_pairs");
    const int side_by_side = out_.add(OpKind::permute, {heads}, {.sizes = order}, name(to) + "_heads");
    out_.add(OpKind::reshape, {side_by_side}, {.sizes = shape(to)}, name(to), to);
  }
  /// Writes tensor `to`, the heads of a slice that are not rotated.
  void store(const Part& part, int to) {
    store(part.of->pairs, part.slice, part.of->halves ? Shape{2, 0, 1, 3} : Shape{2, 0, 3, 1}, to);
  }

  /// Writes the rotary embedding `op`. Embeddings with equal cosines and sines share one operator.
  void rotate(const Part& part, const KernelOp& op) {
    Heads& h = *part.of;
    const auto [rotated, is_new] = h.rotated.insert({{op.inputs[1], op.inputs[2]}, -1});
    if (is_new) {
      if (h.last < 0) h.last = out_.step(*h.product, OpKind::permute, {h.pairs}, {.sizes = {0, 2, 3, 1}}, "_last");
      const int cos = by_pair(h, op.inputs[1]), sin = by_pair(h, op.inputs[2]);
      rotated->second = out_.step(*h.product, OpKind::rotary_interleaved, {h.last, cos, sin}, {}, "_turned");
    }
    store(rotated->second, part.slice, h.halves ? Shape{1, 0, 3, 2} : Shape{1, 0, 2, 3}, op.outputs[0]);
  }

  /// Returns tensor `t` (cosines or sines) of shape (rows, 1, pairs) or (rows, 1, 2 pairs) in the shape
  /// (rows, pairs, 1) or (rows, pairs, 2).
  int by_pair(const Heads& h, int t) {
    const std::int64_t pairs = shape(h.split->outputs[0])[2] / 2, last = shape(t).back();
    const std::int64_t rows = shape(t).size() == 3 ? shape(t)[0] : 1;
    const auto viewed = [&](const Shape& as, const char* suffix) {
      return out_.add(OpKind::reshape, {t}, {.sizes = as}, name(t) + suffix);
    };
    if (last == pairs) return viewed({rows, pairs, 1}, "_pairs");
    if (!h.halves) return viewed({rows, pairs, 2}, "_pairs");
    return out_.add(OpKind::permute, {viewed({rows, 2, pairs}, "_halves")}, {.sizes = {0, 2, 1}}, name(t) + "_pairs");
  }

  const KernelGraph& g_;
  const Known known_;
  Rewrite out_;
  std::map<const KernelOp*, Heads> found_;  // by the operator that makes the matrix: a matmul, or its sum with a bias
  std::map<int, Part> of_;                  // by tensor of the graph: heads
};

}  // namespace

std::optional<KernelGraph> separate_pairs(const KernelGraph& g) { return Pairs(g).run(); }

}  // namespace zellige::rewrite
