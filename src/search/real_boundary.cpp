#include "search/real_boundary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/dtype.hpp"
#include "number/boundary.hpp"
#include "number/slopes.hpp"
#include "search/evaluate_graph.hpp"
#include "search/point.hpp"

namespace zellige::search {
namespace {

using Arithmetic = number::Traced<number::RoundedArithmetic, number::RealSlopes>;
using Seen = Arithmetic::Seen;

// What one step considers: a few milliseconds.
constexpr std::size_t max_boundaries = 400, max_work = 200000;

/// Returns the differences that the graphs decide by at `inputs`.
std::vector<Seen> decisions(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing,
                            const std::vector<graph::Numbers>& numbers, const std::vector<reference::Array>& inputs) {
  number::RoundedArithmetic rounded;
  Arithmetic traced(rounded, {});
  std::vector<number::NumberTensor<Arithmetic::Number>> from;
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    from.push_back({inputs[i].shape, {}});
    for (double x : inputs[i].values) {
      const number::Rounded exact = number::RoundedArithmetic::exact(x);
      from.back().at.push_back(numbers[i].bound > 0 ? Arithmetic::Number{exact} : traced.input(exact, place));
      ++place;
    }
  }
  evaluate_graph(traced, a, from);
  evaluate_graph(traced, b, paired(from, pairing));
  std::erase_if(traced.differences, [](const Seen& s) { return s.slopes.terms.empty() || !s.number.finite(); });
  return std::move(traced.differences);
}

/// Returns the nearest number that is short, if x is that except for rounding errors; else x.
double snapped(double x, bool whole) {
  if (whole) return std::round(x);
  for (const double near : {std::round(x * 1024) / 1024, static_cast<double>(static_cast<float>(x))})
    if (std::fabs(x - near) <= 0x1p-40 * std::fabs(x)) return near;
  return x;
}

/// Returns what a chosen difference shall become: 0, or a number on either side of it.
double target(std::uint64_t random) {
  constexpr double sides[] = {1, -1, 0.125, -0.125, 0x1p-20, -0x1p-20, 1000, -1000};
  return random % 5 < 3 ? 0 : sides[(random >> 8) % 8];
}

}  // namespace

std::optional<number::Edge> to_boundary(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing,
                                        const std::vector<graph::Numbers>& numbers, std::uint64_t seed,
                                        std::vector<reference::Array>& inputs) {
  const std::vector<Seen> seen = decisions(a, b, pairing, numbers, inputs);
  if (seen.empty()) return std::nullopt;
  const number::Edge sharpest = std::ranges::max_element(seen, {}, &Seen::edge)->edge;
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
    const graph::DType dtype = a.tensors[a.inputs[i]].dtype;
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
