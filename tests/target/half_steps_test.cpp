// Where the planner pads K to half a step, the loop of a kernel (block/multiply.hpp) takes an instruction of half the K.
#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <zellige/atom/mma_traits/names.hpp>
#include <zellige/block/multiply.hpp>

#include "target/instructions.hpp"

namespace zellige {
namespace {

/// What block/multiply.hpp asks of a Fragment of the instruction with this K.
template <class T, int K>
struct FragmentOf {
  using Product = typename mma_row<T, K, float>::type;
  using Row = MmaRowOf<Product>;
};

/// Checks each row of one warp that multiplies `type`, elements of T, into float32. K: those of mma_row.
template <class T, int... K>
void expect_half_steps(std::string_view type) {
  std::map<int, bool> halved;
  const auto add = [&]<int k>() {
    using F = FragmentOf<T, k>;
    halved[k] = !std::is_same_v<typename step_row<T, F>::type, typename last_step_row<T, F>::type>;
  };
  (add.template operator()<K>(), ...);
  for (const target::Target& t : target::all()) {
    for (const Instruction* row : target::instructions_of(t)) {
      const bool of_type = row->a.type == type && row->b.type == type && row->c.type == std::string_view("f32");
      if (!of_type || row->kind != Instruction::Kind::mma || row->issuers != 32 || !halved.contains(row->k)) continue;
      EXPECT_EQ(target::has_half_step(*row), halved[row->k]) << row->name;
    }
    if (const Instruction* row = target::find_mma(t, type, type, "f32"))
      EXPECT_TRUE(halved.contains(row->k)) << row->name << " has no mma_row in atom/mma.hpp, by which kernels call it";
  }
}

// The planner pads K to whole or half steps: those that a kernel's loop takes.
TEST(HalfSteps, AreThoseOfKernels) {
  expect_half_steps<half_t, 8, 16>("f16");
  expect_half_steps<bfloat16_t, 8, 16>("bf16");
  expect_half_steps<tfloat32_t, 4, 8>("tf32");
  expect_half_steps<float_e4m3_t, 32>("e4m3");
  expect_half_steps<float_e5m2_t, 32>("e5m2");
}

}  // namespace
}  // namespace zellige
