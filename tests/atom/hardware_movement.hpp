// Shared by the programs that check the rows of sm90.hpp.
#pragma once
#include <zellige/atom/sm90.hpp>

#include "hardware.hpp"

namespace zellige {

inline int within(int low, int high) {
  return low + static_cast<int>(generator() % static_cast<unsigned>(high - low + 1));
}

/// Prints which rows of the program's own were not proved; its exit status.
template <class Own>
int conclude(Own own) {
  std::size_t missing = 0;
  for (const Instruction& row : movement_rows) {
    if (!own(row) || proved.contains(row.name)) continue;
    std::printf("%s has no proof here\n", row.name);
    ++missing;
  }
  all_hold = all_hold && missing == 0;
  std::printf("\n%zu rows: %s\n", proved.size(), all_hold ? "all hold" : "FAILED");
  return all_hold ? 0 : 1;
}

}  // namespace zellige
