// `zellige learn` as a user runs it.
#include "cli/command.hpp"

#include <fstream>
#include <iterator>

namespace {

TEST_F(Command, LearnWritesAndMarksAFile) {
  const std::string file = path("mine.cu");
  expect({"learn", "start", "2", file}, 0,
         file + ": the exercises of lesson 2, coordinates; the lesson is docs/learn/02-coordinates.md\n");
  expect({"learn", "start", "2", file}, 2,
         "zellige: " + file + ": exists; --force begins again, without your answers\n");
  expect({"learn", "check", "2", file}, 1,
         "exercise 1: not yet\n  not answered: write it after \"// answer 1:\"\n"
         "exercise 2: not yet\n  not answered: write it after \"// answer 2:\"\n");
  std::ifstream in(file);
  std::string text(std::istreambuf_iterator<char>(in), {});
  text.replace(text.find("____"), 4, "19");
  text.replace(text.find("____"), 4, "(1,6)");
  std::ofstream(file) << text;
  expect({"learn", "check", "2", file}, 1,
         "exercise 1: right\nexercise 2: not yet\n  that counts along the last mode first, as C does. A linear "
         "coordinate counts along the "
         "first mode first: 14 = 2 + 4 * 3\n");
  text.replace(text.find("(1,6)"), 5, "(2,3)");
  std::ofstream(file) << text;
  expect({"learn", "check", "2", file}, 0,
         "exercise 1: right\nexercise 2: right\nlesson 2 is done; next: zellige learn start 3\n");
}

TEST_F(Command, LearnSaysWhatItExpects) {
  expect({"learn", "check", "13"}, 2, "zellige: learn: expected a lesson from 1 to 12, found 13\n");
  expect({"learn", "check"}, 2, "zellige: learn check: expected a lesson from 1 to 12, found none\n");
  expect({"learn", "check", "3", path("none.cu")}, 2,
         "zellige: " + path("none.cu") + ": is no file; zellige learn start 3 writes it\n");
  EXPECT_NE(run({"learn"}).output.find("12  a GEMM for Hopper          docs/learn/12-gemm.md\n"), std::string::npos);
}

}  // namespace
