#include "plan/registers.hpp"

#include <algorithm>

#include "graph/reductions.hpp"
#include "kernel/operand_loads.hpp"

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
  for (const selection::Task& t : tasks) {
    const kernel::Context& c = kernel.layout_of(t);
    if (t.kind == kernel::WorkKind::mma || t.kind == kernel::WorkKind::accumulate) registers += c.values();
    if (t.matmul.pipe() == target::Pipe::fma)
      operands = std::max(operands, kernel::operand_registers(t.matmul, t.matmul.warps));
    if (t.kind != kernel::WorkKind::reduce) continue;
    if (rows)  // a carrier has two numbers
      registers += c.steps(1) * (graph::monoid_of(kernel.program.nodes[t.node].op).carrier.empty() ? 1 : 2);
    else
      elements = std::max(elements, std::min(c.values(), elements_of_reduction));
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

}  // namespace zellige::plan
