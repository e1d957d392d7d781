// Output aliasing: lets an operator write its result directly where it is needed, so that no kernel copies
// it. This is the memory of an output, of which the result is a reshape or permute, or the part of an input
// that slice_scatter overwrites.
//
//   // t is a view of the cache from its start on; only the kernel of the custom operator runs:
//   custom -> t -> reshape -> slice_scatter of cache, in place
#pragma once
#include <set>
#include <vector>

#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// A tensor that is stored in the memory of an output of the graph; the output is a reshape or permute of
/// it.
struct WrittenAs {
  int tensor = -1;
  graph::Strides strides;  // of the tensor within the output's memory
  int view = -1;           // index of the operator whose result is the output
};
/// Returns the tensors that can be stored in the memory of an output, each at most once. Further outputs
/// that are views of the same tensor are copied.
std::vector<WrittenAs> written_as(const graph::KernelGraph&);

/// Makes views for the tensors of written_as() and for in-place slice_scatter operators. `order` is the
/// execution order of the operators. Returns the operators that therefore need no kernel.
std::set<int> write_through(Program&, const graph::KernelGraph&, const std::vector<int>& order,
                            const target::Target&);

}  // namespace zellige::plan
