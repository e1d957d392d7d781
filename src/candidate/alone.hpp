// Makes a separate graph of one kernel, so that it can be planned and priced alone.
#pragma once
#include "candidate/kernel.hpp"

namespace zellige::candidate {

/// Returns tensor number `tensor` of the graph, with its strides, as an input of a separate graph. A view has the
/// strides that follow from those of its operand.
graph::KernelTensor outside(const graph::KernelGraph&, int tensor);

/// Returns the kernel as a separate graph. Concatenations whose operands the kernel reads precede the kernel
/// in that graph.
graph::KernelGraph alone(const graph::KernelGraph&, const GroupKernel&);

}  // namespace zellige::candidate
