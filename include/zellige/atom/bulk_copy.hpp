// Bulk copies: asynchronous copies of contiguous bytes without a TMA descriptor (cp.async.bulk). One thread
// issues each copy. Addresses must be aligned to 16 bytes, and sizes must be multiples of 16 bytes.
//
//   mbarrier_arrive_expect_tx(full, 8192);
//   bulk_load(row, source, 8192, full);                // global to shared, completes on the mbarrier
//   bulk_store(target, row, 8192);                     // shared to global, completes in a bulk group
//   bulk_copy_cluster(inbox, rank, mine, 512, full);   // into another block of the cluster, on its mbarrier
//
// If ordinary stores wrote the shared memory that a copy reads, every thread that wrote must first call
// fence_proxy_async(), and then synchronise with the issuing thread at a barrier.
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/tma_store.hpp>

namespace zellige {

/// Copies `bytes` bytes from global memory to this block's shared memory, asynchronously. The copy completes
/// `bytes` bytes of the mbarrier's current phase.
ZELLIGE_CALL void bulk_load(any_pointer to, any_pointer from, unsigned bytes, smem<uint64_t> barrier) {
#if defined(ZELLIGE_EMULATE)
  emulate::bulk_load(to, from, bytes, barrier, 0);
#else
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_address(to)),
      "l"(global_address(from)), "r"(bytes), "r"(smem_address(barrier))
      : "memory");
#endif
}
/// Copies like bulk_load, with an L2 cache policy. `hint` has no effect if ZELLIGE_NO_CACHE_HINTS is defined.
ZELLIGE_CALL void bulk_load_hint(any_pointer to, any_pointer from, unsigned bytes, smem<uint64_t> barrier,
                                 [[maybe_unused]] CacheHint hint) {
#if defined(ZELLIGE_EMULATE)
  emulate::bulk_load(to, from, bytes, barrier, 0);
#else
  if constexpr (!cache_hints) return bulk_load(to, from, bytes, barrier);
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
      "[%3], "
      "%4;" ::"r"(smem_address(to)),
      "l"(global_address(from)), "r"(bytes), "r"(smem_address(barrier)), "l"(static_cast<uint64_t>(hint))
      : "memory");
#endif
}
/// Copies `bytes` bytes from global memory to the shared memory of several blocks of the cluster: of every
/// block whose rank is a set bit of `mask`, at the offset that `to` has in this block. In each of these blocks,
/// the copy completes `bytes` bytes of the mbarrier at the offset of `barrier`.
ZELLIGE_CALL void bulk_load_multicast(any_pointer to, any_pointer from, unsigned bytes, smem<uint64_t> barrier,
                                      uint16_t mask) {
#if defined(ZELLIGE_EMULATE)
  emulate::bulk_load(to, from, bytes, barrier, 0x10000u | mask);
#else
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
      "[%3], %4;" ::"r"(smem_address(to)),
      "l"(global_address(from)), "r"(bytes), "r"(smem_address(barrier)), "h"(mask)
      : "memory");
#endif
}

/// Copies `bytes` bytes from this block's shared memory to global memory, asynchronously. The copy belongs to
/// the issuing thread's current bulk group: tma_store_commit closes the group, tma_store_wait waits for it.
ZELLIGE_CALL void bulk_store(any_pointer to, any_pointer from, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::bulk_store(to, from, bytes, emulate::Reduction::none, emulate::Element::u8);
#else
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global_address(to)),
               "r"(smem_address(from)), "r"(bytes)
               : "memory");
#endif
}
#if defined(ZELLIGE_EMULATE)
/// The emulator's name of element type T for reductions; u8 if bulk_reduce_add has no such type.
template <class T>
inline constexpr emulate::Element element_of = emulate::Element::u8;
template <>
inline constexpr emulate::Element element_of<float> = emulate::Element::f32;
template <>
inline constexpr emulate::Element element_of<half_t> = emulate::Element::f16;
template <>
inline constexpr emulate::Element element_of<bfloat16_t> = emulate::Element::bf16;
template <>
inline constexpr emulate::Element element_of<int32_t> = emulate::Element::s32;
template <>
inline constexpr emulate::Element element_of<uint32_t> = emulate::Element::u32;
#else
/// The PTX type suffix of cp.reduce.async.bulk.add for element type T.
template <class T>
struct bulk_add_suffix;
template <>
struct bulk_add_suffix<float> {
  static constexpr char text[] = ".f32";
};
template <>
struct bulk_add_suffix<half_t> {
  static constexpr char text[] = ".noftz.f16";
};
template <>
struct bulk_add_suffix<bfloat16_t> {
  static constexpr char text[] = ".noftz.bf16";
};
template <>
struct bulk_add_suffix<int32_t> {
  static constexpr char text[] = ".s32";
};
template <>
struct bulk_add_suffix<uint32_t> {
  static constexpr char text[] = ".u32";
};
#endif

/// Adds `bytes` bytes of shared memory, as elements of type T, to the elements of global memory at `to`. Like
/// bulk_store, but each element is updated atomically. T is float, half_t, bfloat16_t, int32_t or uint32_t.
template <class T>
ZELLIGE_CALL void bulk_reduce_add(any_pointer to, any_pointer from, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  static_assert(element_of<T> != emulate::Element::u8,
                "bulk_reduce_add: float, half_t, bfloat16_t, int32_t or uint32_t");
  emulate::bulk_store(to, from, bytes, emulate::Reduction::add, element_of<T>);
#else
  const auto target = global_address(to);
  const uint32_t source = smem_address(from);
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add%3 [%0], [%1], %2;" ::"l"(target), "r"(source),
               "r"(bytes), "C"(bulk_add_suffix<T>::text)
               : "memory");
#endif
}

/// Copies `bytes` bytes from this block's shared memory to the shared memory of the cluster's block `rank`, at
/// the offset that `to` has in this block. The copy completes `bytes` bytes of block `rank`'s mbarrier at the
/// offset of `barrier`.
ZELLIGE_CALL void bulk_copy_cluster(any_pointer to, unsigned rank, any_pointer from, unsigned bytes,
                                    smem<uint64_t> barrier) {
#if defined(ZELLIGE_EMULATE)
  emulate::bulk_copy_cluster(to, rank, from, bytes, barrier);
#else
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   cluster_address(to, rank)),
               "r"(smem_address(from)), "r"(bytes), "r"(cluster_address(barrier, rank))
               : "memory");
#endif
}
/// Stores `value` asynchronously to the shared memory of the cluster's block `rank`, at the offset that `to`
/// has in this block. The store completes 4 bytes of block `rank`'s mbarrier at the offset of `barrier`.
ZELLIGE_CALL void store_async(any_pointer to, unsigned rank, uint32_t value, smem<uint64_t> barrier) {
#if defined(ZELLIGE_EMULATE)
  emulate::store_async(to, rank, value, barrier);
#else
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(cluster_address(to, rank)),
      "r"(value), "r"(cluster_address(barrier, rank))
      : "memory");
#endif
}

}  // namespace zellige
