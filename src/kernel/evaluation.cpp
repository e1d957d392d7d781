#include "kernel/evaluation.hpp"

#include <algorithm>

#include "graph/reductions.hpp"
#include "kernel/index_width.hpp"
#include "kernel/nest.hpp"

namespace zellige::kernel {
namespace {

using Kind = Item::Kind;

/// Returns whether the nest has at most one vector along dimension `d`: its coordinate along `d` is always 0.
bool whole(const Context& c, int d) {
  for (int axis = 0; axis < c.axes(); ++axis) {
    if (c.row && axis < 2) continue;
    const std::vector<Mode> leaves = modes(values::View(c.tile)[axis]);
    for (std::size_t i = axis == 0 ? 1 : 0; i < leaves.size(); ++i)
      if (leaves[i].basis == d && leaves[i].extent > 1) return false;
  }
  return !c.row || d + 2 < c.rank();
}

/// Returns the coordinate of a thread's elements in the layout of the nest.
NestPoint own(const Context& c) {
  NestPoint p;
  for (int d = 0; d < c.rank(); ++d) p.at.push_back(whole(c, d) ? TileCoordinate{} : TileCoordinate{d});
  p.limit.assign(p.at.size(), 0);
  p.inner = c.inner(), p.vector = c.vector();
  return p;
}

/// Returns whether every vector of the store `n` along dimension `d` begins inside its tensor, whose end may part the last
/// one: of columns 0 to 127 in pairs, of which 127 are the tensor's, the last pair begins at 126. Slices may begin before
/// their tensor.
bool starts_inside(const tile::TileProgram& program, const tile::Node& n, int d, const NestPoint& p) {
  const tile::Interval here = n.view.along(d, program);
  if (d != p.inner || here.size() >= 0 || here.of_part() || here.origin() < 0) return false;
  return n.shape[d] % p.vector == 0 &&
         here.reach() - here.origin() <= tile::ceil_div(here.end() - here.origin(), p.vector) * p.vector;
}

/// Adds the items of one work of a nest; see evaluate().
struct NestWork {
  Nest& nest;
  const Work& work;
  NestValues values{nest, work};

  void run() {
    NestPoint p = own(nest.c);
    if (work.kind == WorkKind::reduce && !nest.c.row) return over_lanes(p);
    if (nest.c.row || nest.c.of) in_fragment(p);
    sink(p);
  }

 private:
  /// Lowers the part of a reduction in which each lane reduces the summands that it has: products of elements of a
  /// matmul's two operands, or elements of the operand of a reduce node.
  void over_lanes(NestPoint p) {
    const tile::Node& n = nest.p.nodes[work.node];
    if (n.kind != tile::NodeKind::matmul) return leave_within(n.in[0], n, p, true);
    const int rank = static_cast<int>(n.shape.size());
    const TileCoordinate along = p.at.back();
    p.at.pop_back(), p.limit.pop_back();
    p.inner = rank - 1, p.vector = 1;
    std::vector<int> in;
    for (int side = 0; side < 2; ++side) {
      NestPoint q = p;
      q.at[rank - 1 - side] = along;
      for (int d = 0; d + 2 < rank; ++d)  // an operand that all batches share
        if (nest.p.nodes[n.in[side]].shape[d] != n.shape[d]) q.at[d] = {}, q.limit[d] = 0;
      in.push_back(values.value(n.in[side], q));
    }
    leave(in);
  }

  /// Limits `p`, the coordinate of accumulators, to what the work writes, and opens the bounds checks that this needs.
  void in_fragment(NestPoint& p) {
    const int rank = nest.c.rank();
    const Shape& bound = written(nest.kernel, work);
    // Warps without tiles would read beyond the tile: clamps their rows, too.
    if (nest.c.row && bound != nest.c.domain && nest.c.domain[rank - 2] % nest.c.row->m != 0)
      p.limit[rank - 2] = nest.c.domain[rank - 2];
    if (nest.c.domain[rank - 1] % p.vector != 0 || bound[rank - 1] != nest.c.domain[rank - 1])
      p.limit[rank - 1] = nest.c.domain[rank - 1];
    nest.guard(guards(nest.kernel, work), {});
  }

