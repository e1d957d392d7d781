// Ranks: blocks of a cluster that load parts of a tile for each other.
#include "verify/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "schedules.hpp"

namespace zellige::plan {
namespace {

TEST(Ranks, ShareATileByMulticast) {
  for (int ranks : {1, 2, 4})
    for (std::int64_t trip_count : {2, 3, 5, 40})
      EXPECT_EQ(verdict(ranks == 1 ? hopper_matmul(trip_count) : cluster_matmul(trip_count, ranks)), "")
          << ranks << " ranks, " << trip_count << " iterations";
}

TEST(Ranks, AreSideBySideWhereNothingIsShared) {
  Kernel s = hopper_matmul(5);
  s.ranks = 2;
  EXPECT_EQ(verdict(s), "");
}

// A producer may write to another rank only when that rank's consumer has given the stage back.
TEST(Ranks, EachGivesAStageBackToAll) {
  Kernel s = all_ranks(cluster_matmul(12));
  ASSERT_EQ(s.agents.size(), 4u);
  EXPECT_EQ(s.agents[1].name, "consumer of rank 0");
  std::vector<int> own,
      others;  // the channels whose stages the agent holds: one in the loop and one after it
  for (const Step& step : s.agents[1].steps)
    if (const Release* of = as<Release>(step))
      (of->channel == 0 ? own : others).push_back(of->acquired_channel);
  EXPECT_EQ(own, (std::vector{-1, -1}));
  EXPECT_EQ(others, (std::vector{0, 0}));
  // A stage that is not given back is missed by every rank.
  Kernel kept = cluster_matmul(12);
  std::erase_if(kept.agents[1].steps, [](const Step& step) { return as<Release>(step); });
  EXPECT_EQ(verdict(kept).substr(0, 17), "kernel: deadlock:");
}

/// A multicast stage is full only when every rank has loaded its part.
TEST(Ranks, WaitForThePartsOfAll) {
  Kernel s = cluster_matmul(12);
  for (Step& step : s.agents[1].steps)
    if (as<Acquire>(step)) {
      step = fence();
      break;
    }
  EXPECT_NE(verdict(s), "");
}

TEST(Ranks, RefuseWhatNoClusterHas) {
  Kernel s = cluster_matmul(4);
  s.ranks = 1;
  EXPECT_EQ(verdict(s),
            "kernel: producer, step 'load B', is multicast to one rank; a schedule of at least 2 has such");
  s.ranks = 3;
  EXPECT_EQ(verdict(s), "kernel: has 3 ranks; a cluster has 1, 2, 4 or 8 blocks");
  s = cluster_matmul(4);
  s.tensors[1].stage_step = 16512;  // 129 lines of 128 bytes a stage
  s.tensors[2].offset = 192 * 1024;
  EXPECT_EQ(verdict(s),
            "kernel: producer, step 'load B', loads a stage of sB in 2 parts; its 16512 bytes do not split "
            "into that many multiples of 128");
  s = hopper_matmul(4);
  s.ranks = 2;
  for (Step& step : s.agents[1].steps)
    if (Copy* copy = as<Copy>(step)) copy->multicast = true;
  EXPECT_EQ(verdict(s),
            "kernel: consumer, step 'store C', is multicast and a copy that no mbarrier counts; only TMA "
            "loads are");
  s = hopper_matmul(4);
  s.ranks = 2;
  EXPECT_EQ(verdict(s, "sm_80"), "kernel: has 2 ranks; sm_80 has no clusters, they need sm_90a");
}

TEST(RankExchange, PutTheirSumsTogether) {
  for (int ranks : {2, 4, 8})
    for (std::int64_t trip_count : {2, 3, 40}) {
      Kernel s = split_k_matmul(trip_count, ranks);
      if (ranks == 8) s.tensors.back().part_step = 7 * 8 * 1024;
      EXPECT_EQ(verdict(s), "") << ranks << " ranks, " << trip_count << " iterations";
    }
}

TEST(RankExchange, MissEachStepOfTheExchange) {
  const auto without = [](const auto& is) {
    Kernel s = split_k_matmul(12);
    std::vector<Step>& steps = s.agents[1].steps;
    steps.erase(std::ranges::find_if(steps, is));
    return verdict(s);
  };
  EXPECT_EQ(
      without([](const Step& step) { return as<Release>(step) && channel_of(step) == 3; }),
      "kernel: deadlock: producer of rank 0 has ended; consumer of rank 0 waits in step 13 (acquire) "
      "after the loop for "
      "consumer of rank 1 to fill partial of rank 0[0] of channel exchange of rank 0 from rank 1, which "
      "it has acquired but "
      "neither copies into nor releases; producer of rank 1 has ended; consumer of rank 1 waits in "
      "step 13 (acquire) after "
      "the loop for consumer of rank 0 to fill partial of rank 1[0] of channel exchange of rank 1 from "
      "rank 0, which it has "
      "acquired but neither copies into nor releases; every acquire needs its copy or release, and "
      "every barrier all its "
      "agents");
  EXPECT_EQ(without([](const Step& step) { return as<Acquire>(step) && channel_of(step) == 3; }),
            "kernel: consumer of rank 0 reads partial of rank 0[0] in step 'add' after the loop, which "
            "nobody need have written by "
            "then; step 'send' after the loop, of agent consumer of rank 1, writes it: make consumer of rank "
            "0 wait for that, by a "
            "channel or a barrier");
  EXPECT_EQ(without([](const Step& step) { return step.what == "send"; }),
            "kernel: consumer of rank 0 releases channel exchange of rank 1 from rank 0 in step 11 (release) "
            "after the loop without "
            "holding a stage of it; acquire exchange of rank 1 from rank 0 before this step");
  // Another rank may still be reading the ring's memory.
  Kernel s = split_k_matmul(12);
  s.tensors.back().offset = 0;
  EXPECT_EQ(verdict(s),
            "kernel: consumer of rank 0 writes partial of rank 1[0] in step 'send' after the loop, but the "
            "wgmma of step 'wgmma' of "
            "iteration 7, of agent consumer of rank 1, may still read sA of rank 1[0] (same bytes) as far as "
            "other threads know: "
            "only the threads that started it have waited; put a barrier, or a release and an acquire, "
            "between that wait_group and "
            "this step");
}

TEST(RankExchange, RefuseWhatNoChannelCarries) {
  Kernel s = split_k_matmul(12);
  s.ranks = 1;
  EXPECT_EQ(
      verdict(s),
      "kernel: channel exchange has stages 1 and ranks 1; what ranks send each other takes one stage, and "
      "2 of them at least");
  s = split_k_matmul(12);
  s.channels.back().tensor = 2;
  EXPECT_EQ(verdict(s),
            "kernel: consumer, step 'send', writes to the other ranks through no channel of theirs; name one "
            "by mbarrier_cluster that "
            "carries the one tensor");
}

// Tiles one after another: the ring goes on where the tile before left it.
TEST(Tiles, GoOnInTheRing) {
  const auto staying = [](std::int64_t tiles, std::int64_t trip_count, bool released) {
    Kernel s = hopper_matmul(trip_count);
    for (Agent& agent : s.agents) {
      const Loop begin{.kind = Loop::tiles, .trip_count = tiles, .each = trip_count};
      agent.steps.insert(agent.steps.begin(), {.is = begin});
      // The tile's store has left its buffer, as every thread knows.
      if (&agent == &s.agents[1]) agent.steps.push_back(barrier(1));
      agent.steps.push_back(end());
    }
    if (!released) {
      auto& steps = s.agents[1].steps;
      for (auto step = steps.end(); step-- != steps.begin();)
        if (as<Release>(*step)) {
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
