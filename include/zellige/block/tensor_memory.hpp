// Products of warpgroups whose accumulators are in tensor memory (tcgen05.mma of sm_100a and sm_103a). One thread issues a
// product of 64 rows for a warpgroup, or of 128 for two, and all of their threads load the accumulators when the loop has ended.
//
//   TensorProducts<1, 64, 1> products(at);                       // one warpgroup, 64 columns; its mbarriers lie at byte `at`
//                                                                // of shared memory; before the block's first barrier
//   __syncthreads();
//   products.find();                                             // all threads of the warpgroup
//   Fragment<1, 64, 64, 1, 4> d;
//   products.issue<half_t, 4, 0>(d, k_major<64>(a), k_major<64>(b), false);   // in the columns from 0 on, d = a b
//   products.commit(), products.wait<0>();                       // a and b may be overwritten
//   products.load<0>(d);                                         // d may be read
//   products.free();                                             // at the end of the role
//
// The calls mirror those of wgmma (fragment_wgmma.hpp), with the same tiles, and leave the same elements in the same
// threads; with two warpgroups at a time, those of thread() in place of threadIdx.x.
#pragma once
#include <zellige/atom/mbarrier.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/umma.hpp>
#include <zellige/block/fragment.hpp>
#include <zellige/block/wgmma_operand.hpp>

namespace zellige {

/// The accumulators of `Groups` warpgroups, the block's first warps, in `Columns` columns of tensor memory. An instruction
/// multiplies the rows of `Together` warpgroups: 1, or 2 of an even number.
template <int Groups, int Columns, int Together>
class TensorProducts {
  static constexpr int max_groups = 4;
  static constexpr int slots = 16;  // more than a ring has stages, by which one warp may be ahead of another

 public:
  static constexpr int sets = Groups / Together, set_threads = 128 * Together;
  static constexpr int barriers = sets * slots;
  static constexpr int bytes = 8 * barriers + 16;  // of shared memory: the mbarriers, and the address of the columns

  /// Returns the thread's number in the order of the rows of which it has accumulators. Warps w and w + 4 access the same 32 lanes
  /// of tensor memory, which have adjacent rows: w has the first 16 of them, and its number is 2 w.
  ZELLIGE_CALL static int thread() {
    const int t = threadIdx.x;
    if constexpr (Together == 1) return t;
    return t / 256 * 256 + (t / 32 % 4 * 2 + t / 128 % 2) * 32 + t % 32;
  }

