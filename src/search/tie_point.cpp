#include "search/tie_point.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "number/boundary.hpp"
#include "number/slopes.hpp"
#include "search/evaluate_graph.hpp"
#include "search/point.hpp"

namespace zellige::search {
namespace {

using TracedFields = number::Traced<number::Field, number::FieldSlopes>;
using SeenTie = TracedFields::Seen;

/// The outputs of both graphs at some inputs, and the numbers that the graphs compare there.
struct Evaluated {
  FieldInputs a, b;
  std::vector<SeenTie> seen;
};

FieldInputs values(const std::vector<number::NumberTensor<TracedFields::Number>>& traced) {
  FieldInputs result;
  for (const auto& tensor : traced) {
    result.push_back({tensor.shape, {}});
    for (const auto& x : tensor.at) result.back().at.push_back(x.value);
  }
  return result;
}

Evaluated evaluate(number::Field& field, const KernelGraph& a, const KernelGraph& b, const Pairing& pairing,
                   const FieldInputs& inputs) {
  TracedFields traced(field, {field});
  std::vector<number::NumberTensor<TracedFields::Number>> from;
  std::uint64_t place = 0;
  for (const auto& tensor : inputs) {
    from.push_back({tensor.shape, {}});
    for (const number::FieldNumber& x : tensor.at) {
      const bool whole = x.decisions != number::Sets::empty;  // a row's index or a length
      from.back().at.push_back(whole ? TracedFields::Number{x} : traced.input(x, place));
      ++place;
    }
  }
  Evaluated result;
  result.a = values(evaluate_graph(traced, a, from));
  result.b = values(evaluate_graph(traced, b, paired(from, pairing)));
  result.seen = std::move(traced.differences);
  return result;
}

bool solvable(const SeenTie& s) {
  return s.edge == number::Edge::jump && !s.slopes.hidden && !s.slopes.terms.empty() &&
         s.number.kind == number::FieldNumber::Kind::number;
}

/// Returns the indices of the comparisons that are to be ties: each difference with a chance of one third.
std::set<std::size_t> choose_ties(const std::vector<SeenTie>& seen, std::uint64_t p, std::uint64_t seed) {
  std::set<std::size_t> result;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::uint64_t key = std::min(seen[i].number.p, p - seen[i].number.p);
    if (solvable(seen[i]) && number::draw(seed, key) % 3 == 0) result.insert(i);
  }
  return result;
}

/// Moves the inputs so that the chosen comparisons become ties. Leaves out of `choice` those that contradict others.
/// Returns false if it is not known whether they do.
bool move(number::Field& field, const std::vector<SeenTie>& seen, std::set<std::size_t>& choice, std::uint64_t seed,
          FieldInputs& inputs) {
  number::Boundary boundary(number::FieldSlopes{field});
  using Outcome = number::Boundary<number::FieldSlopes>::Outcome;
  bool straight = true;
  // The moves are of one input as far as that suffices: products of two inputs are linear in one of them.
  const std::size_t one = number::draw(seed, 1) % inputs.size();
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < one; ++i) first += inputs[i].at.size();
  for (auto at = choice.begin(); at != choice.end();) {
    const SeenTie& s = seen[*at];
    if (!solvable(s)) return false;
    straight = straight && s.slopes.straight;
    const Outcome outcome = boundary.require(s.slopes, number::FieldSlopes::of(s.number), number::draw(seed, *at),
                                             first, first + inputs[one].at.size());
    if (outcome == Outcome::contradicts && !straight) return false;
    at = outcome == Outcome::contradicts ? choice.erase(at) : std::next(at);
  }
  const auto moves = boundary.moves();
  std::uint64_t place = 0;
  for (auto& tensor : inputs)
    for (number::FieldNumber& x : tensor.at)
      if (const auto by = moves.find(place++); by != moves.end()) {
        x.p = number::add_mod(x.p, by->second.p, field.p());
        if (by->second.q != number::FieldSlopes::absent) x.q = number::add_mod(x.q, by->second.q, field.q());
      }
  return true;
}

}  // namespace

std::optional<TiePoint> tie_point(number::Field& field, const KernelGraph& a, const KernelGraph& b,
                                  const Pairing& pairing, std::uint64_t seed,
                                  const std::function<FieldInputs(std::uint64_t attempt)>& draw_inputs) {
  constexpr std::uint64_t attempts = 8;
  std::optional<std::set<std::size_t>> choice;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    FieldInputs inputs = draw_inputs(attempt);
    Evaluated drawn = evaluate(field, a, b, pairing, inputs);
    if (!choice) choice = choose_ties(drawn.seen, field.p(), seed);
    std::set<std::size_t> ties = *choice;
    if (ties.empty()) return TiePoint{drawn.a, drawn.b, drawn.a, drawn.b};
    if (!move(field, drawn.seen, ties, number::draw(seed, attempt), inputs)) continue;
    Evaluated moved = evaluate(field, a, b, pairing, inputs);
    if (std::ranges::all_of(ties, [&](std::size_t i) { return moved.seen[i].number.p == 0; }))
      return TiePoint{std::move(drawn.a), std::move(drawn.b), std::move(moved.a), std::move(moved.b)};
  }
  return std::nullopt;
}

}  // namespace zellige::search
