// Deletes each synchronising step, one at a time. Every deletion must be rejected, with the golden
// message.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden.hpp"
#include "schedules.hpp"

namespace zellige::plan {
namespace {

bool synchronises(const kernel::Step& step) {
  return kernel::match(
      step,
      [](const kernel::OneOf<kernel::Commit, kernel::WaitGroup, kernel::Acquire, kernel::Release,
                             kernel::FenceProxy> auto&) { return true; },
      [](const kernel::Barrier& barrier) { return barrier.waits; },
      [](const kernel::OneOf<kernel::Copy, kernel::Mma, kernel::Compute, kernel::Start, kernel::Drain,
                             kernel::MbarrierInit, kernel::FenceInit, kernel::GriddepWait,
                             kernel::GriddepLaunchDependents, kernel::WarpBarrier, kernel::ClusterBarrier,
                             kernel::Loop> auto&) { return false; });
}

/// One line a deletion; `spare` counts those that are accepted.
std::string deletions(const kernel::Kernel& s, const char* target, int& spare) {
  std::string text;
  for (std::size_t a = 0; a < s.agents.size(); ++a)
    for (std::size_t k = 0; k < s.agents[a].steps.size(); ++k) {
      const kernel::Step& step = s.agents[a].steps[k];
      if (!synchronises(step)) continue;
      kernel::Kernel without = s;
      without.agents[a].steps.erase(without.agents[a].steps.begin() + static_cast<std::ptrdiff_t>(k));
      const std::string message = verdict(without, target);
      if (message.empty()) ++spare;
      text += fmt::format("without step {} of {} ({}):\n  {}\n", k, s.agents[a].name, kernel::name(step),
                          message.empty() ? "accepted" : message);
    }
  return text;
}

TEST(Deletion, Sm80Matmul) {
  int spare = 0;
  expect_golden("sm80_deletions.txt", deletions(sm80_matmul(3, 40), "sm_80", spare));
  EXPECT_EQ(spare, 0);
}

TEST(Deletion, HopperMatmul) {
  int spare = 0;
  expect_golden("hopper_deletions.txt", deletions(hopper_matmul(64), "sm_90a", spare));
  EXPECT_EQ(spare, 1);  // the last release: the producer has ended, nobody wants the stage back
}

TEST(Deletion, EveryPipelineDepthAndLength) {
  for (int stages = 2; stages <= 5; ++stages)
    for (std::int64_t trip_count : {1, 2, 3, 4, 5, 16, 17, 18, 40, 1000, 1'000'000'007}) {
      EXPECT_EQ(verdict(sm80_matmul(stages, trip_count), "sm_80"), "")
          << stages << " stages, " << trip_count << " iterations";
      kernel::Kernel shallow = sm80_matmul(stages, trip_count);  // one group too many left in flight
      for (kernel::Step& step : shallow.agents[0].steps)
        if (kernel::WaitGroup* wait = kernel::as<kernel::WaitGroup>(step)) ++wait->pending;
      EXPECT_NE(verdict(shallow, "sm_80"), "") << stages << " stages, " << trip_count << " iterations";
    }
  for (std::int64_t trip_count : {2, 3, 4, 5, 9, 64, 1000})
    EXPECT_EQ(verdict(hopper_matmul(trip_count)), "") << trip_count;
  for (std::int64_t trip_count : {1, 2, 3, 40}) EXPECT_EQ(verdict(ping_pong(trip_count)), "") << trip_count;
}

}  // namespace
}  // namespace zellige::plan
