// Where the blocks of a kernel exchange tiles with those of the same number on the other ranks of a job: each copies a tile to its rank's
// window, sets a flag on every rank, and waits for the flags that the others set. Then it may read their windows.
//
//   const SymmetricEpoch epoch = begin_exchange(state, block, blocks);
//   publish<8, 512, 128>(x, window + epoch.half(elements), tid, [=](int c) { return 8 * c; });
//   synchronize_symmetric<128>(epoch, tid, state, flags0, flags1);
//   ... load<8>(window0 + epoch.half(elements) + i), load<8>(window1 + epoch.half(elements) + i) ...
//
// In two shots each rank adds the tiles of all ranks for a share of the chunks, and stores the totals in the memory of all ranks:
//
//   add_shares<8, 512, 128, false>(epoch, tid, at, window0, window1, sums0, sums1);
//   synchronize_symmetric<128, 1>(epoch, tid, state, flags0, flags1);
//   ... load<8>(sums + i) ...      // this rank's memory
//
// In a gather each rank stores its rows in the windows of the others. Blocks begin with the rows of their own rank, which wait for nobody:
//
//   const int rows = gathered_rows(epoch, 4, 2, 2);      // four blocks have each of the two tiles of rows that a rank has
//   if (epoch.block < 8) push_rows<8, 512, 4, 128>(epoch, tid, x, from, to, window0, window1), set_pushed<8>(epoch, tid, state, flags0, flags1);
//   else await_rows<4, 128>(epoch, tid, 4 * rows, state, flags0, flags1);
//   ... load<8>(window + i) ...       // this rank's memory
//
// The flags count launches, so nothing is reset between them. With halves, launches use the two halves of a window in turn: a rank that
// stores in a half has waited for the others in the launch before, after they have ended the last one that read this half.
// Without them, a rank stores in its window when all have read what was there: in two shots it has waited for their totals, which
// they add after they have read; else it waits for the flags that they set then (await_readers).
#pragma once
#include <zellige/atom/access.hpp>
#include <zellige/atom/math.hpp>
#include <zellige/atom/named_barrier.hpp>

namespace zellige {

/// An exchange in progress: the number of this rank, that of the launch, from 1 on, and the block's.
struct SymmetricEpoch {
  int rank, launch, block, blocks;
  /// Returns the offset in a window of the half that this launch uses. `elements`: of a half.
  ZELLIGE_CALL int half(int elements) const { return (launch & 1) * elements; }
  /// Returns the place of the flag that rank `of` sets for this block, the `time`th of `ranks`.
  ZELLIGE_CALL int flag(int time, int ranks, int of) const { return (time * ranks + of) * blocks + block; }
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
  t.engine->relaxed(t, flag, sizeof(int),
                    false);  // others run; then it observes what was done before the value was set
  return __atomic_load_n(flag.p, __ATOMIC_RELAXED);
#else
  int value;
  asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(global_address(flag)) : "memory");
  return value;
#endif
}

/// Begins the exchange of block `block`. `state` has this rank's number, and by block the number of its last launch.
ZELLIGE_CALL SymmetricEpoch begin_exchange(gmem<const int> state, int block, int blocks) {
  return {state[0], state[1 + block] + 1, block, blocks};
}

