// Shared memory of a block: mbarriers, asynchronous copies, the end of a block.
#include "planted.hpp"

namespace zellige::injected {
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

TEST(InjectedInSharedMemory, AreFoundAndTheRightOnesAreNot) {
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

}  // namespace
}  // namespace zellige::injected
