// What barriers wait for is what comes: counts that the planner gives, one more and one less.
#include "plan/arrivals.hpp"

#include <gtest/gtest.h>

#include "schedules.hpp"

namespace zellige::plan {
namespace {

Schedule counted(Schedule s) {
  count_arrivals(s);
  return s;
}

Schedule cluster(int ranks) { return counted(cluster_matmul(12, ranks)); }
Schedule peers(int ranks) { return counted(split_k_matmul(12, ranks)); }

TEST(Arrivals, AreCountedAsTheyCome) {
  for (const Schedule& s :
       {counted(hopper_matmul(12)), counted(ping_pong(12)), cluster(2), cluster(4), peers(2), peers(4)}) {
    EXPECT_EQ(verdict(s), "");
    for (const Channel& c : s.channels)
      EXPECT_EQ(c.arrivals > 0,
                c.by == Synchronisation::mbarrier_bytes || c.by == Synchronisation::mbarrier_peers);
  }
  EXPECT_EQ(counted(hopper_matmul(12)).channels[0].arrivals, 8);
  EXPECT_EQ(counted(ping_pong(12)).channels[0].arrivals, 8);  // of two agents
  EXPECT_EQ(cluster(4).channels[0].arrivals, 8);              // of each rank
  EXPECT_EQ(peers(4).channels.back().arrivals, 24);
}

TEST(Arrivals, OneLessOfARing) {
  Schedule s = counted(hopper_matmul(12));
  --s.channels[0].arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the empty barrier of sA[0] of channel ring waits for 7 arrivals in phase 0, and gets 8; "
            "initialise it for "
            "as many warps as release the stage, in every phase");
}

TEST(Arrivals, OneMoreOfARing) {
  Schedule s = counted(hopper_matmul(12));
  ++s.channels[0].arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the empty barrier of sA[0] of channel ring waits for 9 arrivals in phase 0, and gets 8; "
            "initialise it for "
            "as many warps as release the stage, in every phase");
}

TEST(Arrivals, OneLessOfARingThatRanksShare) {
  Schedule s = cluster(2);
  --s.channels[0].arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the empty barrier of sA of rank 0[0] of channel ring of rank 0 waits for 14 "
            "arrivals in phase 0, "
            "and gets 16; initialise it for as many warps as release the stage, in every phase");
}

TEST(Arrivals, OneLessOfARingThatIsFilledOnce) {
  Schedule s = hopper_matmul(3);
  std::erase_if(s.agents[1].steps, [](const Step& step) { return step.kind == StepKind::release; });
  count_arrivals(s);
  EXPECT_EQ(verdict(s), "");
  --s.channels[0].arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the empty barriers of channel ring, none of whose stages is given back, wait for 7 "
            "arrivals; its "
            "consumers have 8 warps: initialise them for as many");
}

TEST(Arrivals, OneMoreOfPeers) {
  Schedule s = peers(4);
  ++s.channels.back().arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the barrier of channel peers waits for 25 arrivals, and gets 24: 8 from each of 3 other "
            "ranks; initialise "
            "it for as many");
}

TEST(Arrivals, OneLessOfPeers) {
  Schedule s = peers(2);
  --s.channels.back().arrivals;
  EXPECT_EQ(verdict(s),
            "kernel: the barrier of channel peers waits for 7 arrivals, and gets 8: 8 from each of 1 other "
            "ranks; initialise "
            "it for as many");
}

TEST(Arrivals, AWarpLessOfANamedBarrier) {
  Schedule s = counted(ping_pong(12));
  for (Step& step : s.agents[1].steps)
    if (step.kind == StepKind::barrier) {
      EXPECT_EQ(step.threads, 256);
      step.threads -= 32;
      break;
    }
  EXPECT_EQ(verdict(s),
            "kernel: consumer 1 comes to barrier 1 in step 1 (barrier) of iteration 0 for 224 threads a "
            "round, and 256 "
            "come to it; let it wait for 256");
}

TEST(Arrivals, AWarpMoreWhereAnAgentArrives) {
  Schedule s = counted(ping_pong(12));
  for (Step& step : s.agents[2].steps)
    if (step.kind == StepKind::arrive) step.threads += 32;
  EXPECT_EQ(verdict(s),
            "kernel: consumer 2 comes to barrier 1 in step 0 (arrive) before the loop for 288 threads a "
            "round, and 256 "
            "come to it; let it wait for 256");
}

/// Each agent that joins a channel gives each stage back: a phase that one of them leaves out never ends.
TEST(Arrivals, AnAgentThatGivesBackOneStageLess) {
  Schedule s = counted(ping_pong(12));
  std::vector<Step>& steps = s.agents[2].steps;
  for (Step& step : steps)
    if (step.kind == StepKind::release) step = fence();
  EXPECT_EQ(verdict(s).substr(0, 17), "kernel: deadlock:");
}

}  // namespace
}  // namespace zellige::plan
