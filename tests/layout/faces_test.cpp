// One algebra, two faces: the same operation on types and on run-time values, printed, is the same text.
#include <gtest/gtest.h>

#include <zellige/layout/evaluate.hpp>
#include <zellige/layout/print.hpp>

namespace zellige {
namespace {

#define SAME(op, expression, ...) EXPECT_EQ(to_text(expression), evaluate(op, {__VA_ARGS__}))

TEST(Faces, AgreeOnStaticNumbers) {
  constexpr auto a = make_layout(Shape<_6, _2>{}, Stride<_8, _2>{});
  SAME("composition", composition(a, make_layout(Shape<_4, _3>{}, Stride<_3, _1>{})), "(_6,_2):(_8,_2)",
       "(_4,_3):(_3,_1)");
  SAME("zipped_divide", zipped_divide(a, Shape<_3, _2>{}), "(_6,_2):(_8,_2)", "(_3,_2)");
  SAME("complement", complement(Layout<_4, _2>{}, _24{}), "_4:_2", "_24");
  SAME("blocked_product", blocked_product(Layout<Shape<_2, _5>, Stride<_5, _1>>{}, Layout<Shape<_3, _4>>{}),
       "(_2,_5):(_5,_1)", "(_3,_4):(_1,_3)");
  SAME("left_inverse", left_inverse(Layout<Shape<_8, _4>, Stride<_4, _1>>{}), "(_8,_4):(_4,_1)");
}

TEST(Faces, AgreeOnRunTimeNumbers) {
  for (int n : {8, 16, 40}) {
    auto const l = make_layout(make_shape(n, _8{}), make_stride(_8{}, _1{}));
    std::string const text = "(" + std::to_string(n) + ",_8):(_8,_1)";
    SAME("zipped_divide", zipped_divide(l, Shape<_4, _2>{}), text, "(_4,_2)");
    SAME("coalesce", coalesce(l), text);
    SAME("complement", complement(make_layout(n, _3{}), 240), std::to_string(n) + ":_3", "240");
  }
}

TEST(Faces, RunTimeNumbersAreCheckedWhenTheyAreKnown) {
  auto const a = make_layout(make_shape(4, 6, 8), make_stride(2, 3, 5));
  try {
    composition(a, make_layout(6, 3));
    FAIL() << "nothing was refused";
  } catch (LayoutError const& e) {
    EXPECT_EQ(e.refusal.rule, Rule::composition_crossing);
    EXPECT_STREQ(
        e.what(),
        "stride 3 of the right operand does not divide extent 4 of the mode of the left operand that "
        "it continues past");
  }
}

TEST(Faces, WideNumbersStayWide) {
  long long const n = 1LL << 33;
  auto const l = make_layout(make_shape(n, _4{}), make_stride(_4{}, _1{}));
  EXPECT_EQ(size(logical_divide(l, Shape<_2>{})), n * 4);
  EXPECT_EQ(to_text(logical_divide(l, Shape<_2>{})), evaluate("logical_divide", {to_text(l), "(_2)"}));
}

}  // namespace
}  // namespace zellige
