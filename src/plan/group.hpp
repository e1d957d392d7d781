// Groups nodes that are evaluated together in one thread-value layout, and decides which values leave
// registers.
//
// Elementwise nodes are never stored (share.hpp inserts a `round` after those that must be): users evaluate
// them from the nearest values that are (loads, accumulators, reductions). The nodes that must be stored are
// the *roots*: matmul operands, reductions, accumulators, stores. A root is evaluated in a context in which a
// value of its own shape is in registers, if there is one, else in a blocked layout. So a chain after
// a matmul runs on the accumulators, two matmuls of one layout are added in registers, and P = exp(Q K) goes
// from accumulators to A fragments. A value read in a context other than its own is written to shared memory
// once.
// Before: select, layouts. After: contexts, buffers, tasks and their dependences; `same thread` is
// distinguished from `other thread` by evaluating the layouts.
#pragma once
#include "plan/direct.hpp"

namespace zellige::plan {

void group(KernelPlan&, const Program&, const target::Target&, Loads = Loads::as_fits);

}  // namespace zellige::plan
