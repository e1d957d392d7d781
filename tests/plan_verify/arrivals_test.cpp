// Expected and actual arrivals of barriers: the planner's counts, incremented and decremented.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedules.hpp"
#include "verify/set_up.hpp"

namespace zellige::plan {
namespace {

Kernel counted(Kernel s) {
  set_up(s);
  return s;
}

/// The step that initialises the channel's mbarriers.
MbarrierInit& init(Kernel& s, int channel) {
  return *as<MbarrierInit>(*std::ranges::find_if(
      s.setup, [&](const Step& x) { return as<MbarrierInit>(x) && channel_of(x) == channel; }));
}
int last(const Kernel& s) { return static_cast<int>(s.channels.size()) - 1; }

Kernel cluster(int ranks) { return counted(cluster_matmul(12, ranks)); }
Kernel exchanging(int ranks) { return counted(split_k_matmul(12, ranks)); }

TEST(Arrivals, AreCountedAsTheyCome) {
  for (const Kernel& s : {counted(hopper_matmul(12)), counted(ping_pong(12)), cluster(2), cluster(4),
                          exchanging(2), exchanging(4)}) {
    EXPECT_EQ(verdict(s), "");
    for (int c = 0; c <= last(s); ++c)
      EXPECT_EQ(arrivals_of(s, c) > 0, s.channels[c].by == Synchronisation::mbarrier_bytes ||
                                           s.channels[c].by == Synchronisation::mbarrier_cluster);
  }
  EXPECT_EQ(arrivals_of(counted(hopper_matmul(12)), 0), 8);
  EXPECT_EQ(arrivals_of(counted(ping_pong(12)), 0), 8);  // of two agents
  EXPECT_EQ(arrivals_of(cluster(4), 0), 8);              // of each rank
  EXPECT_EQ(arrivals_of(exchanging(4), last(exchanging(4))), 24);
}

TEST(Arrivals, OneLessOfARing) {
  Kernel s = counted(hopper_matmul(12));
  --init(s, 0).arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the empty barrier of sA[0] of channel ring waits for 7 arrivals in phase 0, and gets 8; "
            "initialise it for "
            "the number of warps that release the stage, in every phase");
}

TEST(Arrivals, OneMoreOfARing) {
  Kernel s = counted(hopper_matmul(12));
  ++init(s, 0).arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the empty barrier of sA[0] of channel ring waits for 9 arrivals in phase 0, and gets 8; "
            "initialise it for "
            "the number of warps that release the stage, in every phase");
}

TEST(Arrivals, OneLessOfARingThatRanksShare) {
  Kernel s = cluster(2);
  --init(s, 0).arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the empty barrier of sA of rank 0[0] of channel ring of rank 0 waits for 14 "
            "arrivals in phase 0, "
            "and gets 16; initialise it for the number of warps that release the stage, in every phase");
}

TEST(Arrivals, OneLessOfARingThatIsFilledOnce) {
  Kernel s = hopper_matmul(3);
  std::erase_if(s.agents[1].steps, [](const Step& step) { return as<Release>(step); });
  set_up(s);
  EXPECT_EQ(verdict(s), "");
  --init(s, 0).arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the empty barriers of channel ring, none of whose stages is given back, wait for 7 "
            "arrivals; its "
            "consumers have 8 warps: initialise them for that number");
}

TEST(Arrivals, OneArrivalTooManyOfAnExchange) {
  Kernel s = exchanging(4);
  ++init(s, last(s)).arrivals;
  EXPECT_EQ(
      verdict(s),
      "kernel: the barrier of channel exchange waits for 25 arrivals, and gets 24: 8 from each of 3 other "
      "ranks; initialise "
      "it for that number");
}

TEST(Arrivals, OneArrivalTooFewOfAnExchange) {
  Kernel s = exchanging(2);
  --init(s, last(s)).arrivals;
  EXPECT_EQ(
      verdict(s),
      "kernel: the barrier of channel exchange waits for 7 arrivals, and gets 8: 8 from each of 1 other "
      "ranks; initialise "
      "it for that number");
}

TEST(Arrivals, AWarpLessOfANamedBarrier) {
  Kernel s = counted(ping_pong(12));
  for (Step& step : s.agents[1].steps)
    if (Barrier* barrier = as<Barrier>(step)) {
      EXPECT_EQ(barrier->threads, 256);
      barrier->threads -= 32;
      break;
    }
  EXPECT_EQ(verdict(s),
            "kernel: consumer 1 reaches barrier 1 in step 1 (barrier) of iteration 0 for 224 threads a "
            "round, and 256 "
            "reach it; let it wait for 256");
}

TEST(Arrivals, AWarpMoreWhereAnAgentArrives) {
  Kernel s = counted(ping_pong(12));
  for (Step& step : s.agents[2].steps)
    if (Barrier* barrier = as<Barrier>(step); barrier && !barrier->waits) barrier->threads += 32;
  EXPECT_EQ(verdict(s),
            "kernel: consumer 2 reaches barrier 1 in step 0 (arrive) before the loop for 288 threads a "
            "round, and 256 "
            "reach it; let it wait for 256");
}

