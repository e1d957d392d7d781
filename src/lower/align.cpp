#include "lower/align.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

#include "lower/views.hpp"
#include "selection/copies.hpp"
#include "selection/layouts.hpp"

namespace zellige::lower {
namespace {

/// A copy of tensor `from` into tensor `into`, whose rows are padded.
struct LineCopy {
  int from = -1, into = -1;
};

constexpr std::int64_t min_async_bytes = 4;  // the narrowest cp.async
/// Minimum number of times an operand is read for a copy to pay if cp.async can read it 4 or 8 bytes at a time.
constexpr std::int64_t often = 4;
/// Minimum number of rounds of loads of an operand (8 loads in flight per thread) for a copy to pay in a custom
/// operator. A round takes about 0.7 us, the copying kernel 2 to 3 us.
constexpr std::int64_t min_rounds = 3;
/// Elements that a block copies, over all operands: two accesses of 16 bytes per thread.
constexpr std::int64_t elements_of_a_block = 4096;

/// Returns the view of a tensor of shape `whole` in at most about `blocks` tiles, one per block. A tile consists of
/// complete rows, or of a part of one row if rows have more than 4096 elements (elements_of_a_block). Rows run along the
/// last dimension.
tile::TileView lines_of(const graph::Shape& whole, std::int64_t blocks) {
  constexpr std::int64_t chunk = 8;  // elements; divides every padded row
  const auto last = whole.size() - 1;
  const std::int64_t chunks = whole[last] / chunk, pieces = tile::ceil_div(whole[last], elements_of_a_block);
  graph::Shape tile(whole.size(), 1), steps;
  tile[last] = chunk * tile::ceil_div(chunks, pieces);
  if (last > 0) {
    const std::int64_t lines = std::max<std::int64_t>(1, tile::ceil_div(graph::size(whole), blocks * tile[last]));
    tile[last - 1] = std::min<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(lines)), whole[last - 1]);
  }
  for (std::size_t d = 0; d <= last; ++d) steps.push_back(tile::ceil_div(whole[d], tile[d]));
  return tile::TileView::over_grid(whole, tile, steps);
}

/// Number of tiles into which a tensor is divided.
std::int64_t tiles(const tile::TileView& view) {
  std::int64_t all = 1;
  for (const tile::Cut& c : view.cuts) all *= tile::ceil_div(c.extent, c.tile);
  return all;
}

/// Returns whether load `n` of a custom operator may read a copy of its tensor with aligned rows: every tile of the copy
/// starts at an aligned address.
bool may_be_copied(const tile::TilePrograms& program, const tile::Node& n, const target::Target& target) {
  const graph::KernelTensor& t = program.tensors[n.tensor];
  if (t.strides.empty() || graph::bits(t.dtype) > 16 || std::ranges::count(t.strides, 0) > 0) return false;
  const tile::Cut& along = n.view.cuts[selection::innermost(program.shape(n.tensor), t.strides)];
  const bool moves = along.axis >= 0 || along.loop;
  return !moves || along.tile * graph::whole_bytes(n.dtype) % target.access_bytes == 0;
}

/// Returns whether a block needs at least min_rounds rounds of 8 loads per thread for the tiles of load `n`.
bool takes_long(const tile::TileProgram& p, const tile::Node& n, const target::Target& target) {
  const std::int64_t size = graph::whole_bytes(n.dtype),
                     at_a_time = selection::loads_at_a_time * p.threads() * target.access_bytes / size,
                     rounds = tile::ceil_div(graph::size(n.shape), at_a_time);
  return rounds * (n.view.iterates() ? p.loop : 1) >= min_rounds;
}

/// Returns whether every row of the tensor or view starts at a multiple of `bytes` from the start of its memory. Rows
/// run along the contiguous dimension. Returns true if the strides are not yet chosen.
bool lines_begin_at(const tile::TilePrograms& program, int tensor, std::int64_t bytes) {
  const graph::KernelTensor& t = program.tensors[tensor];
  if (t.strides.empty()) return true;
  const graph::Shape& shape = program.shape(tensor);
  const graph::Shape starts = program.starts(tensor);
  const std::int64_t size = graph::whole_bytes(t.dtype);
  const int inner = selection::innermost(shape, t.strides);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (starts[d] * t.strides[d] * size % bytes != 0) return false;
    if (shape[d] == 1) continue;
    if (static_cast<int>(d) == inner ? t.strides[d] != 1 : t.strides[d] * size % bytes != 0) return false;
  }
  return true;
}

