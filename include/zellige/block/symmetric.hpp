// Where the blocks of a kernel exchange tiles with those of the same number on the other ranks of a job: each copies a tile to its rank's
// window, sets a flag on every rank, and waits for the flags that the others set. Then it may read their windows.
//
//   const SymmetricEpoch epoch = begin_exchange(state, block);
//   publish<8, 512, 128>(x, window + epoch.half(elements), tid, [=](int c) { return 8 * c; });
//   synchronize_symmetric(epoch, tid, block, blocks, state, flags0, flags1);
//   ... load<8>(window0 + epoch.half(elements) + i), load<8>(window1 + epoch.half(elements) + i) ...
//
// The flags count launches, so nothing is reset between them. Launches use the two halves of a window in turn. A rank that
// stores in a half has waited for the others in the launch before, after they have ended the last one that read this half.
#pragma once
#include <zellige/atom/access.hpp>

namespace zellige {

/// An exchange in progress: the number of this rank, and that of the launch, from 1 on.
struct SymmetricEpoch {
  int rank, launch;
  /// Returns the offset in a window of the half that this launch uses. `elements`: of a half.
  ZELLIGE_CALL int half(int elements) const { return (launch & 1) * elements; }
};

/// Stores to a flag that another GPU may read. What the thread has done or observed before is visible to whoever reads the value.
ZELLIGE_CALL void set_flag(gmem<int> flag, int value) {
#if defined(ZELLIGE_EMULATE)
  emulate::Thread& t = emulate::self();
  t.engine->release(t);
  t.engine->relaxed(t, flag, sizeof(int), true);
  __atomic_store_n(flag.p, value, __ATOMIC_RELAXED);
#else
  asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(global_address(flag)), "r"(value) : "memory");
#endif
}

/// Returns the value of a flag that another GPU may set. What was done before it was set is visible to the thread.
ZELLIGE_CALL int read_flag(gmem<int> flag) {
#if defined(ZELLIGE_EMULATE)
  emulate::Thread& t = emulate::self();
  const int value = __atomic_load_n(flag.p, __ATOMIC_RELAXED);
  t.engine->relaxed(t, flag, sizeof(int), false);  // observes what was done before this value was set; others run
  return value;
#else
  int value;
  asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(global_address(flag)) : "memory");
  return value;
#endif
}

/// Begins the exchange of block `block`. `state` has this rank's number, and by block the number of its last launch.
ZELLIGE_CALL SymmetricEpoch begin_exchange(gmem<const int> state, int block) {
  return {state[0], state[1 + block] + 1};
}

/// Copies `Chunks` chunks of `Vector` elements with `Threads` threads. at(c) is the offset of chunk c, in both; below 0: there is
/// no such chunk.
template <int Vector, int Chunks, int Threads, class T, class At>
ZELLIGE_CALL void publish(gmem<const T> from, gmem<T> to, int tid, At at) {
  constexpr int all = (Chunks + Threads - 1) / Threads, together = all < 8 ? all : 8;
#pragma unroll 1
  for (int t = 0; t < all; t += together) {
    Vec<T, Vector> values[together];
    int places[together];
#pragma unroll
    for (int k = 0; k < together; ++k) {
      const int c = tid + (t + k) * Threads;
      places[k] = c < Chunks ? at(c) : -1;
      if (places[k] >= 0) values[k] = load<Vector>(from + places[k]);
    }
#pragma unroll
    for (int k = 0; k < together; ++k)
      if (places[k] >= 0) store(to + places[k], values[k]);
  }
}

/// Ends the exchange: when it returns, the blocks with this number of all ranks have published. `flags`: of each rank, by rank
/// and block who has come. All threads of the block call it.
template <class... Flags>
ZELLIGE_CALL void synchronize_symmetric(SymmetricEpoch epoch, int tid, int block, int blocks, gmem<int> state,
                                        Flags... flags) {
  __syncthreads();
  int rank = 0;
  // A loop over an array would keep the pointers in local memory.
  (..., [&](gmem<int> theirs) {
    if (tid == rank++) set_flag(theirs + (epoch.rank * blocks + block), epoch.launch);
  }(flags));
  rank = 0;
  (..., [&](gmem<int> mine) {
    if (epoch.rank == rank++ && tid < int(sizeof...(Flags)))
      while (int(unsigned(read_flag(mine + (tid * blocks + block))) - unsigned(epoch.launch)) < 0) {
      }
  }(flags));
  if (tid == 0) state[1 + block] = epoch.launch;
  __syncthreads();
}

}  // namespace zellige
