// A convolution as operators of a graph: windows of the image, which no kernel stores, and a product with the weights.
//
//   TensorHandle X = b.input("X", {8, 64, 56, 56}), W = b.input("W", {128, 64, 3, 3});
//   b.output(relu(convolution(X, W, {.stride = {2, 2}, .padding = {1, 1}})), "Y");       // (8, 128, 28, 28)
//
// docs/explanation/convolutions.md has the operators, and python/zellige/convolutions.py the same in Python.
#pragma once
#include <algorithm>
#include <optional>

#include "graph/expression.hpp"

namespace zellige::graph {

/// What a convolution of x(N, C, ...) and weights (O, C / groups, ...) does along each dimension of the image; an empty list is
/// one of ones or, for padding, of zeros.
struct Convolution {
  Shape stride{}, padding{}, dilation{};
  std::int64_t groups = 1;
  // K runs through the channels of a tap first, and the rows through all images; else through the taps of a channel, with a
  // matrix for each image.
  bool channels_last = true;
};

namespace detail {

/// Returns the order of dimensions that moves the one after the images to the end, or back.
inline Shape channels_moved(std::size_t rank, bool to_end) {
  Shape order{0};
  for (std::size_t d = 1; d < rank; ++d)
    order.push_back(static_cast<std::int64_t>(to_end ? (d + 1 < rank ? d + 1 : 1) : (d == 1 ? rank - 1 : d - 1)));
  return order;
}

inline void check_convolution(const Shape& x, const Shape& w, const Convolution& c) {
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size())
    fail("convolution: expected x(N, C, ...) with 1 to 3 dimensions and weights of its rank, found {} and {}",
         to_string(x), to_string(w));
  for (const Shape* each : {&c.stride, &c.padding, &c.dilation})
    if (!each->empty() && each->size() != x.size() - 2)
      fail("convolution: expected {} numbers of stride, padding and dilation, found {}", x.size() - 2, each->size());
  if (c.groups < 1 || x[1] % c.groups != 0 || w[0] % c.groups != 0)
    fail("convolution: expected groups that divide {} channels of x and {} of the weights, found {}", x[1], w[0],
         c.groups);
  if (w[1] != x[1] / c.groups)
    fail("convolution: expected weights of {} channels for x {} in {} groups, found {} in {}", x[1] / c.groups,
         to_string(x), c.groups, w[1], to_string(w));
}

/// Returns the windows of x as (N, P, C, taps); sets `sizes` to N, their number along each dimension, and O.
inline TensorHandle windows_of(TensorHandle x, const Shape& w, const Convolution& c, Shape& sizes) {
  const std::size_t rank = x.shape().size();
  TensorHandle windows = permute(x, channels_moved(rank, true));
  std::int64_t taps = 1;
  for (std::size_t d = 2; d < rank; ++d) {
    const auto of = [&](const Shape& each, std::int64_t otherwise) { return each.empty() ? otherwise : each[d - 2]; };
    const std::int64_t padding = of(c.padding, 0);
    const Unfold u{w[d], of(c.stride, 1), of(c.dilation, 1), padding, padding};
    if (u.size > 1 || u.step > 1 || u.padded()) windows = unfold(windows, static_cast<int>(d) - 1, u);
    taps *= w[d];
  }
  const Shape shape = windows.shape();
  sizes = {shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(rank) - 1};
  std::int64_t pixels = 1;
  for (std::size_t d = 1; d < sizes.size(); ++d) pixels *= sizes[d];
  sizes.push_back(w[0]);
  return reshape(windows, {shape[0], pixels, x.shape()[1], taps});
}

}  // namespace detail

/// Returns the convolution of x and weights, plus a bias of shape (O) if there is one.
inline TensorHandle convolution(TensorHandle x, TensorHandle weights, const Convolution& c = {},
                                std::optional<TensorHandle> bias = {}) {
  const Shape of = weights.shape(), image = x.shape();
  detail::check_convolution(image, of, c);
  Shape sizes;
  TensorHandle windows = detail::windows_of(x, of, c, sizes);
  const Shape all = windows.shape();
  const std::int64_t images = all[0], pixels = all[1], channels = all[2], taps = all[3], g = c.groups, each = of[0] / g;
  TensorHandle y;
  if (g == channels && g > 1) {  // each channel by itself
    const TensorHandle factors = permute(reshape(weights, {channels, each, taps}), {2, 0, 1});
    const TensorHandle wide =
        cast(reshape(permute(windows, {0, 1, 3, 2}), {images, pixels, taps, channels, 1}), DType::f32);
    y = made<KernelLevel>({wide * cast(factors, DType::f32)}, OpKind::sum, {.dim = 2, .keepdim = true});
    if (bias) y = y + cast(reshape(*bias, {channels, each}), DType::f32);
    y = reshape(cast(y, x.dtype()), {images, pixels, of[0]});
  } else {
    const std::int64_t k = channels / g * taps;
    const bool last = c.channels_last;
    const TensorHandle split = reshape(weights, {g, each, channels / g, taps});
    TensorHandle right = reshape(permute(split, last ? Shape{0, 3, 2, 1} : Shape{0, 2, 3, 1}), {g, 1, k, each});
    const std::int64_t batch = last ? 1 : images, rows = last ? images * pixels : pixels;
    TensorHandle left = reshape(windows, {batch, rows, g, channels / g, taps});
    left = reshape(permute(left, last ? Shape{2, 0, 1, 4, 3} : Shape{2, 0, 1, 3, 4}), {g, batch, rows, k});
    if (g == 1) left = reshape(left, {batch, rows, k}), right = reshape(right, {k, each});
    if (g == 1 && last) left = reshape(left, {rows, k});
    y = matmul(left, right);
    y = reshape(g == 1 ? y : permute(y, {1, 2, 0, 3}), {images, pixels, of[0]});
    if (bias) y = y + *bias;
  }
  y = reshape(y, SymbolicShape(sizes.begin(), sizes.end()));
  return permute(y, detail::channels_moved(image.size(), false));
}

}  // namespace zellige::graph
