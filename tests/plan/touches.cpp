#include "touches.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace zellige::plan {
namespace {

/// Element i of a layout, by the definition: its digits times its strides, along each basis element.
void add(values::View layout, std::int64_t i, graph::Shape& to) {
  for (const ValueNode& leaf : layout) {
    if (leaf.kids >= 0) continue;
    if (leaf.d.v != 0) to.at(static_cast<std::size_t>(leaf.e - 1)) += i % leaf.s.v * leaf.d.v;
    i /= leaf.s.v;
  }
}
std::int64_t count(values::View layout) {
  std::int64_t n = 1;
  for (const ValueNode& leaf : layout)
    if (leaf.kids < 0) n *= leaf.s.v;
  return n;
}

/// Thread by thread and value by value, whatever its items are.
void for_each_in_layouts(const kernel::Context& c, const std::function<void(int, const graph::Shape&)>& visit) {
  const values::View share = c.share, tile = c.tile;
  for (std::int64_t thread = 0; thread < count(share[0]); ++thread)
    for (std::int64_t value = 0; value < count(share[1]); ++value) {
      graph::Shape item(static_cast<std::size_t>(tile.rank()), 0), at(c.domain.size(), 0);
      add(share[0], thread, item), add(share[1], value, item);
      bool owned = true;
      for (int axis = 0; axis < tile.rank(); ++axis) {
        owned = owned && item[static_cast<std::size_t>(axis)] < count(tile[axis]);
        add(tile[axis], item[static_cast<std::size_t>(axis)], at);
      }
      if (owned) visit(static_cast<int>(thread), at);
    }
}

/// The distribution of an accumulator tile over a warp's lanes. PTX ISA, accumulators of m16n8: a lane has
/// row lane / 4 (and 8 below) and columns 2 (lane % 4) and the next. atom/outer_product.hpp: 2 lanes along M,
/// all along N, then the rest along M.
struct Lanes {
  int rows = 1, columns = 2, down = 8, across = 4,
      first = 1;  // of a lane; lanes; adjacent lanes along M
  std::int64_t m = 16, n = 8;
  explicit Lanes(const kernel::Context& c) {
    const Instruction* row = c.row ? c.row : c.of;
    if (!row || std::sscanf(row->name, "OuterProduct<%d, %d, %d, %d>", &rows, &columns, &down, &across) != 4) return;
    m = rows * down, n = columns * across, first = down > 1 ? 2 : 1;
    outer = true;
  }
  bool outer = false;
  int of(std::int64_t row, std::int64_t column) const {
    if (!outer) return static_cast<int>(row % 8 * 4 + column % 8 / 2);
    const auto i = static_cast<int>(row % m / rows), j = static_cast<int>(column % n / columns);
    return i % first + first * (j + across * (i / first));
  }
};

void for_each_in_fragment(const kernel::Context& c, const graph::Shape& bound,
                          const std::function<void(int, const graph::Shape&)>& visit) {
  const std::size_t rank = c.domain.size();
  const graph::Shape batches(c.domain.begin(), c.domain.end() - 2);
  for (std::int64_t b = 0; b < graph::size(batches); ++b)
    for (std::int64_t m = 0; m < bound[rank - 2]; ++m)
      for (std::int64_t n = 0; n < bound[rank - 1]; ++n)
        for (int k = 0; k < kernel::warps(c).k; ++k) {
          graph::Shape at = graph::coordinates(b, batches);
          at.push_back(m), at.push_back(n);
          visit(warp_of(c, b, m, n, k) * 32 + Lanes(c).of(m, c.repeats() > 1 ? n % (c.domain.back() / c.repeats()) : n),
                at);
        }
}

/// The contexts of one value a row in which each thread of a task has the rows of its elements. The task is over
/// accumulators, or over rows that are in lanes of a warp each.
std::set<int> rows_of(const kernel::Kernel& plan, const kernel::Context& mine) {
  std::set<int> result;
  for (std::size_t c = 0; (mine.row || mine.axes() == 2) && c < plan.rmem.size(); ++c) {
    const kernel::Context& rows = plan.rmem[c].layout;
    if ((mine.row != nullptr) != (rows.of != nullptr)) continue;
    graph::Shape lines = mine.domain;
    lines.back() = 1;
    if (rows.row || rows.holders() == 1 || rows.domain != lines) continue;
    std::set<std::pair<int, graph::Shape>> owned;
    for_each_in_layouts(rows, [&](int thread, const graph::Shape& at) { owned.insert({thread, at}); });
    bool all = true;
    for_each_owned(mine, mine.domain, [&](int thread, graph::Shape at) {
      at.back() = 0;
      all = all && owned.count({thread, at}) > 0;
    });
    if (all) result.insert(static_cast<int>(c));
  }
  return result;
}

/// The value of `node` at `at`: which shared elements its evaluation in work t reads.
class Evaluation {
 public:
  Evaluation(const kernel::Kernel& plan, const kernel::Work& work, const std::set<int>& rows, int thread,
             const Visit& visit)
      : plan_(plan), p_(plan.program), work_(work), rows_(rows), thread_(thread), visit_(visit) {}

