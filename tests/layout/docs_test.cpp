// docs/layouts.md: its code compiles, its tables are what the library computes, its refusals are refused.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <zellige/layout/evaluate.hpp>

namespace zellige {
namespace {

struct Block {
  std::string kind;
  std::vector<std::string> lines;
};
std::vector<Block> blocks() {
  std::vector<Block> all;
  std::ifstream in(ZELLIGE_SOURCE_DIR "/docs/layouts.md");
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside) all.push_back({line.substr(3), {}});
    } else if (inside) {
      all.back().lines.push_back(line);
    }
  }
  return all;
}
std::string trim(std::string const& s) {
  auto const begin = s.find_first_not_of(' ');
  return begin == std::string::npos ? "" : s.substr(begin, s.find_last_not_of(' ') - begin + 1);
}
std::vector<std::string> split(std::string const& s) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    auto const end = s.find(" ; ", at);
    parts.push_back(trim(s.substr(at, end - at)));
    if (end == std::string::npos) return parts;
    at = end + 3;
  }
}

TEST(Docs, TablesAreComputed) {
  int lines = 0;
  for (Block const& b : blocks()) {
    if (b.kind != "layout") continue;
    for (std::string const& line : b.lines) {
      auto const name = line.find(' '), equals = line.find(" = ");
      ASSERT_NE(equals, std::string::npos) << line;
      EXPECT_EQ(evaluate(line.substr(0, name), split(line.substr(name, equals - name))),
                trim(line.substr(equals + 3)))
          << line;
      ++lines;
    }
  }
  EXPECT_GT(lines, 20);
}

TEST(Docs, RefusalsAreRefused) {
  int lines = 0;
  for (Block const& b : blocks()) {
    if (b.kind != "refused") continue;
    for (std::string const& line : b.lines) {
      auto const name = line.find(' '), reason = line.rfind("  ");
      try {
        evaluate(line.substr(0, name), split(line.substr(name, reason - name)));
        ADD_FAILURE() << line;
      } catch (LayoutError const& e) {
        EXPECT_NE(std::string(e.what()).find(trim(line.substr(reason))), std::string::npos) << e.what();
      }
      ++lines;
    }
  }
  EXPECT_EQ(lines, 4);
}

TEST(Docs, CodeCompiles) {
  std::string text =
      "#include <zellige/layout.hpp>\n#include <zellige/layout/runtime.hpp>\nusing namespace zellige;\n";
  int count = 0;
  for (Block const& b : blocks()) {
    if (b.kind != "cpp" && b.kind != "host") continue;
    text += "void block" + std::to_string(count++) + "([[maybe_unused]] int n, [[maybe_unused]] int k) {\n";
    for (std::string const& line : b.lines) text += "  " + line + "\n";
    text += "}\n";
  }
  ASSERT_EQ(count, 2);
  std::string const file = testing::TempDir() + "zellige_docs.cpp";
  std::ofstream(file) << text;
  std::string const command =
      ZELLIGE_CXX " -std=c++20 -fsyntax-only -I " ZELLIGE_SOURCE_DIR "/include " + file;
  EXPECT_EQ(std::system(command.c_str()), 0) << text;
}

}  // namespace
}  // namespace zellige
