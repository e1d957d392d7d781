// Limits of the target and invalid indices, each with its whole message.
#include <gtest/gtest.h>

#include "schedules.hpp"

namespace zellige::plan {
namespace {

TEST(Limits, SharedMemory) {
  Kernel s = one_agent({"sX"}, {});
  s.tensors[0].part_step = 227 * 1024;
  EXPECT_EQ(verdict(s, "sm_90a"), "");
  s.tensors[0].offset = 16;
  EXPECT_EQ(verdict(s, "sm_90a"),
            "kernel: needs 232464 bytes of shared memory (232464 to the end of tensor sX, 0 for mbarriers); "
            "a block on sm_90a "
            "has at most 232448: use fewer stages or smaller tiles");
  s.tensors[0].offset = 0;
  EXPECT_EQ(verdict(s, "sm_86"),
            "kernel: needs 232448 bytes of shared memory (232448 to the end of tensor sX, 0 for mbarriers); "
            "a block on sm_86 "
            "has at most 101376: use fewer stages or smaller tiles");
  s = hopper_matmul(8);
  s.tensors[2].part_step = (227 - 128) * 1024;
  EXPECT_EQ(
      verdict(s),
      "kernel: needs 232512 bytes of shared memory (232448 to the end of tensor sC, 64 for mbarriers); a "
      "block on sm_90a has at most 232448: use fewer stages or smaller tiles");
}

TEST(Limits, Threads) {
  Kernel s = one_agent({}, {});
  s.threads = 0;
  EXPECT_EQ(verdict(s), "kernel: has 0 threads; a block on sm_90a has 32 to 1024");
  s.threads = 1056, s.agents[0].warps = 33;
  EXPECT_EQ(verdict(s), "kernel: has 1056 threads; a block on sm_90a has 32 to 1024");
  s.threads = 1024;
  EXPECT_EQ(verdict(s),
            "kernel: its agents have 33 warps together, its 1024 threads are 32; the two must agree");
  s.threads = 32, s.agents[0].warps = 0;
  EXPECT_EQ(verdict(s), "kernel: agent block has 0 warps; it needs at least 1");
  s.threads = 33, s.agents[0].warps = 2;  // a last warp that is not full
  EXPECT_EQ(verdict(s), "");
}

TEST(Limits, Registers) {
  Kernel s = hopper_matmul(8);
  s.agents[1].registers = 240;
  EXPECT_EQ(verdict(s),
            "kernel: its agents need 66560 registers together; a multiprocessor of sm_90a has 65536");
  s.agents[1].registers = 0;
  EXPECT_EQ(
      verdict(s),
      "kernel: agent producer has 40 registers a thread, agent consumer leaves them open; set all or none");
  s.agents[1].registers = 230;
  EXPECT_EQ(
      verdict(s),
      "kernel: agent consumer has 230 registers a thread; setmaxnreg takes multiples of 8 from 24 to 256");
  s = one_agent({}, {});
  s.agents[0].registers = 256;
  EXPECT_EQ(verdict(s), "kernel: agent block has 256 registers a thread; sm_90a has 1 to 255");
}

TEST(Limits, Instructions) {
  Kernel s = hopper_matmul(8);
  for (Agent& a : s.agents) a.registers = 128;
  EXPECT_EQ(
      verdict(s, "sm_80"),
      "kernel: producer, step 'load A', is a TMA copy, which sm_80 lacks; use cp_async_group, or sm_90a");
  s = one_agent({"sX"}, {wgmma("wgmma", {{0}})});
  EXPECT_EQ(verdict(s, "sm_80"),
            "kernel: block, step 'wgmma', is wgmma, which sm_80 lacks; use mma.sync, or sm_90a");
  s.threads = 96, s.agents[0].warps = 3;
  EXPECT_EQ(verdict(s),
            "kernel: block, step 'wgmma', is wgmma on an agent of 3 warps; it takes whole warpgroups of 4");
  s = hopper_matmul(8);
  EXPECT_EQ(
      verdict(s, "sm_80"),
      "kernel: agents have different registers a thread (producer has 40); that takes setmaxnreg, which "
      "sm_80 lacks: it needs sm_90a");
}

TEST(Limits, BlockBarrierOfSomeAgents) {
  Kernel s = hopper_matmul(8);
  for (Step& step : s.agents[1].steps)
    if (Barrier* barrier = as<Barrier>(step)) barrier->id = 0;
  EXPECT_EQ(
      verdict(s),
      "kernel: consumer uses barrier 0, agent producer does not; __syncthreads waits for every thread of the "
      "block: use a named barrier, 1 to 15");
}

TEST(Limits, Alignment) {
  Kernel s = hopper_matmul(8);
  s.tensors[0].offset = 16, s.tensors[1].offset += 128, s.tensors[2].offset += 128;
  EXPECT_EQ(verdict(s),
            "kernel: producer, step 'load A', is a TMA copy of tensor sA at byte 16 with stages of 16384 "
            "bytes; TMA "
            "takes multiples of 128");
}

TEST(Structure, EachFault) {
  const auto of = [](std::vector<Step> steps) { return verdict(one_agent({"sX"}, std::move(steps))); };
  EXPECT_EQ(verdict(Kernel{.threads = 32}), "kernel: has no agents; a schedule needs at least 1");
  EXPECT_EQ(of({work("w", {}, {{1}})}),
            "kernel: block, step 'w', touches tensor 1; the schedule has 1 tensors, numbered from 0");
  EXPECT_EQ(of({work("w", {{-1}}, {})}),
            "kernel: block, step 'w', touches tensor -1; the schedule has 1 tensors, numbered from 0");
  EXPECT_EQ(of({loop(0), end()}), "kernel: block, step 0 (loop), has trip count 0; a loop has at least 1");
  EXPECT_EQ(of({wait_group(-1)}),
            "kernel: block, step 0 (wait_group), leaves -1 groups pending; the fewest is 0");
  EXPECT_EQ(of({barrier(16)}),
            "kernel: block, step 0 (barrier), uses barrier 16; the hardware has barriers 0 to 15");
  EXPECT_EQ(of({load("l", {0}, 3)}),
            "kernel: block, step 'l', names channel 3; the schedule has 0 channels, numbered from 0");
  EXPECT_EQ(
      of({acquire(-1)}),
      "kernel: block, step 0 (acquire), names channel -1; the schedule has 0 channels, numbered from 0");
  EXPECT_EQ(of({load("l", {0}, -1, 1)}),
            "kernel: block, step 'l', has guard 1 and no loop around or after it; a guard compares "
            "with the trip count of that loop");
  Step step = barrier();
  step.reads = {{0}};
  EXPECT_EQ(of({step}),
            "kernel: block, step 0 (barrier), is a barrier and touches tensor sX; only start, work, copy and "
            "async_work do");
  step = load("l", {0});
  step.reads = {{0}};
  EXPECT_EQ(
      of({step}),
      "kernel: block, step 'l', is a copy with 1 reads and 1 writes of shared memory; a load only writes, a "
      "store only reads");
  step = wgmma("w", {});
  step.writes = {{0}};
  EXPECT_EQ(of({step}),
            "kernel: block, step 'w', is async_work and writes tensor sX; wgmma writes registers: store them "
            "in a later "
            "work step");
  Kernel s = one_agent({"sX"}, {});
  s.tensors[0].part_step = 0;
  EXPECT_EQ(verdict(s), "kernel: tensor sX has 0 bytes in 1 stages; each needs at least 1");
  s.tensors[0] = tensor("sX", -4, 4);
  EXPECT_EQ(verdict(s), "kernel: tensor sX lies at byte -4; shared memory starts at byte 0");
  s = hopper_matmul(8);
  s.channels[0].stages = 3;
  EXPECT_EQ(verdict(s), "kernel: channel ring has 3 stages, its tensor sA has 4; the two must agree");
  s = hopper_matmul(8);
  s.channels[0].consumers = {0};
  EXPECT_EQ(verdict(s),
            "kernel: channel ring has producer as producer and as consumer; mbarriers join two agents");
  s = hopper_matmul(8);
  as<Acquire>(s.agents[1].steps[0])->channel = 1;
  EXPECT_EQ(verdict(s),
            "kernel: consumer, step 0 (acquire), acquires or releases channel accumulators, which works by "
            "commit_group; only "
            "mbarrier_bytes has stages to acquire");
}

}  // namespace
}  // namespace zellige::plan
