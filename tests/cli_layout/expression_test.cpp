// The language of zellige layout: its meaning, and its error messages.
#include "view/expression.hpp"

#include <gtest/gtest.h>

#include <zellige/layout/evaluate.hpp>

namespace zellige::view {
namespace {

std::string value(const std::string& text) {
  try {
    return evaluate_expression(text).text;
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Expression, CallsOperationsByTheirNamesInCutesOrder) {
  EXPECT_EQ(value("logical_divide((8,8):(8,1), (2,2))"), "((2,4),(2,4)):((8,16),(1,2))");
  EXPECT_EQ(value("identity((4,8))"), "(4,8):(_1@0,_1@1)");
  EXPECT_EQ(value("get<1>((8,_8):(8,_1))"), "_8:_1");
  EXPECT_EQ(value("get((8,_8):(8,_1), 1)"), "_8:_1");
  EXPECT_EQ(value("select<1,0>((3,4):(4,1))"), "(4,3):(1,4)");
  EXPECT_EQ(value("upcast<4>(_128:_1)"), "_32:_1");
  EXPECT_EQ(value("recast_layout<half_t,float>((_8,_64):(_64,_1))"), "(_8,_32):(_32,_1)");
  EXPECT_EQ(value("make_swizzle<12,3>()"), "Sw<2,0,2>");
  EXPECT_EQ(value("make_layout((4,8), LayoutRight)"), "(4,8):(8,_1)");
  EXPECT_EQ(value("tile_to_shape(4:1, 8)"), value("tile_to_shape(4:1, 8, LayoutLeft)"));
  EXPECT_EQ(value("size((4,8))"), "32");
  EXPECT_EQ(value("compatible(24, (4,6))"), evaluate("compatible", {"24", "(4,6)"}));
}

TEST(Expression, ComposesInfix) {
  EXPECT_EQ(value("(6,2):(8,2) o (4,3):(3,1)"), evaluate("composition", {"(6,2):(8,2)", "(4,3):(3,1)"}));
  EXPECT_EQ(value("_64:_2 o _16:_2 o _4:_2"), "_4:_8");
  EXPECT_EQ(value("Sw<3,3,3> o (_8,_64):(_64,_1)"), "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
  EXPECT_EQ(value("Sw<3,3,3> o 16 o 8:1"), "Sw<3,3,3> o 16 o 8:1");
  EXPECT_EQ(value("Sw<2,4,3> o Sw<1,6,3>"), evaluate("composition", {"Sw<2,4,3>", "Sw<1,6,3>"}));
  EXPECT_EQ(value("ArithTuple(0,_0) o (4,8):(_1@0,_1@1)"), "ArithTuple(0,_0) o (4,8):(_1@0,_1@1)");
}

TEST(Expression, CallsAndSlices) {
  EXPECT_EQ(value("(8,8):(8,1)(2,3)"), "19");
  EXPECT_EQ(value("(8,8):(8,1)(_,3)"), "(8):(8)");
  EXPECT_EQ(value("(8,8):(8,1)(_,3)(5)"), "40");
  EXPECT_EQ(value("((2,4),8):((1,16),2)((1,_),_)"), value("slice(((1,_),_), ((2,4),8):((1,16),2))"));
  EXPECT_EQ(value("Sw<3,3,3>(77)"), "69");
  EXPECT_EQ(value("make_identity_tensor((4,8))(2,3)"), "(2,3)");
  EXPECT_EQ(value("local_tile(identity((256,64)), (_64,_32), (1,_))"),
            evaluate("local_tile", {"(256,64)", "(_64,_32)", "(1,_)"}));
}

TEST(Expression, ReadsTypesAsTheCompilerPrintsThem) {
  EXPECT_EQ(value("Layout<Shape<_4,Shape<_2,_3>>,Stride<_6,Stride<_1,_2>>>{}"), "(_4,(_2,_3)):(_6,(_1,_2))");
  EXPECT_EQ(value("Swizzle<2,3,3>{}"), "Sw<2,3,3>");
  EXPECT_EQ(value("make_shape(Int<4>{}, C<2>, 3)"), "(_4,_2,3)");
  EXPECT_EQ(value("Layout_K_SW128_Atom<half_t>{}"), evaluate("gmma_smem_atom", {"K", "SW128", "half_t"}));
  EXPECT_EQ(value("tiled_mma_layout_tv(SM80_16x8x16_F32F16F16F32_TN, (_1,_1,_1):(_0,_0,_0), (_,_,_), C)"),
            "((_4,_8),((_2,_2),(_1,_1))):((_32,_1),((_16,_8),(_0,_0)))");
}

TEST(Expression, RefusalsNameTheOperandsAndShowThePlace) {
  EXPECT_EQ(value("size((6,2):(8,2) o 4:4)"),
            "composition((6,2):(8,2), 4:4): stride 4 of the right operand does not divide extent 6 of the "
            "mode of the "
            "left operand that it crosses\n"
            "  size((6,2):(8,2) o 4:4)\n"
            "       ^~~~~~~~~~~~~~~~~");
  EXPECT_EQ(value("composition((8,8):(8,1), half)"),
            "composition takes (layout, tiler), (layout, layout), (layout, swizzle), (swizzle, swizzle) or "
            "(swizzle, layout); its operand 2 is the word half\n"
            "  composition((8,8):(8,1), half)\n"
            "                           ^~~~");
  EXPECT_EQ(value("size()"),
            "size takes (layout, mode or count, ...) or (numbers); 0 operands are given\n  size()\n  ^~~~~~");
  EXPECT_EQ(value("compositin(4:1, 2)"),
            "compositin is no operation; zellige layout --list shows them; did you mean composition?\n  "
            "compositin(4:1, 2)\n  "
            "^~~~~~~~~~~~~~~~~~");
}

// After a layout as after a swizzle.
TEST(Expression, ComposedLayoutsAreEvaluated) {
  std::string const rows = "(_4,_8):(_8,_1) o _0 o (_10,_3):(_1,_10)";
  EXPECT_EQ(value(rows), rows);
  EXPECT_EQ(value("make_composed_layout((_4,_8):(_8,_1), _0, (_10,_3):(_1,_10))"), rows);
  EXPECT_EQ(value("(" + rows + ")(25)"), "14");
  EXPECT_EQ(value("layout_eval(" + rows + ", (5,2))"), "14");
  EXPECT_EQ(value("slice((_,2), " + rows + ")"), "(_4,_8):(_8,_1) o 20 o (_10):(_1)");
  EXPECT_EQ(value("cosize(" + rows + ")"), "_31");
  EXPECT_EQ(value("max_common_vector(_8:_1, _32:_4 o _0 o _8:_1)"), "_1");
  EXPECT_EQ(value("upcast(_32:_4 o _0 o _8:_1, 2)"), "_8:_2");
  EXPECT_EQ(value("composition((_4,_8):(_8,_1), Sw<1,0,2> o _0 o (_8,_4):(_4,_1))"),
            "Sw<1,0,-3> o _0 o (_8,_4):(_1,_8)");
  EXPECT_EQ(value("composition((_4,_8):(_8,_1), Sw<1,0,2> o 3 o (_8,_4):(_4,_1))"),
            "(_4,_8):(_8,_1) o _0 o Sw<1,0,2> o 3 o (_8,_4):(_4,_1)");
  EXPECT_EQ(value("(Sw<1,0,2> o _1 o (_4,_8):(_8,_1) o _0 o _8:_2)(3)"), "18");
  EXPECT_EQ(value("(counting_iter(5) o (_4,_8):(_8,_1) o _0 o (_4,_8):(_1,_4))((_,3))"),
            "counting_iter(5) o (_4,_8):(_8,_1) o 12 o (_4):(_1)");
  EXPECT_EQ(value("(counting_iter(5) o (_4,_8):(_8,_1) o _0 o (_4,_8):(_1,_4))(9)"), "15");
  EXPECT_EQ(value("make_composed_layout(3, 0, 4:1)"),
            "make_composed_layout(3, 0, 4:1): a composed layout is a swizzle or a layout, an offset and a layout\n"
            "  make_composed_layout(3, 0, 4:1)\n"
            "  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(value("upcast(" + rows + ", 2)").substr(0, 80),
            "upcast((_4,_8):(_8,_1) o _0 o (_10,_3):(_1,_10), 2): extent 10 of the right oper");
}

TEST(Expression, SyntaxErrorsShowThePlace) {
  EXPECT_EQ(value("(8,8):(8,"), "a number is expected\n  (8,8):(8,\n           ^");
  EXPECT_EQ(value(""), "a number is expected\n  \n  ^");
  EXPECT_EQ(value("4:1 )"), "the end is expected\n  4:1 )\n      ^");
  EXPECT_EQ(value("2 + (8,8):(8)"), "the end is expected\n  2 + (8,8):(8)\n    ^");
  EXPECT_EQ(value("size((8,8):(8))"), "the profiles differ: 2 modes against 1\n  size((8,8):(8))\n       ^");
  EXPECT_EQ(value("(4,-2):(1,4)"), "the extent -2 is negative\n  (4,-2):(1,4)\n  ^");
  EXPECT_EQ(value("Sw<3,3,1>"),
            "a swizzle's bits and base are at least 0, its shift at least its bits, and all within 62 bits, "
            "which is not "
            "so\n  Sw<3,3,1>\n     ^");
  EXPECT_EQ(value(std::string(100, '(')),
            "shallower nesting is expected\n  " + std::string(100, '(') + "\n  " + std::string(64, ' ') + "^");
  EXPECT_EQ(value(std::string(20000, '4')), "the expression has 20000 characters, more than 16384");
}

TEST(Expression, ALongTextIsShownAroundThePlace) {
  const std::string text = std::string(90, ' ') + "(4,8):(1" + std::string(90, ' ') + "x";
  EXPECT_EQ(value(text), ") is expected\n  " + text.substr(text.size() - 51) + "\n  " + std::string(50, ' ') + "^");
}

}  // namespace
}  // namespace zellige::view
