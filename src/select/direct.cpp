#include "select/direct.hpp"

#include <algorithm>

#include "select/copies.hpp"
#include "select/layouts.hpp"

namespace zellige::plan {
namespace {

/// Returns whether the threads that hold wgmma accumulators should read the tile directly from global memory:
///
/// - after the loop, if the tile is combined with the accumulators element by element;
/// - in attention (two chained matmuls), also before or inside the loop, for example as a bias of the scores.
///
/// Adjacent lanes read adjacent pairs of columns, which share 32-byte sectors. A copy would take shared memory from
/// the ring.
bool combined_with_accumulators(const Kernel& plan, const Selection& selected, const Tasks& tasks, const Node& load,
                                int gmem_inner, const LoadReads& reads) {
  if (plan.program.loop == 1 || !selected.any(&MatmulChoice::asynchronous, true)) return false;
  if (selected.any(&MatmulChoice::chained, true)) return true;
  const Sections sections(plan.program);
  return std::ranges::all_of(reads, [&](const auto& read) {
    const Task& t = tasks[read.first];
    const Context& c = plan.layout_of(t);
    return read.second && section_of(t, sections) == Section::after && c.row && c.inner() == gmem_inner &&
           load.shape == plan.program.nodes[t.node].shape;
  });
}

/// Returns whether task `t` is a reduction of the tile that needs no copy in shared memory: each element is read once
/// and adjacent threads read adjacent elements, or each thread has at most one element.
bool summed_once(const Kernel& plan, const Node& load, const Task& t, int gmem_inner) {
  const Context& c = plan.layout_of(t);
  const Node& sum = plan.program.nodes[t.node];
  if (t.kind != WorkKind::reduce || sum.kind != NodeKind::reduce || c.row || c.domain != load.shape) return false;
  const bool adjacent =
      c.lanes() == 1 && gmem_inner == c.rank() - 1 && sum.dim != gmem_inner && load.shape.back() % 32 == 0;
  return adjacent || graph::size(load.shape) <= plan.program.threads();
}

}  // namespace

bool read_in_place(const Kernel& plan, const Selection& selected, const Tasks& tasks, const Program& program,
                   const target::Target& target, int load, const LoadReads& reads, Loads loads, bool too_big) {
  const Node& n = plan.program.nodes[load];
  const int inner = innermost(program, n);
  if (combined_with_accumulators(plan, selected, tasks, n, inner, reads)) return true;
  if (plan.program.loop > 1 && loads != Loads::in_place) return false;
  if (too_big || loads == Loads::in_place) return true;
  const CopyChoice wide = widest_copy(program, n, target);
  return reads.size() == 1 && std::ranges::all_of(reads, [&](const auto& read) {
           const Task& task = tasks[read.first];
           const Context& c = plan.layout_of(task);
           const bool stores = task.kind == WorkKind::to_global && !c.row;
           const bool whole_access =
               c.inner() == inner && (read.second || n.shape[inner] == 1 || c.axes() == 1 || stores) &&
               c.vector() <= wide.vector && graph::bytes_of(c.vector(), n.dtype) == target.access_bytes;
           return whole_access || (read.second && summed_once(plan, n, tasks[read.first], inner));
         });
}

std::optional<CopyChoice> fetched(const Kernel& plan, const Tasks& tasks, const Program& program,
                                  const target::Target& target, int store) {
  const TileProgram& p = plan.program;
  const Node &s = p.nodes[store], &n = p.nodes[s.in[0]];
  if (n.kind != NodeKind::load || number_of(n) >= 0 || p.loop > 1 || n.shape != s.shape ||
      p.consumers(s.in[0]).size() != 1)
    return {};
  const int inner = innermost(program, n);
  const CopyChoice copy = anywhere(widest_copy(program, n, target), program, n, target);
  if (!copy.anywhere || innermost(program, s) != inner || widest_copy(program, s, target).vector < copy.vector ||
      n.shape[inner] % copy.vector != 0 || s.view.straddles_end(inner, copy.vector))
    return {};
  // Number of accesses in flight per thread. It is limited, because each needs more than eight registers.
  std::int64_t chunks = ceil_div(graph::size(n.shape), std::int64_t{copy.vector} * p.threads());
  for (const Task& t : tasks)
    if (t.kind == WorkKind::fetch) chunks += plan.layout_of(t).steps(0);
  return chunks > loads_at_a_time ? std::nullopt : std::optional(copy);
}

}  // namespace zellige::plan
