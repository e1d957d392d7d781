// Chooses the memory layout (strides) of an intermediate tensor so that the views of it need no copy. Strides
// other than row-major ones are set if, on a row-major tensor, one of the views would need a copy, or if
// the last view is an output of the graph.
//
//   heads (8, 2048, 128) -> permute -> (2048, 8, 128) -> reshape -> (2048, 1024)      heads gets strides (128, 1024, 1)
#pragma once
#include <functional>

#include "rewrite/graph_words.hpp"

namespace zellige::rewrite {

/// Returns strides for the tensor with which none of its views needs a copy. Returns empty strides in these cases:
/// row-major memory needs no copy either; the tensor has strides already or is an output; no strides avoid the copy.
Strides lay_out(const KernelGraph&, int tensor);

/// Returns the strides of a tensor: its own if it has any; those that follow from its operand's if it is a view, or
/// row-major ones if that view needs a copy; otherwise `memory` of its number.
Strides strides_of(const KernelGraph&, int tensor, const std::function<Strides(int tensor)>& memory);

/// Returns whether the tensor is a view of windows (OpKind::unfold), which no strides express.
bool shows_windows(const KernelGraph&, int tensor);

}  // namespace zellige::rewrite
