#include "reference/sample.hpp"

#include <algorithm>
#include <set>

#include "reference/mix.hpp"

namespace zellige::reference {
namespace {

/// Returns n distinct numbers from 0 to count - 1, ascending: count - 1 itself, and n - 1 others, drawn with
/// equal probability (Floyd's algorithm).
std::vector<std::int64_t> choose(std::int64_t n, std::int64_t count, std::uint64_t seed) {
  std::set<std::int64_t> selected;
  const std::int64_t others = count - 1;
  for (std::int64_t j = others - (n - 1); j < others; ++j) {
    const auto at = static_cast<std::int64_t>(mix(seed += mix_step) % static_cast<std::uint64_t>(j + 1));
    selected.insert(selected.contains(at) ? j : at);
  }
  selected.insert(count - 1);
  return {selected.begin(), selected.end()};
}

}  // namespace

std::int64_t SampleTiling::count() const {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) n *= (shape[d] + tile[d] - 1) / tile[d];
  return n;
}

TensorRegion SampleTiling::at(std::int64_t index) const {
  TensorRegion r{graph::Shape(shape.size()), graph::Shape(shape.size())};
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t along = (shape[d] + tile[d] - 1) / tile[d];
    r.origin[d] = index % along * tile[d];
    r.extent[d] = std::min(tile[d], shape[d] - r.origin[d]);
    index /= along;
  }
  return r;
}

SampleTiling tiling(const graph::Shape& shape) {
  constexpr std::int64_t limit = 128;
  SampleTiling t{shape, graph::Shape(shape.size(), 1)};
  for (std::size_t d = shape.size() < 2 ? 0 : shape.size() - 2; d < shape.size(); ++d)
    t.tile[d] = std::min(shape[d], limit);
  return t;
}

std::vector<Sample> sample(const graph::KernelGraph& g, const std::vector<int>& tensors, std::uint64_t seed,
                           const SampleLimits& limits) {
  std::vector<bool> stored(g.tensors.size());
  for (int t : tensors) stored[t] = true;
  const double share = limits.work / static_cast<double>(std::max<std::size_t>(1, tensors.size()));
  std::vector<Sample> all;
  for (int t : tensors) {
    Sample s{t, tiling(g.tensors[t].shape), {}, {}, {}, 0};
    const std::int64_t count = s.tiling.count();
    const TensorRegion one = s.tiling.at(0);
    RegionGraph c = cut(g, t, one);
    s.work = work(c.graph);
    if (4 * s.work > share) {
      RegionGraph nearest = cut(g, t, one, stored);
      const double less = work(nearest.graph);
      if (2 * less <= s.work) s.work = less, s.known = stored, c = std::move(nearest);
    }
    std::set<int> from;
    for (const RegionGraph::Part& part : c.inputs) from.insert(part.tensor);
    s.from.assign(from.begin(), from.end());
    const auto affordable = static_cast<std::int64_t>(share / std::max(s.work, 1.0));
    const std::int64_t n = std::clamp<std::int64_t>(affordable, 1, std::min(limits.max_tiles, count));
    s.tiles = choose(n, count, mix(seed + mix_step * static_cast<std::uint64_t>(t + 1)));
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace zellige::reference
