// Modifies a TMA descriptor in a kernel: in shared memory, followed by a copy to global memory with a fence,
// or in place in global memory.
//
//   tma_descriptor_replace_addr_in_shared_mem(descriptor, pointer);        by one thread
//   tma_descriptor_cp_fence_release(out, descriptor);                      by its warp
//   tma_descriptor_fence_acquire(out);                                     by its next user
#pragma once
#include <cute/arch/util.hpp>
#include <cute/container/array.hpp>
#include <zellige/atom/tma_descriptor.hpp>

#if defined(__CUDACC__)
namespace zellige {

/// Replaces the tensor's address in a descriptor in global memory.
CUTE_DEVICE void tma_descriptor_replace_addr_in_global_mem(TmaDescriptor const* map, void const* pointer) {
  asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(pointer) : "memory");
}
/// Replaces the tensor's address in a descriptor in shared memory.
CUTE_DEVICE void tma_descriptor_replace_addr_in_shared_mem(TmaDescriptor& map, void const* pointer) {
  asm volatile(
      "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(cast_smem_ptr_to_uint(&map)),
      "l"(pointer)
      : "memory");
}

namespace detail {
template <int D>
CUTE_DEVICE void replace_extent(uint32_t map, uint32_t extent) {
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(map), "n"(D), "r"(extent)
               : "memory");
}
template <int D>
CUTE_DEVICE void replace_stride(uint32_t map, uint64_t bytes) {
  asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], %1, %2;" ::"r"(map), "n"(D), "l"(bytes)
               : "memory");
}
}  // namespace detail

/// Replaces extents (in elements) and strides (in bytes), the innermost dimension first. strides[0] is
/// ignored: the innermost dimension is contiguous.
CUTE_DEVICE void tma_descriptor_replace_dims_strides_in_shared_mem(TmaDescriptor& map,
                                                                   array<uint32_t, 5> const& extents,
                                                                   array<uint64_t, 5> const& strides) {
  uint32_t const at = cast_smem_ptr_to_uint(&map);
  detail::replace_extent<0>(at, extents[0]);
  detail::replace_extent<1>(at, extents[1]);
  detail::replace_extent<2>(at, extents[2]);
  detail::replace_extent<3>(at, extents[3]);
  detail::replace_extent<4>(at, extents[4]);
  detail::replace_stride<0>(at, strides[1]);
  detail::replace_stride<1>(at, strides[2]);
  detail::replace_stride<2>(at, strides[3]);
  detail::replace_stride<3>(at, strides[4]);
}

/// Copies a descriptor from shared to global memory and releases it at GPU scope. Called by all threads of a
/// warp.
CUTE_DEVICE void tma_descriptor_cp_fence_release(TmaDescriptor const* to, TmaDescriptor& from) {
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
      "128;" ::"l"(to),
      "r"(cast_smem_ptr_to_uint(&from))
      : "memory");
}
/// Releases modifications of descriptors in global memory at GPU scope.
CUTE_DEVICE void tma_descriptor_fence_release() {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}
/// Acquires a modified descriptor before its first use.
CUTE_DEVICE void tma_descriptor_fence_acquire(TmaDescriptor const* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

}  // namespace zellige
#endif
