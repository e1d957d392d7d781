// Mistakes with tensors: each gives one error, within 20 lines of output, and its first line states in words
// what is wrong, the operation, and the two numbers. With g++, and with nvcc if available.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <zellige/tensor.hpp>

namespace {

struct Report {
  int errors = 0;
  int lines = 0;
  std::string first;
  std::string all;
};
Report compile(std::string const& statement, bool nvcc) {
  std::string const file = testing::TempDir() + (nvcc ? "zellige_tensor.cu" : "zellige_tensor.cpp");
  std::FILE* f = std::fopen(file.c_str(), "w");
  std::fprintf(f,
               "#include <zellige/tensor.hpp>\n#include <zellige/tensor/zip.hpp>\n"
               "#include <zellige/numeric/int.hpp>\nusing namespace zellige;\n"
               "%s mistake([[maybe_unused]] float* p, [[maybe_unused]] int n) {\n  %s\n}\n",
               nvcc ? "__global__ void" : "void", statement.c_str());
  std::fclose(f);
  std::string const compiler =
      nvcc ? "nvcc -std=c++20 -arch=sm_90 -ptx -o /dev/null" : ZELLIGE_CXX " -std=c++20 -fsyntax-only";
  std::string const command = compiler + " -I " ZELLIGE_SOURCE_DIR "/include " + file + " 2>&1";
  std::FILE* out = popen(command.c_str(), "r");
  Report r;
  char line[8000];
  while (std::fgets(line, sizeof line, out) != nullptr) {
    ++r.lines;
    r.all += line;
    std::string const s = line;
    std::size_t const at = s.find("error: ");
    if (at != std::string::npos && r.errors++ == 0) r.first = s.substr(at);
  }
  pclose(out);
  return r;
}
bool have_nvcc() {
  static bool const have = std::system("nvcc --version > /dev/null 2>&1") == 0;
  return have;
}
void check(Report const& r, std::string const& statement, std::vector<char const*> const& words) {
  EXPECT_EQ(r.errors, 1) << statement << "\n" << r.all;
  EXPECT_LE(r.lines, 20) << statement << "\n" << r.all;
  for (char const* w : words) EXPECT_NE(r.first.find(w), std::string::npos) << statement << "\n" << r.first << w;
}

struct Mistake {
  char const* name;
  char const* statement;
  std::vector<char const*> words;
  bool with_nvcc = false;
};
std::vector<Mistake> const mistakes = {
    {"CountMismatchInACopy",
     "copy(make_tensor<float>(Shape<_4, _8>{}), make_tensor<float>(Shape<_16>{}));",
     {"sizes_differ_in_a_mode", "copy", "32", "16"},
     true},
    {"SizeMismatchInACopy",
     "copy(make_tensor<float>(Shape<_4, _8>{}), make_tensor<float>(Shape<_4, _4>{}));",
     {"sizes_differ_in_a_mode", "copy", "8", "4"},
     true},
    {"UnsoundComposition",
     "auto t = make_tensor(p, Layout<Shape<_4, _6, _8>, Stride<_2, _3, _5>>{}); composition(t, Layout<_6, "
     "_3>{});",
     {"stride_of_the_right_operand_does_not_divide_the_extent_it_crosses", "composition", "3", "4"}},
    {"TooManyCoordinates",
     "auto t = make_tensor<float>(Shape<_4, _8>{}); t(1, 2, 3) = 0;",
     {"wrong_number_of_coordinates", "3", "2"}},
    {"TooManyCoordinatesOfASlice",
     "auto t = make_tensor<float>(Shape<_4, _8>{}); t(1, _, 3);",
     {"wrong_number_of_coordinates", "3", "2"}},
    {"RunTimeShapeOfAnOwningTensor",
     "auto t = make_tensor<float>(make_shape(n, _4{})); (void)t;",
     {"owns its elements", "static layout"},
     true},
    {"SwappedOperandsOfGemm",
     "auto a = make_tensor<float>(Shape<_8, _4>{}); auto b = make_tensor<float>(Shape<_16, _4>{}); "
     "auto c = make_tensor<float>(Shape<_8, _16>{}); gemm(b, a, c);",
     {"A_and_C_have_other_rows_are_A_and_B_swapped", "gemm", "16", "8"},
     true},
    {"DepthsOfGemm",
     "auto a = make_tensor<float>(Shape<_8, _4>{}); auto b = make_tensor<float>(Shape<_16, _5>{}); "
     "auto c = make_tensor<float>(Shape<_8, _16>{}); gemm(a, b, c);",
     {"A_and_B_have_other_depths", "gemm", "4", "5"}},
    {"RanksOfGemm",
     "auto a = make_tensor<float>(Shape<_8, _4>{}); auto b = make_tensor<float>(Shape<_16>{}); "
     "auto c = make_tensor<float>(Shape<_8, _16>{}); gemm(a, b, c);",
     {"no_product_of_such_ranks_needed_are_111_112_222_223_or_333", "gemm", "2", "1"}},
    {"ModeOutOfRange", "auto t = make_tensor<float>(Shape<_4, _8>{}); size<3>(t);", {"mode_is_out_of_range", "3", "2"}},
    {"GroupOutOfRange",
     "auto t = make_tensor<float>(Shape<_4, _8>{}); group_modes<1, 4>(t);",
     {"mode_out_of_range", "group", "3", "2"}},
    {"ShapeAndStrideNotCongruent",
     "make_tensor(p, Shape<_8, _8>{}, Stride<_1>{});",
     {"shape and stride differ in profile"}},
    {"SliceOfTheWrongProfile",
     "auto t = make_tensor<float>(Shape<_4, _8>{}); t(make_coord(_, make_coord(_, 2)));",
     {"coordinate_and_layout_differ_in_rank", "2", "1"},
     true},
    {"PackedElementsWrittenByThreads",
     "auto t = make_tensor(make_gmem_ptr<int4b_t>(p), Shape<_10>{}, Stride<_3>{}); cooperative_copy<4>(n, t, "
     "t);",
     {"two_threads_would_write_parts_of_one_byte", "cooperative_copy", "4", "8"}},
    {"TooManyTileCoordinates",
     "auto t = make_tensor(p, Shape<_8, _8>{}); local_tile(t, Shape<_4>{}, make_coord(1, 2, 3));",
     {"the_coordinate_has_more_modes_than_there_are_tiled_ones", "local_tile", "3", "2"}},
    {"TilerOfTooManyModes",
     "auto t = make_tensor(p, Shape<_8, _8>{}); local_tile(t, Shape<_4, _4, _4>{}, make_coord(1, 2));",
     {"the_tiler_has_more_modes_than_the_tensor", "local_tile", "3", "2"}},
    {"SwizzleForOtherElements",
     "make_tensor(make_smem_ptr(p), make_composed_layout(Swizzle<3, 4, 3>{}, smem_ptr_flag_bits<16>{}, "
     "Layout<Shape<_8, _32>>{}));",
     {"the_swizzled_layout_is_for_elements_of_another_size", "make_tensor", "16", "32"}},
    {"ZipOfOtherShapes",
     "make_zip_tensor(make_tensor(p, Shape<_8>{}), make_tensor(p, Shape<_4>{}));",
     {"sizes_differ_in_a_mode", "make_zip_tensor", "8", "4"}},
    {"TransformOfOtherSizes",
     "auto a = make_tensor<float>(Shape<_8>{}); auto b = make_tensor<float>(Shape<_4>{}); "
     "transform(a, b, as_it_is{});",
     {"sizes_differ_in_a_mode", "transform", "8", "4"}},
    {"AxpbyOfOtherSizes",
     "auto a = make_tensor<float>(Shape<_8>{}); auto b = make_tensor<float>(Shape<_4>{}); axpby(1.f, a, 0.f, "
     "b);",
     {"sizes_differ_in_a_mode", "axpby", "8", "4"}},
};

TEST(TensorRefusal, TheBaselineCompiles) {
  EXPECT_EQ(compile("", false).errors, 0);
  if (have_nvcc()) {
    EXPECT_EQ(compile("", true).lines, 0) << compile("", true).all;
  }
}
class Refused : public testing::TestWithParam<Mistake> {};
TEST_P(Refused, InOneSentence) {
  Mistake const& m = GetParam();
  check(compile(m.statement, false), m.statement, m.words);
  if (m.with_nvcc && have_nvcc()) check(compile(m.statement, true), m.statement, m.words);
}
INSTANTIATE_TEST_SUITE_P(TensorRefusal, Refused, testing::ValuesIn(mistakes),
                         [](auto const& info) { return info.param.name; });

// Mistakes that the compiler cannot detect are refused at run time, in the same words.
template <class F>
std::string refused(F f) {
  try {
    f();
  } catch (zellige::LayoutError const& e) {
    return e.what();
  }
  return "";
}
TEST(TensorRefusal, AtRunTime) {
  using namespace zellige;
  std::vector<float> memory(200);
  float* p = memory.data();
  auto a = make_tensor(p, make_shape(8, 4)), b = make_tensor(p, make_shape(4, 8));
  auto c = make_tensor(p, make_shape(8, 8));
  auto fewer = make_tensor(p, make_shape(4, 6));
  EXPECT_EQ(refused([&] { copy(a, b); }), "") << "the same number of elements, in other modes";
  EXPECT_EQ(refused([&] { copy(a, fewer); }), "copy: the tensors have 32 and 24 elements; the numbers must be equal");
  EXPECT_EQ(refused([&] { copy_if([](int) { return true; }, a, fewer); }),
            "copy_if: the tensors have 32 and 24 elements; the numbers must be equal");
  EXPECT_EQ(refused([&] { gemm(b, a, c); }),
            "gemm: A has 4 rows and C has 8; they must be the same (are A and B swapped?)");
  EXPECT_EQ(refused([&] { gemm(a, b, c); }), "gemm: B has 4 rows and C has 8 columns; they must be the same");
  EXPECT_EQ(refused([&] { gemm(a, c, c); }), "gemm: A has 4 columns and B has 8; they must be the same");
  EXPECT_EQ(refused([&] { axpby(1.f, a, 0.f, fewer); }),
            "axpby: the tensors have 32 and 24 elements; the numbers must be equal");
  auto tile = local_tile(a, Shape<_3, _4>{}, make_coord(2, 0));
  auto r = make_tensor<float>(Shape<_3, _4>{});
  EXPECT_EQ(refused([&] { copy(tile, r); }),
            "copy: a tile of 3 hangs over the end of a tensor whose extent is 8; copy_if takes a predicate");
  EXPECT_EQ(refused([&] { fill(tile, 1.f); }),
            "fill: a tile of 3 hangs over the end of a tensor whose extent is 8; copy_if takes a predicate");
  EXPECT_EQ(refused([&] { copy(local_tile(a, Shape<_3, _4>{}, make_coord(1, 0)), r); }), "");
  auto const ten = make_tensor(p, Shape<_10, _10>{});
  EXPECT_EQ(refused([&] { copy(local_tile(ten, Shape<_3, _4>{}, make_coord(0, _2{})), r); }),
            "copy: a tile of 4 hangs over the end of a tensor whose extent is 10; copy_if takes a predicate");
  EXPECT_EQ(refused([&] { clear(zipped_divide(ten, Shape<_4, _5>{})); }),
            "clear: a tile of 4 hangs over the end of a tensor whose extent is 10; copy_if takes a predicate");
  auto const pair = make_tensor<float>(Shape<_2>{});
  EXPECT_EQ(refused([&] { copy(pair, local_partition(make_tensor(p, _10{}), Layout<_8>{}, Int<7>{})); }),
            "copy: a tile of 8 hangs over the end of a tensor whose extent is 10; copy_if takes a predicate");
  EXPECT_EQ(refused([&] { cooperative_copy<4>(4u, make_tensor(p, make_shape(8)), make_tensor(p + 8, make_shape(8))); }),
            "cooperative_copy: thread 4 of 4 takes part");
}

}  // namespace
