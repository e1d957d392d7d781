#include "selection/direct.hpp"

#include <algorithm>

#include "selection/copies.hpp"
#include "selection/layouts.hpp"

namespace zellige::selection {
namespace {

/// Returns whether the threads that hold wgmma accumulators should read the tile directly from global memory:
///
/// - after the loop, if the tile is combined with the accumulators element by element;
/// - in attention (two chained matmuls), also before or inside the loop, for example as a bias of the scores.
///
/// Adjacent lanes read adjacent pairs of columns, which share 32-byte sectors. A copy would take shared memory from
/// the ring.
bool combined_with_accumulators(const kernel::Kernel& kernel, const Selection& selected, const Tasks& tasks,
                                const tile::Node& load, int gmem_inner, const LoadReads& reads) {
  if (kernel.program.loop == 1 || !selected.any(&kernel::MatmulChoice::asynchronous, true)) return false;
  if (selected.any(&kernel::MatmulChoice::chained, true)) return true;
  const tile::Sections sections(kernel.program);
  return std::ranges::all_of(reads, [&](const auto& read) {
    const Task& t = tasks[read.first];
    const kernel::Context& c = kernel.layout_of(t);
    return read.second && kernel::section_of(t, sections) == tile::Section::after && c.row && c.inner() == gmem_inner &&
           load.shape == kernel.program.nodes[t.node].shape;
  });
}

/// Returns whether task `t` is a reduction of the tile that needs no copy in shared memory: each element is read once
/// and adjacent threads read adjacent elements, or each thread has at most one element.
bool summed_once(const kernel::Kernel& kernel, const tile::Node& load, const Task& t, int gmem_inner) {
  const kernel::Context& c = kernel.layout_of(t);
  const tile::Node& sum = kernel.program.nodes[t.node];
  if (t.kind != kernel::WorkKind::reduce || sum.kind != tile::NodeKind::reduce || c.row || c.domain != load.shape)
    return false;
  const bool adjacent =
      c.lanes() == 1 && gmem_inner == c.rank() - 1 && sum.dim != gmem_inner && load.shape.back() % 32 == 0;
  return adjacent || graph::size(load.shape) <= kernel.program.threads();
}

}  // namespace

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
           const Task& task = tasks[read.first];
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
  for (const Task& t : tasks)
    if (t.kind == kernel::WorkKind::fetch) chunks += kernel.layout_of(t).steps(0);
  return chunks > loads_at_a_time ? std::nullopt : std::optional(copy);
}

}  // namespace zellige::selection
