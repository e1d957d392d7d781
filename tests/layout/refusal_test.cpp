// Mistakes that the compiler must report: one error, whose line contains the mistake in words and
// the numbers.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

struct Report {
  int errors = 0;
  int lines = 0;
  std::string first;
};
Report compile(std::string const& statement) {
  std::string const file = testing::TempDir() + "zellige_refusal.cpp";
  std::FILE* f = std::fopen(file.c_str(), "w");
  std::fprintf(f,
               "#include <zellige/tensor.hpp>\nusing namespace zellige;\n"
               "void mistake([[maybe_unused]] int n) {\n  Layout<Shape<_4, _8>> l;\n  (void)l;\n  %s\n}\n",
               statement.c_str());
  std::fclose(f);
  std::string const command =
      std::string(ZELLIGE_CXX " -std=c++20 -fsyntax-only -I " ZELLIGE_SOURCE_DIR "/include ") + file + " 2>&1";
  std::FILE* out = popen(command.c_str(), "r");
  Report r;
  char line[4000];
  while (std::fgets(line, sizeof line, out) != nullptr) {
    ++r.lines;
    std::string const s = line;
    if (s.find("error:") != std::string::npos && r.errors++ == 0) r.first = s.substr(s.find("error:"));
  }
  pclose(out);
  return r;
}
void expect(std::string const& statement, std::initializer_list<char const*> words) {
  Report const r = compile(statement);
  EXPECT_EQ(r.errors, 1) << statement;
  EXPECT_LE(r.lines, 26) << statement;
  for (char const* w : words)
    EXPECT_NE(r.first.find(w), std::string::npos) << statement << "\n" << r.first << "\nlacks " << w;
}

TEST(Refusal, TheBaselineCompiles) { EXPECT_EQ(compile("").errors, 0); }
TEST(Refusal, UnsoundComposition) {
  expect("composition(make_layout(Shape<_4, _6, _8>{}, Stride<_2, _3, _5>{}), Layout<_6, _3>{});",
         {"stride_of_the_right_operand_does_not_divide_the_extent_it_crosses", "composition", "3", "4"});
}
// A number that is known only at run time is named so; no number stands for it.
TEST(Refusal, NumbersKnownOnlyAtRunTime) {
  expect("logical_divide(make_layout(n), _0{});", {"division_of_a_run_time_number_by_zero", "logical_divide]"});
  expect("logical_divide(Layout<_8>{}, _0{});", {"division_by_zero", "numerator = 8", "denominator = 0"});
  expect("ceil_div(n, _0{});", {"division_of_a_run_time_number_by_zero", "ceil_div]"});
  expect("downcast<2>(make_layout(8, n));",
         {"downcast_needs_a_mode_of_stride_1_and_the_strides_are_run_time_numbers", "factor = 2"});
  expect("left_inverse(make_layout(make_shape(_4{}, _2{}), make_stride(_1{}, n)));",
         {"a_static_number_is_needed_here_in_place_of_a_run_time_number", "left_inverse]"});
  expect("left_inverse(make_composed_layout(Swizzle<2, 0, 3>{}, n, Layout<_32>{}));",
         {"the_composed_layout_starts_at_a_run_time_offset_and_not_at_0", "left_inverse]"});
}
// What is no operand of the algebra is refused where it enters, and is not named with its type.
TEST(Refusal, OperandsOfTheWrongKind) {
  expect("composition(l, make_tensor<float>(l));",
         {"an_operand_is_neither_a_layout_nor_a_tuple_nor_an_integer", "composition", "operand = 2", "operands = 2"});
  expect("logical_divide(make_layout(n), make_tile(make_tensor<float>(l), _2{}));",
         {"an_operand_is_neither_a_layout_nor_a_tuple_nor_an_integer", "logical_divide", "operand = 2"});
  expect("struct Foreign {}; coalesce(make_tuple(Foreign{}, 3));",
         {"an_operand_is_neither_a_layout_nor_a_tuple_nor_an_integer", "operand = 1", "operands = 1"});
  expect("l(1, make_tensor<float>(l));", {"a_coordinate_is_neither_a_number_nor_a_tuple_of_numbers"});
  expect("crd2idx(make_coord(1, 2), make_tensor<float>(l));", {"the_shape_is_neither_a_number_nor_a_tuple_of_numbers"});
}
TEST(Refusal, CountMismatchInACopy) {
  expect("copy(make_tensor<float>(Shape<_4, _8>{}), make_tensor<float>(Shape<_16>{}));",
         {"sizes_differ_in_a_mode", "copy", "32", "16"});
}
TEST(Refusal, SizeMismatchInACopy) {
  expect("copy(make_tensor<float>(Shape<_4, _8>{}), make_tensor<float>(Shape<_4, _4>{}));",
         {"sizes_differ", "copy", "8", "4"});
}
TEST(Refusal, StaticNumbersBeyond64Bits) {
  expect("(void)(C<4611686018427387904>{} * _3{});",
         {"the_static_result_does_not_fit_64_bits", "4611686018427387904", "3"});
  expect("Layout<Shape<_4, _4>, Stride<C<4611686018427387904>, _1>>{}(_3{}, _0{});",
         {"the_static_result_does_not_fit_64_bits", "4611686018427387904", "3"});
}
TEST(Refusal, ANegativeStaticExtent) {
  expect("size(Layout<Shape<Int<-3>, _4>, Stride<_1, _3>>{});", {"a static extent is negative", "0 or more"});
}
TEST(Refusal, TooManyCoordinates) { expect("l(1, 2, 3);", {"wrong_number_of_coordinates", "3", "2"}); }
TEST(Refusal, RunTimeShapeOfAnOwningTensor) {
  expect("make_tensor<float>(make_shape(n, _4{}));", {"owns its elements", "static layout"});
}
TEST(Refusal, SwappedOperandsOfGemm) {
  expect(
      "auto a = make_tensor<float>(Shape<_8, _4>{}); auto b = make_tensor<float>(Shape<_16, _4>{}); "
      "auto c = make_tensor<float>(Shape<_8, _16>{}); gemm(b, a, c);",
      {"sizes_differ", "gemm", "16", "8"});
}
TEST(Refusal, ModeOutOfRange) { expect("get<5>(l);", {"mode_is_out_of_range", "5", "2"}); }
TEST(Refusal, ShapeAndStrideNotCongruent) {
  expect("make_layout(Shape<_4, _8>{}, Stride<_1>{});", {"shape and stride differ in profile"});
}
TEST(Refusal, SliceOfTheWrongProfile) {
  expect("l(make_coord(_, make_coord(_, 2)));", {"coordinate_and_layout_differ_in_rank", "2", "1"});
}
TEST(Refusal, DivideByMoreModesThanThereAre) {
  expect("zipped_divide(l, Shape<_2, _2, _2>{});",
         {"the_tiler_has_more_modes_than_the_layout", "zipped_divide", "3", "2"});
}

