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

/// Adds the sizes of one graph to the system.
class SizesOfGraph {
 public:
  SizesOfGraph(Sizes& sizes, const graph::KernelGraph& g) : s_(sizes), g_(g) {}

  GraphSizes run() {
    GraphSizes found;
    for (const graph::KernelTensor& t : g_.tensors) found.tensors.push_back(extents(t.shape));
    for (const graph::KernelOp& op : g_.ops) {
      GraphSizes::Op at;
      if (op.kind == OpKind::custom)
        custom(op, found.tensors, at);
      else
        compute(op.kind, op.attributes, pick(found.tensors, op.inputs), pick(found.tensors, op.outputs), at);
      found.ops.push_back(std::move(at));
    }
    return found;
  }

 private:
  /// Returns new variables, one per extent of a shape.
  Extents extents(const graph::Shape& shape) {
    Extents e;
    for (std::int64_t extent : shape) e.push_back(s_.variable(extent));
    return e;
  }
  /// Returns the variables of the tensors with the indices `which`.
  static std::vector<Extents> pick(const std::vector<Extents>& all, const std::vector<int>& which) {
    std::vector<Extents> selected;
    for (int t : which) selected.push_back(all[t]);
    return selected;
  }

  /// Declares corresponding extents of shapes x and y to be the same. Dimensions correspond from the last
  /// one. Skips dimension `except`, and dimensions in which the extents differ because one is broadcast.
  void unify(const Extents& x, const Extents& y, int except = -1) {
    if (except < 0 && x.size() != y.size()) {  // dimensions count from the last
      const std::size_t rank = std::min(x.size(), y.size());
      return unify({x.end() - static_cast<std::ptrdiff_t>(rank), x.end()},
                   {y.end() - static_cast<std::ptrdiff_t>(rank), y.end()});
    }
    if (x.size() != y.size()) fail("ranks {} and {} differ", x.size(), y.size());
    for (int d = 0; d < static_cast<int>(x.size()); ++d)
      if (d != except && s_.value(x[d]) == s_.value(y[d])) s_.same(x[d], y[d]);
  }

  /// Adds the equation between the sizes of a reduction from shape x to shape y along `dim`: x[dim] is the product of
  /// y[dim] and the number of summands. Records y[dim] in `at`, the operator's size variables.
  void reduced(const Extents& x, const Extents& y, int dim, GraphSizes::Op& at) {
    unify(x, y, dim);
    at.to = y[dim];
    s_.reductions.push_back(y[dim]);
    s_.counted.push_back(s_.variable(s_.value(x[dim]) / s_.value(y[dim])));
    s_.product(x[dim], {y[dim], s_.counted.back()});
  }

  /// Adds the equations between the sizes of one stateless operator or accumulator, with the operand shapes `in` and
  /// the result shapes `out`. Records the variables of the sizes in its attributes in `at`. Throws Error if the
  /// attributes have sizes that cannot shrink.
  void compute(OpKind kind, const graph::Attributes& attributes, const std::vector<Extents>& in,
               const std::vector<Extents>& out, GraphSizes::Op& at) {
    const Extents &x = in[0], &y = out[0];
    const int last = static_cast<int>(x.size()) - 1;
    if (graph::reduces(kind)) {
      std::size_t from = 0;
      for (int d = 0; d <= last; ++d) {
        const auto& dims = attributes.sizes;
        const bool over = dims.empty() ? d == attributes.dim : std::ranges::count(dims, d) > 0;
        if (!over) s_.same(x[d], y[from]);
        if (over) s_.counted.push_back(x[d]);
        from += !over || attributes.keepdim;
      }
      return;
    }
    switch (kind) {
      case OpKind::matmul: {
        const auto batches = [](const Extents& e, std::size_t matrix) {
          return Extents{e.begin(), e.end() - static_cast<std::ptrdiff_t>(std::min(matrix, e.size()))};
        };
        // A vector has no such dimension, and neither does the result.
        const bool row = x.size() > 1, column = in[1].size() > 1;
        s_.counted.push_back(x[last]);
        s_.same(x[last], in[1][column ? in[1].size() - 2 : 0]);
        if (row) s_.same(x[last - 1], y[y.size() - 1 - column]);
        if (column) s_.same(in[1].back(), y.back());
        const Extents a = batches(x, 2), b = batches(in[1], 2), c = batches(y, row + column);
        if (row || column) unify(a, c), unify(b, c);
        unify(a, b);
        if (in.size() > 2) unify(in[2], y);
        return;
      }
      case OpKind::reduction:
        return reduced(x, y, attributes.dim, at);
      case OpKind::accum_redtox_sum:
        return reduced(x, y, last, at);
      case OpKind::reduction_max:
        unify(x, y, attributes.dim);
        return unify(x, out[1], attributes.dim);
      case OpKind::permute:
        for (std::size_t d = 0; d < y.size(); ++d) s_.same(x[attributes.sizes[d]], y[d]);
        return;
      case OpKind::reshape: {  // adding and removing dimensions of 1 means the same at every size
        const auto value = [&](int e) { return s_.value(e); };
        Extents from = x, to = y;
        for (Extents* extents : {&from, &to}) std::erase_if(*extents, [&](int e) { return value(e) == 1; });
        if (!std::ranges::equal(from, to, {}, value, value)) fail("{} names sizes of its own", graph::name(kind));
        unify(from, to);
        at.parts = y;
        return;
      }
      case OpKind::expand:
        at.parts = y;
        return unify(x, y);
      case OpKind::slice:
      case OpKind::rotary:
      case OpKind::rotary_interleaved:
      case OpKind::gather:
      case OpKind::scatter:
      case OpKind::slice_scatter:
        fail("{} names sizes of its own", graph::name(kind));
      case OpKind::mask:  // tril 0 means the same at every size, and so do lengths from 0 to the extent
        if (attributes.kept != graph::Kept{.tril = 0} && attributes.kept != graph::Kept{})
          fail("{} names sizes of its own", graph::name(kind));
        if (in.size() > 1) unify(in[1], y);
        if (last > 0) s_.triangles.push_back({x[last - 1], x[last]});
        return unify(x, y);
      case OpKind::concat:
      case OpKind::split: {
        std::vector<int> parts;
        for (const Extents& part : kind == OpKind::concat ? in : out) {
          unify(part, kind == OpKind::concat ? y : x, attributes.dim);
          parts.push_back(part[attributes.dim]);
        }
        if (kind == OpKind::split) at.parts = parts;
        return s_.sums.push_back({kind == OpKind::concat ? y[attributes.dim] : x[attributes.dim], parts});
      }
      default:
        break;
    }
    switch (graph::family(kind)) {
      case OpFamily::elementwise:
        for (const Extents& operand : in) {
          unify(operand, y);
          for (const Extents& other : in) unify(operand, other);
        }
        return;
      case OpFamily::composed:  // a norm's weight and bias
        for (std::size_t i = 1; i < in.size(); ++i) unify(in[i], x);
        at.parts.assign(x.end() - static_cast<std::ptrdiff_t>(attributes.sizes.size()), x.end());
        s_.counted.insert(s_.counted.end(), at.parts.begin(), at.parts.end());
        s_.counted.push_back(x[attributes.dim >= 0 ? attributes.dim : last]);
        return unify(x, y);
      case OpFamily::accumulator:
        if (in.size() > 1) unify(x, in[1]);  // the factor of a rescale
        if (s_.value(x[last]) != s_.value(y[last])) s_.counted.push_back(x[last]);
        return unify(x, y, s_.value(x[last]) == s_.value(y[last]) ? -1 : last);
      default:
        fail("{}: `equal` does not know how its sizes hang together", graph::name(kind));
    }
  }

