// The matrix instructions of SM120 on floats of 4, 6 and 8 bits, on the emulator: operands are matrices of numbers,
// dealt to threads by PTX ISA's fragment figures, which are written here as formulas, against simple loops.
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/narrow_mma_call.hpp>
#include <zellige/atom/print.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

/// The bits of element (row, k) of A (salt 1) or B (salt 2): any number but a NaN.
template <class T>
unsigned code(int row, int k, unsigned salt) {
  unsigned const h = (unsigned(row) * 2654435761u ^ unsigned(k) * 40503u ^ salt * 977u) * 2246822519u >> 9;
  if constexpr (is_same_v<T, float_e4m3_t>) return h % 0x70u | (h >> 8 & 0x80u);
  if constexpr (is_same_v<T, float_e5m2_t>) return h % 0x50u | (h >> 8 & 0x80u);
  return h % (1u << sizeof_bits_v<T>);
}
template <class T>
double number(unsigned bits) {
  return double(float(T::bitcast(uint8_t(bits))));
}
/// The bits of the scale of block `block` of a row: near one.
template <class T>
unsigned scale(int row, int block, unsigned salt) {
  unsigned const h = (unsigned(row) * 7u + unsigned(block) * 3u + salt) % 5u;
  return is_same_v<T, float_ue8m0_t> ? 125u + h : 0x30u + 3u * h;
}
/// The places of the two elements, or pairs, that are stored of group g of a row of A.
int place(int row, int group, int which) {
  constexpr int first[] = {0, 0, 0, 1, 1, 2}, second[] = {1, 2, 3, 2, 3, 3};
  int const i = (row * 5 + group * 7) % 6;
  return which == 0 ? first[i] : second[i];
}

template <class A, class B, class D, class SF, int k_, int vs, bool is_sparse>
struct Case {
  using TA = A;
  using TB = B;
  using TD = D;
  using Scale = SF;
  static constexpr int k = k_, block = vs;
  static constexpr bool sparse = is_sparse, scaled = vs != 0;
  static constexpr bool four_bits = (k == 64 && !sparse) || k == 128;
  static constexpr int in_register = four_bits ? 8 : 4;  // elements
};

/// The logical element of A at k, which is zero if it is not stored.
template <class C>
double element_of_a(int row, int k) {
  if constexpr (!C::sparse) {
    return number<typename C::TA>(code<typename C::TA>(row, k, 1));
  } else {
    int const pair = C::four_bits ? 2 : 1, group = 4 * pair;
    for (int which = 0; which < 2; ++which)
      if (place(row, k / group, which) == k % group / pair)
        return number<typename C::TA>(code<typename C::TA>(row, k / group * 2 * pair + which * pair + k % pair, 1));
    return 0;
  }
}
/// A register of A: elements from `first` on of the row as it is stored.
template <class T, int in_register>
uint32_t packed(int row, int first, unsigned salt) {
  uint32_t word = 0;
  for (int i = 0; i < in_register; ++i) {
    unsigned bits = code<T>(row, first + i, salt);
    if (in_register == 4 && is_same_v<T, float_e2m1_t>) bits <<= 2;  // the bits of e2m1 are the middle of a byte
    word |= bits << (32 / in_register * i);
  }
  return word;
}

