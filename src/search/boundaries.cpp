#include "search/boundaries.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "graph/dtype.hpp"
#include "number/boundary.hpp"
#include "number/slopes.hpp"
#include "search/evaluate_graph.hpp"
#include "search/point.hpp"

namespace zellige::search {
namespace {

// ---- in finite fields ----

using TracedFields = number::Traced<number::Field, number::FieldSlopes>;
using SeenTie = TracedFields::Seen;

/// The outputs of both graphs at some inputs, and the numbers that the graphs compare there.
struct Evaluated {
  FieldInputs a, b;
  std::vector<SeenTie> seen;
};

Evaluated evaluate(number::Field& field, const GraphPair& pair, const FieldInputs& inputs) {
  TracedFields traced(field, {field});
  std::vector<reference::ArrayOf<TracedFields::Number>> from;
  std::uint64_t place = 0;
  for (const auto& tensor : inputs)
    from.push_back(mapped(tensor, [&](const number::FieldNumber& x) {
      const bool whole = x.decisions != number::Sets::empty;  // a row's index or a length
      const TracedFields::Number at_place = traced.input(x, place++);
      return whole ? TracedFields::Number{x} : at_place;
    }));
  const auto outputs = [&](const KernelGraph& g, const auto& at) {
    FieldInputs result;
    for (const auto& tensor : evaluate_graph(traced, g, at))
      result.push_back(mapped(tensor, [](const TracedFields::Number& x) { return x.value; }));
    return result;
  };
  Evaluated result{outputs(pair.a, from), outputs(pair.b, paired(from, pair.pairing)), {}};
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

/// Moves the inputs so that the selected comparisons become ties. Leaves out of `choice` those that contradict others.
/// Returns false if it is not known whether they do.
bool move(number::Field& field, const std::vector<SeenTie>& seen, std::set<std::size_t>& choice, std::uint64_t seed,
          FieldInputs& inputs) {
  number::Boundary boundary(number::FieldSlopes{field});
  using Outcome = number::Boundary<number::FieldSlopes>::Outcome;
  bool straight = true;
  // The moves are of one input as far as that suffices: products of two inputs are linear in one of them.
  const std::size_t one = number::draw(seed, 1) % inputs.size();
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < one; ++i) first += inputs[i].values.size();
  for (auto at = choice.begin(); at != choice.end();) {
    const SeenTie& s = seen[*at];
    if (!solvable(s)) return false;
    straight = straight && s.slopes.straight;
    const Outcome outcome = boundary.require(s.slopes, number::FieldSlopes::of(s.number), number::draw(seed, *at),
                                             first, first + inputs[one].values.size());
    if (outcome == Outcome::contradicts && !straight) return false;
    at = outcome == Outcome::contradicts ? choice.erase(at) : std::next(at);
  }
  const auto moves = boundary.moves();
  std::uint64_t place = 0;
  for (auto& tensor : inputs)
    for (number::FieldNumber& x : tensor.values)
      if (const auto by = moves.find(place++); by != moves.end()) {
        x.p = number::add_mod(x.p, by->second.p, field.p());
        if (by->second.q != number::FieldSlopes::absent) x.q = number::add_mod(x.q, by->second.q, field.q());
      }
  return true;
}

// ---- in real numbers ----

using TracedReals = number::Traced<number::RoundedArithmetic, number::RealSlopes>;
using SeenBoundary = TracedReals::Seen;

// What one step considers: a few milliseconds.
constexpr std::size_t max_boundaries = 400, max_work = 200000;

/// Returns the differences that the graphs decide by at `inputs`.
std::vector<SeenBoundary> decisions(const GraphPair& pair, const std::vector<graph::Numbers>& numbers,
                                    const std::vector<reference::Array>& inputs) {
  number::RoundedArithmetic rounded;
  TracedReals traced(rounded, {});
  std::vector<reference::ArrayOf<TracedReals::Number>> from;
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    from.push_back(mapped(inputs[i], [&](double x) {
      const TracedReals::Number at_place = traced.input(number::RoundedArithmetic::exact(x), place++);
      return numbers[i].bound > 0 ? TracedReals::Number{at_place.value} : at_place;
    }));
  evaluate_graph(traced, pair.a, from);
  evaluate_graph(traced, pair.b, paired(from, pair.pairing));
  std::erase_if(traced.differences, [](const SeenBoundary& s) { return s.slopes.terms.empty() || !s.number.finite(); });
  return std::move(traced.differences);
}

/// Returns the nearest number that is short, if x is that except for rounding errors; else x.
double snapped(double x, bool whole) {
  if (whole) return std::round(x);
  for (const double near : {std::round(x * 1024) / 1024, static_cast<double>(static_cast<float>(x))})
    if (std::fabs(x - near) <= 0x1p-40 * std::fabs(x)) return near;
  return x;
}

/// Returns what a selected difference shall become: 0, or a number on either side of it.
double target(std::uint64_t random) {
  constexpr double sides[] = {1, -1, 0.125, -0.125, 0x1p-20, -0x1p-20, 1000, -1000};
  return random % 5 < 3 ? 0 : sides[(random >> 8) % 8];
}

}  // namespace

std::optional<TiePoint> tie_point(number::Field& field, const GraphPair& pair, std::uint64_t seed,
                                  const std::function<FieldInputs(std::uint64_t attempt)>& draw_inputs) {
  constexpr std::uint64_t attempts = 8;
  std::optional<std::set<std::size_t>> choice;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    FieldInputs inputs = draw_inputs(attempt);
    Evaluated drawn = evaluate(field, pair, inputs);
    if (!choice) choice = choose_ties(drawn.seen, field.p(), seed);
    std::set<std::size_t> ties = *choice;
    if (ties.empty()) return TiePoint{drawn.a, drawn.b, drawn.a, drawn.b};
    if (!move(field, drawn.seen, ties, number::draw(seed, attempt), inputs)) continue;
    Evaluated moved = evaluate(field, pair, inputs);
    if (std::ranges::all_of(ties, [&](std::size_t i) { return moved.seen[i].number.p == 0; }))
      return TiePoint{std::move(drawn.a), std::move(drawn.b), std::move(moved.a), std::move(moved.b)};
  }
  return std::nullopt;
}

