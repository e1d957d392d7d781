// The words of src/graph that the passes of namespace fuse use without `graph::`.
#pragma once
#include "graph/graph.hpp"

namespace zellige::rewrite {

using graph::Attributes;
using graph::BlockGraph;
using graph::BlockOp;
using graph::DType;
using graph::KernelGraph;
using graph::KernelOp;
using graph::KernelTensor;
using graph::OpKind;
using graph::Shape;
using graph::Strides;

}  // namespace zellige::rewrite
