// Wraps PTX's TMA loads, which copy boxes of 1 to 5 dimensions from global to shared memory and complete on
// an mbarrier. tma.hpp shows how to use them.
//
//   tma_load_Nd(tile, map, barrier, c0, ...)                     N = 1 to 5
//   tma_load_hint_Nd(tile, map, barrier, hint, c0, ...)          with an L2 cache policy
//   tma_load_multicast_Nd(tile, map, barrier, mask, c0, ...)     the same offset in every block of the mask
//   tma_load_multicast_hint_Nd(tile, map, barrier, mask, hint, c0, ...)
//   tma_load_im2col_Nd(tile, map, barrier, c0, ..., o0, ...)     N = 3 to 5, with N - 2 offsets
//   tma_load_im2col_multicast_Nd(tile, map, barrier, mask, c0, ..., o0, ...)
//   tma_prefetch_Nd(map, c0, ...)                                into the L2 only
//   tma_prefetch_im2col_Nd(map, c0, ..., o0, ...)                (not on the emulator)
#pragma once

#include <zellige/atom/cache_hint.hpp>
#include <zellige/atom/tma_coordinates.hpp>
#include <zellige/atom/tma_descriptor.hpp>

namespace zellige {

#if defined(ZELLIGE_EMULATE)

#define ZELLIGE_TMA_CALLS(D)                                                                                           \
  ZELLIGE_CALL void tma_load_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier,                \
                                    ZELLIGE_TMA_PARAMETERS_##D) {                                                      \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                           \
    emulate::tma_load(&map, tile, barrier, D, c, nullptr, 0);                                                          \
  }                                                                                                                    \
  ZELLIGE_CALL void tma_load_hint_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier,           \
                                         CacheHint, ZELLIGE_TMA_PARAMETERS_##D) {                                      \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                           \
    emulate::tma_load(&map, tile, barrier, D, c, nullptr, 0);                                                          \
  }                                                                                                                    \
  ZELLIGE_CALL void tma_load_multicast_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier,      \
                                              uint16_t mask, ZELLIGE_TMA_PARAMETERS_##D) {                             \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                           \
    emulate::tma_load(&map, tile, barrier, D, c, nullptr, 0x10000u | mask);                                            \
  }                                                                                                                    \
  ZELLIGE_CALL void tma_load_multicast_hint_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier, \
                                                   uint16_t mask, CacheHint, ZELLIGE_TMA_PARAMETERS_##D) {             \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                           \
    emulate::tma_load(&map, tile, barrier, D, c, nullptr, 0x10000u | mask);                                            \
  }                                                                                                                    \
  ZELLIGE_CALL void tma_prefetch_##D##d(const TmaDescriptor& map, ZELLIGE_TMA_PARAMETERS_##D) {                        \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                           \
    emulate::tma_prefetch(&map, D, c);                                                                                 \
  }
#define ZELLIGE_TMA_IM2COL_CALLS(D)                                                                            \
  ZELLIGE_CALL void tma_load_im2col_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier, \
                                           ZELLIGE_TMA_PARAMETERS_##D, ZELLIGE_TMA_OFFSETS_##D) {              \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                   \
    const uint16_t o[] = {ZELLIGE_TMA_OFFSET_NAMES_##D};                                                       \
    emulate::tma_load(&map, tile, barrier, D, c, o, 0);                                                        \
  }                                                                                                            \
  ZELLIGE_CALL void tma_load_im2col_multicast_##D##d(any_pointer tile, const TmaDescriptor& map,               \
                                                     smem<uint64_t> barrier, uint16_t mask,                    \
                                                     ZELLIGE_TMA_PARAMETERS_##D, ZELLIGE_TMA_OFFSETS_##D) {    \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                   \
    const uint16_t o[] = {ZELLIGE_TMA_OFFSET_NAMES_##D};                                                       \
    emulate::tma_load(&map, tile, barrier, D, c, o, 0x10000u | mask);                                          \
  }

#else

