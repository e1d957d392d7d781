// The cheapest cover, checked against all covers.
#include "fuse/cover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace zellige::fuse {
namespace {

/// The least cost of covering what is left, with every piece that fits; `with`: of all covers that have a piece.
double by_hand(std::size_t places, const std::vector<Piece>& pieces, std::vector<bool>& covered,
               std::vector<std::size_t>& taken, double cost, std::vector<double>& with) {
  const auto first = static_cast<std::size_t>(std::ranges::find(covered, false) - covered.begin());
  if (first == places) {
    for (std::size_t p : taken) with[p] = std::min(with[p], cost);
    return cost;
  }
  double least = never;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const std::vector<int>& at = pieces[p].places;
    if (at[0] != static_cast<int>(first) || pieces[p].cost == never ||
        std::ranges::any_of(at, [&](int i) { return covered[static_cast<std::size_t>(i)]; }))
      continue;
    for (int i : at) covered[static_cast<std::size_t>(i)] = true;
    taken.push_back(p);
    least = std::min(least, by_hand(places, pieces, covered, taken, cost + pieces[p].cost, with));
    taken.pop_back();
    for (int i : at) covered[static_cast<std::size_t>(i)] = false;
  }
  return least;
}

/// Pieces of up to four places within a range of six; costs are integers, so that totals are exact.
std::vector<Piece> random_pieces(std::size_t places, std::mt19937& random) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < places; ++i)
    pieces.push_back(
        {{static_cast<int>(i)}, random() % 8 == 0 ? never : static_cast<double>(2 + random() % 8)});
  for (std::size_t n = 0; n < 3 * places; ++n) {
    const auto first = static_cast<int>(random() % places);
    Piece p{{first}, static_cast<double>(1 + random() % 12)};
    for (int at = first + 1; at < std::min(first + 6, static_cast<int>(places)); ++at)
      if (p.places.size() < 4 && random() % 3 == 0) p.places.push_back(at);
    pieces.push_back(std::move(p));
  }
  return pieces;
}

TEST(CheapestCover, IsTheCheapestOfAll) {
  int covered_at_all = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const std::size_t places = 1 + random() % 9;
    const std::vector<Piece> pieces = random_pieces(places, random);
    std::vector<bool> covered(places);
    std::vector<std::size_t> taken;
    std::vector<double> with(pieces.size(), never);
    const double least = by_hand(places, pieces, covered, taken, 0, with);
    const Cover found = cheapest_cover(places, pieces, 1000);
    EXPECT_EQ(found.cost, least) << seed;
    // A piece may be omitted if it costs more by its whole cost, and the most expensive piece costs as much
    // as the average of all.
    for (std::size_t p = 0; p < pieces.size(); ++p)
      if (with[p] <= least + least / static_cast<double>(places))
        EXPECT_EQ(found.with[p], with[p]) << seed;
      else
        EXPECT_GE(found.with[p], with[p]) << seed;
    EXPECT_TRUE(found.exact) << seed;
    if (least == never) {
      EXPECT_TRUE(found.pieces.empty()) << seed;
      continue;
    }
    ++covered_at_all;
    double cost = 0;
    std::vector<int> all;
    for (std::size_t p : found.pieces) {
      cost += pieces[p].cost;
      all.insert(all.end(), pieces[p].places.begin(), pieces[p].places.end());
    }
    std::ranges::sort(all);
    EXPECT_EQ(cost, least) << seed;
    EXPECT_EQ(all.size(), places) << seed;
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end()) << seed;
  }
  EXPECT_GT(covered_at_all, 200);
}

TEST(CheapestCover, OfNothingIsEmpty) {
  const Cover c = cheapest_cover(0, {}, 10);
  EXPECT_EQ(c.cost, 0);
  EXPECT_TRUE(c.pieces.empty());
}

// Independent pieces are searched separately: twice as many take twice as many states.
TEST(CheapestCover, StatesGrowWithTheParts) {
  std::mt19937 random(7);
  constexpr std::size_t length = 8;
  const std::vector<Piece> part = random_pieces(length, random);
  const auto states = [&](std::size_t parts) {
    std::vector<Piece> all;
    for (std::size_t i = 0; i < parts; ++i)
      for (Piece p : part) {
        if (p.cost == never) p.cost = 20;
        for (int& at : p.places) at += static_cast<int>(i * length);
        all.push_back(std::move(p));
      }
    const Cover c = cheapest_cover(parts * length, all, 1000);
    EXPECT_TRUE(c.exact);
    return c.states;
  };
  EXPECT_EQ(states(64), 64 * states(1));
}

// A narrow search still covers all, at no less than the least cost, and says that it is not exact.
TEST(CheapestCover, NarrowedItCoversAndSaysSo) {
  int narrowed = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<Piece> pieces = random_pieces(12, random);
    for (Piece& p : pieces) p.cost = std::min(p.cost, 50.0);
    const Cover exact = cheapest_cover(12, pieces, 1000), narrow = cheapest_cover(12, pieces, 2);
    EXPECT_LT(narrow.cost, never) << seed;
    EXPECT_GE(narrow.cost, exact.cost) << seed;
    narrowed += !narrow.exact;
  }
  EXPECT_GT(narrowed, 25);
}

}  // namespace
}  // namespace zellige::fuse
