#include "graph/rows.hpp"

#include <algorithm>
#include <set>

#include "graph/extent_names.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"
#include "graph/sized_graph.hpp"

namespace zellige::graph {
namespace {

/// Returns the shape of a gather's result, which has one row of the table per index.
template <class S>
S joined(const S& numbers, const S& table) {
  S all = numbers;
  all.insert(all.end(), table.begin() + 1, table.end());
  return all;
}

/// Limits the random integers of the graph inputs in `from` to [0, bound), by updating the inputs' constraints in
/// `drawn`. An input with a smaller limit keeps that limit. `distinct`: the integers must be distinct. `rows`: the
/// integers are row indices, so that the limit applies to integers from the caller as well.
void draw_below(std::int64_t bound, bool distinct, bool rows, const std::set<int>& from, std::vector<Numbers>& drawn) {
  const auto bounded = [&](std::int64_t n) { return n ? std::min(n, bound) : bound; };
  for (int input : from) {
    Numbers& n = drawn[input];
    n.bound = bounded(n.bound);
    if (rows) n.rows = bounded(n.rows);
    n.distinct = n.distinct || distinct;
  }
}

/// Returns the greatest length that a mask of a tensor of this shape may have: the extent of its second dimension.
std::int64_t longest(const Attributes& mask, const Shape& whole) { return whole[mask_dims(mask, whole.size()).second]; }

/// Limits the random integers of the graph inputs that a custom operator loads as row indices or lengths. `from`: per
/// tensor, the graph inputs whose elements the tensor holds; `drawn`: the inputs' constraints, which are updated.
void draw_of_block(const KernelOp& custom, const std::vector<std::set<int>>& from, std::vector<Numbers>& drawn) {
  const BlockGraph& b = *custom.block;
  for (const BlockOp& op : b.ops) {
    if ((op.kind != OpKind::mask && op.kind != OpKind::gather) || op.inputs.size() < 2) continue;
    Shape whole = b.tensors[op.inputs[0]].shape;
    for (int axis = 0; axis < 3; ++axis)
      if (op.map[axis] >= 0) whole[op.map[axis]] *= b.grid[axis];
    if (op.loop_dim >= 0) whole[op.loop_dim] *= b.loop;
    for (const BlockOp& load : b.ops)
      if (load.kind == OpKind::input && load.outputs[0] == op.inputs[1]) {
        const std::set<int>& inputs = from[custom.inputs[load.kernel_tensor]];
        if (op.kind == OpKind::gather)
          draw_below(whole[0], false, true, inputs, drawn);
        else
          draw_below(longest(op.attributes, whole) + 1, false, false, inputs, drawn);
      }
  }
}

}  // namespace

bool names_rows(OpKind kind) { return family(kind) == OpFamily::rows; }

int number_operand(OpKind kind) {
  if (kind == OpKind::mask) return 1;
  return !names_rows(kind) ? -1 : kind == OpKind::slice_scatter ? 2 : 1;
}

template <class S>
std::vector<S> rows_shapes(const Where& where, OpKind kind, int along, const typename S::value_type& start,
                           const std::vector<S>& in) {
  const S& x = in[0];
  if (kind == OpKind::gather) return {joined(in[1], x)};
  if (kind == OpKind::scatter) {
    const S updates = joined(in[1], x);
    if (!(in[2] == updates))
      fail_at(where, "expected updates of shape {}, a row of {} for each of {} numbers, found {}", to_string(updates),
              to_string(x), to_string(in[1]), to_string(in[2]));
    typename S::value_type count = 1;
    for (const auto& extent : in[1]) count = count * extent;
    if (!always_less_equal(count, x[0]))
      fail_at(where, "expected at most {} row indices, each once, found {}", x[0], count);
    return {x};
  }
  if (along < 0 || along >= static_cast<int>(x.size()))
    fail_at(where, "expected a dimension of {}, found {}", to_string(x), along);
  const auto dim = static_cast<std::size_t>(along);
  const typename S::value_type length = in[1].size() == x.size() ? in[1][dim] : 0;
  S part = x;
  part[dim] = length;
  if (!(part == in[1]) || !always_less_equal(length, x[dim]))
    fail_at(where, "expected a part of {} along dimension {}, found {}", to_string(x), dim, to_string(in[1]));
  if (in.size() > 2 && !(in[2] == S(1, 1)))
    fail_at(where, "expected one number, of shape (1), to start at, found {}", to_string(in[2]));
  if (in.size() > 2 && start != 0) fail_at(where, "expected a start or a third operand that says it, found both");
  if (!always_less_equal(0, start) || !always_less_equal(start + length, x[dim]))
    fail_at(where, "expected a start of 0 to {}, {} of dimension {} of {} being replaced, found {}", x[dim] - length,
            length, dim, to_string(x), start);
  return {x};
}

template std::vector<Shape> rows_shapes(const Where&, OpKind, int, const std::int64_t&, const std::vector<Shape>&);
template std::vector<SymbolicShape> rows_shapes(const Where&, OpKind, int, const SymbolicExtent&,
                                                const std::vector<SymbolicShape>&);
template std::vector<NamedShape> rows_shapes(const Where&, OpKind, int, const NamedExtent&,
                                             const std::vector<NamedShape>&);

std::vector<Numbers> drawn_numbers(const KernelGraph& g) {
  std::vector<std::set<int>> from(g.tensors.size());  // the inputs whose elements each tensor holds
  for (std::size_t i = 0; i < g.inputs.size(); ++i) from[g.inputs[i]] = {static_cast<int>(i)};
  std::vector<Numbers> drawn(g.inputs.size());
  for (const KernelOp& op : g.ops) {
    const OpFamily f = family(op.kind);
    if (f == OpFamily::view || f == OpFamily::join)
      for (int t : op.outputs)
        for (int operand : op.inputs) from[t].insert(from[operand].begin(), from[operand].end());
    if (op.kind == OpKind::custom) draw_of_block(op, from, drawn);
    const auto at = static_cast<std::size_t>(number_operand(op.kind));
    if (at >= op.inputs.size()) continue;
    if (op.kind == OpKind::mask) {
      draw_below(longest(op.attributes, g.tensors[op.inputs[0]].shape) + 1, false, false, from[op.inputs[1]], drawn);
      continue;
    }
    const Shape& x = g.tensors[op.inputs[0]].shape;
    const auto dim = static_cast<std::size_t>(std::max(op.attributes.dim, 0));
    const std::int64_t bound =
        op.kind == OpKind::slice_scatter ? x[dim] - g.tensors[op.inputs[1]].shape[dim] + 1 : x[0];
    draw_below(bound, op.kind == OpKind::scatter, true, from[op.inputs[at]], drawn);
  }
  return drawn;
}

}  // namespace zellige::graph
