// Expected and actual arrivals of barriers, and the steps before and after the agents. Plans with wrong ones:
// tests/ir/bad/arrivals and setup.
#include <gtest/gtest.h>

#include "schedules.hpp"
#include "verify/set_up.hpp"

namespace zellige::plan {
namespace {

Kernel counted(Kernel s) {
  set_up(s);
  return s;
}

int last(const Kernel& s) { return static_cast<int>(s.channels.size()) - 1; }

Kernel cluster(int ranks) { return counted(cluster_matmul(12, ranks)); }
Kernel exchanging(int ranks) { return counted(split_k_matmul(12, ranks)); }

TEST(Arrivals, AreCountedAsTheyCome) {
  for (const Kernel& s :
       {counted(hopper_matmul(12)), counted(ping_pong(12)), cluster(2), cluster(4), exchanging(2), exchanging(4)}) {
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

TEST(Setup, AnyOmittedStepIsRejected) {
  for (const Kernel& s : {counted(hopper_matmul(12)), counted(ping_pong(12)), cluster(2), cluster(4), exchanging(2)})
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

}  // namespace
}  // namespace zellige::plan
