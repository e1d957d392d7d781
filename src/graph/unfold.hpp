// Windows of a tensor along one dimension, the operator `unfold`: PyTorch's Tensor.unfold, with a dilation, and with zeros on both
// sides of the dimension. Two of them and a matmul are a convolution.
//
//   const Unfold u{.size = 3, .step = 2, .before = 1, .after = 1};
//   u.windows(56)                    // 28: window i begins at element 2 i - 1
//   unfold(x, 1, u)                  // of x(8, 56, 64): y(8, 28, 64, 3), where y[n, i, c, k] = x[n, 2 i - 1 + k, c], or 0
#pragma once
#include <cstdint>

#include "graph/graph.hpp"
#include "graph/infer.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

struct Unfold {
  std::int64_t size = 1, step = 1,
               dilation = 1;           // elements of a window; between the first elements of two; between two elements
  std::int64_t before = 0, after = 0;  // zeros on both sides of the dimension

  /// Returns the number of elements from the first of a window to its last.
  std::int64_t reach() const { return (size - 1) * dilation + 1; }
  bool padded() const { return before > 0 || after > 0; }
  /// Returns the number of windows of a dimension. Precondition: there is one.
  std::int64_t windows(std::int64_t extent) const { return (extent + before + after - reach()) / step + 1; }
};

/// Returns the windows that the attributes of an unfold describe, which are valid.
inline Unfold unfold_of(const Attributes& a) { return {a.sizes[0], a.sizes[1], a.sizes[2], a.sizes[3], a.sizes[4]}; }
/// The same. Throws Error unless they are valid.
inline Unfold unfold_of(const Where& where, const Attributes& a) {
  if (a.sizes.size() != 5)
    fail_at(where, "expected 5 numbers (size, step, dilation, zeros before and after), found {}", a.sizes.size());
  const Unfold u = unfold_of(a);
  for (const std::int64_t n : {u.size, u.step, u.dilation})
    if (n < 1 || n > max_extent)
      fail_at(where, "expected size, step and dilation of 1 to {}, found {}, {} and {}", max_extent, u.size, u.step,
              u.dilation);
  for (const std::int64_t n : {u.before, u.after})
    if (n < 0 || n > max_extent)
      fail_at(where, "expected padding of 0 to {} on each side, found {} and {}", max_extent, u.before, u.after);
  return u;
}

/// Copies the elements of windows: the meaning of unfold over any kind of number, with `zero` where there is padding.
template <class T>
void copy_windows(const Attributes& a, const Shape& from, const T* x, const Shape& to, T* y, const T& zero) {
  const Unfold u = unfold_of(a);
  const auto dim = static_cast<std::size_t>(a.dim);
  std::int64_t inner = 1, outer = 1;  // elements of the dimensions after and before `dim`
  for (std::size_t d = 0; d < from.size(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : from[d];
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t w = 0; w < to[dim]; ++w)
      for (std::int64_t i = 0; i < inner; ++i)
        for (std::int64_t k = 0; k < u.size; ++k) {
          const std::int64_t at = w * u.step + k * u.dilation - u.before;
          *y++ = at < 0 || at >= from[dim] ? zero : x[(o * from[dim] + at) * inner + i];
        }
}

}  // namespace zellige::graph
