// The layouts that the verifier evaluates from the instructions' rows are those of block/fragment.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <zellige/atom/mma_traits/names.hpp>
#include <zellige/atom/mma_unpacked.hpp>
#include <zellige/atom/outer_product.hpp>
#include <zellige/block/store_matrix.hpp>

#include "kernel/evaluated_layout.hpp"
#include "kernel/fragments.hpp"
#include "selection/matrix_stores.hpp"
#include "target/instructions.hpp"
#include "target/products.hpp"

namespace zellige::plan {
namespace {

const Instruction& mma() { return *target::find_instruction(target::find("sm_80"), "SM80_16x8x16_F32F16F16F32_TN"); }

template <int B, int M, int N, int WB, int WM, int WN, int WK, class Of = SM80_16x8x16_F32F16F16F32_TN>
void same_as_fragment(const Instruction& row = mma()) {
  using F = Fragment<B, M, N, WB, WM, WN, WK, Of>;
  constexpr int run = F::neighbours;
  const kernel::WarpLayout w{WB, WM, WN, WK};
  const kernel::EvaluatedLayout mine(kernel::accumulators({B, M, N}, w, row));
  ASSERT_EQ(mine.values(), F::tiles * F::values_per_tile);
  ASSERT_EQ(mine.threads(), w.count() * 32);
  for (int thread = 0; thread < mine.threads(); ++thread)
    for (int value = 0; value < mine.values(); ++value) {
      const FragmentAt at = F::at(value / run, thread / 32, thread % 32);
      ASSERT_EQ(mine.at(thread, value), (graph::Shape{at.b, at.m, at.n + value % run}))
          << "thread " << thread << ", value " << value;
    }
  if constexpr (WN == 1 && WK == 1) {
    const kernel::Context c = kernel::accumulators({B, M, N}, w, row);
    const kernel::EvaluatedLayout rows(kernel::lines(c));
    ASSERT_EQ(rows.values(), F::lines);
    ASSERT_EQ(kernel::warps(kernel::lines(c)), w);
    for (int thread = 0; thread < rows.threads(); ++thread) {
      for (int r = 0; r < F::lines; ++r) {
        const FragmentAt at = F::line_at(r, thread / 32, thread % 32);
        ASSERT_EQ(rows.at(thread, r), (graph::Shape{at.b, at.m, 0})) << "thread " << thread << ", line " << r;
      }
      for (int value = 0; value < mine.values(); ++value) ASSERT_EQ(kernel::line_of(c, value), F::line(value / run));
    }
  }
  if constexpr (WB == 1 && WK == 1 && B % 2 == 0) {
    const kernel::Context c = kernel::accumulators({B, M, N}, w, row);
    ASSERT_TRUE(kernel::whole_pairs(c));
    std::set<int> seen;
    for (int i = 0; i < F::runs; ++i) {
      ASSERT_EQ(kernel::other_of_pair(c, i * run), F::other(i) * run) << "run " << i;
      ASSERT_TRUE(seen.insert(F::of_pair(i)).second) << "run " << i;
      if (i % 2) {
        ASSERT_EQ(F::of_pair(i), F::other(F::of_pair(i - 1))) << "run " << i;
      }
    }
  }
  // Rounded, value for value, they are the operand's registers: what `put` moves where.
  if constexpr (F::width == 2) {
    Operand<half_t, F> op{};
    for (int i = 0; i < F::pairs; ++i) op.put(i, static_cast<float>(2 * i), static_cast<float>(2 * i + 1));
    const auto* elements = reinterpret_cast<const half_t*>(&op.a);
    for (int value = 0; value < mine.values(); ++value)
      ASSERT_EQ(static_cast<float>(elements[value]), static_cast<float>(value));
  }
}

template <class P>
void same_as_outer_product(const char* name) {
  const auto rows = target::outer_products();
  const auto row = std::ranges::find_if(rows, [&](const Instruction& r) { return std::string_view(r.name) == name; });
  ASSERT_NE(row, rows.end()) << name;
  EXPECT_EQ(target::thread_rows(*row), P::rows);
  EXPECT_EQ(target::thread_columns(*row), P::columns);
  same_as_fragment<1, 128, 128, 1, 4, 2, 1, P>(*row);
  same_as_fragment<1, 128, 64, 1, 4, 1, 1, P>(*row);
  same_as_fragment<1, 33, 41, 1, 1, 1, 3, P>(*row);
  same_as_fragment<3, 20, 200, 2, 2, 1, 1, P>(*row);
}

/// Checks that every lane passes to stmatrix `Op` the address of the row that the plan has there, for all runs of F.
template <class F, class Op>
void same_rows(const Instruction& row, const kernel::WarpLayout& w) {
  const Instruction& store = *target::find_instruction(target::find("sm_90a"), Op::name);
  const int matrices = store.a.registers, warps = w.count();
  int next = 0;
  selection::for_each_matrix(
      kernel::accumulators({F::batch, F::rows, F::columns}, w, row), store, [&](int, const kernel::WarpAccess& rows) {
        const int first = next / (matrices * warps) * matrices, warp = next / matrices % warps,
                  matrix = next % matrices;
        for (int i = 0; i < 8; ++i) {
          const FragmentAt at = addressed_run<Op, half_t, F>(first, 32 * warp + 8 * matrix + i);
          ASSERT_EQ(rows[static_cast<std::size_t>(i)], (graph::Shape{at.b, at.m, at.n}))
              << store.name << ", runs from " << first << ", warp " << warp << ", matrix " << matrix << ", row " << i;
        }
        ++next;
      });
  EXPECT_EQ(next, F::runs * warps);
}

// Rows of wgmma and of mma.sync, several tiles along M, batches, and warps along N.
TEST(RegisterLayouts, AreStoredWhereTheKernelsStoreMatrices) {
  const auto wgmma = [](std::int64_t n) -> const Instruction& {
    return *target::find_warpgroup_mma(target::find("sm_90a"), "f16", "f16", "f32", n);
  };
  same_rows<Fragment<1, 64, 64, 1, 4>, SM90_U32x4_STSM_N>(wgmma(64), {.m = 4});
  same_rows<Fragment<1, 128, 256, 1, 8>, SM90_U32x4_STSM_N>(wgmma(256), {.m = 8});
  same_rows<Fragment<1, 256, 80, 1, 8>, SM90_U16x8_STSM_T>(wgmma(80), {.m = 8});
  same_rows<Fragment<1, 64, 48, 1, 4>, SM90_U16x4_STSM_T>(wgmma(48), {.m = 4});
  same_rows<Fragment<1, 192, 24, 1, 4, 1, 1, SM75_16x8x8_F32F16F16F32_TN>, SM90_U32x2_STSM_N>(wgmma(24), {.m = 4});
  same_rows<Fragment<4, 64, 32, 1, 4>, SM90_U32x4_STSM_N>(mma(), {.m = 4});
  same_rows<Fragment<4, 32, 96, 2, 2>, SM90_U16x8_STSM_T>(mma(), {.b = 2, .m = 2});
  same_rows<Fragment<1, 32, 128, 1, 2, 4>, SM90_U32x4_STSM_N>(mma(), {.m = 2, .n = 4});
}

// For all of them: the row is the one that the kernel's code names.
TEST(RegisterLayouts, AreTheOuterProductsOfTheKernels) {
  same_as_outer_product<OuterProduct<4, 4, 4, 8>>("OuterProduct<4, 4, 4, 8>");
  same_as_outer_product<OuterProduct<4, 4, 8, 4>>("OuterProduct<4, 4, 8, 4>");
  same_as_outer_product<OuterProduct<4, 4, 2, 16>>("OuterProduct<4, 4, 2, 16>");
  same_as_outer_product<OuterProduct<4, 2, 4, 8>>("OuterProduct<4, 2, 4, 8>");
  same_as_outer_product<OuterProduct<4, 1, 1, 32>>("OuterProduct<4, 1, 1, 32>");
  same_as_outer_product<OuterProduct<2, 1, 1, 32>>("OuterProduct<2, 1, 1, 32>");
  same_as_outer_product<OuterProduct<1, 1, 1, 32>>("OuterProduct<1, 1, 1, 32>");
  EXPECT_EQ(target::outer_products().size(), 7u);
}

TEST(RegisterLayouts, AreTheFragmentsOfTheKernels) {
  same_as_fragment<1, 16, 64, 1, 1, 4, 1>();
  same_as_fragment<1, 16, 16, 1, 1, 1, 4>();
  same_as_fragment<1, 33, 40, 1, 2, 2, 1>();
  same_as_fragment<1, 64, 8, 1, 4, 1, 2>();
  same_as_fragment<3, 20, 24, 2, 1, 2, 1>();
  same_as_fragment<4, 32, 96, 2, 2, 1, 2>();
  same_as_fragment<1, 8, 128, 1, 1, 8, 1>();
  same_as_fragment<1, 128, 128, 1, 4, 1, 1>();
  same_as_fragment<4, 40, 24, 2, 2, 1, 1>();
  same_as_fragment<2, 128, 64, 1, 8, 1, 1>();  // batches whose pairs each thread has
  same_as_fragment<4, 48, 40, 1, 2, 2, 1>();
}

// A unit of them is one tile.
TEST(RegisterLayouts, AreTheFragmentsOfTf32) {
  using Tf32 = SM80_16x8x8_F32TF32TF32F32_TN;
  const Instruction& row = *target::find_mma(target::find("sm_80"), "tf32", "tf32", "f32");
  EXPECT_EQ(row.name, std::string_view(Tf32::name));
  same_as_fragment<1, 16, 64, 1, 1, 4, 1, Tf32>(row);
  same_as_fragment<1, 33, 40, 1, 2, 2, 1, Tf32>(row);
  same_as_fragment<3, 20, 24, 2, 1, 2, 1, Tf32>(row);
  same_as_fragment<1, 64, 8, 1, 4, 1, 2, Tf32>(row);
  same_as_fragment<4, 32, 96, 2, 2, 1, 2, Tf32>(row);
}

/// Checks that the layouts of `row` are those of a Fragment of Float8.
template <class Float8>
void same_as_float8(const Instruction& row) {
  same_as_fragment<1, 16, 64, 1, 1, 4, 1, Float8>(row);
  same_as_fragment<1, 33, 40, 1, 2, 2, 1, Float8>(row);
  same_as_fragment<3, 20, 24, 2, 1, 2, 1, Float8>(row);
  same_as_fragment<1, 64, 8, 1, 4, 1, 2, Float8>(row);
  same_as_fragment<4, 32, 96, 2, 2, 1, 2, Float8>(row);
}

// A unit of them is two tiles, as of 16-bit operands, though a step over K is twice as long.
TEST(RegisterLayouts, AreTheFragmentsOfFloat8) {
  using Float8 = SM89_16x8x32_F32E4M3E4M3F32_TN;
  const Instruction& row = *target::find_mma(target::find("sm_89"), "e4m3", "e4m3", "f32");
  EXPECT_EQ(row.name, std::string_view(Float8::name));
  same_as_float8<Float8>(row);
  same_as_float8<Unpacked<float_e4m3_t>>(*target::find_mma(target::find("sm_90a"), "e4m3", "e4m3", "f32"));
  same_as_float8<Unpacked<float_e5m2_t>>(*target::find_mma(target::find("sm_90a"), "e5m2", "e5m2", "f32"));
}

// Rounded accumulators are an operand of a 16-bit instruction alone: others' operands have other columns in a thread.
TEST(RegisterLayouts, SayWhichAccumulatorsAreAnOperand) {
  const auto find = [](const char* type) -> const Instruction& {
    return *target::find_mma(target::find("sm_90a"), type, type, "f32");
  };
  EXPECT_TRUE(kernel::leaves_operand(find("f16"), find("bf16")));
  EXPECT_TRUE(kernel::leaves_operand(find("e4m3"), find("f16")));
  EXPECT_FALSE(kernel::leaves_operand(find("e4m3"), find("e4m3")));
  EXPECT_FALSE(kernel::leaves_operand(find("f16"), find("e5m2")));
  EXPECT_FALSE(kernel::leaves_operand(find("tf32"), find("tf32")));
  EXPECT_FALSE(kernel::leaves_operand(find("tf32"), find("f16")));
  EXPECT_FALSE(kernel::leaves_operand(find("f16"), find("tf32")));
}

}  // namespace
}  // namespace zellige::plan