/// Each agent that joins a channel gives each stage back: a phase that one of them leaves out never ends.
TEST(Arrivals, AnAgentThatGivesBackOneStageLess) {
  Kernel s = counted(ping_pong(12));
  std::vector<Step>& steps = s.agents[2].steps;
  for (Step& step : steps)
    if (as<Release>(step)) step = fence();
  EXPECT_EQ(verdict(s).substr(0, 17), "kernel: deadlock:");
}

// ---- the steps before and after the agents ----

TEST(Setup, AnyOmittedStepIsRejected) {
  for (const Kernel& s :
       {counted(hopper_matmul(12)), counted(ping_pong(12)), cluster(2), cluster(4), exchanging(2)})
    for (const auto list : {&Kernel::setup, &Kernel::teardown})
      for (std::size_t k = 0; k < (s.*list).size(); ++k) {
        Kernel without = s;
        (without.*list).erase((without.*list).begin() + static_cast<std::ptrdiff_t>(k));
        EXPECT_NE(verdict(without), "") << name((s.*list)[k]);
        Kernel twice = s;
        (twice.*list).push_back((s.*list)[k]);
        EXPECT_NE(verdict(twice), "") << name((s.*list)[k]);
      }
}

TEST(Setup, SaysWhatIsMissing) {
  const auto after = [](auto change, Kernel s) {
    change(s);
    return verdict(s);
  };
  const Kernel ring = counted(hopper_matmul(12));
  EXPECT_EQ(after([](Kernel& s) { s.setup.erase(s.setup.begin()); }, ring),
            "kernel: setup initialises the mbarriers of channel ring 0 times; it must once");
  EXPECT_EQ(after([](Kernel& s) { init(s, 0).channel = 1; }, ring),
            "kernel: setup initialises the mbarriers of channel ring 0 times; it must once");
  EXPECT_EQ(after([](Kernel& s) { s.setup.push_back({.is = MbarrierInit{.channel = 1}}); }, ring),
            "kernel: setup initialises the mbarriers of channel accumulators 1 times; it has none");
  EXPECT_EQ(after([](Kernel& s) { std::swap(s.setup[1], s.setup[2]); }, ring),
            "kernel: setup is init, barrier, fence_init; it must be init, fence_init, barrier");
  EXPECT_EQ(after([](Kernel& s) { s.setup[2] = barrier(); }, cluster(2)),
            "kernel: setup is init, fence_init, barrier; it must be init, fence_init, cluster_barrier");
  EXPECT_EQ(after([](Kernel& s) { s.teardown.clear(); }, cluster(2)),
            "kernel: teardown is empty; it must be warp_barrier, cluster_barrier");
}

TEST(Setup, AProducerThatDoesNotDrainIsRejected) {
  const auto after = [](auto change) {
    Kernel s = cluster(2);
    change(s.agents[0].steps);
    return verdict(s);
  };
  using Steps = std::vector<Step>;
  ASSERT_EQ(name(cluster(2).agents[0].steps.back()), "drain");
  EXPECT_EQ(after([](Steps& steps) { steps.pop_back(); }),
            "kernel: agent producer drains channel ring 0 times; its producer must once, last, since other "
            "ranks arrive at its barriers");
  EXPECT_EQ(
      after([](Steps& steps) { steps.insert(steps.begin(), steps.back()), steps.pop_back(); }),
      "kernel: agent producer drains channel ring 1 times, not as its last step of it; its producer must "
      "once, last, since other ranks arrive at its barriers");
}

TEST(Setup, ADrainOfWhatIsNotMulticastIsRejected) {
  Kernel s = counted(hopper_matmul(12));
  s.agents[0].steps.push_back({.is = Drain{0}});
  EXPECT_EQ(verdict(s),
            "kernel: agent producer drains channel ring 1 times; only the producer of a channel that is "
            "multicast does");
}

TEST(Setup, AStepOfAllThreadsInAnAgentIsRejected) {
  Kernel s = counted(hopper_matmul(12));
  s.agents[1].steps.insert(s.agents[1].steps.begin(), {.is = FenceInit{}});
  EXPECT_EQ(
      verdict(s),
      "kernel: consumer, step 0 (fence_init), is a fence_init; only setup and teardown have such steps");
}

/// A stage that is never given back keeps the producer waiting at the end.
TEST(Setup, ADrainWaitsForTheLastStages) {
  Kernel s = cluster(2);
  std::vector<Step>& steps = s.agents[1].steps;
  const auto last = std::find_if(steps.rbegin(), steps.rend(), [](const Step& x) { return as<Release>(x); });
  ASSERT_NE(last, steps.rend());
  steps.erase(last.base() - 1);
  EXPECT_EQ(verdict(s).substr(0, 17), "kernel: deadlock:") << verdict(s);
}

}  // namespace
}  // namespace zellige::plan
