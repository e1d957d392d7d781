#include "tile/view.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "tile/program.hpp"

namespace zellige::plan {

Interval::Interval(const Cut& cut, const BlockProgram& p)
    : cut_(cut), blocks_(cut.axis < 0 ? 1 : p.grid[cut.axis]), iterations_(cut.loop ? p.loop : 1) {}

Digit Interval::tiles() const {
  if (cut_.axis < 0) return {};
  const std::int64_t last = ceil_div(blocks_, cut_.div);
  return {cut_.axis, cut_.div, cut_.mod > 0 ? std::min(cut_.mod, last) : last,
          cut_.mod <= 0 || cut_.div * cut_.mod >= blocks_};
}

Value Interval::map() const {
  const auto [axis, below, extent, top] = tiles();
  const auto mode = [](std::int64_t extent, std::int64_t stride) {
    return mode_node(fixed(extent), {fixed(extent > 1 ? stride : 0)});
  };
  Value all = empty(ValueKind::layout);
  const auto step = mode(extent, iterations_ * cut_.tile);
  if (below == 1 && top) {
    all.add(step);
  } else {
    Value block = empty(ValueKind::layout);
    block.add(mode(below, 0)), block.add(step);
    if (!top) block.add(mode(ceil_div(blocks_, below * extent), 0));
    all.add(block);
  }
  all.add(mode(iterations_, cut_.tile)), all.add(mode(cut_.tile, 1));
  return all;
}

View View::over_grid(const Shape& extent, const Shape& tile, const Shape& steps) {
  View v{std::vector<Cut>(extent.size())};
  std::int64_t div = 1;
  for (std::size_t d = extent.size(); d-- > 0; div *= steps[d]) {
    Cut& c = v.cuts[d];
    c.tile = extent[d] > 1 && steps[d] == 1 ? tile[d] : std::min(tile[d], extent[d]);
    c.extent = extent[d];
    if (steps[d] > 1 && extent[d] > 1) c.axis = 0, c.div = div, c.mod = steps[d];
    c.overhang = steps[d] > 1 ? extent[d] % c.tile != 0 : c.tile > extent[d];
  }
  return v;
}

void View::move(const Shape& by) {
  for (std::size_t d = 0; d < by.size(); ++d) cuts[d].offset += by[d];
}

bool View::predicated() const { return std::ranges::any_of(cuts, &Cut::overhang); }
bool View::iterates() const { return std::ranges::any_of(cuts, &Cut::loop); }

std::int64_t View::alignment(int dim) const { return std::gcd(origin(dim), fixed(dim) ? 0 : tile(dim)); }

std::int64_t View::tiles(const BlockProgram& p) const {
  std::int64_t all = 1;
  for (int d = 0; d < rank(); ++d) all *= along(d, p).tiles().extent;
  return all;
}

bool View::iterates_with(int axis) const {
  return std::ranges::any_of(cuts, [&](const Cut& c) { return c.axis == axis && c.loop; });
}

std::uint64_t View::inside(int axis, const BlockProgram& p, std::int64_t iteration) const {
  // By digit (below and extent) of the block's index, and by its value: what is inside along its dimensions.
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::uint64_t>> found;
  for (int d = 0; d < rank(); ++d) {
    if (this->axis(d) != axis) continue;
    const Interval in = along(d, p);
    const auto [of, below, extent, top] = in.tiles();
    std::vector<std::uint64_t>& counts =
        found.try_emplace({below, extent}, static_cast<std::size_t>(extent), 1).first->second;
    for (std::int64_t number = 0; number < extent; ++number)
      counts[static_cast<std::size_t>(number)] *= static_cast<std::uint64_t>(
          std::clamp<std::int64_t>(end(d) - origin(d) - in.first(number, iteration), 0, tile(d)));
  }
  const std::int64_t blocks = axis < 0 ? 1 : p.grid[axis];
  std::int64_t below = 1, combinations = 1;
  std::uint64_t product = 1, sum = 0;
  bool separate = true;
  for (const auto& [digit, counts] : found) {
    separate = separate && digit.first % below == 0 && blocks % (digit.first * digit.second) == 0;
    below = digit.first * digit.second, combinations *= digit.second;
    product *= std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  // Distinct digits of one index take all combinations equally often: the sum of products is a product of sums.
  if (separate) return product * static_cast<std::uint64_t>(blocks / combinations);
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::uint64_t all = 1;
    for (const auto& [digit, counts] : found)
      all *= counts[static_cast<std::size_t>(block / digit.first % digit.second)];
    sum += all;
  }
  return sum;
}

}  // namespace zellige::plan
