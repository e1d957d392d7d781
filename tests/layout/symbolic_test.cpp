// Run-time leaves at compile time: the tape records expressions and checks once, without values, and they are
// computed later. Here the same tape is evaluated by a loop, for random layouts, and the result must be the
// function that the operation defines, or a check must have caught it.
#include <gtest/gtest.h>

#include <algorithm>

#include "random_layouts.hpp"
#include "tape_values.hpp"

namespace zellige::test {
namespace {

struct Counts {
  int sound = 0;
  int refused = 0;
};
/// Runs op on a and b with symbolic leaves; `law` says whether the result is right.
template <class Law>
void try_one(Op op, Value const& a, Value const& b, Counts& counts, Law law) {
  std::vector<long long> inputs;
  Values args;
  args.push_back(with_inputs(a, inputs));
  args.push_back(with_inputs(b, inputs));
  Tape tape(int(inputs.size()));
  Value const symbolic = apply(op, tape, args);
  if (tape.failed()) {
    ++counts.refused;
    return;
  }
  Computed const c = compute_all(tape, inputs, symbolic);
  if (c.caught) {
    ++counts.refused;
    return;
  }
  ++counts.sound;
  EXPECT_TRUE(law(c.result)) << to_text(a) << " and " << to_text(b) << " give " << to_text(c.result);
}

// composition(A, B)(i) = A(B(i)), whatever is known when.
TEST(Symbolic, CompositionIsApplicationTwice) {
  Random random(21);
  Counts counts;
  for (int n = 0; n < 160000 && !testing::Test::HasFailure(); ++n) {
    Value const a = random.layout(4, random.below(2) != 0), b = random.layout(3, random.below(2) != 0);
    try_one(Op::composition, a, b, counts, [&](Value const& r) {
      Indexer const outer(a), inner(b), both(r);
      for (long long i = 0, end = size(b); i < end; ++i) {
        if (both(i) != outer(inner(i))) return false;
      }
      return true;
    });
  }
  EXPECT_GT(counts.sound, 40000);
  EXPECT_GT(counts.refused, 20000);
}

// Every element of the divided layout is one of the layout's, and where nothing was rounded up each exactly
// once.
TEST(Symbolic, DivideHasTheElementsOfTheLayout) {
  Random random(22);
  Counts counts;
  for (int n = 0; n < 20000 && !testing::Test::HasFailure(); ++n) {
    Value const a = random.layout(3, true), tile = number(random.number(random.pick({1, 2, 3, 4, 6})));
    try_one(Op::logical_divide, a, tile, counts, [&](Value const& r) {
      if (size(r) != size(a)) return size(r) > size(a);
      std::vector<long long> mine = values(r), all = values(a);
      std::sort(mine.begin(), mine.end());
      std::sort(all.begin(), all.end());
      return mine == all;
    });
  }
  EXPECT_GT(counts.sound, 5000);
}

// A block and its copies are disjoint: logical_product's second mode steps over whole blocks.
TEST(Symbolic, ProductRepeatsTheBlock) {
  Random random(23);
  Counts counts;
  for (int n = 0; n < 20000 && !testing::Test::HasFailure(); ++n) {
    Value const a = random.layout(2, true), times = mode(random.number(random.pick({1, 2, 3, 5})), {fixed(1)});
    try_one(Op::logical_product, a, times, counts, [&](Value const& r) {
      std::vector<long long> all = values(r);
      std::sort(all.begin(), all.end());
      return std::adjacent_find(all.begin(), all.end()) == all.end() && size(r) == size(a) * size(times);
    });
  }
  EXPECT_GT(counts.sound, 5000);
}

}  // namespace
}  // namespace zellige::test
