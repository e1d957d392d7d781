// Lowers the work of one loop nest of a kernel to a linear list of instructions (`Item`): reads with their widths,
// elementwise operators, branches, bounds checks and stores.
//
//   for (const Item& item : evaluate(plan, steps)) ...   // all steps have the same thread-value layout
//
// The nest is the loop in which each thread goes through its elements of that layout. The emitter prints the items
// (expression.cpp, evaluate_text.cpp) and the prediction of counters counts them (shared_access.cpp), so that both
// agree.
//
// A value is evaluated once for each coordinate at which it is needed. It is evaluated again within another bounds
// check or another branch of a concatenation. A value that is constant along the loop, such as the mean of the row
// along which the loop runs, is invariant: it is evaluated before the loop.
#pragma once
#include "kernel/item.hpp"
#include "kernel/nests.hpp"

namespace zellige::kernel {

/// Returns the instructions of the loop nest that evaluates these steps, all of which have the same thread-value layout.
/// The nest of a matmul by scalar dot products has K as an additional last dimension.
std::vector<Item> evaluate(const Kernel&, StepSpan);

}  // namespace zellige::kernel
