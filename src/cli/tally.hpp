// The figures of many graphs, file by file: how many are right, the largest error, the times, and what the
// emulator counted.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "run/result.hpp"

namespace zellige::cli {

class Tally {
 public:
  Tally();
  ~Tally();
  void add(const run::RunResult&);
  /// A table with a row for each file in the order in which they came, and one for all if there are several.
  std::string text() const;

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace zellige::cli
