// Which thread has which element of a tile in registers, as a page shows it.
#pragma once
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace zellige::explain {

/// A tile in registers: its thread-value layout, and who has the elements of its first rows.
struct RegisterAccount {
  std::string id, shape;        // t0, as in the plan; (16, 64)
  std::string instruction;      // that gives the layout; "": none
  int threads = 0, values = 0;  // values per thread and pass
  int copies = 1;               // threads that have each element
  /// Of the first rows and columns of the tile's last two dimensions, at most 16 by 32: the first thread that has the element,
  /// and the number of the value there; -1 if none has it.
  int rows = 0, columns = 0;
  std::vector<int> thread, value;
};

/// Returns the tiles in registers of a kernel, in the order of the plan.
std::vector<RegisterAccount> registers(const kernel::Kernel&);

}  // namespace zellige::explain
