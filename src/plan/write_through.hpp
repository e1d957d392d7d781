// What a custom operator makes is written where it is wanted, and not copied there: in the shape that the caller gets, and into the
// part of an input's memory that slice_scatter puts it in.
//
//   custom -> t -> reshape -> slice_scatter of cache, in place        t is a view of the cache from its start on; no kernel but custom's
#pragma once
#include <set>
#include <vector>

#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Makes views of such tensors. Gives the operators that have nothing left to do. `order` is the one in which operators run.
std::set<int> write_through(Program&, const graph::KernelGraph&, const std::vector<int>& order,
                            const target::Target&);

}  // namespace zellige::plan
