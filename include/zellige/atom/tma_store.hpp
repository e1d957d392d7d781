// Wraps PTX's TMA stores and reductions, which copy boxes of 1 to 5 dimensions from shared to global memory. tma.hpp
// shows how to use them.
//
//   tma_store_Nd(map, tile, c0, ...)              N = 1 to 5
//   tma_store_hint_Nd(map, tile, hint, c0, ...)   with an L2 cache policy
//   tma_reduce_add_Nd(map, tile, c0, ...)         adds to global memory, atomically per element, in no order
//   tma_reduce_min_Nd, tma_reduce_max_Nd          the same with minimum, maximum
//   tma_store_im2col_Nd(map, tile, c0, ...)       N = 3 to 5
//
// Before a store, the threads that wrote the tile execute fence_proxy_async(), and a barrier follows. Stores complete
// in groups of the thread that issued them; waits of other threads do not cover them.
#pragma once

#include <zellige/atom/cache_hint.hpp>
#include <zellige/atom/tma_coordinates.hpp>
#include <zellige/atom/tma_descriptor.hpp>

namespace zellige {

#if defined(ZELLIGE_EMULATE)

#define ZELLIGE_TMA_STORE(name, operation, D)                                                               \
  ZELLIGE_CALL void name##_##D##d(const TmaDescriptor& map, any_pointer tile, ZELLIGE_TMA_PARAMETERS_##D) { \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                \
    emulate::tma_store(&map, tile, D, c, emulate::Reduction::operation, false);                             \
  }
#define ZELLIGE_TMA_CALLS(D)                                                                     \
  ZELLIGE_TMA_STORE(tma_store, none, D)                                                          \
  ZELLIGE_TMA_STORE(tma_reduce_add, add, D)                                                      \
  ZELLIGE_TMA_STORE(tma_reduce_min, min, D)                                                      \
  ZELLIGE_TMA_STORE(tma_reduce_max, max, D)                                                      \
  ZELLIGE_CALL void tma_store_hint_##D##d(const TmaDescriptor& map, any_pointer tile, CacheHint, \
                                          ZELLIGE_TMA_PARAMETERS_##D) {                          \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                     \
    emulate::tma_store(&map, tile, D, c, emulate::Reduction::none, false);                       \
  }
#define ZELLIGE_TMA_IM2COL_CALLS(D)                                                                                   \
  ZELLIGE_CALL void tma_store_im2col_##D##d(const TmaDescriptor& map, any_pointer tile, ZELLIGE_TMA_PARAMETERS_##D) { \
    const int c[] = {ZELLIGE_TMA_NAMES_##D};                                                                          \
    emulate::tma_store(&map, tile, D, c, emulate::Reduction::none, true);                                             \
  }

/// Closes a group, which contains the TMA stores and reductions that this thread has issued since its last group.
ZELLIGE_CALL void tma_store_commit() { emulate::bulk_commit(); }
/// Waits until all of this thread's groups, except the newest `Groups` groups, have read their shared memory. That
/// memory may then be overwritten.
template <int Groups>
ZELLIGE_CALL void tma_store_wait_read() {
  emulate::bulk_wait(Groups, true);
}
/// Waits until the writes of all of this thread's groups, except the newest `Groups` groups, are visible in global
/// memory.
template <int Groups>
ZELLIGE_CALL void tma_store_wait_complete() {
  emulate::bulk_wait(Groups, false);
}

#else

#define ZELLIGE_TMA_STORE(name, instruction, D)                                                                     \
  ZELLIGE_CALL void name##_##D##d(const TmaDescriptor& map, any_pointer tile, ZELLIGE_TMA_PARAMETERS_##D) {         \
    asm volatile(instruction " [%0, " ZELLIGE_TMA_LIST_##D "], [%1];" ::"l"(&map), "r"(smem_address(tile)), "n"(0), \
                 "n"(0), "n"(0), ZELLIGE_TMA_OPERANDS_##D                                                           \
                 : "memory");                                                                                       \
  }
#define ZELLIGE_TMA_CALLS(D)                                                                                         \
  ZELLIGE_TMA_STORE(tma_store, "cp.async.bulk.tensor." #D "d.global.shared::cta.bulk_group", D)                      \
  ZELLIGE_TMA_STORE(tma_reduce_add, "cp.reduce.async.bulk.tensor." #D "d.global.shared::cta.add.bulk_group", D)      \
  ZELLIGE_TMA_STORE(tma_reduce_min, "cp.reduce.async.bulk.tensor." #D "d.global.shared::cta.min.bulk_group", D)      \
  ZELLIGE_TMA_STORE(tma_reduce_max, "cp.reduce.async.bulk.tensor." #D "d.global.shared::cta.max.bulk_group", D)      \
  ZELLIGE_CALL void tma_store_hint_##D##d(const TmaDescriptor& map, any_pointer tile, CacheHint hint,                \
                                          ZELLIGE_TMA_PARAMETERS_##D) {                                              \
    if constexpr (!cache_hints) return tma_store_##D##d(map, tile, ZELLIGE_TMA_NAMES_##D);                           \
    asm volatile("cp.async.bulk.tensor." #D                                                                          \
                 "d.global.shared::cta.bulk_group.L2::cache_hint [%0, " ZELLIGE_TMA_LIST_##D                         \
                 "], [%1], %2;" ::"l"(&map),                                                                         \
                 "r"(smem_address(tile)), "l"(static_cast<uint64_t>(hint)), "n"(0), "n"(0), ZELLIGE_TMA_OPERANDS_##D \
                 : "memory");                                                                                        \
  }
#define ZELLIGE_TMA_IM2COL_CALLS(D) \
  ZELLIGE_TMA_STORE(tma_store_im2col, "cp.async.bulk.tensor." #D "d.global.shared::cta.im2col_no_offs.bulk_group", D)

/// Closes a group, which contains the TMA stores and reductions that this thread has issued since its last group.
ZELLIGE_CALL void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Waits until all of this thread's groups, except the newest `Groups` groups, have read their shared memory. That
/// memory may then be overwritten.
template <int Groups>
ZELLIGE_CALL void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Groups) : "memory");
}
/// Waits until the writes of all of this thread's groups, except the newest `Groups` groups, are visible in global
/// memory.
template <int Groups>
ZELLIGE_CALL void tma_store_wait_complete() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Groups) : "memory");
}

#endif

/// CuTe's name of tma_store_wait_read: afterwards the shared memory may be overwritten, but the results need not be
/// visible in global memory.
template <int Groups>
ZELLIGE_CALL void tma_store_wait() {
  tma_store_wait_read<Groups>();
}

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
#undef ZELLIGE_TMA_STORE

}  // namespace zellige
