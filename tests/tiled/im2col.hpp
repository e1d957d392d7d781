// The parameters of a convolution, its image as a tensor, and the copies made of them.
#pragma once
#include <zellige/atom/tma_im2col_call.hpp>
#include <zellige/layout/gmma_atoms.hpp>

#include "emulated.hpp"

namespace zellige {

alignas(128) inline half_t nowhere[64];

/// The parameters of a convolution; pixel dimensions innermost first.
struct Convolution {
  int dims;
  int channels, images;
  int extent[3], taps[3], pad_low[3], pad_high[3], stride[3], dilation[3];
  int lower(int d) const { return -pad_low[d]; }
  int upper(int d) const { return pad_high[d] - (taps[d] - 1) * dilation[d]; }
  int outputs(int d) const { return (extent[d] + upper(d) - lower(d) - 1) / stride[d] + 1; }
};
template <int dims>
auto shape_of(Convolution const& c) {
  if constexpr (dims == 1) return make_shape(c.extent[0], c.images);
  if constexpr (dims == 2) return make_shape(c.extent[0], c.extent[1], c.images);
  if constexpr (dims == 3) return make_shape(c.extent[0], c.extent[1], c.extent[2], c.images);
}
template <int dims, class F>
auto each(F f) {
  if constexpr (dims == 1) return make_shape(f(0));
  if constexpr (dims == 2) return make_shape(f(0), f(1));
  if constexpr (dims == 3) return make_shape(f(0), f(1), f(2));
}
/// ((W, H, D, N), C), channels innermost.
template <int dims>
auto image(Convolution const& c) {
  auto const pixels = shape_of<dims>(c);
  auto const steps = transform(compact_col_major(pixels), [&](auto s) { return int(s) * c.channels; });
  return make_tensor(make_gmem_ptr(nowhere), make_layout(make_shape(pixels, c.channels), make_stride(steps, _1{})));
}
template <int dims, class Op, class Smem, class Tiler, class Ctas>
auto copy_of(Op op, Convolution const& c, Smem smem, Tiler tiler, Ctas ctas) {
  return make_im2col_tma_copy(
      op, image<dims>(c), smem, tiler, ctas, each<dims>([&](int d) { return c.lower(d); }),
      each<dims>([&](int d) { return c.upper(d); }), each<dims>([&](int d) { return -c.pad_low[d]; }),
      each<dims>([&](int d) { return c.pad_high[d]; }), each<dims>([&](int d) { return c.stride[d]; }),
      each<dims>([](int) { return 0; }), each<dims>([&](int d) { return c.dilation[d]; }));
}
/// The element of the image that row m (an output pixel) and column (channel, taps) name; -1 outside.
inline int gathered(Convolution const& c, int m, int channel, int const* tap) {
  int index = 0, step = c.channels;
  bool inside = true;
  for (int d = 0; d < c.dims; ++d) {
    int const q = m % c.outputs(d);
    m /= c.outputs(d);
    int const x = q * c.stride[d] - c.pad_low[d] + tap[d] * c.dilation[d];
    inside = inside && x >= 0 && x < c.extent[d];
    index += x * step;
    step *= c.extent[d];
  }
  inside = inside && m < c.images && channel < c.channels;
  return inside ? index + m * step + channel : -1;
}

using SmemLayout = remove_cvref_t<decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{}))>;

}  // namespace zellige
