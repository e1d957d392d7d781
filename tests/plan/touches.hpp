// The elements of shared memory that each thread reads and writes in one step, by enumeration.
//
// An executable definition of the (thread, value) layouts and of evaluation, independent of the tested
// passes. One warp's mma reads are assigned to no thread: `everyone`.
#pragma once
#include <functional>

#include "kernel/kernel.hpp"

namespace zellige::plan {

constexpr int everyone = -1;

struct Touch {
  int thread = everyone;
  int buffer = -1;
  int partial = 0;
  graph::Shape at;  // an element of the buffer's padded tile
};
using Visit = std::function<void(const Touch&)>;

/// In no particular order within the work.
void for_each_read(const kernel::Kernel&, const kernel::Work&, const Visit&);
void for_each_write(const kernel::Kernel&, const kernel::Work&, const Visit&);

/// The elements of the context's domain that a thread holds; a fragment's may lie beyond the domain, up to `bound`.
void for_each_owned(const kernel::Context&, const graph::Shape& bound,
                    const std::function<void(int thread, const graph::Shape& at)>&);

/// The warp that holds element (b, m, n) of a fragment: one for each of the layout's warps along K.
int warp_of(const kernel::Context&, std::int64_t b, std::int64_t m, std::int64_t n, int k);

}  // namespace zellige::plan
