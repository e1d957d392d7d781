// Clusters on the emulator: multicast with arrivals from both blocks, distributed shared memory, and blocks
// that exit too early.
#include <zellige/atom.hpp>
#include <zellige/atom/tma.hpp>

#include "launch.hpp"

namespace zellige {
namespace {

std::string at(const char* tag) { return line_of("hopper_cluster_test.cpp", tag); }

// Two blocks share their loads: each loads half of every tile into both, and all threads of both sum it.
enum class Share {
  right,
  no_cluster_barrier_after_init,
  expects_its_own_half,
  arrives_at_home_only,
  loads_for_itself_only,
  does_not_wait_for_the_other_cta,
  leaves_before_the_other_cta,
};

constexpr unsigned stages = 2, tile = 1024;  // floats; half of them 2 KB

__global__ void shares(const __grid_constant__ TmaDescriptor map, gmem<float> out, unsigned tiles, Share how) {
  const auto buffer = shared<float>("tile", 0, stages * tile);
  const auto full = shared<uint64_t>("full", 8192, stages), empty = shared<uint64_t>("empty", 8208, stages);
  const unsigned rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < stages; ++s) {
      mbarrier_init(full + s, 1);  // <init>
      mbarrier_init(empty + s, 2);
    }
    fence_mbarrier_init();
  }
  if (how == Share::no_cluster_barrier_after_init)
    __syncthreads();
  else
    cluster_sync();
  float sum = 0;
  for (unsigned i = 0; i < tiles; ++i) {
    const unsigned s = i % stages, phase = i / stages % 2;
    if (threadIdx.x == 0) {
      if (how != Share::does_not_wait_for_the_other_cta) mbarrier_wait_cluster(empty + s, phase ^ 1);  // <waits>
      mbarrier_arrive_expect_tx(full + s, how == Share::expects_its_own_half ? tile * 2 : tile * 4);
      const auto half = buffer + s * tile + rank * (tile / 2);
      const int column = int(rank * (tile / 2)), row = int(i);
      if (how == Share::loads_for_itself_only)
        tma_load_2d(half, map, full + s, column, row);
      else
        tma_load_multicast_2d(half, map, full + s, 3, column, row);                           // <load>
      tma_load_multicast_2d(half + tile / 4, map, full + s, 3, column + int(tile / 4), row);  // <load more>
    }
    __syncwarp();
    mbarrier_wait(full + s, phase);                                                             // <waits for the tile>
    for (unsigned j = 0; j < tile / 128; ++j) sum += buffer[s * tile + threadIdx.x + 128 * j];  // <adds>
    __syncthreads();
    if (threadIdx.x < 2) {
      if (how != Share::arrives_at_home_only)
        mbarrier_arrive_remote(empty + s, threadIdx.x);  // <arrives>
      else if (threadIdx.x == rank)
        mbarrier_arrive(empty + s);
    }
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
  if (how != Share::leaves_before_the_other_cta) cluster_sync();
}

struct Sharing {
  Buffer x, out{"out", 4 * 128 * 4};
  EmulationReport report;
  explicit Sharing(Share how, unsigned blocks = 4, unsigned tiles = 7)
      : x(filled<float>("x", 7 * tile, [](std::size_t i) { return float(i % 97); })) {
    const TmaTensor t{
        .name = "x", .element = TmaElement::f32, .extent = {tile, 7}, .stride = {0, 4 * tile}, .box = {256, 1}};
    LaunchConfig config{.grid = {blocks}, .block = {128}, .shared_bytes = 8224, .workers = 1, .cluster = {2}};
    config.parameters.emplace_back(make_tma_descriptor_emulated(t, x.bytes()), x, false);
    config.parameters.emplace_back(out, true);
    config.parameters.emplace_back(tiles);
    config.parameters.emplace_back(how);
    report = emulate::run(entry<shares>, config);
  }
};

TEST(HopperCluster, MulticastFeedsBothBlocks) {
  Sharing s(Share::right);
  EXPECT_EQ(text(s.report), "");
  for (unsigned i = 0; i < 512; ++i) {
    float sum = 0;
    for (unsigned r = 0; r < 7; ++r)
      for (unsigned j = 0; j < tile / 128; ++j) sum += elements<float>(s.x)[r * tile + i % 128 + 128 * j];
    ASSERT_EQ(elements<float>(s.out)[i], sum) << i;
  }
  EXPECT_EQ(s.report.counters[Counter::tma_load], 4u * 7 * 2);
  EXPECT_EQ(s.report.counters[Counter::tma_load_bytes], 4u * 7 * 2 * 2 * 1024);  // each into two blocks
  EXPECT_EQ(s.report.counters[Counter::cluster_barrier], 2u * 2);
}

std::string expected(Share how) {
  const std::string t0 = "thread 0 (warp 0) of block (0,0,0)", other0 = "thread 0 (warp 0) of block (1,0,0)";
  switch (how) {
    case Share::no_cluster_barrier_after_init:
      return "race on mbarrier full[0]: " + other0 + " lets a tma_load complete on it at " + at("load") + "; " + t0 +
             " initialised it at " + line_of("hopper_cluster_test.cpp", "init") + " and no barrier lies between";
    case Share::expects_its_own_half:
      return "race on shared tensor tile: thread 64 (warp 2) of block (0,0,0) reads bytes 256..260 at " + at("adds") +
             "; the tma_load that " + t0 + " issued at " + at("load") + " is still in flight";
    case Share::arrives_at_home_only:
      return "deadlock of block (0,0,0): thread 0 waits at mbarrier empty[0] for parity 0 (it is in phase 0: "
             "1 of 2 "
             "arrivals are missing) at " +
             at("waits");
    case Share::loads_for_itself_only:
      return "waits at mbarrier full[0] for parity 0 (it is in phase 0: 1024 announced bytes have not come) "
             "at " +
             at("waits for the tile");
    case Share::does_not_wait_for_the_other_cta:
      return "race on shared tensor tile of block (1,0,0): " + t0 + " copies by tma_load into bytes 0..16 at " +
             at("load") + "; thread 0 (warp 0) of block (1,0,0) read them at " + at("adds") +
             " and no barrier lies between";
    case Share::leaves_before_the_other_cta:
      return "too early an end of block (0,0,0): " + other0 + " arrives at its mbarrier empty[1] at " + at("arrives") +
             ", and nothing makes the block stay until then";
    case Share::right:
      break;
  }
  return "";
}

class HopperShareBug : public testing::TestWithParam<int> {};
TEST_P(HopperShareBug, IsNamed) {
  const Share how = static_cast<Share>(GetParam());
  Sharing s(how, 2);
  EXPECT_NE(text(s.report).find(expected(how)), std::string::npos) << expected(how) << "\nbut:\n" << text(s.report);
}
INSTANTIATE_TEST_SUITE_P(All, HopperShareBug, testing::Range(1, int(Share::leaves_before_the_other_cta) + 1));

// Distributed shared memory: every block reads what its neighbour wrote.
__global__ void neighbours(gmem<float> out, bool sync_before, bool sync_after) {
  const auto mine = shared<float>("mine", 0, 64);
  mine[threadIdx.x] = float(100 * blockIdx.x + threadIdx.x);  // <writes>
  if (sync_before)
    cluster_sync();
  else
    __syncthreads();
  out[64 * blockIdx.x + threadIdx.x] =
      mapa(mine, (cluster_ctarank() + 1) % cluster_nctarank())[threadIdx.x];  // <reads>
  if (sync_after) cluster_sync();
}
EmulationReport run_neighbours(Buffer& out, bool before, bool after) {
  LaunchConfig config{.grid = {4, 2}, .block = {64}, .shared_bytes = 256, .workers = 1, .cluster = {4, 1}};
  config.grid = {4};
  config.parameters.emplace_back(out, true);
  config.parameters.emplace_back(before);
  config.parameters.emplace_back(after);
  return emulate::run(entry<neighbours>, config);
}

TEST(HopperCluster, DistributedSharedMemory) {
  Buffer out("out", 4 * 64 * 4);
  EXPECT_EQ(text(run_neighbours(out, true, true)), "");
  for (int b = 0; b < 4; ++b)
    for (int i = 0; i < 64; ++i) EXPECT_EQ(elements<float>(out)[64 * b + i], float(100 * ((b + 1) % 4) + i));
}
TEST(HopperCluster, ReadingTheOtherCtaBeforeTheClusterBarrier) {
  Buffer out("out", 4 * 64 * 4);
  const EmulationReport report = run_neighbours(out, false, true);
  EXPECT_TRUE(says(report, "race on shared tensor mine: thread 0 (warp 0) of block (1,0,0) writes bytes 0..4 at " +
                               at("writes") + "; thread 0 (warp 0) of block (0,0,0) read them at " + at("reads") +
                               " and no barrier lies between"));
}
TEST(HopperCluster, APeerThatMayHaveLeft) {
  Buffer out("out", 4 * 64 * 4);
  const EmulationReport report = run_neighbours(out, true, false);
  EXPECT_TRUE(says(report,
                   "too early an end of block (0,0,0): thread 31 (warp 0) of block (3,0,0) reads its shared "
                   "tensor mine at " +
                       at("reads") + ", and nothing makes the block stay until then"));
}

// One block's values go to another's inbox, by st.async and by a bulk copy; its mbarrier counts the bytes.
__global__ void sends(gmem<float> out, bool waits) {
  const auto inbox = shared<float>("inbox", 0, 64), outbox = shared<float>("outbox", 256, 32);
  const auto arrived = shared<uint64_t>("arrived", 512, 1);
  const unsigned rank = cluster_ctarank(), other = rank ^ 1;
  if (threadIdx.x == 0) {
    mbarrier_init(arrived, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(arrived, 256);
  }
  outbox[threadIdx.x] = float(1000 * rank + threadIdx.x);
  fence_proxy_async_shared();
  cluster_sync();
  store_async(inbox + threadIdx.x, other, bit_cast<uint32_t>(float(10 * rank + 1)), arrived);  // <sends>
  if (threadIdx.x == 0) bulk_copy_cluster(inbox + 32, other, outbox, 128, arrived);
  if (waits) mbarrier_wait_cluster(arrived, 0);
  out[64 * rank + threadIdx.x] = inbox[threadIdx.x];  // <opens>
  out[64 * rank + 32 + threadIdx.x] = inbox[32 + threadIdx.x];
  cluster_sync();
}
TEST(HopperCluster, ValuesAndRunsOfBytesReachAnotherBlock) {
  Buffer out("out", 128 * 4);
  LaunchConfig config{.grid = {2}, .block = {32}, .shared_bytes = 520, .workers = 1, .cluster = {2}};
  config.parameters.emplace_back(out, true);
  config.parameters.emplace_back(true);
  EXPECT_EQ(text(emulate::run(entry<sends>, config)), "");
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 32; ++i) {
      EXPECT_EQ(elements<float>(out)[64 * r + i], float(10 * (1 - r) + 1));
      EXPECT_EQ(elements<float>(out)[64 * r + 32 + i], float(1000 * (1 - r) + i));
    }
  }
  config.parameters[1] = emulate::LaunchParameter(false);
  const EmulationReport report = emulate::run(entry<sends>, config);
  EXPECT_TRUE(says(report, "race on shared tensor inbox: thread 0 (warp 0) of block (0,0,0) reads bytes 0..4 at " +
                               at("opens") + "; the store_async that thread 3 (warp 0) of block (1,0,0) issued at " +
                               at("sends") + " is still in flight"));
}

