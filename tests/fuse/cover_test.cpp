// The cheapest cover, checked against all covers.
#include "fuse/cover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fuse/branches.hpp"

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
  double min_cost = never;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const std::vector<int>& at = pieces[p].places;
    if (at[0] != static_cast<int>(first) || pieces[p].cost == never ||
        std::ranges::any_of(at, [&](int i) { return covered[static_cast<std::size_t>(i)]; }))
      continue;
    for (int i : at) covered[static_cast<std::size_t>(i)] = true;
    taken.push_back(p);
    min_cost = std::min(min_cost, by_hand(places, pieces, covered, taken, cost + pieces[p].cost, with));
    taken.pop_back();
    for (int i : at) covered[static_cast<std::size_t>(i)] = false;
  }
  return min_cost;
}

/// Pieces of up to four places within a range of six; costs are integers, so that totals are exact.
std::vector<Piece> random_pieces(std::size_t places, std::mt19937& random) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < places; ++i)
    pieces.push_back({{static_cast<int>(i)}, random() % 8 == 0 ? never : static_cast<double>(2 + random() % 8)});
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
    const double min_cost = by_hand(places, pieces, covered, taken, 0, with);
    const Cover found = cheapest_cover(places, pieces, 1000);
    EXPECT_EQ(found.cost, min_cost) << seed;
    // A piece may be omitted if it costs more by its whole cost, and the most expensive piece costs as much
    // as the average of all.
    for (std::size_t p = 0; p < pieces.size(); ++p)
      if (with[p] <= min_cost + min_cost / static_cast<double>(places))
        EXPECT_EQ(found.with[p], with[p]) << seed;
      else
        EXPECT_GE(found.with[p], with[p]) << seed;
    EXPECT_TRUE(found.exact) << seed;
    if (min_cost == never) {
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
    EXPECT_EQ(cost, min_cost) << seed;
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

// Independent pieces are searched separately: twice the pieces take twice the states.
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

/// A stem of some places, each of which a branch may follow, and pieces that join branches where those join
/// the stem.
struct Branched {
  std::size_t places = 0;
  std::vector<Branch> branches;
  std::vector<Piece> pieces;
};

Branched random_branched(std::mt19937& random, std::size_t stem, std::size_t max_places) {
  Branched all;
  std::vector<int> own;  // the stem's places
  for (std::size_t i = 0; i < stem; ++i) {
    own.push_back(static_cast<int>(all.places++));
    Branch& b = all.branches.emplace_back();
    b.at = own.back();
    for (std::size_t n = random() % (max_places + 1); n > 0; --n) b.places.push_back(static_cast<int>(all.places++));
  }
  const auto some_of = [&](const std::vector<int>& places, Piece& piece) {
    for (int at : places)
      if (random() % 2 == 0) piece.places.push_back(at);
  };
  const auto add = [&](Piece piece) {
    if (piece.places.empty()) return;
    std::ranges::sort(piece.places);
    piece.cost = random() % 8 == 0 ? never : static_cast<double>(1 + random() % 12);
    all.pieces.push_back(std::move(piece));
  };
  for (std::size_t i = 0; i < all.places; ++i) add({{static_cast<int>(i)}, 0});
  for (std::size_t n = 0; n < 3 * all.places; ++n) {
    Piece of_branch, of_stem;
    some_of(all.branches[random() % stem].places, of_branch);
    add(std::move(of_branch));
    const std::size_t first = random() % stem;
    for (std::size_t i = first; i < std::min(stem, first + 3); ++i)
      if (i == first || random() % 2 == 0) of_stem.places.push_back(own[i]), some_of(all.branches[i].places, of_stem);
    add(std::move(of_stem));
  }
  return all;
}

TEST(CheapestCover, WithBranchesIsTheCheapestOfAll) {
  int covered_at_all = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const Branched all_of = random_branched(random, 1 + random() % 4, 3);
    const std::size_t places = all_of.places;
    const std::vector<Piece>& pieces = all_of.pieces;
    std::vector<bool> covered(places);
    std::vector<std::size_t> taken;
    std::vector<double> with(pieces.size(), never);
    const double min_cost = by_hand(places, pieces, covered, taken, 0, with);
    const Cover found = cheapest_cover(places, pieces, 1000, all_of.branches);
    EXPECT_EQ(found.cost, min_cost) << seed;
    EXPECT_TRUE(found.exact) << seed;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      EXPECT_GE(found.with[p], with[p]) << seed;
      if (with[p] == min_cost) EXPECT_EQ(found.with[p], min_cost) << seed;
    }
    if (min_cost == never) {
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
    EXPECT_TRUE(std::ranges::is_sorted(found.pieces, {}, [&](std::size_t p) { return pieces[p].places[0]; })) << seed;
    std::ranges::sort(all);
    EXPECT_EQ(cost, min_cost) << seed;
    EXPECT_EQ(all.size(), places) << seed;
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end()) << seed;
  }
  EXPECT_GT(covered_at_all, 150);
}

// Of what does not keep to its branch the cover is found without it.
TEST(CheapestCover, PiecesMayLeaveABranchElsewhere) {
  const std::vector<Piece> pieces{{{0}, 1}, {{1}, 5}, {{2}, 5}, {{1, 2}, 1}};
  EXPECT_EQ(cheapest_cover(3, pieces, 10, {{0, {1}}}).cost, 2);
}

// 2^n parts of each branch may be left: with branches known, one state for each place of the stem and parts
// of one branch.
TEST(CheapestCover, BranchesOfAStemMultiplyNoStates) {
  const auto states = [](int stem) {
    std::vector<Piece> pieces;
    std::vector<Branch> branches;
    for (int i = 0; i < stem; ++i) {
      const int at = 3 * i;
      branches.push_back({at, {at + 1, at + 2}});
      for (int place : {at, at + 1, at + 2}) pieces.push_back({{place}, 1});
      for (int left = 0; i + 1 < stem && left < 16; ++left) {
        Piece two{{at, at + 3}, 1.9};
        for (int bit = 0; bit < 4; ++bit)
          if ((left >> bit & 1) != 0) two.places.push_back(at + 3 * (bit / 2) + 1 + bit % 2), two.cost += 0.9;
        std::ranges::sort(two.places);
        pieces.push_back(std::move(two));
      }
    }
    const Cover with = cheapest_cover(static_cast<std::size_t>(3 * stem), pieces, 1000, branches);
    const Cover without = cheapest_cover(static_cast<std::size_t>(3 * stem), pieces, 1000);
    EXPECT_NEAR(with.cost, without.cost, 1e-9);
    return with.states;
  };
  EXPECT_LE(states(64), 2 * states(32));
  EXPECT_LE(states(64), 64u * 2 + 64 * 4 * 2);  // of the stem, and of each branch's parts
}

}  // namespace
}  // namespace zellige::fuse
