#include "plan/pipeline.hpp"

#include <algorithm>

#include "kernel/evaluation.hpp"
#include "plan/barriers.hpp"
#include "plan/loop_parts.hpp"

namespace zellige::plan {
namespace {

/// Returns the tasks of a phase (work between two barriers) in the order in which they are emitted. Tasks that can
/// share a loop nest become adjacent, so that common values are evaluated once. Reductions over lanes become adjacent
/// as well, so that the loads of one reduction do not wait for the store of another reduction.
std::vector<int> side_by_side(const kernel::Kernel& kernel, const selection::Tasks& all, std::vector<int> tasks) {
  std::vector<int> result;
  while (!tasks.empty()) {
    const auto joins = [&](int t) {
      const selection::WorkItem &task = all[t], &last = all[result.back()];
      const bool together =
                     kernel::in_nest(kernel, task) && kernel::in_nest(kernel, last) && task.context == last.context,
                 sums = task.kind == kernel::WorkKind::reduce && last.kind == kernel::WorkKind::reduce;
      return (together || sums) &&
             std::ranges::none_of(task.after_same, [&](int t) { return std::ranges::count(tasks, t) > 0; });
    };
    auto next = result.empty() ? tasks.end() : std::ranges::find_if(tasks, joins);
    if (next == tasks.end()) next = tasks.begin();
    result.push_back(*next);
    tasks.erase(next);
  }
  return result;
}

/// Splits the tasks of one section (before, inside or after the loop) into phases that are separated by
/// barriers, and returns the tasks of each phase in order. Uses the least possible number of phases; among
/// these orders, prefers one that needs the least shared memory at a time.
std::vector<selection::Phase> phases(const kernel::Kernel& kernel, const selection::Tasks& all,
                                     const std::vector<int>& tasks) {
  std::vector<int> local(all.size(), -1);
  for (std::size_t i = 0; i < tasks.size(); ++i) local[tasks[i]] = static_cast<int>(i);
  std::vector<TaskToOrder> problem;
  for (int t : tasks) {
    TaskToOrder work;
    for (int a : all[t].after)
      if (local[a] >= 0) work.after.push_back(local[a]);
    for (int a : all[t].after_same)
      if (local[a] >= 0) work.after_same.push_back(local[a]);
    const int b = all[t].kind == kernel::WorkKind::to_global ? -1 : all[t].tensor;
    work.produces = b >= 0 ? kernel.tensors[b].bytes() : 0;
    problem.push_back(std::move(work));
  }
  std::vector<selection::Phase> result;
  if (tasks.empty()) return result;
  for (const auto& phase : order_tasks(problem).phases) {
    std::vector<int> global;
    for (int i : phase) global.push_back(tasks[i]);
    // Copies start first, to overlap with the rest of the phase.
    std::stable_partition(global.begin(), global.end(), [&](int t) { return kernel::is_global_load(all[t].kind); });
    result.push_back(side_by_side(kernel, all, std::move(global)));
  }
  return result;
}

/// Moves the loads of all phases to the start of the first of them.
void start_copies(const selection::Tasks& all, std::vector<selection::Phase>& phases) {
  selection::Phase first;
  for (selection::Phase& phase : phases) {
    const auto rest =
        std::stable_partition(phase.begin(), phase.end(), [&](int t) { return kernel::is_global_load(all[t].kind); });
    first.insert(first.end(), phase.begin(), rest);
    phase.erase(phase.begin(), rest);
  }
  phases.front().insert(phases.front().begin(), first.begin(), first.end());
}

/// Returns whether the task is a part of split-K's exchange, which follows the loop at once and is in no phase.
bool is_exchange(const selection::WorkItem& t) {
  return t.kind == kernel::WorkKind::to_cluster || t.kind == kernel::WorkKind::from_cluster;
}

constexpr int max_ring_stages = 10;

/// Returns the number of stages of a TMA producer's ring: the most that fit in shared memory. There are at least two if
/// the loop has two iterations, because the consumer releases a stage only after it has acquired the next one.
///
/// `stage_bytes` is the size of one stage, `other_bytes` that of all other buffers. The other buffers reuse
/// the ring's memory after the loop, unless the next tile is being loaded there (persistent blocks) or
/// other blocks of the cluster write to them.
int ring_depth(const kernel::Kernel& kernel, const selection::Tasks& tasks, const target::Target& target,
               std::int64_t stage_bytes, std::int64_t other_bytes) {
  constexpr std::int64_t barriers = 1024;
  const bool one_tile = kernel.blocks == 0 || kernel.blocks == kernel.program.grid.count() * kernel.parts_of_loop();
  std::int64_t reserved = one_tile ? 0 : other_bytes;
  for (const selection::WorkItem& t :
       tasks)  // other blocks of the cluster write to these buffers while the loop is running
    if (one_tile && t.kind == kernel::WorkKind::to_cluster) reserved += kernel.tensors[t.tensor].bytes();
  const std::int64_t room = target.shared_per_block - barriers - reserved;
  const std::int64_t limit =
      one_tile ? std::min<std::int64_t>(max_ring_stages, kernel.iterations_per_block()) : max_ring_stages;
  return static_cast<int>(std::clamp<std::int64_t>(room / stage_bytes, std::min<std::int64_t>(2, limit), limit));
}

/// Returns the number of stages (buffers) for the tiles that the loop loads by cp.async. If each multiprocessor has one
/// block and the tiles of all iterations (at most max_stages) fit in shared memory, this is the number of iterations.
/// Otherwise it is the least number with which the loads in flight of all blocks of a multiprocessor hide the latency of
/// global memory, or the number that fits in shared memory if that is less. The bytes are as those of ring_depth().
int copy_stages(const tile::TileProgram& p, const target::Target& target, std::int64_t stage_bytes,
                std::int64_t other_bytes) {
  const std::int64_t blocks =
      std::clamp<std::int64_t>(tile::ceil_div(p.grid.count(), target.multiprocessors), 1,
                               std::max<std::int64_t>(1, target.threads_per_multiprocessor / p.threads()));
  const auto fits = [&](std::int64_t stages, std::int64_t resident) {
    const std::int64_t bytes = stages * stage_bytes + other_bytes;
    return (bytes + target.shared_reserved_per_block) * resident <= target.shared_per_multiprocessor &&
           bytes <= target.shared_per_block;
  };
  // A loop whose iterations all fit is prefetched completely, so that no stage is refilled. With two blocks
  // per multiprocessor this was slower: they hide each other's latency already (docs/log.md).
  if (blocks == 1 && p.loop <= target.costs.max_stages && fits(p.loop, 1)) return static_cast<int>(p.loop);
  const int limit = static_cast<int>(std::min<std::int64_t>(target.costs.max_stages, p.loop));
  int best = 1;
  for (int s = 2; s <= limit; ++s) {
    if (!fits(s, s <= 3 ? 1 : std::min<std::int64_t>(blocks, 4))) break;
    best = s;
    if (s >= 3 && (s - 1) * stage_bytes * std::min<std::int64_t>(blocks, 4) >= target.costs.bytes_in_flight) break;
  }
  return best;
}

/// Returns the size of a stage of the tensors that these tasks load in each iteration.
std::int64_t bytes_of_stage(const kernel::Kernel& kernel, const selection::Tasks& tasks,
                            const std::vector<int>& copied_each) {
  std::int64_t bytes = 0;
  for (int t : copied_each) bytes += kernel.tensors[tasks[t].tensor].stage_step;
  return bytes;
}

/// Returns whether a TMA producer fills the tensors that these tasks load in each iteration.
bool fills_ring_by_tma(const selection::Tasks& tasks, const std::vector<int>& copied_each) {
  return !copied_each.empty() && tasks[copied_each.front()].copy.by_tensor_map();
}

}  // namespace

selection::PhasedTasks pipeline(kernel::Kernel& kernel, const selection::Tasks& tasks, const target::Target& target,
                                Copies starts, Blocks blocks) {
  kernel.blocks =
      blocks == Blocks::a_tile ? 0 : std::min<std::int64_t>(kernel.program.grid.count(), target.multiprocessors);
  if (blocks == Blocks::pairs) kernel.cluster = 2, kernel.blocks -= kernel.blocks % 2;
  if (kernel.split_k) kernel.blocks = kernel.program.grid.count() * kernel.cluster;
  selection::PhasedTasks result;
  const tile::Sections sections(kernel.program);
  std::vector<int> before, inside, after;
  for (int t = 0; t < static_cast<int>(tasks.size()); ++t) {
    const tile::Section section = kernel::section_of(tasks[t], sections);
    const bool in_advance = tasks[t].kind == kernel::WorkKind::copy_in && section != tile::Section::after;
    if (in_advance)
      (section == tile::Section::before ? result.copied_once : result.copied_each).push_back(t);
    else if (!is_exchange(tasks[t]))
      (section == tile::Section::before ? before : section == tile::Section::inside ? inside : after).push_back(t);
  }
  result.before = phases(kernel, tasks, before);
  result.inside = phases(kernel, tasks, inside);
  result.after = phases(kernel, tasks, after);
  if (starts == Copies::first && !result.after.empty()) start_copies(tasks, result.after);

  const std::vector<int>& copies = result.copied_each;
  const std::int64_t stage_bytes = bytes_of_stage(kernel, tasks, copies);
  std::int64_t other_bytes = 0;
  for (const kernel::SmemTensor& b : kernel.tensors) other_bytes += b.bytes();
  other_bytes = std::max<std::int64_t>(0, other_bytes - stage_bytes);
  const bool uses_tma = fills_ring_by_tma(tasks, copies);
  const int stages = copies.empty() ? 1
                     : uses_tma     ? ring_depth(kernel, tasks, target, stage_bytes, other_bytes)
                                    : copy_stages(kernel.program, target, stage_bytes, other_bytes);
  for (int t : copies) kernel.tensors[tasks[t].tensor].stages = stages;
  return result;
}

bool shorten_ring(kernel::Kernel& kernel, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
                  std::int64_t bytes) {
  const std::vector<int>& copies = phases.copied_each;
  if (!fills_ring_by_tma(tasks, copies)) return false;
  const std::int64_t stage_bytes = bytes_of_stage(kernel, tasks, copies);
  const auto fewer = static_cast<int>((bytes + stage_bytes - 1) / stage_bytes);
  if (kernel.stages() - fewer < 2) return false;
  for (int t : copies) kernel.tensors[tasks[t].tensor].stages -= fewer;
  return true;
}

LoopBarriers loop_barriers(const kernel::Kernel& kernel, const selection::Tasks& tasks,
                           const selection::PhasedTasks& phases) {
  const auto reads = [&](const selection::Phase& phase, auto from) {  // what another thread may have written
    return std::ranges::any_of(phase, [&](int t) { return std::ranges::any_of(tasks[t].after, from); });
  };
  const tile::Sections sections(kernel.program);
  const std::vector<int>& copies = phases.copied_each;
  const auto in_advance = [&](int t) {
    return std::ranges::count(phases.copied_once, t) > 0 || std::ranges::count(copies, t) > 0;
  };
  LoopBarriers barriers;
  barriers.copies_cross =
      std::ranges::any_of(phases.inside, [&](const selection::Phase& phase) { return reads(phase, in_advance); });
  if (fills_ring_by_tma(tasks, copies)) {  // the ring's mbarriers are enough until its memory is reused
    barriers.after = true;
    return barriers;
  }
  const bool inside = !block_loop(kernel, phases, barriers.copies_cross).barriers.empty();
  barriers.before = !inside && (barriers.copies_cross || !phases.before.empty());
  const auto crosses = [&](int from) {  // a barrier before or in the loop shows what lies before it
    const tile::Section section = kernel::section_of(tasks[from], sections);
    return section == tile::Section::inside || (section == tile::Section::before && !inside && !barriers.before);
  };
  barriers.after = kernel.program.loop > 1 && !phases.after.empty() && reads(phases.after.front(), crosses);
  return barriers;
}

}  // namespace zellige::plan
