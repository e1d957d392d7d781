// Products of warpgroups whose accumulators are in tensor memory (tcgen05.mma of sm_100a and sm_103a). One thread of a
// warpgroup issues a product of 64 rows, and all of its threads load the accumulators when the loop has ended.
//
//   TensorProducts<1, 64> products;                              // one warpgroup, 64 columns; before the block's first barrier
//   __syncthreads();
//   Fragment<1, 64, 64, 1, 4> d;
//   products.issue<half_t, 4, 0>(d, k_major<64>(a), k_major<64>(b), false);   // in the columns from 0 on, d = a b
//   products.commit(), products.wait<0>();                       // a and b may be overwritten
//   products.load<0>(d);                                         // d may be read
//   products.free();                                             // at the end of the role
//
// The calls mirror those of wgmma (fragment_wgmma.hpp), with the same tiles, and leave the same elements in the same
// threads. The emulator executes them as wgmma: what is read when, and until when tiles may not be overwritten, is the same.
// It has no tensor memory for them, so that a column that another product overwrites is not found by it; columns of
// different products are disjoint, as emitted.
#pragma once
#include <zellige/block/fragment_wgmma.hpp>
#if !defined(ZELLIGE_EMULATE)
#include <zellige/atom/mbarrier.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/umma.hpp>
#endif

namespace zellige {

/// The accumulators of `Groups` warpgroups, the block's first warps, in `Columns` columns of tensor memory. They take 1024
/// bytes of static shared memory, whose multiple keeps the alignment of the tiles.
template <int Groups, int Columns>
class TensorProducts {
 public:
  /// Allocates the columns, and waits until other blocks of the multiprocessor leave enough of them.
  ZELLIGE_CALL TensorProducts() {
#if !defined(ZELLIGE_EMULATE)
    Shared& s = shared();
    if (threadIdx.x < 32) {
      TMEM::Allocator1Sm columns;
      columns.allocate(allocated, &s.address);
      columns.release_allocation_lock();
    }
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int i = 0; i < Groups * slots; ++i) mbarrier_init(&s.committed[0][0] + i, 1);
    }
    tcgen05_before_thread_sync();
#endif
  }

  /// Says that the next product from column `Column` on overwrites its accumulators.
  template <int Column>
  ZELLIGE_CALL void clear() {
#if !defined(ZELLIGE_EMULATE)
    fresh_ |= bit(Column);
#endif
  }

  /// Issues d = a b + (accumulate ? d : 0) over `Steps` times 32 bytes of K, as issue_wgmma does. The accumulators of a
  /// warpgroup lie after those of the one before, from column `Column` on.
  template <class T, int Steps, int Column, int Batch, int M, int N, int WM, class Of, class A, class B>
  ZELLIGE_CALL void issue(Fragment<Batch, M, N, 1, WM, 1, 1, Of>& d, const A& a, const B& b, bool accumulate = true) {
#if defined(ZELLIGE_EMULATE)
    issue_wgmma<T, Steps>(d, a, b, accumulate);
#else
    using F = Fragment<Batch, M, N, 1, WM, 1, 1, Of>;
    using Text = detail::LettersOf<UMMA::detail::Mnemonic<UMMA::Kind::f16, 1, false> >;
    constexpr int once = 16 * WM, times = M / once, columns = columns_of<F>();
    static_assert(M % once == 0 && WM == 4 * Groups && (times == 1 || Batch == 1),
                  "TensorProducts: each four warps take 64 rows at a time, adjacent matrices once");
    static_assert(Column + Groups * times * columns <= allocated, "TensorProducts: the columns are not allocated");
    constexpr uint32_t word =
        UMMA::InstrWord<number_of<T>, number_of<T>, Number::f32, 64, columns, A::major, B::major>::value;
    const bool adds = accumulate && (fresh_ & bit(Column)) == 0;
    fresh_ &= ~bit(Column);
    if (threadIdx.x % 128 != 0) return;
    tcgen05_after_thread_sync();
#pragma unroll
    for (int i = 0; i < times; ++i)
#pragma unroll
      for (int step = 0; step < Steps; ++step)
        UMMA::detail::issue<Text>(below(a, i * once)(step) | version, b(step) | version,
                                  shared().address + Column + (group() * times + i) * columns,
                                  uint32_t(step > 0 || adds), word);
#endif
  }

  /// Closes a group of what the warpgroup has issued since its previous group.
  ZELLIGE_CALL void commit() {
#if defined(ZELLIGE_EMULATE)
    wgmma_commit();
#else
    if (threadIdx.x % 128 == 0) tcgen05_commit(&shared().committed[group()][count_ % slots]);
    ++count_;
#endif
  }

  /// Waits until all groups except the newest `Pending` are complete: their tiles may be overwritten.
  template <int Pending>
  ZELLIGE_CALL void wait() {
#if defined(ZELLIGE_EMULATE)
    wgmma_wait<Pending>();
#else
    if (count_ <= Pending) return;
    const unsigned last = count_ - 1 - Pending;
    mbarrier_wait(&shared().committed[group()][last % slots], last / slots & 1);
#endif
  }

  /// Loads the accumulators from column `Column` on, whose products are complete. The warpgroup's next product may
  /// overwrite the columns.
  template <int Column, class F>
  ZELLIGE_CALL void load([[maybe_unused]] F& d) {
#if !defined(ZELLIGE_EMULATE)
    if ((fresh_ & bit(Column)) != 0) return;  // there was none, and d is clear
    constexpr int times = F::rows / (16 * F::warps_m), columns = columns_of<F>();
    uint32_t(&r)[sizeof(d.d) / 16][4] = reinterpret_cast<uint32_t(&)[sizeof(d.d) / 16][4]>(d.d);
    tcgen05_after_thread_sync();
    const uint32_t lanes = threadIdx.x / 32 % 4 * 32 << 16;
#pragma unroll
    for (int i = 0; i < times * columns / 8; ++i)
      SM100_TMEM_LOAD_16dp256b1x::call(r[i], (shared().address | lanes) + Column + group() * times * columns + 8 * i);
    tmem_load_wait();
    tcgen05_before_thread_sync();
    named_barrier_sync(last_barrier - group(), 128);
#endif
  }

  /// Frees the columns, after the last load of all warpgroups.
  ZELLIGE_CALL void free() {
#if !defined(ZELLIGE_EMULATE)
    named_barrier_sync(last_barrier - max_groups, 128 * Groups);
    if (threadIdx.x < 32) TMEM::Allocator1Sm{}.free(shared().address, allocated);
#endif
  }

