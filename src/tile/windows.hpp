// The elements of a tensor that windows show: where they are, and which of them are padding. A kernel reads windows in place:
// the matrix that im2col would make of a convolution's image is never stored.
//
//   // x(N, 56, 56, 64), padded by 1, in windows of 3 x 3: the matrix (N 56 56, 3 3 64)
//   w.digits[0]               // of a row, the lowest first: 56 columns, 56 rows, N images
//   w.digits[1]               // of a column: 64 channels, 3 taps along a row of the image, 3 rows
//   w.place({0, 64})          // the pixel of the second tap: nullopt, as it is above the image
//
// Each coordinate of the view is a mixed-radix number, and its digits move along dimensions of the source. An address is then a sum
// of what the coordinates add; only whether there is an element depends on several of them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::tile {

/// A digit of a coordinate: one more is `step` elements further along dimension `dim` of the source.
struct WindowDigit {
  std::int64_t extent = 1;
  int dim = 0;
  std::int64_t step = 0;
  bool operator==(const WindowDigit&) const = default;
};

struct Windows {
  // The source, a tensor of these extents. Its coordinates begin at `starts`, and its strides are those of its memory.
  graph::Shape extents;
  graph::Strides strides;
  graph::Shape starts;
  graph::Shape origin;  // coordinate of the view's first element in the source; below 0 it is padding
  std::vector<std::vector<WindowDigit>> digits;  // by dimension of the view, the lowest one first
  bool operator==(const Windows&) const = default;

  /// Returns the coordinate along dimension `dim` of the source of the view's element at `at`.
  std::int64_t coordinate(int dim, const graph::Shape& at) const;
  /// Returns the number of the element at `at` in the memory; nullopt if it is padding.
  std::optional<std::int64_t> place(const graph::Shape& at) const;
  /// Returns the shape of the view.
  graph::Shape shape() const;
  /// Returns where coordinate 0 is in the memory, be it padding or not.
  std::int64_t offset() const;
  /// Returns how much further in the memory one more of the digit is.
  std::int64_t step(const WindowDigit& d) const { return d.step * strides[static_cast<std::size_t>(d.dim)]; }
  /// Returns whether some coordinates along dimension `dim` of the source are padding.
  bool padded(int dim) const;
  bool padded() const;
  /// Returns the number of elements of the source.
  std::int64_t elements() const { return graph::size(extents); }
  /// Returns for each dimension of the view a number that divides the distance of any two elements; 1 if neighbours are adjacent.
  graph::Strides units() const;
  /// Returns the largest number of neighbours along dimension `inner` that are adjacent in memory and aligned to their number, of
  /// which none or all are padding, wherever a multiple of that number begins. 1 if neighbours are not adjacent.
  std::int64_t aligned(int inner) const;
  /// Returns twice the offset of the view's last element from its first one: kernels compute none beyond it.
  std::int64_t distances() const;
  /// Returns how far the coordinate `at` along dimension `dim` of the view is from coordinate 0, in elements. The highest digit has no end.
  std::int64_t distance(int dim, std::int64_t at) const;
};

/// Returns the windows that show each element of a tensor once, as it is.
Windows all_of(const graph::Shape& extents, const graph::Strides&, const graph::Shape& starts);
/// Returns what the view operator shows of windows; nullopt if digits do not express it.
std::optional<Windows> viewed(const Windows&, graph::OpKind, const graph::Attributes&, const graph::Shape& result);

}  // namespace zellige::tile
