// Output aliasing: writes an operator's result where it is wanted instead of copying it there: in the shape
// of an output, and, from a custom operator, into the part of an input's memory in which slice_scatter puts
// it.
//
//   custom -> t -> reshape -> slice_scatter of cache, in place        t is a view of the cache from its start on; only custom's kernel runs
#pragma once
#include <set>
#include <vector>

#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// A tensor that is stored in an output's memory, of which the output is a permuted or reshaped view.
struct WrittenAs {
  int tensor = -1;
  graph::Strides strides;  // of the tensor, in the output's memory
  int view = -1;           // the operator that produces the output
};
/// At most one per tensor; other outputs that are views are copied.
std::vector<WrittenAs> written_as(const graph::KernelGraph&);

/// Makes views of such tensors. Returns the operators that are no longer needed. `order` is the execution
/// order.
std::set<int> write_through(Program&, const graph::KernelGraph&, const std::vector<int>& order,
                            const target::Target&);

}  // namespace zellige::plan
