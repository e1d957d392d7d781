// Normalises how a matmul's columns are viewed as attention heads: removes dimensions of extent 1 from the
// views between the matmul and its rotary embeddings. m is the number of rows, h of heads, h' of the heads in
// a slice, d of columns per head.
//
//   t (m, h d) -> reshape (m, 1, h, d) -> permute (m, h, 1, d) -> slice of heads -> rotary       becomes
//   t (m, h d) -> reshape (m, h, d) -> slice of heads -> rotary -> reshape (m, h', 1, d)
//
// separate_pairs (pairs.cpp) looks for rotary embeddings in the second form.
#include <algorithm>
#include <map>

#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Returns the shape without dimensions of extent 1.
Shape without_ones(const Shape& shape) {
  Shape kept;
  std::ranges::copy_if(shape, std::back_inserter(kept), [](std::int64_t n) { return n != 1; });
  return kept;
}

/// Returns whether the operator is a view that keeps the order of elements: a reshape, or a permute that
/// moves only dimensions of extent 1.
bool keeps_order(const Known& g, const KernelOp& op) {
  return op.kind == OpKind::reshape ||
         (op.kind == OpKind::permute && keeps_sequence(g.shape(op.inputs[0]), op.attributes.sizes));
}

/// A matrix (m, h d) that is viewed as heads in more than three dimensions, h along `dim`.
struct HeadsView {
  int last = -1;  // the view that slices and embeddings read
  int dim = -1;
  Shape heads;  // (m, h, d)
};

/// Returns whether the cosines and sines of the embedding `rotary` are the same for all heads, and have
/// either a single row or as many rows as the matrix whose columns are the heads.
bool by_rows(const Known& g, const HeadsView& s, const KernelOp& rotary) {
  return std::ranges::all_of(std::vector{1, 2}, [&](int k) {
    const Shape& angles = g.shape(rotary.inputs[k]);
    const std::size_t leading = g.shape(s.last).size() - angles.size();
    const std::int64_t rows = graph::size(angles) / angles.back();
    const bool of_all_heads =
        static_cast<int>(leading) > s.dim || angles[static_cast<std::size_t>(s.dim) - leading] == 1;
    return of_all_heads && (rows == 1 || rows == s.heads[0]);
  });
}

/// Returns how the columns of the tensor are viewed as attention heads. Returns nullopt in these cases: it is no
/// matmul's or sum's matrix; its columns are not viewed as heads; the view has the shape (rows, heads, columns per
/// head) already; an operator other than a slice of heads or a rotary embedding reads the view; by_rows() is false for
/// an embedding.
std::optional<HeadsView> viewed_by_heads(const Known& g, int matrix) {
  if (!g.made_by(matrix, OpKind::matmul) && !g.made_by(matrix, OpKind::add)) return std::nullopt;
  if (g.shape(matrix).size() != 2) return std::nullopt;
  HeadsView s{.last = matrix};
  while (true) {
    const std::vector<int> next = readers(g.graph, s.last);
    if (is_output(g.graph, s.last) || next.empty()) return std::nullopt;
    if (next.size() > 1 || !keeps_order(g, g.graph.ops[next[0]])) break;
    s.last = g.graph.ops[next[0]].outputs[0];
  }
  const Shape& as = g.shape(s.last);
  const std::int64_t m = g.shape(matrix)[0], n = g.shape(matrix)[1];
  if (n % as.back() != 0 || as.back() == 1) return std::nullopt;
  s.heads = {m, n / as.back(), as.back()};
  if (as == s.heads || s.heads[1] == 1 || without_ones(as) != without_ones(s.heads)) return std::nullopt;
  // h is the second to last of the dimensions that are not 1.
  for (int d = static_cast<int>(as.size()) - 2; d >= 0 && s.dim < 0; --d)
    if (as[d] != 1) s.dim = d;
  const std::vector<const KernelOp*> rotations = rotations_of_heads(g.graph, s.last, s.dim);
  const bool rotated = !rotations.empty() && std::ranges::all_of(rotations, [&](auto* r) { return by_rows(g, s, *r); });
  return rotated ? std::optional(s) : std::nullopt;
}

}  // namespace

std::optional<KernelGraph> heads_first(const KernelGraph& graph) {
  const Known g(graph);
  Rewrite out(graph);
  std::map<int, int> heads;  // by tensor of the graph: its replacement (m, h', d)
  for (const KernelOp& op : graph.ops) {
    if (op.inputs.empty()) {
      out.keep(op);
      continue;
    }
    if (keeps_order(g, op))
      if (const std::optional<HeadsView> s = viewed_by_heads(g, op.inputs[0]))
        heads[s->last] = out.step(op, OpKind::reshape, op.inputs, {.sizes = s->heads}, "_heads");
    const auto found = heads.find(op.inputs[0]);
    const int to = op.outputs[0];
    const auto as_before = [&](int t) { out.replace(op, OpKind::reshape, {t}, {.sizes = g.shape(to)}); };
    if (found != heads.end() && op.kind == OpKind::slice) {
      Attributes a = op.attributes;
      a.dim = 1;
      heads[to] = out.step(op, OpKind::slice, {found->second}, a, "_heads");
      as_before(heads[to]);
    } else if (found != heads.end() && is_rotary(op.kind)) {
      std::vector<int> in{found->second};
      for (const int t : {op.inputs[1], op.inputs[2]}) {
        const Shape& s = g.shape(t);
        const Shape as{graph::size(s) / s.back(), 1, s.back()};
        const bool fits = s.size() < 3 || s == as;
        in.push_back(fits ? t : out.add(OpKind::reshape, {t}, {.sizes = as}, g.name(t) + "_rows"));
      }
      as_before(out.step(op, op.kind, in, op.attributes, "_heads"));
    } else if (found != heads.end() && is_copy(op) && g.readers[op.inputs[0]] == 1) {
      as_before(found->second);  // a view that is an output
    } else {
      out.keep(op);  // a view of the heads as they were is dead now
    }
  }
  return heads.empty() ? std::nullopt : std::optional(out.finished());
}

}  // namespace zellige::rewrite
