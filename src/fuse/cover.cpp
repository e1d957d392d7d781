#include "fuse/cover.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>

namespace zellige::fuse {
namespace {

/// The set of covered places (operator numbers) after a given place p: bit i denotes place p + 1 + i.
using Word = std::uint64_t;
using Covered = std::vector<Word>;
constexpr std::size_t word_bits = 64;

/// Returns the places (operator numbers) of a piece (a candidate group) as a bit set of `words` words. Bit i
/// denotes place first + 1 + i, where `first` is the piece's first place, which has no bit.
Covered covered_by(const Piece& piece, std::size_t words) {
  Covered bits(words);
  for (std::size_t i = 1; i < piece.places.size(); ++i) {
    const auto at = static_cast<std::size_t>(piece.places[i] - piece.places[0] - 1);
    bits[at / word_bits] |= Word{1} << (at % word_bits);
  }
  return bits;
}

/// Returns true if the ascending list of the places (operator numbers) `a` comes before that of `b`, lexicographically.
bool is_before(const Covered& a, const Covered& b) {
  for (std::size_t w = 0; w < a.size(); ++w) {
    const Word differ = a[w] ^ b[w];
    if (differ == 0) continue;
    const int at = std::countr_zero(differ);
    const bool in_a = (a[w] >> at & 1) != 0;
    // `other` lacks this place: it ends here, or continues with a later one.
    const Covered& other = in_a ? b : a;
    const auto is_set = [](Word word) { return word != 0; };
    return in_a == (is_set(other[w] >> at >> 1) || std::any_of(other.begin() + w + 1, other.end(), is_set));
  }
  return false;
}

/// A state of the search (a partial cover), reached on the cheapest path.
struct ReachedCover {
  // Cost so far, and its excess over the lower bounds of the covered places.
  double cost = never, over = never;
  double rest = never;                 // least cost from here to the end
  std::size_t by = 0;                  // the last piece on the path
  const ReachedCover* from = nullptr;  // the state before that piece; nullptr: this is the start
};

struct HashOfCovered {
  std::size_t operator()(const Covered& covered) const {
    Word h = 0;
    for (Word w : covered) h = (h ^ w) * 0x9e3779b97f4a7c15, h ^= h >> 29;
    return h;
  }
};

/// The states (partial covers) with one first uncovered place (operator), by the covered places after it.
using CoverLevel = std::unordered_map<Covered, ReachedCover, HashOfCovered>;

/// Returns, for each place (an operator that the cover must contain), a lower bound of its share of the
/// cover's cost. The bounds of all places of a piece (a candidate group) sum to at most the piece's cost.
std::vector<double> min_shares(std::size_t places, const std::vector<Piece>& pieces) {
  std::vector<std::vector<std::size_t>> of(places);  // by place: the pieces that contain it
  std::vector<double> min_cost(places, never), over(pieces.size());
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (pieces[p].cost == never) continue;
    for (int at : pieces[p].places) {
      of[at].push_back(p);
      double& share = min_cost[at];
      share = std::min(share, pieces[p].cost / static_cast<double>(pieces[p].places.size()));
    }
  }
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (pieces[p].cost == never) continue;
    over[p] = pieces[p].cost;
    for (int at : pieces[p].places) over[p] -= min_cost[at];
  }
  // Each place takes what remains of the costs of all its pieces.
  for (std::size_t at = 0; at < places; ++at) {
    double more = never;
    for (std::size_t p : of[at]) more = std::min(more, over[p]);
    if (of[at].empty() || more <= 0) continue;
    min_cost[at] += more;
    for (std::size_t p : of[at]) over[p] -= more;
  }
  return min_cost;
}

