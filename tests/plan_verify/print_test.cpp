
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
  kernel::Step step;
  std::string_view name;
  int channel = -1, guard_lag = 0;
};

std::vector<Alternative> alternatives() {
  return {{load("a", {0}, 3, 2), "copy", 3, 2},
          {wgmma("m", {}, 4), "async_work", 4},
          {{.is = kernel::Compute{.channel = 5, .guard_lag = 1}}, "work", 5, 1},
          {{.is = kernel::Start{}}, "start"},
          {loop(2), "loop"},
          {commit(6), "commit", 6},
          {wait_group(1, 7), "wait_group", 7},
          {barrier(1), "barrier"},
          {acquire(8), "acquire", 8},
          {release(9), "release", 9},
          {{.is = kernel::Drain{10}}, "drain", 10},
          {{.is = kernel::MbarrierInit{11, 4}}, "init", 11},
          {{.is = kernel::FenceInit{}}, "fence_init"},
          {fence(), "fence_proxy"},
          {{.is = kernel::GriddepWait{}}, "griddep_wait"},
          {{.is = kernel::GriddepLaunchDependents{}}, "griddep_launch_dependents"},
          {{.is = kernel::WarpBarrier{}}, "warp_barrier"},
          {{.is = kernel::ClusterBarrier{}}, "cluster_barrier"}};
}

TEST(Step, HasTheNameAndTheFieldsOfItsAlternative) {
  const std::vector<Alternative> all = alternatives();
  ASSERT_EQ(all.size(), std::variant_size_v<decltype(kernel::Step::is)> - 1 + std::variant_size_v<kernel::Sync>);
  for (const Alternative& x : all) {
    EXPECT_EQ(kernel::name(x.step), x.name);
    EXPECT_EQ(kernel::channel_of(x.step), x.channel) << x.name;
    EXPECT_EQ(kernel::guard_lag_of(x.step), x.guard_lag) << x.name;
  }
  EXPECT_EQ(kernel::name(arrive(1)), "arrive");
}

template <class... T>
std::vector<int> steps_that_are(const std::vector<Alternative>& all) {
  std::vector<int> counts;
  const auto count = [&](auto is) { return static_cast<int>(std::count_if(all.begin(), all.end(), is)); };
  (counts.push_back(count([](const Alternative& x) { return kernel::as<T>(x.step) != nullptr; })), ...);
  return counts;
}

TEST(Step, IsOneAlternativeAndNoOther) {
  const std::vector<Alternative> all = alternatives();
  EXPECT_EQ((steps_that_are<kernel::Copy, kernel::Mma, kernel::Compute, kernel::Start, kernel::Loop, kernel::Commit,
                            kernel::WaitGroup, kernel::Barrier, kernel::Acquire, kernel::Release, kernel::Drain,
                            kernel::MbarrierInit, kernel::FenceInit, kernel::FenceProxy, kernel::GriddepWait,
                            kernel::GriddepLaunchDependents, kernel::WarpBarrier, kernel::ClusterBarrier>(all)),
            std::vector<int>(all.size(), 1));
  std::size_t synchronise = 0, others = 0;
  for (const Alternative& x : all)
    kernel::match(
        x.step, [&](const kernel::Sync&) { ++synchronise; },
        [&](const kernel::OneOf<kernel::Copy, kernel::Mma, kernel::Compute, kernel::Start, kernel::Loop> auto&) {
          ++others;
        });
  EXPECT_EQ(synchronise, std::variant_size_v<kernel::Sync>);
  EXPECT_EQ(others, 5u);
}

TEST(Print, EverySynchronisationHasAName) {
  for (int k = 0; k <= static_cast<int>(kernel::Synchronisation::mbarrier_cluster); ++k)
    EXPECT_NE(kernel::name(static_cast<kernel::Synchronisation>(k)), "");
  EXPECT_THROW((void)kernel::name(static_cast<kernel::Synchronisation>(99)), std::runtime_error);
}

}  // namespace
}  // namespace zellige::plan
