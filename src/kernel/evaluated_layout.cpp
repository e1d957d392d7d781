#include "kernel/evaluated_layout.hpp"

#include <algorithm>
#include <bit>

namespace zellige::kernel {

EvaluatedLayout::EvaluatedLayout(const Context& c)
    : axes_(c.axes()), values_(static_cast<int>(c.values())), repeats_(c.repeats()), rank_(c.rank()) {
  const auto table = [&](values::View layout, std::vector<std::int64_t>& items) {
    const std::vector<Mode> leaves = modes(layout);
    std::int64_t n = 1;
    for (const Mode& m : leaves) n *= m.extent;
    items.assign(n * axes_, 0);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t rest = i;
      for (const Mode& m : leaves) {
        items[i * axes_ + m.basis] += rest % m.extent * m.stride;
        rest /= m.extent;
      }
    }
  };
  table(values::View(c.share)[0], of_thread_);
  table(values::View(c.share)[1], of_value_);
  table(values::View(c.share)[2], of_repeat_);
  for (int axis = 0; axis < c.axes(); ++axis) {
    sizes_.push_back(c.items(axis));
    std::vector<Step>& steps = tile_.emplace_back();
    for (const Mode& m : modes(values::View(c.tile)[axis])) {
      const auto extent = static_cast<std::uint64_t>(m.extent);
      steps.push_back({m, std::has_single_bit(extent) ? std::countr_zero(extent) : -1});
    }
  }
}

void EvaluatedLayout::find(int thread, int value, int repeat, Shape& at, std::size_t checked, std::size_t added) const {
  at.resize(rank_);
  std::ranges::fill(at, 0);  // inlined, as assign() is not
  for (std::size_t a = checked; a < axes_; ++a) {
    const std::int64_t item =
        of_thread_[thread * axes_ + a] + of_value_[value * axes_ + a] + of_repeat_[repeat * axes_ + a];
    if (item >= sizes_[a]) return at.clear();
    if (a >= added) add_coordinates(a, item, at);
  }
}

void EvaluatedLayout::add_coordinates(std::size_t axis, std::int64_t item, Shape& at) const {
  for (const auto& [m, shift] : tile_[axis]) {
    std::int64_t& coordinate = at[m.basis];
    if (shift >= 0) {
      coordinate += (item & (m.extent - 1)) * m.stride;
      item >>= shift;
    } else {
      coordinate += item % m.extent * m.stride;
      item /= m.extent;
    }
  }
}

void for_each_access(const Context& c, const UseAccess& use, std::size_t limit, Visits which) {
  const EvaluatedLayout layout(c);
  const bool items = which == Visits::items;
  const int step = items ? c.vector() : 1;
  std::array<bool, 32> visits{};
  for (int lane = 0; lane < 32; ++lane) visits[lane] = which != Visits::sums || c.first_lane(lane) == lane;
  WarpAccess lanes(32);
  for (int repeat = 0; repeat < (items ? layout.repeats() : 1); ++repeat)
    for (int value = 0; value < layout.values(); value += step) {
      if (!items && !layout.starts_sum(value)) continue;
      for (int first = 0; first < layout.threads(); first += 32) {
        if (limit == 0) return;
        bool any = !items;
        for (int lane = 0; lane < 32; ++lane) {
          Shape& at = lanes[lane];
          at.clear();
          if (!visits[lane] || first + lane >= layout.threads()) continue;
          if (items)
            layout.find(first + lane, value, repeat, at);
          else
            which == Visits::sums ? layout.find_sum(first + lane, value, 0, at)
                                  : layout.find_line(first + lane, value, at);
          any = any || !at.empty();
        }
        if (any) use(first / 32, lanes), --limit;
      }
    }
}

std::vector<int> owners(const Context& c, const Shape& shape) {
  std::vector<int> owner(graph::size(shape), -1);
  for_each(EvaluatedLayout(c), [&](int thread, int, const Shape& at) {
    if (!inside(at, shape)) return;
    int& o = owner[linear(at, shape)];
    o = o == -1 || o == thread ? thread : -2;
  });
  for (int& o : owner) o = o < 0 ? -1 : o;
  return owner;
}

}  // namespace zellige::kernel
