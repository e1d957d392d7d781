// Lets ranks exchange tiles at the start of a kernel, so that it reads what they have published in each other's memory, or at its end, so
// that what it computes is added over ranks.
//
//   // inputs 0 and 1 of the program are the windows of two ranks
//   Plan p = with_symmetric(scheduled(...), {.tensor = "x", .ranks = 2});
//   // output p of the program is what each rank has of a sum
//   Plan q = with_symmetric(scheduled(...), {.tensor = "p", .ranks = 2, .at_end = true});
//   // input 0 of the program has the rows of all ranks, of which each has its part in x
//   Plan s = with_symmetric(scheduled(...), {.tensor = "x", .ranks = 2, .gathers = true});
//
// The program gets inputs after its own: what kernel::SymmetricExchange names besides.
#pragma once
#include "plan/plan.hpp"

namespace zellige::plan {

/// What is exchanged. At the start the program's first inputs are the windows, by rank; in two shots its first input is the sum.
struct Exchanged {
  std::string tensor;  // the name of the tensor that goes to a window: it becomes an input or, at the end, is an output
  int ranks = 1;
  bool two_shots = false, at_end = false;
  bool scatters = false;  // at the end: each rank keeps its part of the sum
  bool maximum = false;   // in place of the sum
  bool gathers = false;   // at the start: the program's first input has the rows of all ranks
};

/// Returns the plan with an exchange in the one kernel that reads the windows, or stores the output. Throws Error, with the reason, if
/// they cannot do so there.
Plan with_symmetric(Plan, const Exchanged&);

}  // namespace zellige::plan
