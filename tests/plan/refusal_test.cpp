// Plans that exceed the target are refused in one sentence with both numbers.
#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "graphs.hpp"

namespace zellige::plan {
namespace {

using graph::BlockBuilder;
using graph::Builder;
using graph::KernelGraph;
using graph::TensorHandle;

std::string refusal(const KernelGraph& graph, const target::Target& target) {
  try {
    test::make_plan(graph, target);
  } catch (const Error& e) {
    return e.what();
  }
  return "planned";
}

KernelGraph square_matmul(std::int64_t tile, const graph::CustomLaunch& launch = {.grid = {}, .block = {128}}) {
  Builder b("squares");
  TensorHandle A = b.input("A", {tile, tile}), B = b.input("B", {tile, tile});
  b.output(b.custom(launch, [&](BlockBuilder& t) { t.store(matmul(t.load(A), t.load(B))); })[0], "C", {tile, 1});
  return b.build();
}

TEST(Refusal, TilesLargerThanSharedMemory) {
  EXPECT_EQ(refusal(square_matmul(256), target::find("sm_80")),
            "squares_k0: its tiles need 393216 bytes of shared memory, sm_80 has 166912 for a block; smaller "
            "tiles or a "
            "longer loop would fit");
  EXPECT_EQ(refusal(square_matmul(256), target::find("sm_90a")),
            "squares_k0: its tiles need 393216 bytes of shared memory, sm_90a has 232448 for a block; "
            "smaller tiles or a "
            "longer loop would fit");
  EXPECT_EQ(refusal(square_matmul(128), target::find("sm_86")), "planned");
}

TEST(Refusal, TheSameTilesFitALargerTarget) {
  EXPECT_EQ(refusal(square_matmul(160), target::find("sm_89")),
            "squares_k0: its tiles need 153600 bytes of shared memory, sm_89 has 101376 for a block; smaller "
            "tiles or a "
            "longer loop would fit");
  EXPECT_EQ(refusal(square_matmul(160), target::find("sm_80")), "planned");
}

KernelGraph columns(const graph::Dim3& grid, int axis) {
  Builder b("columns");
  TensorHandle X = b.input("X", {8, grid[axis] * 8});
  const graph::Split split{.x = axis == 0 ? 1 : -1, .y = axis == 1 ? 1 : -1, .z = axis == 2 ? 1 : -1};
  b.output(b.custom({.grid = grid, .block = {64}}, [&](BlockBuilder& t) { t.store(exp(t.load(X, split)), split); })[0]);
  return b.build();
}

// Every target known today has the same grid; a smaller one shows that the record is what is asked.
TEST(Refusal, GridBeyondTheTarget) {
  target::Target small = target::find("sm_80");
  small.grid_x = 100, small.grid_y = 20, small.grid_z = 10;
  EXPECT_EQ(refusal(columns({101, 1, 1}, 0), small), "columns_k0: the grid's x is 101; sm_80 allows 100");
  // Beyond the limits of y and z, blocks are numbered along x.
  EXPECT_EQ(refusal(columns({1, 21, 1}, 1), small), "planned");
  EXPECT_EQ(refusal(columns({1, 1, 11}, 2), small), "planned");
  EXPECT_EQ(refusal(columns({1, 101, 1}, 1), small), "columns_k0: the grid's x is 101; sm_80 allows 100");
  EXPECT_EQ(refusal(columns({100, 1, 1}, 0), small), "planned");
}

TEST(Refusal, ThreadsBeyondTheTarget) {
  target::Target small = target::find("sm_80");
  small.threads_per_block = 256;
  EXPECT_EQ(refusal(square_matmul(32, {.grid = {}, .block = {8, 9, 4}}), small),
            "squares_k0: 288 threads a block; sm_80 allows 256");
  EXPECT_EQ(refusal(square_matmul(32, {.grid = {}, .block = {8, 8, 4}}), small), "planned");
}

}  // namespace
}  // namespace zellige::plan
