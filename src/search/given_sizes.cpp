#include "search/given_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "number/ball.hpp"
#include "number/modular.hpp"
#include "number/rounded.hpp"
#include "reference/inputs.hpp"
#include "reference/reference.hpp"
#include "search/evaluate_graph.hpp"
#include "search/scalars.hpp"

namespace zellige::search {
namespace {

using reference::Array;

/// Measures the distances of the rows of two graphs' outputs `ya` and `yb` at `inputs`. Keeps the largest distance in
/// `result`. Elements that are not finite may be overflows and are ignored; but if `classes` is true, NaN or infinity
/// in one graph alone counts as an infinite distance. Returns false if most elements were ignored.
bool measure(const KernelGraph& a, const std::vector<Array>& ya, const std::vector<Array>& yb, bool classes,
             const std::vector<Array>& inputs, GivenSizes& result) {
  std::size_t seen = 0, all = 0;
  GivenSizes found = result;
  for (std::size_t o = 0; o < ya.size(); ++o) {
    const auto n = static_cast<std::size_t>(ya[o].shape.back());
    for (std::size_t row = 0; row < ya[o].values.size(); row += n) {
      double difference = 0, norm = 0, maximum = -1;
      std::size_t worst = row;
      for (std::size_t i = row; i < row + n; ++i, ++all) {
        const double x = ya[o].values[i], y = yb[o].values[i];
        const bool finite = std::isfinite(x) && std::isfinite(y);
        const bool class_differs = classes && !finite && x != y && !(std::isnan(x) && std::isnan(y));
        if (!class_differs && !finite) continue;
        ++seen;
        const double d = class_differs ? INFINITY : std::fabs(x - y);
        difference += d * d;
        norm += class_differs ? 0 : std::max(x * x, y * y);
        if (d > maximum) maximum = d, worst = i;
      }
      const double distance = difference == 0 ? 0 : std::isinf(difference) ? INFINITY : std::sqrt(difference / norm);
      if (distance <= found.distance) continue;
      found = {true,
               distance,
               a.tensors[a.outputs[o]].name,
               graph::coordinates(static_cast<std::int64_t>(worst), ya[o].shape),
               ya[o].values[worst],
               yb[o].values[worst],
               inputs};
    }
  }
  if (2 * seen <= all && !std::isinf(found.distance)) return false;
  result = found;
  return result.compared = true;
}

/// Returns whether holds(x, y) for an element of the outputs, whose values in the two graphs are x and y.
template <number::Arithmetic A, class Holds>
bool any_element(A arithmetic, const GraphPair& pair, const std::vector<Array>& inputs, const Holds& holds) {
  const auto ya = evaluate_exactly(arithmetic, pair.a, inputs),
             yb = evaluate_exactly(arithmetic, pair.b, paired(inputs, pair.pairing));
  for (std::size_t o = 0; o < ya.size(); ++o)
    for (std::size_t i = 0; i < ya[o].values.size(); ++i)
      if (holds(ya[o].values[i], yb[o].values[i])) return true;
  return false;
}

/// Returns whether x and y may differ by more than a small fraction.
bool may_differ(const number::Rounded& x, const number::Rounded& y) {
  constexpr double fraction = 1e-11, smallest = 1e-200;
  if (!x.told() || !y.told() || number::disjoint(x, y)) return true;
  if (!x.finite() || !y.finite()) return false;
  return x.error + y.error > fraction * std::max(smallest, std::min(std::fabs(x.value), std::fabs(y.value)));
}

}  // namespace

GivenSizes given_sizes(const GraphPair& pair, std::uint64_t seed, std::optional<Scale> also, int points, int peaks) {
  const reference::ReferenceOptions exact{.round = false};
  GivenSizes result;
  const std::vector<graph::Numbers> numbers = drawn_numbers(pair);
  const auto at = [&](const Scale& scale, bool classes, std::uint64_t n) {
    const std::vector<Array> inputs = draw_point(pair.a, numbers, scale, number::draw(seed, n));
    return measure(pair.a, reference::run_reference(pair.a, inputs, exact),
                   reference::run_reference(pair.b, paired(inputs, pair.pairing), exact), classes, inputs, result);
  };
  std::uint64_t n = 0;
  for (int peak = 0; peak < peaks; ++peak) at({1, Scale::Kind::peaks, peak}, false, n++);
  for (int point = 0; point < points; ++point) {
    if (also) at(*also, std::fabs(also->scale) <= 1, n++);
    at({0x1p-10, Scale::Kind::dense}, true, n++);
    for (const Scale& usual : {Scale{1, Scale::Kind::rows}, {0.125, Scale::Kind::rows}, {0.5, Scale::Kind::positive}})
      if (at(usual, false, n++)) break;
  }
  return result;
}

bool proved_in_float64(const GraphPair& pair, const std::vector<Array>& inputs) {
  return any_element(number::RoundedArithmetic(), pair, inputs,
                     [](const auto& x, const auto& y) { return number::disjoint(x, y); });
}

bool proved_in_balls(const GraphPair& pair, const std::vector<Array>& inputs) {
  return any_element(number::BallArithmetic(of_one_alone(pair.a, pair.b)), pair, inputs,
                     [](const auto& x, const auto& y) { return number::disjoint(x, y); });
}

bool equal_in_float64(const GraphPair& pair, const std::vector<Array>& inputs) {
  return !any_element(number::RoundedArithmetic(), pair, inputs, may_differ);
}

}  // namespace zellige::search
