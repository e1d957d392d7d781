// Shared memory of a block and of a cluster: mbarriers, asynchronous copies, the end of a block.
#include "planted.hpp"

namespace zellige::planted {
namespace {

template <bool right>
__global__ void initialised_twice(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 1);
  const unsigned t = threadIdx.x;
  start(bar, 64);
  if (t == 0 && right) mbarrier_inval(bar);
  start(bar, 64);
  s[t] = x[t];
  mbarrier_arrive(bar);
  mbarrier_wait(bar, 0);
  y[t] = s[63 - t];
}
template <bool right>
__global__ void invalidated_in_use(In, Out, Out) {
  const auto bar = shared<uint64_t>("bar", 256, 1);
  start(bar, 64);
  mbarrier_arrive(bar);
  mbarrier_wait(bar, 0);
  if (right) __syncthreads();
  if (threadIdx.x == 0) mbarrier_inval(bar);
}
template <bool right>
__global__ void invalidated_before_a_copy(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 1);
  start(bar, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(bar, 256);
    bulk_load(s, x, 256, bar);
    if (right) mbarrier_wait(bar, 0);
    mbarrier_inval(bar);
    if (right) y[0] = s[0];
  }
}
template <bool right>
__global__ void used_after_inval(In, Out, Out) {
  const auto bar = shared<uint64_t>("bar", 256, 1);
  start(bar, 1);
  if (threadIdx.x == 0) {
    if (right) mbarrier_arrive(bar);
    mbarrier_inval(bar);
    if (!right) mbarrier_arrive(bar);
  }
}
template <bool right>
__global__ void data_over_a_barrier(In x, Out y, Out) {
  const auto bar = shared<uint64_t>("bar", 0, 1);
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  start(bar, 64);
  mbarrier_arrive(bar);
  mbarrier_wait(bar, 0);
  __syncthreads();
  if (t == 0 && right) mbarrier_inval(bar);
  __syncthreads();
  s[t] = x[t];
  __syncthreads();
  y[t] = s[63 - t];
}
template <bool right>
__global__ void copy_over_a_barrier(In x, Out y, Out) {
  const auto bar = shared<uint64_t>("bar", 0, 1), other = shared<uint64_t>("other", 1024, 1);
  const auto s = shared<float>("s", right ? 512 : 0, 64);
  const unsigned t = threadIdx.x;
  start(bar, 64);
  start(other, 1);
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    mbarrier_arrive_expect_tx(other, 256);
    bulk_load(s, x, 256, other);
  }
  mbarrier_wait(other, 0);
  y[t] = s[t];
}
template <bool right>
__global__ void used_before_visible(In, Out, Out) {
  const auto bar = shared<uint64_t>("bar", 0, 1);
  if (threadIdx.x == 0) {
    mbarrier_init(bar, 64);
    fence_mbarrier_init();
  }
  if (right) __syncthreads();
  mbarrier_arrive(bar);
}
template <bool right>
__global__ void fence_after_the_barrier(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 1);
  const unsigned t = threadIdx.x;
  if (t == 0) {
    mbarrier_init(bar, 1);
    if (right) fence_mbarrier_init();
  }
  __syncthreads();
  if (t == 0 && !right) fence_mbarrier_init();
  if (t == 32) {
    mbarrier_arrive_expect_tx(bar, 256);
    bulk_load(s, x, 256, bar);
  }
  mbarrier_wait(bar, 0);
  y[t] = s[t];
}
template <unsigned count>
__global__ void expected(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 1);
  const unsigned t = threadIdx.x;
  start(bar, count);
  s[t] = x[t];
  mbarrier_arrive(bar);
  mbarrier_wait(bar, 0);
  y[t] = s[63 - t];
}
template <unsigned bytes>
__global__ void announced(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 1);
  const unsigned t = threadIdx.x;
  start(bar, 1);
  if (t == 0) {
    mbarrier_arrive_expect_tx(bar, bytes);
    bulk_load(s, x, 128, bar);
    bulk_load(s + 32, x, 128, bar);
  }
  mbarrier_wait(bar, 0);
  y[t] = s[t];
}
// A ring of one stage. `bug` plants one fault.
enum class Ring { right, same_parity, no_empty_wait, early_arrive, first_parity, waits_for_full };
template <Ring bug>
__global__ void ring(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 2);
  const unsigned t = threadIdx.x;
  const auto full = bar, empty = bar + 1;
  if (t == 0) {
    mbarrier_init(full, 1);
    mbarrier_init(empty, 32);
    fence_mbarrier_init();
  }
  __syncthreads();
  if (t == 32) {
    for (unsigned i = 0; i < 6; ++i) {
      if (bug != Ring::no_empty_wait) mbarrier_wait(empty, ((i & 1) ^ 1) ^ (bug == Ring::first_parity ? 1 : 0));
      mbarrier_arrive_expect_tx(full, 256);
      bulk_load(s, x + 64 * i, 256, full);
    }
    for (unsigned i = 0; i < 1; ++i) mbarrier_wait(empty, 1);
  } else if (t < 32) {
    for (unsigned i = 0; i < 6; ++i) {
      if (bug != Ring::waits_for_full) mbarrier_wait(full, bug == Ring::same_parity ? 0 : i & 1);
      if (bug == Ring::early_arrive) mbarrier_arrive(empty);
      y[64 * i + t] = s[t] + s[t + 32];
      if (bug != Ring::early_arrive) mbarrier_arrive(empty);
    }
  }
}
template <bool right>
__global__ void too_many_bytes(In, Out, Out) {
  const auto bar = shared<uint64_t>("bar", 0, 1);
  start(bar, 1);
  if (threadIdx.x == 0) {
    mbarrier_expect_tx(bar, right ? 1000000 : 1048576);
    mbarrier_complete_tx(bar, right ? 1000000 : 1048576);
    mbarrier_arrive(bar);
    mbarrier_wait(bar, 0);
  }
}
template <bool right>
__global__ void misplaced(In, Out, Out) {
  const auto bar = shared<uint64_t>("bar", right ? 8 : 4, 1);
  start(bar, 64);
  mbarrier_arrive(bar);
}
template <bool right>
__global__ void copies_arrive(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 1);
  const unsigned t = threadIdx.x;
  start(bar, 64);
  cp_async<4>(s + t, x + t);
  if (right)
    cp_async_mbarrier_arrive(bar);
  else
    mbarrier_arrive(bar);
  mbarrier_wait(bar, 0);
  y[t] = s[63 - t];
}
template <bool right>
__global__ void stores_from_a_changed_tile(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    if (right) tma_store_wait<0>();
  }
  __syncthreads();
  s[t] = 2;
  if (t == 0) tma_store_wait_complete<0>();
}
template <bool right>
__global__ void fenced_by_another(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  if (right || t == 0) fence_proxy_async_shared();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
template <bool right>
__global__ void fence_of_the_other_space(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  if (right)
    fence_proxy_async_shared();
  else
    fence_proxy_async_global();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
template <bool right>
__global__ void load_over_written(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 1);
  const unsigned t = threadIdx.x;
  start(bar, 1);
  s[t] = x[t];
  y[64 + t] = s[t];
  if (right) fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    mbarrier_arrive_expect_tx(bar, 256);
    bulk_load(s, x, 256, bar);
  }
  mbarrier_wait(bar, 0);
  y[t] = s[t];
}
template <bool right>
__global__ void store_not_waited_for(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  s[threadIdx.x] = x[threadIdx.x];
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    if (right) tma_store_wait<0>();
  }
}
template <bool right>
__global__ void load_not_waited_for(In x, Out, Out) {
  const auto s = shared<float>("s", 0, 64);
  const auto bar = shared<uint64_t>("bar", 256, 1);
  start(bar, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(bar, 256);
    bulk_load(s, x, 256, bar);
    if (right) mbarrier_wait(bar, 0);
  }
}
template <bool right>
__global__ void bytes_race(In, Out y, Out) {
  const auto s = shared<unsigned char>("s", 0, 128);
  const unsigned t = threadIdx.x;
  s[t] = static_cast<unsigned char>(t);
  if (right) __syncthreads();
  y[t] = s[63 - t];
}

