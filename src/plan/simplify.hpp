// Simplify: a block program that computes the same numbers with less to do, by rules that hold exactly in float32 too.
//
//   round(cast(x))        the cast to the round's own dtype is left out, and so it is in front of a store
//   max(c x) = c max(x)   c > 0: rounding keeps the order, so one number a row is multiplied in place of all
//   mask(c x) = c mask(x) where what stands in place of the masked is minus infinity, so that the rule before comes to bear
//
// After lower, before share. Numbers the nodes anew.
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

void simplify(BlockProgram&);

}  // namespace zellige::plan
