// Copies, fragments and descriptors of SM100 by CuTe's names: what they print and contain is what CuTe 4.2's do.
#include <gtest/gtest.h>

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

}  // namespace
