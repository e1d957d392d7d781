// Emulator rules that mutants have motivated: each violation is named, and each valid use has no finding.
#include <gtest/gtest.h>

#include <cctype>
#include <zellige/atom.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/make_tma_descriptor.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/stmatrix.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/wgmma.hpp>

#include "emulate/engine.hpp"

namespace zellige {
namespace {

using emulate::Buffer;
using emulate::LaunchConfig;

template <auto Kernel>
void entry(emulate::Launch& launch) {
  emulate::call(launch, Kernel);
}

/// The first finding, its lines replaced by LINE; "" if there is none.
template <auto Kernel>
std::string found(LaunchConfig config) {
  config.workers = 1;
  const emulate::EmulationReport report = emulate::run(entry<Kernel>, config);
  if (report.findings.empty()) return "";
  std::string text = report.findings[0].message, result;
  const std::string file = "rules_test.cpp:";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text.find(file, at);
    result += text.substr(at, next - at);
    if (next == std::string::npos) break;
    result += "LINE";
    for (at = next + file.size(); at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));) ++at;
  }
  return result;
}
Buffer zeros(const char* name, std::size_t bytes) {
  Buffer b(name, bytes);
  std::fill(b.data(), b.data() + bytes, 0);
  b.mark_initialised();
  return b;
}

// One lane waits; the others of its warp have reachgether with it since, but not in order.
__global__ void one_lane_waits(gmem<int> out, bool in_order) {
  const auto data = shared<int>("data", 0, 32);
  const auto full = shared<uint64_t>("full", 128, 1);
  if (threadIdx.x == 0) mbarrier_init(full, 32);
  __syncthreads();
  if (threadIdx.x >= 32) {
    data[threadIdx.x - 32] = 1;
    mbarrier_arrive(full);
  } else {
    if (threadIdx.x == 0) mbarrier_wait(full, 0);
    if (in_order)
      __syncwarp();
    else
      shfl_xor(1.0f, 1);
    out[threadIdx.x] = data[threadIdx.x];
  }
}
TEST(Lanes, AWaitIsForTheThreadThatWaits) {
  Buffer out("out", 128);
  LaunchConfig config{.grid = {1}, .block = {64}, .shared_bytes = 136};
  config.parameters = {{out, true}, false};
  EXPECT_EQ(found<one_lane_waits>(config),
            "race on shared tensor data: thread 31 (warp 0) of block (0,0,0) reads bytes 124..128 at LINE; "
            "thread 63 (warp 1) "
            "wrote them at LINE and no barrier lies between");
  config.parameters[1] = true;
  EXPECT_EQ(found<one_lane_waits>(config), "");
}

// The fence between ordinary writes and a TMA store: by each writer, or by the storing thread, after the
// barrier.
enum class Fence { every_writer, one_lane, who_stores };
__global__ void fences(const __grid_constant__ TmaDescriptor map, Fence how) {
  const auto tile = shared<half_t>("tile", 0, 8 * 8 * 4);
  const uint32_t r[4] = {};
  stmatrix_x4(tile + 8 * threadIdx.x, r);
  if (how == Fence::every_writer || (how == Fence::one_lane && threadIdx.x == 0)) fence_proxy_async_shared();
  __syncthreads();
  if (how == Fence::who_stores) fence_proxy_async_shared();
  if (threadIdx.x == 0) {
    tma_store_2d(map, tile, 0, 0);
    tma_store_commit();
    tma_store_wait_complete<0>();
  }
}
TEST(Lanes, AFenceIsForTheThreadsOwnWrites) {
  Buffer out("out", 512);
  const TmaTensor t{.name = "out", .extent = {8, 32}, .stride = {0, 16}, .box = {8, 32}};
  LaunchConfig config{.grid = {1}, .block = {32}, .shared_bytes = 512};
  config.parameters.emplace_back(make_tma_descriptor_emulated(t, 512), out, true);
  config.parameters.emplace_back(Fence::one_lane);
  EXPECT_EQ(found<fences>(config),
            "missing fence on shared tensor tile: thread 0 (warp 0) of block (0,0,0) stores by tma_store "
            "bytes 16..32 at "
            "LINE; thread 1 (warp 0) wrote them at LINE and no fence_proxy_async lies between");
  config.parameters[1] = Fence::every_writer;
  EXPECT_EQ(found<fences>(config), "");
  config.parameters[1] = Fence::who_stores;
  EXPECT_EQ(found<fences>(config), "");
}

