// The steps of an operation lead to its result.
#include "view/steps.hpp"

#include <gtest/gtest.h>

#include <zellige/layout/runtime.hpp>

#include "graph/error.hpp"
#include "view/expression.hpp"

namespace zellige::view {
namespace {

std::vector<std::string> lines(const std::string& expression) { return steps(expression, {}).lines; }

// That two layouts are the same function on n linear coordinates.
void same_function(const std::string& found, const std::string& result, long long n, const std::string& of) {
  const Value a = parse_value(found), b = parse_value(result);
  const Indexer left(a), right(b);
  for (long long i = 0; i < n; ++i)
    ASSERT_EQ(left(i), right(i)) << of << ": " << found << " and " << result << " at " << i;
}

TEST(Steps, OfACompositionLeadToItsResult) {
  int taken = 0;
  for (const char* a :
       {"(_6,_2):(_8,_2)", "(_4,_8):(_8,_1)", "(_2,_3,_4):(_1,_8,_2)", "(_8,(_2,_4)):(_16,(_1,_4))", "_24:_3"})
    for (const int extent : {1, 2, 3, 4, 6, 8})
      for (const int stride : {0, 1, 2, 3, 4, 6, 8, 12}) {
        const std::string text = fmt::format("composition({}, _{}:_{})", a, extent, stride);
        std::vector<std::string> all;
        try {
          all = lines(text);
        } catch (const Error&) {
          continue;  // the operands are refused
        }
        ASSERT_GE(all.size(), 3u) << text;
        same_function(all[all.size() - 2].substr(2), all.back().substr(8), extent, text);
        ++taken;
      }
  EXPECT_GT(taken, 100);
}

TEST(Steps, OfAComplementLeadToItsResult) {
  for (const char* l : {"_4:_2", "(_2,_2):(_1,_6)", "_6:_1", "(_2,_4):(_8,_1)", "_1:_0", "(_3,_2):(_4,_24)"})
    for (const int size : {24, 48, 96}) {
      const std::string text = fmt::format("complement({}, _{})", l, size);
      const std::vector<std::string> all = lines(text);
      const std::string found = all[all.size() - 2], head = "the gaps are ";
      ASSERT_EQ(found.substr(0, head.size()), head);
      const std::string result = all.back().substr(8);
      Tape t;
      long long n = 1;
      for (const ValueNode& node : leaves_of(parse_value(result))) n *= node.s.v;
      same_function(found.substr(head.size()), result, n, text);
    }
}

TEST(Steps, AreWhatAStudentReads) {
  EXPECT_EQ(lines("(_6,_2):(_8,_2) o _4:_3"),
            (std::vector<std::string>{"4:3 takes 4 elements of A with stride 3",
                                      "  of mode 6:8 every 3: 2 elements, stride 3 * 8 = 24; 4 / 2 = 2 are left",
                                      "  of mode 2:2 every 1: 2 elements, stride 1 * 2 = 2; 2 / 2 = 1 are left",
                                      "  (2,2):(24,2)", "result: (_2,_2):(_24,_2)"}));
  const std::vector<std::string> swizzle = lines("Sw<3,0,3> o (8,8):(8,1)");
  EXPECT_EQ(swizzle[0], "Sw<3,0,3> XORs bits 3..5 of an offset into its bits 0..2");
  EXPECT_EQ(swizzle[3], "  offset 24: 000 XOR 011 = 011, so 27");
  const Picture divided = steps("logical_divide((8,12):(12,1), (4,3))", {}).picture;
  ASSERT_EQ(divided.grids.size(), 3u);
  EXPECT_EQ(divided.grids[0].cells[0].colour.hex(),
            divided.grids[0].cells[14].colour.hex());  // (0,0) and (1,2): one tile
  EXPECT_NE(divided.grids[0].cells[0].colour.hex(), divided.grids[0].cells[3].colour.hex());
  EXPECT_EQ(lines("blocked_product((_2,_2):(_2,_1), (_2,_4):(_4,_1))").back(),
            "result: ((_2,_2),(_2,_4)):((_2,_16),(_1,_4))");
}

TEST(Steps, OfOtherOperationsAreRefused) {
  try {
    lines("size((8,8):(8,1))");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "--steps: size((8,8):(8,1)) has no steps; composition, A o B, complement, logical_divide, "
                 "logical_product, blocked_product and "
                 "raked_product have");
  }
}

}  // namespace
}  // namespace zellige::view
