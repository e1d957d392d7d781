// Counts the results of many graphs and prints a table with a row per file: how many graphs are correct, the
// largest error, times, and the emulator's counters.
#pragma once
#include <memory>
#include <string>

#include "run/result.hpp"

namespace zellige::cli {

/// Collects results, one row of the table per file.
class Tally {
 public:
  Tally();
  ~Tally();
  void add(const run::RunResult&);
  /// Returns the table: one row per file, in order of appearance. If there are several files, a last row has
  /// the totals.
  std::string text() const;

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace zellige::cli
