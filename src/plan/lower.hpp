// Lowering: every kernel-level operator becomes a block program, custom operators from their block graph and the
// others from a costed tile table, so that one path plans and emits them all.
// Before: a validated graph. After: only NodeKind's nodes; matmul operands in their storage type.
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

Program lower(const graph::KernelGraph&, const target::Target&);

/// A custom operator's block graph (lower_block.cpp) and one pre-defined operator (lower_kernel.cpp).
BlockProgram lower_block(const graph::KernelGraph&, const graph::KernelOp&, const std::string& name,
                         const target::Target&);
std::vector<BlockProgram> lower_kernel(const graph::KernelGraph&, const graph::KernelOp&,
                                       const std::string& name, const target::Target&);

}  // namespace zellige::plan
