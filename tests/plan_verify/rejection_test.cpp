// The findings of the simulation, each with its whole message, next to the nearest correct
// schedule.
#include <gtest/gtest.h>

#include "schedules.hpp"

namespace zellige::plan {
namespace {

std::string block(std::vector<Step> steps, const char* target = "sm_90a") {
  return verdict(one_agent({"sX", "sY"}, std::move(steps)), target);
}

TEST(Rejection, ReadOfWhatNobodyWrites) {
  EXPECT_EQ(block({work("sum", {{0}}, {})}),
            "kernel: block reads sX[0] in step 'sum', which no step writes; write it first");
}

TEST(Rejection, ReadBeforeTheFirstWrite) {
  EXPECT_EQ(block({loop(4), work("sum", {{0}}, {}), barrier(), work("fill", {}, {{0}}), barrier(), end()}),
            "kernel: block reads sX[0] in step 'sum' of iteration 0, which nobody wrote before; its first "
            "write is step "
            "'fill' of iteration 0: let that come first");
}

TEST(Rejection, ReadWithoutABarrier) {
  EXPECT_EQ(block({work("fill", {}, {{0}}), work("sum", {{0}}, {})}),
            "kernel: block reads sX[0] in step 'sum', but step 'fill' wrote it in other threads and no "
            "barrier lies "
            "between; put a barrier between the two");
  EXPECT_EQ(block({work("fill", {}, {{0}}), barrier(), work("sum", {{0}}, {})}), "");
  EXPECT_EQ(block({work("fill", {}, {{0}}), work("own", {same(0)}, {})}), "");
}

TEST(Rejection, WriteOverAReadWithoutABarrier) {
  EXPECT_EQ(block({loop(5), work("fill", {}, {{0}}), barrier(), work("sum", {{0}}, {}), end()}),
            "kernel: block writes sX[0] in step 'fill' of iteration 1, but step 'sum' of iteration 0 may "
            "still read it in "
            "other threads and no barrier lies between; put a barrier between the two");
  EXPECT_EQ(block({loop(5), work("fill", {}, {{0}}), barrier(), work("sum", {{0}}, {}), barrier(), end()}),
            "");
  EXPECT_EQ(block({loop(5), work("fill", {}, {same(0)}), work("own", {same(0)}, {}), end()}), "");
  EXPECT_EQ(block({work("fill", {}, {{0}}), barrier(), work("sum", {{0}}, {}), work("own", {}, {same(0)})}),
            "kernel: block writes sX[0] in step 'own', but step 'sum' may still read it in other threads and "
            "no barrier lies "
            "between; put a barrier between the two");
}

TEST(Rejection, TwoWritesWithoutABarrier) {
  EXPECT_EQ(block({work("fill", {}, {{0}}), work("again", {}, {{0}})}),
            "kernel: block writes sX[0] in step 'again', but step 'fill' wrote it in other threads and no "
            "barrier lies "
            "between; put a barrier between the two");
}

TEST(Rejection, ReadAndWriteInOneStep) {
  EXPECT_EQ(block({work("fill", {}, {{0}}), barrier(), work("shift", {{0}}, {{0}})}),
            "kernel: block writes sX[0] in step 'shift', which also reads it in other threads; split the "
            "step and put a "
            "barrier between, or let each thread touch only its own (same_thread)");
  EXPECT_EQ(block({work("fill", {}, {{0}}), barrier(), work("double", {same(0)}, {same(0)})}), "");
}

TEST(Rejection, OverlappingTensors) {
  Kernel s = one_agent({"sX", "sY"}, {work("x", {}, {{0}}), barrier(), work("y", {}, {{1}}), barrier(),
                                      work("sum", {{0}}, {})});
  EXPECT_EQ(verdict(s), "");
  s.tensors[1].offset = 512;
  EXPECT_EQ(
      verdict(s),
      "kernel: block reads sX[0] in step 'sum', but step 'y' wrote sY[0] over it (bytes [512, 1024) are in "
      "both); place the two in separate bytes, or read before that write");
  s.agents[0].steps.erase(s.agents[0].steps.begin() + 1);
  EXPECT_EQ(verdict(s),
            "kernel: block writes sY[0] in step 'y', but step 'x' wrote sX[0] (same bytes) in other threads "
            "and no barrier lies between; put a barrier between the two");
}

/// Neither a thread's own elements of sX nor of sY are where the other's are.
TEST(Rejection, SameThreadDoesNotReachAcrossOverlappingTensors) {
  Kernel s = one_agent({"sX", "sY"},
                       {work("x", {}, {same(0)}), work("own", {same(0)}, {}), work("y", {}, {same(1)})});
  EXPECT_EQ(verdict(s), "");
  s.tensors[1].offset = 0;
  EXPECT_EQ(verdict(s),
            "kernel: block writes sY[0] in step 'y', but step 'own' may still read sX[0] (same bytes) in "
            "other threads and no barrier lies between; put a barrier between the two");
}

TEST(Rejection, PartlyCoveredTensorsAreStillWatched) {
  Kernel s = one_agent({"sX", "sY", "sZ"}, {work("x", {}, {{0}}), barrier(), work("sum", {{0}}, {}),
                                            barrier(), work("y", {}, {{1}}), work("z", {}, {{2}})});
  s.tensors[1] = tensor("sY", 0, 512);
  s.tensors[2] = tensor("sZ", 512, 512);
  EXPECT_EQ(verdict(s), "");
  s.agents[0].steps.erase(s.agents[0].steps.begin() + 3);
  s.agents[0].steps.insert(s.agents[0].steps.begin() + 3, work("own", {same(0)}, {}));
  EXPECT_EQ(
      verdict(s),
      "kernel: block writes sY[0] in step 'y', but step 'sum' may still read sX[0] (same bytes) in other "
      "threads and no barrier lies between; put a barrier between the two");
}

/// mid's write is after left's, in the first half of sX; right's, in the second half, is not.
TEST(Rejection, TheUncoveredPartOfAnOverwrittenTensor) {
  Kernel s = one_agent({"sX", "sY", "sZ"}, {});
  s.tensors[1] = tensor("sY", 0, 512);
  s.tensors[2] = tensor("sZ", 512, 512);
  s.threads = 96;
  s.agents = {{.name = "left", .steps = {work("x", {}, {{0}}), barrier(1)}},
              {.name = "mid", .steps = {barrier(1), work("y", {}, {{1}})}},
              {.name = "right", .steps = {work("z", {}, {{2}})}}};
  // Right runs last: mid's write is known by then.
  s.agents[2].steps.insert(s.agents[2].steps.begin(), {barrier(2)});
  s.agents.push_back({.name = "late", .steps = {barrier(2)}});
  s.threads = 128;
  EXPECT_EQ(
      verdict(s),
      "kernel: right writes sZ[0] in step 'z', but step 'x', of agent left, wrote sX[0] (same bytes) and "
      "nothing orders the two; put a barrier of left and right between them, or a release and an acquire of "
      "a channel");
}

TEST(Rejection, CopyNobodyCommitted) {
  EXPECT_EQ(block({load("load", {0}), wait_group(0), barrier(), work("sum", {{0}}, {})}),
            "kernel: block reads sX[0] in step 'sum', but the cp.async copy of step 'load' may still write "
            "it: no commit has "
            "closed its group; put a commit after it and a wait_group before this step");
}

TEST(Rejection, CopyReadByTheThreadThatMadeIt) {
  EXPECT_EQ(block({load("load", {0}), commit(), wait_group(0), work("own", {same(0)}, {})}), "");
  EXPECT_EQ(block({load("load", {0}), commit(), work("own", {same(0)}, {}), wait_group(0)}),
            "kernel: block reads sX[0] in step 'own', but the cp.async copy of step 'load' may still write "
            "it: its group is "
            "the newest, and block has waited for none; wait_group 0 and then a barrier or release must come "
            "before this step");
}

TEST(Rejection, CopyNobodyWaitedFor) {
  EXPECT_EQ(block({load("load", {0}), commit()}),
            "kernel: block ends while the cp.async copy of sX[0] of step 'load' may be in flight: its group "
            "is the newest, and "
            "block has waited for none; put wait_group 0 after it");
}

TEST(Rejection, CopyOverWhatIsRead) {
  EXPECT_EQ(block({work("fill", {}, {{0}}), barrier(), work("sum", {{0}}, {}), load("load", {0}), commit(),
                   wait_group(0)}),
            "kernel: block writes sX[0] in step 'load', but step 'sum' may still read it in other threads "
            "and no barrier lies "
            "between; put a barrier between the two");
}

TEST(Rejection, GuardForgotten) {
  Kernel s = sm80_matmul(3, 40);
  for (Step& step : s.agents[0].steps)
    if (step.what == "load A early") as<Copy>(step)->guard_lag = 0;
  EXPECT_EQ(verdict(s, "sm_80"),
            "kernel: block ends while the cp.async copy of sA[2] of step 'load A early' of iteration 39 may "
            "be in flight: its "
            "group is the newest, and block leaves the newest 2 in flight; put wait_group 0 after it");
}

TEST(Rejection, StageOffByOne) {
  Kernel s = sm80_matmul(3, 40);
  for (Step& step : s.agents[0].steps)
    if (step.what == "mma") step.reads[1].lag = 1;
  EXPECT_EQ(verdict(s, "sm_80"),
            "kernel: block reads sB[1] in step 'mma' of iteration 0, but the cp.async copy of step 'load B' "
            "before the loop may "
            "still write it: 1 group was committed after its own, and block leaves the newest 2 in flight; "
            "wait_group 1 and then a barrier or release "
            "must come before this step");
}

Kernel two_agents(std::vector<Step> left, std::vector<Step> right) {
  Kernel s = one_agent({"sX", "sY"}, {});
  s.threads = 256;
  s.agents = {{.name = "left", .warps = 4, .steps = std::move(left)},
              {.name = "right", .warps = 4, .steps = std::move(right)}};
  s.channels = {
      {.name = "ring", .tensor = 0, .producer = 0, .consumers = {1}, .by = Synchronisation::mbarrier_bytes}};
  return s;
}

TEST(Rejection, AgentsThatNothingOrders) {
  EXPECT_EQ(verdict(two_agents({work("fill", {}, {{0}})}, {work("sum", {{0}}, {})})),
            "kernel: right reads sX[0] in step 'sum', but step 'fill', of agent left, wrote it and nothing "
            "orders the two; put "
            "a barrier of left and right between them, or a release and an acquire of a channel");
  EXPECT_EQ(verdict(two_agents({work("sum", {{0}}, {})}, {work("fill", {}, {{0}})})),
            "kernel: left reads sX[0] in step 'sum', which nobody need have written by then; step 'fill', of "
            "agent right, "
            "writes it: make left wait for that, by a channel or a barrier");
  EXPECT_EQ(verdict(two_agents({work("fill", {}, {{0}}), barrier(2)}, {barrier(2), work("sum", {{0}}, {})})),
            "");
  EXPECT_EQ(verdict(two_agents({acquire(0), work("fill", {}, {{0}}), release(0)},
                               {acquire(0), work("sum", {{0}}, {})})),
            "");
}

TEST(Rejection, Deadlocks) {
  EXPECT_EQ(verdict(two_agents({barrier(), barrier()}, {barrier()})),
            "kernel: deadlock: left waits in step 1 (barrier) at barrier 0; right has ended; every acquire "
            "needs its copy or "
            "release, and every barrier all its agents");
  EXPECT_EQ(verdict(two_agents({barrier(1), barrier(2)}, {barrier(2), barrier(1)})),
            "kernel: deadlock: left waits in step 0 (barrier) at barrier 1; right waits in step 0 (barrier) "
            "at barrier 2; every "
            "acquire needs its copy or release, and every barrier all its agents");
  EXPECT_EQ(verdict(two_agents({acquire(0)}, {acquire(0)})),
            "kernel: deadlock: left has ended; right waits in step 0 (acquire) for left to fill sX[0] of "
            "channel ring, which it "
            "has acquired but neither copies into nor releases; every acquire needs its copy or release, and "
            "every barrier all "
            "its agents");
}

TEST(Rejection, ChannelMisused) {
  EXPECT_EQ(verdict(two_agents({acquire(0), load("load", {0}, 0)}, {})),
            "kernel: left fills sX[0] of channel ring, which right never acquires (the last 1 it fills), so "
            "it may still be "
            "written when the kernel ends; acquire every stage that is filled");
  EXPECT_EQ(verdict(two_agents({acquire(0), load("load", {0}, 0)}, {acquire(0), release(0), release(0)})),
            "kernel: right releases sX[0] of channel ring in step 2 (release), but holds no stage of it; "
            "acquire ring "
            "before this step");
  Kernel s = hopper_matmul(64);
  s.agents[0].steps[3].writes[0].lag = 1;
  EXPECT_EQ(
      verdict(s),
      "kernel: producer writes sB[1] in step 'load B' of iteration 0, but the stage of channel ring that it "
      "holds is 0; copy into sB[0]");
  s = hopper_matmul(64);
  std::swap(s.agents[1].steps[5], s.agents[1].steps[8]);  // release before the wgmma
  EXPECT_EQ(
      verdict(s),
      "kernel: producer writes sA[0] in step 'load A' of iteration 4, but the wgmma of step 'first wgmma' "
      "before the loop, of agent consumer, may still read it as far as other threads know: only the threads "
      "that started it have waited; put a barrier, or a release and an acquire, between that wait_group and "
      "this step");
}

TEST(Rejection, ReleasedBeforeItIsRead) {
  const auto reader = [](bool early) {
    std::vector<Step> steps{loop(3), acquire(0), work("sum", {{0}}, {}), release(0), end()};
    if (early) std::swap(steps[2], steps[3]);
    return two_agents({loop(3), acquire(0), load("load", {0}, 0), end()}, steps);
  };
  EXPECT_EQ(verdict(reader(false)), "");
  EXPECT_EQ(verdict(reader(true)),
            "kernel: left writes sX[0] in step 'load' of iteration 1, but step 'sum' of iteration 0, of "
            "agent right, may still "
            "read it; let right release channel ring after that, and left acquire it before this step");
}

TEST(Rejection, ProxyFences) {
  const std::vector<Step> right{load("load", {0}),     commit(0), wait_group(0, 0), fence(), barrier(),
                                wgmma("wgmma", {{0}}), commit(1), wait_group(0, 1)};
  const auto with = [](std::vector<Step> steps) {
    Kernel s = one_agent({"sX", "sY"}, std::move(steps));
    s.channels = {
        {.name = "ring", .tensor = 0, .producer = 0, .consumers = {0}, .by = Synchronisation::cp_async_group},
        {.name = "accumulators", .producer = 0, .consumers = {0}, .by = Synchronisation::commit_group}};
    return verdict(s);
  };
  EXPECT_EQ(with(right), "");
  std::vector<Step> delayed = right;  // the thread that starts the wgmma may fence for all after the barrier
  std::swap(delayed[3], delayed[4]);
  EXPECT_EQ(with(delayed), "");
  std::vector<Step> early = right;  // before the copy has arrived
  std::swap(early[2], early[3]);
  EXPECT_EQ(with(early),
            "kernel: block reads sX[0] in step 'wgmma' by wgmma, but step 'load' wrote it by cp.async and no "
            "fence_proxy lies between; put fence_proxy after that write, before the barrier or release that "
            "orders the two");
  const auto overwrite = [](bool fenced) {
    Kernel s = two_agents({work("fill", {}, {{0}}), fence(), barrier(), acquire(0), load("load", {0}, 0)},
                          {barrier(), acquire(0), work("sum", {{0}}, {})});
    if (!fenced) s.agents[0].steps.erase(s.agents[0].steps.begin() + 1);
    return verdict(s);
  };
  EXPECT_EQ(overwrite(true), "");
  EXPECT_EQ(overwrite(false),
            "kernel: left writes sX[0] in step 'load' by a TMA copy, but step 'fill' wrote it by ordinary "
            "instructions and no fence_proxy lies between; put fence_proxy after that write, before the "
            "barrier or release that orders the two");
}

TEST(Rejection, GroupsThatCannotBeTold) {
  EXPECT_EQ(block({load("load", {0}), wgmma("wgmma", {{1}}), commit()}),
            "kernel: block reads sY[0] in step 'wgmma', which no step writes; write it first");
  EXPECT_EQ(block({load("load", {0}), commit(), work("y", {}, {{1}}), fence(), barrier(),
                   wgmma("wgmma", {{1}}), commit()}),
            "kernel: block, step '' (commit), does not say which groups it means, and the agent has 2 kinds "
            "of them; name a "
            "channel");
}

}  // namespace
}  // namespace zellige::plan
