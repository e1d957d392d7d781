#include "plan/registers.hpp"

#include <algorithm>

#include "graph/reductions.hpp"
#include "kernel/operand_loads.hpp"
#include "selection/select.hpp"

namespace zellige::plan {
namespace {

/// Returns the greatest number of registers in which a thread holds rows (to_registers) at a time. A value that takes
/// the place of one that no later task reads needs no further registers.
std::int64_t live_registers(const kernel::Kernel& kernel, const selection::Tasks& all) {
  const int tasks = static_cast<int>(all.size());
  std::vector<std::int64_t> live(all.size());  // after each task
  for (int t = 0; t < tasks; ++t) {
    const kernel::Context& c = kernel.layout_of(all[t]);
    if (all[t].kind != kernel::WorkKind::to_registers || c.row) continue;
    int last = t;
    for (int reader = t + 1; reader < tasks; ++reader)
      if (std::ranges::count(all[reader].after_same, t) > 0) last = reader;
    for (int now = t; now < last; ++now) live[now] += c.values();
  }
  return live.empty() ? 0 : std::ranges::max(live);
}

// Accumulator registers per thread above which a matmul is sliced, and the number that a slice may have.
constexpr std::int64_t max_registers = 96, wanted_registers = 64;

/// Returns the smallest number of slices into which N can be divided such that each slice has at most 64
/// (wanted_registers) accumulator registers per thread, and every warp has whole instruction tiles. Returns
/// 1 if there is no such number, or if the matmul needs at most 96 (max_registers) and is not sliced.
int slices_for(const kernel::MatmulChoice& m) {
  const std::int64_t registers = selection::accumulator_registers(m, m.warps);
  const std::int64_t unit = m.row->n * kernel::tiles_in_unit(*m.row);
  if (registers <= max_registers || m.n % unit != 0) return 1;
  const std::int64_t units = m.n / unit;
  for (std::int64_t s = 2; s <= units / m.warps.n; ++s)
    if (units % (s * m.warps.n) == 0 && (registers + s - 1) / s <= wanted_registers) return static_cast<int>(s);
  return 1;
}

/// Returns whether the task (the work of a step) moves accumulators out of registers immediately: to shared
/// memory, to global memory, or into a reduction.
bool leaves_at_once(const selection::WorkItem& t) {
  return t.kind == kernel::WorkKind::to_shared || t.kind == kernel::WorkKind::reduce ||
         (t.kind == kernel::WorkKind::to_global && t.tensor < 0);
}

/// Slices the matmul task `mma` of a phase (the tasks between two barriers), and makes the tasks that read
/// its accumulators adjacent to it. Changes nothing if one of these tasks cannot run slice by slice.
void slice_phase(kernel::Kernel& kernel, const selection::Tasks& tasks, selection::Phase& phase, int mma) {
  const selection::WorkItem& product = tasks[mma];
  const int context = product.context;
  std::vector<int> together{mma};
  for (int t = 0; t < static_cast<int>(tasks.size()); ++t) {
    const selection::WorkItem& task = tasks[t];
    if (t == mma || task.context != context || task.kind == kernel::WorkKind::finish) continue;
    if (!leaves_at_once(task) || std::ranges::count(phase, t) == 0) return;
  }
  std::vector<int> rest;
  for (int t : phase) {
    if (t == mma) continue;
    const selection::WorkItem& task = tasks[t];
    (task.context == context && task.kind != kernel::WorkKind::finish ? together : rest).push_back(t);
  }
  // Tasks on which the sliced tasks depend come before them, tasks that depend on them after.
  std::vector<int> first, last;
  for (int t : rest) {
    const bool after = std::ranges::any_of(
        tasks[t].after_same, [&](int w) { return std::ranges::count(together, w) + std::ranges::count(last, w) > 0; });
    (after ? last : first).push_back(t);
  }
  for (int t : together)
    for (int w : tasks[t].after_same)
      if (std::ranges::count(last, w) > 0) return;
  const int slices = slices_for(product.matmul);
  if (slices == 1) return;
  const kernel::Context& whole = kernel.rmem[context].layout;
  kernel.rmem[context].layout = kernel::accumulators(whole.domain, kernel::warps(whole), *whole.row, slices);
  phase = first;
  phase.insert(phase.end(), together.begin(), together.end());
  phase.insert(phase.end(), last.begin(), last.end());
}

}  // namespace

std::int64_t registers_of_thread(const kernel::Kernel& kernel, const selection::Tasks& tasks,
                                 const target::Target& target) {
  // Registers for everything except accumulators and operands. With 8 x 8 accumulators per thread a limit of 128
  // registers is enough: ptxas (CUDA 13.0) then spills only addresses of copies, which are read once per 2048 FMAs.
  constexpr std::int64_t others = 40, others_of_outer = 16, others_of_rows = 24;
  // A reduction keeps its sums, and a few of the elements that it reads one after another.
  constexpr std::int64_t elements_of_reduction = 8;
  const bool rows = kernel::holds_rows(kernel);  // their reductions need a register per row
  std::int64_t registers = rows ? live_registers(kernel, tasks) : 0, elements = 0, operands = 0;
  for (const selection::WorkItem& t : tasks) {
    const kernel::Context& c = kernel.layout_of(t);
    const int each = t.node >= 0 && kernel.program.nodes[t.node].dtype == graph::DType::f64 ? 2 : 1;  // of a value
    if (t.kind == kernel::WorkKind::mma || t.kind == kernel::WorkKind::accumulate) registers += c.values() * each;
    if (t.matmul.pipe() == target::Pipe::fma)
      operands = std::max(operands, kernel::operand_registers(t.matmul, t.matmul.warps));
    if (t.kind != kernel::WorkKind::reduce) continue;
    if (rows)  // a carrier has two numbers
      registers += c.steps(1) * (graph::monoid_of(kernel.program.nodes[t.node].op).carrier.empty() ? 1 : 2);
    else
      elements = std::max(elements, std::min(c.values(), elements_of_reduction) * each);
  }
  registers += elements + (operands > 0 ? operands + others_of_outer
                           : std::ranges::find(kernel.program.nodes, tile::NodeKind::matmul, &tile::Node::kind) ==
                                   kernel.program.nodes.end()
                               ? others_of_rows
                               : others);
  return std::clamp<std::int64_t>(registers, 32, target.registers_per_thread);
}

void bound_registers(kernel::Kernel& kernel, const target::Target& target) {
  const bool outer =
      kernel::find_work(kernel, [](const kernel::Work& w) { return w.matmul.pipe() == target::Pipe::fma; });
  const int blocks = kernel::blocks_together(kernel, target, kernel.program.threads());
  if (outer && !kernel.warp_specialized() && blocks > 1) kernel.together = blocks;
}

void slice_fragments(kernel::Kernel& kernel, const selection::Tasks& tasks, selection::PhasedTasks& phases) {
  for (auto* section : {&phases.inside, &phases.after})
    for (selection::Phase& phase : *section)
      for (int t : selection::Phase(phase)) {
        const selection::WorkItem& task = tasks[t];
        if (task.kind == kernel::WorkKind::mma && !kernel.program.nodes[task.node].carried &&
            !kernel.has_fragments(task.node) && kernel.layout_of(task).repeats() == 1)
          slice_phase(kernel, tasks, phase, t);
      }
}

}  // namespace zellige::plan