  /// Adds the equations between the sizes of a custom operator: of its grid, loop, tiles and block operators. Records
  /// the variables of these sizes in `at`. `tensors`: the variables of the extents of the graph's tensors.
  void custom(const graph::KernelOp& op, const std::vector<Extents>& tensors, GraphSizes::Op& at) {
    const graph::BlockGraph& b = *op.block;
    const auto launch = [&](std::int64_t extent) {
      s_.launches.push_back({s_.variable(extent), s_.owner});
      return s_.launches.back().first;
    };
    for (int axis = 0; axis < 3; ++axis) at.grid[axis] = launch(b.grid[axis]);
    at.loop = launch(b.loop);
    s_.counted.push_back(at.loop);
    for (const graph::BlockTensor& t : b.tensors) at.tiles.push_back(extents(t.shape));
    for (const graph::BlockOp& inner : b.ops) {
      GraphSizes::Op body;
      const bool boundary = graph::is_boundary(inner.kind);
      if (boundary && !inner.attributes.sizes.empty())
        fail("an {} with a shape of its own names sizes", graph::name(inner.kind));
      if (inner.kind == OpKind::input)
        tile(inner, tensors[op.inputs[inner.kernel_tensor]], at.tiles[inner.outputs[0]], at);
      else if (inner.kind == OpKind::output && inner.attributes.dim >= 0)
        fail("an output that stores a slice names sizes of its own");
      else if (inner.kind == OpKind::output)
        tile(inner, tensors[op.outputs[inner.kernel_tensor]], at.tiles[inner.inputs[0]], at);
      else
        compute(inner.kind, inner.attributes, pick(at.tiles, inner.inputs), pick(at.tiles, inner.outputs), body);
      at.body.push_back(std::move(body));
    }
  }

  /// Adds the equations of a tile that is loaded or stored: each extent of the tensor `whole` is the product
  /// of the tile's extent and of the grid axes and loop that split it. `at` has the variables of grid and loop.
  void tile(const graph::BlockOp& op, const Extents& whole, const Extents& tile, const GraphSizes::Op& at) {
    for (int d = 0; d < static_cast<int>(whole.size()); ++d) {
      std::vector<int> factors{tile[d]};
      for (int axis = 0; axis < 3; ++axis)
        if (op.map[axis] == d) factors.push_back(at.grid[axis]);
      if (op.loop_dim == d) factors.push_back(at.loop);
      if (factors.size() == 1)
        s_.same(whole[d], tile[d]);
      else
        s_.product(whole[d], factors);
    }
  }

  Sizes& s_;
  const graph::KernelGraph& g_;
};

}  // namespace

GraphSizes Sizes::add(const graph::KernelGraph& g) {
  ++owner;
  return SizesOfGraph(*this, g).run();
}

}  // namespace zellige::search
