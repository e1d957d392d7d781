// The verifier's oracle: every interleaving of two threads per agent, by brute force.
//
// A race is a reachable state in which one thread is about to make an access and another is about to make a
// conflicting one, or has started an asynchronous one that may still be in flight. No clocks, no
// happens-before. It models ordinary work, barriers, cp.async groups and TMA loads through mbarriers, but not
// proxies.
#pragma once
#include "../plan/flat_steps.hpp"

namespace zellige::plan {

/// The agent's steps with its loops written out and its guards decided.
kernel::Kernel written_out(const kernel::Kernel&);

/// "" where no interleaving goes wrong, else what goes wrong. Precondition: no loops, no guards.
std::string explore(const kernel::Kernel&);

}  // namespace zellige::plan
