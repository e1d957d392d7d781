// Statistics of many graphs per file: how many are correct, the largest error, the times, and the emulator's
// counters.
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
  /// A table with a row per file, in order of appearance, and one for all files if there are several.
  std::string text() const;

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace zellige::cli
