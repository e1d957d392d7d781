// Proves that every thread-value layout of a kernel is one for which the emitter prints loops, and that each work runs over
// all of its tile. Of a layout only its parameters are taken (threads, vector, order, warps, instruction): the layout that
// they make is built again and compared, so that no stride or extent can say anything else.
//
//   layout t1 (128,128) (256,(8,8),1):(8@0,(1@0,2048@0),_0) in ((8,16,128)):((1@1,8@1,1@0))
//   // is blocked_layout({128, 128}, {1, 0}, 8, 256): each element once; half the chunks, or a stride of 0, is refused
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::verify {

/// Throws Rejected unless each layout is a blocked layout, one of accumulators, one of the summands of a reduction, or one of
/// the rows of another layout of the kernel. Of a source: the planner has no other way to make layouts.
void verify_forms(const kernel::Kernel&);

/// Throws Rejected unless the works of a layout are on tiles of its shape, by the number of threads that carry out
/// their steps, no value is in two layouts, and all steps that do the same with a value do it in the same way.
void verify_layouts(const kernel::Kernel&);

}  // namespace zellige::verify
