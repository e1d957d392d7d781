// Applies masks that depend on element indices, such as a causal mask: finds the elements of each row that the
// mask keeps.
//
//   Attributes causal{.kept = {.tril = 0}};  // keeps j <= i, and puts -inf elsewhere
//   each_row(causal, {2, 3, 3}, [](std::int64_t first, std::int64_t from, std::int64_t to) { ... });
//   // calls with (0, 0, 1), (3, 0, 2), (6, 0, 3), ...: the mask keeps elements [from, to) of the row that begins
//   // at element `first` of the tensor
#pragma once
#include <algorithm>
#include <utility>

#include "graph/infer.hpp"

namespace zellige::graph {

/// Returns a mask's dimensions i and j: the two that the attributes list, or the last two of `rank` dimensions.
inline std::pair<std::size_t, std::size_t> mask_dims(const Attributes& a, std::size_t rank) {
  if (a.sizes.empty()) return {rank - 2, rank - 1};
  return {static_cast<std::size_t>(a.sizes[0]), static_cast<std::size_t>(a.sizes[1])};
}

/// Returns the attributes `a` of a mask of a whole tensor, converted for a region of the tensor that begins
/// at `origin`: the bounds are shifted to the region's own coordinates.
inline Attributes mask_from(Attributes a, const Shape& origin) {
  const auto [i, j] = mask_dims(a, origin.size());
  const std::int64_t by = origin[i] - origin[j];
  const auto within = [](std::int64_t n, std::int64_t minimum) { return std::clamp(n, minimum, max_extent); };
  if (a.kept.tril) a.kept.tril = within(*a.kept.tril + by, -max_extent);
  if (a.kept.triu) a.kept.triu = within(*a.kept.triu + by, -max_extent);
  if (a.kept.length) a.kept.length = within(*a.kept.length - origin[j], 0);
  a.start += origin[j];  // lengths count from here
  return a;
}

/// Calls visit(first, from, to) for each row (last dimension) of a masked tensor of shape `shape`: the mask keeps
/// elements [from, to) of the row that begins at element `first` of the tensor.
template <class Visit>
void each_row(const Attributes& a, const Shape& shape, const Visit& visit) {
  const auto [i, j] = mask_dims(a, shape.size());
  const std::int64_t n = shape.back(), rows = size(shape) / n;
  const std::size_t last = shape.size() - 1;
  const Kept& k = a.kept;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row, at_i = 0, at_j = 0;
    for (std::size_t d = last; d-- > 0; rest /= shape[d]) {
      if (d == i) at_i = rest % shape[d];
      if (d == j) at_j = rest % shape[d];
    }
    std::int64_t from = 0, to = n;
    if (last == j) {
      if (k.triu) from = at_i + *k.triu;
      if (k.tril) to = at_i + *k.tril + 1;
      if (k.length) to = std::min(to, *k.length);
    } else {
      if (k.tril) from = at_j - *k.tril;
      if (k.triu) to = at_j - *k.triu + 1;
      if (last != i) {  // all elements of a row have the same i and j
        const bool kept = (!k.tril || at_j - at_i <= *k.tril) && (!k.triu || at_j - at_i >= *k.triu);
        from = 0, to = kept ? n : 0;
      }
      if (k.length && at_j >= *k.length) to = 0;
    }
    from = std::clamp<std::int64_t>(from, 0, n);
    visit(row * n, from, std::clamp(to, from, n));
  }
}

/// Writes the masked tensor, of shape `shape`, to y: the element of `x` where the mask keeps it, otherwise `fill`.
/// Ignores the mask's lengths.
template <class Number>
void apply_mask(const Attributes& a, const Shape& shape, const Number* x, const Number& fill, Number* y) {
  each_row(a, shape, [&](std::int64_t first, std::int64_t from, std::int64_t to) {
    std::fill(y + first, y + first + from, fill);
    std::copy(x + first + from, x + first + to, y + first + from);
    std::fill(y + first + to, y + first + shape.back(), fill);
  });
}

/// Writes `fill` to each element of y whose index along the mask's second dimension is not below the element's length; of a mask by
/// first indices, where it is below.
/// `lengths` has the shape `of`, which broadcasts to `shape`, the shape of y, and so has one length per element of y.
template <class Number, class Length>
void apply_lengths(const Attributes& a, const Shape& shape, const Shape& of, const Length* lengths, const Number& fill,
                   Number* y) {
  const std::size_t j = mask_dims(a, shape.size()).second, skip = shape.size() - of.size();
  const std::int64_t count = size(shape);
  for (std::int64_t e = 0; e < count; ++e) {
    std::int64_t rest = e, at = 0, step = 1, at_j = 0;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      const std::int64_t here = rest % shape[d];
      if (d == j) at_j = here;
      if (d < skip) continue;
      if (of[d - skip] != 1) at += here * step;
      step *= of[d - skip];
    }
    if ((static_cast<Length>(at_j + a.start) < lengths[at]) == a.kept.first) y[e] = fill;
  }
}

}  // namespace zellige::graph