// wgmma with its first operand in registers.
enum class Registers {
  right,
  changed_before_the_wait,
  changed_before_the_next,
  no_fence_after_writing,
  sums_written_after_the_fence,
  b_beyond_its_tensor,
  odd_stride,
  odd_step
};
__global__ void multiplies(gmem<float> out, Registers how) {
  const auto b = shared<half_t>("B", 0, 128);
  const auto c = shared<half_t>("C", 256, 128);
  b[threadIdx.x] = half_t(1.0f), c[threadIdx.x] = half_t(1.0f);
  fence_proxy_async_shared();
  __syncthreads();
  float d[4] = {};
  uint32_t a[4] = {threadIdx.x, 1, 2, 3};
  const uint64_t from = smem_descriptor(b, 128, how == Registers::odd_stride ? 260 : 256, SwizzleMode::none);
  const unsigned step = how == Registers::b_beyond_its_tensor ? 128 : how == Registers::odd_step ? 24 : 0;
  wgmma_fence();
  wgmma<half_t>(d, a, advance(from, step));
  if (how == Registers::changed_before_the_next) a[0] = 7;
  wgmma<half_t>(d, a, from);
  wgmma_commit();
  if (how == Registers::changed_before_the_wait) a[3] = 8;
  wgmma_wait<0>();
  a[1] = 9;
  if (how != Registers::no_fence_after_writing) wgmma_fence();
  if (how == Registers::sums_written_after_the_fence) d[2] *= 0.5f;
  wgmma<half_t>(d, a, from);
  wgmma_commit();
  wgmma_wait<0>();
  out[threadIdx.x] = d[0];
}
std::string registers(Registers how) {
  Buffer out("out", 512);
  LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 512};
  config.parameters = {{out, true}, how};
  return found<multiplies>(config);
}
TEST(Wgmma, TheFirstOperandsRegistersAreLeftAloneUntilTheWait) {
  const std::string t0 = "accumulators in flight of thread 0 (warp 0) of block (0,0,0): ";
  EXPECT_EQ(registers(Registers::right), "");
  EXPECT_EQ(registers(Registers::changed_before_the_wait),
            "accumulators in flight of thread 63 (warp 1) of block (0,0,0): the registers of the first "
            "operand of the wgmma at LINE have been written (or are no longer there) "
            "before its wait at LINE");
  EXPECT_EQ(registers(Registers::changed_before_the_next),
            t0 + "at LINE the registers of a wgmma's first operand have been written since the wgmma at "
                 "LINE, which may "
                 "still read them; wgmma_commit and wgmma_wait come first");
  EXPECT_EQ(registers(Registers::no_fence_after_writing),
            t0 + "at LINE a wgmma takes a first operand in registers that ordinary code has written, and no "
                 "wgmma_fence "
                 "lies between");
  EXPECT_EQ(registers(Registers::sums_written_after_the_fence),
            t0 + "at LINE a wgmma takes registers that have been written since the last wgmma_fence; it must "
                 "come after "
                 "what writes them");
}
TEST(Wgmma, ADescriptorIsWithinItsTensor) {
  EXPECT_EQ(registers(Registers::b_beyond_its_tensor),
            "out of bounds on shared tensor B: thread 0 (warp 0) of block (0,0,0) multiplies by wgmma bytes "
            "256..272 at "
            "LINE; the tensor has 256");
  const std::string last = "instruction at LINE, thread 127 (warp 3) of block (0,0,0): ";
  EXPECT_EQ(registers(Registers::odd_stride),
            last + "the stride of a wgmma descriptor is 260 bytes; it must be a multiple of 16 below 262144");
  EXPECT_EQ(registers(Registers::odd_step),
            last + "the step of a wgmma descriptor is 24 bytes; it must be a multiple of 16 below 262144");
}

