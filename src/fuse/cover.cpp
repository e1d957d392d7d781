#include "fuse/cover.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

namespace zellige::fuse {
namespace {

/// The set of covered places (operator numbers) after a given place p: bit i denotes place p + 1 + i.
using Word = std::uint64_t;
using Covered = std::span<const Word>;
constexpr std::size_t word_bits = 64;

/// Returns the places (operator numbers) of a piece (a candidate group) as a bit set of `words` words. Bit i
/// denotes place first + 1 + i, where `first` is the piece's first place, which has no bit.
std::vector<Word> covered_by(const Piece& piece, std::size_t words) {
  std::vector<Word> bits(words);
  for (std::size_t i = 1; i < piece.places.size(); ++i) {
    const auto at = static_cast<std::size_t>(piece.places[i] - piece.places[0] - 1);
    bits[at / word_bits] |= Word{1} << (at % word_bits);
  }
  return bits;
}

/// Returns true if the ascending list of the places (operator numbers) `a` comes before that of `b`, lexicographically.
bool is_before(Covered a, Covered b) {
  for (std::size_t w = 0; w < a.size(); ++w) {
    const Word differ = a[w] ^ b[w];
    if (differ == 0) continue;
    const int at = std::countr_zero(differ);
    const bool in_a = (a[w] >> at & 1) != 0;
    // `other` lacks this place: it ends here, or continues with a later one.
    const Covered other = in_a ? b : a;
    bool goes_on = at + 1 < static_cast<int>(word_bits) && other[w] >> (at + 1) != 0;
    for (std::size_t v = w + 1; v < other.size(); ++v) goes_on = goes_on || other[v] != 0;
    return in_a == goes_on;
  }
  return false;
}

/// A state of the search (a partial cover), reached on the cheapest path: the first uncovered place
/// (operator), and the covered places after it.
struct ReachedCover {
  // Cost so far, and its excess over the lower bounds of the covered places.
  double cost = never, over = never;
  double rest = never;    // least cost from here to the end
  std::size_t by = 0;     // the last piece on the path
  int from = -1;          // first uncovered place before that piece; -1: this is the start
  std::size_t state = 0;  // index of the previous state among those of `from`
};

/// The states (partial covers) with one first uncovered place (operator), hashed by the covered places after it.
class CoverLevel {
 public:
  explicit CoverLevel(std::size_t words = 1) : words_(words) {}

  std::size_t size() const { return reached_.size(); }
  /// Returns the places (operators) that partial cover `state` contains after its first uncovered place, as bits.
  Covered covered(std::size_t state) const { return {bits_.data() + state * words_, words_}; }
  ReachedCover& operator[](std::size_t state) { return reached_[state]; }
  const ReachedCover& operator[](std::size_t state) const { return reached_[state]; }

  /// Returns the index of the state (partial cover) with the covered places (operators) `covered`; nullopt if none.
  std::optional<std::size_t> find(Covered covered) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint32_t in = slots_[slot(covered)];
    return in == 0 ? std::nullopt : std::optional<std::size_t>(in - 1);
  }
  /// Returns the state (partial cover) with the covered places (operators) `covered`; inserts it if there is none.
  ReachedCover& at(Covered covered) {
    if (2 * (size() + 1) > slots_.size()) rebuild(std::max<std::size_t>(16, 4 * size()));
    std::uint32_t& in = slots_[slot(covered)];
    if (in == 0) {
      bits_.insert(bits_.end(), covered.begin(), covered.end());
      reached_.emplace_back();
      in = static_cast<std::uint32_t>(size());
    }
    return reached_[in - 1];
  }
  /// Keeps only the search states (partial covers) with the indices `states`, in the order of this list.
  void keep(const std::vector<std::size_t>& states) {
    CoverLevel kept(words_);
    for (std::size_t s : states) {
      kept.bits_.insert(kept.bits_.end(), covered(s).begin(), covered(s).end());
      kept.reached_.push_back(reached_[s]);
    }
    *this = std::move(kept);
    rebuild(std::max<std::size_t>(16, 2 * size()));
  }

