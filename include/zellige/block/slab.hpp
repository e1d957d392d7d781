// Stores a warpgroup's accumulator to global memory in slabs: subtiles of 64 rows in shared memory, written by
// stmatrix and stored by TMA. A slab has 64 columns with the 128-byte swizzle, or 40 columns, whose pitch of 80 bytes
// avoids bank conflicts without a swizzle.
//
//   auto slabs = Slabs<half_t, 64>::at("D", offset, /*barrier=*/1 + warpgroup);        // two slabs, used alternately
//   // columns j to j + 63 of d, which go to (row, column + j) of the tensor that `map` describes:
//   slabs.store(d, j, thread, [&](smem<half_t> slab) { tma_store_2d(map, slab, column + j, row); });
//   slabs.drain(thread);                                  // before the kernel's end
//
// With Transposed, a slab holds the transpose of its columns of d: one row of 64 elements per column of d.
#pragma once
#include <zellige/atom/fence.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/tma_store.hpp>
#include <zellige/block/store_matrix.hpp>
#include <zellige/block/tile.hpp>

namespace zellige {

/// Returns the layout of a slab (64 rows by `Columns` columns of an accumulator, in shared memory), as TMA reads it. It
/// maps (row, column) within these columns to an offset in elements. Transposed: a column is contiguous in the slab.
template <int Columns, bool Transposed = false>
ZELLIGE_CALL constexpr auto slab_layout() {
  static_assert(Transposed || Columns == 64 || Columns == 40,
                "slab_layout: 64 columns, swizzled, or 40, without; or a row for each column");
  if constexpr (Transposed)
    return composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, Int<Columns>>, Stride<_1, _64>>{});
  else if constexpr (Columns == 64)
    return composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _64>, Stride<_64, _1>>{});
  else
    return Layout<Shape<_64, Int<Columns>>, Stride<Int<Columns>, _1>>{};
}
template <int Columns>
inline constexpr int slab_bytes = 64 * Columns * 2;

/// `Count` slabs of one warpgroup, used in turn, so that a TMA store may read one slab while the next is written.
/// `barrier` is the number of a named barrier that only this warpgroup uses.
template <class T, int Columns, int Count = 2, bool Transposed = false>
struct Slabs {
  using SlabLayout = decltype(slab_layout<Columns, Transposed>());
  smem<T> data;
  unsigned barrier;
  int next = 0;

  /// Returns slabs that begin at byte `offset` of shared memory and occupy Count * slab_bytes<Columns> bytes.
  /// `barrier` is the number of a named barrier; the emulator uses `name` in its error reports.
  ZELLIGE_CALL static Slabs at(const char* name, unsigned offset, unsigned barrier) {
    return {shared<T>(name, offset, Count * 64 * Columns), barrier};
  }
  /// Writes `Columns` columns of d, from column `first` on, to the next slab. Then thread 0 calls leave(slab), which
  /// must issue the TMA store of the slab. Called by all 128 threads; `thread` is the index in the warpgroup.
  template <class F, class Leave>
  ZELLIGE_CALL void store(F& d, int first, int thread, Leave leave) {
    if (thread == 0) tma_store_wait_read<Count - 1>();  // the previous store from this slab has read it
    named_barrier_sync(barrier, 128);
    const auto slab = data + next * (64 * Columns);
    store_columns<T, Columns, Transposed>(AddressTile<smem<T>, SlabLayout>{slab}, d, first, thread);
    fence_proxy_async_shared();
    named_barrier_sync(barrier, 128);
    if (thread == 0) {
      leave(slab);
      tma_store_commit();
    }
    if constexpr (Count > 1) next = next + 1 == Count ? 0 : next + 1;
  }
  /// Waits until all TMA stores have read their slabs; only thread 0, which issued them, waits. Required before the
  /// kernel ends. `thread` is the index in the warpgroup.
  ZELLIGE_CALL static void drain(int thread) {
    if (thread == 0) tma_store_wait_read<0>();
  }
};

}  // namespace zellige
