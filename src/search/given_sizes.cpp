#include "search/given_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "graph/reference.hpp"
#include "search/modular.hpp"
#include "search/values.hpp"

namespace zellige::search {
namespace {

using graph::Array;
using graph::KernelGraph;

/// Between -scale and scale, rows of different magnitude.
Array random_array(const graph::Shape& shape, std::uint64_t seed, double scale, bool positive) {
  Array a = graph::make_array(shape);
  const auto row = static_cast<std::size_t>(shape.back());
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double x = static_cast<double>(draw(seed, i) >> 11) * 0x1p-52 - 1;
    a.values[i] = scale * std::exp2(-static_cast<double>(i / row % 4)) * (positive ? std::fabs(x) + 0x1p-6 : x);
  }
  return a;
}

bool finite(const std::vector<Array>& arrays) {
  return std::ranges::all_of(arrays, [](const Array& a) {
    return graph::magnitude(a.values.data(), static_cast<std::int64_t>(a.values.size())).finite;
  });
}

void measure(const KernelGraph& a, const std::vector<Array>& ya, const std::vector<Array>& yb, GivenSizes& result) {
  for (std::size_t o = 0; o < ya.size(); ++o) {
    const auto n = static_cast<std::size_t>(ya[o].shape.back());
    for (std::size_t row = 0; row < ya[o].values.size(); row += n) {
      double difference = 0, norm = 0, most = -1;
      std::size_t worst = row;
      for (std::size_t i = row; i < row + n; ++i) {
        const double x = ya[o].values[i], y = yb[o].values[i], d = std::fabs(x - y);
        difference += d * d;
        norm += std::max(x * x, y * y);
        if (d > most) most = d, worst = i;
      }
      const double distance = difference == 0 ? 0 : std::sqrt(difference / norm);
      if (row == 0 && o == 0 ? false : distance <= result.distance) continue;
      result.distance = distance;
      result.output = a.tensors[a.outputs[o]].name;
      result.element = coordinates(ya[o].shape, static_cast<std::int64_t>(worst));
      result.in_a = ya[o].values[worst], result.in_b = yb[o].values[worst];
    }
  }
}

}  // namespace

GivenSizes given_sizes(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing, std::uint64_t seed) {
  graph::ReferenceOptions exact;
  exact.round = false;
  GivenSizes result;
  for (const auto& [scale, positive] : {std::pair{1.0, false}, {0.125, false}, {0.5, true}}) {
    std::vector<Array> inputs, in_b(a.inputs.size());
    for (std::size_t i = 0; i < a.inputs.size(); ++i) {
      inputs.push_back(random_array(a.tensors[a.inputs[i]].shape, draw(seed, i), scale, positive));
      in_b[pairing.inputs[i]] = inputs[i];
    }
    const std::vector<Array> ya = graph::run_reference(a, inputs, exact);
    if (!finite(ya)) continue;
    const std::vector<Array> yb = graph::run_reference(b, in_b, exact);
    if (!finite(yb)) continue;
    result.compared = true;
    measure(a, ya, yb, result);
    return result;
  }
  return result;
}

}  // namespace zellige::search
