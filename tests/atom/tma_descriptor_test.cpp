// What the host says of TMA descriptors that the hardware would refuse: the whole message, field and value.
#include <gtest/gtest.h>

#include <zellige/atom/make_tma_descriptor.hpp>

namespace zellige {
namespace {

TEST(HopperDescriptor, SaysWhatTheHardwareWouldRefuse) {
  const TmaTensor good{.name = "X",
                       .extent = {64, 100, 8, 8, 8},
                       .stride = {0, 128},
                       .box = {64, 64, 1, 1, 1},
                       .swizzle = SwizzleMode::b128};
  EXPECT_EQ(tma_descriptor_error(good, 4096), "");
  EXPECT_EQ(tma_box_bytes(good), 64 * 64 * 2);
  struct Case {
    std::string message;
    TmaTensor tensor;
    uint64_t address = 0;
  };
  const auto with = [&](auto change) {
    TmaTensor t = good;
    change(t);
    return t;
  };
  const Case cases[] = {
      {"address is 4104; it must be a multiple of 16 bytes", good, 4104},
      {"rank is 6; it must be 1 to 5", with([](TmaTensor& t) { t.rank = 6; })},
      {"extent[1] is 0; it must be 1 to 2^32", with([](TmaTensor& t) { t.extent[1] = 0; })},
      {"stride[1] is 130 bytes; it must be a multiple of 16", with([](TmaTensor& t) { t.stride[1] = 130; })},
      {"stride[1] is 1099511627776 bytes; it must be 0 to 2^40 - 1",
       with([](TmaTensor& t) { t.stride[1] = int64_t{1} << 40; })},
      {"box[1] is 257; it must be 1 to 256", with([](TmaTensor& t) { t.box[1] = 257; })},
      {"box[0] is 63 elements, 126 bytes; a line of the box must be a multiple of 16 bytes",
       with([](TmaTensor& t) { t.box[0] = 63; })},
      {"box[0] is 128 elements, 256 bytes; with a swizzle of 128 bytes a line of the box may have 128",
       with([](TmaTensor& t) { t.box[0] = 128; })},
      {"box[0] is 64 elements, 128 bytes; with a swizzle of 64 bytes a line of the box may have 64",
       with([](TmaTensor& t) { t.swizzle = SwizzleMode::b64; })},
      {"element_stride[0] is 9; it must be 1 to 8", with([](TmaTensor& t) { t.element_stride[0] = 9; })},
      {"rank is 2; an interleaved layout needs at least 3",
       with([](TmaTensor& t) { t.interleave = TmaInterleave::b16; })},
      {"swizzle is 128 bytes; an interleave of 32 bytes needs 32 bytes",
       with([](TmaTensor& t) { t.rank = 3, t.stride[2] = 12800, t.interleave = TmaInterleave::b32; })},
      {"rank is 2; im2col needs 3 to 5", with([](TmaTensor& t) { t.im2col = true; })},
      {"pixels is 0; it must be 1 to 1024",
       with([](TmaTensor& t) { t.rank = 3, t.stride[2] = 12800, t.im2col = true, t.channels = 64; })},
      {"lower[0] is -129; with 4 dimensions it must be -128 to 127", with([](TmaTensor& t) {
         t.rank = 4, t.stride[2] = t.stride[3] = 12800, t.im2col = true, t.channels = 64, t.pixels = 8,
         t.lower[0] = -129;
       })},
      {"the box has 1048576 bytes; an mbarrier counts up to 2^20 - 1 in a phase",
       with([](TmaTensor& t) { t.rank = 3, t.box[0] = 64, t.box[1] = 256, t.box[2] = 32, t.stride[2] = 12800; })},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(tma_descriptor_error(c.tensor, c.address), "TMA descriptor of X: " + c.message);
    EXPECT_THROW(make_tma_descriptor(c.tensor, reinterpret_cast<const void*>(c.address)), std::runtime_error);
  }
  try {
    make_tma_descriptor_emulated(good, 12799);
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_EQ(std::string(e.what()), "TMA descriptor of X: extents and strides reach byte 12800; the tensor has 12799");
  }
}

}  // namespace
}  // namespace zellige