#if !defined(ZELLIGE_EMULATE)
 private:
  static constexpr int max_groups = 4;
  static constexpr int slots = 16;  // more than a ring has stages, by which one warp may be ahead of another
  static constexpr unsigned last_barrier = 15;  // the planner's own begin at 1
  static constexpr uint64_t version = uint64_t(1) << 46;
  static constexpr int allocated = Columns <= 32    ? 32
                                   : Columns <= 64  ? 64
                                   : Columns <= 128 ? 128
                                   : Columns <= 256 ? 256
                                                    : 512;
  static_assert(Groups <= max_groups && Columns <= 512, "TensorProducts: at most four warpgroups, and 512 columns");

  struct Shared {
    uint64_t committed[max_groups][slots];
    uint32_t address;
    uint32_t unused[255 - 2 * max_groups * slots];
  };
  static_assert(sizeof(Shared) == 1024, "TensorProducts: keeps the alignment of the tiles");
  ZELLIGE_CALL static Shared& shared() {
    __shared__ __align__(1024) Shared s;
    return s;
  }
  ZELLIGE_CALL static int group() { return Groups == 1 ? 0 : threadIdx.x / 128; }
  /// Returns the columns of one instruction: 64 rows of them are divided among 128 threads.
  template <class F>
  ZELLIGE_HOST_DEVICE static constexpr int columns_of() {
    return 2 * int(sizeof(F::d) / sizeof(float)) / (F::rows / (16 * F::warps_m));
  }
  ZELLIGE_HOST_DEVICE static constexpr uint64_t bit(int column) { return uint64_t(1) << column / 8; }

  unsigned count_ = 0;  // groups that were closed
  uint64_t fresh_ = 0;  // by column / 8: the next product overwrites
#endif
};

}  // namespace zellige
