// One algebra, two APIs: the same operation on types and on run-time values prints the same result.
#include <gtest/gtest.h>

#include <zellige/layout/evaluate.hpp>
#include <zellige/layout/print.hpp>

namespace zellige {
namespace {

#define SAME(op, expression, ...) EXPECT_EQ(to_text(expression), evaluate(op, {__VA_ARGS__}))

TEST(LayoutApis, AgreeOnStaticNumbers) {
  constexpr auto a = make_layout(Shape<_6, _2>{}, Stride<_8, _2>{});
  SAME("composition", composition(a, make_layout(Shape<_4, _3>{}, Stride<_3, _1>{})), "(_6,_2):(_8,_2)",
       "(_4,_3):(_3,_1)");
  SAME("zipped_divide", zipped_divide(a, Shape<_3, _2>{}), "(_6,_2):(_8,_2)", "(_3,_2)");
  SAME("complement", complement(Layout<_4, _2>{}, _24{}), "_4:_2", "_24");
  SAME("blocked_product", blocked_product(Layout<Shape<_2, _5>, Stride<_5, _1>>{}, Layout<Shape<_3, _4>>{}),
       "(_2,_5):(_5,_1)", "(_3,_4):(_1,_3)");
  SAME("left_inverse", left_inverse(Layout<Shape<_8, _4>, Stride<_4, _1>>{}), "(_8,_4):(_4,_1)");
}

/// Zeros of a profile, at whatever depth, make the extents under them 1.
TEST(LayoutApis, ZerosOfAProfile) {
  auto const l = make_layout(make_shape(_5{}, make_shape(4, _3{})), make_stride(_12{}, make_stride(_0{}, _4{})));
  EXPECT_EQ(to_text(filter_zeros(l, make_shape(_1{}, _0{}))), "(_5,(_1,_1)):(_12,(_0,_4))");
  SAME("filter_zeros_profile", filter_zeros(l, make_shape(_1{}, _0{})), "(_5,(4,_3)):(_12,(_0,_4))", "(_1,_0)");
  SAME("filter_zeros_profile", filter_zeros(l, make_shape(_0{}, make_shape(_2{}, _0{}))), "(_5,(4,_3)):(_12,(_0,_4))",
       "(_0,(_2,_0))");
  SAME("filter_zeros", filter_zeros(make_shape(_0{}, _2{}), make_shape(make_shape(4, _3{}), 5)), "(_0,_2)",
       "((4,_3),5)");
  EXPECT_THROW(evaluate("filter_zeros_profile", {"(_5,_4):(_1,_5)", "(_1,_0,_1)"}), LayoutError);
}

TEST(LayoutApis, TheMinimumOfOneNumberIsItself) {
  SAME("min", min(_8{}), "_8");
  SAME("max", max(8), "8");
  SAME("gcd", gcd(_8{}), "_8");
}
TEST(LayoutApis, TuplesInThePlaceOfLeaves) {
  SAME("repeat_like", repeat_like(Shape<_2, Shape<_3, _4>>{}, Shape<_7, Shape<_8>>{}), "(_2,(_3,_4))", "(_7,(_8))");
  EXPECT_THROW(evaluate("make_coord_tensor", {"(8,2):(_1@0,_1@0@0)"}), LayoutError);  // of two modules
}

/// A common vector has a static length: run-time extents promise none, and are asked nothing for the
/// answer 1.
TEST(LayoutApis, CommonVectorsAreStatic) {
  auto const a = make_layout(make_shape(8, _4{}), make_stride(_1{}, _8{}));
  constexpr auto b = Layout<Shape<_8, _4>>{};
  static_assert(decltype(max_common_vector(a, b))::value == 1 && decltype(max_common_vector(b, b))::value == 32);
  SAME("max_common_vector", max_common_vector(a, b), "(8,_4):(_1,_8)", "(_8,_4):(_1,_8)");
  SAME("max_common_layout", max_common_layout(a, b), "(8,_4):(_1,_8)", "(_8,_4):(_1,_8)");
  // Extent 3 does not fit the 2 that extent 12 leaves, which matters to no one.
  auto const c = make_layout(make_shape(12, _16{}), make_stride(_16{}, _1{}));
  auto const d = Layout<Shape<_8, Shape<_3, _8>>, Stride<_1, Stride<_64, _8>>>{};
  SAME("max_common_vector", max_common_vector(c, d), "(12,_16):(_16,_1)", "(_8,(_3,_8)):(_1,(_64,_8))");
  EXPECT_EQ(evaluate("max_common_vector", {"(12,_16):(_16,_1)", "(_8,(_3,_8)):(_1,(_64,_8))"}), "_1");
}

/// The skipped offset is added after the swizzle if it has no swizzled bit; a swizzle of no bits is the
/// identity.
TEST(LayoutApis, ComposedLayouts) {
  auto const inner =
      make_layout(make_shape(Shape<_8, _4>{}, Shape<_4, _2>{}), make_stride(Stride<_4, _64>{}, Stride<_1, _32>{}));
  auto const c = make_composed_layout(Swizzle<2, 3, 3>{}, _0{}, inner);
  char const* const text = "Sw<2,3,3> o _0 o ((_8,_4),(_4,_2)):((_4,_64),(_1,_32))";
  EXPECT_EQ(evaluate("slice_and_offset", {"(_,5)", text}), "(Sw<2,3,3> o _0 o ((_8,_4)):((_4,_64)),33)");
  SAME("slice_and_offset", slice_and_offset(make_coord(_, 5), c), "(_,5)", text);
  auto const part = slice_and_offset(make_coord(_, 5), c);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(get<0>(part)(i) + get<1>(part), c(make_coord(i, 5)));

  auto const none = make_composed_layout(Swizzle<0, 4, 3>{}, _0{}, Layout<Shape<_8, _8>>{});
  EXPECT_EQ(evaluate("composition", {"Sw<0,4,3> o _0 o (_8,_8):(_1,_8)", "(_4,_2)"}), "(_4,_2):(_1,_8)");
  SAME("composition", composition(none, Shape<_4, _2>{}), "Sw<0,4,3> o _0 o (_8,_8):(_1,_8)", "(_4,_2)");

  auto const block = make_composed_layout(Swizzle<2, 3, 3>{}, _0{}, Layout<Shape<_8, _8>>{});
  auto const product = blocked_product(block, Layout<Shape<_2, _2>>{});
  SAME("blocked_product", product, "Sw<2,3,3> o _0 o (_8,_8):(_1,_8)", "(_2,_2):(_1,_2)");
  for (int i = 0; i < 256; ++i) {
    int const m = i % 16, n = i / 16;
    EXPECT_EQ(product(make_coord(m, n)), (Swizzle<2, 3, 3>{}(m % 8 + 8 * (n % 8) + 64 * (m / 8 + 2 * (n / 8)))));
  }
  EXPECT_THROW(evaluate("composition", {"Sw<3,3,3>", "Sw<2,6,3>"}), LayoutError);  // would have 5 bits
}

TEST(LayoutApis, AgreeOnRunTimeNumbers) {
  for (int n : {8, 16, 40}) {
    auto const l = make_layout(make_shape(n, _8{}), make_stride(_8{}, _1{}));
    std::string const text = "(" + std::to_string(n) + ",_8):(_8,_1)";
    SAME("zipped_divide", zipped_divide(l, Shape<_4, _2>{}), text, "(_4,_2)");
    SAME("coalesce", coalesce(l), text);
    SAME("complement", complement(make_layout(n, _3{}), 240), std::to_string(n) + ":_3", "240");
  }
}

TEST(LayoutApis, RunTimeNumbersAreCheckedWhenTheyAreKnown) {
  auto const a = make_layout(make_shape(4, 6, 8), make_stride(2, 3, 5));
  try {
    composition(a, make_layout(6, 3));
    FAIL() << "nothing was refused";
  } catch (LayoutError const& e) {
    EXPECT_EQ(e.refusal.rule, Rule::composition_crossing);
    EXPECT_STREQ(e.what(),
                 "stride 3 of the right operand does not divide extent 4 of the mode of the left operand that "
                 "it crosses");
  }
}

TEST(LayoutApis, WideNumbersRemainWide) {
  long long const n = 1LL << 33;
  auto const l = make_layout(make_shape(n, _4{}), make_stride(_4{}, _1{}));
  EXPECT_EQ(size(logical_divide(l, Shape<_2>{})), n * 4);
  EXPECT_EQ(to_text(logical_divide(l, Shape<_2>{})), evaluate("logical_divide", {to_text(l), "(_2)"}));
}

}  // namespace
}  // namespace zellige
