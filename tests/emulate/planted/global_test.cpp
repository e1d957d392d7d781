// Global memory between threads, blocks and proxies: stores, bulk copies, reductions and counters of one launch.
#include "planted.hpp"

namespace zellige::injected {
namespace {

// The ring that all kernels here share: y or z through shared memory by a bulk load.
struct Loading {
  smem<float> s = shared<float>("s", 0, 64);
  smem<uint64_t> bar = shared<uint64_t>("bar", 1024, 1);
};
ZELLIGE_CALL void load(const Loading& l, gmem<const float> from) {
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(l.bar, 256);
    bulk_load(l.s, from, 256, l.bar);
  }
}

template <bool right>
__global__ void own_fence(In x, Out y, Out z) {
  Loading l;
  const unsigned t = threadIdx.x;
  start(l.bar, 1);
  y[t] = x[t];
  if (right) fence_proxy_async_global();
  __syncthreads();
  load(l, y);
  mbarrier_wait(l.bar, 0);
  z[t] = l.s[63 - t];
}
// The issuing thread fences before the barrier: the stores of the others have not passed a fence.
template <bool right>
__global__ void fence_of_the_issuer(In x, Out y, Out z) {
  Loading l;
  const unsigned t = threadIdx.x;
  start(l.bar, 1);
  y[t] = x[t];
  if (!right && t == 0) fence_proxy_async();
  __syncthreads();
  if (right && t == 0) fence_proxy_async();
  load(l, y);
  mbarrier_wait(l.bar, 0);
  z[t] = l.s[t];
}
template <bool right>
__global__ void store_then_load(In x, Out y, Out z) {
  Loading l;
  const unsigned t = threadIdx.x;
  start(l.bar, 1);
  l.s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, l.s, 256);
    tma_store_commit();
    if (right)
      tma_store_wait_complete<0>();
    else
      tma_store_wait<0>();
  }
  load(l, y);
  mbarrier_wait(l.bar, 0);
  z[t] = l.s[t];
}
template <bool right>
__global__ void read_before_complete(In x, Out y, Out z) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    if (right) tma_store_wait_complete<0>();
  }
  __syncthreads();
  z[t] = y[t];
  __syncthreads();
  if (t == 0) tma_store_wait_complete<0>();
}
template <bool right>
__global__ void overwritten_store(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    if (right) tma_store_wait_complete<0>();
    y[0] = 3;
    tma_store_wait_complete<0>();
  }
}
template <bool right>
__global__ void store_over_readers(In x, Out y, Out z) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  z[t] = y[63 - t];
  if (right) __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
