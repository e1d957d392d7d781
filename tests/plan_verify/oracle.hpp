// The verifier's oracle: every interleaving of two threads an agent, by brute force.
//
// A race is a reachable moment at which one thread is about to make an access and another is about to make a
// conflicting one, or has started an asynchronous one that may still be under way. No clocks, no
// happens-before. It knows ordinary work, barriers, cp.async groups and TMA loads through mbarriers; proxies
// it does not know.
#pragma once
#include "../plan/flat_steps.hpp"

namespace zellige::plan {

/// The agent's steps with its loops written out and its guards decided.
Schedule written_out(const Schedule&);

/// "" where no interleaving goes wrong, else what goes wrong. Precondition: no loops, no guards.
std::string explore(const Schedule&);

}  // namespace zellige::plan