template <class Op, class C>
__global__ void one_narrow(gmem<double> out) {
  int const lane = int(threadIdx.x), group = lane / 4, member = lane % 4;
  constexpr int n = C::in_register;
  typename Op::ARegisters a;
  typename Op::BRegisters b;
  for (int i = 0; i < 4; ++i) a[i] = packed<typename C::TA, n>(group + i % 2 * 8, member * n + i / 2 * 4 * n, 1);
  for (int i = 0; i < Op::words_of_b; ++i) b[i] = packed<typename C::TB, n>(group, member * n + i * 4 * n, 2);
  uint32_t e = 0, sfa = 0, sfb = 0;
  if constexpr (C::sparse) {
    int const row = group + member % 2 * 8;
    for (int g = 0; g < 8; ++g) {
      int const at = member / 2 * 8 + g;
      e |= uint32_t(place(row, at, 0) | place(row, at, 1) << 2) << (4 * g);
    }
  }
  if constexpr (C::scaled) {
    for (int i = 0; i < C::k / C::block; ++i) {
      sfa |= scale<typename C::Scale>(group + member % 2 * 8, i, 1) << (8 * i);
      sfb |= scale<typename C::Scale>(group, i, 2) << (8 * i);
    }
  }
  float c[4];
  for (int i = 0; i < 4; ++i) c[i] = float(group + i / 2 * 8) - 2 * float(member * 2 + i % 2);
  typename Op::DRegisters d;
  for (int i = 0; i < Op::words; ++i) {
    if constexpr (Op::half_sums)
      d[i] = half_t::pack(c[2 * i], c[2 * i + 1]);
    else
      d[i] = c[i];
  }
  Op::call(d, a, b, e, sfa, sfb);
  for (int i = 0; i < 4; ++i) {
    double got;
    if constexpr (Op::half_sums)
      got = double(float(half_t::bitcast(uint16_t(d[i / 2] >> (i % 2 * 16)))));
    else
      got = double(d[i]);
    out[(group + i / 2 * 8) + 16 * (member * 2 + i % 2)] = got;
  }
}
template <class Op, class C>
void run_narrow(emulate::Launch& l) {
  emulate::call(l, one_narrow<Op, C>);
}

template <class Op, class C>
void check() {
  emulate::Buffer out("out", 16 * 8 * 8);
  ASSERT_EQ(launch(run_narrow<Op, C>, {&out}, {true}, 32, 0), "") << Op::name;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      double sum = i - 2 * j;
      for (int l = 0; l < C::k; ++l) {
        double x = element_of_a<C>(i, l) * number<typename C::TB>(code<typename C::TB>(j, l, 2));
        if constexpr (C::scaled) {
          x *= number<typename C::Scale>(scale<typename C::Scale>(i, l / C::block, 1));
          x *= number<typename C::Scale>(scale<typename C::Scale>(j, l / C::block, 2));
        }
        sum += x;
      }
      double const want = Op::half_sums ? double(float(half_t(reference::round_to_odd(sum)))) : double(float(sum));
      ASSERT_EQ(elements<double>(out)[i + 16 * j], want) << Op::name << " " << i << " " << j;
    }
  }
}

template <class A, class B>
void check_bytes() {
  using namespace SM120::BLOCKSCALED;
  check<SM120_16x8x32_TN<A, B, float>, Case<A, B, float, void, 32, 0, false>>();
  check<SM120_16x8x32_TN<A, B, half_t>, Case<A, B, half_t, void, 32, 0, false>>();
  check<zellige::SM120::SPARSE::SM120_SPARSE_16x8x64_TN<A, B, float>, Case<A, B, float, void, 64, 0, true>>();
  check<SM120_16x8x32_TN_VS<A, B, float, float_ue8m0_t, 32>, Case<A, B, float, float_ue8m0_t, 32, 32, false>>();
  check<zellige::SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x64_TN_VS<A, B, float, float_ue8m0_t, 64>,
        Case<A, B, float, float_ue8m0_t, 64, 64, true>>();
}
TEST(Narrow, ProductsOfBytesAreThoseOfSimpleLoops) {
  check_bytes<float_e2m1_t, float_e4m3_t>();
  check_bytes<float_e3m2_t, float_e2m1_t>();
  check_bytes<float_e2m3_t, float_e3m2_t>();
  check_bytes<float_e4m3_t, float_e5m2_t>();
  check_bytes<float_e5m2_t, float_e2m3_t>();
}
TEST(Narrow, ProductsOfFourBitsAreThoseOfSimpleLoops) {
  using namespace SM120::BLOCKSCALED;
  using E = float_e2m1_t;
  check<SM120_16x8x64_TN_VS<E, E, float, float_ue8m0_t, 32>, Case<E, E, float, float_ue8m0_t, 64, 32, false>>();
  check<SM120_16x8x64_TN_VS<E, E, float, float_ue4m3_t, 16>, Case<E, E, float, float_ue4m3_t, 64, 16, false>>();
  using zellige::SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x128_TN_VS;
  check<SM120_SPARSE_16x8x128_TN_VS<E, E, float, float_ue8m0_t, 64>, Case<E, E, float, float_ue8m0_t, 128, 64, true>>();
  check<SM120_SPARSE_16x8x128_TN_VS<E, E, float, float_ue4m3_t, 32>, Case<E, E, float, float_ue4m3_t, 128, 32, true>>();
}

