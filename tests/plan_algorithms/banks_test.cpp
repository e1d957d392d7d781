#include "predict/banks.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "failure.hpp"

using namespace zellige;

namespace {

predict::BankAccess strided(int bytes, int lanes, std::int64_t stride) {
  predict::BankAccess a{.bytes = bytes};
  for (int l = 0; l < lanes; ++l) a.address.push_back(l * stride);
  return a;
}

// Byte by byte: which words of which bank a phase touches.
int by_bytes(const predict::BankAccess& a, int first, int count, int banks, int bank_bytes) {
  std::map<std::int64_t, std::set<std::int64_t>> words;
  std::size_t worst = 0;
  for (int l = first; l < std::min<int>(first + count, a.address.size()); ++l)
    for (int b = 0; a.address[l] >= 0 && b < a.bytes; ++b) {
      const std::int64_t word = (a.address[l] + b) / bank_bytes;
      words[word % banks].insert(word);
      worst = std::max(worst, words[word % banks].size());
    }
  return static_cast<int>(worst);
}

}  // namespace

TEST(Banks, KnownAccesses) {
  EXPECT_EQ(predict::evaluate(strided(4, 32, 4)).total, 1);
  EXPECT_EQ(predict::evaluate(strided(4, 32, 128)).degree, 32);
  EXPECT_EQ(predict::evaluate(strided(4, 32, 132)).degree, 1);  // the textbook's padding by one word
  EXPECT_EQ(predict::evaluate(strided(4, 32, 8)).degree, 2);
  EXPECT_EQ(predict::evaluate(strided(4, 32, 0)).total, 1);  // broadcast
  EXPECT_EQ(predict::evaluate(strided(2, 32, 2)).total, 1);  // two lanes a word
  EXPECT_EQ(predict::evaluate(strided(8, 32, 8)).per_phase, (std::vector<int>{1, 1}));
  EXPECT_EQ(predict::evaluate(strided(16, 32, 16)).per_phase, (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(predict::evaluate(strided(16, 32, 128)).total, 32);  // ldmatrix.x4 of rows of 64 halves: degree 8
  EXPECT_EQ(predict::evaluate(strided(16, 8, 144)).total, 1);    // ldmatrix.x1 of rows of 72 halves
  EXPECT_EQ(predict::evaluate(strided(16, 16, 144)).ideal, 2);   // ldmatrix.x2
}

TEST(Banks, InactiveLanesCostNothing) {
  predict::BankAccess a = strided(4, 32, 128);
  for (int l = 1; l < 32; ++l) a.address[l] = -1;
  EXPECT_EQ(predict::evaluate(a).total, 1);
  a.address[0] = -1;
  EXPECT_EQ(predict::evaluate(a).total, 0);
  EXPECT_EQ(predict::evaluate(a).ideal, 0);
  EXPECT_EQ(predict::evaluate(a).degree, 0);
  predict::BankAccess quarter = strided(16, 32, 16);
  for (int l = 8; l < 16; ++l) quarter.address[l] = -1;
  EXPECT_EQ(predict::evaluate(quarter).per_phase, (std::vector<int>{1, 0, 1, 1}));
  EXPECT_EQ(predict::evaluate(quarter).ideal, 3);
}

TEST(Banks, EqualsCountingBytes) {
  std::mt19937 rng(5);
  const int lanes_of_phase[] = {32, 32, 32, 16, 8};
  for (int i = 0; i < 4000; ++i) {
    const int log = rng() % 5, bytes = 1 << log, spread = 1 << (3 + rng() % 8);
    predict::BankAccess a{.bytes = bytes};
    const int lanes = 1 + rng() % 32;
    for (int l = 0; l < lanes; ++l) a.address.push_back(rng() % 6 == 0 ? -1 : std::int64_t(rng() % spread) * bytes);
    const predict::Wavefronts w = predict::evaluate(a);
    int total = 0, degree = 0, ideal = 0;
    std::size_t phase = 0;
    for (int first = 0; first < lanes; first += lanes_of_phase[log], ++phase) {
      const int expected = by_bytes(a, first, lanes_of_phase[log], 32, 4);
      ASSERT_LT(phase, w.per_phase.size());
      EXPECT_EQ(w.per_phase[phase], expected);
      total += expected, degree = std::max(degree, expected), ideal += expected > 0;
    }
    EXPECT_EQ(phase, w.per_phase.size());
    EXPECT_EQ(w.total, total);
    EXPECT_EQ(w.degree, degree);
    EXPECT_EQ(w.ideal, ideal);
  }
}

TEST(Banks, OtherBanks) {
  EXPECT_EQ(predict::evaluate(strided(4, 16, 64), 16, 4).degree, 16);
  EXPECT_EQ(predict::evaluate(strided(8, 32, 8), 32, 8).total, 1);
}

TEST(Banks, BadInputSaysWhatIsWrong) {
  EXPECT_EQ(failure([] { predict::evaluate({.bytes = 12, .address = {0}}); }),
            "banks: an access of 12 bytes per lane; 1, 2, 4, 8 or 16 are possible");
  EXPECT_EQ(failure([] {
              predict::evaluate({.bytes = 8, .address = {0, 12}});
            }),
            "banks: lane 1 accesses 8 bytes at address 12; a multiple of 8, or -1 for an inactive lane, is needed");
  EXPECT_EQ(failure([] { predict::evaluate({.bytes = 4, .address = {-8}}); }),
            "banks: lane 0 accesses 4 bytes at address -8; a multiple of 4, or -1 for an inactive lane, is needed");
  EXPECT_EQ(failure([] { predict::evaluate({}, 0); }), "banks: 0 banks of 4 bytes; both must be positive");
}
