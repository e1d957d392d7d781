// Why a step waits, in words.
//
//   reasons(kernel, agent)[7]   // "until the copies into sX0 and sX1 that this iteration reads have arrived"
#pragma once
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace zellige::explain {

/// Returns, for each step of a warp role in the order of kernel::walk(), what it waits for and which data that protects; "" for
/// steps that do not wait.
std::vector<std::string> reasons(const kernel::Kernel&, int agent);

}  // namespace zellige::explain
