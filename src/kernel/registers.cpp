#include "kernel/registers.hpp"

#include <algorithm>

namespace zellige::plan {

bool holds_rows(const Kernel& plan) {
  return find_work(plan, [&](const Work& t) {
    return t.kind == WorkKind::finish && t.buffer < 0 && !plan.contexts[t.context].row;
  });
}

int blocks_together(const Kernel& plan, const target::Target& target, std::int64_t threads) {
  const std::int64_t by_registers = target.registers_per_multiprocessor / (plan.registers * threads),
                     by_threads = target.threads_per_multiprocessor / threads,
                     by_shared = target.shared_per_multiprocessor /
                                 (plan.shared_bytes + target.shared_reserved_per_block);
  return static_cast<int>(std::clamp<std::int64_t>(std::min({by_registers, by_threads, by_shared}), 1,
                                                   target.blocks_per_multiprocessor));
}

void bound_registers(Kernel& plan, const target::Target& target) {
  const bool outer = std::ranges::any_of(plan.matmuls, [](const auto& m) { return m.second.by_threads(); });
  const int blocks = blocks_together(plan, target, plan.program.threads());
  if (outer && !plan.warp_specialized() && blocks > 1) plan.together = blocks;
}

}  // namespace zellige::plan
