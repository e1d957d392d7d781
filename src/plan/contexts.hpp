// Finds the thread-value layout (context) in which a task evaluates a value: that of an operand that is in registers,
// or a blocked layout. Each layout is once in Kernel::rmem; these functions return its index there.
#pragma once
#include "kernel/leaves.hpp"
#include "selection/task.hpp"

namespace zellige::plan {

/// Adds a tile of this layout to Kernel::rmem, unless there is one. Returns its index.
int add_context(kernel::Kernel&, kernel::Context);

/// Adds the blocked layout of a tile of shape `domain` with vectors of `vector` elements along dimension `inner`, and
/// returns its index. Halves `vector` until it divides the length of a row.
int add_blocked(kernel::Kernel&, const graph::Shape& domain, int inner, int vector);

/// Adds a blocked layout for a tile of float32 values, and returns its index. The layout has the widest vectors along
/// dimension `inner` that leave no thread idle.
int add_default_blocked(kernel::Kernel&, const graph::Shape& domain, int inner);

/// Returns the index of the thread-value layout (context) of a value from which `x` is computed and which is in
/// registers where node `reader` is evaluated. Prefers layouts of accumulators and of their row statistics. Returns -1 if
/// there is none. `domain` is the shape of `x`.
int register_context(const kernel::Kernel&, const tile::Sections&, int x, const graph::Shape& domain, int reader);

/// Returns whether the threads of a task have `leaf`, an input of the task's expression, in registers where they
/// need it: in the task's own layout, or as one value per row.
bool in_registers(const kernel::Kernel&, const tile::Sections&, const kernel::Leaf&, const selection::Task&);

}  // namespace zellige::plan
