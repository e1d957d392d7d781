// PipelineState: the k-th use of a ring is stage k mod n, in a phase with the parity of k / n.
#include <gtest/gtest.h>

#include <cutlass/pipeline/sm90_pipeline.hpp>

namespace {

template <uint32_t stages>
void expect_at(cutlass::PipelineState<stages> const& s, uint32_t uses, uint32_t first_phase) {
  ASSERT_EQ(s.count(), uses);
  ASSERT_EQ(s.index(), int(uses % stages)) << uses << " of " << stages;
  ASSERT_EQ(s.phase(), (uses / stages + first_phase) % 2) << uses << " of " << stages;
}
template <uint32_t stages>
void walks_and_jumps() {
  for (uint32_t phase : {0u, 1u}) {
    cutlass::PipelineState<stages> walking(0, phase, 0);
    for (uint32_t k = 0; k < 4 * stages + 3; ++k, ++walking) {
      expect_at(walking, k, phase);
      for (uint32_t jump = 0; jump < 5 * stages; ++jump) {
        auto const made = cutlass::PipelineState<stages>::make_pipeline_state(walking, jump);
        expect_at(made, k + jump, phase);
        auto advanced = walking;
        advanced += jump;
        expect_at(advanced, k + jump, phase);
      }
    }
  }
}

TEST(CompatPipelineState, IsWhereTheCountSays) {
  walks_and_jumps<1>();
  walks_and_jumps<2>();
  walks_and_jumps<3>();
  walks_and_jumps<4>();
  walks_and_jumps<7>();
}
struct Pipeline {
  static constexpr uint32_t Stages = 3;
};
TEST(CompatPipelineState, StartsAtTheFirstStage) {
  expect_at(cutlass::PipelineState<3>(), 0, 0);
  expect_at(cutlass::make_producer_start_state<Pipeline>(), 0, 1);
}
TEST(CompatPipelineState, TokensCompareWithWhatTheySay) {
  cutlass::ConsumerToken const waited = cutlass::BarrierStatus::WaitDone;
  EXPECT_TRUE(waited == cutlass::BarrierStatus::WaitDone);
  EXPECT_TRUE(cutlass::BarrierStatus::WaitAgain != waited);
  EXPECT_EQ(waited.get(), cutlass::BarrierStatus::WaitDone);
}

}  // namespace
