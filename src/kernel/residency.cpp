#include "kernel/residency.hpp"

#include <algorithm>

namespace zellige::kernel {

bool holds_rows(const Kernel& kernel) {
  return find_work(kernel, [&](const Work& t) {
    const bool complete = t.kind == WorkKind::finish && t.tensor < 0;
    return (complete || t.kind == WorkKind::to_registers) && !kernel.layout_of(t).row;
  });
}

int blocks_together(const Kernel& kernel, const target::Target& target, std::int64_t threads) {
  const std::int64_t registers = target.registers_per_multiprocessor / (kernel.registers * threads),
                     resident = target.threads_per_multiprocessor / threads,
                     shared =
                         target.shared_per_multiprocessor / (kernel.shared_bytes + target.shared_reserved_per_block);
  return static_cast<int>(
      std::clamp<std::int64_t>(std::min({registers, resident, shared}), 1, target.blocks_per_multiprocessor));
}

}  // namespace zellige::kernel
