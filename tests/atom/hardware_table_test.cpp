// docs/hardware.md keeps what the programs hardware*.cu print on a GPU: every row of the tables must be
// there, and hold.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/mma_traits/table.hpp>
#include <zellige/atom/sm90.hpp>
#include <zellige/atom/text.hpp>

namespace zellige {
namespace {

/// name -> the line's verdict. `MMA_..._SS<K,MN>`: forms of one row, all of which must hold.
std::map<std::string, std::string> proofs() {
  std::ifstream in(ZELLIGE_SOURCE_DIR "/docs/hardware.md");
  std::map<std::string, std::string> found;
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("| `", 0) != 0) continue;
    std::string name = line.substr(3, line.find('`', 3) - 3);
    const std::string verdict = line.find("| holds |") != std::string::npos ? "holds" : "fails";
    if (name.find("GMMA") != std::string::npos) name = name.substr(0, name.find('<'));
    std::string& all = found[name];
    if (all != "fails") all = verdict;
  }
  return found;
}

TEST(HardwareTable, HasEveryRowAndEveryRowHolds) {
  const auto found = proofs();
  if (found.empty()) GTEST_SKIP() << "docs/hardware.md is not there: run tests/atom/hardware*.cu on a GPU";
  int rows = 0;
  const auto expect = [&](const std::string& name) {
    ++rows;
    const auto row = found.find(name);
    if (row == found.end())
      ADD_FAILURE() << name << " has no line in docs/hardware.md";
    else
      EXPECT_EQ(row->second, "holds") << name;
  };
  for (const Instruction& row : sm80_instructions) expect(row.name);
  for (const MovementRow& row : movement_rows) expect(row.name);
  each_mma_row([&](const MmaRow& row) { expect(mma_name(row)); });
  EXPECT_EQ(rows, 20 + 118 + 8 + 3 + 65 + 8 + 6 + 32 * 24 + 18 * 16);
}

}  // namespace
}  // namespace zellige