// The source of a load is overwritten before it is known to have arrived.
template <bool right>
__global__ void source_overwritten(In x, Out y, Out z) {
  Loading l;
  const unsigned t = threadIdx.x;
  start(l.bar, 1);
  load(l, y);
  if (right) mbarrier_wait(l.bar, 0);
  __syncthreads();
  y[t] = x[t];
  mbarrier_wait(l.bar, 0);
  z[t] = l.s[t];
}
template <bool right>
__global__ void cp_async_source_overwritten(In x, Out y, Out z) {
  const auto s = shared<float>("s", 0, 256);
  const unsigned t = threadIdx.x;
  cp_async<16>(s + 4 * t, y + 4 * t);
  cp_async_commit();
  if (right) cp_async_wait<0>();
  y[4 * t + 1] = x[t];
  cp_async_wait<0>();
  z[t] = s[4 * t];
}
template <bool right>
__global__ void sum_read_at_once(In x, Out y, Out z) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_reduce_add<float>(y, s, 256);
    tma_store_commit();
    if (right) tma_store_wait_complete<0>();
  }
  __syncthreads();
  z[t] = y[t];
  __syncthreads();
  if (t == 0) tma_store_wait_complete<0>();
}
// The last of the blocks, by a counter, reads the sum; the wrong one reads it without having counted.
template <bool right>
__global__ void sum_of_blocks(In x, Out y, Out z) {
  const auto s = shared<float>("s", 0, 64);
  const auto last = shared<unsigned>("last", 512, 1);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_reduce_add<float>(y, s, 256);
    tma_store_commit();
    tma_store_wait_complete<0>();
    last[0] = right ? atomic_increment(emulate::recast<unsigned>(z + 512), 2) : 2 - (blockIdx.x != 2);
  }
  __syncthreads();
  if (last[0] == 2) z[t] = y[t];
}
// What is summed is written by the first block, without order.
template <bool right>
__global__ void sum_over_a_store(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (!right && blockIdx.x == 0) y[t] = 0;
  if (t == 0) {
    bulk_reduce_add<float>(y + 0, s, 256);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
template <bool right>
__global__ void zero_without_fence(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  y[t] = 0;
  if (right)
    fence_proxy_async();
  else
    s[t] = x[t], fence_proxy_async_shared();
  __syncthreads();
  if (t == 0) {
    bulk_reduce_add<float>(y, s, 256);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
template <bool right>
__global__ void counter_read(In, Out, Out z) {
  const auto counter = emulate::recast<unsigned>(z);
  if (threadIdx.x == 0) {
    const unsigned n = right ? atomic_increment(counter, 100) : unsigned(counter[0]);
    if (!right) atomic_increment(counter, 100);
    z[8 + blockIdx.x] = float(n);
  }
}
template <bool right>
__global__ void counter_reset(In, Out, Out z) {
  const auto counter = emulate::recast<unsigned>(z);
  if (threadIdx.x == 0) {
    if (!right && blockIdx.x == 0) counter[0] = 0;
    atomic_increment(counter, 100);
  }
}
// Another block loads what a block has stored: a fence before the count, or after it, and the count itself.
enum class Fenced { before, after, never, uncounted };
template <Fenced fenced>
__global__ void handed_over(In x, Out y, Out z) {
  Loading l;
  const auto last = shared<unsigned>("last", 512, 1);
  const unsigned t = threadIdx.x;
  start(l.bar, 1);
  y[64 * blockIdx.x + t] = x[t];
  if (fenced == Fenced::before) fence_proxy_async();
  __syncthreads();
  if (t == 0)
    last[0] = fenced == Fenced::uncounted ? blockIdx.x : atomic_increment(emulate::recast<unsigned>(z + 512), 1);
  __syncthreads();
  if (last[0] != 1) return;
  if (fenced == Fenced::after && t == 0) fence_proxy_async();
  if (fenced == Fenced::uncounted) fence_proxy_async();
  load(l, y + 64 * (1 - blockIdx.x));
  mbarrier_wait(l.bar, 0);
  z[t] = l.s[t];
}
template <bool right>
__global__ void two_stores(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(y + (right ? 64 * blockIdx.x : 32 * blockIdx.x), s, 256);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
template <bool right>
__global__ void neighbours(In x, Out y, Out) {
  const unsigned t = threadIdx.x;
  if (!right && blockIdx.x == 1 && t == 0) {
    const float v = y[63];
    y[64] = v;
  } else {
    y[64 * blockIdx.x + t] = x[t];
  }
}
// Sums of one block in two groups; the reader has waited for the first only.
template <bool right>
__global__ void second_group(In x, Out y, Out z) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    bulk_store(y + 64, s, 256);
    tma_store_commit();
    tma_store_wait_complete<1>();
    z[0] = y[right ? 0 : 64];
    tma_store_wait_complete<0>();
  }
}
template <bool right>
__global__ void uncommitted(In x, Out y, Out z) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    if (right) tma_store_commit();
    tma_store_wait_complete<0>();
    z[0] = y[0];
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
template <bool right>
__global__ void bytes_of_a_word(In, Out y, Out) {
  const auto bytes = emulate::recast<unsigned char>(y);
  const unsigned t = threadIdx.x;
  bytes[t] = 1;
  bytes[right ? 64 + t : 64 + t / 2] = 2;
}
template <bool right>
__global__ void early_read(In, Out y, Out z) {
  const unsigned t = threadIdx.x;
  float v = 0;
  if (!right) v = y[t];
  griddep_wait();
  if (right) v = y[t];
  z[t] = v;
}
template <bool right>
__global__ void early_store(In, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  if (right) griddep_wait();
  s[t] = 1;
  fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(y, s, 256);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
  griddep_wait();
}

TEST(InjectedInGlobalMemory, AreFoundAndTheRightOnesAreNot) {
  const Launching two{.grid = {2}}, three{.grid = {3}};
  check({
      {"own fence", entry<own_fence<true>>, entry<own_fence<false>>, Kind::fence, "global tensor y"},
      {"fence of the issuer", entry<fence_of_the_issuer<true>>, entry<fence_of_the_issuer<false>>, Kind::fence, "y"},
      {"store then load", entry<store_then_load<true>>, entry<store_then_load<false>>, Kind::race, "is in flight"},
      {"read before complete", entry<read_before_complete<true>>, entry<read_before_complete<false>>, Kind::race, "y"},
      {"overwritten store", entry<overwritten_store<true>>, entry<overwritten_store<false>>, Kind::race, "y"},
      {"store over readers", entry<store_over_readers<true>>, entry<store_over_readers<false>>, Kind::race, "y"},
      {"source overwritten", entry<source_overwritten<true>>, entry<source_overwritten<false>>, Kind::race,
       "may still read them"},
      {"source of cp.async", entry<cp_async_source_overwritten<true>>, entry<cp_async_source_overwritten<false>>,
       Kind::race, "may still read them"},
      {"sum read at once", entry<sum_read_at_once<true>>, entry<sum_read_at_once<false>>, Kind::race, "y"},
      {"sum of blocks", entry<sum_of_blocks<true>>, entry<sum_of_blocks<false>>, Kind::race, "between blocks", three},
      {"sum over a store", entry<sum_over_a_store<true>>, entry<sum_over_a_store<false>>, Kind::race, "y", two},
      {"zero without fence", entry<zero_without_fence<true>>, entry<zero_without_fence<false>>, Kind::fence, "y"},
      {"counter read", entry<counter_read<true>>, entry<counter_read<false>>, Kind::race, "z", two},
      {"counter reset", entry<counter_reset<true>>, entry<counter_reset<false>>, Kind::race, "z", two},
      {"handed over", entry<handed_over<Fenced::before>>, entry<handed_over<Fenced::never>>, Kind::fence,
       "no fence_proxy_async", two},
      {"handed over uncounted", entry<handed_over<Fenced::after>>, entry<handed_over<Fenced::uncounted>>, Kind::race,
       "between blocks", two},
      {"two stores", entry<two_stores<true>>, entry<two_stores<false>>, Kind::race, "between blocks", two},
      {"neighbours", entry<neighbours<true>>, entry<neighbours<false>>, Kind::race, "between blocks", two},
      {"second group", entry<second_group<true>>, entry<second_group<false>>, Kind::race, "in flight"},
      {"uncommitted", entry<uncommitted<true>>, entry<uncommitted<false>>, Kind::race, "in flight"},
      {"bytes of a word", entry<bytes_of_a_word<true>>, entry<bytes_of_a_word<false>>, Kind::race, "y"},
      {"early read", entry<early_read<true>>, entry<early_read<false>>, Kind::dependency, "y", {.programmatic = true}},
      {"early store",
       entry<early_store<true>>,
       entry<early_store<false>>,
       Kind::dependency,
       "y",
       {.programmatic = true}},
  });
}

// Tensor maps.
template <bool right>
__global__ void mapped(const __grid_constant__ TmaDescriptor map, Out y, Out z) {
  const auto s = shared<float>("s", 0, 128);
  const auto full = shared<uint64_t>("full", 1024, 1);
  const unsigned t = threadIdx.x;
  start(full, 1);
  y[t] = 1;
  if (right) fence_proxy_async();
  __syncthreads();
  if (t == 0) {
    mbarrier_arrive_expect_tx(full, 512);
    tma_load_2d(s, map, full, 0, 0);
  }
  mbarrier_wait(full, 0);
  z[t] = s[t];
}
template <int row, bool stores>
__global__ void stale(const __grid_constant__ TmaDescriptor map, Out z) {
  const auto s = shared<float>("s", 0, 128);
  const auto full = shared<uint64_t>("full", 1024, 1);
  const unsigned t = threadIdx.x;
  start(full, 1);
  s[t] = s[64 + t] = 1;
  fence_proxy_async();
  __syncthreads();
  if (t == 0 && stores) {
    tma_store_2d(map, s, 0, row);
    tma_store_commit();
    tma_store_wait_complete<0>();
  } else if (t == 0) {
    mbarrier_arrive_expect_tx(full, 512);
    tma_load_2d(s, map, full, 0, row);
    mbarrier_wait(full, 0);
  }
  __syncthreads();
  if (!stores) mbarrier_wait(full, 0);
  z[t] = s[t];
}
std::string with_map(void (*kernel)(emulate::Launch&), std::size_t bytes, bool also_y) {
  emulate::Buffer y("y", bytes), z("z", 4096);
  y.mark_initialised(), z.mark_initialised();
  emulate::LaunchConfig c{.grid = {1}, .block = {64}, .shared_bytes = 1032};
  const TmaTensor tensor{
      .name = "y", .element = TmaElement::f32, .extent = {16, 16}, .stride = {0, 64}, .box = {16, 8}};
  c.parameters.emplace_back(make_tma_descriptor_emulated(tensor, 1024), y, true);
  if (also_y) c.parameters.emplace_back(y, true);
  c.parameters.emplace_back(z, true);
  return text(emulate::run(kernel, c));
}
TEST(InjectedInGlobalMemory, ATensorMapIsOfItsBuffer) {
  EXPECT_EQ(with_map(entry<mapped<true>>, 1024, true), "");
  EXPECT_NE(with_map(entry<mapped<false>>, 1024, true).find("missing fence on global tensor y"), std::string::npos);
  EXPECT_EQ(with_map(entry<stale<0, false>>, 512, false), "");
  EXPECT_NE(with_map(entry<stale<8, false>>, 512, false).find("the descriptor is of a larger tensor, this one has 512"),
            std::string::npos);
  EXPECT_EQ(with_map(entry<stale<0, true>>, 512, false), "");
  EXPECT_NE(with_map(entry<stale<4, true>>, 512, false).find("out of bounds on global tensor y"), std::string::npos);
}

}  // namespace
}  // namespace zellige::injected
