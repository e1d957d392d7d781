#include "verify/rank_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace zellige::verify {
namespace {

constexpr int parts_of_rows = 2;  // that a rank has in a gather

/// By rank, or by block where ranks have several: how many of its acts happened before.
using RankClock = std::vector<int>;

/// An access to half of a window: who made it, as which of its acts, and what it knew of the others.
struct WindowAccess {
  int rank = 0, block = 0, act = 0, launch = 0;  // block: counted over all ranks
  bool stores = false;
  RankClock known;
  bool after(const WindowAccess& earlier) const { return known[static_cast<std::size_t>(earlier.block)] > earlier.act; }
};

/// A store to a flag, with what the rank that made it had done and observed, if it released that.
struct FlagStore {
  int value = 0;
  std::optional<RankClock> released;
};

class RankOrder {
 public:
  RankOrder(const std::vector<std::vector<RankAct>>& acts, int blocks)
      : acts_(acts), blocks_(blocks), next_(acts.size(), 0), clocks_(acts.size(), RankClock(acts.size(), 0)) {}

  std::string fault() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < static_cast<int>(acts_.size()); ++r)
        while (next_[at(r)] < static_cast<int>(acts_[at(r)].size()) && step(r)) moved = true;
    }
    for (int r = 0; r < static_cast<int>(acts_.size()); ++r)
      if (next_[at(r)] < static_cast<int>(acts_[at(r)].size())) {
        const RankAct& a = acts_[at(r)][static_cast<std::size_t>(next_[at(r)])];
        if (a.kind == RankAct::wait)
          return fmt::format("deadlock: rank {} waits for value {} of the flag of rank {}, which never comes",
                             r / blocks_, a.value, a.of);
      }
    for (int b = 0; b < static_cast<int>(acts_.size()); ++b)
      if (next_[at(b)] < static_cast<int>(acts_[at(b)].size()))
        return fmt::format("deadlock: a block of rank {} never begins", b / blocks_);
    for (const auto& [place, all] : windows_)
      if (std::string why = fault_of(place, all); !why.empty()) return why;
    return "";
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Carries out the next act of a block; returns false if it waits.
  bool step(int b) {
    const int r = b / blocks_;
    const RankAct& a = acts_[at(b)][at(next_[at(b)])];
    RankClock& clock = clocks_[at(b)];
    if (a.kind == RankAct::wait && a.value > 0) {  // flags are 0 before the first launch
      const std::vector<FlagStore>& stores = flags_[{r, a.of, a.place}];
      const auto first = std::ranges::find_if(stores, [&](const FlagStore& s) { return s.value >= a.value; });
      if (first == stores.end()) return false;
      if (a.ordered && first->released) join(clock, *first->released);
    }
    if (a.kind == RankAct::begin && !may_begin(b, a.value, clock)) return false;
    clock[at(b)] = next_[at(b)] + 1;
    if (a.kind == RankAct::end) ended_[{b, a.value}] = clock;
    if (a.kind == RankAct::set)
      flags_[{a.of, r, a.place}].push_back({a.value, a.ordered ? std::optional(clock) : std::nullopt});
    if (a.kind == RankAct::publish || a.kind == RankAct::read)
      windows_[{a.of, a.place}].push_back({r, b, next_[at(b)], a.value, a.kind == RankAct::publish, clock});
    ++next_[at(b)];
    return true;
  }

  /// Returns whether a block may begin a launch: what its rank has done in the launch before is then done. The blocks of lower numbers have
  /// ended, so that one at a time is enough; the block does not know what they have done.
  bool may_begin(int b, int launch, RankClock& clock) const {
    const int first = b / blocks_ * blocks_;
    for (int lower = first; lower < b; ++lower)
      if (!ended_.contains({lower, launch})) return false;
    for (int before = first; before < first + blocks_ && launch > 1; ++before)
      if (!ended_.contains({before, launch - 1})) return false;
    for (int before = first; before < first + blocks_ && launch > 1; ++before)
      join(clock, ended_.at({before, launch - 1}));
    return true;
  }

  static void join(RankClock& clock, const RankClock& other) {
    for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
  }

  /// Returns a race, or a read of another launch's tile, in half of a window.
  static std::string fault_of(const std::pair<int, int>& place, const std::vector<WindowAccess>& all) {
    const std::string where = fmt::format("place {} of the window of rank {}", place.second, place.first);
    for (const WindowAccess& a : all)
      for (const WindowAccess& b : all)
        if (&a < &b && (a.stores || b.stores) && !a.after(b) && !b.after(a))
          return fmt::format("race in {}: rank {} in launch {} and rank {} in launch {}, of which one stores", where,
                             a.rank, a.launch, b.rank, b.launch);
    for (const WindowAccess& a : all) {
      if (a.stores) continue;
      const WindowAccess* last = nullptr;  // stores are ordered, as none of them race
      for (const WindowAccess& b : all)
        if (b.stores && a.after(b) && (!last || b.after(*last))) last = &b;
      if (!last || last->launch != a.launch)
        return fmt::format("in {}: rank {} in launch {} reads {}", where, a.rank, a.launch,
                           last ? fmt::format("the tile of launch {}", last->launch) : "what nobody has published");
    }
    return "";
  }

  const std::vector<std::vector<RankAct>>& acts_;
  int blocks_;  // of each rank
  std::vector<int> next_;
  std::vector<RankClock> clocks_;
  std::map<std::pair<int, int>, RankClock> ended_;  // by block and launch
  std::map<std::tuple<int, int, int>, std::vector<FlagStore>>
      flags_;  // by the rank that has it, the one that sets it, and place
  std::map<std::pair<int, int>, std::vector<WindowAccess>> windows_;  // by rank and place
};

}  // namespace

