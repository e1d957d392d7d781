#include "rewrite/heads.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/ops.hpp"
#include "rewrite/rewrite.hpp"

namespace zellige::fuse {
namespace {

/// Returns the shape without dimensions of extent 1.
Shape without_ones(const Shape& shape) {
  Shape kept;
  std::ranges::copy_if(shape, std::back_inserter(kept), [](std::int64_t n) { return n != 1; });
  return kept;
}

/// Returns whether the operator is a view that keeps the order of elements: a reshape, or a permute that
/// moves only dimensions of extent 1.
bool keeps_order(const KernelGraph& g, const KernelOp& op) {
  if (op.kind == OpKind::reshape) return true;
  if (op.kind != OpKind::permute) return false;
  std::int64_t before = -1;
  for (std::int64_t d : op.attributes.sizes) {
    if (g.tensors[op.inputs[0]].shape[static_cast<std::size_t>(d)] == 1) continue;
    if (d < before) return false;
    before = d;
  }
  return true;
}

/// A matrix (m, h d) that is viewed as heads in more than three dimensions, h along `dim`.
struct Seen {
  int matrix = -1, last = -1;  // tensors: the matrix, and the view that slices and embeddings read
  int dim = -1;
  Shape heads;             // (m, h, d)
  std::vector<int> views;  // operators: the views between the two
};

/// Rewrites a graph's views of matmul columns as attention heads.
class HeadsFirst {
 public:
  explicit HeadsFirst(const KernelGraph& g) : g_(g), out_(g) {}

  KernelGraph run() {
    for (std::size_t i = 0; i < g_.ops.size(); ++i)
      if (g_.ops[i].kind == OpKind::matmul || g_.ops[i].kind == OpKind::add)
        if (const std::optional<Seen> s = seen(g_.ops[i].outputs[0])) take(*s);
    if (found_.empty()) return g_;
    for (int i = 0; i < static_cast<int>(g_.ops.size()); ++i) {
      const KernelOp& op = g_.ops[i];
      if (const auto first = first_.find(i); first != first_.end())
        heads_[found_[first->second].last] =
            out_.add(OpKind::reshape, op.inputs, {.sizes = found_[first->second].heads}, of(op) + "_heads");
      if (views_.count(i) > 0) continue;
      const auto heads = op.inputs.empty() ? heads_.end() : heads_.find(op.inputs[0]);
      if (heads == heads_.end())
        out_.keep(op);
      else if (op.kind == OpKind::slice)
        slice(op, heads->second);
      else if (is_rotary(op.kind))
        rotate_heads(op, heads->second);
      else
        out_.keep(op);
    }
    return out_.finished();
  }

 private:
  const Shape& shape(int t) const { return g_.tensors[t].shape; }
  const std::string& of(const KernelOp& op) const { return g_.tensors[op.outputs[0]].name; }

  /// Returns how the columns of tensor `matrix` are viewed as attention heads. Returns nullopt in these
  /// cases: the columns are not viewed as heads; the view has the shape (rows, heads, columns per head)
  /// already; an operator other than a slice of heads or a rotary embedding reads the view.
  std::optional<Seen> seen(int matrix) const {
    if (shape(matrix).size() != 2) return std::nullopt;
    Seen s{.matrix = matrix, .last = matrix};
    while (true) {
      const std::vector<int> next = readers(g_, s.last);
      if (is_output(g_, s.last) || next.empty()) return std::nullopt;
      if (next.size() > 1 || !keeps_order(g_, g_.ops[next[0]])) break;
      s.views.push_back(next[0]);
      s.last = g_.ops[next[0]].outputs[0];
    }
    const Shape& as = shape(s.last);
    const std::int64_t m = shape(matrix)[0], n = shape(matrix)[1];
    if (n % as.back() != 0 || as.back() == 1) return std::nullopt;
    s.heads = {m, n / as.back(), as.back()};
    if (as == s.heads || s.heads[1] == 1 || without_ones(as) != without_ones(s.heads)) return std::nullopt;
    // h is the second to last of the dimensions that are not 1.
    for (int d = static_cast<int>(as.size()) - 2; d >= 0 && s.dim < 0; --d)
      if (as[static_cast<std::size_t>(d)] != 1) s.dim = d;
    return rotated(s) ? std::optional(s) : std::nullopt;
  }