// All lanes of a warp must execute a .sync.aligned instruction.
__global__ void waits_alone(gmem<float> out, bool alone) {
  const auto b = shared<half_t>("B", 0, 128);
  b[threadIdx.x] = half_t(1.0f);
  fence_proxy_async_shared();
  __syncthreads();
  float d[4] = {};
  const uint64_t from = smem_descriptor(b, 128, 256, SwizzleMode::none);
  const uint32_t a[4] = {};
  wgmma_fence();
  wgmma<half_t>(d, a, from);
  wgmma_commit();
  if (!alone || threadIdx.x % 32 == 0) wgmma_wait<0>();
  if (!alone || threadIdx.x % 32 == 0) out[threadIdx.x] = d[0];
}
TEST(Wgmma, AllLanesOfAWarpWait) {
  Buffer out("out", 512);
  LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 256};
  config.parameters = {{out, true}, true};
  EXPECT_EQ(found<waits_alone>(config),
            "divergence in warp 2 of block (0,0,0): thread 64 has reached wgmma_wait 1 times at LINE, thread "
            "95 0 times; "
            "all lanes of a warp reach it together");
  config.parameters[1] = false;
  EXPECT_EQ(found<waits_alone>(config), "");
}

// Named barriers: who arrives without waiting does so once a round.
__global__ void alternates(gmem<int>, bool twice) {
  if (threadIdx.x < 32) {
    named_barrier_arrive(1, 64);
    if (twice) named_barrier_arrive(1, 64);
  } else if (!twice) {
    named_barrier_sync(1, 64);
  }
}
TEST(NamedBarrier, ArrivesOnceARound) {
  Buffer out("out", 4);
  LaunchConfig config{.grid = {1}, .block = {64}};
  config.parameters = {{out, true}, true};
  EXPECT_EQ(found<alternates>(config),
            "barrier divergence in block (0,0,0): thread 0 (warp 0) reaches barrier 1 at LINE for the "
            "second time before "
            "64 threads have come once");
  config.parameters[1] = false;
  EXPECT_EQ(found<alternates>(config), "");
}

// Programmatic dependent launch.
enum class Early { right, reads, writes, never };
__global__ void depends(gmem<const int> weights, gmem<const int> x, gmem<int> y, Early how) {
  const auto ready = shared<uint64_t>("ready", 0, 1);
  if (threadIdx.x == 0) mbarrier_init(ready, 1);
  __syncthreads();
  griddep_launch_dependents();
  int sum = weights[0];
  if (how == Early::reads) sum += x[0];
  if (how == Early::writes) y[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    if (how != Early::never) griddep_wait();
    mbarrier_arrive(ready);
  }
  mbarrier_wait(ready, 0);  // publishes what the waiting thread has observed
  y[threadIdx.x] = sum + x[threadIdx.x];
}
std::string early(Early how, bool programmatic = true) {
  Buffer w = zeros("w", 4), x = zeros("x", 256), y("y", 256);
  LaunchConfig config{.grid = {1}, .block = {64}, .shared_bytes = 8, .programmatic = programmatic};
  config.parameters = {{w, false}, {x, false}, {y, true}, how};
  config.parameters[0].constant = true;
  return found<depends>(config);
}
TEST(Griddep, NothingIsTouchedThatTheKernelBeforeMayStillWrite) {
  const std::string last = "thread 63 (warp 1) of block (0,0,0) ";
  EXPECT_EQ(early(Early::right), "");
  EXPECT_EQ(early(Early::reads), "missing griddep_wait for global tensor x: " + last +
                                     "reads bytes 0..4 at LINE, and the kernel before may not have written them yet");
  EXPECT_EQ(early(Early::writes), "missing griddep_wait for global tensor y: " + last +
                                      "writes bytes 252..256 at LINE, and the kernel before may not be done with them");
  EXPECT_EQ(early(Early::never),
            "missing griddep_wait for global tensor x: thread 0 (warp 0) of block (0,0,0) reads bytes 0..4 "
            "at LINE, and "
            "the kernel before may not have written them yet");
  EXPECT_EQ(early(Early::never, false), "");
  EXPECT_EQ(early(Early::reads, false), "");
}

