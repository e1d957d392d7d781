// Fragments, also of composed layouts, and tensors made of a swizzled tensor's pointer. The strings are the
// output of CuTe 4.7 for the same expressions.
#include <gtest/gtest.h>

#include <cstdint>
#include <zellige/layout/print.hpp>
#include <zellige/numeric/int.hpp>
#include <zellige/tensor.hpp>

namespace zellige {
namespace {

template <class X>
std::string laid_out(X const& x) {
  return to_text(x.layout());
}
using Swizzled = ComposedLayout<Swizzle<3, 4, 3>, smem_ptr_flag_bits<16>, Layout<Shape<_8, _64>, Stride<_64, _1>>>;
using Indices = ComposedLayout<Swizzle<3, 3, 3>, Int<0>, Layout<Shape<_8, _64>, Stride<_64, _1>>>;

TEST(Fragment, OfAComposedLayoutIsThatOfTheLayoutWithin) {
  EXPECT_EQ(to_text(make_fragment_like(Indices{})), "(_8,(_64)):(_1,(_8))");
  EXPECT_EQ(to_text(make_fragment_like(Swizzled{})), "(_8,(_64)):(_1,(_8))");
  EXPECT_EQ(to_text(make_layout_like(Indices{})), "(_8,_64):(_64,_1)");
  EXPECT_EQ(to_text(make_layout_like(Swizzled{})), "(_8,_64):(_64,_1)");
  alignas(1024) std::uint16_t memory[512] = {};
  EXPECT_EQ(laid_out(make_fragment_like(make_tensor(make_smem_ptr(memory), Swizzled{}))), "(_8,(_64)):(_1,(_8))");
  EXPECT_EQ(laid_out(make_fragment_like<float>(make_tensor(make_smem_ptr(memory), Indices{}))), "(_8,(_64)):(_1,(_8))");
  EXPECT_EQ(laid_out(make_tensor_like(make_tensor(make_smem_ptr(memory), Swizzled{}))), "(_8,_64):(_64,_1)");
}
TEST(Fragment, IsRecast) {
  auto r = make_tensor<std::uint8_t>(Shape<Shape<_4, _2>, _4>{});  // bytes: C++ lets any type look at them
  for (int i = 0; i < 32; ++i) r(i) = std::uint8_t(i);
  auto words = recast<std::uint32_t>(r);
  EXPECT_EQ(laid_out(words), "((_1,_2),_4):((_1,_1),_2)");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(words(i), 0x03020100u + 0x04040404u * unsigned(i));
  auto const& fixed = r;
  EXPECT_EQ(laid_out(recast<std::uint32_t>(fixed)), laid_out(words));
  EXPECT_EQ(laid_out(recast<std::uint32_t const>(r)), laid_out(words));
  static_assert(is_same_v<decltype(recast<std::uint32_t>(fixed))::element_type, std::uint32_t const>);
  words(3) = 0x44434241;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(r(12 + i), 0x41 + i);
  auto halves = make_tensor<std::uint16_t>(Shape<Shape<_2, _2>, _2, _4>{});
  EXPECT_EQ(laid_out(recast<std::uint32_t>(halves)), "((_1,_2),_2,_4):((_1,_1),_2,_4)");
  EXPECT_EQ(laid_out(recast<std::uint32_t>(halves(_, 0, _))), "((_1,_2),_4):((_1,_1),_4)");
  EXPECT_EQ(laid_out(recast<std::int8_t>(make_tensor<int>(Shape<_4, _2>{}))), "(_16,_2):(_1,_16)");
  EXPECT_EQ(laid_out(recast<int4b_t>(make_tensor<int>(Shape<_4, _2>{}))), "(_32,_2):(_1,_32)");
  using Transposed = Layout<Shape<_4, _2>, Stride<_2, _1>>;
  EXPECT_EQ(laid_out(recast<std::int16_t>(make_tensor<std::uint16_t>(Transposed{}))), "(_4,_2):(_2,_1)");
}
// The swizzle of the layout is that of the pointer: it acts once.
TEST(SwizzledTensor, OfASwizzledPointerSwizzlesOnce) {
  alignas(1024) std::uint16_t memory[512] = {};
  auto s = make_tensor(make_smem_ptr(memory), Swizzled{});
  for (int i = 0; i < 512; ++i) s(i) = std::uint16_t(i);
  auto const again = make_tensor(s.data(), Swizzled{});
  static_assert(is_same_v<decltype(again), decltype(s) const>);
  auto const other = make_tensor(make_smem_ptr(s.data(), Swizzle<3, 4, 3>{}), s.layout());
  static_assert(is_same_v<decltype(other), decltype(s) const>);
  for (int i = 0; i < 512; ++i) {
    EXPECT_EQ(again(i), i);
    EXPECT_EQ(other(i), i);
    // Row i % 8, column i / 8: 16-byte chunks are moved by the row.
    int const row = i % 8, column = i / 8;
    EXPECT_EQ(memory[row * 64 + ((column / 8) ^ row) * 8 + column % 8], i);
  }
}
TEST(TileToShape, TakesALayoutForItsShape) {
  using Atom = Layout<Shape<_8, _16>, Stride<_16, _1>>;
  EXPECT_EQ(to_text(tile_to_shape(Atom{}, Layout<Shape<_64, _64>, Stride<_64, _1>>{})),
            "((_8,_8),(_16,_4)):((_16,_128),(_1,_1024))");
  EXPECT_EQ(to_text(tile_to_shape(Atom{}, make_layout(make_shape(_64{}, _64{}, _3{})), Step<_2, _1, _3>{})),
            "((_8,_8),(_16,_4),(_1,_3)):((_16,_512),(_1,_128),(_0,_4096))");
  EXPECT_EQ(to_text(tile_to_shape(Atom{}, Layout<Shape<Shape<_8, _8>, _64>>{})),
            "((_8,_8),(_16,_4)):((_16,_128),(_1,_1024))");
  EXPECT_EQ(to_text(tile_to_shape(Atom{}, make_layout(make_shape(64, 64)))), "((_8,8),(_16,4)):((_16,_128),(_1,1024))");
  EXPECT_EQ(to_text(tile_to_shape(Indices{}, Layout<Shape<_64, _64>>{})),
            "Sw<3,3,3> o _0 o ((_8,_8),(_64,_1)):((_64,_512),(_1,_0))");
}

}  // namespace
}  // namespace zellige
