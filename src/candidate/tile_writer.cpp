#include "candidate/tile_writer.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::candidate {

TileWriter::TileWriter(const graph::KernelGraph& g, const GroupSteps& steps, const Axes& axes, const GroupTiling& tiles,
                       bool split)
    : BlockWriter(body_.block),
      g_(g),
      steps_(steps),
      axes_(axes),
      tiles_(tiles),
      split_(split),
      deferred_(steps.values.size()) {
  graph::BlockGraph& b = body_.block;
  b.grid = {tiles.grid[0].blocks, tiles.grid[1].blocks, tiles.grid[2].blocks};
  b.block = {tiles.threads, 1, 1};
  b.loop = tiles.loop;
  multiplies_ = std::ranges::any_of(steps.steps, is_matmul);
}

std::string TileWriter::called(int v) const {
  const int t = steps_.values[v].tensor;
  return t >= 0 ? rewrite::checked(g_.tensors, t, "tensor").name : "a step of a composed operator";
}

void TileWriter::refuse(const GroupStep& s) const {
  fail("{} ({}) would read inside the loop what is known after it", graph::name(s.kind), called(s.output));
}

void TileWriter::name_after(int v, int t) {
  if (steps_.values[v].tensor >= 0) name(t, called(v));
}

std::array<int, 3> TileWriter::map_of(int v) const {
  std::array<int, 3> map{-1, -1, -1};
  for (int g = 0; g < 3; ++g)
    if (tiles_.grid[g].blocks > 1)
      for (int axis : tiles_.grid[g].axes)
        if (const int d = axes_.dim(v, axis); d >= 0) map[g] = d;
  return map;
}

graph::Shape TileWriter::covered(int v, graph::Shape s) const {
  for (std::size_t d = 0; d < s.size(); ++d)
    if (const auto at = tiles_.extents.find(axes_.of[v][d]); at != tiles_.extents.end() && s[d] > 1) s[d] = at->second;
  return s;
}

int TileWriter::cut_by_loop(int v) const {
  if (tiles_.loop == 1) return -1;
  return has_inner_loop() ? axes_.dim(v, tiles_.inner_axis) : loop_dim(v);
}

void TileWriter::load(int v) {
  if (deferred_[v].tile >= 0 || !steps_.values[v].loaded) return;
  graph::BlockOp op{.kind = graph::OpKind::input};
  op.map = map_of(v), op.loop_dim = cut_by_loop(v);
  if (graph::Shape whole = covered(v, shape(v)); whole != shape(v)) op.attributes.sizes = std::move(whole);
  const int tensor = steps_.values[v].tensor;
  if (tensor < 0) fault("a kernel loads value {}, which is no tensor", v);
  const auto at = std::ranges::find(body_.loads, tensor, &SeenTensor::tensor);
  op.kernel_tensor = static_cast<int>(at - body_.loads.begin());
  if (at == body_.loads.end()) body_.loads.push_back({tensor, shape(v)});
  const auto same = std::ranges::find_if(body_.block.ops, [&](const graph::BlockOp& other) {
    return other.kind == graph::OpKind::input && other.kernel_tensor == op.kernel_tensor && other.map == op.map &&
           other.loop_dim == op.loop_dim && other.attributes == op.attributes;
  });
  const bool is_new = same == body_.block.ops.end();  // else the tile is loaded for another step
  op.outputs = is_new ? std::vector{tile(steps_.values[v].dtype, called(v) + "_tile")} : same->outputs;
  deferred_[v] = {.tile = op.outputs[0], .varies = loop_dim(v) >= 0, .inner = is_inner(v)};
  if (is_new) body_.block.ops.push_back(op);
}

void TileWriter::store(int v, int t) {
  if (steps_.values[v].tensor < 0) fault("a kernel stores value {}, which is no tensor", v);
  if (deferred_[v].varies) fail("{} would be stored from inside the loop", called(v));
  graph::BlockOp op{.kind = graph::OpKind::output};
  op.inputs = {rounded(t, v)}, op.map = map_of(v);
  for (int g = 0; g < 3; ++g)
    if (op.map[g] < 0 && tiles_.grid[g].blocks > 1) fail("{} lacks the dimension that blocks share", called(v));
  if (covered(v, shape(v)) != shape(v)) op.attributes.sizes = shape(v);
  for (const OutputSlice& s : slices(v)) {
    op.kernel_tensor = static_cast<int>(body_.stores.size());
    op.attributes.dim = s.dim, op.attributes.start = s.start, op.attributes.end = s.end;
    graph::Shape stored = shape(v);
    if (s.dim >= 0) stored[s.dim] = s.end - s.start;
    body_.stores.push_back({s.tensor, stored});
    body_.block.ops.push_back(op);
  }
}

std::vector<OutputSlice> TileWriter::slices(int v) const {
  const auto found = steps_.slices.find(v);
  const std::vector<OutputSlice> all{{steps_.values[v].tensor, -1, 0, 0}};
  if (found == steps_.slices.end()) return all;
  for (const OutputSlice& s : found->second) {
    std::int64_t tile = covered(v, shape(v))[s.dim];
    for (const GridCut& c : tiles_.grid)
      if (std::ranges::count(c.axes, axes_.of[v][s.dim]) > 0) tile /= c.blocks;
    if (s.start % tile != 0 || s.end % tile != 0) return all;
  }
  return found->second;
}

void TileWriter::store_partial(int at, int t) {
  const PartialResult& p = body_.partials[at];
  graph::Shape shape{1};
  const graph::Shape whole = covered(p.value, p.shape);
  for (std::size_t d = 0; d < whole.size(); ++d) {
    std::int64_t extent = whole[d];
    for (const GridCut& c : tiles_.grid)
      if (extent > 1 && std::ranges::count(c.axes, axes_.of[p.value][d]) > 0) extent /= c.blocks;
    shape.push_back(extent);
  }
  graph::BlockOp op{.kind = graph::OpKind::output};
  op.inputs = {emit(graph::OpKind::expand, {t}, {.sizes = shape})};
  op.map = map_of(p.value), op.kernel_tensor = at;
  for (int g = 0; g < 3; ++g) {
    if (op.map[g] >= 0) ++op.map[g];
    if (g == tiles_.split)
      op.map[g] = 0;
    else if (op.map[g] < 0 && tiles_.grid[g].blocks > 1)
      fail("a part of {} lacks the dimension that blocks share", called(p.value));
  }
  if (whole != p.shape) {
    op.attributes.sizes = p.shape;
    op.attributes.sizes.insert(op.attributes.sizes.begin(), tiles_.grid[tiles_.split].blocks);
  }
  body_.block.ops.push_back(op);
}

}  // namespace zellige::candidate
