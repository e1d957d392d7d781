// Copies, fragments and descriptors of SM100 by CuTe's names: what they print and contain is what CuTe 4.2's do.
#include <gtest/gtest.h>

#include <cute/atom/copy_traits_sm100_im2col.hpp>
#include <cute/tensor.hpp>

#include "printed.hpp"

using namespace cute;

namespace {

using PairMma = decltype(make_tiled_mma(
    SM100_MMA_F16BF16_2x1SM_SS<half_t, half_t, float, 256, 256, UMMA::Major::K, UMMA::Major::K>{}));
using PairTile = Shape<_256, _256, _64>;
using PairShared = decltype(UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{},
                                                    partition_shape_A(PairMma{}, Shape<_256, _64>{})));
using PairCluster = decltype(tiled_divide(make_layout(Shape<_4, _4, _1>{}), make_tile(typename PairMma::AtomThrID{})));

auto global() {
  return make_tensor(make_gmem_ptr(static_cast<half_t*>(nullptr)), make_shape(512, 256), make_stride(256, _1{}));
}

// Of the tutorial blackwell/04: the atoms of a pair have two threads, its CTAs.
TEST(CompatBlackwell, AtomsOfPairsOfCtas) {
  auto const atom = make_tma_atom_A_sm100(SM100_TMA_2SM_LOAD_MULTICAST{}, global(), PairShared{}, PairTile{}, PairMma{},
                                          PairCluster{});
  using Atom = remove_cvref_t<decltype(atom)>;
  EXPECT_EQ(printed(typename Atom::ThrID{}), "_2:_1");
  EXPECT_EQ(printed(typename Atom::ValLayoutSrc{}), "(_2,_8192):(_8192,_1)");
  EXPECT_EQ(printed(typename Atom::ValLayoutDst{}), "(_2,_8192):(_8192,_1)");
  auto const tiles =
      local_tile(atom.get_tma_tensor(make_shape(512, 256)), PairTile{}, make_coord(1, 0, _), Step<_1, X, _1>{});
  auto const part = PairMma{}.get_slice(1).partition_A(tiles);
  EXPECT_EQ(printed(part.layout()), "((_128,_16),_1,_4,4):((_1@1,_1@0),_0,_16@0,_64@0)");
  auto const shared = make_tensor(make_smem_ptr(static_cast<half_t*>(nullptr)), PairShared{});
  auto const [from, to] =
      tma_partition(atom, 3, make_layout(size<2>(PairCluster{})), group_modes<0, 3>(shared), group_modes<0, 3>(part));
  EXPECT_EQ(printed(from.layout()), "(((_64,_128),_1),4):(((_1@0,_1@1),_0),_64@0)");
  EXPECT_EQ(printed(from(0, 0)), "(0,480)");
  EXPECT_EQ(printed(layout(to)), "((_8192,_1)):((_1,_0))");
}

// A TiledCopy divides a multicast's tile among the CTAs along N for A, along M for B.
TEST(CompatBlackwell, CopiesOfPairsOfCtas) {
  auto const a = make_tma_copy_A_sm100(SM100_TMA_2SM_LOAD{}, global(), PairShared{}, PairTile{}, PairMma{});
  EXPECT_EQ(printed(typename decltype(a)::Tiler_MN{}), "(_2048,_1,_4)");
  EXPECT_EQ(printed(typename decltype(a)::TiledLayout_TV{}), "(_2,(((_64,_128),_1))):(_0,(((_128,_1),_0)))");
}

