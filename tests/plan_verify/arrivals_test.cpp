// Expected and actual arrivals of barriers, and the steps before and after the agents. Plans with wrong ones:
// tests/ir/bad/arrivals and setup.
#include <gtest/gtest.h>

#include "schedules.hpp"
#include "verify/set_up.hpp"

namespace zellige::plan {
namespace {

kernel::Kernel counted(kernel::Kernel s) {
  verify::set_up(s);
  return s;
}

int last(const kernel::Kernel& s) { return static_cast<int>(s.channels.size()) - 1; }

kernel::Kernel cluster(int blocks) { return counted(cluster_matmul(12, blocks)); }
kernel::Kernel exchanging(int blocks) { return counted(split_k_matmul(12, blocks)); }

TEST(Arrivals, AreCountedAsTheyCome) {
  for (const kernel::Kernel& s :
       {counted(hopper_matmul(12)), counted(ping_pong(12)), cluster(2), cluster(4), exchanging(2), exchanging(4)}) {
    EXPECT_EQ(verdict(s), "");
    for (int c = 0; c <= last(s); ++c)
      EXPECT_EQ(kernel::arrivals_of(s, c) > 0, s.channels[c].by == kernel::Synchronisation::mbarrier_bytes ||
                                                   s.channels[c].by == kernel::Synchronisation::mbarrier_cluster);
  }
  EXPECT_EQ(kernel::arrivals_of(counted(hopper_matmul(12)), 0), 8);
  EXPECT_EQ(kernel::arrivals_of(counted(ping_pong(12)), 0), 8);  // of two agents
  EXPECT_EQ(kernel::arrivals_of(cluster(4), 0), 8);              // of each block
  EXPECT_EQ(kernel::arrivals_of(exchanging(4), last(exchanging(4))), 24);
}

TEST(Setup, AnyOmittedStepIsRejected) {
  for (const kernel::Kernel& s :
       {counted(hopper_matmul(12)), counted(ping_pong(12)), cluster(2), cluster(4), exchanging(2)})
    for (const auto list : {&kernel::Kernel::setup, &kernel::Kernel::teardown})
      for (std::size_t k = 0; k < (s.*list).size(); ++k) {
        kernel::Kernel without = s;
        (without.*list).erase((without.*list).begin() + static_cast<std::ptrdiff_t>(k));
        EXPECT_NE(verdict(without), "") << kernel::name((s.*list)[k]);
        kernel::Kernel twice = s;
        (twice.*list).push_back((s.*list)[k]);
        EXPECT_NE(verdict(twice), "") << kernel::name((s.*list)[k]);
      }
}

}  // namespace
}  // namespace zellige::plan
