// What an operator makes is written where it is wanted, and not copied there: in the shape that the caller gets, and, by a custom
// operator, into the part of an input's memory that slice_scatter puts it in.
//
//   custom -> t -> reshape -> slice_scatter of cache, in place        t is a view of the cache from its start on; no kernel but custom's
#pragma once
#include <set>
#include <vector>

#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// A tensor whose memory is that of one that the caller gets, which is a permuted or reshaped view of it.
struct WrittenAs {
  int tensor = -1;
  graph::Strides strides;  // of the tensor, in the caller's memory
  int view = -1;           // the operator that makes what the caller gets
};
/// At most one of each tensor; what else the caller gets as a view is copied.
std::vector<WrittenAs> written_as(const graph::KernelGraph&);

/// Makes views of such tensors. Gives the operators that have nothing left to do. `order` is the one in which operators run.
std::set<int> write_through(Program&, const graph::KernelGraph&, const std::vector<int>& order,
                            const target::Target&);

}  // namespace zellige::plan
