// Row by row every element has exactly one owner, and it takes at most an eighth more steps than round-robin
// chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernel/evaluated_layout.hpp"
#include "selection/copies.hpp"

namespace zellige::plan {
namespace {

TEST(RowBlockedLayout, OfRandomTilesTakesEachElementOnceInFewSteps) {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int taken = 0;
  for (int i = 0; i < 400; ++i) {
    const int vector = 1 << below(4), threads = 32 << below(5);
    const graph::Shape domain{1 + below(3), 1 + below(40), std::int64_t{vector} * (1 + below(100))};
    const std::optional<kernel::Context> c = selection::row_blocked_layout(domain, 2, vector, 2, threads);
    if (domain[0] * domain[1] == 1) EXPECT_FALSE(c);
    if (!c) continue;
    ++taken;
    const std::string where =
        fmt::format("{} by {} in {} threads: {}", graph::to_string(domain), vector, threads, kernel::print(*c));
    EXPECT_EQ(c->threads(), threads) << where;
    const std::int64_t chunks = graph::size(domain) / vector, dealt = tile::ceil_div(chunks, threads);
    EXPECT_LE(8 * c->steps(0) * c->steps(1), 9 * dealt) << where;
    std::vector<int> times(static_cast<std::size_t>(graph::size(domain)), 0);
    kernel::for_each(kernel::EvaluatedLayout(*c), [&](int, int, const graph::Shape& at) {
      if (!at.empty()) ++times.at(static_cast<std::size_t>(kernel::linear(at, domain)));
    });
    EXPECT_TRUE(std::ranges::all_of(times, [](int n) { return n == 1; })) << where;
  }
  EXPECT_GE(taken, 100);
}

// With a small M that the chunks do not divide evenly, threads that keep to a row would be idle.
TEST(RowBlockedLayout, IsNoneWhereItTakesClearlyMoreSteps) {
  EXPECT_FALSE(selection::row_blocked_layout({3, 264}, 1, 8, 2, 128));
  EXPECT_TRUE(selection::row_blocked_layout({4, 256}, 1, 8, 2, 128));
}

}  // namespace
}  // namespace zellige::plan