  /// Allocates the columns, and waits until other blocks of the multiprocessor leave enough of them. The object takes
  /// `bytes` bytes of shared memory from `offset` on, a multiple of 16.
  ZELLIGE_CALL explicit TensorProducts(unsigned offset)
      : committed_(shared<uint64_t>("committed", offset, barriers)),
        address_(shared<uint32_t>("columns", offset + 8 * barriers, 1)) {
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int i = 0; i < barriers; ++i) mbarrier_init(committed_ + i, 1);
    }
    allocate(address_);
  }

  /// Reads where the columns are. Called by all threads of the warpgroups after the block's first barrier.
  ZELLIGE_CALL void find() {
    tcgen05_after_thread_sync();
    columns_ = *address_;
  }

  /// Says that the next product from column `Column` on overwrites its accumulators.
  template <int Column>
  ZELLIGE_CALL void clear() {
    fresh_ |= bit(Column);
  }

  /// Issues d = a b + (accumulate ? d : 0) over `Steps` times 32 bytes of K, as issue_wgmma does. The accumulators of the
  /// warpgroups of an instruction lie after those of the ones before, from column `Column` on.
  template <class T, int Steps, int Column, int Batch, int M, int N, int WM, class Of, class A, class B>
  ZELLIGE_CALL void issue(Fragment<Batch, M, N, 1, WM, 1, 1, Of>&, const A& a, const B& b, bool accumulate = true) {
    using F = Fragment<Batch, M, N, 1, WM, 1, 1, Of>;
    constexpr int once = 16 * WM, times = M / once, columns = columns_of<F>();
    static_assert(M % once == 0 && WM == 4 * Groups && (times == 1 || Batch == 1),
                  "TensorProducts: each four warps take 64 rows at a time, adjacent matrices once");
    static_assert(Column + sets * times * columns <= allocated, "TensorProducts: the columns are not allocated");
    const bool adds = accumulate && (fresh_ & bit(Column)) == 0;
    fresh_ &= ~bit(Column);
    if (threadIdx.x % set_threads != 0) return;
    tcgen05_after_thread_sync();
#pragma unroll
    for (int i = 0; i < times; ++i)
#pragma unroll
      for (int step = 0; step < Steps; ++step)
        Mma<T, columns, A, B>::issue(below(a, i * once)(step) | version, b(step) | version,
                                     columns_ + Column + (set() * times + i) * columns, uint32_t(step > 0 || adds));
  }

  /// Closes a group of what the warpgroup has issued since its previous group.
  ZELLIGE_CALL void commit() {
    if (threadIdx.x % set_threads == 0) tcgen05_commit(committed_ + (set() * slots + count_ % slots));
    ++count_;
  }

  /// Waits until all groups except the newest `Pending` are complete: their tiles may be overwritten.
  template <int Pending>
  ZELLIGE_CALL void wait() {
    static_assert(Pending < slots, "TensorProducts: Pending exceeds the mbarriers");
    const unsigned last = count_ - 1 - Pending;
    mbarrier_wait(committed_ + (set() * slots + last % slots), last / slots & 1);
  }

  /// Loads the accumulators from column `Column` on, whose products are complete. The warpgroup's next product may
  /// overwrite the columns.
  template <int Column, class F>
  ZELLIGE_CALL void load(F& d) {
    if ((fresh_ & bit(Column)) != 0) return;  // there was none, and d is clear
    tcgen05_after_thread_sync();
    load_columns<F::rows / (16 * F::warps_m) * columns_of<F>()>(d, columns_ + Column);
    tcgen05_before_thread_sync();
    named_barrier_sync(last_barrier - set(), set_threads);
  }

  /// Frees the columns, after the last load of all warpgroups.
  ZELLIGE_CALL void free() const { free_columns(columns_); }

 private:
  template <int, int, int, int>
  friend class ProductSets;

  static constexpr unsigned last_barrier = 15;  // the planner's own begin at 1
  static constexpr uint64_t version = uint64_t(1) << 46;
  static constexpr int allocated = Columns <= 32    ? 32
                                   : Columns <= 64  ? 64
                                   : Columns <= 128 ? 128
                                   : Columns <= 256 ? 256
                                                    : 512;
  static_assert(Groups <= max_groups && Columns <= 512, "TensorProducts: at most four warpgroups, and 512 columns");
  static_assert(Together == 1 || (Together == 2 && Groups % 2 == 0), "TensorProducts: one warpgroup at a time, or two");

  /// The instruction that multiplies these operands into that number of columns.
  template <class T, int N, class A, class B>
  using Mma =
      UMMA::detail::UmmaOp<sizeof(T) == 1 ? UMMA::Kind::f8f6f4 : UMMA::Kind::f16, 1, false, T, T, float, 64 * Together,
                           N, A::major, B::major, UMMA::ScaleIn::One, UMMA::ScaleIn::One, UMMA::Saturate::False>;

  ZELLIGE_CALL static void allocate(smem<uint32_t> address) {
    if (threadIdx.x < 32) {
      const TMEM::Allocator1Sm columns;
      columns.allocate(allocated, address);
      columns.release_allocation_lock();
    }
    tcgen05_before_thread_sync();
  }
  /// Loads the thread's accumulators: those of its warpgroups, `Count` columns, after those of the ones before, from `columns` on.
  template <int Count, class F>
  ZELLIGE_CALL static void load_columns(F& d, uint32_t columns) {
    uint32_t(&r)[sizeof(d.d) / 16][4] = reinterpret_cast<uint32_t(&)[sizeof(d.d) / 16][4]>(d.d);
    const uint32_t lanes = (threadIdx.x / 32 % 4 * 32 + threadIdx.x / 128 % Together * 16) << 16;
#pragma unroll
    for (int i = 0; i < Count / 8; ++i)
      SM100_TMEM_LOAD_16dp256b1x::call(r[i], (columns | lanes) + set() * Count + 8 * i);
    tmem_load_wait();
  }
  ZELLIGE_CALL static void free_columns(uint32_t columns) {
    named_barrier_sync(last_barrier - max_groups, 128 * Groups);
    if (threadIdx.x < 32) TMEM::Allocator1Sm().free(columns, allocated);
  }

  /// Returns the number of the warpgroups that multiply with the caller's.
  ZELLIGE_CALL static int set() { return sets == 1 ? 0 : threadIdx.x / set_threads; }
  /// Returns the columns of one instruction: each row of them is divided among four threads.
  template <class F>
  ZELLIGE_HOST_DEVICE static constexpr int columns_of() {
    return 2 * int(sizeof(F::d) / sizeof(float)) / (F::rows / (16 * F::warps_m));
  }
  ZELLIGE_HOST_DEVICE static constexpr uint64_t bit(int column) { return uint64_t(1) << column / 8; }

  smem<uint64_t> committed_;
  smem<uint32_t> address_;
  uint32_t columns_ = ~0u;  // the address of the first, which find() reads
  unsigned count_ =
      2 * slots;        // groups that were closed; those before the first have ended, as a new mbarrier says of them
  uint64_t fresh_ = 0;  // by column / 8: the next product overwrites
};

}  // namespace zellige
