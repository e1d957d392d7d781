// The API on types: it agrees with the API on strings, and has members that the corpus does not cover.
#include <gtest/gtest.h>

#include <zellige/atom/evaluate.hpp>
#include <zellige/atom/gmma_descriptor.hpp>
#include <zellige/atom/mma_call.hpp>
#include <zellige/atom/print.hpp>
#include <zellige/atom/tma_copy.hpp>

namespace zellige {
namespace {

using Mma =
    decltype(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{}, Tile<_32, _32, _16>{}));

TEST(Types, TilesOfAnMma) {
  Mma const mma;
  EXPECT_EQ(to_text(tile_shape(mma)), "(_32,_32,_16)");
  EXPECT_EQ(to_text(size(mma)), "_128");
  EXPECT_EQ(to_text(thr_size(mma)), "_128");
  EXPECT_EQ(to_text(mma.tile_size_mnk<1>()), "_32");
  EXPECT_EQ(to_text(mma.get_slice(77)), "ThrMMA\n  Thr VMNK: (13,0,1,_0)\n" + to_text(mma));
  auto const fragment = partition_fragment_C(mma, Shape<_64, _32>{});
  EXPECT_EQ(to_text(fragment.layout()), "((_2,_2),_2,_2):((_1,_2),_4,_8)");
  static_assert(is_same_v<decltype(fragment)::value_type, float>);
  EXPECT_EQ(to_text(mma.get_slice(0).partition_fragment_A(make_tensor<half_t>(Layout<Shape<_64, _32>>{})).layout()),
            "((_2,_2,_2),_2,_2):((_1,_2,_4),_8,_16)");
  static_assert(sizeof(Mma) == 1, "a static TiledMMA has no state");
}
TEST(Types, WhereElementsAreInAnMma) {
  // (m, n) -> (thread of the operand, value), and which thread that is.
  Mma const mma;
  auto const c = mma.get_layoutC_MN();
  auto const tv = mma.get_layoutC_TV();
  for (int m = 0; m < 32; m += 5) {
    for (int n = 0; n < 32; n += 3) {
      int const at = get<0>(c)(m, n), thread = get<1>(c)(at % 128);
      EXPECT_EQ(int(tv(thread, at / 128)), m + 32 * n);
    }
  }
}
TEST(Types, TilesOfACopy) {
  auto const copy = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{},
                                    Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{});
  EXPECT_EQ(to_text(size(copy)), "_128");
  EXPECT_EQ(to_text(tile_size(copy)), "_1024");
  EXPECT_EQ(to_text(copy.get_slice(3)), "ThrCopy\n  ThrIdx: 3\n" + to_text(copy));
  EXPECT_EQ(to_text(make_tiled_copy_S(Copy_Atom<UniversalCopy<uint32_t>, half_t>{}, copy).get_layoutS_TV()),
            "((_8,_16),(_2,_4)):((_128,_1),(_16,_32))");
  auto const tiler = make_tiler_impl(Layout<Shape<_4, _2>, Stride<_1, _4>>{}, Shape<_8>{});
  auto const part = tiler.get_slice(make_coord(2, _)).partition(make_identity_tensor(Shape<_16>{}));
  EXPECT_EQ(to_text(part), "ArithTuple(2) o (_2,(_2)):(_4@0,(_8@0))");
}
TEST(Types, ScalarProduct) {
  auto const mma = make_tiled_mma(UniversalFMA<double>{}, Layout<Shape<_1, _1, _1>>{});
  auto const a = make_tensor<double>(Layout<Shape<_1, _3, _2>>{});
  auto b = make_tensor<double>(Layout<Shape<_1, _2, _2>>{});
  auto c = make_tensor<double>(Layout<Shape<_1, _3, _2>>{});
  auto mutable_a = a;
  for (int i = 0; i < 6; ++i) mutable_a(i) = i + 1, c(i) = 100;
  for (int i = 0; i < 4; ++i) b(i) = 10 * (i + 1);
  gemm(mma, mutable_a, b, c);
  // c(m, n) = 100 + sum over k of a(m, k) b(n, k)
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 2; ++n) EXPECT_EQ(c(0, m, n), 100 + (m + 1) * 10. * (n + 1) + (m + 4) * 10. * (n + 3));
  }
}
TEST(Types, GmmaFragmentsAreDescriptors) {
  using enum SM90::GMMA::Major;
  using Op = SM90::GMMA::Mma<128, Number::f32, Number::f16, Number::f16>;
  auto const mma = make_tiled_mma(Op{}, Layout<Shape<_2, _1, _1>>{});
  alignas(1024) static half_t memory[128 * 64];
  auto const smem = make_tensor(make_smem_ptr(&memory[0]),
                                tile_to_shape(SM90::GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128, _64>{}));
  auto const mine = mma.get_slice(130);
  auto const part = mine.partition_A(smem);
  EXPECT_EQ(to_text(part.layout()), "((_64,_16),_1,_4):((_64,_1),_0,_16)");
  auto const fragment = mine.make_fragment_A(part);
  EXPECT_EQ(to_text(fragment.layout()), "(_1,_1,_4):(_0,_0,_2)");
  // The second warpgroup has rows 64 to 127; a step of K is 32 bytes on.
  auto const d = fragment(0, 0, 1);
  unsigned const begin = unsigned(reinterpret_cast<std::size_t>(&memory[64 * 64]) & 0x3ffff);
  EXPECT_EQ(unsigned(d.bitfield.start_address_), ((begin >> 4) + 2) & 0x3fff);
  EXPECT_EQ(unsigned(d.bitfield.layout_type_), 1u);
  EXPECT_EQ(unsigned(d.bitfield.stride_byte_offset_), 64u);
  static_assert(
      is_same_v<
          remove_cvref_t<decltype(mine.partition_fragment_C(make_identity_tensor(Shape<_128, _128>{})))>::value_type,
          float>);
}
TEST(Types, TmaCopies) {
  alignas(128) static float memory[64];
  auto const global =
      make_tensor(make_gmem_ptr(&memory[0]), make_layout(make_shape(1024, 256), make_stride(_1{}, 1024)));
  auto const tma = make_tma_copy(SM90_TMA_LOAD{}, global, make_layout(Shape<_64, _32>{}));
  EXPECT_EQ(to_text(tma.get_tma_tensor(make_shape(1000, 200))), "ArithTuple(_0,_0) o (1000,200):(_1@0,_1@1)");
  EXPECT_EQ(int(decltype(tma)::NumValSrc), 64 * 32);
  EXPECT_THROW(
      make_tma_copy(SM90_TMA_LOAD{},
                    make_tensor(make_gmem_ptr(&memory[0]), make_layout(make_shape(1023, 256), make_stride(_1{}, 1023))),
                    make_layout(Shape<_64, _32>{})),
      LayoutError);
}
TEST(Types, MulticastMasks) {
  auto const ctas = Layout<Shape<_1, _2, _4, _1>, Stride<_0, _1, _2, _0>>{};
  EXPECT_EQ(create_tma_multicast_mask<2>(ctas, make_coord(0, 1, 3, 0)), 0b10101010);
  EXPECT_EQ(create_tma_multicast_mask<1>(ctas, make_coord(0, 1, 3, 0)), 0b11000000);
  EXPECT_EQ((create_tma_multicast_mask<1, 2>(ctas, make_coord(0, 1, 3, 0))), 0b11111111);
  EXPECT_EQ(create_tma_multicast_mask(ctas, make_coord(0, 1, 3, 0)), 0b10000000);
}

}  // namespace
}  // namespace zellige
