// CuTe's header for mbarriers and TMA descriptors (the encoded description of a tensor in global memory):
// types, enumerations, prefetch.
#pragma once
#include <cute/arch/tma_descriptor_change.hpp>
#include <cute/arch/util.hpp>
#include <cute/container/alignment.hpp>
#include <cute/container/bit_field.hpp>
#include <zellige/atom/cache_hint.hpp>
#include <zellige/atom/tma_descriptor.hpp>

namespace zellige {

using Im2ColTmaDescriptor = TmaDescriptor;

namespace TMA {

enum class SmemSwizzleBits : uint8_t { DISABLE = 0, B32 = 1, B64 = 2, B128 = 3 };
enum class SmemSwizzleBase : uint8_t {
  SWIZZLE_BASE_16B = 0,
  SWIZZLE_BASE_32B = 1,
  SWIZZLE_BASE_32B_FLIP_8B = 2,
  SWIZZLE_BASE_64B = 3
};
enum class OOBFill : uint8_t { ZERO = 0, CONSTANT = 1 };
enum class L2Promotion : uint8_t { DISABLE = 0, B64 = 1, B128 = 2, B256 = 3 };
/// Rarely used descriptor settings: the value of out-of-bounds elements, and the L2 promotion.
struct DescriptorAuxParams {
  OOBFill oobfill_ = OOBFill::ZERO;
  L2Promotion l2promo_ = L2Promotion::DISABLE;
};
CUTE_HOST_DEVICE char const* to_string(OOBFill const& t) { return t == OOBFill::ZERO ? "ZERO" : "CONSTANT"; }
CUTE_HOST_DEVICE char const* to_string(L2Promotion const& t) {
  switch (t) {
    case L2Promotion::DISABLE:
      return "DISABLE";
    case L2Promotion::B64:
      return "B64";
    case L2Promotion::B128:
      return "B128";
    default:
      return "B256";
  }
}
using CacheHintSm100 = CacheHint;

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__) && __has_include(<cuda.h>)
// Convert to the enumerations of the CUDA driver. A swizzle atom wider than 16 bytes needs the 128-byte
// swizzle.
inline CUtensorMapSwizzle to_CUtensorMapSwizzle(SmemSwizzleBits bits, SmemSwizzleBase base) {
  assert((base == SmemSwizzleBase::SWIZZLE_BASE_16B || bits == SmemSwizzleBits::B128) &&
         "only a swizzle of 128 bytes moves more than 16 bytes at once");
  if (base == SmemSwizzleBase::SWIZZLE_BASE_32B) return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
  if (base == SmemSwizzleBase::SWIZZLE_BASE_32B_FLIP_8B) return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
  if (base == SmemSwizzleBase::SWIZZLE_BASE_64B) return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
  return CUtensorMapSwizzle(bits);
}
inline CUtensorMapFloatOOBfill to_CUtensorMapFloatOOBfill(OOBFill const& t) { return CUtensorMapFloatOOBfill(t); }
inline CUtensorMapL2promotion to_CUtensorMapL2promotion(L2Promotion const& t) { return CUtensorMapL2promotion(t); }
#endif

}  // namespace TMA
}  // namespace zellige

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/cluster_names.hpp>

namespace zellige {

/// Prefetches a descriptor into the descriptor cache; called early in the kernel, by one thread.
CUTE_DEVICE void prefetch_tma_descriptor(TmaDescriptor const* map) { prefetch_tma_descriptor(*map); }

/// Commits this thread's bulk copies as a group.
CUTE_DEVICE void tma_desc_commit_group() { tma_store_commit(); }
/// Waits until the sources of all bulk groups, descriptors included, have been read and may be modified.
CUTE_DEVICE void tma_desc_wait_group() { tma_store_wait_read<0>(); }

}  // namespace zellige
#endif