  void sink(const NestPoint& p) {
    const tile::Node& n = nest.p.nodes[work.node];
    if (!nest.c.row && !nest.c.replicated() && work.kind != WorkKind::to_global) nest.guard({}, {});
    switch (work.kind) {
      case WorkKind::to_shared:
        return to_shared(n, p);
      case WorkKind::to_global:
        return leave_within(work.node, n, p, nest.c.row != nullptr);
      case WorkKind::accumulate:
        return accumulate(n, p);
      case WorkKind::to_lines:
      case WorkKind::to_registers:
        return leave({values.value(work.node, p)});
      case WorkKind::rescale:
        return leave({values.value(rescaled_by(n), narrowed(nest.p, rescaled_by(n), work.node, p))});
      default:
        leave({values.value(n.in[0], p)});
    }
  }

  /// Leaves the operand of `n` within the bounds checks that `checked` needs: if `scoped`, they end with it.
  void leave_within(int checked, const tile::Node& n, const NestPoint& p, bool scoped) {
    const std::vector<Within> edge = within(checked, p);
    const std::size_t outer = nest.mark();
    scoped ? nest.open({}, edge) : nest.guard({}, edge);
    NestPoint q = p;
    q.checked = true;
    leave({values.value(n.in[0], q)});
    if (scoped && !edge.empty()) nest.add({.kind = Kind::guarded}), nest.forget(outer);
  }

  void to_shared(const tile::Node& n, const NestPoint& p) {
    const SmemTensor& b = nest.kernel.tensors[work.tensor];
    const bool stored_in_smem = n.kind != tile::NodeKind::round && n.kind != tile::NodeKind::store;
    Item item{.kind = Kind::leave};
    NestPoint q = p;
    for (std::size_t d = 0; d < b.shape.size(); ++d)
      if (b.padded[d] > b.shape[d]) {
        q.limit[d] = b.shape[d];
        item.zeros.push_back({static_cast<int>(d), b.shape[d]});
      }
    item.in = {stored_in_smem ? nest.add({.kind = Kind::in_registers, .node = work.node, .vector = q.vector})
                              : values.value(n.in[0], q)};
    const bool ragged = nest.c.row && b.padded[p.inner] % p.vector != 0;
    if (ragged) item.edge = b.padded[p.inner];
    item.width = ragged ? 1 : b.access_width(p.inner, p.vector, p.shift);
    leave(std::move(item));
  }

  void accumulate(const tile::Node& n, const NestPoint& p) {
    Item item{.kind = Kind::leave};
    item.in = {values.value(n.in[0], p)};
    if (n.kind != tile::NodeKind::running_max && work.tensor >= 0) {
      const SmemTensor& b = nest.kernel.tensors[work.tensor];
      item.in.push_back(values.read_buffer(work.tensor, n.shape, p));
      item.width = b.access_width(p.inner, p.vector, p.shift);
    }
    if (graph::rescales(n.op)) item.in.push_back(values.value(n.in[1], narrowed(nest.p, n.in[1], work.node, p)));
    leave(std::move(item));
  }

  void leave(std::vector<int> in) { leave(Item{.kind = Kind::leave, .in = std::move(in)}); }
  void leave(Item item) {
    item.work = &work;
    item.node = work.node, item.buffer = work.tensor;
    nest.add(std::move(item));
  }

  /// Returns the bounds checks that are needed to evaluate `node` at coordinate `p`: one for each dimension in which a
  /// store, or a load directly from global memory, may reach beyond its tensor.
  std::vector<Within> within(int node, const NestPoint& p) const {
    std::set<Within> all;
    nest.p.visit_from({node}, [&](int i) {
      const tile::Node& n = nest.p.nodes[i];
      if (is_in_registers(nest.kernel, work, i)) return false;
      if ((n.kind == tile::NodeKind::load && nest.kernel.in_place(i)) || n.kind == tile::NodeKind::store)
        for (int d = 0; d < n.view.rank(); ++d)
          if (n.view.predicated(d) && !(n.kind == tile::NodeKind::store && starts_inside(nest.p, n, d, p)))
            all.insert(
                {n.view.along(d, nest.p), reach(nest.kernel, n).far(), n.shape[d] == 1 ? TileCoordinate{} : p.at[d]});
      return n.kind == tile::NodeKind::map || n.kind == tile::NodeKind::store;
    });
    return {all.begin(), all.end()};
  }
};

}  // namespace

std::vector<Item> evaluate(const Kernel& kernel, StepSpan steps) {
  Nest nest(kernel, steps);
  for (const Step& step : steps) NestWork{nest, step.work}.run();
  nest.close_guard();
  return nest.take();
}

}  // namespace zellige::kernel
