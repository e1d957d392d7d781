// The products of a kernel whose accumulators are in tensor memory (block/tensor_memory.hpp): their columns, and their bytes of
// shared memory, the block's last ones.
//
//   const TensorColumns columns = tensor_columns(kernel);
//   columns.first.at(matmul)       // 0; the first column of its accumulators
//   columns.together               // 2: an instruction multiplies the rows of two warpgroups, 128
//   columns.shared_bytes()         // 144: 16 mbarriers of these, and an address
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::kernel {

struct TensorColumns {
  std::map<int, std::int64_t> first;  // by product
  std::int64_t count = 0;             // of columns
  int groups = 0;                     // warpgroups that multiply
  int together = 1;                   // an instruction multiplies the rows of this number of them
  // Sets of `count` columns each, into which one thread multiplies alternately (block/product_sets.hpp); 0: the threads that load the columns
  // issue the products, too.
  int sets = 0;

  bool none() const { return first.empty(); }
  /// Returns how many mbarriers the products commit to, besides those of channels.
  std::int64_t barriers() const { return none() || sets > 0 ? 0 : 16 * groups / together; }
  std::int64_t shared_bytes() const { return none() ? 0 : 8 * barriers() + 16; }
  /// Returns how many columns the accumulators of such a product take.
  std::int64_t of(const MatmulChoice&) const;
};

/// Returns the columns of those of the products (by node) that are in tensor memory. Two warpgroups multiply together if there is an
/// even number, and if all products have an instruction of 128 rows and N columns.
TensorColumns tensor_columns(const std::map<int, MatmulChoice>&);
/// The same for a kernel's products. Requires that the kernel has its agents.
TensorColumns tensor_columns(const Kernel&);

/// Returns how many bytes of shared memory the kernel's tiles and the mbarriers of its channels may take: all but those of products in
/// tensor memory.
std::int64_t shared_bytes_of_channels(const Kernel&);

/// Returns whether a step waits for products whose accumulators are loaded after it: all of them, and after the loop.
/// `in_loop`: the step is in a loop over iterations.
inline bool loads_columns(const WaitGroup& wait, bool in_loop) { return wait.pending == 0 && !in_loop; }

}  // namespace zellige::kernel