  /// `moved`: at coordinates that are not the thread's own, so that no register of its holds it.
  void value(int node, graph::Shape at, bool moved = false) const {
    const tile::Node& n = p_.nodes[node];
    for (std::size_t d = 0; d < at.size(); ++d) at[d] = std::min(at[d], n.shape[d] - 1);  // beyond the edge: its last
    // A map that is kept in registers is read there.
    if (n.kind == tile::NodeKind::map && plan_.rmem_of(node) >= 0 && work_.node != node) return leaf(node, at, moved);
    switch (n.kind) {
      case tile::NodeKind::map:
        for (int in : n.in) {
          const graph::Shape& from = p_.nodes[in].shape;
          bool others = moved;  // repeated along another dimension than its row
          for (std::size_t d = 0; d + 1 < from.size(); ++d) others = others || from[d] != n.shape[d];
          value(in, at, others);
        }
        return;
      case tile::NodeKind::slice:
        at[n.dim] += n.start;
        return value(n.in[0], at, true);
      case tile::NodeKind::concat:
        for (int in : n.in) {
          const std::int64_t extent = p_.nodes[in].shape[n.dim];
          if (at[n.dim] < extent) return value(in, at, true);
          at[n.dim] -= extent;
        }
        return;
      case tile::NodeKind::permute: {
        graph::Shape there(at.size());
        for (std::size_t d = 0; d < at.size(); ++d) there[static_cast<std::size_t>(n.order[d])] = at[d];
        return value(n.in[0], there, true);
      }
      case tile::NodeKind::rotate: {
        value(n.in[0], at, true);
        for (int table : {n.in[1], n.in[2]}) {
          graph::Shape in_table = at;
          if (p_.nodes[table].shape[n.dim] != n.shape[n.dim]) in_table[n.dim] /= 2;
          value(table, in_table, true);
        }
        at[n.dim] ^= 1;
        return value(n.in[0], at, true);
      }
      default:
        return leaf(node, at, moved);
    }
  }

 private:
  void leaf(int node, const graph::Shape& at, bool moved) const {
    const tile::Node& n = p_.nodes[node];
    const bool in_registers = plan_.rmem_of(node) >= 0 && work_.node != node;
    if (plan_.in_place(node) && !in_registers) return;
    if (const int c = plan_.rmem_of(node); c >= 0 && !moved) {
      const tile::Sections sections(p_);
      const bool whole = c == work_.context && n.shape == plan_.layout_of(work_).domain;
      if (sections.complete(node) == kernel::section_of(work_, sections) && (whole || rows_.count(c) > 0)) return;
    }
    const int b = plan_.tensor_of(node);
    for (int part = 0; part < plan_.tensors[b].partials; ++part) visit_({thread_, b, part, at});
  }

  const kernel::Kernel& plan_;
  const tile::TileProgram& p_;
  const kernel::Work& work_;
  const std::set<int>& rows_;  // contexts in which every thread has the rows of what it evaluates
  int thread_;
  const Visit& visit_;
};

void lanes_reads(const kernel::Kernel& plan, const kernel::Work& t, const Visit& visit) {
  const kernel::Context& c = plan.layout_of(t);
  const tile::Node& n = plan.program.nodes[t.node];
  const std::set<int> rows = rows_of(plan, c);
  for_each_in_layouts(c, [&](int thread, const graph::Shape& at) {
    const Evaluation e(plan, t, rows, thread, visit);
    if (n.kind != tile::NodeKind::matmul) return e.value(n.in[0], at);
    // (.., m, n, k) of (.., m, k) and (.., k, n)
    const std::size_t rank = n.shape.size();
    graph::Shape a(at.begin(), at.end() - 1), b = a;
    a[rank - 1] = b[rank - 2] = at.back();
    e.value(n.in[0], a), e.value(n.in[1], b);
  });
}

}  // namespace

int warp_of(const kernel::Context& c, std::int64_t b, std::int64_t m, std::int64_t n, int k) {
  const kernel::WarpLayout w = kernel::warps(c);
  const std::int64_t columns = c.domain.back() / c.repeats();  // of one slice: slices follow one another in time
  const Lanes lanes(c);
  const std::int64_t unit = (c.repeats() > 1 ? n % columns : n) / (lanes.outer   ? lanes.n
                                                                   : columns > 8 ? 8 * kernel::tiles_in_unit(*c.row)
                                                                                 : 8);
  return static_cast<int>(m / lanes.m % w.m + w.m * (b % w.b + w.b * (unit % w.n + w.n * k)));
}

