// Ten common mistakes with layouts. Each is one error within 20 lines of output, and the first line states in
// words what is wrong, the operation, and the two numbers: with g++, and with nvcc if available. Those with
// tensors (copy, gemm, owning tensors, overhangs) are in tests/tensor/refusal_test.cpp.
#include <vector>

#include "compiler.hpp"

namespace compile_test {
namespace {

struct Mistake {
  char const* name;
  char const* statement;
  std::vector<char const*> words;
};
std::vector<Mistake> const mistakes = {
    {"UnsoundComposition",
     "composition(Layout<Shape<_4, _6, _8>, Stride<_2, _3, _5>>{}, Layout<_6, _3>{});",
     {"stride_of_the_right_operand_does_not_divide_the_extent_it_crosses", "composition", "3", "4"}},
    {"CompositionOfOverlappingModes",
     "composition(Layout<Shape<_6, _2>, Stride<_8, _2>>{}, Layout<Shape<_4, _4>, Stride<_1, _4>>{});",
     {"composition", "4", "6"}},
    {"TooManyCoordinates", "l(1, 2, 3);", {"wrong_number_of_coordinates", "3", "2"}},
    {"ModeOutOfRange", "get<5>(l);", {"mode_is_out_of_range", "5", "2"}},
    {"TakeOutOfRange", "take<1, 4>(l);", {"mode_out_of_range", "take", "3", "2"}},
    {"ShapeAndStrideNotCongruent",
     "make_layout(Shape<_4, _8>{}, Stride<_1>{});",
     {"shape and stride differ in profile"}},
    {"SliceOfTheWrongProfile",
     "l(make_coord(_, make_coord(_, 2)));",
     {"coordinate_and_layout_differ_in_rank", "2", "1"}},
    {"TilerOfTooManyModes",
     "zipped_divide(l, Shape<_2, _2, _2>{});",
     {"the_tiler_has_more_modes_than_the_layout", "zipped_divide", "3", "2"}},
    {"ComplementOfARunTimeStride",
     "complement(make_layout(Shape<_2, _2>{}, make_stride(n, _1{})), _64{});",
     {"a_layout_with_a_run_time_stride_has_a_complement_only_if_it_has_one_mode", "complement", "2", "1"}},
    {"BlockThatDoesNotDivide",
     "tile_to_shape(l, Shape<_6, _8>{});",
     {"the_block_does_not_divide_the_target_shape", "tile_to_shape", "6", "4"}},
};

std::string unit(std::string const& statement, bool device) {
  return "#include <zellige/tensor.hpp>\nusing namespace zellige;\n" +
         std::string(device ? "__global__ void" : "void") +
         " mistake([[maybe_unused]] int n) {\n  Layout<Shape<_4, _8>> l;\n  (void)l;\n  " + statement + "\n}\n";
}
void expect_refused(Mistake const& m, Compiled const& c) {
  EXPECT_EQ(c.errors, 1) << m.name << "\n" << c.output;
  EXPECT_LE(c.lines, 20) << m.name << "\n" << c.output;
  for (char const* w : m.words) EXPECT_NE(c.first_error.find(w), std::string::npos) << c.first_error << "lacks " << w;
}

TEST(Mistakes, TheBaselineCompiles) {
  EXPECT_EQ(run(host + "-fsyntax-only", "baseline.cpp", unit("", false)).output, "");
}
TEST(Mistakes, WithTheHostCompiler) {
  for (Mistake const& m : mistakes)
    expect_refused(m, run(host + "-fsyntax-only", "mistake.cpp", unit(m.statement, false)));
}
TEST(Mistakes, WithNvcc) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  for (Mistake const& m : mistakes)
    expect_refused(m, run(cuda + "-ptx -o /dev/null", "mistake.cu", unit(m.statement, true)));
}

}  // namespace
}  // namespace compile_test
