// docs/reference/refusals.md is correct: every mistake listed for compile time is an error with these words,
// all in one compilation; every one for run time throws a LayoutError with its words.
#include <map>
#include <regex>
#include <vector>

#include "compiler.hpp"

namespace compile_test {
namespace {

struct Row {
  int line = 0;  // of docs/reference/refusals.md
  std::string guards, refused, mistake, message;
};
std::string without_ticks(std::string const& s) {
  return s.size() >= 2 && s.front() == '`' && s.back() == '`' ? s.substr(1, s.size() - 2) : s;
}
std::vector<Row> rows() {
  std::ifstream page(ZELLIGE_SOURCE_DIR "/docs/reference/refusals.md");
  std::vector<Row> all;
  int line = 0;
  for (std::string text; std::getline(page, text);) {
    ++line;
    if (!text.starts_with("| ") || text.starts_with("| CuTe guards")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 2; at <= text.size();) {
      std::size_t const end = std::min(text.find(" |", at), text.size());
      cells.push_back(text.substr(at, end - at));
      at = end + 3;
    }
    EXPECT_GE(cells.size(), 4u) << text;
    if (cells.size() >= 4) all.push_back({line, cells[0], cells[1], without_ticks(cells[2]), without_ticks(cells[3])});
  }
  return all;
}
std::string const headers = R"(
#include <zellige/atom/bulk_copy_call.hpp>
#include <zellige/atom/gmma_call.hpp>
#include <zellige/atom/gmma_names_ext.hpp>
#include <zellige/atom/gmma_selector.hpp>
#include <zellige/atom/mma_call.hpp>
#include <zellige/container/array.hpp>
#include <zellige/container/bit_field.hpp>
#include <zellige/layout/mixed_bits.hpp>
#include <zellige/layout/print.hpp>
#include <zellige/layout/ratio.hpp>
#include <zellige/tensor/cooperative.hpp>
#include <zellige/tensor/prefetch.hpp>
#include <zellige/tensor/reduce.hpp>
#include <zellige/tensor/sparse.hpp>
#include <zellige/tensor/zip.hpp>
using namespace zellige;
)";

/// The errors of a compilation, by the line that asked for what failed.
std::map<int, std::vector<std::string>> errors_by_line(std::string const& output) {
  std::map<int, std::vector<std::string>> found;
  std::istringstream lines(output);
  std::regex const place("refusals\\.md:([0-9]+)");
  std::string context;
  for (std::string text; std::getline(lines, text);) {
    std::size_t const at = text.find("error: ");
    if (at == std::string::npos) {
      if (text.find(": In ") != std::string::npos) context.clear();
      context += text + "\n";
      continue;
    }
    int line = 0;
    std::string const all = context + text;
    for (std::sregex_iterator i(all.begin(), all.end(), place), end; i != end; ++i) line = std::stoi((*i)[1]);
    found[line].push_back(text.substr(at + 7));
    context.clear();
  }
  return found;
}

TEST(Refusals, AtCompileTime) {
  std::string text = headers;
  int count = 0;
  for (Row const& r : rows()) {
    if (r.refused != "compile time") continue;
    ++count;
    std::string const n = std::to_string(r.line);
    text += "#line " + n + " \"refusals.md\"\nvoid mistake_" + n +
            "([[maybe_unused]] float* p, [[maybe_unused]] half_t* h, [[maybe_unused]] smem<half_t> s, "
            "[[maybe_unused]] int n) { Layout<Shape<_4, _8>> l; (void)l; " +
            r.mistake + " }\n";
  }
  EXPECT_GE(count, 100);
  // g++ says every error of a unit, and with each from where it came; others may stop.
  Compiled const c =
      run("g++ -std=c++20 -fsyntax-only -w -fmax-errors=0 -fno-diagnostics-show-caret -DZELLIGE_EMULATE" + include_flag,
          "refusals.cpp", text);
  auto const found = errors_by_line(c.output);
  for (Row const& r : rows()) {
    if (r.refused != "compile time") continue;
    auto const errors = found.find(r.line);
    if (errors == found.end()) {
      ADD_FAILURE() << "docs/reference/refusals.md:" << r.line << " compiles: " << r.mistake;
      continue;
    }
    EXPECT_NE(errors->second[0].find(r.message), std::string::npos)
        << "docs/reference/refusals.md:" << r.line << ": " << r.mistake << "\n  says " << errors->second[0]
        << "\n  not " << r.message;
    EXPECT_FALSE(r.message.empty()) << r.line;
    EXPECT_LE(errors->second.size(), 3u) << "docs/reference/refusals.md:" << r.line << ": " << r.mistake;
  }
}

TEST(Refusals, AtRunTime) {
  std::string text =
      "#include <zellige/atom/copy_call.hpp>\n#include <zellige/atom/tma_copy.hpp>\n"
      "#include <zellige/tensor/cooperative.hpp>\nusing namespace zellige;\n"
      "#include <cstdio>\ntemplate <class F> void mistake(int line, F f) {\n"
      "  try { f(); std::printf(\"%d nothing\\n\", line); }\n"
      "  catch (std::exception const& e) { std::printf(\"%d %s\\n\", line, e.what()); }\n}\n"
      "alignas(1024) float memory[8192];\nint main() {\n"
      "  [[maybe_unused]] float* p = memory;\n  [[maybe_unused]] int n = 2;\n"
      "  [[maybe_unused]] half_t* h = reinterpret_cast<half_t*>(memory);\n";
  std::map<int, Row> expected;
  for (Row const& r : rows()) {
    if (r.refused != "run time") continue;
    expected[r.line] = r;
    text += "  mistake(" + std::to_string(r.line) + ", [&] { " + r.mistake + " });\n";
  }
  text += "}\n";
  EXPECT_GE(expected.size(), 10u);
  std::string const program = scratch("refusals");
  Compiled const c = run("g++ -std=c++20 -w" + include_flag + "-o " + program, "refusals_run.cpp", text);
  ASSERT_EQ(c.status, 0) << c.output;
  std::FILE* out = popen(program.c_str(), "r");
  char line[2000];
  while (std::fgets(line, sizeof line, out) != nullptr) {
    Row const& r = expected[std::atoi(line)];
    EXPECT_FALSE(r.message.empty()) << line;
    EXPECT_NE(std::string(line).find(r.message), std::string::npos)
        << "docs/reference/refusals.md:" << r.line << ": " << r.mistake << "\n  says " << line << "  not " << r.message;
    expected.erase(r.line);
  }
  EXPECT_EQ(pclose(out), 0);
  EXPECT_TRUE(expected.empty()) << expected.begin()->second.mistake << " was not reached";
}

}  // namespace
}  // namespace compile_test
