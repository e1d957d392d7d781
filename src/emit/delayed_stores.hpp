// Decides how the loads of several iterations of a loop nest are in flight together: the nest first computes the results
// of these iterations, and stores them afterwards.
//
//   if (reads_and_writes(items, true))          // items: the nest's loads, computations and stores
//     ... checked_by_load(plan, items) ...            // what is computed before the stores
#pragma once
#include <vector>

#include "kernel/evaluation.hpp"

namespace zellige::emit {

/// Returns whether a loop nest reads memory, writes to memory that it does not read, and has no conditions. The
/// stores of several iterations can then be delayed until after all loads of these iterations. The nest may keep values
/// in registers as well. If `guarded`, a nest that reads global memory may have bounds checks.
bool reads_and_writes(const std::vector<kernel::Item>& items, bool guarded);

/// Returns whether a nest with delayed stores delays what `item` does: it stores a value in memory. A value that the
/// nest keeps in registers is there at once.
bool is_delayed(const kernel::Item& item);

/// Returns the loads and computations of a nest whose stores are delayed, such that each load checks its own bounds and
/// yields 0, or an element of the last row, out of bounds. A bounds check around them would be a branch, which loads of
/// later iterations wait for.
/// Returns `items` unchanged if a value out of bounds must not be loaded or computed:
///
/// - a load from shared memory, where such elements may not have been written;
/// - a load at an index that is itself loaded, or at a coordinate that may lie before the tensor;
/// - a computation of integers, which may divide by zero.
std::vector<kernel::Item> checked_by_load(const kernel::Kernel&, std::vector<kernel::Item> items);

}  // namespace zellige::emit
