// The lessons of examples/tutorial print their expected output (NAME.out; ZELLIGE_UPDATE_GOLDENS=1 rewrites
// it), which is what their README shows, and the mistakes listed there are refused in the listed words.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
fs::path const folder = ZELLIGE_SOURCE_DIR "/examples/tutorial";

std::string read(fs::path const& file) {
  std::ifstream in(file);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}
struct Output {
  std::string text;
  int status = -1;
};
Output run(std::string const& command) {
  Output r;
  FILE* pipe = popen(command.c_str(), "r");
  char part[4096];
  while (std::size_t const n = std::fread(part, 1, sizeof part, pipe)) r.text.append(part, n);
  r.status = pclose(pipe);
  return r;
}
std::vector<std::string> lessons() {
  std::vector<std::string> names;
  for (auto const& f : fs::directory_iterator(folder))
    if (f.path().extension() == ".cpp") names.push_back(f.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Lesson : public testing::TestWithParam<std::string> {};

TEST_P(Lesson, PrintsWhatIsKept) {
  fs::path const kept = folder / (GetParam() + ".out");
  Output const r = run("\"" ZELLIGE_LESSONS "/" + GetParam() + "\" 2>&1");
  ASSERT_EQ(r.status, 0) << r.text;
  if (std::getenv("ZELLIGE_UPDATE_GOLDENS") != nullptr) std::ofstream(kept) << r.text;
  EXPECT_EQ(r.text, read(kept)) << "if that is right: ZELLIGE_UPDATE_GOLDENS=1";
}
TEST_P(Lesson, FitsOnAFewPages) {
  std::string const text = read(folder / (GetParam() + ".cpp"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 150);
}
INSTANTIATE_TEST_SUITE_P(Tutorial, Lesson, testing::ValuesIn(lessons()),
                         [](auto const& info) { return "Lesson" + info.param; });

TEST(Tutorial, ThereAreEight) { EXPECT_EQ(lessons().size(), 8u); }

struct Block {
  std::string kind, text;
};
std::vector<Block> blocks_of(fs::path const& page) {
  std::vector<Block> blocks;
  std::istringstream in(read(page));
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), ""});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}
std::vector<Block> readme() { return blocks_of(folder / "README.md"); }

/// Without the blanks at the ends of lines, which editors take away.
std::string trimmed(std::string const& text) { return std::regex_replace(text, std::regex(" +\n"), "\n"); }
TEST(Tutorial, ReadmeShowsWhatLessonsPrint) {
  std::string all;
  for (std::string const& l : lessons()) all += trimmed(read(folder / (l + ".out"))) + "\n";
  int shown = 0;
  for (Block const& b : readme()) {
    if (b.kind != "text") continue;
    EXPECT_NE(all.find(trimmed(b.text)), std::string::npos) << "no lesson prints\n" << b.text;
    ++shown;
  }
  EXPECT_EQ(shown, 8);
}

/// True if the phrases separated by " ... " occur in the text in order.
bool in_order(std::string const& text, std::string const& words) {
  std::size_t at = 0;
  for (std::size_t begin = 0; begin <= words.size();) {
    std::size_t const end = std::min(words.find(" ... ", begin), words.size());
    std::string const word = words.substr(begin, end - begin);
    at = text.find(word, at);
    if (at == std::string::npos) return false;
    at += word.size();
    begin = end + 5;
  }
  return true;
}

// A block of mistakes: statements, each with the error below it.
TEST(Tutorial, MistakesAreRefusedInTheseWords) {
  std::string const file = testing::TempDir() + "zellige_tutorial_mistake.cpp";
  auto const compile = [&](std::string const& statement) {
    std::ofstream(file) << "#include <zellige/tensor.hpp>\nusing namespace zellige;\n"
                        << "void mistake([[maybe_unused]] int n, [[maybe_unused]] float* p) {\n"
                        << statement << "\n}\n";
    return run(ZELLIGE_CXX " -std=c++20 -fsyntax-only -I \"" ZELLIGE_SOURCE_DIR "/include\" " + file + " 2>&1");
  };
  EXPECT_EQ(compile("").text, "");
  int mistakes = 0;
  for (Block const& b : readme()) {
    if (b.kind != "mistakes") continue;
    std::istringstream in(b.text);
    std::string statement;
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("  ", 0) != 0) {
        statement = line;
        continue;
      }
      Output const r = compile(statement);
      auto const at = r.text.find("error: ");
      ASSERT_NE(at, std::string::npos) << statement << "\n" << r.text;
      std::string const error = r.text.substr(at, r.text.find('\n', at) - at);
      EXPECT_TRUE(in_order(error, line.substr(2))) << statement << "\n" << error;
      EXPECT_EQ(r.text.find("error: ", at + 1), std::string::npos) << "a second error: " << r.text;
      EXPECT_LE(std::count(r.text.begin(), r.text.end(), '\n'), 20) << r.text;
      ++mistakes;
    }
  }
  EXPECT_EQ(mistakes, 9);
}

#if defined(ZELLIGE_COMMAND)
// The pictures of the pages on layouts are what the commands there draw; ZELLIGE_UPDATE_GOLDENS=1 draws them again.
int compare_pictures(fs::path const& page) {
  fs::path const source = ZELLIGE_SOURCE_DIR;
  int pictures = 0;
  for (Block const& b : blocks_of(page)) {
    if (b.kind != "shell") continue;
    std::istringstream in(b.text);
    for (std::string line; std::getline(in, line); ++pictures) {
      std::size_t const at = line.find(" --svg ");
      EXPECT_EQ(line.rfind("zellige ", 0), 0u) << line;
      EXPECT_NE(at, std::string::npos) << line;
      fs::path const kept = source / line.substr(at + 7);
      bool const update = std::getenv("ZELLIGE_UPDATE_GOLDENS") != nullptr;
      std::string const drawn = update ? kept.string() : testing::TempDir() + "zellige_picture.svg";
      Output const r = run("\"" ZELLIGE_COMMAND "\"" + line.substr(7, at) + "\"" + drawn + "\" 2>&1");
      EXPECT_EQ(r.status, 0) << line << "\n" << r.text;
      EXPECT_EQ(read(drawn), read(kept)) << line << "\nif that is right: ZELLIGE_UPDATE_GOLDENS=1";
      EXPECT_NE(read(page).find("(../pictures/" + kept.filename().string() + ")"), std::string::npos)
          << kept << " is not shown";
    }
  }
  return pictures;
}
TEST(Pictures, AreWhatTheCommandsDraw) {
  fs::path const docs = fs::path(ZELLIGE_SOURCE_DIR) / "docs/explanation";
  EXPECT_EQ(compare_pictures(docs / "layouts.md"), 2);
  EXPECT_EQ(compare_pictures(docs / "layouts-tiles-and-threads.md"), 8);
}
#endif

}  // namespace
