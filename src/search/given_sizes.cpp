#include "search/given_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "graph/inputs.hpp"
#include "graph/reference.hpp"

namespace zellige::search {
namespace {

using graph::Array;
using graph::KernelGraph;

/// Elements where one is not finite say nothing: float64 may have overflowed on the way. But where a number
/// and none were proved to stand at small sizes (`nan_counts`), they are as far apart as can be. False if
/// most elements say nothing.
bool measure(const KernelGraph& a, const std::vector<Array>& ya, const std::vector<Array>& yb,
             bool nan_counts, GivenSizes& result) {
  std::size_t seen = 0, all = 0;
  GivenSizes found = result;
  for (std::size_t o = 0; o < ya.size(); ++o) {
    const auto n = static_cast<std::size_t>(ya[o].shape.back());
    for (std::size_t row = 0; row < ya[o].values.size(); row += n) {
      double difference = 0, norm = 0, most = -1;
      std::size_t worst = row;
      for (std::size_t i = row; i < row + n; ++i, ++all) {
        const double x = ya[o].values[i], y = yb[o].values[i];
        const bool apart =
            nan_counts && std::isnan(x) != std::isnan(y) && std::isfinite(x) != std::isfinite(y);
        if (!apart && !(std::isfinite(x) && std::isfinite(y))) continue;
        ++seen;
        const double d = apart ? INFINITY : std::fabs(x - y);
        difference += d * d;
        norm += apart ? 0 : std::max(x * x, y * y);
        if (d > most) most = d, worst = i;
      }
      const double distance = difference == 0          ? 0
                              : std::isinf(difference) ? INFINITY
                                                       : std::sqrt(difference / norm);
      if (distance <= found.distance) continue;
      found = {true,
               distance,
               a.tensors[a.outputs[o]].name,
               graph::coordinates(static_cast<std::int64_t>(worst), ya[o].shape),
               ya[o].values[worst],
               yb[o].values[worst]};
    }
  }
  if (2 * seen <= all) return false;
  result = found;
  return result.compared = true;
}

}  // namespace

GivenSizes given_sizes(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing, std::uint64_t seed,
                       std::optional<Scale> also) {
  graph::ReferenceOptions exact;
  exact.round = false;
  GivenSizes result;
  const std::vector<graph::Numbers> numbers = graph::drawn_numbers(a);
  const auto at = [&](const Scale& scale, bool nan_counts) {
    std::vector<Array> inputs, in_b(a.inputs.size());
    for (std::size_t i = 0; i < a.inputs.size(); ++i) {
      const graph::Shape& shape = a.tensors[a.inputs[i]].shape;
      inputs.push_back({shape, draw_values(shape, scale, draw(seed, i))});
      if (numbers[i].bound > 0)
        graph::draw_numbers(numbers[i], seed + i, 0, graph::size(shape), inputs.back().values.data());
      in_b[pairing.inputs[i]] = inputs[i];
    }
    return measure(a, graph::run_reference(a, inputs, exact), graph::run_reference(b, in_b, exact),
                   nan_counts, result);
  };
  if (also) at(*also, true);
  for (const Scale& usual :
       {Scale{1, Scale::Kind::rows}, {0.125, Scale::Kind::rows}, {0.5, Scale::Kind::positive}})
    if (at(usual, false)) break;
  return result;
}

}  // namespace zellige::search
