// Every warp instruction that has a call, on the emulator: fragments filled by the row's coordinates, against
// simple loops over the matrices.
#include <zellige/atom/mma_call.hpp>
#include <zellige/atom/mma_reference.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

/// Small numbers that every type holds exactly; of bits, 0 and 1.
template <class T>
int element(int row, int k, int salt) {
  unsigned const h = (unsigned(row) * 2654435761u ^ unsigned(k) * 40503u ^ unsigned(salt) * 97u) >> 7;
  if constexpr (sizeof_bits<T>::value == 1) return int(h % 2);
  if constexpr (is_same_v<T, uint4_t> || is_same_v<T, unsigned char>) return int(h % 13);
  return int(h % 13) - 6;
}
template <class T>
T as(int value) {
  if constexpr (is_same_v<T, half_t> || is_same_v<T, bfloat16_t> || is_same_v<T, tfloat32_t> ||
                is_same_v<T, float_e4m3_t> || is_same_v<T, float_e5m2_t>)
    return T(float(value));
  else
    return T(value);
}

template <class Op>
__global__ void one_instruction(gmem<double> out) {
  auto const mma = make_tiled_mma(Op{});
  using Atom = typename remove_cvref_t<decltype(mma)>::Atom;
  constexpr int m = get<0>(typename Atom::Shape_MNK{}), n = get<1>(typename Atom::Shape_MNK{}),
                k = get<2>(typename Atom::Shape_MNK{});
  // Eight of Volta's threads form a quad pair; the others do the same work on the same numbers.
  int const lane = int(threadIdx.x);
  constexpr bool volta = size_v<typename Atom::ThrID> == 8;
  int const thread = volta ? lane % 4 + lane / 16 * 16 : lane;
  auto const mine = mma.get_slice(thread);
  auto const at_a = mine.partition_A(make_identity_tensor(Shape<Int<m>, Int<k>>{}));
  auto const at_b = mine.partition_B(make_identity_tensor(Shape<Int<n>, Int<k>>{}));
  auto const at_c = mine.partition_C(make_identity_tensor(Shape<Int<m>, Int<n>>{}));
  auto a = mine.make_fragment_A(at_a);
  auto b = mine.make_fragment_B(at_b);
  auto c = mine.make_fragment_C(at_c);
  for (int i = 0; i < int(size(a)); ++i)
    a(i) = as<typename Atom::ValTypeA>(element<typename Atom::ValTypeA>(get<0>(at_a(i)), get<1>(at_a(i)), 1));
  for (int i = 0; i < int(size(b)); ++i)
    b(i) = as<typename Atom::ValTypeB>(element<typename Atom::ValTypeB>(get<0>(at_b(i)), get<1>(at_b(i)), 2));
  for (int i = 0; i < int(size(c)); ++i) c(i) = as<typename Atom::ValTypeC>(get<0>(at_c(i)) - 2 * get<1>(at_c(i)));
  gemm(mma, a, b, c);
  if (volta && lane != thread) return;
  for (int i = 0; i < int(size(c)); ++i) {
    typename Atom::ValTypeC const d = c(i);
    if constexpr (is_same_v<typename Atom::ValTypeC, half_t>)
      out[get<0>(at_c(i)) + m * get<1>(at_c(i))] = double(float(d));
    else
      out[get<0>(at_c(i)) + m * get<1>(at_c(i))] = double(d);
  }
}
template <class Op>
void run(emulate::Launch& l) {
  emulate::call(l, one_instruction<Op>);
}

template <class Op>
void computes_its_product() {
  using Traits = MMA_Traits<Op>;
  constexpr int m = get<0>(typename Traits::Shape_MNK{}), n = get<1>(typename Traits::Shape_MNK{}),
                k = get<2>(typename Traits::Shape_MNK{});
  constexpr auto ending = detail::mma_row_of<Op>::value.ending;
  emulate::Buffer out("out", m * n * 8);
  ASSERT_EQ(launch(run<Op>, {&out}, {true}, 32, 0), "") << Op::name;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = i - 2 * j;
      for (int l = 0; l < k; ++l) {
        int const x = element<typename Traits::ValTypeA>(i, l, 1), y = element<typename Traits::ValTypeB>(j, l, 2);
        sum += ending == MmaRow::Ending::xor_popc ? x ^ y : ending == MmaRow::Ending::and_popc ? x & y : x * y;
      }
      ASSERT_EQ(elements<double>(out)[i + m * j], sum) << Op::name << " " << i << " " << j;
    }
  }
}
template <class... Op>
void all() {
  (computes_its_product<Op>(), ...);
}

