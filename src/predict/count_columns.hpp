// Counters of products in tensor memory (block/tensor_memory.hpp).
//
//   add(counts, counts_of_columns(columns), blocks);             // once for each block
//   add(counts, counts_of_load(columns, product), blocks);       // when the loop over K has ended
#pragma once
#include "kernel/tensor_columns.hpp"
#include "predict/predict.hpp"

namespace zellige::predict {

/// Returns what a block counts once: it initialises mbarriers, and all threads of the products read the address of the columns; they
/// synchronise before the columns are freed.
Counts counts_of_columns(const kernel::TensorColumns&);

/// Returns what a block counts for the load of a product's accumulators, 8 columns at a time, and, without sets of columns, a barrier of the
/// warpgroups that multiply together.
Counts counts_of_load(const kernel::TensorColumns&, const kernel::MatmulChoice&);

/// The same for those of all products of a kernel, in a set of columns.
Counts counts_of_set(const kernel::TensorColumns&, const kernel::Kernel&);

/// Returns what a block counts for a step of a product that warpgroups issue, by wgmma or in tensor memory.
Counts counts_of_step(const kernel::TensorColumns&, const kernel::MatmulChoice&);

}  // namespace zellige::predict
