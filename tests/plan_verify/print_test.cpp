
#include <gtest/gtest.h>

#include <algorithm>

#include "golden.hpp"
#include "schedules.hpp"

namespace zellige::plan {
namespace {

TEST(Print, Sm80Matmul) { expect_golden("sm80_matmul.ir", text(sm80_matmul(3, 40), "sm_80")); }
TEST(Print, HopperMatmul) { expect_golden("hopper_matmul.ir", text(hopper_matmul(64))); }

/// A step of each alternative, with its name, the channel that it names and its guard.
struct Alternative {
  Step step;
  std::string_view name;
  int channel = -1, guard_lag = 0;
};

std::vector<Alternative> alternatives() {
  return {{load("a", {0}, 3, 2), "copy", 3, 2},
          {wgmma("m", {}, 4), "async_work", 4},
          {{.is = Compute{.channel = 5, .guard_lag = 1}}, "work", 5, 1},
          {{.is = Start{}}, "start"},
          {loop(2), "loop"},
          {commit(6), "commit", 6},
          {wait_group(1, 7), "wait_group", 7},
          {barrier(1), "barrier"},
          {acquire(8), "acquire", 8},
          {release(9), "release", 9},
          {{.is = Drain{10}}, "drain", 10},
          {{.is = MbarrierInit{11, 4}}, "init", 11},
          {{.is = FenceInit{}}, "fence_init"},
          {fence(), "fence_proxy"},
          {{.is = GriddepWait{}}, "griddep_wait"},
          {{.is = GriddepLaunchDependents{}}, "griddep_launch_dependents"},
          {{.is = WarpBarrier{}}, "warp_barrier"},
          {{.is = ClusterBarrier{}}, "cluster_barrier"}};
}

TEST(Step, HasTheNameAndTheFieldsOfItsAlternative) {
  const std::vector<Alternative> all = alternatives();
  ASSERT_EQ(all.size(), std::variant_size_v<decltype(Step::is)> - 1 + std::variant_size_v<Sync>);
  for (const Alternative& x : all) {
    EXPECT_EQ(name(x.step), x.name);
    EXPECT_EQ(channel_of(x.step), x.channel) << x.name;
    EXPECT_EQ(guard_lag_of(x.step), x.guard_lag) << x.name;
  }
  EXPECT_EQ(name(arrive(1)), "arrive");
}

template <class... T>
std::vector<int> steps_that_are(const std::vector<Alternative>& all) {
  std::vector<int> counts;
  const auto count = [&](auto is) { return static_cast<int>(std::count_if(all.begin(), all.end(), is)); };
  (counts.push_back(count([](const Alternative& x) { return as<T>(x.step) != nullptr; })), ...);
  return counts;
}

TEST(Step, IsOneAlternativeAndNoOther) {
  const std::vector<Alternative> all = alternatives();
  EXPECT_EQ((steps_that_are<Copy, Mma, Compute, Start, Loop, Commit, WaitGroup, Barrier, Acquire, Release, Drain,
                            MbarrierInit, FenceInit, FenceProxy, GriddepWait, GriddepLaunchDependents, WarpBarrier,
                            ClusterBarrier>(all)),
            std::vector<int>(all.size(), 1));
  std::size_t synchronise = 0, others = 0;
  for (const Alternative& x : all)
    match(
        x.step, [&](const Sync&) { ++synchronise; },
        [&](const OneOf<Copy, Mma, Compute, Start, Loop> auto&) { ++others; });
  EXPECT_EQ(synchronise, std::variant_size_v<Sync>);
  EXPECT_EQ(others, 5u);
}

TEST(Print, EverySynchronisationHasAName) {
  for (int k = 0; k <= static_cast<int>(Synchronisation::mbarrier_cluster); ++k)
    EXPECT_NE(name(static_cast<Synchronisation>(k)), "");
  EXPECT_THROW((void)name(static_cast<Synchronisation>(99)), std::runtime_error);
}

}  // namespace
}  // namespace zellige::plan
