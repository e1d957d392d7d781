// Random graphs rewritten by valid identities are equal; after one edit the answer is that of float64 at the
// given sizes: different, or equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "../all_cases.hpp"
#include "random/generate.hpp"
#include "rewrite.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"
#include "search/given_sizes.hpp"
#include "search/match.hpp"

namespace zellige::search {
namespace {

using namespace test;

/// More on demand: ZELLIGE_EQUAL_PAIRS.
int pairs() {
  const char* text = std::getenv("ZELLIGE_EQUAL_PAIRS");
  return text ? std::atoi(text) : zellige::test::all_cases() ? 24 : 20;
}

/// Does it cut off fractions? A number next to an integer goes either way, by whatever is rounded before.
bool cuts_off(const KernelGraph& g) {
  const auto cuts = [](const auto& op) { return op.kind == OpKind::cast && graph::is_integer(op.attributes.dtype); };
  return std::ranges::any_of(g.ops, [&](const graph::KernelOp& op) {
    return cuts(op) || (op.block && std::ranges::any_of(op.block->ops, cuts));
  });
}

TEST(RandomPairs, IdentitiesAreAccepted) {
  std::map<std::string, int> rewritten, methods;
  int undecided = 0, seen = 0;
  double slowest = 0;
  for (int seed = 1; seed <= pairs(); ++seed) {
    const KernelGraph a = random_graphs::random_graph(static_cast<std::uint64_t>(seed));
    if (cuts_off(a)) continue;
    KernelGraph b = a;
    Rng rng(static_cast<std::uint64_t>(seed) + 1000);
    std::vector<std::string> done;
    for (int n = 0; n < 3; ++n) {
      const std::string what = change_one(b, rng, [&](auto& g, std::size_t at) { return rewrite(g, at, rng); });
      if (what.empty()) break;
      const auto whole = settled(b);
      ASSERT_TRUE(whole) << a.name << ": " << what;
      b = *whole;
      done.push_back(what);
    }
    if (done.empty()) continue;
    ++seen;
    for (const std::string& what : done) ++rewritten[what];
    const Equality e = equal(a, b);
    EXPECT_NE(e.answer, Answer::different)
        << describe(e, a.name, fmt::format("{} rewritten at {}", a.name, done.front()));
    if (e.answer == Answer::undecided) std::printf("%s", describe(e, a.name, done.front()).c_str());
    undecided += e.answer == Answer::undecided;
    ++methods[e.method];
    slowest = std::max(slowest, e.seconds);
  }
  EXPECT_LE(undecided,
            seen / 4);  // maxima, roots and lengths of large graphs have more cases than fields can try
  EXPECT_GE(rewritten.size(), 12u);
  std::printf("%d pairs, %d undecided, slowest %.2f s; by", seen, undecided, slowest);
  for (const auto& [method, count] : methods) std::printf(" %s %d", method.c_str(), count);
  std::printf("\n");
}

TEST(RandomPairs, EditsAreRefusedUnlessEqual) {
  std::map<std::string, int> edits;
  int same = 0, different = 0, undecided = 0;
  double slowest = 0;
  for (int seed = 1; seed <= pairs(); ++seed) {
    const KernelGraph a = random_graphs::random_graph(static_cast<std::uint64_t>(seed));
    KernelGraph b = a;
    Rng rng(static_cast<std::uint64_t>(seed) + 2000);
    const std::string what = change_one(b, rng, [&](auto& g, std::size_t at) {
      if constexpr (std::is_same_v<std::decay_t<decltype(g)>, BlockGraph>)
        if (const std::string maps = edit_maps(g.ops[at], rng); !maps.empty()) return maps;
      return edit(g, at, rng);
    });
    const auto whole = settled(b);
    if (what.empty() || !whole) continue;
    Pairing pairing;
    try {
      pairing = match(a, *whole);
    } catch (const Error&) {
      continue;  // another shape
    }
    ++edits[what];
    const GivenSizes truth = given_sizes({a, *whole, pairing}, 99);
    const Equality e = equal(a, *whole, {.seed = static_cast<std::uint64_t>(seed)});
    slowest = std::max(slowest, e.seconds);
    const std::string story =
        fmt::format("{}: {}; float64 says {:.3g}\n{}", a.name, what, truth.distance, describe(e, "a", "b"));
    const double tolerance = e.method == "float64" ? 1e-5 : 1e-6;  // float64 alone leaves open what is between
    if (truth.compared && truth.distance > tolerance) EXPECT_NE(name(e.answer), "equal") << story;
    if (truth.compared && truth.distance <= 1e-12 && e.answer == Answer::different)
      std::printf("float64 does not see it: %s", story.c_str());
    same += e.answer == Answer::equal, different += e.answer == Answer::different,
        undecided += e.answer == Answer::undecided;
  }
  EXPECT_GE(edits.size(), 10u);
  EXPECT_GE(different, pairs() / 4);
  std::printf("%d different, %d equal, %d undecided, slowest %.2f s\n", different, same, undecided, slowest);
}

}  // namespace
}  // namespace zellige::search
