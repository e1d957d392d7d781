// An account for a terminal, in about 40 lines.
#pragma once
#include <string>

#include "explain/account.hpp"

namespace zellige::explain {

/// Returns the account for a terminal: the graph, what bounds each launch, its tensors in shared memory, and the tilings that were not taken.
std::string text(const Account&);

/// Returns how two accounts differ, launch by launch and resource by resource; of launches that only one has, that one alone.
std::string comparison(const Account& a, const Account& b);

/// Returns a number of bytes in words: "50.3 MB".
std::string bytes_text(double bytes);

}  // namespace zellige::explain
