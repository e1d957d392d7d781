// The reference bodies against simple loops: operands are built as matrices, distributed to threads by PTX
// ISA's fragment figures (implemented here independently, as formulas, so that the rows' layouts are checked
// too), and compared.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/matrix_move_reference.hpp>
#include <zellige/atom/mma.hpp>
#include <zellige/atom/mma_coordinates.hpp>
#include <zellige/atom/mma_reference.hpp>

namespace zellige {
namespace {

struct Coordinate {
  int row, column;
};

// PTX ISA, "Matrix Fragments for mma.m16n8kK": groupID = lane / 4, threadID_in_group = lane % 4.
Coordinate a_of(int lane, int value, int per_register) {
  const int i = value / per_register, group = lane / 4, member = lane % 4;
  return {group + (i % 2 ? 8 : 0), member * per_register + value % per_register + (i >= 2 ? 4 * per_register : 0)};
}
Coordinate b_of(int lane, int value, int per_register) {  // row is k, column is n
  const int i = value / per_register;
  return {lane % 4 * per_register + value % per_register + i * 4 * per_register, lane / 4};
}
Coordinate c_of(int lane, int value) { return {lane / 4 + (value >= 2 ? 8 : 0), lane % 4 * 2 + value % 2}; }

template <class Row>
class Mma : public testing::Test {};
using Rows = testing::Types<SM80_16x8x16_F32F16F16F32_TN, SM80_16x8x16_F16F16F16F16_TN, SM80_16x8x16_F32BF16BF16F32_TN,
                            SM80_16x8x8_F32F16F16F32_TN, SM80_16x8x8_F16F16F16F16_TN, SM80_16x8x8_F32BF16BF16F32_TN,
                            SM80_16x8x8_F32TF32TF32F32_TN, SM80_16x8x4_F32TF32TF32F32_TN>;
TYPED_TEST_SUITE(Mma, Rows);

TYPED_TEST(Mma, EqualsAPlainMatrixProduct) {
  using Row = TypeParam;
  using T = typename Row::Element;
  using D = typename Row::Accumulator;
  constexpr Instruction row = instruction_of(find_mma(Row::name));
  constexpr int K = row.k, per_register = 4 / sizeof(T);
  constexpr int av = 16 * K / 32, bv = 8 * K / 32, cv = 16 * 8 / 32;
  std::mt19937 random(K);
  for (int trial = 0; trial < 200; ++trial) {
    // Small integers make every order of addition exact; the other half of the trials rounds.
    const bool integers = trial % 2 == 0;
    const auto draw = [&] {
      return integers ? static_cast<float>(static_cast<int>(random() % 17) - 8)
                      : std::normal_distribution<float>()(random);
    };
    T a[16][16];
    T b[16][8];
    D c[16][8];
    for (auto& line : a)
      for (T& x : line) x = T(draw());
    for (auto& line : b)
      for (T& x : line) x = T(draw());
    for (auto& line : c)
      for (D& x : line) x = D(draw());

    reference::MmaOperands<Row> in[32];
    reference::MmaResult<Row> out[32];
    for (int lane = 0; lane < 32; ++lane) {
      T va[av], vb[bv];
      D vc[cv];
      for (int v = 0; v < av; ++v) va[v] = a[a_of(lane, v, per_register).row][a_of(lane, v, per_register).column];
      for (int v = 0; v < bv; ++v) vb[v] = b[b_of(lane, v, per_register).row][b_of(lane, v, per_register).column];
      for (int v = 0; v < cv; ++v) vc[v] = c[c_of(lane, v).row][c_of(lane, v).column];
      __builtin_memcpy(in[lane].a, va, sizeof(va));
      __builtin_memcpy(in[lane].b, vb, sizeof(vb));
      __builtin_memcpy(in[lane].c, vc, sizeof(vc));
    }
    row.body(row, reference::WarpRegisters(in, out));
    for (int lane = 0; lane < 32; ++lane) {
      D vd[cv];
      __builtin_memcpy(vd, out[lane].d, sizeof(vd));
      for (int v = 0; v < cv; ++v) {
        const auto [m, n] = c_of(lane, v);
        long double sum = static_cast<float>(c[m][n]), largest = std::fabs(sum);
        for (int k = 0; k < K; ++k) {
          const long double product =
              static_cast<long double>(static_cast<float>(a[m][k])) * static_cast<float>(b[k][n]);
          sum += product;
          largest = std::max(largest, std::fabs(product));
        }
        const float got = vd[v];
        if (integers) {
          ASSERT_EQ(got, static_cast<float>(D(static_cast<float>(sum)))) << "lane " << lane << " value " << v;
        } else {
          const long double ulp = sizeof(D) == 2 ? 0x1p-11L * std::fabs(sum) + 0x1p-25L : 0x1p-24L * std::fabs(sum);
          ASSERT_LE(std::fabs(got - sum), ulp + 0x1p-48L * K * largest) << "lane " << lane << " value " << v;
        }
      }
    }
  }
}

TYPED_TEST(Mma, PassesNaNAndInfinityToTheirOwnElementsOnly) {
  using Row = TypeParam;
  using T = typename Row::Element;
  constexpr Instruction row = instruction_of(find_mma(Row::name));
  reference::MmaOperands<Row> in[32] = {};
  reference::MmaResult<Row> out[32];
  T va[row.a.layout.value_count()] = {};
  va[0] = T(NAN);  // lane 5, value 0: row 1
  __builtin_memcpy(in[5].a, va, sizeof(va));
  row.body(row, reference::WarpRegisters(in, out));
  for (int lane = 0; lane < 32; ++lane) {
    typename Row::Accumulator vd[4];
    __builtin_memcpy(vd, out[lane].d, sizeof(vd));
    for (int v = 0; v < 4; ++v) {
      const float got = vd[v];
      if (c_of(lane, v).row == 1)
        EXPECT_TRUE(std::isnan(got));
      else
        EXPECT_EQ(got, 0.0f);
    }
  }
}

// Coordinates mode by mode against PTX ISA's figures above.
TYPED_TEST(Mma, CoordinatesAreThoseOfTheFigures) {
  using Row = TypeParam;
  constexpr int per_register = 4 / sizeof(typename Row::Element);
  using A = MmaCoordinates<Row, MmaPart::a>;
  using B = MmaCoordinates<Row, MmaPart::b>;
  using C = MmaCoordinates<Row, MmaPart::c>;
  const auto expect = [](ElementAt got, Coordinate want, int lane, int v) {
    EXPECT_EQ(got.row, want.row) << "lane " << lane << " value " << v;
    EXPECT_EQ(got.column, want.column) << "lane " << lane << " value " << v;
  };
  for (int lane = 0; lane < 32; ++lane) {
    for (int v = 0; v < A::values; ++v) expect(A::at(lane, v), a_of(lane, v, per_register), lane, v);
    for (int v = 0; v < B::values; ++v) {
      const auto [k, n] = b_of(lane, v, per_register);
      expect(B::at(lane, v), {n, k}, lane, v);
    }
    for (int v = 0; v < C::values; ++v) expect(C::at(lane, v), c_of(lane, v), lane, v);
  }
}

// An accumulator just above the middle of two f16 numbers, by less than float resolves, must still round up.
TEST(MmaRounding, HalfAccumulatorsRoundOnce) {
  const double middle = 1.0 + 0x1p-11;
  EXPECT_EQ(half_t(reference::round_to_odd(middle + 0x1p-40)).bits, 0x3c01);
  EXPECT_EQ(half_t(reference::round_to_odd(middle)).bits, 0x3c00);
  EXPECT_EQ(half_t(reference::round_to_odd(middle - 0x1p-40)).bits, 0x3c00);
  EXPECT_EQ(half_t(reference::round_to_odd(-middle - 0x1p-40)).bits, 0xbc01);
  EXPECT_EQ(half_t(static_cast<float>(middle + 0x1p-40)).bits, 0x3c00);  // what rounding twice would give
}

// PTX ISA, "ldmatrix": lane t's register i holds elements 2 (t % 4) and + 1 of row t / 4 of matrix i; with
// .trans, of its column t / 4. stmatrix has the same layout, and movmatrix converts one to the other.
uint32_t register_of(const uint16_t (*rows)[8], int matrix, int t, bool transposed) {
  const int line = t / 4, first = 2 * (t % 4);
  const uint16_t low = transposed ? rows[8 * matrix + first][line] : rows[8 * matrix + line][first];
  const uint16_t high = transposed ? rows[8 * matrix + first + 1][line] : rows[8 * matrix + line][first + 1];
  return low | static_cast<uint32_t>(high) << 16;
}
struct Matrices {
  uint16_t rows[32][8];
  uint32_t registers[32][4] = {};
  const void* from_rows[32] = {};
  const void* from_registers[32];
  void* to_rows[32] = {};
  void* to_registers[32];
  explicit Matrices(int matrices) {
    for (int r = 0; r < 32; ++r) {
      if (r < 8 * matrices) from_rows[r] = to_rows[r] = rows[r];
      from_registers[r] = to_registers[r] = registers[r];
      for (int c = 0; c < 8; ++c) rows[r][c] = static_cast<uint16_t>(257 * (8 * r + c) + 1);
    }
  }
};
void moves_as_ptx_says(const char* load, const char* store, int matrices, bool transposed) {
  const Instruction &loads = *find_instruction(load), &stores = *find_instruction(store);
  Matrices m(matrices);
  loads.body(loads, {m.from_rows, nullptr, nullptr, m.to_registers});
  for (int t = 0; t < 32; ++t)
    for (int i = 0; i < matrices; ++i)
      ASSERT_EQ(m.registers[t][i], register_of(m.rows, i, t, transposed)) << load << " thread " << t;
  Matrices back(matrices);
  std::memcpy(back.registers, m.registers, sizeof(m.registers));
  for (auto& row : back.rows)
    for (uint16_t& x : row) x = 0;
  stores.body(stores, {back.from_registers, nullptr, nullptr, back.to_rows});
  EXPECT_EQ(std::memcmp(back.rows, m.rows, static_cast<std::size_t>(128 * matrices)), 0) << store;
}
TEST(MatrixMoves, AreWhatPtxSays) {
  moves_as_ptx_says("SM75_U32x1_LDSM_N", "SM90_U32x1_STSM_N", 1, false);
  moves_as_ptx_says("SM75_U32x2_LDSM_N", "SM90_U32x2_STSM_N", 2, false);
  moves_as_ptx_says("SM75_U32x4_LDSM_N", "SM90_U32x4_STSM_N", 4, false);
  moves_as_ptx_says("SM75_U16x2_LDSM_T", "SM90_U16x2_STSM_T", 1, true);
  moves_as_ptx_says("SM75_U16x4_LDSM_T", "SM90_U16x4_STSM_T", 2, true);
  moves_as_ptx_says("SM75_U16x8_LDSM_T", "SM90_U16x8_STSM_T", 4, true);
}
TEST(MatrixMoves, MovmatrixTransposes) {
  const Instruction& row = *find_instruction("SM75_U32x1_MOVM_T");
  Matrices m(1), out(1);
  for (int t = 0; t < 32; ++t) m.registers[t][0] = register_of(m.rows, 0, t, false);
  row.body(row, {m.from_registers, nullptr, nullptr, out.to_registers});
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out.registers[t][0], register_of(m.rows, 0, t, true)) << t;
}

}  // namespace
}  // namespace zellige