TEST(Narrow, EveryRowCoversItsOperandsOnce) {
  int rows = 0;
  for (Instruction const& row : narrow_instructions()) {
    ++rows;
    std::pair<Instruction::Operand const*, int> const parts[] = {
        {&row.a, row.m * row.k}, {&row.b, row.n * row.k}, {&row.c, row.m * row.n}};
    for (auto const& [operand, size] : parts) {
      std::set<int> seen;
      for (int t = 0; t < 32; ++t)
        for (int v = 0; v < operand->layout.value_count(); ++v) seen.insert(operand->layout(t, v));
      EXPECT_EQ(int(seen.size()), size) << row.name;
      EXPECT_EQ(*seen.rbegin(), size - 1) << row.name;
    }
    EXPECT_EQ(find_instruction(row.name), &row);
    EXPECT_TRUE(row.only_of_its_architecture) << row.name;
  }
  EXPECT_EQ(rows, 50 + 50 + 25 + 25 + 4);
}

/// gemm with fragments that a TiledMMA makes, and scales beside them.
__global__ void by_gemm(gmem<double> out) {
  using Op = SM120::BLOCKSCALED::SM120_16x8x64_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 16>;
  auto const mma = make_tiled_mma(Op{});
  int const lane = int(threadIdx.x);
  auto const mine = mma.get_slice(lane);
  auto a = mine.make_fragment_A(mine.partition_A(make_identity_tensor(Shape<_16, _64>{})));
  auto b = mine.make_fragment_B(mine.partition_B(make_identity_tensor(Shape<_8, _64>{})));
  auto c = mine.make_fragment_C(mine.partition_C(make_identity_tensor(Shape<_16, _8>{})));
  for (int i = 0; i < int(size(a)); ++i) a(i) = uint4_t(2);  // one
  for (int i = 0; i < int(size(b)); ++i) b(i) = uint4_t(4);  // two
  for (int i = 0; i < int(size(c)); ++i) c(i) = 0.5f;
  auto scales = make_tensor<float_ue4m3_t>(
      make_layout(make_shape(make_shape(_16{}, _4{}), _1{}, _1{}), make_stride(make_stride(_0{}, _1{}), _0{}, _0{})));
  for (int i = 0; i < 4; ++i) scales(make_coord(0, i), 0, 0) = float_ue4m3_t(float(1 << i));
  gemm(mma, make_zip_tensor(a, scales), make_zip_tensor(b, scales), c);
  for (int i = 0; i < 4; ++i) out[lane * 4 + i] = double(c(i));
}
void run_gemm(emulate::Launch& l) { emulate::call(l, by_gemm); }
TEST(Narrow, GemmTakesScalesZippedWithTheOperands) {
  emulate::Buffer out("out", 128 * 8);
  ASSERT_EQ(launch(run_gemm, {&out}, {true}, 32, 0), "");
  double const want = 0.5 + 16 * 2 * (1 + 4 + 16 + 64);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(elements<double>(out)[i], want);
}

}  // namespace
}  // namespace zellige
