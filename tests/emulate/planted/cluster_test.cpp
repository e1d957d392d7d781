// Shared memory of a cluster of two blocks: copies, words and arrivals from one to the other, and blocks that end.
#include "planted.hpp"

namespace zellige::injected {
namespace {

template <bool right>
__global__ void leaves(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64), in = shared<float>("in", 256, 64);
  const auto bar = shared<uint64_t>("bar", 512, 1);
  const unsigned t = threadIdx.x;
  if (t == 0) {
    mbarrier_init(bar, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(bar, 256);
  }
  s[t] = x[t];
  fence_proxy_async();
  cluster_sync();
  if (t == 0) bulk_copy_cluster(in, cluster_ctarank() ^ 1, s, 256, bar);
  mbarrier_wait_cluster(bar, 0);
  y[64 * blockIdx.x + t] = in[t];
  if (right) cluster_sync();
}
// A copy to the other block, whose source the own block overwrites too early.
template <bool right>
__global__ void source_of_a_copy(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64), in = shared<float>("in", 256, 64);
  const auto bar = shared<uint64_t>("bar", 512, 1);
  const unsigned t = threadIdx.x;
  if (t == 0) {
    mbarrier_init(bar, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(bar, 256);
  }
  s[t] = x[t];
  fence_proxy_async();
  cluster_sync();
  if (t == 0) bulk_copy_cluster(in, cluster_ctarank() ^ 1, s, 256, bar);
  mbarrier_wait_cluster(bar, 0);
  if (right) cluster_sync();
  s[t] = 1;
  y[64 * blockIdx.x + t] = in[t];
  cluster_sync();
}
template <bool right>
__global__ void not_started(In x, Out y, Out) {
  const auto in = shared<float>("in", 0, 64);
  const unsigned t = threadIdx.x;
  if (right) cluster_sync();
  mapa(in, cluster_ctarank() ^ 1)[t] = x[t];
  cluster_sync();
  y[64 * blockIdx.x + t] = in[t];
}
template <bool right>
__global__ void read_after_departure(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  cluster_sync();
  y[64 * blockIdx.x + t] = mapa(s, cluster_ctarank() ^ 1)[t];
  if (right) cluster_sync();
}
template <bool right>
__global__ void written_over_a_read(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  cluster_sync();
  y[64 * blockIdx.x + t] = s[t];
  if (right) cluster_sync();
  mapa(s, cluster_ctarank() ^ 1)[t] = 1;
  cluster_sync();
}
template <bool right>
__global__ void block_barrier_only(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  cluster_sync();
  s[t] = x[t];
  if (right)
    cluster_sync();
  else
    __syncthreads();
  y[64 * blockIdx.x + t] = mapa(s, cluster_ctarank() ^ 1)[t];
  cluster_sync();
}
// A relaxed arrival releases the mbarriers that were initialised before the fence, and nothing else.
template <bool right>
__global__ void relaxed_after_writes(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 512, 1);
  const unsigned t = threadIdx.x;
  if (t == 0) mbarrier_init(bar, 1);
  fence_mbarrier_init();
  s[t] = x[t];
  if (right)
    cluster_arrive();
  else
    cluster_arrive_relaxed();
  cluster_wait();
  y[64 * blockIdx.x + t] = mapa(s, cluster_ctarank() ^ 1)[t];
  cluster_sync();
}
template <bool right>
__global__ void words_without_a_wait(In, Out y, Out) {
  const auto in = shared<float>("in", 0, 64);
  const auto bar = shared<uint64_t>("bar", 512, 1);
  const unsigned t = threadIdx.x;
  if (t == 0) {
    mbarrier_init(bar, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(bar, 256);
  }
  cluster_sync();
  store_async(in + t, cluster_ctarank() ^ 1, t, bar);
  if (right) mbarrier_wait_cluster(bar, 0);
  y[64 * blockIdx.x + t] = in[t];
  mbarrier_wait_cluster(bar, 0);
}
// Block 0 loads into both blocks; it learns from its own block alone that the stage is free.
template <bool right>
__global__ void multicast_into_a_read(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto full = shared<uint64_t>("full", 512, 1), empty = shared<uint64_t>("empty", 520, 1);
  const unsigned t = threadIdx.x, rank = cluster_ctarank();
  if (t == 0) {
    mbarrier_init(full, 1);
    mbarrier_init(empty, right ? 128 : 64);
    fence_mbarrier_init();
  }
  cluster_sync();
  for (unsigned i = 0; i < 2; ++i) {
    if (t == 0) mbarrier_arrive_expect_tx(full, 256);
    if (rank == 0 && t == 0) {
      if (i) mbarrier_wait_cluster(empty, 0);
      bulk_load_multicast(s, x, 256, full, 3);
    }
    mbarrier_wait_cluster(full, i);
    y[64 * blockIdx.x + t] = s[t];
    if (i) continue;
    if (right || rank == 0) mbarrier_arrive_remote(empty, 0);
  }
  cluster_sync();
}
template <bool right>
__global__ void arrival_at_a_departed(In, Out, Out) {
  const auto bar = shared<uint64_t>("bar", 512, 1);
  if (threadIdx.x == 0) {
    mbarrier_init(bar, 1);
    fence_mbarrier_init();
  }
  cluster_sync();
  if (threadIdx.x == 0) mbarrier_arrive_remote(bar, cluster_ctarank() ^ 1);
  if (right) mbarrier_wait_cluster(bar, 0);
}

TEST(InjectedInClusters, AreFoundAndTheRightOnesAreNot) {
  const Launching two{.grid = {2}, .cluster = {2}};
  check({
      {"leaves", entry<leaves<true>>, entry<leaves<false>>, Kind::departed, "bulk_copy_cluster", two},
      {"source of a copy", entry<source_of_a_copy<true>>, entry<source_of_a_copy<false>>, Kind::race, "may still read",
       two},
      {"not started", entry<not_started<true>>, entry<not_started<false>>, Kind::race, "has started", two},
      {"read too late", entry<read_after_departure<true>>, entry<read_after_departure<false>>, Kind::departed, "s",
       two},
      {"written over a read", entry<written_over_a_read<true>>, entry<written_over_a_read<false>>, Kind::race, "s",
       two},
      {"block barrier only", entry<block_barrier_only<true>>, entry<block_barrier_only<false>>, Kind::race, "s", two},
      {"relaxed after writes", entry<relaxed_after_writes<true>>, entry<relaxed_after_writes<false>>, Kind::race, "s",
       two},
      {"words without a wait", entry<words_without_a_wait<true>>, entry<words_without_a_wait<false>>, Kind::race, "in",
       two},
      {"multicast into a read", entry<multicast_into_a_read<true>>, entry<multicast_into_a_read<false>>, Kind::race,
       "s", two},
      {"arrival at a departed block", entry<arrival_at_a_departed<true>>, entry<arrival_at_a_departed<false>>,
       Kind::departed, "", two},
  });
}

}  // namespace
}  // namespace zellige::injected
