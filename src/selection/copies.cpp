#include "selection/copies.hpp"

#include <algorithm>

#include "kernel/leaves.hpp"
#include "kernel/operand_loads.hpp"
#include "selection/layouts.hpp"
#include "target/instructions.hpp"

namespace zellige::selection {
namespace {

/// Returns the target's widest cp.async for which fits(number of elements) is true. If there is none, returns the
/// widest ordinary access for which fits() and whole() are true, or a single element. whole(number of elements) says
/// whether the number divides the tile's rows: ordinary accesses, unlike cp.async, cannot be partial.
template <class Fits, class Whole>
kernel::CopyChoice first_copy(graph::DType dtype, const target::Target& target, Fits fits, Whole whole) {
  const int size = graph::whole_bytes(dtype);
  for (const Instruction* row : target::async_copies(target)) {
    const int bytes = row->c.bits / 8;
    if (bytes % size == 0 && fits(bytes / size)) return {bytes / size, bytes, row};
  }
  int bytes = target.access_bytes;
  while (bytes > size && !(fits(bytes / size) && whole(bytes / size))) bytes /= 2;
  return {bytes / size, bytes, nullptr};
}

/// Returns whether each access to `vector` neighbours along dimension `inner` of the tiles of a load or store begins at a multiple of
/// `vector` elements, by the strides of its tensor and the places of its tiles.
bool is_aligned(const tile::TilePrograms& program, const tile::Node& n, int inner, std::int64_t vector) {
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  if (tensor.strides[inner] != 1) return false;
  if (const tile::Windows* w = program.windows(n.tensor); w && w->aligned(inner) % vector != 0) return false;
  for (int d = 0; d < n.view.rank(); ++d) {
    const std::int64_t unit = d == inner ? 1 : program.stride_unit(n.tensor, d);
    if (tile::number_of(n) >= 0 && d == n.dim && (d == inner || unit % vector != 0)) return false;
    if (n.view.alignment(d) * unit % vector != 0) return false;
    if (d != inner && n.view.tile(d) > 1 && unit % vector != 0) return false;
  }
  return true;
}

/// Returns whether the threads that hold wgmma accumulators should read the tile directly from global memory:
///
/// - after the loop, if the tile is combined with the accumulators element by element;
/// - in attention (two chained matmuls), also before or inside the loop, for example as a bias of the scores;
/// - inside a loop whose products are scaled before they are summed up, as a scale.
///
/// Adjacent lanes read adjacent pairs of columns, which share 32-byte sectors. A copy would take shared memory from
/// the ring.
bool combined_with_accumulators(const kernel::Kernel& kernel, const Selection& selected, const Tasks& tasks,
                                const tile::Node& load, int gmem_inner, const LoadReads& reads) {
  if (kernel.program.loop == 1 || !selected.any(&kernel::MatmulChoice::asynchronous, true)) return false;
  if (selected.any(&kernel::MatmulChoice::chained, true)) return true;
  if (load.view.iterates() && std::ranges::none_of(selected.matmuls, [&](const auto& m) {
        return m.second.asynchronous() && kernel.program.nodes[m.first].carried;
      }))
    return true;
  const tile::Sections sections(kernel.program);
  return std::ranges::all_of(reads, [&](const auto& read) {
    const WorkItem& t = tasks[read.first];
    const kernel::Context& c = kernel.layout_of(t);
    return read.second && kernel::section_of(t, sections) == tile::Section::after && c.row && c.inner() == gmem_inner &&
           load.shape == kernel.program.nodes[t.node].shape;
  });
}

/// Returns whether task `t` is a reduction of the tile that needs no copy in shared memory: each element is read once
/// and adjacent threads read adjacent elements, or each thread has at most one element.
bool summed_once(const kernel::Kernel& kernel, const tile::Node& load, const WorkItem& t, int gmem_inner) {
  const kernel::Context& c = kernel.layout_of(t);
  const tile::Node& sum = kernel.program.nodes[t.node];
  if (t.kind != kernel::WorkKind::reduce || sum.kind != tile::NodeKind::reduce || c.row || c.domain != load.shape)
    return false;
  const bool adjacent =
      c.lanes() == 1 && gmem_inner == c.rank() - 1 && sum.dim != gmem_inner && load.shape.back() % 32 == 0;
  return adjacent || graph::size(load.shape) <= kernel.program.threads();
}

}  // namespace

kernel::CopyChoice single_copy(graph::DType dtype, const target::Target& target) {
  return first_copy(
      dtype, target, [](int elements) { return elements == 1; }, [](int) { return true; });
}

kernel::CopyChoice widest_copy(const tile::TilePrograms& program, const tile::Node& n, const target::Target& target) {
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  const int inner = innermost(program, n);
  const std::int64_t tile = n.view.tile(inner);
  return first_copy(
      tensor.dtype, target,
      [&](int elements) { return elements == 1 || (tile >= elements && is_aligned(program, n, inner, elements)); },
      [&](int elements) { return tile % elements == 0 && !n.view.straddles_end(inner, elements); });
}

kernel::CopyChoice anywhere(const kernel::CopyChoice& copy, const tile::TilePrograms& program, const tile::Node& n,
                            const target::Target& target) {
  const int size = graph::whole_bytes(n.dtype), elements = target.access_bytes / size, inner = innermost(program, n);
  const bool lines = program.tensors[n.tensor].strides[inner] == 1 && n.shape[inner] >= elements;
  if (copy.row || copy.vector > 1 || size > 2 || !lines || n.unfolded) return copy;
  return {elements, target.access_bytes, nullptr, true};
}

kernel::Context copy_context(const graph::KernelTensor& tensor, const graph::Shape& padded, int inner,
                             const kernel::CopyChoice& copy, int threads) {
  std::vector<int> order = kernel::inner_first(padded, inner);
  std::stable_sort(order.begin() + 1, order.end(), [&](int a, int b) { return tensor.strides[a] < tensor.strides[b]; });
  return kernel::blocked_layout(padded, order, copy.vector, threads);
}

bool leaves_at_once(const Selection& selected, const tile::Node& store, const kernel::Context& accumulators,
                    int gmem_inner) {
  const bool wide = accumulators.row && accumulators.row->a.bits == 32;
  const bool sectors = wide || (graph::bits(store.dtype) == 32 && selected.any(&kernel::MatmulChoice::chained, true));
  return sectors && accumulators.inner() == gmem_inner;
}

graph::Shape operand_padding(const Selection& selected, int i) {
  const tile::TileProgram& p = selected.program;
  const tile::Node& n = p.nodes[i];
  const int last = static_cast<int>(n.shape.size()) - 1;
  graph::Shape padded = n.shape;
  for (int reader : p.consumers(i)) {
    if (p.nodes[reader].kind != tile::NodeKind::matmul) continue;
    const kernel::MatmulChoice& choice = selected.matmuls.at(reader);
    if (!choice.row) continue;
    for (int side = 0; side < 2; ++side) {
      if (p.nodes[reader].in[side] != i) continue;
      const int k = side == 0 ? last : last - 1;
      const int unit = kernel::operand_unit(choice);
      padded[k] = tile::ceil_div(padded[k], unit) * unit;
      padded[n.inner] = tile::ceil_div(padded[n.inner], unit) * unit;
    }
  }
  return padded;
}

bool read_in_place(const kernel::Kernel& kernel, const Selection& selected, const Tasks& tasks,
                   const tile::TilePrograms& program, const target::Target& target, int load, const LoadReads& reads,
                   Loads loads, bool too_big) {
  const tile::Node& n = kernel.program.nodes[load];
  const int inner = innermost(program, n);
  if (combined_with_accumulators(kernel, selected, tasks, n, inner, reads)) return true;
  if (kernel.program.loop > 1 && loads != Loads::in_place) return false;
  if (too_big || loads == Loads::in_place) return true;
  const kernel::CopyChoice wide = widest_copy(program, n, target);
  return reads.size() == 1 && std::ranges::all_of(reads, [&](const auto& read) {
           const WorkItem& task = tasks[read.first];
           const kernel::Context& c = kernel.layout_of(task);
           const bool stores = task.kind == kernel::WorkKind::to_global && !c.row;
           const bool whole_access =
               c.inner() == inner && (read.second || n.shape[inner] == 1 || c.axes() == 1 || stores) &&
               c.vector() <= wide.vector && graph::bytes_of(c.vector(), n.dtype) == target.access_bytes;
           return whole_access || (read.second && summed_once(kernel, n, tasks[read.first], inner));
         });
}

std::optional<kernel::CopyChoice> fetched(const kernel::Kernel& kernel, const Tasks& tasks,
                                          const tile::TilePrograms& program, const target::Target& target, int store) {
  const tile::TileProgram& p = kernel.program;
  const tile::Node &s = p.nodes[store], &n = p.nodes[s.in[0]];
  if (n.kind != tile::NodeKind::load || tile::number_of(n) >= 0 || p.loop > 1 || n.shape != s.shape ||
      p.consumers(s.in[0]).size() != 1)
    return {};
  const int inner = innermost(program, n);
  const kernel::CopyChoice copy = anywhere(widest_copy(program, n, target), program, n, target);
  if (!copy.anywhere || innermost(program, s) != inner || widest_copy(program, s, target).vector < copy.vector ||
      n.shape[inner] % copy.vector != 0 || s.view.straddles_end(inner, copy.vector))
    return {};
  // Number of accesses in flight per thread. It is limited, because each needs more than eight registers.
  std::int64_t chunks = tile::ceil_div(graph::size(n.shape), std::int64_t{copy.vector} * p.threads());
  for (const WorkItem& t : tasks)
    if (t.kind == kernel::WorkKind::fetch) chunks += kernel.layout_of(t).steps(0);
  return chunks > loads_at_a_time ? std::nullopt : std::optional(copy);
}

bool is_scattered(int lanes, std::int64_t chunks, int bytes) {
  return lanes * bytes < 2 * target::sector_bytes && lanes < chunks;
}

std::optional<kernel::Context> row_blocked_layout(const graph::Shape& domain, int inner, int vector, int bytes,
                                                  int threads) {
  kernel::Summation s;
  s.domain = s.sums = domain;
  s.sums[inner] = 1;
  s.dim = inner, s.length = domain[inner], s.vector = vector;
  // lines: number of rows of the tile; chunks: number of chunks of `vector` elements per row.
  const std::int64_t lines = graph::size(s.sums), chunks = s.length / vector;
  if (lines == 1 || s.length % vector != 0) return {};
  using Steps = std::pair<std::int64_t, std::int64_t>;  // in total, and from row to row
  std::optional<Steps> best;
  for (int along = 1; along <= threads; along *= 2) {  // threads per row
    if (is_scattered(along, chunks, vector * bytes) || threads % along != 0) continue;
    const std::int64_t rounds = tile::ceil_div(lines, threads / along);
    const Steps steps{tile::ceil_div(chunks, along) * rounds, rounds};
    if (best && *best <= steps) continue;
    best = steps;
    s.lanes = std::min(along, target::warp_threads), s.splits = along / s.lanes, s.groups = threads / along;
  }
  const std::int64_t dealt = tile::ceil_div(lines * chunks, threads);
  if (!best || 8 * best->first > 9 * dealt) return {};
  return kernel::summands(s);
}

kernel::Context store_blocked_layout(const tile::TileProgram& p, const tile::Node& store, int inner, int vector) {
  while (vector > 1 && store.shape[inner] % vector != 0) vector /= 2;
  const bool of_lines = std::ranges::any_of(kernel::leaves(p, store.in[0], store.shape), [&](const kernel::Leaf& leaf) {
    const graph::Shape& s = p.nodes[leaf.node].shape;
    return s.size() == store.shape.size() && s[inner] == 1 && graph::size(s) > 1;
  });
  if (of_lines)
    if (auto lines = row_blocked_layout(store.shape, inner, vector, graph::whole_bytes(store.dtype), p.threads()))
      return std::move(*lines);
  return kernel::blocked_layout(store.shape, inner, vector, p.threads());
}

}  // namespace zellige::selection
