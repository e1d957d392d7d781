// Values as strings: parsed values print the same, and errors report their position.
#include <gtest/gtest.h>

#include <zellige/layout/evaluate.hpp>

namespace zellige {
namespace {

TEST(Text, ParsesWhatItPrints) {
  for (char const* s : {"_4", "-3", "_-3", "()", "(1)", "(_4,(2,_3))", "_8:_2", "((_4,3),_2):((_1,5@1@0),_-4)",
                        "(_4:_1,(2,3):(1,2),_)", "Sw<2,1,3> o _0 o (_4,_2):(_2,_1)", "ArithTuple(0,_0) o 4:_1@0"}) {
    EXPECT_EQ(to_text(parse_value(s)), s);
  }
}

TEST(Text, SaysWhereItStopsUnderstanding) {
  auto message = [](char const* s) -> std::string {
    try {
      parse_value(s);
    } catch (LayoutError const& e) {
      return e.what();
    }
    return "read";
  };
  EXPECT_EQ(message("(4,8"), "\"(4,8\": ) is expected at character 5");
  EXPECT_EQ(message("(4,8):(1)"), "\"(4,8):(1)\": the profiles differ: 2 modes against 1");
  EXPECT_EQ(message("4:1 x"), "\"4:1 x\": the end is expected at character 5");
  EXPECT_EQ(message("Sw<1,2>"), "\"Sw<1,2>\": , is expected at character 7");
}

TEST(Text, RefusalsNameOperationRuleAndNumbers) {
  try {
    evaluate("composition", {"(6,2):(8,2)", "4:4"});
    FAIL();
  } catch (LayoutError const& e) {
    EXPECT_STREQ(e.what(),
                 "composition: stride 4 of the right operand does not divide extent 6 of the mode of the left "
                 "operand that it crosses");
  }
}

TEST(Text, ValuesByAFormula) {
  EXPECT_EQ(evaluate("print_tensor_values", {"int", "_4:_1", "i%3*2-1"}), "   -1\n    1\n    3\n   -1\n");
  EXPECT_EQ(evaluate("print_tensor_values", {"int8", "(_2,_2):(_1,_2)", "i*5"}), "  0  10\n  5  15\n");
  EXPECT_EQ(evaluate("print_tensor_values", {"uint64_t", "_2:_1", "i+7"}), "    7\n    8\n");
  try {
    evaluate("print_tensor_values", {"int", "_4:_1", "i/3"});
    FAIL();
  } catch (LayoutError const& e) {
    EXPECT_STREQ(e.what(), "formula \"i/3\": numbers, i, +, -, * and % are understood, character 2 is not");
  }
}

TEST(Text, DrawsTables) {
  EXPECT_EQ(evaluate("print_layout", {"(2,2):(2,1)"}),
            "(2,2):(2,1)\n      0   1 \n    +---+---+\n 0  | 0 | 1 |\n    +---+---+\n 1  | 2 | 3 |\n    "
            "+---+---+\n");
}

}  // namespace
}  // namespace zellige
