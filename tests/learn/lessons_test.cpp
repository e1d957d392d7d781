// The exercises of `zellige learn`: right answers pass, and typical wrong ones get the hint that fits. By default each kernel is
// marked with its right answer, and three of them with a wrong one; ZELLIGE_ALL=1 takes all.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "all_cases.hpp"
#include "learn/lesson.hpp"
#include "toolchain/cache.hpp"

namespace zellige::learn {
namespace {

/// An answer to a question: what is written, and a part of the hint; "" if it is right.
struct Written {
  int lesson, exercise;
  const char *answer, *hint;
};
void PrintTo(const Written& w, std::ostream* os) { *os << w.lesson << "." << w.exercise << " " << w.answer; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == text.npos) throw std::invalid_argument(from + " is not in the file");
  return text.replace(at, from.size(), to);
}

class QuestionTest : public testing::TestWithParam<Written> {};

TEST_P(QuestionTest, RightAnswersPassAndWrongOnesGetTheirHint) {
  const auto& [number, exercise, answer, hint] = GetParam();
  Lesson l = lesson(number);
  l.tasks.clear();  // the kernels are marked below
  const std::string head = "// answer " + std::to_string(exercise) + ":";
  const std::vector<Mark> marks =
      mark(l, replaced(l.file, head + " ____", head + " " + answer), toolchain::Cache::temporary());
  const Mark& m = marks.at(std::size_t(exercise - 1));
  EXPECT_EQ(m.right, *hint == 0) << m.hint;
  EXPECT_NE(m.hint.find(hint), std::string::npos) << m.hint;
}

INSTANTIATE_TEST_SUITE_P(
    All, QuestionTest,
    testing::Values(
        Written{1, 1, "(4,8):(8,1)", ""}, Written{1, 1, "(_4,_8):(_8,_1)", ""},
        Written{1, 1, "(4,8):(1,4)", "that is column-major"}, Written{1, 1, "(4,8):(1,8)", "in the order of the shape"},
        Written{1, 1, "(4,4):(4,1)", "your layout has the extents (4,4); expected (4,8)"},
        Written{1, 1, "(4,8):(16,1)", "at coordinate (1,0) your layout gives 16; expected 8"},
        Written{1, 1, "(4,8", "(4,8\n"}, Written{1, 1, "32", "32 is no layout; expected shape:stride"},
        Written{1, 1, "", "not answered"}, Written{2, 1, "19", ""}, Written{2, 1, "2*8+3", "is expected"},
        Written{2, 1, "26", "the other way round"}, Written{2, 1, "14", "the linear coordinate"},
        Written{2, 1, "7", "multiply each coordinate by its stride"}, Written{2, 2, "(2,3)", ""},
        Written{2, 2, "(1,6)", "as C does"}, Written{2, 2, "(3,2)", "(column, row)"}, Written{3, 1, "4:32", ""},
        Written{3, 1, "(8,16):(16,1) o 4:2", ""}, Written{3, 1, "4:2", "that is B"},
        Written{3, 1, "4:16", "every second one"}, Written{3, 2, "(8,4):(4,1)", ""},
        Written{3, 2, "(8,4):(1,8)", "that is the result A o B"}, Written{3, 2, "(8,4):(8,1)", "A has 4 rows"},
        Written{4, 1, "(2,3):(1,8)", ""}, Written{4, 1, "3:8", "misses the odd numbers"},
        Written{4, 1, "6:1", "a second time"}, Written{4, 2, "(4,3):(12,1)", ""},
        Written{4, 2, "(4,3):(3,1)", "keeps the strides of the matrix"},
        Written{4, 2, "(2,4):(48,3)", "the layout of the tiles"}, Written{5, 1, "(32,4):(4,1)", ""},
        Written{5, 1, "(32,4):(1,32)", "strided"}, Written{5, 1, "(4,32):(1,4)", "the first mode is the thread"},
        Written{6, 1, "32", ""}, Written{6, 1, "1", "that is a row"}, Written{6, 1, "16", "bank = word modulo 32"},
        Written{7, 1, "512", ""}, Written{7, 1, "16", "what each lane addresses"},
        Written{7, 1, "128", "that is one matrix"}, Written{8, 1, "5", ""},
        Written{8, 1, "37", "a warp has 32 threads"}, Written{8, 1, "7", "two neighbouring columns"},
        Written{9, 1, "(1,0)", ""}, Written{9, 1, "(1,1)", "third round"}, Written{9, 1, "(1,2)", "takes its parity"},
        Written{10, 1, "8192", ""}, Written{10, 1, "4096", "those are the elements"},
        Written{10, 1, "128", "that is one row"}, Written{11, 1, "64", ""},
        Written{11, 1, "8192", "128 threads share them"}, Written{11, 1, "32", "64 x 64"}, Written{12, 1, "196608", ""},
        Written{12, 1, "49152", "that is one stage"}, Written{12, 1, "98304", "those are the elements"}));

/// A change of a kernel: what is replaced by what, and a part of the hint; "" if the result is right.
struct Edited {
  int lesson;
  const char *from, *to, *hint;
};
void PrintTo(const Edited& e, std::ostream* os) { *os << "lesson " << e.lesson << ": " << e.to; }

constexpr const char* todo = "  // TODO\n";
const Edited edits[] = {
    {1, "to = from;", "to = column * 32 + row;", ""},
    {1, "to = from;", "to = column * 8 + row;", "two threads write the same element of y"},
    {1, "to = from;", "to = row * 8 + column;", "y is still row-major"},
    {5, "<_1, _32>", "<_4, _1>", ""},
    {5, "<_1, _32>", "<_1, _1>", "two threads have the same element"},
    {5, "<_1, _32>", "<_8, _1>", "the layout reaches beyond the 128 elements"},
    {6, "<_32, _1>", "<_33, _1>", ""},
    {6, "<_32, _1>", "<Int<34>, _1>", "the tile has 1,056 floats"},
    {6, "<_32, _1>", "<_1, _32>", "wavefronts"},
    {7, todo, "  cp_async_wait<0>();\n  __syncthreads();\n", ""},
    {7, todo, "  __syncthreads();\n", "a barrier does not wait for cp.async"},
    {7, todo, "  cp_async_wait<0>();\n", "is visible after a barrier"},
    {8, "row = lane / 4, column = lane % 4;", "row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;", ""},
    {8, "row = lane / 4, column = lane % 4;", "row = lane / 4 + i % 2 * 8, column = lane % 4 * 2 + i / 2;",
     "d[2] and d[3] are 8 rows further down"},
    {8, "row = lane / 4, column = lane % 4;", "row = lane / 4 + i / 2 * 8, column = lane % 4 + i % 2;",
     "two threads store to the same element"},
    {9, "mbarrier_wait(full, 0);", "mbarrier_wait(full, i % 2);", ""},
    {9, "mbarrier_wait(full, 0);", "mbarrier_wait(full, 1);", "the first phase"},
    {9, "mbarrier_wait(full, 0);", "mbarrier_wait(full, i / 2);", "a phase that is already over"},
    {10, "full, row, 0);", "full, 0, row);", ""},
    {10, "full, row, 0);", "full, row, 0);", "its box is outside of the tensor"},
    {10, "64 * 64 * 2);\n    tma_load_2d(tile(0, 0), a, full, row, 0);",
     "64 * 64);\n    tma_load_2d(tile(0, 0), a, full, 0, row);", "expect_tx"},
    {11, todo, "  wgmma_commit();\n  wgmma_wait<0>();\n", ""},
    {11, todo, "  wgmma_wait<0>();\n", "the products are in no group yet"},
    {11, todo, "  wgmma_commit();\n  wgmma_wait<1>();\n", "the tensor cores still own d"},
    {12, "      ring.release(stage);  // TODO: is this the right place?\n      wgmma_wait<0>();\n",
     "      wgmma_wait<0>();\n      ring.release(stage);\n", ""},
    {12, "      ring.release(stage);", "      ring.release(stage);", "release it after the wait"},
    {12, "      ring.release(stage);", "", "a stage that no consumer releases"},
};

class TaskTest : public testing::TestWithParam<std::size_t> {};

TEST_P(TaskTest, RightKernelsPassAndWrongOnesGetTheirHint) {
  const auto& [number, from, to, hint] = edits[GetParam()];
  if (*hint && !test::all_cases() && GetParam() % 9 != 4) return;
  Lesson l = lesson(number);
  const std::string file = replaced(l.file, from, to);
  l.questions.clear();
  const Mark m = mark(l, file, toolchain::Cache::temporary()).at(0);
  EXPECT_EQ(m.right, *hint == 0) << m.hint;
  EXPECT_NE(m.hint.find(hint), std::string::npos) << m.hint;
}
INSTANTIATE_TEST_SUITE_P(All, TaskTest, testing::Range<std::size_t>(0, std::size(edits)));

TEST(Lessons, AreTwelveOfTwoExercisesWithAPageEach) {
  ASSERT_EQ(lessons().size(), 12u);
  for (const Lesson& l : lessons()) {
    EXPECT_EQ(l.questions.size() + l.tasks.size(), 2u) << l.number;
    std::ifstream page(ZELLIGE_SOURCE_DIR "/docs/learn/" + l.page);
    std::stringstream text;
    text << page.rdbuf();
    EXPECT_NE(text.str().find("zellige learn start " + std::to_string(l.number)), std::string::npos) << l.page;
    EXPECT_NE(text.str().find("](pictures/"), std::string::npos) << l.page << " has no picture";
  }
}

TEST(Lessons, AKernelThatDoesNotCompileGetsTheFirstError) {
  Lesson l = lesson(1);
  l.questions.clear();
  const Mark m = mark(l, replaced(l.file, "to = from;", "to = form;"), toolchain::Cache::temporary()).at(0);
  EXPECT_FALSE(m.right);
  EXPECT_EQ(m.hint.rfind("it does not compile: lesson_01.cu:13:18: error: 'form' was not declared in this scope", 0),
            0u)
      << m.hint;
}

}  // namespace
}  // namespace zellige::learn
