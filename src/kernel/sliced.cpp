#include "kernel/sliced.hpp"

#include <algorithm>

namespace zellige::kernel {
namespace {

/// Returns true if no block executes both stores, because their slices along a dimension do not overlap.
bool never_both(const tile::TileProgram& p, const tile::Node& a, const tile::Node& b) {
  for (const Slice& x : slices(p, a))
    for (const Slice& y : slices(p, b))
      if (x.of_same_tiles(y) && (x.to <= y.from || y.to <= x.from)) return true;
  return false;
}

}  // namespace

std::vector<Slice> slices(const tile::TileProgram& p, const tile::Node& store) {
  std::vector<Slice> found;
  const tile::TileView& v = store.view;
  for (int d = 0; d < v.rank(); ++d) {
    if (!v.predicated(d) || v.axis(d) < 0 || v.iterates(d) || v.origin(d) > 0 || v.origin(d) % v.tile(d) != 0) continue;
    const tile::Interval along = v.along(d, p);
    const std::int64_t end = tile::ceil_div(v.end(d) - v.origin(d), v.tile(d));
    const Slice slice{d, along, -v.origin(d) / v.tile(d), std::min(along.tiles(), end)};
    if (slice.from > 0 || slice.to < along.tiles()) found.push_back(slice);
  }
  return found;
}

std::vector<Slice> slices(const Kernel& kernel, const Work& work) {
  const tile::TileProgram& p = kernel.program;
  if (p.nodes[work.node].kind != tile::NodeKind::store || work.tensor < 0) return {};
  if (work.kind == WorkKind::to_global) return slices(p, p.nodes[work.node]);
  std::vector<Slice> parts;
  for (const Work& t : works(kernel)) {
    if (t.kind != WorkKind::to_global || t.tensor != work.tensor || p.nodes[t.node].in != p.nodes[work.node].in)
      continue;
    const std::vector<Slice> of = slices(p, p.nodes[t.node]);
    if (of.size() != 1) return {};
    if (!parts.empty() && !of[0].of_same_tiles(parts[0])) return {};
    parts.push_back(of[0]);
  }
  std::ranges::sort(parts, {}, &Slice::from);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].from > parts[0].to) return {};
    parts[0].to = std::max(parts[0].to, parts[i].to);
  }
  parts.resize(std::min<std::size_t>(parts.size(), 1));
  if (!parts.empty() && parts[0].from == 0 && parts[0].to == parts[0].along.tiles()) parts.clear();
  return parts;
}

const Work* shared_way_out(const Kernel& kernel, const std::vector<Work>& stores, int another, const Instruction* row,
                           int inner) {
  const std::vector<tile::Node>& nodes = kernel.program.nodes;
  const tile::Node& n = nodes[another];
  for (const bool same : {true, false})
    for (const Work& way : stores) {
      const SmemTensor& b = kernel.tensors[way.tensor];
      const bool equivalent = b.dtype == n.dtype && b.shape == n.shape && b.inner == inner && way.copy.row == row;
      const bool fits = std::ranges::all_of(stores, [&](const Work& other) {
        return other.tensor != way.tensor || nodes[other.node].in == n.in ||
               never_both(kernel.program, nodes[other.node], n);
      });
      if (equivalent && fits && same == (nodes[way.node].in == n.in)) return &way;
    }
  return nullptr;
}

std::pair<std::int64_t, std::int64_t> tiles_in(const std::vector<Slice>& slices) {
  std::int64_t in = 1, all = 1;
  for (const Slice& s : slices) in *= s.to - s.from, all *= s.along.tiles();
  return {in, all};
}

}  // namespace zellige::kernel
