// Indices of nothing, each with its whole message. The parser refuses these: its lines name tensors and channels. All other
// faults of structure, and limits of the target, are in tests/ir/bad.
#include <gtest/gtest.h>

#include "schedules.hpp"

namespace zellige::plan {
namespace {

TEST(Structure, IndicesOfNothing) {
  const auto of = [](const kernel::Step& step) { return verdict(one_agent({"sX"}, {step})); };
  EXPECT_EQ(of(work("w", {}, {{1}})),
            "kernel: block, step 'w', touches tensor 1; the schedule has 1 tensors, numbered from 0");
  EXPECT_EQ(of(work("w", {{-1}}, {})),
            "kernel: block, step 'w', touches tensor -1; the schedule has 1 tensors, numbered from 0");
  EXPECT_EQ(of(load("l", {0}, 3)),
            "kernel: block, step 'l', names channel 3; the schedule has 0 channels, numbered from 0");
}

}  // namespace
}  // namespace zellige::plan
