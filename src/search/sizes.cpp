#include "search/sizes.hpp"

#include <algorithm>

#include "graph/compose.hpp"
#include "graph/error.hpp"
#include "graph/ops.hpp"

namespace zellige::search {

using graph::OpFamily;
using graph::OpKind;
using Extents = GraphSizes::Extents;

int Sizes::variable(std::int64_t value) {
  values.push_back(value);
  parent.push_back(static_cast<int>(parent.size()));
  return count() - 1;
}

int Sizes::find(int u) const {
  while (parent[u] != u) u = parent[u];
  return u;
}

void Sizes::same(int u, int v) {
  u = find(u), v = find(v);
  if (u == v) return;
  if (value(u) != value(v)) fail("sizes {} and {} are declared to be the same", value(u), value(v));
  parent[v] = u;
}

void Sizes::product(int whole, std::vector<int> factors) { products.push_back({whole, std::move(factors), owner}); }

namespace {

/// Returns new variables, one per extent of a shape.
Extents extents(Sizes& s, const graph::Shape& shape) {
  Extents e;
  for (std::int64_t extent : shape) e.push_back(s.variable(extent));
  return e;
}
/// Returns the variables of the tensors with the indices `which`.
std::vector<Extents> pick(const std::vector<Extents>& all, const std::vector<int>& which) {
  std::vector<Extents> selected;
  for (int t : which) selected.push_back(all[t]);
  return selected;
}

/// Declares corresponding extents of shapes x and y to be the same. Dimensions correspond from the last
/// one. Skips dimension `except`, and dimensions in which the extents differ because one is broadcast.
void unify(Sizes& s, const Extents& x, const Extents& y, int except = -1) {
  if (except < 0 && x.size() != y.size()) {  // dimensions count from the last
    const std::size_t rank = std::min(x.size(), y.size());
    return unify(s, {x.end() - static_cast<std::ptrdiff_t>(rank), x.end()},
                 {y.end() - static_cast<std::ptrdiff_t>(rank), y.end()});
  }
  if (x.size() != y.size()) fail("ranks {} and {} differ", x.size(), y.size());
  for (int d = 0; d < static_cast<int>(x.size()); ++d)
    if (d != except && s.value(x[d]) == s.value(y[d])) s.same(x[d], y[d]);
}

/// Adds the equation between the sizes of a reduction from shape x to shape y along `dim`: x[dim] is the product of
/// y[dim] and the number of summands. Records y[dim] in `at`, the operator's size variables.
void reduced_sizes(Sizes& s, const Extents& x, const Extents& y, int dim, GraphSizes::Op& at) {
  unify(s, x, y, dim);
  at.to = y[dim];
  s.reductions.push_back(y[dim]);
  s.counted.push_back(s.variable(s.value(x[dim]) / s.value(y[dim])));
  s.product(x[dim], {y[dim], s.counted.back()});
}

/// Adds the equations between the sizes of a reduction, such as sum, from shape x to shape y.
void folded_sizes(Sizes& s, const graph::Attributes& attributes, const Extents& x, const Extents& y) {
  std::size_t from = 0;
  for (int d = 0; d < static_cast<int>(x.size()); ++d) {
    const auto& dims = attributes.sizes;
    const bool over = dims.empty() ? d == attributes.dim : std::ranges::count(dims, d) > 0;
    over ? s.counted.push_back(x[d]) : s.same(x[d], y[from]);
    from += !over || attributes.keepdim;
  }
}

/// Adds the equations between the sizes of a matmul of the shapes `in` to shape y. The last of `in` may be a bias.
void matmul_sizes(Sizes& s, const std::vector<Extents>& in, const Extents& y) {
  const Extents& x = in[0];
  const std::size_t last = x.size() - 1;
  const auto batches = [](const Extents& e, std::size_t matrix) {
    return Extents{e.begin(), e.end() - static_cast<std::ptrdiff_t>(std::min(matrix, e.size()))};
  };
  // A vector has no such dimension, and neither does the result.
  const bool row = x.size() > 1, column = in[1].size() > 1;
  s.counted.push_back(x[last]);
  s.same(x[last], in[1][column ? in[1].size() - 2 : 0]);
  if (row) s.same(x[last - 1], y[y.size() - 1 - column]);
  if (column) s.same(in[1].back(), y.back());
  const Extents a = batches(x, 2), b = batches(in[1], 2), c = batches(y, row + column);
  if (row || column) unify(s, a, c), unify(s, b, c);
  unify(s, a, b);
  if (in.size() > 2) unify(s, in[2], y);
}

/// Adds the equations between the sizes of an operator all of whose family has the same. Throws Error for other families.
void family_sizes(Sizes& s, OpKind kind, const graph::Attributes& attributes, const std::vector<Extents>& in,
                  const Extents& y, GraphSizes::Op& at) {
  const Extents& x = in[0];
  const int last = static_cast<int>(x.size()) - 1;
  switch (graph::family(kind)) {
    case OpFamily::elementwise:
      for (const Extents& operand : in) {
        unify(s, operand, y);
        for (const Extents& other : in) unify(s, operand, other);
      }
      return;
    case OpFamily::composed:  // a norm's weight and bias
      for (std::size_t i = 1; i < in.size(); ++i) unify(s, in[i], x);
      at.parts.assign(x.end() - static_cast<std::ptrdiff_t>(attributes.sizes.size()), x.end());
      s.counted.insert(s.counted.end(), at.parts.begin(), at.parts.end());
      s.counted.push_back(x[attributes.dim >= 0 ? attributes.dim : last]);
      return unify(s, x, y);
    case OpFamily::accumulator:
      if (in.size() > 1) unify(s, x, in[1]);  // the factor of a rescale
      if (s.value(x[last]) != s.value(y[last])) s.counted.push_back(x[last]);
      return unify(s, x, y, s.value(x[last]) == s.value(y[last]) ? -1 : last);
    default:
      fail("{}: `equal` does not know how its sizes hang together", graph::name(kind));
  }
}

/// Adds the equations between the sizes of one stateless operator or accumulator, with the operand shapes `in` and
/// the result shapes `out`. Records the variables of the sizes in its attributes in `at`. Throws Error if the
/// attributes have sizes that cannot shrink.
void op_sizes(Sizes& s, OpKind kind, const graph::Attributes& attributes, const std::vector<Extents>& in,
              const std::vector<Extents>& out, GraphSizes::Op& at) {
  const Extents &x = in[0], &y = out[0];
  const int last = static_cast<int>(x.size()) - 1;
  if (graph::reduces(kind)) return folded_sizes(s, attributes, x, y);
  switch (kind) {
    case OpKind::matmul:
      return matmul_sizes(s, in, y);
    case OpKind::reduction:
      return reduced_sizes(s, x, y, attributes.dim, at);
    case OpKind::accum_redtox_sum:
      return reduced_sizes(s, x, y, last, at);
    case OpKind::reduction_max:
      unify(s, x, y, attributes.dim);
      return unify(s, x, out[1], attributes.dim);
    case OpKind::permute:
      for (std::size_t d = 0; d < y.size(); ++d) s.same(x[attributes.sizes[d]], y[d]);
      return;
    case OpKind::reshape: {  // adding and removing dimensions of 1 means the same at every size
      const auto value = [&](int e) { return s.value(e); };
      Extents from = x, to = y;
      for (Extents* extents : {&from, &to}) std::erase_if(*extents, [&](int e) { return value(e) == 1; });
      if (!std::ranges::equal(from, to, {}, value, value)) fail("{} names sizes of its own", graph::name(kind));
      unify(s, from, to);
      at.parts = y;
      return;
    }
    case OpKind::expand:
      at.parts = y;
      return unify(s, x, y);
    case OpKind::slice:
    case OpKind::unfold:
    case OpKind::rotary:
    case OpKind::rotary_interleaved:
    case OpKind::gather:
    case OpKind::scatter:
    case OpKind::slice_scatter:
      fail("{} names sizes of its own", graph::name(kind));
    case OpKind::mask:  // tril 0 means the same at every size, and so do lengths from 0 to the extent
      if (attributes.kept != graph::Kept{.tril = 0} && attributes.kept != graph::Kept{})
        fail("{} names sizes of its own", graph::name(kind));
      if (in.size() > 1) unify(s, in[1], y);
      if (last > 0) s.triangles.push_back({x[last - 1], x[last]});
      return unify(s, x, y);
    case OpKind::concat:
    case OpKind::split: {
      std::vector<int> parts;
      for (const Extents& part : kind == OpKind::concat ? in : out) {
        unify(s, part, kind == OpKind::concat ? y : x, attributes.dim);
        parts.push_back(part[attributes.dim]);
      }
      if (kind == OpKind::split) at.parts = parts;
      return s.sums.push_back({kind == OpKind::concat ? y[attributes.dim] : x[attributes.dim], parts});
    }
    default:
      return family_sizes(s, kind, attributes, in, y, at);
  }
}

/// Adds the equations of a tile that is loaded or stored: each extent of the tensor `whole` is the product
/// of the tile's extent and of the grid axes and loop that split it. `at` has the variables of grid and loop.
void tile_sizes(Sizes& s, const graph::BlockOp& op, const Extents& whole, const Extents& tile,
                const GraphSizes::Op& at) {
  for (int d = 0; d < static_cast<int>(whole.size()); ++d) {
    std::vector<int> factors{tile[d]};
    for (int axis = 0; axis < 3; ++axis)
      if (op.map[axis] == d) factors.push_back(at.grid[axis]);
    if (op.loop_dim == d) factors.push_back(at.loop);
    if (factors.size() == 1)
      s.same(whole[d], tile[d]);
    else
      s.product(whole[d], factors);
  }
}

/// Adds the equations between the sizes of a custom operator: of its grid, loop, tiles and block operators. Records
/// the variables of these sizes in `at`. `tensors`: the variables of the extents of the graph's tensors.
void custom_sizes(Sizes& s, const graph::KernelOp& op, const std::vector<Extents>& tensors, GraphSizes::Op& at) {
  const graph::BlockGraph& b = *op.block;
  const auto launch = [&](std::int64_t extent) {
    s.launches.push_back({s.variable(extent), s.owner});
    return s.launches.back().first;
  };
  for (int axis = 0; axis < 3; ++axis) at.grid[axis] = launch(b.grid[axis]);
  at.loop = launch(b.loop);
  s.counted.push_back(at.loop);
  for (const graph::BlockTensor& t : b.tensors) at.tiles.push_back(extents(s, t.shape));
  for (const graph::BlockOp& inner : b.ops) {
    GraphSizes::Op body;
    const bool boundary = graph::is_boundary(inner.kind);
    if (boundary && !inner.attributes.sizes.empty())
      fail("an {} with a shape of its own names sizes", graph::name(inner.kind));
    if (inner.kind == OpKind::input)
      tile_sizes(s, inner, tensors[op.inputs[inner.kernel_tensor]], at.tiles[inner.outputs[0]], at);
    else if (inner.kind == OpKind::output && inner.attributes.dim >= 0)
      fail("an output that stores a slice names sizes of its own");
    else if (inner.kind == OpKind::output)
      tile_sizes(s, inner, tensors[op.outputs[inner.kernel_tensor]], at.tiles[inner.inputs[0]], at);
    else
      op_sizes(s, inner.kind, inner.attributes, pick(at.tiles, inner.inputs), pick(at.tiles, inner.outputs), body);
    at.body.push_back(std::move(body));
  }
}

}  // namespace

GraphSizes Sizes::add(const graph::KernelGraph& g) {
  ++owner;
  GraphSizes found;
  for (const graph::KernelTensor& t : g.tensors) found.tensors.push_back(extents(*this, t.shape));
  for (const graph::KernelOp& op : g.ops) {
    GraphSizes::Op at;
    if (op.kind == OpKind::custom)
      custom_sizes(*this, op, found.tensors, at);
    else
      op_sizes(*this, op.kind, op.attributes, pick(found.tensors, op.inputs), pick(found.tensors, op.outputs), at);
    found.ops.push_back(std::move(at));
  }
  return found;
}

}  // namespace zellige::search
