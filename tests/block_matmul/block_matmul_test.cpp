// Block-level matmul of tiles that instructions divide and of tiles that none divides: M and N over the grid,
// K over the loop, operands row- and column-major, leading dimensions exact and padded, blocks of several
// sizes and shapes.
//
// One graph holds the four orders of A and B as four kernels. By default each size runs with one block and one padding;
// ZELLIGE_ALL=1 in the environment runs all of them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "graph/builder.hpp"
#include "run/run.hpp"

namespace zellige {
namespace {

struct Size {
  std::int64_t m, n, k, tile_m, tile_n, tile_k;
};

constexpr Size sizes[] = {
    {16, 8, 16, 16, 8, 16},      {64, 64, 64, 16, 8, 16},  {256, 256, 64, 32, 32, 32}, {128, 128, 64, 128, 8, 32},
    {128, 128, 64, 16, 128, 32}, {15, 15, 24, 5, 5, 8},    {15, 15, 15, 5, 5, 5},      {96, 96, 64, 24, 24, 32},
    {96, 96, 57, 24, 24, 19},    {96, 96, 63, 24, 24, 21}, {405, 435, 63, 27, 29, 21}, {381, 504, 62, 127, 126, 31},
    {92, 94, 64, 46, 47, 32},
};

const graph::Dim3 blocks[] = {{32}, {64}, {128}, {256}, {8, 8, 4}};

struct Case {
  Size size;
  graph::Dim3 block;
  bool padded;  // leading dimensions to a multiple of 8
};

std::string name(const testing::TestParamInfo<Case>& info) {
  const auto& [s, b, padded] = info.param;
  return fmt::format("{}x{}x{}_by_{}x{}x{}_block_{}x{}x{}_{}", s.m, s.n, s.k, s.tile_m, s.tile_n, s.tile_k, b.x, b.y,
                     b.z, padded ? "padded" : "exact");
}

std::vector<Case> cases() {
  const char* all = std::getenv("ZELLIGE_ALL");
  std::vector<Case> result;
  if (all && std::string(all) == "1") {
    for (const Size& s : sizes)
      for (const graph::Dim3& b : blocks)
        for (bool padded : {false, true}) result.push_back({s, b, padded});
  } else {
    for (std::size_t i = 0; i < std::size(sizes); ++i)
      result.push_back({sizes[i], blocks[i % std::size(blocks)], i % 2 == 0});
  }
  return result;
}

graph::Strides matrix(std::int64_t rows, std::int64_t columns, bool row_major, bool padded) {
  const std::int64_t contiguous = row_major ? columns : rows, leading = padded ? (contiguous + 7) / 8 * 8 : contiguous;
  return row_major ? graph::Strides{leading, 1} : graph::Strides{1, leading};
}

graph::KernelGraph matmuls(const Case& c) {
  const Size& s = c.size;
  graph::Builder b("block_matmul");
  for (const bool a_rows : {true, false})
    for (const bool b_rows : {true, false}) {
      const std::string orders = fmt::format("{}{}", a_rows ? "r" : "c", b_rows ? "r" : "c");
      const graph::TensorHandle A =
          b.input("A" + orders, {s.m, s.k}, graph::DType::f16, matrix(s.m, s.k, a_rows, c.padded));
      const graph::TensorHandle B =
          b.input("B" + orders, {s.k, s.n}, graph::DType::f16, matrix(s.k, s.n, b_rows, c.padded));
      const graph::CustomLaunch launch{{s.m / s.tile_m, s.n / s.tile_n}, c.block, s.k / s.tile_k};
      const auto C = b.custom(launch, [&](graph::BlockBuilder& t) {
        const graph::TileHandle x = t.load(A, {.x = 0, .loop = 1}), y = t.load(B, {.y = 1, .loop = 0});
        t.store(graph::accum(graph::matmul(x, y)), {.x = 0, .y = 1});
      });
      b.output(C.at(0), "C" + orders);
    }
  return b.build();
}

/// mma.sync instructions that the products need at least.
std::uint64_t min_mma(const Size& s) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  return static_cast<std::uint64_t>(4 * s.m / s.tile_m * (s.n / s.tile_n) * (s.k / s.tile_k) * up(s.tile_m, 16) *
                                    up(s.tile_n, 8) * up(s.tile_k, 16));
}

class BlockMatmul : public testing::TestWithParam<Case> {};

TEST_P(BlockMatmul, Correct) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const run::RunResult r = run::run(matmuls(GetParam()), {.on = run::Machine::emulator, .target = "sm_80"}, cache);
  EXPECT_EQ(run::name(r.status), "correct") << r.reason;
  EXPECT_EQ(r.buffer_size, 0);
  EXPECT_EQ(r.tensors.size(), 4u);
  std::uint64_t mma = 0;
  for (const auto& [counter, n] : r.counters)
    if (counter == "mma") mma = n;
  EXPECT_GE(mma, min_mma(GetParam().size));
}

INSTANTIATE_TEST_SUITE_P(Sizes, BlockMatmul, testing::ValuesIn(cases()), name);

}  // namespace
}  // namespace zellige
