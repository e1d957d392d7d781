// Counts the results of many graphs and prints a table with a row per file: how many graphs are correct, the
// largest error, times, and the emulator's counters.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "run/result.hpp"

namespace zellige::cli {

/// Collects results, one row of the table per file.
class Tally {
 public:
  /// Statistics of the graphs of one file.
  struct Row {
    std::string name;
    int graphs = 0, correct = 0, borderline = 0, wrong = 0, refused = 0, failed = 0;
    int other = 0;  // not compared
    double error = 0, worst = 0;
    std::vector<double> compile_s;
    double run_s = 0;
    std::map<std::string, std::uint64_t> counters;
  };
  void add(const run::RunResult&);
  const Row& all() const { return all_; }
  /// Returns the table: one row per file, in order of appearance. If there are several files, a last row has
  /// the totals.
  std::string text() const;

 private:
  std::vector<Row> rows_;
  Row all_{.name = "all"};
};

}  // namespace zellige::cli
