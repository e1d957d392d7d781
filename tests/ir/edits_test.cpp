// Edited sources: a step that is deleted is refused at a line, and no edit of a word does anything but be refused or
// compile.
#include <gtest/gtest.h>

#include <algorithm>

#include "../unfused.hpp"
#include "all_cases.hpp"
#include "emit/emit.hpp"
#include "fuse/custom.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "run/compile.hpp"

namespace zellige::ir {
namespace {

std::vector<std::string> lines_of(const char* example, const char* target) {
  const graph::KernelGraph graph = json::load(fmt::format("{}/examples/{}.json", ZELLIGE_SOURCE_DIR, example)).front();
  plan::PlanOptions options = run::tiling_options("given", target::find(target));
  const std::string text = print(test::transpile(graph, target::find(target), options));
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Returns the mistake in a source; "" if it has none.
std::string mistake(const std::string& text) {
  try {
    verify(parse(text, "x.ir"), "x.ir");
    return "";
  } catch (const Mistake& e) {
    return e.what();
  }
}

/// Returns whether the line is a step that does something: no loop, and no heading.
bool is_step(const std::vector<std::string>& lines, std::size_t i) {
  std::size_t heading = i;
  while (heading > 0 && lines[heading].starts_with("    ")) --heading;
  return lines[i].starts_with("    ") && lines[heading].starts_with("  agent") &&
         lines[i].find(" loop ") == std::string::npos;
}

struct Deletions : testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Deletions, OfAStepIsRefused) {
  const std::vector<std::string> lines = lines_of(GetParam().first, GetParam().second);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_step(lines, i)) continue;
    std::vector<std::string> rest = lines;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const std::string refused = mistake(joined(rest));
    EXPECT_TRUE(refused.starts_with("x.ir:")) << lines[i] << "\n" << refused;
  }
}

TEST_P(Deletions, OfAnyLineOrWordNeverDoesHarm) {
  const std::vector<std::string> lines = lines_of(GetParam().first, GetParam().second);
  std::size_t tried = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const char* other : {"", "0", "3", "-1", "%99", "gQ", "(1,2)", "_4:_1"})
      for (std::size_t at = lines[i].find_first_not_of(' '); at < lines[i].size();) {
        const std::size_t end = std::min(lines[i].find_first_of(" ,()", at + 1), lines[i].size());
        if (tried++ % test::every(7) == 0) {
          std::vector<std::string> edited = lines;
          edited[i].replace(at, end - at, other);
          const std::string refused = mistake(joined(edited));
          EXPECT_TRUE(refused.empty() || refused.starts_with("x.ir:")) << edited[i] << "\n" << refused;
        }
        at = end;
      }
  }
}

TEST(Edits, AValueIsInALayoutOfItsShape) {
  std::vector<std::string> lines = lines_of("gemm", "sm_80");
  const auto holder = std::ranges::find_if(lines, [](const std::string& l) { return l.ends_with(" holds %3"); });
  ASSERT_NE(holder, lines.end());
  holder->back() = '2';  // the bias, one row
  EXPECT_EQ(mistake(joined(lines)),
            fmt::format("x.ir:{}:3: %2, which t0 holds, is of another shape", holder - lines.begin() + 1));
}

INSTANTIATE_TEST_SUITE_P(Ir, Deletions,
                         testing::Values(std::pair{"gemm", "sm_80"}, std::pair{"gemm", "sm_90a"},
                                         std::pair{"attention", "sm_80"}, std::pair{"lora", "sm_90a"}));

}  // namespace
}  // namespace zellige::ir
