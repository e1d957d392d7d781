// The suggested layout has the predicted wavefronts, and no cheaper one has fewer.
#include <random>
#include <set>

#include "shorthand.hpp"

namespace zellige::view {
namespace {

struct Case {
  std::string layout;
  int bits;
  std::vector<std::string> accesses;
};
Remedies remedied(const Case& c) {
  const auto l = shared(c.layout, c.bits);
  std::vector<WarpPattern> all;
  for (const std::string& a : c.accesses) all.push_back(parse_access(a, l));
  return remedies(all, l);
}
long long wavefronts_under(const Case& c, const SharedLayout& arranged) {
  const auto l = shared(c.layout, c.bits);
  long long total = 0;
  for (const std::string& a : c.accesses) total += conflicts(parse_access(a, l), arranged).wavefronts;
  return total;
}

const std::vector<Case> cases = {
    {"(64,64):(64,1)", 16, {"ldmatrix.x4"}},
    {"(64,32):(32,1)", 16, {"ldmatrix.x4", "st.shared.v4"}},
    {"(64,64):(1,64)", 16, {"ldmatrix.x4.trans", "st.shared.v4"}},
    {"(32,32):(32,1)", 32, {"32:1", "32:32"}},
    {"(16,16):(16,1)", 16, {"((4,8),(2,2)):((32,1),(16,8))"}},
    {"(16,32):(32,1)", 8, {"ldmatrix.x2"}},
    {"(32,96):(96,1)", 16, {"ldmatrix.x4"}},
    {"((8,4),64):((64,512),1)", 16, {"ldmatrix.x4"}},
    {"(64,64):(64,1)", 4, {"ldmatrix.x1"}},
};

TEST(Remedies, KeepTheirWord) {
  for (const Case& c : cases) {
    const Remedies r = remedied(c);
    ASSERT_FALSE(r.all.empty()) << c.layout;
    for (const Remedy& m : r.all) {
      const SharedLayout arranged(m.layout, c.bits);
      EXPECT_EQ(m.wavefronts, wavefronts_under(c, arranged)) << to_text(m.layout);
      EXPECT_EQ(m.extra_bytes, arranged.bytes() - shared(c.layout, c.bits).bytes()) << to_text(m.layout);
      // No two elements in one place.
      std::set<long long> places;
      for (long long i = 0; i < arranged.elements(); ++i) EXPECT_TRUE(places.insert(arranged.offset(i)).second);
    }
    EXPECT_EQ(r.all[0].degree, 1) << c.layout << ": " << r.reason;
    EXPECT_EQ(r.all[0].extra_bytes, 0) << c.layout;
  }
}

TEST(Remedies, NoSwizzleHasFewerWavefronts) {
  for (const Case& c : cases) {
    const auto unswizzled = shared(c.layout, c.bits);
    const Remedies r = remedied(c);
    long long minimum = wavefronts_under(c, unswizzled);
    for (int b = 1; b <= 5; ++b) {
      for (int m = 0; m <= 7; ++m) {
        for (int s = b; b + m + s < 14; ++s) {
          const SharedLayout arranged(algebra::composed(swizzle_value(b, m, s), number(0), unswizzled.unswizzled()),
                                      c.bits);
          try {
            minimum = std::min(minimum, wavefronts_under(c, arranged));
          } catch (const Error&) {  // separates a lane's bytes
          }
        }
      }
    }
    ASSERT_FALSE(r.all.empty());
    EXPECT_LE(r.all[0].wavefronts, minimum) << c.layout;
  }
}

TEST(Remedies, TheSwizzlesOfTheHardwareAreNamed) {
  EXPECT_EQ(to_text(remedied(cases[0]).all[0].layout), "Sw<3,3,3> o _0 o (64,64):(64,1)");
  EXPECT_EQ(remedied(cases[0]).all[0].hardware, "128-byte swizzle of TMA and WGMMA");
  EXPECT_EQ(remedied(cases[1]).all[0].hardware, "64-byte swizzle of TMA and WGMMA");
  EXPECT_EQ(remedied(cases[3]).all[0].hardware, "");
  EXPECT_EQ(to_text(remedied(cases[3]).all[1].layout), "(32,32):(33,1)");
}

TEST(Remedies, OneArrangementServesAllAccesses) {
  // Either access alone has a remedy that the other would pay for.
  const Case both = {"(32,32):(32,1)", 32, {"32:1", "32:32", "ld.shared.b32 (8,4):(1,256)"}};
  const Remedies r = remedied(both);
  ASSERT_FALSE(r.all.empty());
  EXPECT_EQ(r.all[0].degree, 1) << to_text(r.all[0].layout);
  EXPECT_EQ(wavefronts_under(both, SharedLayout(r.all[0].layout, 32)), 3);
}

TEST(Remedies, WhereNoneHelpsTheReasonSaysSo) {
  const Remedies r = remedied({"(32,32):(32,1)", 16, {"ld.shared.v4", "ld.shared.u16 32:1"}});
  ASSERT_FALSE(r.all.empty());
  EXPECT_EQ(r.all[0].degree, 4);
  EXPECT_EQ(r.reason,
            "Swizzle<2,3,3>: ld.shared.u16 32:1 keeps a conflict of degree 4, 20 wavefronts of an ideal 17 "
            "in all; no "
            "arrangement of its chunks has fewer");
}

}  // namespace
}  // namespace zellige::view
