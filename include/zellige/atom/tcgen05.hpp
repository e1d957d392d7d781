// What surrounds the matrix instructions of SM100: tensor memory is allocated and freed, products are committed to an
// mbarrier, and fences order them with the threads. Device code of nvcc and the emulator; compile for sm_100a or sm_103a.
//
//   TMEM::Allocator1Sm columns;
//   if (warp == 0) columns.allocate(512, &shared_address);       // writes the address to shared memory
//   ...
//   if (one thread) tcgen05_commit(&barrier);                    // arrives when the products before it are complete
//   mbarrier_wait(&barrier, phase);
//   tcgen05_after_thread_sync();
//   ...
//   if (warp == 0) columns.release_allocation_lock(), columns.free(shared_address, 512);
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/layout/config.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/tcgen05_emulated.hpp>
#endif

namespace zellige {

#if defined(__CUDACC__)
namespace detail {
ZELLIGE_CALL uint32_t smem_word(void const* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
}  // namespace detail

/// Arrives at the mbarrier when all tcgen05 instructions that this thread has issued are complete.
ZELLIGE_CALL void tcgen05_commit(uint64_t const* barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(detail::smem_word(barrier))
      : "memory");
}
/// The same for instructions of pairs of CTAs.
ZELLIGE_CALL void tcgen05_commit_pair(uint64_t const* barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(detail::smem_word(barrier))
      : "memory");
}
/// Arrives at the mbarrier at the same place in each CTA of the cluster whose bit is set in `ctas`.
ZELLIGE_CALL void tcgen05_commit_multicast(uint64_t const* barrier, uint16_t ctas) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
          detail::smem_word(barrier)),
      "h"(ctas)
      : "memory");
}
ZELLIGE_CALL void tcgen05_commit_multicast_pair(uint64_t const* barrier, uint16_t ctas) {
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
          detail::smem_word(barrier)),
      "h"(ctas)
      : "memory");
}
/// Orders this thread's tcgen05 instructions before what synchronises threads next, and after it.
ZELLIGE_CALL void tcgen05_before_thread_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
ZELLIGE_CALL void tcgen05_after_thread_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
/// Waits until the registers that this thread's tcgen05.ld write are written.
ZELLIGE_CALL void tmem_load_wait() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
/// Waits until this thread's tcgen05.st are complete.
ZELLIGE_CALL void tmem_store_wait() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
#endif

namespace TMEM {

/// Allocates columns of tensor memory, for CTAs that issue alone (Ctas 1) or in pairs (2). One warp, the same one each time,
/// calls it; of a pair, the same warp of both.
template <int Ctas>
struct Allocator {
  static constexpr int ColumnsPerAllocationSlice = 32;
  static constexpr int Sm100TmemCapacityColumns = 512;

#if defined(__CUDACC__)
  ZELLIGE_DEVICE Allocator() {}
  /// Waits until `columns` (a power of two, 32 to 512) are free, and writes the address of the first to shared memory.
  ZELLIGE_DEVICE void allocate(int columns, uint32_t* address) const {
    uint32_t const to = detail::smem_word(address);
    if constexpr (Ctas == 1)
      asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to), "r"(columns)
                   : "memory");
    else
      asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to), "r"(columns)
                   : "memory");
  }
  /// Frees the columns that were allocated at `address`. Before the kernel ends all must be free.
  ZELLIGE_DEVICE void free(uint32_t address, int columns) const {
    if constexpr (Ctas == 1)
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns));
    else
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns));
  }
  /// Gives up the permit to allocate, so that another CTA of the SM may: this CTA allocates no more.
  ZELLIGE_DEVICE void release_allocation_lock() const {
    if constexpr (Ctas == 1)
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    else
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
  }
#elif defined(ZELLIGE_EMULATE)
  template <class P>
  ZELLIGE_CALL void allocate(int columns, P address) const {
    emulate::tmem_alloc(zellige::detail::checked_place(address), unsigned(columns), Ctas);
  }
  ZELLIGE_CALL void free(uint32_t address, int columns) const {
    emulate::tmem_dealloc(address, unsigned(columns), Ctas);
  }
  ZELLIGE_CALL void release_allocation_lock() const { emulate::tmem_relinquish(Ctas); }
#endif
};
using Allocator1Sm = Allocator<1>;
using Allocator2Sm = Allocator<2>;

}  // namespace TMEM
}  // namespace zellige