// Errors that would end the program, or never end.
enum class End {
  divides,
  leaves_its_array,
  touches_nothing,
  recurses,
  computes_for_ever,
  reads_for_ever,
  syncs_for_ever
};
[[gnu::noinline]] int deeper(volatile int* depth) {
  volatile int here[256] = {*depth};
  *depth = *depth + 1;
  return deeper(depth) + here[0];
}
__global__ void ends(gmem<int> out, End how, int zero) {
  volatile int depth = 0;
  if (how == End::divides) out[0] = 7 / zero;
  if (how == End::touches_nothing) out[0] = int(*reinterpret_cast<volatile int*>(static_cast<std::uintptr_t>(zero)));
  int mine[4] = {zero, zero, zero, zero};
  if (how == End::leaves_its_array)
    for (int i = 0; i <= 4; ++i) mine[i + zero] += 1;
  out[threadIdx.x] = mine[zero];
  if (how == End::recurses && threadIdx.x == 3) out[0] = int(deeper(&depth));
  if (how == End::computes_for_ever)
    while (zero == 0) depth = depth + 1;
  if (how == End::reads_for_ever)
    while (zero == 0) out[threadIdx.x] = 1;
  if (how == End::syncs_for_ever)
    while (zero == 0) __syncthreads();
}
std::string end(End how) {
  Buffer out("out", 256);
  LaunchConfig config{.grid = {1}, .block = {64}, .seconds = 0.2};
  config.parameters = {{out, true}, how, 0};
  return found<ends>(config);
}
TEST(Watch, AThreadThatCannotGoOnIsAFinding) {
  const std::string t0 = "of thread 0 (warp 0) of block (0,0,0): it ";
  EXPECT_EQ(end(End::divides), "crash " + t0 + "divides by zero at LINE");
  EXPECT_EQ(end(End::leaves_its_array), "crash " + t0 + "leaves an array of its own at LINE");
  EXPECT_EQ(end(End::touches_nothing),
            "crash " + t0 + "touches memory that is no tensor's, an array of its own out of bounds perhaps, at LINE");
  EXPECT_EQ(end(End::recurses),
            "crash of thread 3 (warp 0) of block (0,0,0): it has more on its stack than the 128 KB that it "
            "has at LINE");
  EXPECT_EQ(end(End::computes_for_ever), "no end " + t0 + "is at LINE, and the launch's 0.2 seconds are over");
  EXPECT_EQ(end(End::reads_for_ever).substr(0, 60), "no end within 0.2 seconds of block (0,0,0): thread 0 is at L");
  EXPECT_EQ(end(End::syncs_for_ever).substr(0, 46), "no end within 0.2 seconds of block (0,0,0): ea");
}

__global__ void stores_from_everywhere(gmem<int> out) {
  const auto tile = shared<int>("tile", 0, 4);
  if (threadIdx.x == 0) store(tile, Vec<int, 4>{});
  fence_proxy_async();
  __syncthreads();
  bulk_store(out, tile, 16);
  tma_store_commit();
}
TEST(Watch, WhatTheEmulatorDoesNotFollowIsAnErrorOfTheLaunch) {
  Buffer out("out", 16);
  LaunchConfig config{.grid = {1}, .block = {1024}, .shared_bytes = 16};
  config.parameters = {{out, true}};
  try {
    found<stores_from_everywhere>(config);
    FAIL() << "nothing was thrown";
  } catch (const std::exception& e) {
    EXPECT_STREQ(e.what(), "emulator: more than 512 warps, mbarriers and asynchronous groups in one cluster");
  }
}

}  // namespace
}  // namespace zellige
