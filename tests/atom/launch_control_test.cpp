// Launch control on the emulator: running blocks take over the tiles of blocks that have not started.
#include <zellige/atom.hpp>
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/launch_control.hpp>
#include <zellige/atom/tma.hpp>

#include "launch.hpp"

namespace zellige {
namespace {

using Kind = emulate::Finding::Kind;

enum class ControlBug {
  none,
  answer_read_before_the_wait,
  nothing_announced,
  requested_after_a_refusal,
  requested_before_all_have_read,
  waits_for_the_other_parity,
  count
};

/// Each block writes its tile, and those that it takes over. In clusters of two, the first block asks for both.
__global__ void persistent(gmem<float> tiles, bool pairs, ControlBug bug) {
  const auto answer = reinterpret_cast<ClusterLaunchResponse*>(shared<uint32_t>("answer", 0, 4).p);
  const auto barrier = shared<uint64_t>("barrier", 16, 1);
  const unsigned t = threadIdx.x;
  if (t == 0) {
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
  }
  cluster_sync();
  unsigned tile = blockIdx.x, phase = bug == ControlBug::waits_for_the_other_parity ? 1 : 0;
  for (int i = 0; i < 32; ++i) {
    if (t == 0) {
      if (bug != ControlBug::nothing_announced)
        mbarrier_arrive_expect_tx(barrier, 16);
      else
        mbarrier_arrive(barrier);
      if (cluster_ctarank() == 0 && pairs) cluster_launch_try_cancel_multicast(answer, barrier);
      if (cluster_ctarank() == 0 && !pairs) cluster_launch_try_cancel(answer, barrier);
    }
    tiles[tile * 32 + t] = float(tile);
    if (bug != ControlBug::answer_read_before_the_wait) mbarrier_wait_cluster(barrier, phase);
    const ClusterLaunchAnswer next = cluster_launch_query(*answer);
    phase ^= 1;
    if (bug != ControlBug::requested_before_all_have_read) cluster_sync();
    if (!next.canceled && bug != ControlBug::requested_after_a_refusal) break;
    if (!next.canceled && i == 31) break;
    if (next.canceled) tile = next.x + cluster_ctarank();
  }
  if (bug == ControlBug::answer_read_before_the_wait) mbarrier_wait_cluster(barrier, phase ^ 1);
  cluster_sync();
}

EmulationReport run_control(ControlBug bug, unsigned schedule, int workers, unsigned cluster, int* wrong = nullptr) {
  constexpr unsigned blocks = 12;
  Buffer tiles("tiles", blocks * 32 * 4);
  LaunchConfig config{.grid = {blocks}, .block = {32}, .shared_bytes = 32, .workers = workers, .cluster = {cluster}};
  config.schedule = schedule;
  config.seconds = 10;
  config.parameters.emplace_back(tiles, true);
  config.parameters.emplace_back(cluster == 2);
  config.parameters.emplace_back(bug);
  const EmulationReport report = emulate::run(entry<persistent>, config);
  for (unsigned i = 0; wrong && i < blocks * 32; ++i) *wrong += elements<float>(tiles)[i] != float(i / 32);
  return report;
}

TEST(LaunchControl, LetsABlockTakeOverAllTiles) {
  for (const unsigned schedule : {0u, 5u})
    for (const int workers : {1, 2})
      for (const unsigned cluster : {1u, 2u}) {
        int wrong = 0;
        EXPECT_EQ(text(run_control(ControlBug::none, schedule, workers, cluster, &wrong)), "");
        EXPECT_EQ(wrong, 0);
      }
}

TEST(LaunchControl, EachFaultIsNamed) {
  const struct {
    ControlBug bug;
    Kind kind;
    const char* words;
  } expected[] = {
      {ControlBug::answer_read_before_the_wait, Kind::race, "the cluster_launch_try_cancel that"},
      {ControlBug::nothing_announced, Kind::race, "the cluster_launch_try_cancel that"},
      {ControlBug::requested_after_a_refusal, Kind::instruction, "was that no cluster is left"},
      {ControlBug::requested_before_all_have_read, Kind::race, "writes by cluster_launch_try_cancel"},
      {ControlBug::waits_for_the_other_parity, Kind::race, "the cluster_launch_try_cancel that"},
  };
  ASSERT_EQ(std::size(expected) + 1, std::size_t(ControlBug::count));
  for (const auto& e : expected)
    for (const unsigned schedule : {0u, 5u}) {
      const EmulationReport report = run_control(e.bug, schedule, 1, 1);
      bool named = false;
      for (const auto& f : report.findings) named |= f.kind == e.kind && f.message.find(e.words) != f.message.npos;
      EXPECT_TRUE(named) << "fault " << int(e.bug) << ", schedule " << schedule << ": " << e.words << "\nfound:\n"
                         << text(report);
    }
}

}  // namespace
}  // namespace zellige