void for_each_owned(const kernel::Context& c, const graph::Shape& bound,
                    const std::function<void(int, const graph::Shape&)>& visit) {
  if (c.row)
    for_each_in_fragment(c, bound, visit);
  else
    for_each_in_layouts(c, visit);
}

void for_each_read(const kernel::Kernel& plan, const kernel::Work& t, const Visit& visit) {
  const kernel::Context& c = plan.layout_of(t);
  const tile::Node& n = plan.program.nodes[t.node];
  if (t.kind == kernel::WorkKind::copy_in || t.kind == kernel::WorkKind::finish) return;
  if (t.kind == kernel::WorkKind::mma) {
    for (int side = plan.has_fragments(t.node) ? 1 : 0; side < 2; ++side) {
      const int b = plan.tensor_of(n.in[side]);
      const graph::Shape& padded = plan.tensors[b].padded;
      for (std::int64_t i = 0; i < graph::size(padded); ++i) visit({everyone, b, 0, graph::coordinates(i, padded)});
    }
    return;
  }
  if (t.kind == kernel::WorkKind::reduce && !c.row) return lanes_reads(plan, t, visit);
  const bool stored_in_smem =
      t.kind == kernel::WorkKind::to_shared && n.kind != tile::NodeKind::round && n.kind != tile::NodeKind::store;
  if (stored_in_smem) return;
  const graph::Shape bound = t.kind == kernel::WorkKind::to_shared ? plan.tensors[t.tensor].padded : c.domain;
  const std::set<int> rows = rows_of(plan, c);
  for_each_owned(c, bound, [&](int thread, const graph::Shape& at) {
    for (std::size_t d = 0; d < at.size(); ++d)
      if (!c.row && c.holders() > 1 && at[d] >= c.domain[d]) return;  // rows beyond the tile have no owner
    if (t.kind == kernel::WorkKind::to_global && t.tensor >= 0) return visit({thread, t.tensor, 0, at});
    const Evaluation e(plan, t, rows, thread, visit);
    if (t.kind == kernel::WorkKind::rescale)
      return e.value(n.in[2], at);  // each row's factor; the products' operands are the mma's
    for (int in : n.in) e.value(in, at);
    if (t.kind == kernel::WorkKind::accumulate && t.tensor >= 0) visit({thread, t.tensor, 0, at});
  });
}

void for_each_write(const kernel::Kernel& plan, const kernel::Work& t, const Visit& visit) {
  if (t.tensor < 0 || t.kind == kernel::WorkKind::to_global) return;
  const kernel::SmemTensor& b = plan.tensors[t.tensor];
  const kernel::Context& c = plan.layout_of(t);
  if (t.kind == kernel::WorkKind::finish && c.row) {
    // Some lanes hold a row; the first of them writes, into the part of its warp along N.
    const Lanes lanes(c);
    graph::Shape lines = c.domain;
    lines.back() = 1;
    const kernel::WarpLayout w = kernel::warps(c);
    const graph::Shape batches(c.domain.begin(), c.domain.end() - 2);
    for (std::int64_t row = 0; row < graph::size(lines); ++row) {
      const graph::Shape at = graph::coordinates(row, lines);
      std::int64_t batch = 0;
      for (std::size_t d = 0; d < batches.size(); ++d) batch = batch * batches[d] + at[d];
      const std::int64_t m = at[at.size() - 2];
      for (int wn = 0; wn < w.n; ++wn) {
        const int warp = static_cast<int>(m / lanes.m % w.m + w.m * (batch % w.b + w.b * wn));
        visit({warp * 32 + lanes.of(m, 0), t.tensor, wn, at});
      }
    }
    return;
  }
  if (t.kind == kernel::WorkKind::finish) {
    const graph::Shape& sums = plan.program.nodes[t.node].shape;
    const int group = c.lanes() * c.parts(), groups = c.threads() / group;
    for (std::int64_t o = 0; o < graph::size(sums); ++o)
      for (int part = 0; part < c.parts(); ++part)
        visit({static_cast<int>(o % groups * group + part * c.lanes()), t.tensor, part, graph::coordinates(o, sums)});
    return;
  }
  const bool parts = c.row && kernel::warps(c).k > 1;
  for_each_owned(c, b.padded, [&](int thread, const graph::Shape& at) {
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] >= b.padded[d] && static_cast<int>(d) != c.inner()) return;
    if (!c.row && c.holders() > 1 && thread / Lanes(c).first % c.holders() > 0)
      return;  // all hold it, the first writes it
    const int part = parts ? thread / 32 / (kernel::warps(c).count() / kernel::warps(c).k) : 0;
    visit({thread, t.tensor, part, at});
  });
}

}  // namespace zellige::plan
