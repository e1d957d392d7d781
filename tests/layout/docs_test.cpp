// The pages on layouts: their code runs, their tables are the library's results, their refusals are
// refused, and the laws that they name are tests.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <zellige/layout/evaluate.hpp>

namespace zellige {
namespace {

struct Block {
  std::string kind;
  std::vector<std::string> lines;
};
std::string read(std::string const& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string pages() {
  std::string const docs = ZELLIGE_SOURCE_DIR "/docs/";
  return read(docs + "explanation/layouts.md") + read(docs + "explanation/layouts-tiles-and-threads.md") +
         read(docs + "reference/layout-laws.md");
}
std::vector<Block> blocks() {
  std::vector<Block> all;
  std::istringstream in(pages());
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
      EXPECT_EQ(evaluate(line.substr(0, name), split(line.substr(name, equals - name))), trim(line.substr(equals + 3)))
          << line;
      ++lines;
    }
  }
  EXPECT_GE(lines, 40);
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
  EXPECT_EQ(lines, 5);
}

// Rows "| `layout` | its first row | its second row | ...".
TEST(Docs, RowsOfTablesAreTheLayoutsRows) {
  std::istringstream in(pages());
  int rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| `(", 0) != 0) continue;
    std::size_t const end = line.find('`', 3);
    std::string const layout = line.substr(3, end - 3);
    std::string cells = line.substr(line.find('|', end) + 1);
    for (int row = 0; row < 2; ++row) {
      std::istringstream numbers(cells.substr(0, cells.find('|')));
      cells = cells.substr(cells.find('|') + 1);
      int column = 0;
      for (std::string n; numbers >> n; ++column) {
        std::string const at = "(" + std::to_string(row) + "," + std::to_string(column) + ")";
        EXPECT_EQ(evaluate("layout_eval", {layout, at}), n) << line;
      }
      EXPECT_EQ(column, 3) << line;
    }
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

// Every law that the pages name is a test.
TEST(Docs, LawsAreTests) {
  std::string const folder = ZELLIGE_SOURCE_DIR "/tests/layout/";
  std::string const tests = read(folder + "property_test.cpp") + read(folder + "laws_test.cpp");
  std::string const page = pages();
  std::regex const name("`([A-Za-z]*Laws)\\.([A-Za-z]+)`");
  int laws = 0;
  for (std::sregex_iterator law(page.begin(), page.end(), name), end; law != end; ++law, ++laws) {
    std::string const test = "TEST(" + (*law)[1].str() + ", " + (*law)[2].str() + ")";
    EXPECT_NE(tests.find(test), std::string::npos) << test;
  }
  EXPECT_GT(laws, 40);
  std::regex const title("TEST\\(([A-Za-z]*Laws), ([A-Za-z]+)\\)");
  for (std::sregex_iterator test(tests.begin(), tests.end(), title), end; test != end; ++test) {
    std::string const law = "`" + (*test)[1].str() + "." + (*test)[2].str() + "`";
    EXPECT_NE(page.find(law), std::string::npos) << "no page names " << law;
  }
}

// All code is one program; a `prints` block is the output of the code above it.
TEST(Docs, CodeCompilesAndPrints) {
  std::string program =
      "#include <iostream>\n#include <zellige/layout/runtime.hpp>\n#include <zellige/tensor.hpp>\n"
      "#include <zellige/tensor/print.hpp>\nusing namespace zellige;\n";
  std::string main = "int main() {\n", expected;
  std::vector<Block> const all = blocks();
  int count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind != "cpp") continue;
    std::string const name = "block" + std::to_string(count++);
    // A struct at the start of a block is outside of the function, where it may have friends.
    bool outside = all[i].lines[0].rfind("struct ", 0) == 0;
    if (!outside) program += "void " + name + "() {\n";
    for (std::string const& line : all[i].lines) {
      program += line + "\n";
      if (outside && line == "};") outside = false, program += "void " + name + "() {\n";
    }
    program += "}\n";
    if (i + 1 == all.size() || all[i + 1].kind != "prints") continue;
    main += "  " + name + "();\n";
    for (std::string const& line : all[i + 1].lines) expected += line + "\n";
  }
  ASSERT_EQ(count, 6);
  std::string const file = testing::TempDir() + "zellige_docs";
  std::ofstream(file + ".cpp") << program << main << "}\n";
  std::string const command = ZELLIGE_CXX " -std=c++20 -I \"" ZELLIGE_SOURCE_DIR "/include\" " + file + ".cpp -o " +
                              file + " && " + file + " > " + file + ".txt";
  ASSERT_EQ(std::system(command.c_str()), 0) << program;
  EXPECT_EQ(read(file + ".txt"), expected);
}

}  // namespace
}  // namespace zellige
