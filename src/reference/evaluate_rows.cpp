#include "reference/evaluate_rows.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/ops.hpp"

namespace zellige::graph {
namespace {

/// Returns element number i of `numbers` as a row index. Throws Error unless it is an integer in [0, bound).
std::int64_t number_of(OpKind kind, const Operand& numbers, std::int64_t i, std::int64_t bound) {
  const double n = numbers.values[i];
  if (!(n >= 0 && n < static_cast<double>(bound)) || n != std::floor(n))
    fail("{}: expected row indices from 0 to {}, found {} at {}", name(kind), bound - 1, n,
         to_string(coordinates(i, numbers.shape)));
  return static_cast<std::int64_t>(n);
}

/// Replaces the elements of y from an index on, along dimension `a.dim`, by the tensor in[1]. The index is
/// the third operand, if present, or `a.start`.
void slice_scatter(const Attributes& a, const std::vector<Operand>& in, const Result& y) {
  const Operand& part = in[1];
  const auto dim = static_cast<std::size_t>(a.dim);
  const std::int64_t start =
      in.size() > 2 ? number_of(OpKind::slice_scatter, in[2], 0, y.shape[dim] - part.shape[dim] + 1)
                    : a.start;
  copy_part(y.shape, part.shape, a.dim, start, [&](std::int64_t w, std::int64_t p, std::int64_t n) {
    std::copy_n(part.values + p, n, y.values + w);
  });
}

}  // namespace

void evaluate_rows(OpKind kind, const Attributes& a, const std::vector<Operand>& in, const Result& y) {
  const Operand& x = in[0];
  const std::int64_t row = size(x.shape) / x.shape[0], count = size(in[1].shape);
  if (kind == OpKind::gather) {
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(x.values + number_of(kind, in[1], i, x.shape[0]) * row, row, y.values + i * row);
    return;
  }
  std::copy_n(x.values, size(x.shape), y.values);
  if (kind == OpKind::slice_scatter) return slice_scatter(a, in, y);
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t n = number_of(kind, in[1], i, x.shape[0]);
    if (!seen.insert(n).second)
      fail("{}: expected each row once, found {} again at {}", name(kind), n,
           to_string(coordinates(i, in[1].shape)));
    std::copy_n(in[2].values + i * row, row, y.values + n * row);
  }
}

}  // namespace zellige::graph
