// Every matrix instruction of the tables: its name, and layouts that cover each element of each operand once.
#include <gtest/gtest.h>

#include <set>
#include <zellige/atom/gmma_names_ext.hpp>
#include <zellige/atom/print.hpp>
#include <zellige/layout/runtime.hpp>

namespace zellige {
namespace {

int count_rows() {
  int n = 0;
  each_mma_row([&](MmaRow const&) { ++n; });
  return n;
}

TEST(MmaRows, TheTablesHoldWhatTheArchitecturesHave) {
  std::map<std::pair<int, Issuer>, int> rows;
  each_mma_row([&](MmaRow const& row) { ++rows[{row.arch, row.issuer}]; });
  EXPECT_EQ((rows[{70, Issuer::quad_pair}]), 8);
  EXPECT_EQ((rows[{75, Issuer::warp}]), 3);
  EXPECT_EQ((rows[{80, Issuer::warp}]), 8 + 3 + 24 + 24 + 6);  // float, f64 and complex, 8-bit, 4-bit, 1-bit
  EXPECT_EQ((rows[{89, Issuer::warp}]), 8);
  EXPECT_EQ((rows[{90, Issuer::warp}]), 6);
  EXPECT_EQ((rows[{90, Issuer::warpgroup}]), 32 * 24 + 18 * 16);  // every N; fewer for integers
}

TEST(MmaRows, NamesAndRowsAreTheSame) {
  std::set<std::string> names;
  each_mma_row([&](MmaRow const& row) {
    std::string const name = mma_name(row);
    EXPECT_TRUE(names.insert(name).second) << name;
    MmaRow const found = find_mma(name.c_str());
    ASSERT_TRUE(bool(found)) << name;
    EXPECT_EQ(mma_name(found), name);
    EXPECT_TRUE(found.m == row.m && found.n == row.n && found.k == row.k && found.d == row.d && found.a == row.a &&
                found.b == row.b && found.c == row.c && found.issuer == row.issuer && found.ending == row.ending &&
                found.a_from_smem == row.a_from_smem && found.a_rows == row.a_rows && found.b_columns == row.b_columns)
        << name;
  });
  EXPECT_EQ(int(names.size()), count_rows());
}
TEST(MmaRows, WhatNoTableHasIsNotFound) {
  for (char const* name : {"",
                           "SM",
                           "SM80_",
                           "SM80_16x8x48_F32F16F16F32_TN",
                           "SM80_16x8x16_F32F16F16F32_TNX",
                           "SM80_16x8x16_F32F16F16F32",
                           "SM80_16x8x16_F16F16F16F32_TN",
                           "SM80_16x8x16_F32F16F16F32_NT",
                           "SM75_16x8x16_F32F16F16F32_TN",
                           "SM80_16x8x32_S32S8S4S32_TN",
                           "SM80_16x8x16_F32F16F16F32_TN_SATURATE",
                           "SM80_8x8x128_S32U1U1S32_TN",
                           "SM90::GMMA::MMA_64x12x16_F32F16F16_SS",
                           "SM90::GMMA::MMA_64x264x16_F32F16F16_SS",
                           "SM90::GMMA::MMA_64x64x16_F32F16F16_SS_TN",
                           "SM90::GMMA::MMA_64x64x32_S32S8S8_SS",
                           "SM61_DP8A",
                           "SM99999999999999999999_16x8x16_F32F16F16F32_TN",
                           "SM100_MMA_F16BF16_SS",
                           "SM120_16x8x32_TN"}) {
    EXPECT_FALSE(bool(find_mma(name))) << name;
  }
}

/// Each element of (rows, depth) is owned once; by every thread if the operand is in shared memory.
void covers(Value const& layout, int rows, int depth, std::string const& what) {
  Indexer const at(layout);
  Value const threads = layout[0], values = layout[1];
  long long const t_count = size(threads), v_count = size(values);
  bool const shared = threads.is_leaf() && threads.root().d.is(0) && t_count > 1;
  std::vector<int> counts(static_cast<std::size_t>(rows * depth), 0);
  for (long long v = 0; v < v_count; ++v) {
    for (long long t = 0; t < (shared ? 1 : t_count); ++t) {
      long long const i = at(t + t_count * v);
      ASSERT_TRUE(i >= 0 && i < rows * depth) << what;
      ++counts[std::size_t(i)];
    }
    if (shared) {
      ASSERT_EQ(at(t_count * v), at(t_count * v + t_count - 1)) << what;
    }
  }
  for (int n : counts) ASSERT_EQ(n, 1) << what;
}

TEST(MmaRows, EveryElementHasOneRegister) {
  std::set<std::string> seen;
  auto once = [&](Value const& layout, int rows, int depth, std::string const& what) {
    std::string const key = to_text(layout) + " " + std::to_string(rows) + " " + std::to_string(depth);
    if (seen.insert(key).second) covers(layout, rows, depth, what + " " + key);
  };
  each_mma_row([&](MmaRow const& row) {
    std::string const name = mma_name(row);
    once(algebra::mma_layout(row, MmaPart::a), row.m, row.k, name + " A");
    once(algebra::mma_layout(row, MmaPart::b), row.n, row.k, name + " B");
    once(algebra::mma_layout(row, MmaPart::c), row.m, row.n, name + " C");
  });
  EXPECT_GT(seen.size(), 100u);
}
TEST(MmaRows, ThreadsAreThoseThatIssue) {
  each_mma_row([&](MmaRow const& row) {
    Value const threads = algebra::mma_layout(row, MmaPart::threads);
    long long const count = row.issuer == Issuer::quad_pair ? 8 : row.issuer == Issuer::warp ? 32 : 128;
    EXPECT_EQ(size(threads), count);
    for (MmaPart part : {MmaPart::a, MmaPart::b, MmaPart::c})
      EXPECT_EQ(size(algebra::mma_layout(row, part)[0]), count) << mma_name(row);
  });
}
// A register of 32 bits is full, or the value is as wide as one.
TEST(MmaRows, ValuesFillRegisters) {
  each_mma_row([&](MmaRow const& row) {
    if (row.issuer == Issuer::quad_pair) return;
    for (MmaPart part : {MmaPart::a, MmaPart::b, MmaPart::c}) {
      Value const layout = algebra::mma_layout(row, part);
      Number const type = part == MmaPart::a ? row.a : part == MmaPart::b ? row.b : row.c;
      EXPECT_EQ(size(layout[1]) * bits_of(type) % 32, 0) << mma_name(row);
    }
  });
}

template <class Op>
void same_as(std::string const& name) {
  MmaRow const row = find_mma(name.c_str());
  ASSERT_TRUE(bool(row)) << name;
  using T = MMA_Traits<Op>;
  EXPECT_EQ(to_text(typename T::Shape_MNK{}), to_text(algebra::mma_shape(row))) << name;
  EXPECT_EQ(to_text(typename T::ThrID{}), to_text(algebra::mma_layout(row, MmaPart::threads))) << name;
  EXPECT_EQ(to_text(typename T::ALayout{}), to_text(algebra::mma_layout(row, MmaPart::a))) << name;
  EXPECT_EQ(to_text(typename T::BLayout{}), to_text(algebra::mma_layout(row, MmaPart::b))) << name;
  EXPECT_EQ(to_text(typename T::CLayout{}), to_text(algebra::mma_layout(row, MmaPart::c))) << name;
  EXPECT_EQ(int(sizeof_bits<typename T::ValTypeA>::value), bits_of(row.a)) << name;
  EXPECT_EQ(int(sizeof_bits<typename T::ValTypeD>::value), bits_of(row.d)) << name;
}
TEST(MmaRows, NamesInCppAreTheNamesInText) {
  using enum SM90::GMMA::Major;
  same_as<SM90::GMMA::MMA_64x8x16_F16F16F16_SS<K, MN>>("SM90::GMMA::MMA_64x8x16_F16F16F16_SS");
  same_as<SM90::GMMA::MMA_64x256x16_F32BF16BF16_RS<K, MN>>("SM90::GMMA::MMA_64x256x16_F32BF16BF16_RS");
  same_as<SM90::GMMA::MMA_64x88x8_F32TF32TF32_RS_TN<>>("SM90::GMMA::MMA_64x88x8_F32TF32TF32_RS_TN");
  same_as<SM90::GMMA::MMA_64x200x32_F16E4M3E5M2_SS_TN<>>("SM90::GMMA::MMA_64x200x32_F16E4M3E5M2_SS_TN");
  same_as<SM90::GMMA::MMA_64x144x32_S32U8S8_RS_TN_SATURATE>("SM90::GMMA::MMA_64x144x32_S32U8S8_RS_TN_SATURATE");
  same_as<SM90::MMA_16x8x8_F64F64F64F64_TN>("SM90::MMA_16x8x8_F64F64F64F64_TN");
  EXPECT_FALSE(find_mma("SM90::GMMA::MMA_64x136x32_S32U8S8_RS_TN"));  // integers have 8, 24 and multiples of 16
  same_as<SM61_DP4A>("SM61_DP4A");
  same_as<SM70_8x8x4_F32F16F16F32_TT>("SM70_8x8x4_F32F16F16F32_TT");
}

}  // namespace
}  // namespace zellige
