// What each step waits for: only steps that wait have a reason, and it names what the wait protects.
#include "explain/waits.hpp"

#include <gtest/gtest.h>

#include "compiled.hpp"

namespace zellige::explain {
namespace {

bool waits(const kernel::Step& step) {
  const auto* barrier = kernel::as<kernel::Barrier>(step);
  return (barrier && barrier->waits) || kernel::as<kernel::Acquire>(step) || kernel::as<kernel::WaitGroup>(step) ||
         kernel::as<kernel::Drain>(step) || kernel::as<kernel::GriddepWait>(step);
}

TEST(Waits, StepsThatWaitHaveAReasonAndNoOthers) {
  for (const char* file : {"layers/llama_decode.json", "layers/plain_attention.json", "gemm.json"})
    for (const char* target : {"sm_80", "sm_90a"}) {
      const Explained& e = explained(file, target);
      for (const kernel::Kernel& k : e.compiled.program.plan.kernels)
        for (std::size_t agent = 0; agent < k.agents.size(); ++agent) {
          const std::vector<std::string> why = reasons(k, static_cast<int>(agent));
          std::size_t i = 0;
          kernel::walk(k.agents[agent].steps, [&](const kernel::Step& step, const kernel::StepPosition& at) {
            EXPECT_EQ(!why[i++].empty(), waits(step)) << k.name() << ": " << kernel::describe(step, at.index);
          });
          EXPECT_EQ(i, why.size());
        }
    }
}

/// A kernel of one role that writes `t` in a first step, has a barrier, and reads `t` in a second one.
kernel::Kernel written_and_read(bool other_way) {
  kernel::Kernel k;
  k.tensors.push_back({.name = "t"});
  const std::vector<kernel::Access> access{{.tensor = 0}};
  kernel::Step write{.is = kernel::Compute{}, .what = "write", .writes = access},
      read{.is = kernel::Compute{}, .what = "read", .reads = access};
  if (other_way) std::swap(write, read);
  k.agents.push_back({.name = "block", .steps = {write, {.is = kernel::Sync(kernel::Barrier{})}, read}});
  return k;
}

TEST(Waits, ABarrierNamesWhatItSeparates) {
  EXPECT_EQ(reasons(written_and_read(false), 0)[1], "what was written to t is read after it, by read");
  EXPECT_EQ(reasons(written_and_read(true), 0)[1], "all threads have read t before write overwrites it");
}

TEST(Waits, ASecondBarrierSeparatesNothingMore) {
  kernel::Kernel k = written_and_read(false);
  k.agents[0].steps.insert(k.agents[0].steps.begin() + 2, {.is = kernel::Sync(kernel::Barrier{})});
  EXPECT_EQ(reasons(k, 0)[1], "what was written to t is read after it, by read");
  EXPECT_EQ(reasons(k, 0)[2], "all threads are here before any goes on");
}

TEST(Waits, OfRings) {
  kernel::Kernel k;
  k.tensors.push_back({.name = "A", .stages = 4});
  k.channels.push_back({.name = "ring", .tensor = 0, .stages = 4, .producer = 1, .consumers = {0}});
  const kernel::Step acquire{.is = kernel::Sync(kernel::Acquire{0})};
  k.agents.push_back({.name = "consumer", .steps = {acquire}});
  k.agents.push_back({.name = "producer", .steps = {acquire}});
  EXPECT_EQ(reasons(k, 0)[0], "until producer has filled the stage of A");
  EXPECT_EQ(reasons(k, 1)[0], "until consumer has read the stage of A, which is one of 4");
}

}  // namespace
}  // namespace zellige::explain
