// The order of ranks that exchange tiles: all planted faults are found, and there are no false alarms.
#include "verify/rank_order.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "../random/rng.hpp"

namespace zellige::verify {
namespace {

using Acts = std::vector<std::vector<RankAct>>;
constexpr int launches = 4;
constexpr ExchangeOrder orders[] = {ExchangeOrder::two_halves, ExchangeOrder::two_shots,
                                    ExchangeOrder::readers_awaited};

TEST(RankOrder, ExchangesHaveNoFault) {
  for (const ExchangeOrder order : orders)
    for (const int ranks : {2, 3, 4, 8}) EXPECT_EQ(fault_in(acts_of_exchanges(ranks, 6, order)), "");
}

/// One fault at a time, at every act where it is one: a wait that is missing, or for the launch before, or relaxed; a flag that is
/// set relaxed, or to a count that is one too high; a tile in the wrong place; and a flag that the last launch does not set.
void expect_all_found(ExchangeOrder order) {
  int planted = 0;
  for (const int ranks : {2, 3, 4, 8}) {
    const Acts right = acts_of_exchanges(ranks, launches, order);
    const auto expect = [&](std::size_t r, std::size_t i, const char* what,
                            const std::function<void(RankAct&)>& change) {
      Acts wrong = right;
      change(wrong[r][i]);
      EXPECT_NE(fault_in(wrong), "") << what << ", act " << i << " of rank " << r << " of " << ranks;
      ++planted;
    };
    for (std::size_t r = 0; r < std::min<std::size_t>(right.size(), 3); ++r)  // the others do the same
      for (std::size_t i = 0; i < right[r].size(); ++i) {
        const RankAct& a = right[r][i];
        const bool of_sums = a.place > 1;
        if (a.kind == RankAct::publish || (a.kind == RankAct::read && !of_sums))
          expect(r, i, "wrong place", [](RankAct& x) { x.place ^= 1; });
        if (a.of == static_cast<int>(r)) continue;  // a rank knows what it has done
        // The flag by which readers report that they have read is waited for in the next launch.
        const int last = order == ExchangeOrder::readers_awaited && a.place == 1 ? launches - 1 : launches;
        if (a.kind == RankAct::wait && a.value > 0) {
          expect(r, i, "missing wait", [](RankAct& x) { x.value = 0; });
          expect(r, i, "flag of the launch before", [](RankAct& x) { --x.value; });
          expect(r, i, "relaxed load", [](RankAct& x) { x.ordered = false; });
        }
        if (a.kind == RankAct::set) {
          if (a.value <= last) expect(r, i, "relaxed store", [](RankAct& x) { x.ordered = false; });
          if (a.value < last) expect(r, i, "count one too high", [](RankAct& x) { ++x.value; });
          if (a.value == last) expect(r, i, "count one too low", [](RankAct& x) { --x.value; });
        }
      }
  }
  EXPECT_GE(planted, 200);
}

TEST(RankOrder, AllFaultsAreFoundWithTwoHalves) { expect_all_found(ExchangeOrder::two_halves); }
TEST(RankOrder, AllFaultsAreFoundInTwoShots) { expect_all_found(ExchangeOrder::two_shots); }
TEST(RankOrder, AllFaultsAreFoundWhereReadersAreAwaited) { expect_all_found(ExchangeOrder::readers_awaited); }

/// A window with one half is stored while others may read it.
TEST(RankOrder, OneHalfIsNotEnough) {
  Acts acts = acts_of_exchanges(2, launches);
  for (std::vector<RankAct>& of_rank : acts)
    for (RankAct& a : of_rank)
      if (a.kind == RankAct::publish || a.kind == RankAct::read) a.place = 0;
  EXPECT_EQ(fault_in(acts),
            "race in place 0 of the window of rank 0: rank 1 in launch 1 and rank 0 in launch 2, of which one stores");
}

TEST(RankOrder, DeadlockNamesTheFlag) {
  Acts acts = acts_of_exchanges(3, 1);
  std::erase_if(acts[1], [](const RankAct& a) { return a.kind == RankAct::set && a.of == 2; });
  EXPECT_EQ(fault_in(acts), "deadlock: rank 2 waits for value 1 of the flag of rank 1, which never comes");
}

/// Random programs that are right: acts of one kind in any order, reads that are left out, further waits, and no flags of a rank's own.
TEST(RankOrder, RightProgramsRaiseNoAlarm) {
  random_graphs::Rng rng(62);
  for (int i = 0; i < 500; ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    Acts acts = acts_of_exchanges(ranks, 1 + static_cast<int>(rng.below(6)), orders[i / 4 % 3]);
    for (std::size_t r = 0; r < acts.size(); ++r) {
      std::vector<RankAct> mine;
      for (const RankAct& a : acts[r]) {
        const bool own = a.of == static_cast<int>(r);
        if (a.kind == RankAct::read && rng.chance(30)) continue;
        if ((a.kind == RankAct::set || a.kind == RankAct::wait) && own && rng.chance(50)) continue;
        const auto same = [&](const RankAct& b) { return b.kind == a.kind && b.value == a.value; };
        auto first = mine.end();
        while (first != mine.begin() && same(*(first - 1))) --first;
        mine.insert(first + static_cast<std::ptrdiff_t>(rng.below(mine.end() - first + 1)), a);
        if (a.kind == RankAct::wait && !own && rng.chance(20)) mine.push_back(a);
      }
      // A rank whose own flag is not set does not wait for it.
      acts[r] = mine;
      std::erase_if(acts[r], [&](const RankAct& a) {
        return a.kind == RankAct::wait && a.of == static_cast<int>(r) &&
               std::ranges::none_of(mine, [&](const RankAct& b) {
                 return b.kind == RankAct::set && b.of == a.of && b.place == a.place && b.value == a.value;
               });
      });
    }
    EXPECT_EQ(fault_in(acts), "") << "draw " << i;
  }
}

/// As expect_all_found(), of gathers: a wait for rows of another rank that is missing, early or relaxed; a flag that is set relaxed or to
/// another count; a part of rows in the wrong place; and rows that are read in the other half.
TEST(RankOrder, AllFaultsAreFoundInGathers) {
  int injected = 0;
  for (const int ranks : {2, 3, 4, 8}) {
    const int blocks = blocks_of_gather(ranks), half = 2 * ranks;
    const Acts right = acts_of_gathers(ranks, launches);
    EXPECT_EQ(fault_in(right, blocks), "") << ranks;
    for (std::size_t b = 0; b < std::min<std::size_t>(right.size(), 12); ++b)
      for (std::size_t i = 0; i<right[b].size(); i += ranks> 4 ? 3 : 1) {
        const auto expect = [&](const char* what, const std::function<void(RankAct&)>& change) {
          Acts wrong = right;
          change(wrong[b][i]);
          EXPECT_NE(fault_in(wrong, blocks), "") << what << ", act " << i << " of block " << b << " of " << ranks;
          ++injected;
        };
        const RankAct& a = right[b][i];
        if (a.kind == RankAct::publish) expect("wrong part", [](RankAct& x) { x.place ^= 1; });
        if (a.kind == RankAct::read)
          expect("other half", [&](RankAct& x) { x.place += x.place < half ? half : -half; });
        if (a.kind == RankAct::wait) {
          expect("missing wait", [](RankAct& x) { x.value = 0; });
          expect("flag of the launch before", [](RankAct& x) { --x.value; });
          expect("relaxed load", [](RankAct& x) { x.ordered = false; });
        }
        if (a.kind == RankAct::set) {
          expect("relaxed store", [](RankAct& x) { x.ordered = false; });
          if (a.value < launches)
            expect("count one too high", [](RankAct& x) { ++x.value; });
          else
            expect("count one too low", [](RankAct& x) { --x.value; });
        }
      }
  }
  EXPECT_GE(injected, 200);
}

/// A gather whose windows have one half: rows are stored while blocks of the launch before may read them.
TEST(RankOrder, OneHalfIsNotEnoughForGathers) {
  Acts acts = acts_of_gathers(2, launches);
  for (std::vector<RankAct>& of_block : acts)
    for (RankAct& a : of_block)
      if (a.kind == RankAct::publish || a.kind == RankAct::read) a.place %= 4;
  EXPECT_EQ(fault_in(acts, blocks_of_gather(2)),
            "race in place 2 of the window of rank 0: rank 0 in launch 1 and rank 1 in launch 2, of which one stores");
}

/// A block that waits for rows of its own rank, which a later block stores, stops a rank that runs one block at a time.
TEST(RankOrder, BlocksThatWaitForLaterOnesAreDeadlocked) {
  Acts acts = acts_of_gathers(2, 1);
  acts[0].insert(acts[0].begin() + 1, RankAct{RankAct::wait, 1, 1, 0});
  acts[3].insert(acts[3].begin() + 1, RankAct{RankAct::wait, 0, 1, 0});
  EXPECT_EQ(fault_in(acts, blocks_of_gather(2)),
            "deadlock: rank 0 waits for value 1 of the flag of rank 1, which never comes");
}

/// Random gathers that are right: parts in any order, reads that are omitted, and further waits.
TEST(RankOrder, RightGathersRaiseNoAlarm) {
  random_graphs::Rng rng(63);
  for (int i = 0; i < 500; ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    Acts acts = acts_of_gathers(ranks, 1 + static_cast<int>(rng.below(ranks > 4 ? 3 : 5)));
    for (std::vector<RankAct>& of_block : acts) {
      std::vector<RankAct> mine;
      for (const RankAct& a : of_block) {
        if (a.kind == RankAct::read && rng.chance(30)) continue;
        const auto same = [&](const RankAct& b) { return b.kind == a.kind && b.value == a.value; };
        auto first = mine.end();
        while (first != mine.begin() && same(*(first - 1))) --first;
        mine.insert(first + static_cast<std::ptrdiff_t>(rng.below(mine.end() - first + 1)), a);
        if (a.kind == RankAct::wait && rng.chance(20)) mine.push_back(a);
      }
      of_block = std::move(mine);
    }
    EXPECT_EQ(fault_in(acts, blocks_of_gather(ranks)), "") << "draw " << i;
  }
}

}  // namespace
}  // namespace zellige::verify