TEST(Instructions, Volta) {
  all<SM70_8x8x4_F16F16F16F16_TN, SM70_8x8x4_F16F16F16F16_NT, SM70_8x8x4_F16F16F16F16_NN, SM70_8x8x4_F16F16F16F16_TT,
      SM70_8x8x4_F32F16F16F32_TN, SM70_8x8x4_F32F16F16F32_NT, SM70_8x8x4_F32F16F16F32_NN, SM70_8x8x4_F32F16F16F32_TT>();
}
TEST(Instructions, Turing) {
  all<SM75_16x8x8_F16F16F16F16_TN, SM75_16x8x8_F32F16F16F32_TN, SM75_8x8x16_S32S8S8S32_TN>();
}
TEST(Instructions, AmpereFloats) {
  all<SM80_16x8x8_F16F16F16F16_TN, SM80_16x8x16_F16F16F16F16_TN, SM80_16x8x8_F32F16F16F32_TN,
      SM80_16x8x16_F32F16F16F32_TN, SM80_16x8x8_F32BF16BF16F32_TN, SM80_16x8x16_F32BF16BF16F32_TN,
      SM80_16x8x4_F32TF32TF32F32_TN, SM80_16x8x8_F32TF32TF32F32_TN, SM80_8x8x4_F64F64F64F64_TN>();
}
TEST(Instructions, AmpereBytes) {
  all<SM80_8x8x16_S32S8S8S32_TN, SM80_16x8x16_S32S8U8S32_TN, SM80_16x8x32_S32U8S8S32_TN, SM80_8x8x16_S32U8U8S32_TN,
      SM80_16x8x16_S32U8U8S32_TN_SATURATE, SM80_16x8x32_S32S8S8S32_TN_SATURATE>();
}
TEST(Instructions, AmpereHalfBytes) {
  all<SM80_8x8x32_S32S4S4S32_TN, SM80_16x8x32_S32S4U4S32_TN, SM80_16x8x64_S32U4S4S32_TN,
      SM80_16x8x64_S32U4U4S32_TN_SATURATE>();
}
TEST(Instructions, AmpereBits) {
  all<SM80_8x8x128_S32U1U1S32_TN_XORPOPC, SM80_16x8x128_S32U1U1S32_TN_ANDPOPC, SM80_16x8x256_S32U1U1S32_TN_XORPOPC>();
}
TEST(Instructions, Ada) {
  all<SM89_16x8x32_F32E4M3E4M3F32_TN, SM89_16x8x32_F32E4M3E5M2F32_TN, SM89_16x8x32_F32E5M2E4M3F32_TN,
      SM89_16x8x32_F16E5M2E5M2F16_TN>();
}
TEST(Instructions, HopperDoubles) {
  all<SM90_16x8x4_F64F64F64F64_TN, SM90_16x8x8_F64F64F64F64_TN, SM90_16x8x16_F64F64F64F64_TN>();
}
TEST(Instructions, SaturationStopsAtTheLargestSum) {
  using Op = SM80_16x8x32_S32S8S8S32_TN_SATURATE;
  using Wraps = SM80_16x8x32_S32S8S8S32_TN;
  EXPECT_EQ(reference::cut(3e9, true), 2147483647);
  EXPECT_EQ(reference::cut(-3e9, true), -2147483647 - 1);
  EXPECT_EQ(reference::cut(3e9, false), -1294967296);
  static_assert(detail::mma_row_of<Op>::value.ending == MmaRow::Ending::saturate &&
                detail::mma_row_of<Wraps>::value.ending == MmaRow::Ending::none);
}

}  // namespace
}  // namespace zellige
