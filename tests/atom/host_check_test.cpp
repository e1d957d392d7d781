// Every field of a TMA descriptor and of a launch, each set to something that the hardware would answer with
// an error or an illegal instruction: the host says field and value first, in release builds too.
#include <gtest/gtest.h>

#include <functional>
#include <zellige/atom/launch_limits.hpp>
#include <zellige/atom/make_tma_descriptor.hpp>

namespace zellige {
namespace {

const TmaTensor tiled{.name = "X",
                      .rank = 5,
                      .extent = {64, 100, 8, 8, 8},
                      .stride = {0, 128, 12800, 102400, 819200},
                      .box = {64, 32, 1, 1, 1},
                      .swizzle = SwizzleMode::b128};
const TmaTensor image{.name = "X",
                      .rank = 4,
                      .extent = {64, 12, 9, 2},
                      .stride = {0, 128, 1536, 13824},
                      .swizzle = SwizzleMode::b128,
                      .im2col = true,
                      .lower = {-1, -1},
                      .upper = {-1, -1},
                      .channels = 64,
                      .pixels = 128};
std::string error_of(TmaTensor t, const std::function<void(TmaTensor&)>& change, uint64_t address = 4096) {
  change(t);
  return tma_descriptor_error(t, address);
}

TEST(TmaFields, EachWrongOneIsNamed) {
  struct Case {
    std::string message;
    std::function<void(TmaTensor&)> change;
  };
  const auto all_hold = [](const TmaTensor& good, const std::vector<Case>& cases) {
    ASSERT_EQ(error_of(good, [](TmaTensor&) {}), "");
    for (const Case& c : cases) EXPECT_EQ(error_of(good, c.change), "TMA descriptor of X: " + c.message);
  };
  const std::vector<Case> both = {
      {"element is 13; there are types 0 to 12", [](TmaTensor& t) { t.element = TmaElement(13); }},
      {"swizzle is 4; there are modes 0 to 3", [](TmaTensor& t) { t.swizzle = SwizzleMode(4); }},
      {"interleave is 3; there are modes 0 to 2", [](TmaTensor& t) { t.interleave = TmaInterleave(3); }},
      {"promotion is 4; there are modes 0 to 3", [](TmaTensor& t) { t.promotion = TmaPromotion(4); }},
      {"rank is 0; it must be 1 to 5", [](TmaTensor& t) { t.rank = 0; }},
      {"rank is -1; it must be 1 to 5", [](TmaTensor& t) { t.rank = -1; }},
      {"extent[2] is 4294967297; it must be 1 to 2^32", [](TmaTensor& t) { t.extent[2] = (int64_t{1} << 32) + 1; }},
      {"extent[0] is -1; it must be 1 to 2^32", [](TmaTensor& t) { t.extent[0] = -1; }},
      {"stride[1] is 8 bytes; it must be a multiple of 16", [](TmaTensor& t) { t.stride[1] = 8; }},
      {"stride[2] is -12800 bytes; it must be 0 to 2^40 - 1", [](TmaTensor& t) { t.stride[2] = -12800; }},
      {"element_stride[1] is 0; it must be 1 to 8", [](TmaTensor& t) { t.element_stride[1] = 0; }},
      {"nan_fill is set and element is 0, an integer; only floats (6 to 12) have NaN",
       [](TmaTensor& t) { t.element = TmaElement::u8, t.nan_fill = true; }},
      {"stride[2] is 12816 bytes; it must be a multiple of 32",
       [](TmaTensor& t) { t.interleave = TmaInterleave::b32, t.stride[2] = 12816; }},
  };
  all_hold(tiled, both);
  all_hold(image, both);
  all_hold(tiled, {
                      {"extents and strides reach past 2^62 bytes, from extent[4] 4294967296 and stride[4] "
                       "1099511627760",
                       [](TmaTensor& t) { t.extent[4] = int64_t{1} << 32, t.stride[4] = (int64_t{1} << 40) - 16; }},
                      {"box[4] is 0; it must be 1 to 256", [](TmaTensor& t) { t.box[4] = 0; }},
                      {"box[0] is -64; it must be 1 to 256", [](TmaTensor& t) { t.box[0] = -64; }},
                      {"box[0] is 65 elements, 130 bytes; a line of the box must be a multiple of 16 bytes",
                       [](TmaTensor& t) { t.box[0] = 65; }},
                      {"the box takes 262144 bytes of shared memory; a block may have 232448",
                       [](TmaTensor& t) { t.box[1] = 256, t.box[2] = 8; }},
                  });
  all_hold(
      image,
      {
          {"rank is 2; im2col needs 3 to 5", [](TmaTensor& t) { t.rank = 2; }},
          {"channels is 0; it must be 1 to 256", [](TmaTensor& t) { t.channels = 0; }},
          {"channels is 257; it must be 1 to 256", [](TmaTensor& t) { t.channels = 257; }},
          {"channels is 60, 120 bytes; it must be a multiple of 16 bytes", [](TmaTensor& t) { t.channels = 60; }},
          {"channels is 128, 256 bytes; with a swizzle of 128 bytes it may be 128",
           [](TmaTensor& t) { t.channels = 128; }},
          {"pixels is 1025; it must be 1 to 1024", [](TmaTensor& t) { t.pixels = 1025; }},
          {"upper[1] is 128; with 4 dimensions it must be -128 to 127", [](TmaTensor& t) { t.upper[1] = 128; }},
          {"lower[0] is -17; with 5 dimensions it must be -16 to 15",
           [](TmaTensor& t) { t.rank = 5, t.extent[4] = 2, t.stride[4] = 27648, t.lower[0] = -17; }},
          {"upper[0] is -13 and lower[0] is -1: no pixel of the 12 is left", [](TmaTensor& t) { t.upper[0] = -13; }},
          {"the box takes 262144 bytes of shared memory; a block may have 232448",
           [](TmaTensor& t) { t.channels = 128, t.pixels = 1024, t.swizzle = SwizzleMode::none; }},
      });
  EXPECT_EQ(error_of(
                tiled, [](TmaTensor&) {}, 4097),
            "TMA descriptor of X: address is 4097; it must be a multiple of 16 bytes");
  EXPECT_EQ(error_of(
                tiled, [](TmaTensor& t) { t.interleave = TmaInterleave::b32; }, 4112),
            "TMA descriptor of X: address is 4112; it must be a multiple of 32 bytes");
  EXPECT_EQ(error_of(tiled, [](TmaTensor& t) { t.name = nullptr, t.rank = 9; }),
            "TMA descriptor of a tensor: rank is 9; it must be 1 to 5");
  try {
    make_tma_descriptor(tiled, nullptr);
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_EQ(std::string(e.what()),
              "TMA descriptor of X: address is null; it must be the tensor's in the GPU's memory");
  }
}

TEST(LaunchFields, EachWrongOneIsNamed) {
  const CheckedLaunch good{.name = "gemm",
                           .grid = {132, 1, 1},
                           .threads = 384,
                           .shared_bytes = 200000,
                           .registers = 168,
                           .cluster = 2,
                           .moved = {{128, 40}, {256, 232}},
                           .tiles = {{"A", 0, 65536, tma_alignment(SwizzleMode::b128)},
                                     {"B", 65536, 131072, tma_alignment(SwizzleMode::b128)},
                                     {"full", 196608, 32, 8}}};
  ASSERT_EQ(launch_error(good), "");
  const auto error = [&](auto change) {
    CheckedLaunch l = good;
    change(l);
    return launch_error(l);
  };
  const std::string who = "launch of gemm: ";
  EXPECT_EQ(error([](CheckedLaunch& l) { l.grid[0] = 0; }), who + "grid[0] is 0; it must be 1 to 2147483647");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.grid[2] = 65536; }), who + "grid[2] is 65536; it must be 1 to 65535");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.threads = 0; }), who + "threads is 0; it must be 1 to 1024");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.shared_bytes = -1; }), who + "shared_bytes is -1; a block may have 232448");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.cluster = 17, l.non_portable = true; }),
            who + "cluster is 17 blocks; it must be 1 to 16");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.registers = 256; }), who + "registers is 256; it must be up to 255");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.moved[1].registers = 257; }),
            who + "a role of setmaxnreg has 257 registers; it must be 24 to 256, a multiple of 8");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.tiles[1].offset = 65536 + 128; }),
            who + "tile B is at byte 65664; it must be at a multiple of 1024");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.tiles[2].offset = 196612; }),
            who + "tile full is at byte 196612; it must be at a multiple of 8");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.tiles[2].bytes = 4096; }),
            who + "tile full has bytes 196608..200704; the block's shared memory has 200000");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.tiles[1].offset = 64512; }),
            who + "tile B has bytes 64512..195584, tile A bytes 0..65536; they must not overlap");
  EXPECT_EQ(tma_alignment(SwizzleMode::none), 128);
  EXPECT_EQ(tma_alignment(SwizzleMode::b32), 256);
  EXPECT_EQ(tma_alignment(SwizzleMode::b64), 512);
}

}  // namespace
}  // namespace zellige
