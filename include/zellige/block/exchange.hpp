// Defines Exchange, which adds partial accumulators across a cluster (split K): all blocks of the cluster compute the
// same output tile over different slices of K. The tile's columns are divided into `Blocks` equal parts, one per block
// of the cluster. The block with rank r in the cluster receives the r-th part from all other blocks through distributed shared memory
// and adds them to its own.
//
//   // 2 blocks, 8 warps along M; received parts at byte 0 of shared memory, mbarrier at byte 32768
//   const auto exchange = Exchange<2, Fragment<1, 128, 128, 1, 8, 1, 1>>::at(0, 32768, "partial");
//   if (threadIdx.x == 0) exchange.init(8), fence_mbarrier_init();   // 8 arrivals: the warps of the other block
//   cluster_sync();
//   ...                                       // d: the partial products over this block's slice of K
//   exchange.send(d, block_rank);             // sends to every other block its part of d
//   exchange.release(block_rank);
//   exchange.wait();
//   exchange.add(d, block_rank);              // adds the received parts to this block's part, in the order of ranks
//
// Use an Exchange once per kernel, because no barrier says when its memory may be overwritten. A block that has
// returned from wait() may exit: all writes to its shared memory have arrived.
#pragma once
#include <zellige/atom/mbarrier.hpp>
#include <zellige/block/fragment.hpp>

namespace zellige {

/// Adds accumulators of type F, a Fragment whose warps divide M only, over the `Blocks` blocks of a cluster.
template <int Blocks, class F>
struct Exchange {
  static constexpr int warps = F::warps_m, threads = 32 * warps;
  static constexpr int pairs = F::pairs / Blocks;   // pairs of accumulators of one thread in one part
  static constexpr int part = 2 * pairs * threads;  // elements of one part
  static constexpr int bytes = (Blocks - 1) * part * int(sizeof(float));
  static_assert(F::pairs % (2 * Blocks) == 0 && F::warps_b * F::warps_n * F::warps_k == 1,
                "Exchange: a part is a whole number of four columns of each thread, and warps lie along M");
  static_assert(F::my_b * F::my_m == 1, "Exchange: a part is some columns; a warp with several tiles along M has rows");
  smem<float> parts;
  smem<uint64_t> arrived;

  /// Returns an Exchange whose mbarrier is at byte `barrier_offset` of shared memory, and whose received parts are
  /// written to Exchange::bytes bytes from `parts_offset` on. The offsets must be the same in all blocks. The emulator
  /// names the memory of the received parts `name` in its error reports.
  ZELLIGE_CALL static Exchange at(unsigned parts_offset, unsigned barrier_offset, const char* name) {
    return {shared<float>(name, parts_offset, (Blocks - 1) * part), shared<uint64_t>("arrived", barrier_offset, 1)};
  }
  /// Initialises the mbarrier for one arrival per warp of the other blocks. Called by one thread, which then calls
  /// fence_mbarrier_init; a cluster barrier must follow.
  ZELLIGE_CALL void init(unsigned arrivals = (Blocks - 1) * warps) const { mbarrier_init(arrived, arrivals); }

  /// Writes to the shared memory of every other block the part of d that this other block adds up. `block_rank` is the rank
  /// of the calling block.
  ZELLIGE_CALL void send(F& d, int block_rank) const {
#pragma unroll
    for (int to = 0; to < Blocks; ++to) {
      if (to == block_rank) continue;
      const auto there = mapa(parts, to) + (place(block_rank, to) * part + 4 * static_cast<int>(threadIdx.x));
#pragma unroll
      for (int i = 0; i < pairs; i += 2) {
        const float *first = d.pair(to * pairs + i), *second = d.pair(to * pairs + i + 1);
        store(there + i / 2 * 4 * threads, Vec<float, 4>{{first[0], first[1], second[0], second[1]}});
      }
    }
  }
  /// Signals to the other blocks that the data that this warp sent to them is complete. Called by every warp after
  /// send(). `block_rank` is the rank of the calling block.
  ZELLIGE_CALL void release(int block_rank) const {
    __syncwarp();
    const int lane = threadIdx.x % 32;
    if (lane < Blocks && lane != block_rank) mbarrier_arrive_remote(arrived, lane);
  }
  /// Waits until the parts of all other blocks have arrived.
  ZELLIGE_CALL void wait() const { mbarrier_wait_cluster(arrived, 0); }
  /// Adds the received parts to the calling block's part of d, in the order of their ranks. Requires wait(). `block_rank` is
  /// the rank of the calling block.
  ZELLIGE_CALL void add(F& d, int block_rank) const {
    const auto here = parts + 4 * static_cast<int>(threadIdx.x);
#pragma unroll
    for (int to = 0; to < Blocks; ++to) {
      if (to != block_rank) continue;
#pragma unroll
      for (int from = 0; from < Blocks - 1; ++from)
#pragma unroll
        for (int i = 0; i < pairs; i += 2) {
          const Vec<float, 4> x = load<4>(here + (from * part + i / 2 * 4 * threads));
          float *first = d.pair(to * pairs + i), *second = d.pair(to * pairs + i + 1);
          first[0] += x[0], first[1] += x[1], second[0] += x[2], second[1] += x[3];
        }
    }
  }

 private:
  /// Returns the index of the slot in which block `to` receives the part that block `from` sends. A block has one slot
  /// per other block, in the order of their ranks.
  ZELLIGE_CALL static int place(int from, int to) { return from < to ? from : from - 1; }
};

}  // namespace zellige