TEST(PlantedInSharedMemory, AreFoundAndTheRightOnesAreNot) {
  check({
      {"initialised twice", entry<initialised_twice<true>>, entry<initialised_twice<false>>, Kind::instruction,
       "initialised again while it is live"},
      {"invalidated in use", entry<invalidated_in_use<true>>, entry<invalidated_in_use<false>>, Kind::race, "bar"},
      {"invalidated before a copy", entry<invalidated_before_a_copy<true>>, entry<invalidated_before_a_copy<false>>,
       Kind::instruction, "is invalidated while the copy"},
      {"used after inval", entry<used_after_inval<true>>, entry<used_after_inval<false>>, Kind::uninitialised_read,
       "nobody has initialised it"},
      {"data over a barrier", entry<data_over_a_barrier<true>>, entry<data_over_a_barrier<false>>, Kind::instruction,
       "which is live"},
      {"copy over a barrier", entry<copy_over_a_barrier<true>>, entry<copy_over_a_barrier<false>>, Kind::instruction,
       "which is live"},
      {"used before visible", entry<used_before_visible<true>>, entry<used_before_visible<false>>, Kind::race, "bar"},
      {"fence after the barrier", entry<fence_after_the_barrier<true>>, entry<fence_after_the_barrier<false>>,
       Kind::fence, "fence_mbarrier_init"},
      {"one arrival too many", entry<expected<64>>, entry<expected<63>>, Kind::instruction, "more arrivals"},
      {"one arrival too few", entry<expected<64>>, entry<expected<65>>, Kind::deadlock, "1 of 65 arrivals"},
      {"half the arrivals", entry<expected<64>>, entry<expected<32>>, Kind::instruction, "more arrivals"},
      {"too few bytes", entry<announced<256>>, entry<announced<128>>, Kind::race, "s"},
      {"too many bytes announced", entry<announced<256>>, entry<announced<272>>, Kind::deadlock, "16 announced bytes"},
      {"ring: same parity", entry<ring<Ring::right>>, entry<ring<Ring::same_parity>>, Kind::race, "s"},
      {"ring: no wait for empty", entry<ring<Ring::right>>, entry<ring<Ring::no_empty_wait>>, Kind::race, "s"},
      {"ring: early arrival", entry<ring<Ring::right>>, entry<ring<Ring::early_arrive>>, Kind::race, "s"},
      {"ring: first parity", entry<ring<Ring::right>>, entry<ring<Ring::first_parity>>, Kind::deadlock, ""},
      {"ring: no wait for full", entry<ring<Ring::right>>, entry<ring<Ring::waits_for_full>>, Kind::race, "s"},
      {"bytes beyond the most", entry<too_many_bytes<true>>, entry<too_many_bytes<false>>, Kind::instruction,
       "the most"},
      {"misplaced", entry<misplaced<true>>, entry<misplaced<false>>, Kind::misaligned, "bar"},
      {"copies arrive", entry<copies_arrive<true>>, entry<copies_arrive<false>>, Kind::race, "s"},
      {"a changed tile", entry<stores_from_a_changed_tile<true>>, entry<stores_from_a_changed_tile<false>>, Kind::race,
       "may still read"},
      {"fenced by another", entry<fenced_by_another<true>>, entry<fenced_by_another<false>>, Kind::fence, "s"},
      {"fence of the other space", entry<fence_of_the_other_space<true>>, entry<fence_of_the_other_space<false>>,
       Kind::fence, "s"},
      {"load over written", entry<load_over_written<true>>, entry<load_over_written<false>>, Kind::fence, "s"},
      {"store not waited for", entry<store_not_waited_for<true>>, entry<store_not_waited_for<false>>, Kind::departed,
       "may still read"},
      {"load not waited for", entry<load_not_waited_for<true>>, entry<load_not_waited_for<false>>, Kind::departed,
       "may still write"},
      {"bytes", entry<bytes_race<true>>, entry<bytes_race<false>>, Kind::race, "s"},
  });
}

// Clusters of two blocks.
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
__global__ void read_too_late(In x, Out y, Out) {
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

TEST(PlantedInClusters, AreFoundAndTheRightOnesAreNot) {
  const Launching two{.grid = {2}, .cluster = {2}};
  check({
      {"leaves", entry<leaves<true>>, entry<leaves<false>>, Kind::departed, "bulk_copy_cluster", two},
      {"source of a copy", entry<source_of_a_copy<true>>, entry<source_of_a_copy<false>>, Kind::race, "may still read",
       two},
      {"not started", entry<not_started<true>>, entry<not_started<false>>, Kind::race, "has started", two},
      {"read too late", entry<read_too_late<true>>, entry<read_too_late<false>>, Kind::departed, "s", two},
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
}  // namespace zellige::planted
