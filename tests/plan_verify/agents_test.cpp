// Several consumers of a channel, and agents that alternate at named barriers.
#include <gtest/gtest.h>

#include "schedules.hpp"

namespace zellige::plan {
namespace {

/// The schedule without the nth step of that name of an agent.
Kernel without(Kernel s, int agent, std::string_view kind, int nth = 0) {
  auto& steps = s.agents[agent].steps;
  for (auto step = steps.begin(); step != steps.end(); ++step)
    if (name(*step) == kind && nth-- == 0) {
      steps.erase(step);
      return s;
    }
  ADD_FAILURE() << "agent " << agent << " has no such step";
  return s;
}

TEST(Consumers, ShareARingAlternately) {
  for (std::int64_t trip_count : {1, 2, 3, 40})
    EXPECT_EQ(verdict(ping_pong(trip_count)), "") << trip_count << " iterations";
}

// A stage is empty when all have released it: a later load needs each of them.
TEST(Consumers, EachMustReleaseItsStages) {
  for (int consumer : {1, 2})
    EXPECT_EQ(verdict(without(ping_pong(4), consumer, "release")).substr(0, 17), "kernel: deadlock:")
        << consumer;
}

TEST(Consumers, EachMustAcquireWhatIsFilled) {
  Kernel s = ping_pong(2);  // two stages: nobody waits for a release
  auto& steps = s.agents[2].steps;
  std::erase_if(steps, [](const Step& x) {
    return as<Acquire>(x) || as<Release>(x) || as<Mma>(x) || as<Commit>(x) || as<WaitGroup>(x) ||
           as<Compute>(x);
  });
  EXPECT_EQ(verdict(s),
            "kernel: producer fills sA[0] of channel ring, which consumer 2 never acquires (the last 2 it "
            "fills), so it "
            "may still be written when the kernel ends; acquire every stage that is filled");
}

TEST(Consumers, ReadOnlyWhatTheyAcquired) { EXPECT_NE(verdict(without(ping_pong(4), 2, "acquire")), ""); }

TEST(Consumers, AreNamedOnce) {
  Kernel s = ping_pong(2);
  s.channels[0].consumers = {1, 1};
  EXPECT_EQ(verdict(s), "kernel: channel ring names consumer 1 as consumer twice; each agent once");
  s.channels[0].consumers = {};
  EXPECT_EQ(verdict(s), "kernel: channel ring has no consumer; it needs at least 1");
}

TEST(VerifyPingPong, NeedTheirFirstAndTheirLast) {
  // Nobody begins.
  EXPECT_EQ(verdict(without(ping_pong(4), 2, "arrive")).substr(0, 17), "kernel: deadlock:");
  // The last arrive has no matching wait.
  EXPECT_EQ(
      verdict(without(ping_pong(4), 1, "barrier", 1)),
      "kernel: consumer 2 arrives at barrier 1 and nobody waits there for it; each arrive needs its barrier");
}

// An agent that arrives at a barrier again may be counted twice in its previous round, if the waiting threads
// have not passed it: then the other's threads continue too early, without an error.
TEST(VerifyPingPong, AreNotGivenTwice) {
  Kernel s{.threads = 256};
  s.agents = {{.name = "giver", .warps = 4, .steps = {arrive(1), arrive(1)}},
              {.name = "taker", .warps = 4, .steps = {barrier(1), barrier(1)}}};
  EXPECT_EQ(
      verdict(s),
      "kernel: giver reaches barrier 1 again in step 1 (arrive), but does not know that those who wait "
      "there have "
      "passed its last round, so it may be counted twice; let it wait, or learn of it, between the two");
  s.agents[0].steps = {arrive(1), barrier(2), arrive(1)};
  s.agents[1].steps = {barrier(1), barrier(2), barrier(1)};
  EXPECT_EQ(verdict(s), "");
}

// Writes before an arrive are visible after the barrier, and later writes are not.
TEST(VerifyPingPong, HandOnWhatWasWrittenBefore) {
  Kernel s{.threads = 256};
  s.tensors = {tensor("sX", 0, 1024)};
  const Step write = work("write", {}, {{.tensor = 0}}), read = work("read", {{.tensor = 0}}, {});
  s.agents = {{.name = "giver", .warps = 4, .steps = {write, arrive(1)}},
              {.name = "taker", .warps = 4, .steps = {barrier(1), read}}};
  EXPECT_EQ(verdict(s), "");
  s.agents[0].steps = {arrive(1), write};
  EXPECT_NE(verdict(s), "");
  s.agents[0].steps = {read,
                       arrive(1)};  // and the reverse: a write after the barrier, a read after the arrive
  s.agents[1].steps = {write, barrier(1)};
  EXPECT_NE(verdict(s), "");
}

TEST(VerifyPingPong, AreTakenAtNamedBarriers) {
  Kernel s{.threads = 128};
  s.agents = {{.name = "block", .warps = 4, .steps = {arrive(0)}}};
  EXPECT_EQ(verdict(s),
            "kernel: block, step 0 (arrive), arrives at barrier 0, which is __syncthreads; a named barrier "
            "is needed, 1 to "
            "15");
}

}  // namespace
}  // namespace zellige::plan