std::optional<number::Edge> to_boundary(const GraphPair& pair, const std::vector<graph::Numbers>& numbers,
                                        std::uint64_t seed, std::vector<reference::Array>& inputs) {
  const std::vector<SeenBoundary> seen = decisions(pair, numbers, inputs);
  if (seen.empty()) return std::nullopt;
  const number::Edge sharpest = std::ranges::max_element(seen, {}, &SeenBoundary::edge)->edge;
  std::vector<std::size_t> order(seen.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return number::draw(seed, i); });
  order.resize(std::min(order.size(), max_boundaries));
  const bool jumps_only = number::draw(seed, 1 << 20) % 2 && sharpest == number::Edge::jump;
  const bool ties_only = number::draw(seed, 1 << 21) % 2;
  const std::uint64_t one_of = std::uint64_t{1} << number::draw(seed, 1 << 22) % 4;  // every one, or one of 2, 4, 8
  number::Boundary boundary(number::RealSlopes{});
  for (std::size_t i : order) {
    const std::uint64_t random = number::draw(seed, i + (std::uint64_t{1} << 32));
    if (random % one_of != 0 || (jumps_only && seen[i].edge != number::Edge::jump)) continue;
    if (boundary.work() > max_work) break;
    const double value = number::RealSlopes::of(seen[i].number);
    boundary.require(seen[i].slopes, value - (ties_only ? 0 : target(random >> 8)), random >> 32);
  }
  const auto moves = boundary.moves();
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const graph::DType dtype = pair.a.tensors[pair.a.inputs[i]].dtype;
    const bool whole = graph::is_integer(dtype);
    for (double& x : inputs[i].values) {
      const auto by = moves.find(place++);
      if (by == moves.end() || !std::isfinite(by->second)) continue;
      const double moved = snapped(x + by->second, whole);
      if (std::fabs(moved) <= 0x1p100) x = whole ? graph::round_to(dtype, moved) : moved;
    }
  }
  return sharpest;
}

}  // namespace zellige::search
