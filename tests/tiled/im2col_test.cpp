// Convolutions by TMA on the host: the tensors of coordinates against loops over pixels and taps,
// the descriptor, CuTe's printed form, and refusals.
#include "im2col.hpp"

#include <random>
#include <zellige/atom/print.hpp>

namespace zellige {
namespace {

template <int dims>
void coordinates_are_right(Convolution const& c) {
  auto const tma = copy_of<dims>(SM90_TMA_LOAD_IM2COL{}, c, SmemLayout{}, Shape<_64, _64>{}, _1{});
  auto const x = tma.get_tma_tensor(0);
  int rows = c.images, taps = 1;
  for (int d = 0; d < dims; ++d) rows *= c.outputs(d), taps *= c.taps[d];
  ASSERT_EQ(int(size<0>(x)), rows);
  ASSERT_EQ(int(size<1>(x)), c.channels * taps);
  for (int m = 0; m < rows; m += 1 + m % 3) {
    for (int k = 0; k < c.channels * taps; k += 7) {
      int tap[3], rest = k / c.channels;
      for (int d = 0; d < dims; ++d) tap[d] = rest % c.taps[d], rest /= c.taps[d];
      auto const at = x(m, k);
      int index = 0, step = c.channels;
      bool inside = true;
      auto const add = [&](int d, int pixel, int offset) {
        inside = inside && pixel + offset >= 0 && pixel + offset < c.extent[d];
        index += (pixel + offset) * step;
        step *= c.extent[d];
      };
      if constexpr (dims > 0) add(0, int(get<1, 0>(at)), int(get<3, 0>(at)));
      if constexpr (dims > 1) add(1, int(get<1, 1>(at)), int(get<3, 1>(at)));
      if constexpr (dims > 2) add(2, int(get<1, 2>(at)), int(get<3, 2>(at)));
      index += int(get<2>(at)) * step + int(get<0>(at));
      ASSERT_EQ(inside ? index : -1, gathered(c, m, k % c.channels, tap)) << m << " " << k;
    }
  }
}
TEST(Im2col, CoordinatesAreThoseOfTheLoops) {
  std::mt19937 random(3);
  auto const within = [&](int low, int high) { return low + int(random() % unsigned(high - low + 1)); };
  for (int trial = 0; trial < 60; ++trial) {
    Convolution c{1 + trial % 3, 64 * within(1, 2), within(1, 3), {}, {}, {}, {}, {}, {}};
    for (int d = 0; d < c.dims; ++d) {
      c.taps[d] = within(1, 3), c.dilation[d] = within(1, 2), c.stride[d] = within(1, 3);
      c.extent[d] = within((c.taps[d] - 1) * c.dilation[d] + 1, 9);
      c.pad_low[d] = within(0, 2), c.pad_high[d] = within(0, 2);
    }
    if (c.dims == 1) coordinates_are_right<1>(c);
    if (c.dims == 2) coordinates_are_right<2>(c);
    if (c.dims == 3) coordinates_are_right<3>(c);
  }
}

TEST(Im2col, DescriptorSaysWhatTheConvolutionDoes) {
  Convolution const c{2, 128, 2, {12, 9}, {3, 2}, {1, 1}, {1, 0}, {2, 1}, {1, 1}};
  emulate::TmaMap map;
  auto const read = [&](auto const& copy) {
    std::memcpy(static_cast<void*>(&map), copy.get_tma_descriptor()->bytes, sizeof(map));
  };
  read(copy_of<2>(SM90_TMA_LOAD_IM2COL_MULTICAST{}, c, SmemLayout{}, Shape<_64, _64>{}, _2{}));
  EXPECT_EQ(map.magic, emulate::TmaMap::mark);
  EXPECT_TRUE(map.im2col);
  EXPECT_EQ(map.rank, 4);
  EXPECT_EQ(map.element, emulate::Element::f16);
  EXPECT_EQ(map.swizzle, 3);
  EXPECT_EQ(map.channels, 64);
  EXPECT_EQ(map.pixels, 32) << "each of two CTAs loads half";
  unsigned const extent[] = {127, 11, 8, 1};
  unsigned const stride[] = {256, 256 * 12, 256 * 12 * 9};
  for (int d = 0; d < 4; ++d) EXPECT_EQ(map.extent[d], extent[d]) << d;
  for (int d = 0; d < 3; ++d) EXPECT_EQ(map.stride[d], stride[d]) << d;
  EXPECT_EQ(map.lower[0], -1);
  EXPECT_EQ(map.upper[0], -1);
  EXPECT_EQ(map.element_stride[1], 2);
  EXPECT_EQ(map.lower[1], -1);
  EXPECT_EQ(map.upper[1], -1);
  EXPECT_EQ(map.element_stride[2], 1);
}

/// CuTe's print of the same copies, and of what a slice of them keeps.
TEST(Im2col, PrintsAsCutePrints) {
  Convolution const c{2, 128, 2, {12, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  auto const smem = tile_to_shape(GMMA::Layout_K_SW64_Atom<half_t>{}, Shape<_128, _64>{});
  auto const tma = copy_of<2>(SM90_TMA_LOAD_IM2COL_MULTICAST{}, c, smem, Shape<_128, _64>{}, _2{});
  EXPECT_EQ(to_text(tma),
            "TiledCopy\n  Tiler_MN:       (_128,_64)\n  TiledLayout_TV: "
            "(_2,(((_32,_128),_2))):(_64,(((_128,_1),_4096)))\n"
            "Copy_Atom\n  ThrID:        _1:_0\n  ValLayoutSrc: (_1,_4096):(_0,_1)\n"
            "  ValLayoutDst: (_1,_4096):(_0,_1)\n  ValLayoutRef: (_1,_4096):(_0,_1)\n  ValueType:    16b\n");
  auto const x = tma.get_tma_tensor(0);
  EXPECT_EQ(to_text(x),
            "ArithTuple(_0,(-1,-1),_0,(0,0)) o ((12,9,2),(128,3,3)):((1@0@1,1@1@1,_1@2),(_1@0,1@0@3,1@1@3)) o "
            "(_0,(_0,_0,_0)) o (216,(128,3,3)):(_1@0,(_1@0@1,_1@1@1,_1@2@1))");
  auto const tile = local_tile(x, Shape<_128, _64>{}, make_coord(_, _));
  auto const mine = tma.get_slice(1).partition_S(tile);
  EXPECT_EQ(to_text(describe(mine(5))), "(5,(3,4),0,(0,0))");
  EXPECT_EQ(to_text(describe(mine(_, _, _, 1, 0).layout())),
            "((12,9,2),(128,3,3)):((1@0@1,1@1@1,_1@2),(_1@0,1@0@3,1@1@3)) o (192,(0,0,0)) o "
            "((((32,1,1),_128),(2,1,1)),_1,(1,1,1)):((((_1@0@1,1@1@1,1@2@1),_1@0),(_32@0@1,1@1@1,1@2@1)),_0,"
            "(_64@0@1,1@1@1,1@2@1))");
}

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "";
}
TEST(Im2col, RefusalsNameFieldAndValue) {
  Convolution const good{2, 64, 2, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  auto const message = [&](auto change) {
    Convolution c = good;
    change(c);
    return refusal([&] { copy_of<2>(SM90_TMA_LOAD_IM2COL{}, c, SmemLayout{}, Shape<_64, _64>{}, _1{}); });
  };
  EXPECT_EQ(message([](Convolution&) {}), "");
  EXPECT_EQ(message([](Convolution& c) { c.stride[1] = 9; }),
            "TMA descriptor of tensor: element_stride[2] is 9; it must be 1 to 8");
  EXPECT_EQ(message([](Convolution& c) { c.channels = 36; }),
            "TMA descriptor of tensor: stride[1] is 72 bytes; it must be a multiple of 16");
  EXPECT_EQ(message([](Convolution& c) { c.pad_low[0] = 200; }),
            "TMA descriptor of tensor: lower[0] is -200; with 4 dimensions it must be -128 to 127");
  EXPECT_EQ(message([](Convolution& c) { c.taps[0] = 9, c.dilation[0] = 40, c.extent[0] = 400; }),
            "make_im2col_tma_copy: lower_srt[0] is 0; the taps reach offset 320, with 4 dimensions it must "
            "be 0 to 255");
  EXPECT_EQ(message([](Convolution& c) { c.dilation[1] = 0; }),
            "make_im2col_tma_copy: stride_srt[1] is 0; it must be 1 or more, or negative for taps in reverse");
  EXPECT_EQ(message([](Convolution& c) { c.taps[1] = 12; }),
            "TMA descriptor of tensor: upper[1] is -10 and lower[1] is -1: no pixel of the 9 is left");
  auto const x = image<2>(good);
  auto const seven = [&](auto first_tap, auto padding) {
    return refusal([&] {
      make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{}, x, SmemLayout{}, Shape<_64, _64>{}, _1{}, make_shape(-1, -1),
                           make_shape(-1, -1), make_shape(-1, -1), padding, make_shape(1, 1), first_tap,
                           make_shape(1, 1));
    });
  };
  EXPECT_EQ(seven(make_shape(0, -1), make_shape(1, 1)),
            "make_im2col_tma_copy: lower_srt[1] is -1; the taps reach offset -1, with 4 dimensions it must "
            "be 0 to 255");
  EXPECT_EQ(seven(make_shape(0, 0), make_shape(-3, 1)),
            "make_im2col_tma_copy: upper_padding_whd[0] is -3; with a corner of -1 the filter has -1 taps");
  EXPECT_EQ(
      refusal([&] { copy_of<2>(SM90_TMA_LOAD_IM2COL_MULTICAST{}, good, SmemLayout{}, Shape<_64, _64>{}, _128{}); }),
      "make_im2col_tma_copy: the box has 64 pixels; the multicast shares them among 128 CTAs, which must "
      "divide them");
  auto const strided = make_tensor(make_gmem_ptr(nowhere), make_layout(make_shape(make_shape(7, 9, 2), 64),
                                                                       make_stride(make_stride(128, 896, 8064), 2)));
  EXPECT_EQ(refusal([&] { make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{}, strided, SmemLayout{}, Shape<_64, _64>{}); }),
            "make_im2col_tma_copy: the innermost mode of the TMA box has stride 2 in global memory; it must "
            "be 1: shared and global memory differ in their major mode");
}

}  // namespace
}  // namespace zellige
