// The figures of many graphs, file by file: how many are right, the largest error, the times, and what the
// emulator counted.
#pragma once
#include <string>
#include <vector>

#include "run/result.hpp"

namespace zellige::cli {

/// A table with a row for each file in the order given, and one for all if there are several.
std::string tally(const std::vector<run::RunResult>&);

}  // namespace zellige::cli