/// Copies `Chunks` chunks of `Vector` elements with `Threads` threads. at(c) is the offset of chunk c, in both; below 0: there is
/// no such chunk.
template <int Vector, int Chunks, int Threads, class From, class T, class At>
ZELLIGE_CALL void publish(From from, gmem<T> to, int tid, At at) {
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

/// Waits for the block's first `Threads` threads at barrier `Barrier`, which is that of __syncthreads if it is 0.
template <int Threads, int Barrier>
ZELLIGE_CALL void synchronize_threads() {
  if constexpr (Barrier == 0)
    __syncthreads();
  else
    named_barrier_sync(Barrier, Threads);
}

/// Sets this rank's flag for the `Time`th time of a launch, on every rank. `flags`: of each rank, by time, rank and block.
template <int Time, class... Flags>
ZELLIGE_CALL void set_flags(SymmetricEpoch epoch, int tid, Flags... flags) {
  int rank = 0;
  // A loop over an array would keep the pointers in local memory.
  (..., [&](gmem<int> theirs) {
    if (tid == rank++) set_flag(theirs + epoch.flag(Time, int(sizeof...(Flags)), epoch.rank), epoch.launch);
  }(flags));
}

/// Waits, in the first threads, for the flags of all ranks for the `Time`th time of launch `launch`, or of a later one.
template <int Time, class... Flags>
ZELLIGE_CALL void wait_for_flags(SymmetricEpoch epoch, int launch, int tid, Flags... flags) {
  constexpr int ranks = int(sizeof...(Flags));
  int rank = 0;
  (..., [&](gmem<int> mine) {
    if (epoch.rank == rank++ && tid < ranks)
      while (int(unsigned(read_flag(mine + epoch.flag(Time, ranks, tid))) - unsigned(launch)) < 0) {
      }
  }(flags));
}

/// Waits until the blocks of this number on all ranks have come here in this launch: what they have done before is done. All `Threads`
/// threads call it. `Time`: 1 where it is the second time of a launch.
template <int Threads, int Time = 0, int Barrier = 0, class... Flags>
ZELLIGE_CALL void synchronize_symmetric(SymmetricEpoch epoch, int tid, gmem<int> state, Flags... flags) {
  synchronize_threads<Threads, Barrier>();
  set_flags<Time>(epoch, tid, flags...);
  wait_for_flags<Time>(epoch, epoch.launch, tid, flags...);
  if (tid == 0) state[1 + epoch.block] = epoch.launch;
  synchronize_threads<Threads, Barrier>();
}

/// Waits until all ranks have read this rank's tile of the launch before: they have called release_readers(). All threads call it.
template <class... Flags>
ZELLIGE_CALL void await_readers(SymmetricEpoch epoch, int tid, Flags... flags) {
  wait_for_flags<1>(epoch, epoch.launch - 1, tid, flags...);
  __syncthreads();
}

/// Tells all ranks that this one has read their tiles. All `Threads` threads call it.
template <int Threads, int Barrier, class... Flags>
ZELLIGE_CALL void release_readers(SymmetricEpoch epoch, int tid, Flags... flags) {
  synchronize_threads<Threads, Barrier>();
  set_flags<1>(epoch, tid, flags...);
}

/// Returns the number of the tile of rows that the block has in a gather, of `tiles` tiles on each rank: blocks begin with those of their own
/// rank. `same`: how many blocks have one tile.
ZELLIGE_CALL int gathered_rows(SymmetricEpoch epoch, int same, int tiles, int ranks) {
  return (epoch.block / same + epoch.rank * tiles) % (tiles * ranks);
}

/// Stores the block's part of a tile of rows, a `Parts`th of `Chunks` chunks, in the windows of the other ranks. The tile is at `from`, and at
/// `to` in their windows.
template <int Vector, int Chunks, int Parts, int Threads, class T, class From, class... Windows>
ZELLIGE_CALL void push_rows(SymmetricEpoch epoch, int tid, From from, int to, Windows... windows) {
  constexpr int part = (Chunks + Parts - 1) / Parts, together = 4;
  const int first = epoch.block % Parts * part, last = first + part < Chunks ? first + part : Chunks;
#pragma unroll 1
  for (int c = first + tid; c < last; c += together * Threads) {
    Vec<T, Vector> values[together];
#pragma unroll
    for (int k = 0; k < together; ++k)
      if (c + k * Threads < last) values[k] = load<Vector>(from + (c + k * Threads) * Vector);
    int rank = 0;
    (..., [&](gmem<T> window) {
      if (rank++ == epoch.rank) return;
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (c + k * Threads < last) store(window + (to + (c + k * Threads) * Vector), values[k]);
    }(windows));
  }
}

/// Signals to the other ranks that this block has stored its part of the rows, of `Blocks` parts that a rank has. All threads call it.
template <int Blocks, class... Flags>
ZELLIGE_CALL void set_pushed(SymmetricEpoch epoch, int tid, gmem<int> state, Flags... flags) {
  __syncthreads();
  int rank = 0;
  (..., [&](gmem<int> theirs) {
    if (tid == rank && rank != epoch.rank) set_flag(theirs + (epoch.rank * Blocks + epoch.block), epoch.launch);
    ++rank;
  }(flags));
  if (tid == 0) state[1 + epoch.block] = epoch.launch;
}

/// Waits until the `Parts` parts of a tile of rows, from number `first` on, are in this rank's window. All `Threads` threads call it.
template <int Parts, int Threads, class... Flags>
ZELLIGE_CALL void await_rows(SymmetricEpoch epoch, int tid, int first, gmem<int> state, Flags... flags) {
  int rank = 0;
  (..., [&](gmem<int> mine) {
    if (epoch.rank != rank++) return;
    for (int p = tid; p < Parts; p += Threads)
      while (int(unsigned(read_flag(mine + (first + p))) - unsigned(epoch.launch)) < 0) {
      }
  }(flags));
  __syncthreads();
  if (tid == 0) state[1 + epoch.block] = epoch.launch;
}

/// Returns a sum, or a maximum, of two values: in float32, or in int32, which wraps.
template <bool Maximum>
ZELLIGE_CALL float join_ranks(float x, float y) {
  return Maximum ? zellige::max(x, y) : x + y;
}
template <bool Maximum>
ZELLIGE_CALL int join_ranks(int x, int y) {
  return Maximum ? (x < y ? y : x) : int(unsigned(x) + unsigned(y));
}

/// Returns the totals, or maxima, of what the ranks have, in their order and rounded once.
template <bool Maximum, class T, int Vector, int Ranks>
ZELLIGE_CALL Vec<T, Vector> join_ranks(const Vec<T, Vector> (&of_rank)[Ranks]) {
  using Value = decltype(join_ranks<Maximum>(of_rank[0][0], of_rank[0][0]));
  Vec<T, Vector> joined;
#pragma unroll
  for (int v = 0; v < Vector; ++v) {
    Value all = Value(of_rank[0][v]);
#pragma unroll
    for (int r = 1; r < Ranks; ++r) all = join_ranks<Maximum>(all, Value(of_rank[r][v]));
    joined[v] = T(all);
  }
  return joined;
}

/// Stores the totals of the block's chunks that lie in [low, high) of the windows, from `to` on.
template <int Vector, int Chunks, int Threads, bool Maximum, class T, class At, class... Windows>
ZELLIGE_CALL void add_tiles(int tid, At at, int low, int high, gmem<T> to, Windows... windows) {
#pragma unroll 1
  for (int c = tid; c < Chunks; c += Threads) {
    const int place = at(c);
    if (place < low || place >= high) continue;
    const Vec<T, Vector> of_rank[sizeof...(Windows)] = {load<Vector>(windows + place)...};
    store(to + (place - low), join_ranks<Maximum>(of_rank));
  }
}

/// Stores the totals of this rank's share of the block's chunks in the memory of all ranks. `pointers`: the windows by rank, then where
/// the ranks take totals.
template <int Vector, int Chunks, int Threads, bool Maximum, class T, class At, class... Pointers>
ZELLIGE_CALL void add_shares(SymmetricEpoch epoch, int tid, At at, Pointers... pointers) {
  constexpr int ranks = int(sizeof...(Pointers)) / 2, share = (Chunks + ranks - 1) / ranks;
#pragma unroll 1
  for (int c = epoch.rank * share + tid; c < Chunks && c < (epoch.rank + 1) * share; c += Threads) {
    const int place = at(c);
    if (place < 0) continue;
    Vec<T, Vector> of_rank[ranks];
    int which = 0;
    (..., [&](gmem<T> p) {
      if (which++ < ranks) of_rank[which - 1] = load<Vector>(p + place);
    }(pointers));
    const Vec<T, Vector> sums = join_ranks<Maximum>(of_rank);
    which = 0;
    (..., [&](gmem<T> p) {
      if (which++ >= ranks) store(p + place, sums);
    }(pointers));
  }
}

}  // namespace zellige
