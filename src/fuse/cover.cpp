#include "fuse/cover.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace zellige::fuse {
namespace {

using Places = std::vector<int>;

/// Of one first place that is not covered: by what is covered behind it, the cheapest way there.
struct Reached {
  double cost = never, rest = never;  // to here; from here to the end
  std::size_t by = 0;                 // the last piece
  int from = -1;                      // the first place before it
  Places ahead{};                     // what was covered behind that
};
using Level = std::map<Places, Reached>;

struct Next {
  int first;
  Places ahead;
};

/// What is covered once a piece is laid on its first place, with `ahead` covered behind it; none where they meet.
std::optional<Next> laid(const Places& piece, const Places& ahead) {
  Next next{piece[0] + 1, {}};
  next.ahead.reserve(piece.size() + ahead.size());
  auto a = ahead.begin();
  for (std::size_t i = 1; i < piece.size(); ++i) {
    while (a != ahead.end() && *a < piece[i]) next.ahead.push_back(*a++);
    if (a != ahead.end() && *a == piece[i]) return std::nullopt;
    next.ahead.push_back(piece[i]);
  }
  next.ahead.insert(next.ahead.end(), a, ahead.end());
  auto covered = next.ahead.begin();
  while (covered != next.ahead.end() && *covered == next.first) ++covered, ++next.first;
  next.ahead.erase(next.ahead.begin(), covered);
  return next;
}

class Covering {
 public:
  Covering(std::size_t places, const std::vector<Piece>& pieces)
      : pieces_(pieces), by_first_(places), share_(places, never), levels_(places + 1) {
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      if (pieces[p].cost == never) continue;
      by_first_[static_cast<std::size_t>(pieces[p].places[0])].push_back(p);
      for (int at : pieces[p].places) {
        double& least = share_[static_cast<std::size_t>(at)];
        least = std::min(least, pieces[p].cost / static_cast<double>(pieces[p].places.size()));
      }
    }
  }

  Cover run(std::size_t widest) {
    Cover cover;
    cover.with.assign(pieces_.size(), never);
    levels_[0][{}].cost = 0;
    for (std::size_t at = 0; at + 1 < levels_.size(); ++at) {
      cover.exact = narrow(levels_[at], widest) && cover.exact;
      for (const auto& [ahead, reached] : levels_[at])
        for (std::size_t p : by_first_[at])
          if (std::optional<Next> next = laid(pieces_[p].places, ahead)) {
            Reached& r = levels_[static_cast<std::size_t>(next->first)][std::move(next->ahead)];
            const double cost = reached.cost + pieces_[p].cost;
            if (cost < r.cost) r = {cost, never, p, static_cast<int>(at), ahead};
          }
      cover.states += levels_[at].size();
    }
    if (levels_.back().empty()) return cover;
    Reached& end = levels_.back().begin()->second;
    cover.cost = end.cost, end.rest = 0;
    weigh(cover.with);
    for (const Reached* r = &end; r->from >= 0; r = &levels_[static_cast<std::size_t>(r->from)].at(r->ahead))
      cover.pieces.push_back(r->by);
    std::ranges::reverse(cover.pieces);
    return cover;
  }

 private:
  /// False where states had to be dropped.
  bool narrow(Level& states, std::size_t widest) const {
    if (states.size() <= widest) return true;
    const auto rank = [&](const auto& state) {
      double ahead = 0;
      for (int at : state.first) ahead += share_[static_cast<std::size_t>(at)];
      return state.second.cost - ahead;
    };
    std::vector<double> ranks;
    for (const auto& state : states) ranks.push_back(rank(state));
    const auto last = ranks.begin() + static_cast<std::ptrdiff_t>(widest) - 1;
    std::ranges::nth_element(ranks, last);
    std::erase_if(states, [&, most = *last](const auto& state) { return rank(state) > most; });
    return false;
  }

  /// What is left from each state, and with each piece.
  void weigh(std::vector<double>& with) {
    for (std::size_t at = levels_.size() - 1; at-- > 0;)
      for (auto& [ahead, reached] : levels_[at])
        for (std::size_t p : by_first_[at]) {
          const std::optional<Next> next = laid(pieces_[p].places, ahead);
          if (!next) continue;
          const Level& then = levels_[static_cast<std::size_t>(next->first)];
          const auto to = then.find(next->ahead);
          if (to == then.end()) continue;  // dropped
          const double rest = pieces_[p].cost + to->second.rest;
          reached.rest = std::min(reached.rest, rest);
          with[p] = std::min(with[p], reached.cost + rest);
        }
  }

  const std::vector<Piece>& pieces_;
  std::vector<std::vector<std::size_t>> by_first_;
  std::vector<double> share_;  // by place: the least share of a piece's cost that it can have
  std::vector<Level> levels_;  // by the first place that is not covered
};

}  // namespace

Cover cheapest_cover(std::size_t places, const std::vector<Piece>& pieces, std::size_t widest) {
  return Covering(places, pieces).run(widest);
}

}  // namespace zellige::fuse
