// Solves for inputs at which several pairs of compared numbers are equal at once. Each equation is linear in the moves of
// the inputs' elements, by the slopes of the pair's difference (traced.hpp).
//
//   Boundary boundary(FieldSlopes{field});
//   boundary.require(difference.slopes, value, draw(seed, 0));     // the difference shall become 0
//   boundary.moves()                                               // place of an input's element -> what to add
#pragma once
#include <algorithm>
#include <map>
#include <vector>

#include "number/traced.hpp"

namespace zellige::number {

/// A system of linear equations in the moves of inputs, in echelon form: each equation has one element, its pivot, that
/// occurs in no later equation.
template <class Policy>
class Boundary {
 public:
  using Slope = typename Policy::Slope;
  using Term = typename Slopes<Slope>::Term;
  enum class Outcome : std::uint8_t { taken, implied, contradicts };

  explicit Boundary(Policy policy) : policy_(policy) {}

  /// Adds the equation value + sum of slopes times moves = 0. Leaves it out, and says so, if the other equations imply
  /// or contradict it. `random` chooses the element that it moves, one from `first` to before `last` if it has such.
  Outcome require(const Slopes<Slope>& slopes, const Slope& value, std::uint64_t random, std::uint64_t first = 0,
                  std::uint64_t last = ~std::uint64_t{0}) {
    Row row{0, slopes.terms, policy_.minus(value)};
    for (const Row& other : rows_) eliminate(row, other);
    if (row.terms.empty()) return policy_.is_zero(row.sum) ? Outcome::implied : Outcome::contradicts;
    auto from = std::ranges::lower_bound(row.terms, first, {}, &Term::place);
    auto to = std::ranges::lower_bound(row.terms, last, {}, &Term::place);
    if (from == to) from = row.terms.begin(), to = row.terms.end();
    const auto choices = static_cast<std::uint64_t>(std::distance(from, to));
    const Term pivot = *std::next(from, static_cast<std::ptrdiff_t>(random % choices));
    const Slope per = policy_.over(policy_.one(), pivot.slope);
    for (Term& term : row.terms) term.slope = policy_.times(term.slope, per);
    row.pivot = pivot.place, row.sum = policy_.times(row.sum, per);
    rows_.push_back(std::move(row));
    return Outcome::taken;
  }

  /// Returns by how much to move each element that an equation moves; the others stay.
  std::map<std::uint64_t, Slope> moves() const {
    std::map<std::uint64_t, Slope> result;
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      Slope rest = row->sum;
      for (const Term& term : row->terms)
        if (const auto at = result.find(term.place); at != result.end())
          rest = policy_.plus(rest, policy_.minus(policy_.times(term.slope, at->second)));
      result.emplace(row->pivot, rest);
    }
    return result;
  }

  /// The number of terms that were eliminated so far, a measure of time.
  std::size_t work() const { return work_; }

 private:
  struct Row {
    std::uint64_t pivot;
    std::vector<Term> terms;  // by ascending place
    Slope sum;                // what the terms add up to
  };

  /// Subtracts the multiple of `by` that removes its pivot from the row.
  void eliminate(Row& row, const Row& by) {
    const auto at = std::ranges::lower_bound(row.terms, by.pivot, {}, &Term::place);
    if (at == row.terms.end() || at->place != by.pivot) return;
    const Slope times = policy_.minus(at->slope);
    std::vector<Term> sum;
    sum.reserve(row.terms.size() + by.terms.size());
    auto own = row.terms.begin();
    for (const Term& term : by.terms) {
      while (own != row.terms.end() && own->place < term.place) sum.push_back(*own++);
      Term both{term.place, policy_.times(term.slope, times)};
      if (own != row.terms.end() && own->place == term.place) both.slope = policy_.plus((own++)->slope, both.slope);
      if (term.place != by.pivot && !policy_.is_zero(both.slope)) sum.push_back(both);
    }
    sum.insert(sum.end(), own, row.terms.end());
    work_ += sum.size();
    row.terms = std::move(sum);
    row.sum = policy_.plus(row.sum, policy_.times(by.sum, times));
  }

  Policy policy_;
  std::vector<Row> rows_;
  std::size_t work_ = 0;
};

}  // namespace zellige::number
