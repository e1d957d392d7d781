#include <gtest/gtest.h>

#include "golden.hpp"
#include "schedules.hpp"

namespace zellige::plan {
namespace {

TEST(Print, Sm80Matmul) { expect_golden("sm80_matmul.txt", print(nested(sm80_matmul(3, 40)))); }
TEST(Print, HopperMatmul) { expect_golden("hopper_matmul.txt", print(nested(hopper_matmul(64)))); }

TEST(Print, SameThreadNegativeLagAndNestedLoops) {
  Schedule s = one_agent(
      {"sX", "sY"}, {loop(2), loop(3), work("scale", {same(0, -1)}, {same(1)}), end(), barrier(), end()});
  s.tensors[0].stages = 2;
  EXPECT_EQ(print(nested(s)),
            "128 threads, 2048 bytes of shared memory\n"
            "tensor sX  bytes [0, 1024), 2 stages of 512\n"
            "tensor sY  bytes [1024, 2048)\n"
            "agent block: 4 warps\n"
            "  loop i < 2\n"
            "    loop i < 3\n"
            "      work 'scale' reads sX[i-1] (same thread) writes sY (same thread)\n"
            "    barrier\n");
}

TEST(Print, EveryKindHasAName) {
  for (int k = 0; k <= static_cast<int>(StepKind::loop); ++k) EXPECT_NE(name(static_cast<StepKind>(k)), "");
  for (int k = 0; k <= static_cast<int>(Synchronisation::bulk_group); ++k)
    EXPECT_NE(name(static_cast<Synchronisation>(k)), "");
  EXPECT_THROW((void)name(static_cast<StepKind>(99)), std::runtime_error);
}

}  // namespace
}  // namespace zellige::plan
