// Grouping and residence: which nodes are evaluated together, in which (thread, value) layout, and which values leave
// registers.
//
// Elementwise nodes are never stored (share.hpp puts a `round` behind those that must be): whoever needs them
// evaluates them from the nearest values that are (loads, accumulators, sums). What must be stored are the *roots*:
// matmul operands, reductions, accumulators, stores. A root is evaluated in the context in which a value of its own
// shape already lies in registers, if there is one - so a chain behind a matmul runs on the accumulators, two
// matmuls of one layout meet in an addition, P = exp(Q K) goes from accumulators to A fragments - else in a sweep. A value read in another context than its own is spilled once.
// Before: select, layouts. After: contexts, buffers, tasks and their dependencies, `same thread` told from `other
// thread` by evaluating who holds what.
#pragma once
#include "plan/direct.hpp"

namespace zellige::plan {

void group(KernelPlan&, const Program&, const target::Target&, Loads = Loads::as_fits);

}  // namespace zellige::plan
