// A block's rows, one after another through a ring in shared memory: bulk copies bring the next ones while all threads
// work on this one, so that loads never pause for a reduction or a barrier.
//
//   RowRing<half_t, 8192, 4> ring(x, pitch, rows, columns);     // room for 4 rows of up to 8192
//   for (int row = blockIdx.x; row < rows; row += gridDim.x) {
//     tile.read(ring.row(), columns, 0.0f);                     // waits for the row
//     ... a barrier: all threads have read it ...
//     ring.next();                                              // its place is free for a later one
//   }
//
// Rows start at multiples of 16 bytes and have a multiple of 16 bytes.
#pragma once
#include <zellige/atom/bulk_copy.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/mbarrier.hpp>
#include <zellige/block/tile.hpp>

namespace zellige {

template <class T, int Columns, int Stages>
struct RowRing {
  static constexpr int barriers_offset = Stages * Columns * static_cast<int>(sizeof(T));
  static constexpr int bytes = barriers_offset + 8 * Stages;  // of shared memory, from its start

  gmem<const T> x;
  int64_t pitch;
  int rows, columns, ahead, stage = 0;  // ahead: the row that goes into the place that is free next
  unsigned parity = 0;

  ZELLIGE_CALL RowRing(gmem<const T> x_, int64_t pitch_, int rows_, int columns_)
      : x(x_), pitch(pitch_), rows(rows_), columns(columns_), ahead(static_cast<int>(blockIdx.x)) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < Stages; ++s) mbarrier_init(barrier(s), 1);
      fence_mbarrier_init();
      for (int s = 0; s < Stages; ++s) load(s);
    }
    __syncthreads();
  }
  /// This row, once it is there.
  ZELLIGE_CALL smem<const T> row() const {
    mbarrier_wait(barrier(stage), parity);
    return place(stage);
  }
  ZELLIGE_CALL void next() {
    if (threadIdx.x == 0) load(stage);
    stage = stage + 1 == Stages ? 0 : stage + 1;
    if (stage == 0) parity ^= 1;
  }

 private:
  ZELLIGE_CALL static smem<uint64_t> barrier(int s) { return shared<uint64_t>("row barriers", barriers_offset, Stages) + s; }
  ZELLIGE_CALL static smem<T> place(int s) { return shared<T>("rows", 0, Stages * Columns) + s * Columns; }
  ZELLIGE_CALL void load(int s) {
    if (ahead >= rows) return;
    const unsigned size = columns * static_cast<unsigned>(sizeof(T));
    mbarrier_arrive_expect_tx(barrier(s), size);
    bulk_load(place(s), x + ahead * pitch, size, barrier(s));
    ahead += static_cast<int>(gridDim.x);
  }
};

}  // namespace zellige