std::vector<std::vector<RankAct>> acts_of_exchanges(int ranks, int launches, ExchangeOrder order) {
  constexpr int sums = 2;  // the place of those of rank 0
  std::vector<std::vector<RankAct>> all(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r)
    for (int launch = 1; launch <= launches; ++launch) {
      std::vector<RankAct>& acts = all[static_cast<std::size_t>(r)];
      const auto each = [&](const auto& act) {
        for (int of = 0; of < ranks; ++of) acts.push_back(act(of));
      };
      const auto flags = [&](RankAct::Kind kind, int value, int place) {
        each([&](int of) { return RankAct{kind, of, value, place}; });
      };
      const int half = order == ExchangeOrder::two_halves ? launch % 2 : 0;
      if (order == ExchangeOrder::readers_awaited) flags(RankAct::wait, launch - 1, 1);
      acts.push_back({RankAct::publish, r, launch, half});
      flags(RankAct::set, launch, 0), flags(RankAct::wait, launch, 0);
      each([&](int of) { return RankAct{RankAct::read, of, launch, half}; });
      if (order == ExchangeOrder::readers_awaited) flags(RankAct::set, launch, 1);
      if (order != ExchangeOrder::two_shots) continue;
      each([&](int of) { return RankAct{RankAct::publish, of, launch, sums + r}; });
      flags(RankAct::set, launch, 1), flags(RankAct::wait, launch, 1);
      each([&](int of) { return RankAct{RankAct::read, r, launch, sums + of}; });
    }
  return all;
}

int blocks_of_gather(int ranks) { return parts_of_rows + ranks - 1; }

std::vector<std::vector<RankAct>> acts_of_gathers(int ranks, int launches) {
  std::vector<std::vector<RankAct>> all;
  for (int r = 0; r < ranks; ++r)
    for (int b = 0; b < blocks_of_gather(ranks); ++b) {
      std::vector<RankAct>& acts = all.emplace_back();
      for (int launch = 1; launch <= launches; ++launch) {
        const auto rows = [&](int of, int part) { return (launch % 2 * ranks + of) * parts_of_rows + part; };
        acts.push_back({RankAct::begin, r, launch});
        for (int of = 0; of < ranks && b < parts_of_rows; ++of)
          if (of != r) acts.push_back({RankAct::publish, of, launch, rows(r, b)});
        for (int of = 0; of < ranks && b < parts_of_rows; ++of)
          if (of != r) acts.push_back({RankAct::set, of, launch, b});
        const int source = (r + b - parts_of_rows + 1) % ranks;
        for (int part = 0; part < parts_of_rows && b >= parts_of_rows; ++part)
          acts.push_back({RankAct::wait, source, launch, part});
        for (int part = 0; part < parts_of_rows && b >= parts_of_rows; ++part)
          acts.push_back({RankAct::read, r, launch, rows(source, part)});
        acts.push_back({RankAct::end, r, launch});
      }
    }
  return all;
}

std::string fault_in(const std::vector<std::vector<RankAct>>& acts, int blocks) {
  return RankOrder(acts, blocks).fault();
}

}  // namespace zellige::verify
