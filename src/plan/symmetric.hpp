// Lets ranks exchange tiles at the start of a kernel, so that it reads what they have published in each other's memory.
//
//   // inputs 0 and 1 of the program are the windows of two ranks
//   Plan p = with_symmetric(scheduled(...), {.published = "x", .ranks = 2});
//
// The program gets inputs after its own, in the order of SymmetricInput: the tensor that is published, this rank's window, the
// flags by rank, and the state (kernel::SymmetricExchange).
#pragma once
#include "plan/plan.hpp"

namespace zellige::plan {

/// What is exchanged: the program's first inputs are the windows, by rank.
struct Exchanged {
  std::string published;  // the name of the tensor that goes to a window
  int ranks = 1;
};

/// Returns the plan with an exchange in the one kernel that reads the windows. Throws Error, with the reason, if they cannot do so there.
Plan with_symmetric(Plan, const Exchanged&);

}  // namespace zellige::plan
