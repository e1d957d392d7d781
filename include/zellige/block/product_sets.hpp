// Products in tensor memory by a warp role of one thread, into sets of columns alternately: while the warps of another role load the
// accumulators of one output tile, the products of the next go into another set (tcgen05.mma of sm_100a and sm_103a).
//
//   ProductSets<2, 128, 2, 2> products(barriers, address);           // two warpgroups load 128 columns, of one of two sets
//   if (threadIdx.x == 0) products.init(8), fence_mbarrier_init();   // 8 warps load
//   __syncthreads();
//   products.find();                                                 // each thread of both roles
//
//   auto set = products.first_empty();                               // the thread that multiplies, for each output tile
//   products.acquire(set), products.clear<0>();
//   products.issue<half_t, 4, 0, F>(set, k_major<128>(a), k_major<128>(b));   // F: Fragment<1, 128, 128, 1, 8>
//   products.commit(ring.empty_barrier(stage));                      // a and b may be overwritten
//   products.commit(products.full_barrier(set)), ++set;
//
//   auto loaded = products.first();                                  // the warps that load, for each output tile
//   products.wait(loaded), products.load<0>(d, loaded), products.release(loaded), ++loaded;
//   products.free();                                                 // at their end
//
// No thread waits for a product itself: an mbarrier at which the products arrive says that a stage of the operands is empty, or a
// set full. A set is empty when each warp has loaded its part of it.
#pragma once
#include <zellige/block/ring.hpp>
#include <zellige/block/tensor_memory.hpp>

namespace zellige {

/// `Sets` sets of `Columns` columns, each for the accumulators of `Groups` warpgroups, the block's first warps. An instruction
/// multiplies the rows of `Together` warpgroups: 1, or 2 of an even number. thread() of TensorProducts numbers the threads.
template <int Groups, int Columns, int Together, int Sets>
class ProductSets : public RingBarriers<Sets> {
  using Products = TensorProducts<Groups, Columns * Sets, Together>;

 public:
  using Stage = RingStage<Sets>;
  static constexpr int bytes = 16;  // of shared memory for the address, besides 16 for the mbarriers of each set

  /// Allocates the columns. The mbarriers of the sets lie at byte `barriers` of shared memory, the address at byte `address`.
  ZELLIGE_CALL ProductSets(unsigned barriers, unsigned address)
      : RingBarriers<Sets>{shared<uint64_t>("full accumulators", barriers, Sets),
                           shared<uint64_t>("empty accumulators", barriers + 8 * Sets, Sets)},
        address_(shared<uint32_t>("columns", address, 1)) {
    Products::allocate(address_);
  }
  /// Initialises the mbarriers for `consumers` warps that load. Called by one thread.
  ZELLIGE_CALL void init(unsigned consumers) const { this->init_barriers(1, consumers); }
  /// Reads where the columns are. Called by the threads of both roles after the block's first barrier.
  ZELLIGE_CALL void find() {
    tcgen05_after_thread_sync();
    columns_ = *address_;
  }
  ZELLIGE_CALL static Stage first() { return Stage::first(); }
  ZELLIGE_CALL static Stage first_empty() { return Stage::first_empty(); }

  // ---- of the thread that multiplies ----

  /// Waits until set s has been loaded.
  ZELLIGE_CALL void acquire(const Stage& s) const {
    this->wait_empty(s);
    tcgen05_after_thread_sync();
  }
  /// Says that the next product from column `Column` of a set on overwrites its accumulators.
  template <int Column>
  ZELLIGE_CALL void clear() {
    fresh_ |= Products::bit(Column);
  }
  /// Issues d = a b + d over `Steps` times 32 bytes of K, for a fragment F of all warpgroups, from column `Column` of set s on. a is the
  /// operand of all rows.
  template <class T, int Steps, int Column, class F, class A, class B>
  ZELLIGE_CALL void issue(const Stage& s, const A& a, const B& b) {
    constexpr int rows = 16 * F::warps_m, times = F::rows / rows, columns = Products::template columns_of<F>();
    using Mma = typename Products::template Mma<T, columns, A, B>;
    static_assert(
        F::rows % rows == 0 && F::warps_m == 4 * Groups && Column + Products::sets * times * columns <= Columns,
        "ProductSets: the rows are not those of all warpgroups, or the columns are not those of a set");
    const bool adds = (fresh_ & Products::bit(Column)) == 0;
    fresh_ &= ~Products::bit(Column);
#pragma unroll
    for (int i = 0; i < Products::sets * times; ++i)
#pragma unroll
      for (int step = 0; step < Steps; ++step)
        Mma::issue(below(a, i / times * (64 * Together) + i % times * rows)(step) | Products::version,
                   b(step) | Products::version, columns_ + s.index * Columns + Column + i * columns,
                   uint32_t(step > 0 || adds));
  }
  /// Arrives at the mbarrier when all products that were issued are complete.
  ZELLIGE_CALL void commit(smem<uint64_t> barrier) const { tcgen05_commit(barrier); }
  /// The same at the mbarrier of each block of the cluster whose bit is set.
  ZELLIGE_CALL void commit(smem<uint64_t> barrier, unsigned blocks) const {
    tcgen05_commit_multicast(barrier, static_cast<uint16_t>(blocks));
  }

  // ---- of the warps that load ----

  /// Loads the accumulators from column `Column` of set s on, which is full.
  template <int Column, class F>
  ZELLIGE_CALL void load(F& d, const Stage& s) const {
    constexpr int count = F::rows / (16 * F::warps_m) * Products::template columns_of<F>();
    tcgen05_after_thread_sync();
    Products::template load_columns<count>(d, columns_ + s.index * Columns + Column);
    tcgen05_before_thread_sync();
  }
  /// Says that the warp has loaded its accumulators of set s. Called by all lanes.
  ZELLIGE_CALL void release(const Stage& s) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) mbarrier_arrive(this->empty + s.index);
  }
  /// Frees the columns, after the last load of all warpgroups.
  ZELLIGE_CALL void free() const { Products::free_columns(columns_); }

 private:
  smem<uint32_t> address_;
  uint32_t columns_ = ~0u;  // the address of the first, which find() reads
  uint64_t fresh_ = 0;      // by column / 8: the next product overwrites
};

}  // namespace zellige
