// wavefronts() against its definition, written out word by word.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "zellige/emulate/wavefronts.hpp"

namespace zellige::emulate {
namespace {

unsigned by_definition(const std::uint32_t* at, const bool* active, int lanes, int bytes) {
  const int phase = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  unsigned total = 0;
  for (int first = 0; first < lanes; first += phase) {
    std::map<std::uint32_t, std::set<std::uint32_t>> words_of_bank;
    for (int l = first; l < std::min(first + phase, lanes); ++l) {
      if (active && !active[l]) continue;
      for (int b = 0; b < bytes; ++b) {
        const std::uint32_t word = (at[l] + std::uint32_t(b)) / 4;
        words_of_bank[word % 32].insert(word);
      }
    }
    std::size_t worst = 0;
    for (const auto& [bank, words] : words_of_bank) worst = std::max(worst, words.size());
    total += unsigned(worst);
  }
  return total;
}

TEST(Wavefronts, EqualTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const int bytes = 1 << random() % 5, lanes = random() % 4 ? 32 : 1 + int(random() % 32);
    const std::uint32_t range = 1u << (7 + random() % 8);
    std::uint32_t at[32];
    bool active[32];
    const std::uint32_t stride = random() % 64, start = random() % 256;
    for (unsigned l = 0; l < 32; ++l) {
      at[l] =
          (random() % 2 ? random() % range : start + l * stride * unsigned(bytes)) / unsigned(bytes) * unsigned(bytes);
      active[l] = random() % 8 != 0;
    }
    const bool* mask = random() % 2 ? active : nullptr;
    ASSERT_EQ(wavefronts(at, mask, lanes, bytes), by_definition(at, mask, lanes, bytes)) << round;
    ASSERT_LE(ideal_wavefronts(mask, lanes, bytes), wavefronts(at, mask, lanes, bytes));
  }
}

constexpr unsigned column_of_a_tile() {
  std::uint32_t at[32] = {};
  for (unsigned l = 0; l < 32; ++l) at[l] = 128 * l;
  return wavefronts(at, nullptr, 32, 4);
}
static_assert(column_of_a_tile() == 32);

TEST(Wavefronts, NobodyTakesNone) {
  const std::uint32_t at[32] = {};
  const bool active[32] = {};
  EXPECT_EQ(wavefronts(at, active, 32, 16), 0u);
  EXPECT_EQ(ideal_wavefronts(active, 32, 16), 0u);
  EXPECT_EQ(wavefronts(at, nullptr, 32, 4), 1u);
}

}  // namespace
}  // namespace zellige::emulate