// The im2col matrix of four images of 32 x 32 pixels and 128 channels, for a filter of 3 x 3.
template <class Make>
auto of_convolution(Make const& make) {
  auto const images = make_tensor(
      make_gmem_ptr(static_cast<half_t*>(nullptr)),
      make_layout(make_shape(make_shape(32, 32, 4), 128), make_stride(make_stride(128, 4096, 131072), _1{})));
  auto const one = make_shape(1, 1), none = make_shape(0, 0), below = make_shape(-1, -1);
  return make(images, below, below, below, one, one, none, one);
}
TEST(CompatBlackwell, CopiesOfPairsInIm2colMode) {
  auto const atom = of_convolution([](auto const& x, auto const&... convolution) {
    return make_im2col_tma_atom_A_sm100(SM100_TMA_2SM_LOAD_IM2COL_MULTICAST{}, x, PairShared{}, PairTile{}, PairMma{},
                                        PairCluster{}, convolution...);
  });
  EXPECT_EQ(printed(typename remove_cvref_t<decltype(atom)>::ValLayoutDst{}), "(_2,_8192):(_8192,_1)");
  auto const copy = of_convolution([](auto const& x, auto const&... convolution) {
    return make_im2col_tma_copy_A_sm100(SM100_TMA_2SM_LOAD_IM2COL{}, x, PairShared{}, PairTile{}, PairMma{},
                                        convolution...);
  });
  EXPECT_EQ(printed(typename remove_cvref_t<decltype(copy)>::Tiler_MN{}), "(_2048,_1,_4)");
  EXPECT_EQ(printed(typename remove_cvref_t<decltype(copy)>::TiledLayout_TV{}),
            "((_2,_1,_1,_1),(((_64,_128),_1))):((_0,_0,_0,_0),(((_128,_1),_0)))");
}

// ---------------------------------------------------------------------------------------------------------------------
// Copies from shared to tensor memory.

template <class Copy, class S, class T>
void expect_copy(S const& shared, T const& tmem, char const* source, char const* descriptors, char const* destination,
                 unsigned long long word) {
  auto const copy = make_utccp_copy(Copy{}, tmem).get_slice(0);
  auto const from = copy.partition_S(shared);
  EXPECT_EQ(printed(layout(from)), source);
  auto const described = get_utccp_smem_desc_tensor<Copy>(from);
  EXPECT_EQ(printed(layout(described)), descriptors);
  EXPECT_EQ(static_cast<uint64_t>(described(0)) & ~0x3fffull, word);
  EXPECT_EQ(printed(layout(copy.partition_D(tmem))), destination);
}
TEST(CompatBlackwell, CopiesFromSharedToTensorMemory) {
  auto const shared = make_tensor(make_smem_ptr(static_cast<uint8_t*>(nullptr)),
                                  Layout<Shape<_128, Shape<_16, _8>>, Stride<_16, Stride<_1, Int<2048>>>>{});
  auto const tmem = make_tensor(make_tmem_ptr<uint8_t>(0), Layout<Shape<_128, _128>, Stride<TMEM::DP<uint8_t>, _1>>{});
  expect_copy<SM100_UTCCP_128dp256bit_1cta>(shared, tmem, "(((_128,_16,_2),_1),_1,_4):(((_16,_1,_2048),_0),_0,_4096)",
                                            "(((_128,_1,_2),_1),_1,_4):(((_1,_1,_128),_0),_0,_256)",
                                            "(((_128,_32),_1),_1,_4):(((_262144,_1),_0),_0,_32)", 0x400800800000);
  expect_copy<SM100_UTCCP_128dp128bit_1cta>(shared, tmem, "(((_128,_16),_1),_1,_8):(((_16,_1),_0),_0,_2048)",
                                            "(((_128,_1),_1),_1,_8):(((_1,_1),_0),_0,_128)",
                                            "(((_128,_16),_1),_1,_8):(((_262144,_1),_0),_0,_16)", 0x400800010000);
}
TEST(CompatBlackwell, TraitsOfCopiesFromSharedMemory) {
  using Four = Copy_Traits<SM100_UTCCP_4x32dp128bit_2cta>;
  EXPECT_EQ(printed(typename Four::ThrID{}), "_2:_1");
  EXPECT_EQ(printed(typename Four::ValID{}), "(_32,_128,_4):(_2097152,_1,_67108864)");
  EXPECT_EQ(printed(typename Four::SrcLayout{}), "(_2,(_32,_128,_4)):(_0,(_1,_32,_0))");
  EXPECT_EQ(printed(typename Four::DstLayout{}), "(_2,_16384):(_0,_1)");
  using Two = Copy_Traits<SM100_UTCCP_2x64dp128bitlw0123_1cta>;
  EXPECT_EQ(printed(typename Two::ValID{}), "(_32,_128,_2,_2):(_2097152,_1,_134217728,_67108864)");
  EXPECT_EQ(printed(typename Two::SrcLayout{}), "(_1,(_32,_128,_2,_2)):(_0,(_1,_32,_4096,_0))");
}