 private:
  /// Returns the hash-table slot of the search state (partial cover) whose covered places (operators) are
  /// `covered`, or the empty slot where that state would be inserted.
  std::size_t slot(Covered covered) const {
    Word h = 0;
    for (Word w : covered) h = (h ^ w) * 0x9e3779b97f4a7c15, h ^= h >> 29;
    std::size_t i = h & (slots_.size() - 1);
    while (slots_[i] != 0 && !std::ranges::equal(this->covered(slots_[i] - 1), covered))
      i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  /// Resizes the hash table to `room` slots, rounded up to a power of two, and inserts all search states again.
  void rebuild(std::size_t room) {
    slots_.assign(std::bit_ceil(room), 0);
    for (std::size_t s = 0; s < size(); ++s) slots_[slot(covered(s))] = static_cast<std::uint32_t>(s + 1);
  }

  std::size_t words_;
  std::vector<Word> bits_;
  std::vector<ReachedCover> reached_;
  std::vector<std::uint32_t> slots_;  // a state's index + 1; 0: empty
};

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
    levels_.assign(by_first_.size() + 1, CoverLevel(words_));
    std::ranges::fill(next_, 0);
    levels_[0].at(next_) = {0, 0};
    for (std::size_t at = 0; at + 1 < levels_.size(); ++at) {
      CoverLevel& level = levels_[at];
      cover.exact = narrow(level, widest) && cover.exact;
      cover.states += level.size();
      for (std::size_t s = 0; s < level.size(); ++s)
        for (std::size_t p : by_first_[at]) {
          const double over = level[s].over + over_[p];
          if (over > limit) break;
          const std::size_t first = lay(at, level.covered(s), p);
          if (first == 0) continue;
          CoverLevel& then = levels_[first];
          ReachedCover& r = then.at(next_);
          const double cost = level[s].cost + pieces_[p].cost;
          if (cost < r.cost) r = {cost, over, never, p, static_cast<int>(at), s};
          if (then.size() >= max_waiting * widest && first + 1 < levels_.size())
            cover.exact = narrow(then, widest) && cover.exact;
        }
    }
    if (levels_.back().size() == 0) return cover;
    const ReachedCover& end = levels_.back()[0];
    cover.cost = end.cost;
    for (const ReachedCover* r = &end; r->from >= 0; r = &levels_[r->from][r->state]) cover.pieces.push_back(r->by);
    std::ranges::reverse(cover.pieces);
    return cover;
  }

  /// Adds piece number `piece` (a candidate group) to a partial cover. `at` is the first place (operator)
  /// that the partial cover lacks, and must be the piece's first place. `covered` are the places after `at`
  /// that the partial cover contains. Returns the first place that is uncovered after the addition, and sets
  /// next_ to the covered places after that one. Returns 0 if the piece overlaps `covered`.
  std::size_t lay(std::size_t at, Covered covered, std::size_t piece) {
    const std::vector<Word>& mask = masks_[piece];
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

  /// Sorts the states (partial covers) of one level, all of which have the same first uncovered place
  /// (operator), by their covered places. Returns true if there are at most `widest` states. Otherwise keeps
  /// the `widest` states with the least excess (cost above the lower bound) and returns false.
  static bool narrow(CoverLevel& level, std::size_t widest) {
    const auto before = [&](std::size_t a, std::size_t b) { return is_before(level.covered(a), level.covered(b)); };
    std::vector<std::size_t> states(level.size());
    std::iota(states.begin(), states.end(), std::size_t{0});
    const bool dropped = states.size() > widest;
    if (dropped) {
      std::ranges::nth_element(states, states.begin() + widest, [&](std::size_t a, std::size_t b) {
        if (level[a].over != level[b].over) return level[a].over < level[b].over;
        return before(a, b);
      });
      states.resize(widest);
    }
    std::ranges::sort(states, before);
    level.keep(states);
    return !dropped;
  }

  /// Sets with[p], for each piece p (candidate group), to the cost of the cheapest cover that contains p.
  /// Also computes, for each state (partial cover), the least cost of completing it. Covers whose excess
  /// (cost above the lower bound) exceeds `limit` are skipped.
  void weigh(std::vector<double>& with, double limit) {
    levels_.back()[0].rest = 0;
    for (std::size_t at = levels_.size() - 1; at-- > 0;)
      for (std::size_t s = 0; s < levels_[at].size(); ++s) {
        ReachedCover& reached = levels_[at][s];
        for (std::size_t p : by_first_[at]) {
          if (reached.over + over_[p] > limit) break;
          const std::size_t first = lay(at, levels_[at].covered(s), p);
          if (first == 0) continue;
          const std::optional<std::size_t> to = levels_[first].find(next_);
          if (!to) continue;  // the state was dropped
          const double rest = pieces_[p].cost + levels_[first][*to].rest;
          reached.rest = std::min(reached.rest, rest);
          with[p] = std::min(with[p], reached.cost + rest);
        }
      }
  }

  const std::vector<Piece>& pieces_;
  std::size_t words_ = 1;  // per set of covered places
  // By place: the pieces that it is the first place of, least excess first.
  std::vector<std::vector<std::size_t>> by_first_;
  std::vector<double> over_;              // by piece: its cost minus the lower bounds of its places
  std::vector<std::vector<Word>> masks_;  // by piece: its places after the first
  std::vector<CoverLevel> levels_;        // by first uncovered place
  std::vector<Word> next_;                // result of lay()
};

}  // namespace

Cover cheapest_cover(std::size_t places, const std::vector<Piece>& pieces, std::size_t widest) {
  return Covering(places, pieces).run(widest);
}

}  // namespace zellige::fuse
