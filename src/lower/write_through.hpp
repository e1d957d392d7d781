// Output aliasing: lets an operator write its result directly into the memory where the result is needed, so
// that no kernel copies it. There are two cases. If an output of the graph is a reshape or permute of the
// result, the operator writes into the output's memory. If an in-place slice_scatter stores the result in a
// part of an input, the operator writes into that part.
//
//   // t becomes a view of the overwritten part of the cache; only the custom operator needs a kernel:
//   custom -> t -> reshape -> slice_scatter of cache, in place
#pragma once
#include <set>
#include <vector>

#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::lower {

/// A tensor that is stored in the memory of an output of the graph; the output is a reshape or permute of it.
struct WrittenAs {
  int tensor = -1;
  graph::Strides strides;  // of the tensor within the output's memory
  int view = -1;           // index of the operator whose result is the output
};
/// Returns the tensors that can be stored in the memory of an output of the graph. If several outputs are reshapes or
/// permutes of the same tensor, the tensor is stored in the memory of the first one, and the other outputs are copies.
std::vector<WrittenAs> written_as(const graph::KernelGraph&);

/// Makes tensors views of their destination, so that the operators that compute them write there directly. A tensor of
/// written_as() becomes a view of the output. A tensor that an in-place slice_scatter stores becomes a view of the part
/// that is overwritten, unless another operator depends on the tensor or on the old contents. `order` is the execution
/// order of the operators. Returns the operators that need no kernel because of this: these slice_scatter operators,
/// and reshapes and permutes of the values that they store.
std::set<int> write_through(tile::TilePrograms&, const graph::KernelGraph&, const std::vector<int>& order,
                            const target::Target&);

}  // namespace zellige::lower