// ---------------------------------------------------------------------------------------------------------------------
// Matrix instructions with scales, and sparse ones: descriptors and fragments in tensor memory.

using UMMA::Major;
using PairOfScales =
    SM100_MMA_MXF4_2x1SM_SS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 128, 256, 16, Major::K, Major::K>;
template <class Op>
uint32_t word_of() {
  return uint32_t(MMA_Traits<Op>{}.idesc_);
}
TEST(CompatBlackwell, DescriptorsOfInstructions) {
  using E4 = float_e4m3_t;
  using E2 = float_e2m1_t;
  using U8 = float_ue8m0_t;
  using U4 = float_ue4m3_t;
  EXPECT_EQ((word_of<SM100_MMA_MXF8F6F4_SS<E4, float_e5m2_t, float, U8, 128, 192, Major::K, Major::MN>>()),
            0x08b10400u);
  EXPECT_EQ(
      (word_of<
          SM100_MMA_MXF8F6F4_2x1SM_SS_SPARSE<E4, E4, float, U8, 256, 64, Major::K, Major::K, UMMA::ScaleIn::Neg>>()),
      0x10902004u);
  EXPECT_EQ((word_of<SM100_MMA_MXF4_SS<E2, E2, float, U4, 128, 256, 16, Major::K, Major::K>>()), 0x08400480u);
  EXPECT_EQ((word_of<SM100_MMA_MXF4NVF4_SS_SPARSE<E2, E2, float, U8, 128, 256, 64, Major::K, Major::K>>()),
            0x08c00484u);
  EXPECT_EQ(
      (word_of<
          SM100_MMA_F16BF16_SS_SPARSE<half_t, half_t, float, 128, 128, Major::K, Major::MN, UMMA::ScaleIn::Neg>>()),
      0x08212014u);
  EXPECT_EQ((word_of<SM100_MMA_S8_SS_SPARSE<signed char, unsigned char, int, 128, 128, Major::K, Major::K,
                                            UMMA::Saturate::True>>()),
            0x082000acu);
  EXPECT_EQ((word_of<SM100_MMA_F16BF16_SS_SCALED<half_t, half_t, float, 128, 128, Major::K, Major::K, 3>>()),
            0x08200010u);
}
TEST(CompatBlackwell, ScalesInTensorMemory) {
  using Traits = MMA_Traits<PairOfScales>;
  EXPECT_EQ(int(Traits::SFVecSize), 16);
  EXPECT_EQ(printed(typename Traits::Shape_MNK{}), "(_128,_256,_64)");
  auto const part = make_shape(make_shape(_256{}, make_shape(_16{}, _4{})), _1{}, _4{});
  EXPECT_EQ((printed(layout(make_tensor<typename Traits::FrgTypeSFA>(part)))),
            "((((_32,_8),_4),(_16,_4)),_1,_4):((((_262144,_4),_8388608),(_0,_1)),_0,_32)");
  EXPECT_EQ((printed(layout(make_tensor<typename Traits::FrgTypeSFB>(part)))),
            "((((_32,_4),_2,_2),(_16,_4)),_1,_4):((((_262144,_4),_16777216,_8388608),(_0,_1)),_0,_16)");
  auto const scales = make_tensor<typename Traits::FrgTypeSFB>(part);
  auto const complete = MMA_Atom<PairOfScales>{}.with(UMMA::ScaleOut::Zero, scales(_, _, 1), scales(_, _, 2));
  EXPECT_TRUE(complete.accumulate_ == UMMA::ScaleOut::Zero);
}
// A byte of a column is named by the two uppermost bits of an address, which the descriptor gets.
TEST(CompatBlackwell, TheBytesOfScales) {
  UMMA::InstrDescriptorBlockScaled const none{};
  EXPECT_EQ(UMMA::make_runtime_instr_desc_block_scaled(none, 0x80000010u, 0x40000020u), 0x4000001000000000ull);
}
TEST(CompatBlackwell, MetadataInTensorMemory) {
  EXPECT_EQ((printed(layout(make_tensor<UMMA::tmem_e_frg<half_t>>(Shape<Shape<_128, _32>, _1, _2>{})))),
            "(((_8,_2,_8),(_16,_2)),_1,_2):(((_2097152,_16,_33554432),(_1,_16777216)),_0,_32)");
  EXPECT_EQ((printed(layout(make_tensor<UMMA::tmem_e_frg<tfloat32_t>>(Shape<Shape<_128, _16>, _1, _2>{})))),
            "(((_8,_2,_8),(_8,_2)),_1,_2):(((_1048576,_8,_16777216),(_1,_8388608)),_0,_16)");
  EXPECT_EQ((printed(layout(make_tensor<UMMA::tmem_e_frg<float_e2m1_t>>(Shape<Shape<_128, _128>, _1, _2>{})))),
            "((_128,_128),_1,_2):((_4194304,_1),_0,_128)");
}