/// Searches for the cheapest cover that can be made of the given pieces (candidate groups).
class Covering {
 public:
  Covering(std::size_t places, const std::vector<Piece>& pieces)
      : pieces_(pieces), by_first_(places), over_(pieces.size()), masks_(pieces.size()) {
    const std::vector<double> min_cost = min_shares(places, pieces);
    int span = 0;
    for (const Piece& p : pieces)
      if (p.cost != never) span = std::max(span, p.places.back() - p.places[0]);
    words_ = static_cast<std::size_t>(span) / word_bits + 1;
    next_.resize(words_);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      if (pieces[p].cost == never) continue;
      by_first_[pieces[p].places[0]].push_back(p);
      masks_[p] = covered_by(pieces[p], words_);
      over_[p] = pieces[p].cost;
      for (int at : pieces[p].places) over_[p] -= min_cost[at];
      over_[p] = std::max(over_[p], 0.0);
    }
    for (std::vector<std::size_t>& list : by_first_)
      std::ranges::stable_sort(list, {}, [&](std::size_t p) { return over_[p]; });
  }

  /// Returns the cheapest cover: pieces (candidate groups) that contain each place (operator) exactly once. A
  /// first search with few states (partial covers) finds some cover, whose cost limits the second search,
  /// which keeps at most `widest` states with the same first uncovered place.
  Cover run(std::size_t widest) {
    const Cover some = search(std::min(widest, first_widest), never);
    double over = 0, maximum = 0;
    for (std::size_t p : some.pieces) over += over_[p], maximum = std::max(maximum, pieces_[p].cost);
    const double limit = some.pieces.empty() ? never : (over + maximum) * (1 + rounding);
    Cover cover = search(widest, limit);
    cover.with.assign(pieces_.size(), never);
    if (cover.cost != never) weigh(cover.with, limit);
    return cover;
  }

 private:
  static constexpr std::size_t first_widest = 16;
  static constexpr double rounding = 1e-9;  // relative error of sums
  // A place is narrowed early beyond this many times `widest` states.
  static constexpr std::size_t max_waiting = 8;

  /// Returns the cheapest cover whose excess (its cost minus the lower bounds of all places, which are the operators to
  /// be covered) is at most `limit`, or a cover of cost `never` (infinity) if there is none. Stores all states (partial
  /// covers) in levels_, for weigh(). `widest` is the maximum number of states with the same first uncovered place.
  Cover search(std::size_t widest, double limit) {
    Cover cover;
    levels_.assign(by_first_.size() + 1, {});
    levels_[0][Covered(words_)] = {0, 0};
    for (std::size_t at = 0; at + 1 < levels_.size(); ++at) {
      cover.exact = cover.exact && levels_[at].size() <= widest;
      const std::vector<const CoverLevel::value_type*> states = narrowed(levels_[at], widest);
      cover.states += states.size();
      for (const CoverLevel::value_type* state : states) {
        const auto& [covered, reached] = *state;
        for (std::size_t p : by_first_[at]) {
          const double over = reached.over + over_[p];
          if (over > limit) break;
          const std::size_t first = lay(at, covered, p);
          if (first == 0) continue;
          CoverLevel& then = levels_[first];
          ReachedCover& r = then[next_];
          const double cost = reached.cost + pieces_[p].cost;
          if (cost < r.cost) r = {cost, over, never, p, &reached};
          if (then.size() >= max_waiting * widest && first + 1 < levels_.size())
            cover.exact = false, narrowed(then, widest);
        }
      }
    }
    if (levels_.back().empty()) return cover;
    const ReachedCover& end = levels_.back().begin()->second;
    cover.cost = end.cost;
    for (const ReachedCover* r = &end; r->from; r = r->from) cover.pieces.push_back(r->by);
    std::ranges::reverse(cover.pieces);
    return cover;
  }

  /// Adds piece number `piece` (a candidate group) to a partial cover. `at` is the first place (operator)
  /// that the partial cover lacks, and must be the piece's first place. `covered` are the places after `at`
  /// that the partial cover contains. Returns the first place that is uncovered after the addition, and sets
  /// next_ to the covered places after that one. Returns 0 if the piece overlaps `covered`.
  std::size_t lay(std::size_t at, const Covered& covered, std::size_t piece) {
    const Covered& mask = masks_[piece];
    for (std::size_t w = 0; w < words_; ++w)
      if ((covered[w] & mask[w]) != 0) return 0;
    std::size_t full = 0;  // number of places covered without a gap
    for (std::size_t w = 0; w < words_; ++w) {
      const int ones = std::countr_one(covered[w] | mask[w]);
      full += static_cast<std::size_t>(ones);
      if (ones < static_cast<int>(word_bits)) break;
    }
    const std::size_t shift = full + 1;
    for (std::size_t w = 0; w < words_; ++w) {
      const std::size_t from = w + shift / word_bits, by = shift % word_bits;
      const auto both = [&](std::size_t i) { return i < words_ ? covered[i] | mask[i] : 0; };
      next_[w] = both(from) >> by;
      if (by > 0) next_[w] |= both(from + 1) << (word_bits - by);
    }
    return at + shift;
  }

  /// Returns the states (partial covers) of one level, all of which have the same first uncovered place (operator),
  /// sorted by their covered places. If there are more than `widest` states, the level keeps only those with the least
  /// excess (cost above the lower bound).
  static std::vector<const CoverLevel::value_type*> narrowed(CoverLevel& level, std::size_t widest) {
    std::vector<const CoverLevel::value_type*> states;
    for (const CoverLevel::value_type& state : level) states.push_back(&state);
    const auto before = [](const auto* a, const auto* b) { return is_before(a->first, b->first); };
    if (states.size() > widest) {
      std::ranges::nth_element(states, states.begin() + widest, [&](const auto* a, const auto* b) {
        return a->second.over != b->second.over ? a->second.over < b->second.over : before(a, b);
      });
      for (auto state = states.begin() + widest; state != states.end(); ++state)
        level.erase(level.find((*state)->first));
      states.resize(widest);
    }
    std::ranges::sort(states, before);
    return states;
  }

  /// Sets with[p], for each piece p (candidate group), to the cost of the cheapest cover that contains p.
  /// Also computes, for each state (partial cover), the least cost of completing it. Covers whose excess
  /// (cost above the lower bound) exceeds `limit` are skipped.
  void weigh(std::vector<double>& with, double limit) {
    levels_.back().begin()->second.rest = 0;
    for (std::size_t at = levels_.size() - 1; at-- > 0;)
      for (auto& [covered, reached] : levels_[at])
        for (std::size_t p : by_first_[at]) {
          if (reached.over + over_[p] > limit) break;
          const std::size_t first = lay(at, covered, p);
          if (first == 0) continue;
          const auto to = levels_[first].find(next_);
          if (to == levels_[first].end()) continue;  // the state was dropped
          const double rest = pieces_[p].cost + to->second.rest;
          reached.rest = std::min(reached.rest, rest);
          with[p] = std::min(with[p], reached.cost + rest);
        }
  }

  const std::vector<Piece>& pieces_;
  std::size_t words_ = 1;  // per set of covered places
  // By place: the pieces that it is the first place of, least excess first.
  std::vector<std::vector<std::size_t>> by_first_;
  std::vector<double> over_;        // by piece: its cost minus the lower bounds of its places
  std::vector<Covered> masks_;      // by piece: its places after the first
  std::vector<CoverLevel> levels_;  // by first uncovered place
  Covered next_;                    // result of lay()
};

}  // namespace

Cover cheapest_cover(std::size_t places, const std::vector<Piece>& pieces, std::size_t widest) {
  return Covering(places, pieces).run(widest);
}

}  // namespace zellige::fuse
