// The example of the tutorial on tensors of coordinates: a tiled MMA partitions a data tensor and its
// coordinate tensor equally, and both print what the tutorial shows.
#include <gtest/gtest.h>

#include <zellige/atom/print.hpp>

namespace zellige {
namespace {

constexpr auto tiled_mma() {
  using MmaTraits = MMA_Traits<SM80_16x8x16_F16F16F16F16_TN>;
  using MmaAtomShape = MmaTraits::Shape_MNK;
  auto const mma_atom = MMA_Atom<MmaTraits>{};
  auto const shape = MmaAtomShape{};
  auto const mma_layout = make_layout(make_shape(Int<2>{}, Int<2>{}, Int<1>{}));
  constexpr int tile_m{get<0>(shape) * 2 * 1}, tile_n{get<1>(shape) * 2 * 2}, tile_k{get<2>(shape) * 1 * 1};
  return make_tiled_mma(mma_atom, mma_layout, make_tile(Int<tile_m>{}, Int<tile_n>{}, Int<tile_k>{}));
}
/// "memory o layout", with how far the memory lies from the beginning in place of its address.
template <class X>
std::string shown(X const& x, half_t const* begin) {
  return "+" + std::to_string(&x(0) - begin) + " o " + to_text(x.layout());
}
template <class Global>
void prints(Global const& global_tensor, half_t const* begin, std::string const& block, std::string const& thread) {
  auto const tile = make_shape(Int<128>{}, Int<128>{});
  auto const coordinate = make_coord(1, 1);
  auto const mine = tiled_mma().get_slice(1);
  auto const block_tensor = local_tile(global_tensor, tile, coordinate);
  EXPECT_EQ(shown(block_tensor, begin), block);
  EXPECT_EQ(shown(mine.partition_C(block_tensor), begin), thread);

  auto const global_identity_tensor = make_identity_tensor(global_tensor.shape());
  EXPECT_EQ(to_text(global_identity_tensor), "ArithTuple(_0,_0) o (_512,_512):(_1@0,_1@1)");
  auto const block_identity_tensor = local_tile(global_identity_tensor, tile, coordinate);
  EXPECT_EQ(to_text(block_identity_tensor), "ArithTuple(128,128) o (_128,_128):(_1@0,_1@1)");
  auto const thread_identity_tensor = mine.partition_C(block_identity_tensor);
  EXPECT_EQ(to_text(thread_identity_tensor), "ArithTuple(128,130) o ((_2,_2),_4,_8):((_1@1,_8@0),_32@0,_16@1)");
  EXPECT_EQ(to_text(thread_identity_tensor(make_coord(1, 1), 2, 3)), "(200,179)");
}

TEST(ArithmeticTupleTensors, MmaExample) {
  static std::vector<half_t> memory(512 * 512);
  auto const global_tensor =
      make_tensor(memory.data(), make_layout(make_shape(Int<512>{}, Int<512>{}), make_stride(Int<1>{}, Int<512>{})));
  prints(global_tensor, memory.data(), "+65664 o (_128,_128):(_1,_512)",
         "+66688 o ((_2,_2),_4,_8):((_512,_8),_32,_8192)");
}
TEST(ArithmeticTupleTensors, MmaExampleWithStridesOfOne) {
  static std::vector<half_t> memory(1024);
  auto const global_tensor =
      make_tensor(memory.data(), make_layout(make_shape(Int<512>{}, Int<512>{}), make_stride(Int<1>{}, Int<1>{})));
  prints(global_tensor, memory.data(), "+256 o (_128,_128):(_1,_1)", "+258 o ((_2,_2),_4,_8):((_1,_8),_32,_16)");
}

}  // namespace
}  // namespace zellige