// A sparse A in shared memory: the descriptor counts bytes of what is stored, the layout logical elements.
TEST(CompatBlackwell, DescriptorsOfASparseA) {
  using Mma =
      decltype(make_tiled_mma(SM100_MMA_F16BF16_SS_SPARSE<half_t, half_t, float, 128, 128, Major::K, Major::K>{}));
  auto const part = partition_shape_A(Mma{}, Shape<_128, _128>{});
  EXPECT_EQ(printed(part), "((_128,_32),_1,_4)");
  auto const tile = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_SpAtom<half_t, 2>{}, part);
  EXPECT_EQ(printed(tile.layout_b()), "((_128,_32),_1,_4):((_128,_1),_0,_32)");
  sparse_elem<2, half_t>* const stored = nullptr;
  auto const a = Mma{}.make_fragment_A(make_tensor(make_smem_ptr(make_sparse_ptr<2>(stored)), tile));
  EXPECT_EQ(printed(layout(a)), "(_1,_1,_4):(_0,_0,_2)");
  EXPECT_EQ(static_cast<uint64_t>(a(0, 0, 1)), 0x4000404000010002ull);
}

// ---------------------------------------------------------------------------------------------------------------------
// Arithmetic on two floats.

struct Pair {
  float x, y;
};
TEST(CompatBlackwell, TwoFloatsAtOnce) {
  Pair r{};
  add(r, Pair{1, 2}, Pair{3, 5});
  EXPECT_EQ(r.x, 4.f);
  EXPECT_EQ(r.y, 7.f);
  mul(r, Pair{1.5f, 2}, Pair{3, 5});
  EXPECT_EQ(r.x, 4.5f);
  EXPECT_EQ(r.y, 10.f);
  // 1 + 2^-23 squared, minus 1 + 2^-22, is 2^-46: rounded once.
  float const above = 1 + 0x1p-23f;
  fma(r, Pair{above, 2}, Pair{above, 5}, Pair{-(1 + 0x1p-22f), 1});
  EXPECT_EQ(r.x, 0x1p-46f);
  EXPECT_EQ(r.y, 11.f);
}
TEST(CompatBlackwell, AMatrixInstructionOnTwoFloats) {
  auto const mma = make_tiled_mma(SM100_1x2x1_F32F32F32F32{});
  EXPECT_EQ(printed(typename decltype(mma)::Shape_MNK{}), "(_1,_2,_1)");
  float d[2] = {}, a[1] = {3}, b[2] = {5, 7}, c[2] = {1, 2};
  auto const of = [](float* p, auto n) { return make_tensor(p, make_layout(n)); };
  auto sums = of(d, _2{});
  mma_unpack(MMA_Traits<SM100_1x2x1_F32F32F32F32>{}, sums, of(a, _1{}), of(b, _2{}), of(c, _2{}));
  EXPECT_EQ(d[0], 16.f);
  EXPECT_EQ(d[1], 23.f);
}

}  // namespace
