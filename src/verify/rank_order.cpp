#include "verify/rank_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace zellige::verify {
namespace {

/// By rank: how many of its acts happened before.
using RankClock = std::vector<int>;

/// An access to half of a window: who made it, as which of its acts, and what it knew of the others.
struct WindowAccess {
  int rank = 0, act = 0, launch = 0;
  bool stores = false;
  RankClock known;
  bool after(const WindowAccess& earlier) const { return known[static_cast<std::size_t>(earlier.rank)] > earlier.act; }
};

/// A store to a flag, with what the rank that made it had done and observed, if it released that.
struct FlagStore {
  int value = 0;
  std::optional<RankClock> released;
};

class RankOrder {
 public:
  explicit RankOrder(const std::vector<std::vector<RankAct>>& acts)
      : acts_(acts), next_(acts.size(), 0), clocks_(acts.size(), RankClock(acts.size(), 0)) {}

  std::string fault() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < static_cast<int>(acts_.size()); ++r)
        while (next_[at(r)] < static_cast<int>(acts_[at(r)].size()) && step(r)) moved = true;
    }
    for (int r = 0; r < static_cast<int>(acts_.size()); ++r)
      if (next_[at(r)] < static_cast<int>(acts_[at(r)].size())) {
        const RankAct& a = acts_[at(r)][static_cast<std::size_t>(next_[at(r)])];
        return fmt::format("deadlock: rank {} waits for value {} of the flag of rank {}, which never comes", r, a.value,
                           a.of);
      }
    for (const auto& [place, all] : windows_)
      if (std::string why = fault_of(place, all); !why.empty()) return why;
    return "";
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Carries out the next act of a rank; returns false if it waits.
  bool step(int r) {
    const RankAct& a = acts_[at(r)][at(next_[at(r)])];
    RankClock& clock = clocks_[at(r)];
    if (a.kind == RankAct::wait && a.value > 0) {  // flags are 0 before the first launch
      const std::vector<FlagStore>& stores = flags_[{r, a.of, a.place}];
      const auto first = std::ranges::find_if(stores, [&](const FlagStore& s) { return s.value >= a.value; });
      if (first == stores.end()) return false;
      if (a.ordered && first->released)
        for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], (*first->released)[i]);
    }
    clock[at(r)] = next_[at(r)] + 1;
    if (a.kind == RankAct::set)
      flags_[{a.of, r, a.place}].push_back({a.value, a.ordered ? std::optional(clock) : std::nullopt});
    if (a.kind == RankAct::publish || a.kind == RankAct::read)
      windows_[{a.of, a.place}].push_back({r, next_[at(r)], a.value, a.kind == RankAct::publish, clock});
    ++next_[at(r)];
    return true;
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
  std::vector<int> next_;
  std::vector<RankClock> clocks_;
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

std::string fault_in(const std::vector<std::vector<RankAct>>& by_rank) { return RankOrder(by_rank).fault(); }

}  // namespace zellige::verify