#define ZELLIGE_TMA_CALLS(D)                                                                                           \
  ZELLIGE_CALL void tma_load_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier,                \
                                    ZELLIGE_TMA_PARAMETERS_##D) {                                                      \
    asm volatile("cp.async.bulk.tensor." #D                                                                            \
                 "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, " ZELLIGE_TMA_LIST_##D              \
                 "], [%2];" ::"r"(smem_address(tile)),                                                                 \
                 "l"(&map), "r"(smem_address(barrier)), "n"(0), "n"(0), ZELLIGE_TMA_OPERANDS_##D                       \
                 : "memory");                                                                                          \
  }                                                                                                                    \
  ZELLIGE_CALL void tma_load_hint_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier,           \
                                         CacheHint hint, ZELLIGE_TMA_PARAMETERS_##D) {                                 \
    if constexpr (!cache_hints) return tma_load_##D##d(tile, map, barrier, ZELLIGE_TMA_NAMES_##D);                     \
    asm volatile("cp.async.bulk.tensor." #D                                                                            \
                 "d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "                         \
                 "[%1, " ZELLIGE_TMA_LIST_##D "], [%2], %3;" ::"r"(smem_address(tile)),                                \
                 "l"(&map), "r"(smem_address(barrier)), "l"(static_cast<uint64_t>(hint)), "n"(0),                      \
                 ZELLIGE_TMA_OPERANDS_##D                                                                              \
                 : "memory");                                                                                          \
  }                                                                                                                    \
  ZELLIGE_CALL void tma_load_multicast_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier,      \
                                              uint16_t mask, ZELLIGE_TMA_PARAMETERS_##D) {                             \
    asm volatile("cp.async.bulk.tensor." #D                                                                            \
                 "d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "                     \
                 "[%1, " ZELLIGE_TMA_LIST_##D "], [%2], %3;" ::"r"(smem_address(tile)),                                \
                 "l"(&map), "r"(smem_address(barrier)), "h"(mask), "n"(0), ZELLIGE_TMA_OPERANDS_##D                    \
                 : "memory");                                                                                          \
  }                                                                                                                    \
  ZELLIGE_CALL void tma_load_multicast_hint_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier, \
                                                   uint16_t mask, CacheHint hint, ZELLIGE_TMA_PARAMETERS_##D) {        \
    if constexpr (!cache_hints) return tma_load_multicast_##D##d(tile, map, barrier, mask, ZELLIGE_TMA_NAMES_##D);     \
    asm volatile("cp.async.bulk.tensor." #D                                                                            \
                 "d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], "      \
                 "[%1, " ZELLIGE_TMA_LIST_##D "], [%2], %3, %4;" ::"r"(smem_address(tile)),                            \
                 "l"(&map), "r"(smem_address(barrier)), "h"(mask), "l"(static_cast<uint64_t>(hint)),                   \
                 ZELLIGE_TMA_OPERANDS_##D                                                                              \
                 : "memory");                                                                                          \
  }                                                                                                                    \
  ZELLIGE_CALL void tma_prefetch_##D##d(const TmaDescriptor& map, ZELLIGE_TMA_PARAMETERS_##D) {                        \
    asm volatile("cp.async.bulk.prefetch.tensor." #D "d.L2.global [%0, " ZELLIGE_TMA_LIST_##D "];" ::"l"(&map),        \
                 "n"(0), "n"(0), "n"(0), "n"(0), ZELLIGE_TMA_OPERANDS_##D                                              \
                 : "memory");                                                                                          \
  }
#define ZELLIGE_TMA_IM2COL_CALLS(D)                                                                                  \
  ZELLIGE_CALL void tma_load_im2col_##D##d(any_pointer tile, const TmaDescriptor& map, smem<uint64_t> barrier,       \
                                           ZELLIGE_TMA_PARAMETERS_##D, ZELLIGE_TMA_OFFSETS_##D) {                    \
    asm volatile("cp.async.bulk.tensor." #D                                                                          \
                 "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "                               \
                 "[%1, " ZELLIGE_TMA_LIST_##D "], [%2], " ZELLIGE_TMA_OFFSET_LIST_##D ";" ::"r"(smem_address(tile)), \
                 "l"(&map), "r"(smem_address(barrier)), "n"(0), "n"(0), ZELLIGE_TMA_OPERANDS_##D,                    \
                 ZELLIGE_TMA_OFFSET_OPERANDS_##D                                                                     \
                 : "memory");                                                                                        \
  }                                                                                                                  \
  ZELLIGE_CALL void tma_load_im2col_multicast_##D##d(any_pointer tile, const TmaDescriptor& map,                     \
                                                     smem<uint64_t> barrier, uint16_t mask,                          \
                                                     ZELLIGE_TMA_PARAMETERS_##D, ZELLIGE_TMA_OFFSETS_##D) {          \
    asm volatile("cp.async.bulk.tensor." #D                                                                          \
                 "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [%0], "            \
                 "[%1, " ZELLIGE_TMA_LIST_##D "], [%2], " ZELLIGE_TMA_OFFSET_LIST_##D                                \
                 ", %3;" ::"r"(smem_address(tile)),                                                                  \
                 "l"(&map), "r"(smem_address(barrier)), "h"(mask), "n"(0), ZELLIGE_TMA_OPERANDS_##D,                 \
                 ZELLIGE_TMA_OFFSET_OPERANDS_##D                                                                     \
                 : "memory");                                                                                        \
  }                                                                                                                  \
  ZELLIGE_CALL void tma_prefetch_im2col_##D##d(const TmaDescriptor& map, ZELLIGE_TMA_PARAMETERS_##D,                 \
                                               ZELLIGE_TMA_OFFSETS_##D) {                                            \
    asm volatile("cp.async.bulk.prefetch.tensor." #D "d.L2.global.im2col [%0, " ZELLIGE_TMA_LIST_##D                 \
                 "], " ZELLIGE_TMA_OFFSET_LIST_##D ";" ::"l"(&map),                                                  \
                 "n"(0), "n"(0), "n"(0), "n"(0), ZELLIGE_TMA_OPERANDS_##D, ZELLIGE_TMA_OFFSET_OPERANDS_##D           \
                 : "memory");                                                                                        \
  }

#endif

ZELLIGE_TMA_CALLS(1)
ZELLIGE_TMA_CALLS(2)
ZELLIGE_TMA_CALLS(3)
ZELLIGE_TMA_CALLS(4)
ZELLIGE_TMA_CALLS(5)
ZELLIGE_TMA_IM2COL_CALLS(3)
ZELLIGE_TMA_IM2COL_CALLS(4)
ZELLIGE_TMA_IM2COL_CALLS(5)
#undef ZELLIGE_TMA_CALLS
#undef ZELLIGE_TMA_IM2COL_CALLS

}  // namespace zellige