  /// Returns true if a rotary embedding reads the heads `s` (a view of a matrix's columns, or slices of it),
  /// and the view can be replaced for all its readers: each of them is a rotary embedding or a slice of
  /// heads, and by_rows() is true for all embeddings that read the view or such a slice.
  bool rotated(const Seen& s) const {
    bool any = false;
    for (int r : readers(g_, s.last)) {
      const KernelOp& op = g_.ops[r];
      if (op.inputs[0] != s.last) return false;
      if (is_rotary(op.kind)) {
        if (!by_rows(s, op)) return false;
        any = true;
      } else if (op.kind == OpKind::slice && op.attributes.dim == s.dim) {
        for (int t : readers(g_, op.outputs[0])) {
          if (!is_rotary(g_.ops[t].kind) || g_.ops[t].inputs[0] != op.outputs[0]) continue;
          if (!by_rows(s, g_.ops[t])) return false;
          any = true;
        }
      } else {
        return false;
      }
    }
    return any;
  }

  /// Returns whether the cosines and sines of the embedding `rotary` are the same for all heads, and have
  /// either a single row or as many rows as the matrix `s.matrix`, whose columns are the heads.
  bool by_rows(const Seen& s, const KernelOp& rotary) const {
    return std::ranges::all_of(std::vector{1, 2}, [&](int k) {
      const Shape& angles = shape(rotary.inputs[static_cast<std::size_t>(k)]);
      const std::size_t leading = shape(s.last).size() - angles.size();
      const std::int64_t rows = graph::size(angles) / angles.back();
      const bool of_all_heads =
          static_cast<int>(leading) > s.dim || angles[static_cast<std::size_t>(s.dim) - leading] == 1;
      return of_all_heads && (rows == 1 || rows == s.heads[0]);
    });
  }

  /// Records matrix `s.matrix`, whose views will be replaced.
  void take(const Seen& s) {
    first_[s.views[0]] = static_cast<int>(found_.size());
    views_.insert(s.views.begin(), s.views.end());
    found_.push_back(s);
  }

  /// Adds a reshape of tensor `heads`, of shape (rows, heads, columns per head). Its result is tensor `to`,
  /// with the shape of the input graph.
  void back(int heads, int to) { out_.add(OpKind::reshape, {heads}, {.sizes = shape(to)}, "", to); }

  /// Adds slice `op`, applied to tensor `heads` of shape (rows, heads, columns per head). If other operators
  /// than rotary embeddings read the slice, also adds a reshape of it to its shape in the input graph.
  void slice(const KernelOp& op, int heads) {
    Attributes a = op.attributes;
    a.dim = 1;
    const int to = op.outputs[0];
    heads_[to] = out_.add(OpKind::slice, {heads}, a, of(op) + "_heads");
    const std::vector<int> by = readers(g_, to);
    if (by.size() == 1 && is_copy(g_.ops[by[0]])) {  // a view that is an output
      views_.insert(by[0]);
      return back(heads_[to], g_.ops[by[0]].outputs[0]);
    }
    if (is_output(g_, to) || std::ranges::any_of(by, [&](int r) { return !rotates(g_.ops[r], to); }))
      back(heads_[to], to);
  }

  /// Returns whether the operator is a rotary embedding of tensor `t`.
  static bool rotates(const KernelOp& op, int t) { return is_rotary(op.kind) && op.inputs[0] == t; }

  /// Adds rotary embedding `op`, applied to tensor `heads` of shape (rows, heads, columns per head), and a
  /// reshape of its result to the shape in the input graph.
  void rotate_heads(const KernelOp& op, int heads) {
    const int to = op.outputs[0];
    std::vector<int> in{heads};
    for (int t : {op.inputs[1], op.inputs[2]}) {
      const Shape& s = shape(t);
      const Shape as{graph::size(s) / s.back(), 1, s.back()};
      in.push_back(s.size() < 3 || s == as
                       ? t
                       : out_.add(OpKind::reshape, {t}, {.sizes = as}, out_.name(t) + "_rows"));
    }
    back(out_.add(op.kind, in, op.attributes, of(op) + "_heads"), to);
  }

  const KernelGraph& g_;
  Rewrite out_;
  std::vector<Seen> found_;
  std::map<int, int> first_;  // by operator that is the first view of a matrix: index in found_
  std::set<int> views_;       // views and copies to remove
  std::map<int, int> heads_;  // by tensor of the graph: its replacement (m, h', d)
};

}  // namespace

KernelGraph heads_first(const KernelGraph& g) { return HeadsFirst(g).run(); }

}  // namespace zellige::fuse
