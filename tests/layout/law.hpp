// Laws by brute force: a law without any valid case fails.
#pragma once
#include <gtest/gtest.h>

#include "random_layouts.hpp"

namespace zellige::test {

struct Tally {
  int accepted = 0;
  int refused = 0;
};
/// Runs a law on random operands. The law returns false where the result is wrong, says in `what` of what, and throws
/// LayoutError where the operation refuses. At least `minimum` cases must be accepted.
template <class Law>
Tally holds(int cases, int minimum, unsigned seed, Law law) {
  Random random(seed);
  Tally tally;
  for (int i = 0; i < cases; ++i) {
    std::string what;
    try {
      bool const right = law(random, what);
      if (!right) {
        ADD_FAILURE() << "case " << i << " of seed " << seed << ": " << what;
        return tally;
      }
      ++tally.accepted;
    } catch (LayoutError const&) {
      ++tally.refused;
    }
  }
  EXPECT_GT(minimum, 0) << "a law without a bound holds for want of cases";
  EXPECT_GE(tally.accepted, minimum) << "of " << cases << " cases " << tally.refused << " were refused";
  return tally;
}
/// Cases that a law does not speak of count as refused.
inline void require(bool premise) {
  if (!premise) throw LayoutError("outside the law", {});
}

}  // namespace zellige::test