/// Returns the kernel NAME_copy, which makes all the given copies of tensors.
tile::TileProgram copy_lines(const tile::TilePrograms& program, std::vector<LineCopy> copies, const std::string& name) {
  // Constant inputs first: they may be copied before earlier kernels have ended.
  std::stable_partition(copies.begin(), copies.end(),
                        [&](const LineCopy& c) { return program.tensors[c.from].constant; });
  std::int64_t all = 0, blocks = 1;
  for (const LineCopy& c : copies) all += graph::size(program.shape(c.into));
  std::vector<tile::TileView> views;
  for (const LineCopy& c : copies) {
    views.push_back(lines_of(program.shape(c.into), tile::ceil_div(all, elements_of_a_block)));
    blocks = std::max(blocks, tiles(views.back()));
  }
  tile::TileProgram p;
  p.name = name + "_copy";
  p.block = {256, 1, 1};
  p.grid = {blocks, 1, 1};
  std::vector<tile::Node> stores;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const auto [from, into] = copies[i];
    const graph::Shape shape = program.shape(from);
    if (tiles(views[i]) < blocks) {
      // The surplus blocks get tiles beyond the end of the tensor, and copy nothing: adjacent to it along the slowest
      // dimension that is split, or along the first one if none is.
      std::vector<tile::Cut>& cuts = views[i].cuts;
      const auto slowest = std::ranges::find_if(cuts, [](const tile::Cut& s) { return s.axis >= 0; });
      tile::Cut& s = slowest == cuts.end() ? cuts.front() : *slowest;
      s.axis = 0, s.mod = 0, s.overhang = true;
    }
    tile::Node load = program.access(tile::NodeKind::load, from, views[i]);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      tile::Cut& s = load.view.cuts[d];
      s.overhang = s.overhang || tile::ceil_div(s.extent, s.tile) * s.tile != shape[d];
      s.extent = shape[d];
    }
    load.view.move(program.starts(from));
    stores.push_back(program.access(tile::NodeKind::store, into, views[i]));
    stores.back().in = {p.add(std::move(load))};
  }
  for (tile::Node& n : stores) p.add(std::move(n));
  return p;
}

/// Returns whether a copy is likely to pay of an operand of which the kernel `p` reads each element `times` times.
bool likely_to_pay(const tile::TilePrograms& program, const tile::TileProgram& p, const tile::Node& n,
                   const target::Target& target) {
  const std::int64_t read = p.grid.count() * (n.view.iterates() ? p.loop : 1) * graph::size(n.shape);
  const std::int64_t times = tile::ceil_div(read, graph::size(program.shape(n.tensor)));
  return takes_long(p, n, target) && (times >= often || !lines_begin_at(program, n.tensor, min_async_bytes));
}

/// Returns the tensor that a matmul should read instead of its operand `tensor`, whose rows are padded to a multiple of 16
/// bytes; adds the copy to `copies`, unless the program has it already. `name` is the kernel's, for a note.
int aligned_operand(tile::TilePrograms& program, int tensor, std::vector<LineCopy>& copies, const std::string& name,
                    const target::Target& target) {
  if (const auto made = program.aligned.find(tensor); made != program.aligned.end()) return made->second;
  const graph::KernelTensor t = program.tensors[tensor];
  const graph::Shape shape = program.shape(tensor);
  const std::int64_t line = graph::elements_in(target.access_bytes, t.dtype);
  std::vector<int> dims(shape.size());  // dimensions by stride, those of extent 1 first, the contiguous one last
  std::iota(dims.begin(), dims.end(), 0);
  const int inner = selection::innermost(shape, t.strides);
  std::ranges::stable_sort(dims, std::greater{}, [&](int d) {
    return d == inner ? 0 : shape[d] == 1 ? std::numeric_limits<std::int64_t>::max() : t.strides[d];
  });
  graph::Shape padded = permuted(shape, dims);
  padded.back() = tile::ceil_div(padded.back(), line) * line;
  const graph::Strides dense = graph::row_major(padded);
  graph::Strides strides(shape.size());
  for (std::size_t d = 0; d < dims.size(); ++d) strides[dims[d]] = dense[d];
  const int from = std::ranges::is_sorted(dims) ? tensor : permuted_view(program, tensor, dims, target);
  const int lines = add_tensor(program, t.dtype, padded, dense, t.name + "_lines");
  const int to = new_view(program, lines, shape, strides, graph::Shape(shape.size(), 0), t.name + "_aligned");
  program.aligned[tensor] = to;
  program.notes.push_back(
      fmt::format("{}: {} has strides {}, so that its lines begin at no multiple of {} bytes: it is copied into "
                  "strides {}, and read from there",
                  name, t.name, graph::to_string(t.strides), target.access_bytes, graph::to_string(strides)));
  copies.push_back({.from = from, .into = lines});
  return to;
}

}  // namespace

AlignedOperands align_operands(tile::TilePrograms& program, tile::TileProgram& p, std::optional<std::uint32_t> copied,
                               const target::Target& target) {
  constexpr std::uint32_t first = 1, operands = 32;
  AlignedOperands result;
  std::vector<LineCopy> copies;
  for (std::size_t i = 0, found = 0; i < p.nodes.size() && found < operands; ++i) {
    const tile::Node n = p.nodes[i];
    if (n.kind != tile::NodeKind::load || tile::number_of(n) >= 0 || n.unfolded) continue;
    const bool of_product = std::ranges::any_of(
        p.consumers(static_cast<int>(i)), [&](int reader) { return p.nodes[reader].kind == tile::NodeKind::matmul; });
    if (!of_product || !may_be_copied(program, n, target) || lines_begin_at(program, n.tensor, target.access_bytes))
      continue;
    const std::uint32_t operand = first << found++;
    result.copies.possible |= operand;
    if (copied ? (*copied & operand) == 0 : !likely_to_pay(program, p, n, target)) continue;
    result.copies.made |= operand;
    const graph::Shape starts = program.starts(n.tensor);
    const int to = aligned_operand(program, n.tensor, copies, p.name, target);
    p.nodes[i].tensor = to;
    p.nodes[i].name = program.tensors[to].name;
    for (std::size_t d = 0; d < starts.size(); ++d) p.nodes[i].view.cuts[d].offset -= starts[d];
  }
  if (!copies.empty()) result.kernel = copy_lines(program, std::move(copies), p.name);
  return result;
}

}  // namespace zellige::lower
