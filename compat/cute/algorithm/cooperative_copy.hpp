// CuTe's header for cooperative_copy: copies by all threads of a block.
#pragma once
#include <cute/algorithm/copy.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/tensor/cooperative.hpp>

namespace zellige {

/// Copies element by element: thread `tid` copies elements tid, tid + NumThreads, ... of src to dst.
template <uint32_t NumThreads, tensor_like S, tensor_like D>
CUTE_HOST_DEVICE void naive_cooperative_copy(uint32_t const& tid, S const& src, D&& dst) {
  CUTE_UNROLL
  for (uint32_t i = 0; i < uint32_t(size(dst)); i += NumThreads) {
    if (i + tid < uint32_t(size(dst))) dst(int(i + tid)) = src(int(i + tid));
  }
}

}  // namespace zellige
