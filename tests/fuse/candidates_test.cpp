// The order of dependent pieces, against their dependences.
#include "fuse/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace zellige::fuse {
namespace {

/// For each piece its operators, and those that it reads.
struct Pieces {
  std::vector<std::vector<int>> ops;
  std::vector<OperatorSet> before;
  std::size_t operators = 0;

  Waits waits() const {
    std::vector<Candidate> candidates;
    for (std::size_t p = 0; p < ops.size(); ++p)
      candidates.push_back({OperatorSet(operators, ops[p]), before[p], ops[p]});
    std::vector<std::size_t> nodes(ops.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    return {candidates, nodes, operators};
  }
  std::size_t piece_of(int op) const {
    for (std::size_t p = 0; p < ops.size(); ++p)
      if (std::ranges::count(ops[p], op) > 0) return p;
    return ops.size();
  }
};

/// Operators read earlier ones, and are dealt out to pieces at random: some of these wait for each other.
Pieces random_pieces(std::mt19937& random) {
  Pieces result;
  result.operators = 2 + random() % 10;
  const std::size_t count = 1 + random() % result.operators;
  std::vector<std::vector<int>> ops(count);
  for (std::size_t op = 0; op < result.operators; ++op) ops[random() % count].push_back(static_cast<int>(op));
  std::erase_if(ops, [](const std::vector<int>& p) { return p.empty(); });
  result.ops = ops;
  result.before.assign(ops.size(), OperatorSet(result.operators));
  for (std::size_t op = 1; op < result.operators; ++op)
    for (std::size_t reads = random() % 3; reads > 0; --reads) {
      const int read = static_cast<int>(random() % op);
      const std::size_t p = result.piece_of(static_cast<int>(op));
      if (result.piece_of(read) != p) result.before[p].add(read);
    }
  return result;
}

/// Is there an order at all? Whoever waits for none of what is left goes first, until nobody can.
bool can_run(const Pieces& pieces) {
  std::vector<bool> done(pieces.ops.size());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t p = 0; p < pieces.ops.size(); ++p) {
      const bool ready =
          std::ranges::all_of(pieces.before[p].list(), [&](int op) { return done[pieces.piece_of(op)]; });
      if (!done[p] && ready) done[p] = more = true;
    }
  }
  return std::ranges::count(done, false) == 0;
}

TEST(Waits, AnOrderOrACircle) {
  int orders = 0, circles = 0;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    const Pieces pieces = random_pieces(random);
    std::vector<int> ranks;
    for (const std::vector<int>& ops : pieces.ops) ranks.push_back(ops[0]);
    const Waits waits = pieces.waits();
    const auto order = waits.in_order(ranks);
    const std::vector<std::size_t> circle = waits.circle();
    ASSERT_EQ(order.has_value(), can_run(pieces)) << seed;
    ASSERT_EQ(order.has_value(), circle.empty()) << seed;
    if (!order) {
      ++circles;
      for (std::size_t i = 0; i < circle.size(); ++i)  // each waits for the one before it
        EXPECT_TRUE(std::ranges::any_of(pieces.before[circle[(i + 1) % circle.size()]].list(), [&](int op) {
          return pieces.piece_of(op) == circle[i];
        })) << seed;
      continue;
    }
    ++orders;
    std::vector<bool> done(pieces.ops.size());
    const auto ready = [&](std::size_t p) {
      return !done[p] &&
             std::ranges::all_of(pieces.before[p].list(), [&](int op) { return done[pieces.piece_of(op)]; });
    };
    for (std::size_t p : *order) {
      EXPECT_TRUE(ready(p)) << seed;
      for (std::size_t other = 0; other < ranks.size(); ++other)
        if (ready(other)) EXPECT_GE(ranks[other], ranks[p]) << seed;
      done[p] = true;
    }
    EXPECT_EQ(std::ranges::count(done, false), 0) << seed;
  }
  EXPECT_GT(orders, 100);
  EXPECT_GT(circles, 100);
}

}  // namespace
}  // namespace zellige::fuse