// Operations without a meaning for composed layouts are one error, too.
TEST(Refusal, ComposedLayoutsWhereTheyHaveNoMeaning) {
  std::string const layouts =
      "auto rows = Layout<Shape<_4, _8>, Stride<_8, _1>>{}; auto swizzled = "
      "composition(Swizzle<2, 0, 3>{}, rows); auto broken = make_composed_layout(rows, _0{}, "
      "Layout<Shape<_10, _3>, Stride<_1, _10>>{}); auto later = make_composed_layout(rows, _4{}, "
      "Layout<_4>{}); "
      "(void)rows; (void)swizzled; (void)broken; (void)later; ";
  expect(layouts + "complement(swizzled, _64{});",
         {"an_operand_is_a_composed_layout_where_an_uncomposed_one_is_needed", "complement"});
  expect(layouts + "logical_product(rows, swizzled);",
         {"an_operand_is_a_composed_layout_where_an_uncomposed_one_is_needed", "logical_product", "2"});
  expect(layouts + "coshape(swizzled);",
         {"an_operand_is_a_composed_layout_where_an_uncomposed_one_is_needed", "coshape"});
  expect(layouts + "right_inverse(later);", {"the_composed_layout_does_not_start_at_offset_0", "right_inverse", "1"});
  for (char const* statement : {"upcast<2>(broken);", "downcast<2>(broken);", "left_inverse(broken);"})
    expect(layouts + statement,
           {"extent_of_the_right_operand_is_not_a_multiple_of_what_the_left_mode_offers", "10", "4"});
  expect(layouts + "blocked_product(make_composed_layout(rows, _0{}, Layout<_32>{}), Layout<_2>{});",
         {"the_left_layout_of_the_composed_block_is_not_injective", "blocked_product", "64", "32"});
  expect(layouts + "upcast<2>(make_composed_layout(Swizzle<2, 0, -3>{}, _0{}, rows));",
         {"the_layout_does_not_take_the_swizzle_to_a_swizzle", "upcast"});
  expect(layouts + "get_swizzle_portion(broken);", {"its left part is a layout, not a swizzle"});
}

// A user's module has addition and multiples, but no comparison, division or magnitude.
TEST(Refusal, WhatAUserModuleHasNot) {
  std::string const pixels =
      "struct Pixel { int right, down; Pixel operator+(Pixel p) const { return p; } };"
      "auto p = make_layout(Shape<_4, _6>{}, make_stride(Pixel{}, Pixel{})); ";
  for (char const* statement :
       {"complement(p, _64{});", "left_inverse(p);", "filter(p);", "logical_product(p, _2{});", "max_alignment(p);"})
    expect(pixels + statement, {"strides_of_a_user_module_cannot_be_compared_or_divided", "Pixel"});
  for (char const* statement : {"composition(Layout<_64>{}, p);", "zipped_divide(Layout<_64>{}, p);"})
    expect(pixels + statement, {"a_right_operand_chooses_coordinates_and_has_no_strides_of_a_user_module", "Pixel"});
  expect(pixels + "cosize(p);", {"the elements of a user's module have no size"});
  expect(pixels + "composition(Swizzle<2, 0, 2>{}, p);", {"a swizzle moves the bits of integers"});
}

}  // namespace
