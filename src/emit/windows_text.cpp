#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "emit/tensor_index.hpp"
#include "kernel/index_width.hpp"

namespace zellige::emit {
namespace {

/// Returns the layout that maps a coordinate of windows to a sum, to which one more of a digit adds step(digit).
template <class Step>
std::string layout_of(const tile::Windows& w, const Step& step) {
  std::vector<std::string> shapes, strides;
  for (const auto& dim : w.digits) {
    std::vector<std::pair<std::int64_t, std::int64_t>> modes;  // extent and step; modes that go on are one
    for (const tile::WindowDigit& d : dim)
      if (const std::int64_t by = step(d); !modes.empty() && by == modes.back().first * modes.back().second)
        modes.back().first *= d.extent;
      else
        modes.emplace_back(d.extent, by);
    if (modes.empty()) modes.emplace_back(1, 0);
    std::vector<std::string> extents, steps;
    for (const auto& [extent, by] : modes) {
      extents.push_back(fmt::format("Int<{}>", extent));
      steps.push_back(fmt::format("{}<{}>", by > kernel::max_int32 ? "C" : "Int", by));
    }
    const bool one = modes.size() == 1;
    shapes.push_back(one ? extents[0] : fmt::format("Shape<{}>", fmt::join(extents, ", ")));
    strides.push_back(one ? steps[0] : fmt::format("Stride<{}>", fmt::join(steps, ", ")));
  }
  return fmt::format("Layout<Shape<{}>, Stride<{}>>", fmt::join(shapes, ", "), fmt::join(strides, ", "));
}

/// Returns what is added to the name of a tensor of windows for its coordinates along dimension `dim` of the source.
std::string along(int dim) { return fmt::format("_at{}", dim); }

}  // namespace

/// Emits the tiles that say where the elements of windows are: in memory, and along each dimension of the source in which
/// some of them are padding.
void declare_windows(const KernelText& k, int tensor, const tile::Windows& w, bool wide) {
  const std::int64_t offset = w.offset();
  k.out.line("const auto {} = global_tile<{}{}>({}{});", k.global(tensor),
             layout_of(w, [&](const tile::WindowDigit& d) { return w.step(d); }), wide ? ", long long" : "",
             base(k, tensor), offset == 0 ? "" : fmt::format(" {} {}", offset < 0 ? "-" : "+", std::abs(offset)));
  for (int d = 0; d < static_cast<int>(w.extents.size()); ++d)
    if (w.padded(d))
      k.out.line("const auto {}{} = global_tile<{}>({});", k.global(tensor), along(d),
                 layout_of(w, [&](const tile::WindowDigit& of) { return of.dim == d ? of.step : 0; }),
                 w.origin[static_cast<std::size_t>(d)]);
}

/// Adds to a condition that the element at coordinate `at` of node `n`'s tensor is no padding of windows.
void check_windows(const KernelText& k, Condition& inside, const Node& n, const std::vector<Index>& at) {
  const tile::Windows* w = n.unfolded ? k.program.windows(n.tensor) : nullptr;
  for (int d = 0; w && d < static_cast<int>(w->extents.size()); ++d) {
    if (!w->padded(d)) continue;
    const Index here = Index::named(fmt::format("{}{}({})", k.global(n.tensor), along(d), fmt::join(at, ", ")));
    inside.push_back({-1, here}), inside.push_back({here, w->extents[static_cast<std::size_t>(d)]});
  }
}

}  // namespace zellige::emit