__global__ void goes_to_no_block(gmem<float>) { mapa(shared<float>("mine", 0, 4), 2); }  // <no such block>
TEST(HopperCluster, ARankThatTheClusterDoesNotHave) {
  Buffer out("out", 4);
  LaunchConfig config{.grid = {2}, .block = {1}, .shared_bytes = 16, .workers = 1, .cluster = {2}};
  config.parameters.emplace_back(out, true);
  const EmulationReport report = emulate::run(entry<goes_to_no_block>, config);
  EXPECT_TRUE(says(report, "instruction at " + at("no such block") +
                               ", thread 0 (warp 0) of block (0,0,0): mapa of mine to block 2 of a cluster of 2"));
}

TEST(HopperCluster, LaunchesThatMakeNoSense) {
  const auto refusal = [](LaunchConfig config) -> std::string {
    try {
      emulate::run(entry<goes_to_no_block>, config);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  };
  Buffer out("out", 4);
  LaunchConfig config{.grid = {3}, .block = {32}, .cluster = {2}};
  config.parameters.emplace_back(out, true);
  EXPECT_EQ(refusal(config), "emulator: a grid of 3x1x1 blocks is not a whole number of clusters of 2x1x1");
  config.grid = {32}, config.cluster = {32};
  EXPECT_EQ(refusal(config), "emulator: a cluster of 32x1x1 blocks; there must be 1 to 16");
  config.cluster = {16}, config.block = {512};
  EXPECT_EQ(refusal(config),
            "emulator: a cluster of 16 blocks of 512 threads has 256 warps; the emulator follows up to 128");
}

}  // namespace
}  // namespace zellige
