// Blocks: blocks of a cluster that load parts of a tile for each other.
#include "verify/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "schedules.hpp"

namespace zellige::plan {
namespace {

TEST(Blocks, ShareATileByMulticast) {
  for (int blocks : {1, 2, 4})
    for (std::int64_t trip_count : {2, 3, 5, 40})
      EXPECT_EQ(verdict(blocks == 1 ? hopper_matmul(trip_count) : cluster_matmul(trip_count, blocks)), "")
          << blocks << " blocks, " << trip_count << " iterations";
}

TEST(Blocks, AreSideBySideWhereNothingIsShared) {
  kernel::Kernel s = hopper_matmul(5);
  s.cluster = 2;
  EXPECT_EQ(verdict(s), "");
}

// A producer may write to another block only when that block's consumer has given the stage back.
TEST(Blocks, EachGivesAStageBackToAll) {
  kernel::Kernel s = verify::flat_cluster(cluster_matmul(12));
  ASSERT_EQ(s.agents.size(), 4u);
  EXPECT_EQ(s.agents[1].name, "consumer of block 0");
  std::vector<int> own,
      others;  // the channels whose stages the agent holds: one in the loop and one after it
  for (const kernel::Step& step : s.agents[1].steps)
    if (const kernel::Release* of = kernel::as<kernel::Release>(step))
      (of->channel == 0 ? own : others).push_back(of->acquired_channel);
  EXPECT_EQ(own, (std::vector{-1, -1}));
  EXPECT_EQ(others, (std::vector{0, 0}));
  // A stage that is not given back is missed by every block.
  kernel::Kernel kept = cluster_matmul(12);
  std::erase_if(kept.agents[1].steps, [](const kernel::Step& step) { return kernel::as<kernel::Release>(step); });
  EXPECT_EQ(verdict(kept).substr(0, 17), "kernel: deadlock:");
}

/// A multicast stage is full only when every block has loaded its part.
TEST(Blocks, WaitForThePartsOfAll) {
  kernel::Kernel s = cluster_matmul(12);
  for (kernel::Step& step : s.agents[1].steps)
    if (kernel::as<kernel::Acquire>(step)) {
      step = fence();
      break;
    }
  EXPECT_NE(verdict(s), "");
}

TEST(RankExchange, PutTheirSumsTogether) {
  for (int blocks : {2, 4, 8})
    for (std::int64_t trip_count : {2, 3, 40}) {
      kernel::Kernel s = split_k_matmul(trip_count, blocks);
      if (blocks == 8) s.tensors.back().part_step = 7 * 8 * 1024;
      EXPECT_EQ(verdict(s), "") << blocks << " blocks, " << trip_count << " iterations";
    }
}

// Tiles one after another: the ring goes on where the tile before left it.
TEST(Tiles, GoOnInTheRing) {
  const auto staying = [](std::int64_t tiles, std::int64_t trip_count, bool released) {
    kernel::Kernel s = hopper_matmul(trip_count);
    for (kernel::Agent& agent : s.agents) {
      const kernel::Loop begin{.kind = kernel::Loop::tiles, .trip_count = tiles, .each = trip_count};
      agent.steps.insert(agent.steps.begin(), {.is = begin});
      // The tile's store has left its buffer, as every thread knows.
      if (&agent == &s.agents[1]) agent.steps.push_back(barrier(1));
      agent.steps.push_back(end());
    }
    if (!released) {
      auto& steps = s.agents[1].steps;
      for (auto step = steps.end(); step-- != steps.begin();)
        if (kernel::as<kernel::Release>(*step)) {
          steps.erase(step);
          break;
        }
    }
    return s;
  };
  for (std::int64_t tiles : {1, 2, 7, 40})
    for (std::int64_t trip_count : {2, 3, 6, 64})
      EXPECT_EQ(verdict(staying(tiles, trip_count, true)), "") << tiles << " " << trip_count;
  // A stage that is never released blocks the next tiles.
  EXPECT_EQ(verdict(staying(7, 6, false)).substr(0, 17), "kernel: deadlock:");
}

}  // namespace
}  // namespace zellige::plan
