// tests/atom/data/h200.tsv keeps what the programs hardware*.cu print on a GPU: every row of the tables must
// be there, and hold; docs/reference/hardware.md says of each program how many rows, how many bit for bit, how near the
// bound.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/mma_traits/table.hpp>
#include <zellige/atom/sm90.hpp>
#include <zellige/atom/text.hpp>

namespace zellige {
namespace {

struct Proof {
  std::string program, row, equal, of_bound, verdict;
};

std::vector<Proof> proofs() {
  std::ifstream in(ZELLIGE_SOURCE_DIR "/tests/atom/data/h200.tsv");
  std::vector<Proof> found;
  std::string line;
  std::getline(in, line);  // the columns' names
  while (std::getline(in, line)) {
    std::vector<std::string> columns;
    std::istringstream text(line);
    for (std::string column; std::getline(text, column, '\t');) columns.push_back(column);
    if (columns.size() != 7) throw std::runtime_error("h200.tsv: " + line);
    found.push_back({columns[0], columns[1], columns[3], columns[5], columns[6]});
  }
  return found;
}

TEST(HardwareTable, HasEveryRowAndEveryRowHolds) {
  std::map<std::string, std::string> verdict;  // `MMA_..._SS<K,MN>`: forms of one row, all of which must hold
  for (const Proof& p : proofs()) {
    const bool form = p.row.find("GMMA") != std::string::npos;
    std::string& all = verdict[form ? p.row.substr(0, p.row.find('<')) : p.row];
    if (all.empty() || p.verdict != "holds") all = p.verdict;
  }
  const auto expect = [&](const std::string& name) {
    const auto row = verdict.find(name);
    if (row == verdict.end())
      ADD_FAILURE() << name << " has no line in tests/atom/data/h200.tsv: run tests/gpu/hardware_table.py --run";
    else
      EXPECT_EQ(row->second, "holds") << name;
  };
  for (const Instruction& row : sm80_instructions) expect(row.name);
  for (const Instruction& row : movement_rows) expect(row.name);
  each_mma_row([&](const MmaRow& row) { expect(mma_name(row)); });
}

TEST(HardwareTable, TheSummaryIsTheDatas) {
  std::ostringstream page;
  page << std::ifstream(ZELLIGE_SOURCE_DIR "/docs/reference/hardware.md").rdbuf();
  struct Sum {
    int rows = 0, equal = 0;
    double nearest = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Proof& p : proofs()) {
    Sum& s = sums[p.program];
    ++s.rows, s.equal += p.equal == "100.0000", s.nearest = std::max(s.nearest, std::stod(p.of_bound));
  }
  ASSERT_EQ(sums.size(), 5u);
  for (const auto& [program, s] : sums) {
    const std::string cells = fmt::format(" | {} | {} | {} |", s.rows, s.equal, s.nearest);
    const auto line = page.str().find("`tests/atom/" + program + ".cu`");
    ASSERT_NE(line, std::string::npos) << program;
    EXPECT_NE(page.str().substr(line, page.str().find('\n', line) - line).find(cells), std::string::npos)
        << program << cells;
  }
}

}  // namespace
}  // namespace zellige
