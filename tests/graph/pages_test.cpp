// docs/reference describes every operator: in graph-ir.md with its levels, in verdicts.md with the error of its arithmetic.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "graph/elementwise.hpp"
#include "graph/ops.hpp"

namespace zellige::graph {
namespace {

/// The rows of a page's table whose head begins with `| operator | SECOND |`: the cell `SECOND` by operator.
std::map<std::string, std::string> rows(const std::string& page, const std::string& second) {
  std::ifstream in(ZELLIGE_SOURCE_DIR "/docs/reference/" + page);
  std::string line;
  while (std::getline(in, line) && !line.starts_with("| operator | " + second + " |")) continue;
  std::map<std::string, std::string> found;
  while (std::getline(in, line) && line.starts_with("|")) {
    const std::size_t end = line.find(" | ");
    const std::regex name("`(\\w+)`");
    const std::string names = line.substr(0, end), rest = line.substr(end + 3);
    for (std::sregex_iterator it(names.begin(), names.end(), name), none; it != none; ++it) {
      const std::string cell = rest.substr(0, rest.find(" |"));
      EXPECT_TRUE(found.emplace((*it)[1], cell).second) << page << " has " << (*it)[1] << " twice";
    }
  }
  return found;
}

TEST(Pages, GraphsHaveEveryOperatorWithItsLevels) {
  std::map<std::string, std::string> listed = rows("graph-ir.md", "level"), wanted;
  for (const OpKind kind : all_ops()) {
    const OpInfo& row = info(kind);
    if (is_boundary(kind) || row.family == OpFamily::custom) continue;  // they have keys of their own
    wanted[std::string(row.name)] = row.kernel && row.block ? "K B" : row.kernel ? "K" : "B";
  }
  EXPECT_EQ(listed, wanted) << "docs/reference/graph-ir.md#operators";
}

/// Half-ulps of the result by which a kernel's f(x) may differ from f(x), by the operator's row; nullopt if it depends on x.
std::optional<double> units(OpKind kind) {
  std::optional<double> found;
  for (const double x : {-3.0, -0.5, 0.25, 2.0}) {
    const double operands[] = {x, 1.5, 1};
    const double y = apply(kind, {.scalar = 0.75, .lo = -1, .hi = 1}, operands);
    const double here = elementwise(kind).own(operands, y, 1, 0);
    if (found && here != *found) return std::nullopt;
    found = here;
  }
  return found;
}

TEST(Pages, VerdictsHaveEveryErrorOfArithmetic) {
  const std::map<std::string, std::string> listed = rows("verdicts.md", "r");
  for (const OpKind kind : all_ops()) {
    if (!is_elementwise(kind)) continue;
    const auto row = listed.find(std::string(name(kind)));
    const std::optional<double> r = units(kind);
    ASSERT_EQ(row == listed.end(), r == 0) << name(kind) << " in docs/reference/verdicts.md#the-reference";
    if (row == listed.end()) continue;
    const bool constant = row->second.find_first_not_of("0123456789") == std::string::npos;
    EXPECT_TRUE(!constant || r == std::stod(row->second)) << name(kind) << ": " << row->second;
  }
}

}  // namespace
}  // namespace zellige::graph
