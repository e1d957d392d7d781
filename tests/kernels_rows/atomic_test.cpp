// atomic_increment: blocks that count their arrival, and the memory ordering.
#include "zellige/atom/atomic.hpp"

#include "kernel_trial.hpp"
#include "zellige/atom/griddepcontrol.hpp"

namespace zellige {
namespace {

/// Each block writes its 64 numbers; the last one to count adds them up.
template <bool Barrier>
void last_adds(gmem<float> parts, gmem<unsigned> counter, gmem<float> total) {
  const int tid = threadIdx.x, block = blockIdx.x, blocks = gridDim.x;
  parts[block * 64 + tid] = float(block + 1);
  if constexpr (Barrier) __syncthreads();
  const smem<unsigned> arrived = shared<unsigned>("arrived", 0, 1);
  if (tid == 0) arrived[0] = atomic_increment(counter, blocks - 1);
  __syncthreads();
  if (arrived[0] != unsigned(blocks - 1)) return;
  float sum = 0;
  for (int b = 0; b < blocks; ++b) sum += parts[b * 64 + (tid + 1) % 64];
  total[tid] = sum;
}

template <auto Kernel>
emulate::EmulationReport count(unsigned blocks, Device<unsigned>& counter, Device<float>& total, int workers) {
  Device<float> parts("parts", blocks * 64);
  emulate::LaunchConfig config;
  config.grid = {blocks}, config.block = {64}, config.shared_bytes = 16, config.workers = workers;
  config.parameters = {parts.out(), counter.out(), total.out()};
  return emulate::run(kernel_entry<Kernel>, config);
}

TEST(AtomicIncrement, TheLastBlockSeesAll) {
  for (const int workers : {1, 4}) {
    Device<unsigned> counter("counter", 1);
    Device<float> total("total", 64);
    counter.fill(0);
    for (int launch = 0; launch < 2; ++launch) {
      EXPECT_EQ(all_messages(count<last_adds<true>>(9, counter, total, workers)), "");
      EXPECT_EQ(counter.data()[0], 0u);
      for (int i = 0; i < 64; ++i) ASSERT_EQ(total[i], 45.0);
    }
  }
}

TEST(AtomicIncrement, OnlyWhatABarrierOrderedIsReleased) {
  Device<unsigned> counter("counter", 1);
  Device<float> total("total", 64);
  counter.fill(0);
  const std::string found = all_messages(count<last_adds<false>>(2, counter, total, 1));
  EXPECT_NE(found.find("race between blocks on global tensor parts: thread 33 (warp 1) of block (0,0,0) "
                       "writes bytes 132..136"),
            std::string::npos)
      << found;
}

void counts_only(gmem<unsigned> counter, gmem<unsigned> before) {
  griddep_wait();
  before[blockIdx.x * 64 + threadIdx.x] = atomic_increment(counter, 2);
}
TEST(AtomicIncrement, Wraps) {
  Device<unsigned> counter("counter", 1), before("before", 64);
  counter.fill(7);  // beyond the last one: 0 comes next
  EXPECT_EQ(all_messages(launch<counts_only>({{1}, {64}, 0}, {counter.out(), before.out()})), "");
  std::vector<int> seen(8);
  for (int i = 0; i < 64; ++i) ++seen[before.data()[i]];
  EXPECT_EQ(seen, (std::vector<int>{21, 21, 21, 0, 0, 0, 0, 1}));
}
TEST(AtomicIncrement, OfAnUninitialisedCounter) {
  Device<unsigned> counter("counter", 1), before("before", 64);
  const std::string found = all_messages(launch<counts_only>({{1}, {64}, 0}, {counter.out(), before.out()}));
  EXPECT_EQ(found.rfind("uninitialised read of global tensor counter: thread 0 (warp 0) of block (0,0,0) "
                        "counts bytes 0..4 at ",
                        0),
            0u)
      << found;
}
void counts_beyond(gmem<unsigned> counter, gmem<unsigned> before) {
  before[threadIdx.x] = atomic_increment(counter + 1, 2);
}
TEST(AtomicIncrement, BeyondTheBuffer) {
  Device<unsigned> counter("counter", 1), before("before", 64);
  counter.fill(0);
  const std::string found = all_messages(launch<counts_beyond>({{1}, {64}, 0}, {counter.out(), before.out()}));
  EXPECT_EQ(found.rfind("out of bounds on global tensor counter: thread 0 (warp 0) of block (0,0,0) writes "
                        "bytes 4..8 at ",
                        0),
            0u)
      << found;
}

}  // namespace
}  // namespace zellige
