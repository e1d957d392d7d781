// What bounds a launch: the resource of the cost model that takes longest, in a sentence with its numbers.
#pragma once
#include <string>

#include "explain/account.hpp"

namespace zellige::explain {

/// Returns the account of a launch's expected time: its resources, the sentence about the one that takes longest, and its occupancy.
LaunchAccount of_launch(const cost::KernelCost&, const target::Target&);

/// Returns in words on which launch and resource another plan loses most: "kernel 1: DRAM takes 13.1 us, 3.0 us more".
std::string lost_on(const predict::CostEstimate& own, const predict::CostEstimate& other);

}  // namespace zellige::explain
