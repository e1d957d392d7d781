// load_anywhere on two words: every start, every number of elements, elements of 1, 2 and 4 bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <zellige/block/load_anywhere.hpp>

namespace zellige {
namespace {

template <class T>
void expect_each_start() {
  constexpr int N = 16 / sizeof(T), size = sizeof(T);
  uint8_t bytes[32];
  for (int i = 0; i < 32; ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 1);
  Vec<uint32_t, 4> low, high;
  std::memcpy(&low, bytes, 16), std::memcpy(&high, bytes + 16, 16);
  for (int shift = 0; shift < 16; shift += size)
    for (int valid = 0; valid <= N; ++valid) {
      // A second word that holds none of the elements is not loaded.
      const bool second = shift + valid * size > 16;
      const auto found =
          shifted<Vec<T, N>>(low, second ? high : Vec<uint32_t, 4>{}, static_cast<uint32_t>(shift), valid);
      for (int i = 0; i < N; ++i) {
        T expected{};
        if (i < valid) std::memcpy(&expected, bytes + shift + i * size, sizeof(T));
        ASSERT_EQ(found[i], expected) << "element " << i << " of " << valid << " from byte " << shift;
      }
    }
}

TEST(UnalignedLoad, OfOneByte) { expect_each_start<uint8_t>(); }
TEST(UnalignedLoad, OfTwoBytes) { expect_each_start<uint16_t>(); }
TEST(UnalignedLoad, OfFourBytes) { expect_each_start<uint32_t>(); }

}  // namespace
}  // namespace zellige
