// Solves for inputs at which several pairs of compared numbers are equal at once. Each equation is linear in the moves of
// the inputs' elements, by the slopes of the pair's difference (traced.hpp).
//
//   Boundary boundary(FieldSlopes{field});
//   boundary.require(difference.slopes, value, draw(seed, 0));     // the difference shall become 0
//   boundary.moves()                                               // place of an input's element -> what to add
#pragma once
#include <map>

#include "number/modular.hpp"
#include "number/traced.hpp"

namespace zellige::search {

/// A system of linear equations in the moves of inputs, in reduced form: each equation has one element, its pivot, that
/// occurs in no other.
template <class Policy>
class Boundary {
 public:
  using Slope = typename Policy::Slope;
  enum class Outcome : std::uint8_t { taken, implied, contradicts };

  explicit Boundary(Policy policy) : policy_(policy) {}

  /// Adds the equation value + sum of slopes times moves = 0. Leaves it out, and says so, if the other equations imply
  /// or contradict it. `random` chooses the element that it moves, one from `first` to before `last` if it has such.
  Outcome require(const Slopes<Slope>& slopes, const Slope& value, std::uint64_t random, std::uint64_t first = 0,
                  std::uint64_t last = ~std::uint64_t{0}) {
    Row row{{}, policy_.minus(value)};
    for (const auto& term : slopes.terms) row.terms[term.place] = term.slope;
    for (const auto& term : slopes.terms)
      if (const auto at = rows_.find(term.place); at != rows_.end()) eliminate(row, term.place, at->second);
    if (row.terms.empty()) return policy_.is_zero(row.sum) ? Outcome::implied : Outcome::contradicts;
    auto from = row.terms.lower_bound(first), to = row.terms.lower_bound(last);
    if (from == to) from = row.terms.begin(), to = row.terms.end();
    const auto choices = static_cast<std::uint64_t>(std::distance(from, to));
    const std::uint64_t pivot = std::next(from, static_cast<std::ptrdiff_t>(random % choices))->first;
    const Slope per = policy_.over(policy_.one(), row.terms.at(pivot));
    for (auto& [place, slope] : row.terms) slope = policy_.times(slope, per);
    row.sum = policy_.times(row.sum, per);
    for (auto& [place, other] : rows_)
      if (other.terms.count(pivot)) eliminate(other, pivot, row);
    rows_.emplace(pivot, std::move(row));
    return Outcome::taken;
  }

  /// Returns by how much to move each element that an equation moves; the others stay.
  std::map<std::uint64_t, Slope> moves() const {
    std::map<std::uint64_t, Slope> result;
    for (const auto& [pivot, row] : rows_) result.emplace(pivot, row.sum);
    return result;
  }

 private:
  struct Row {
    std::map<std::uint64_t, Slope> terms;
    Slope sum;  // what the terms add up to
  };

  /// Subtracts the multiple of `by`, whose pivot is `place`, that removes `place` from the row.
  void eliminate(Row& row, std::uint64_t place, const Row& by) const {
    const auto at = row.terms.find(place);
    if (at == row.terms.end()) return;
    const Slope times = policy_.minus(at->second);
    for (const auto& [other, slope] : by.terms) {
      const auto [to, fresh] = row.terms.try_emplace(other, policy_.times(slope, times));
      if (!fresh) to->second = policy_.plus(to->second, policy_.times(slope, times));
      if (other == place || policy_.is_zero(to->second)) row.terms.erase(to);
    }
    row.sum = policy_.plus(row.sum, policy_.times(by.sum, times));
  }

  Policy policy_;
  std::map<std::uint64_t, Row> rows_;  // by pivot
};

}  // namespace zellige::search
