// What a multiprocessor holds of a kernel: the number of its blocks, and whether its threads hold rows.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// Returns whether the kernel's rows go through registers (selection/row_registers.hpp). Its loads are then all in flight together.
bool holds_rows(const Kernel&);

/// Returns how many blocks of `threads` threads fit on a multiprocessor at a time, as limited by registers,
/// threads and shared memory; at least 1.
int blocks_together(const Kernel&, const target::Target&, std::int64_t threads);

}  // namespace zellige::kernel
