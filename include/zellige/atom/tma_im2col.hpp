// Makes TMA copies of convolution operands: they load tiles of an image's im2col matrix without materialising it.
//
//   // an image of C channels: rows are the pixels (W, H, N), columns the channels
//   Tensor x = make_tensor(make_gmem_ptr(p), make_shape(make_shape(W, H, N), C), strides);
//   auto tma = make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{}, x, smem_layout, Shape<_128, _64>{}, Int<1>{},
//                                   make_shape(-1, -1), make_shape(-1, -1),      // lower and upper corner
//                                   make_shape(-1, -1), make_shape(1, 1),        // lower and upper padding
//                                   make_shape(1, 1),                            // strides of the convolution
//                                   make_shape(0, 0), make_shape(1, 1));         // first tap, dilation
//   Tensor a = tma.get_tma_tensor(shape(x));    // ((Q * P * N), (C, S, R)), of coordinates (c, whd, n, srt)
//
// In the shape of `a`, P and Q are the height and width of the output image, R and S those of the filter. A coordinate
// consists of the channel c, the pixel (w, h, d), the image n and the filter tap (s, r, t).
//
// The corners define the pixels that a filter's first tap visits: in dimension i, from lower_corner to extent - 1 +
// upper_corner in steps of the convolution's stride. The other taps are at offsets from these pixels. A filter of S
// taps with padding p has lower_corner = lower_padding = -p, upper_corner = p - (S - 1) * dilation, and upper_padding
// = p. If x has the modes (channels, pixels), as in a weight gradient, so has the result.
#pragma once

#include <zellige/atom/tma_copy.hpp>

namespace zellige {
namespace detail {
/// Copy_Traits members of an im2col copy: its descriptor and its tensor of coordinates. The box has Bits bits.
template <class Op, class Bits, class Coordinates>
struct im2col_traits {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = Op;

  TmaDescriptor tma_desc_;
  Coordinates tma_tensor_;

  ZELLIGE_HOST_DEVICE constexpr TmaDescriptor const* get_tma_descriptor() const { return &tma_desc_; }
  /// Returns the tensor of TMA coordinates. Its shape follows from the convolution, so the argument, a shape, is
  /// ignored.
  template <class S>
  ZELLIGE_HOST_DEVICE constexpr Coordinates get_tma_tensor(S const&) const {
    return tma_tensor_;
  }
  /// Returns this im2col load with its run-time arguments: the load completes on `barrier`, an mbarrier; a multicast
  /// load writes to the CTAs of `mask`. An overload replaces the descriptor. Defined in tma_im2col_call.hpp.
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(Barrier&& barrier, uint16_t mask = 0) const;
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor, Barrier&& barrier, uint16_t mask = 0) const;
};
}  // namespace detail

template <class Bits, class C>
struct Copy_Traits<SM90_TMA_LOAD_IM2COL, Bits, C> : detail::im2col_traits<SM90_TMA_LOAD_IM2COL, Bits, C> {};
template <class Bits, class C>
struct Copy_Traits<SM90_TMA_LOAD_IM2COL_MULTICAST, Bits, C>
    : detail::im2col_traits<SM90_TMA_LOAD_IM2COL_MULTICAST, Bits, C> {};
template <class Bits, class C>
struct Copy_Traits<SM90_TMA_STORE_IM2COL, Bits, C> : detail::im2col_traits<SM90_TMA_STORE_IM2COL, Bits, C> {};

#if !defined(__CUDACC_RTC__)

/// The parameters of a convolution over pixels (W, H, D). Each member is a tuple with one number per pixel dimension.
template <class LowerCorner, class UpperCorner, class LowerPadding, class UpperPadding, class Stride, class FirstTap,
          class Dilation>
struct Im2col {
  LowerCorner lower_corner;
  UpperCorner upper_corner;
  LowerPadding lower_padding;
  UpperPadding upper_padding;
  Stride stride;
  FirstTap first_tap;
  Dilation dilation;
};

namespace detail {

/// Throws a std::runtime_error which says that the parameter field[d] is `value`, and that `needed` is required.
[[noreturn]] inline void refuse_im2col(char const* field, int d, long long value, std::string const& needed) {
  throw std::runtime_error("make_im2col_tma_copy: " + std::string(field) + "[" + std::to_string(d) + "] is " +
                           std::to_string(value) + "; " + needed);
}

/// Returns the number of filter taps along dimension I of the convolution `g`, computed from its corners, paddings and
/// dilation. If the dilation is 0, throws or, if it is static, fails to compile.
template <class G, int I>
constexpr auto taps_of(G const& g, Int<I>) {
  auto const step = get<I>(g.dilation);
  auto const up = get<I>(g.upper_padding) - get<I>(g.upper_corner);
  auto const down = get<I>(g.lower_corner) - get<I>(g.lower_padding);
  if constexpr (is_static_integer_v<remove_cvref_t<decltype(step)>>) {
    static_assert(!is_constant<0, remove_cvref_t<decltype(step)>>::value,
                  "make_im2col_tma_copy: a dilation is 0; it must be 1 or more, or negative for taps in reverse");
    if constexpr (remove_cvref_t<decltype(step)>::value > 0)
      return Int<1>{} + up / step;
    else
      return Int<1>{} + down / step;
  } else {
    if (step == 0) refuse_im2col("stride_srt", I, 0, "it must be 1 or more, or negative for taps in reverse");
    return 1 + (step > 0 ? int(up) : int(down)) / int(step);
  }
}

/// Returns the tensor of TMA coordinates (c, (w, h, d), n, (s, r, t)) of the im2col matrix: channel, pixel, image and
/// filter tap. The tensor's modes are (pixels, (channels, taps)) if pixels_first, else ((channels, taps), pixels).
/// `channels` is the number of channels, `whdn` the shape (W, H, D, N) of the images, `g` the convolution.
template <bool pixels_first, class Channels, class Pixels, class G, int... I>
constexpr auto im2col_tensor(Channels const& channels, Pixels const& whdn, G const& g, seq<I...>) {
  constexpr int dims = int(sizeof...(I));
  auto const images = get<dims>(whdn);
  auto const outputs = make_tuple(
      (get<I>(whdn) + get<I>(g.upper_corner) - get<I>(g.lower_corner) - Int<1>{}) / get<I>(g.stride) + Int<1>{}...);
  auto const rows = append(outputs, images);
  auto const columns = make_shape(channels, taps_of(g, Int<I>{})...);
  auto const row_steps = make_stride(get<I>(g.stride) * E<1, I>{}..., E<2>{});
  auto const column_steps = make_stride(E<0>{}, get<I>(g.dilation) * E<3, I>{}...);
  auto const corner = make_inttuple_iter(Int<0>{}, g.lower_corner, Int<0>{}, g.first_tap);
  auto const cut = [&](auto const& layout, auto const& linear) {
    auto const identity = make_identity_tensor(linear);
    return make_tensor(corner, composition(layout, identity(Int<0>{}), identity.layout()));
  };
  if constexpr (pixels_first)
    return cut(make_layout(make_shape(rows, columns), make_stride(row_steps, column_steps)),
               make_shape(size(rows), columns));
  else
    return cut(make_layout(make_shape(columns, rows), make_stride(column_steps, row_steps)),
               make_shape(columns, size(rows)));
}

/// Returns the description of an im2col tensor for make_tma_descriptor. The caller sets the number type, the swizzle,
/// and the numbers of channels and pixels per instruction. `cwhdn` is the layout of the images, g the convolution,
/// `bytes` the size of an element.
template <class Global, class G, int... I>
TmaTensor im2col_descriptor(Global const& cwhdn, G const& g, seq<I...>, int bytes) {
  constexpr int dims = int(sizeof...(I));
  TmaTensor t;
  t.im2col = true;
  t.rank = dims + 2;
  auto const fill = [&](auto at) {
    constexpr int i = decltype(at)::value;
    t.extent[i] = static_cast<int64_t>(get<i>(shape(cwhdn)));
    t.stride[i] = static_cast<int64_t>(get<i>(stride(cwhdn))) * bytes;
  };
  fill(Int<0>{}), fill(Int<dims + 1>{}), (fill(Int<I + 1>{}), ...);
  ((t.element_stride[I + 1] = static_cast<int64_t>(get<I>(g.stride))), ...);
  ((t.lower[I] = int(get<I>(g.lower_corner))), ...);
  ((t.upper[I] = int(get<I>(g.upper_corner))), ...);
  return t;
}

/// Throws if the filter of convolution `g` has no taps along a dimension, or if the offset of a tap does not fit the
/// instruction. The instruction has 16 bits for the offsets along all dimensions: with one dimension an offset is at
/// most 65535, with two 255, with three 31.
template <class G, int... I>
void check_taps(G const& g, seq<I...>) {
  constexpr int dims = int(sizeof...(I)), max_tap = dims == 1 ? 65535 : dims == 2 ? 255 : 31;
  auto const check = [&](auto at) {
    constexpr int i = decltype(at)::value;
    long long const first = int(get<i>(g.first_tap)), taps = int(taps_of(g, Int<i>{}));
    long long const last = first + (taps - 1) * int(get<i>(g.dilation));
    if (taps < 1)
      refuse_im2col("upper_padding_whd", i, int(get<i>(g.upper_padding)),
                    "with a corner of " + std::to_string(int(get<i>(g.upper_corner))) + " the filter has " +
                        std::to_string(taps) + " taps");
    for (long long const tap : {first, last})
      if (tap < 0 || tap > max_tap)
        refuse_im2col("lower_srt", i, first,
                      "the taps reach offset " + std::to_string(tap) + ", with " + std::to_string(dims + 2) +
                          " dimensions it must be 0 to " + std::to_string(max_tap));
  };
  (check(Int<I>{}), ...);
}

/// Returns the tile of an im2col copy as a TmaTile: `global` by its modes (pixels, channels) or (channels, pixels). `tiler` is the
/// tile, or the layout of its elements' coordinates.
template <tensor_like X, class SLayout, class Tiler>
constexpr auto im2col_tile(X const& global, SLayout const& shared, Tiler const& tiler) {
  static_assert(X::rank == 2, "make_im2col_tma_copy: the tensor is ((W, H, D, N), C) or (C, (W, H, D, N))");
  using T = typename X::value_type;
  return tma_tile<T, T>(make_tensor(global.data(), make_layout(product_each(shape(global.layout())))), shared, tiler);
}
/// Returns the Copy_Atom of one im2col instruction for convolution g. `sharers` CTAs share a tile in a multicast.
template <class Op, tensor_like X, class SLayout, class Tiler, class G>
auto make_im2col_atom(Op const&, X const& global, SLayout const& shared, Tiler const& tiler, int sharers, G const& g) {
  using T = typename X::value_type;
  constexpr int bits = sizeof_bits<T>::value;
  auto const tile = im2col_tile(global, shared, tiler);
  auto const box = tile.template ask<TiledOp::tma_im2col>();
  auto const of_channels = stride<0>(box);
  auto const of_pixels = stride<1>(box);
  auto const layouts = make_tuple(layout<0>(global.layout()), layout<1>(global.layout()));
  auto const channels = basis_get(of_channels, layouts);
  auto const pixels = flatten(basis_get(of_pixels, layouts));
  static_assert(!tuple_like<decltype(shape(channels))>,
                "make_im2col_tma_copy: the shared-memory tile runs along pixels; it must run along channels");
  constexpr int dims = remove_cvref_t<decltype(pixels)>::rank - 1;
  static_assert(dims >= 1 && dims <= 3,
                "make_im2col_tma_copy: the pixels have 1 to 3 modes W, H, D before the images N");
  static_assert(tuple_size_v<decltype(g.lower_corner)> == dims && tuple_size_v<decltype(g.upper_corner)> == dims &&
                    tuple_size_v<decltype(g.lower_padding)> == dims &&
                    tuple_size_v<decltype(g.upper_padding)> == dims && tuple_size_v<decltype(g.stride)> == dims &&
                    tuple_size_v<decltype(g.first_tap)> == dims && tuple_size_v<decltype(g.dilation)> == dims,
                "make_im2col_tma_copy: corners, paddings, strides, first taps and dilations have a number for "
                "each of W, H and D");
  check_taps(g, make_seq<dims>{});
  constexpr bool pixels_first = is_same_v<remove_cvref_t<decltype(of_pixels)>, E<0>>;
  auto const coordinates = im2col_tensor<pixels_first>(shape(channels), shape(pixels), g, make_seq<dims>{});

  TmaTensor t = im2col_descriptor(prepend(pixels, channels), g, make_seq<dims>{}, int(sizeof(T)));
  long long const box_pixels = static_cast<long long>(size<1>(box));
  if (sharers < 1 || box_pixels % sharers != 0)
    throw std::runtime_error("make_im2col_tma_copy: the box has " + std::to_string(box_pixels) +
                             " pixels; the multicast shares them among " + std::to_string(sharers) +
                             " CTAs, which must divide them");
  t.channels = int(size<0>(box)), t.pixels = int(box_pixels) / sharers;
  t.element = tma_element<T>();
  using Shared = remove_cvref_t<decltype(shared)>;
  static_assert(hardware_swizzle<Shared, sizeof_bits_v<T>>() != static_cast<SwizzleMode>(255),
                "make_im2col_tma_copy: TMA swizzles by Swizzle<0 to 3, 4, 3> of bytes, and no other way");
  t.swizzle = hardware_swizzle<Shared, sizeof_bits_v<T>>();
  if (stride(channels) != 1)
    throw LayoutError(
        "make_im2col_tma_copy: " + to_text(Refusal{Rule::tma_major, static_cast<long long>(stride(channels)), 1}),
        {Rule::tma_major, static_cast<long long>(stride(channels)), 1});

  using Traits = Copy_Traits<Op, Int<decltype(size(box))::value * bits>, remove_cvref_t<decltype(coordinates)>>;
  Traits traits{};
  traits.tma_desc_ = descriptor_of(t, global.data());
  traits.tma_tensor_ = coordinates;
  return Copy_Atom<Traits, T>(traits);
}
/// Returns the im2col TiledCopy for convolution g; implements make_im2col_tma_copy. `ctas` is the number of CTAs that
/// share a tile in a multicast, or the layout CTA -> share.
template <class Op, tensor_like X, class SLayout, class Tiler, class Ctas, class G>
auto make_im2col_copy(Op const& op, X const& global, SLayout const& shared, Tiler const& tiler, Ctas const& ctas,
                      G const& g) {
  auto const shares = [&] {
    if constexpr (layout_like<Ctas>)
      return ctas;
    else
      return make_layout(ctas);
  }();
  auto const atom = make_im2col_atom(op, global, shared, tiler, int(cosize(shares)), g);
  auto const tile = im2col_tile(global, shared, tiler);
  auto const tiling = tile.template ask<TiledOp::tma_tiling>(tile.template ask<TiledOp::tma_im2col>(), shares);
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}

/// Returns the Im2col parameters of a filter with one tap: stride and dilation 1, no padding.
template <int dims>
constexpr auto no_convolution() {
  auto const zero = tuple_repeat<dims>(Int<0>{});
  auto const one = tuple_repeat<dims>(Int<1>{});
  using Zero = remove_cvref_t<decltype(zero)>;
  using One = remove_cvref_t<decltype(one)>;
  return Im2col<Zero, Zero, Zero, Zero, One, Zero, One>{};
}
}  // namespace detail

/// Returns a TiledCopy that loads tiles of an im2col matrix by TMA. Optional arguments, in this order:
///   tile, ctas    the tile, and the number of CTAs that share it in a multicast; by default the shape of `shared`,
///                 and 1
///   7 tuples      lower and upper corner, lower and upper padding, stride, first tap, dilation; by default a 1 x 1
///                 filter
/// Throws if the hardware does not support the copy.
template <class Op, tensor_like X, class SLayout, class... More>
auto make_im2col_tma_copy(Op const& op, X const& global, SLayout const& shared, More const&... more) {
  constexpr int n = int(sizeof...(More)), before = n >= 7 ? n - 7 : n;
  static_assert(before <= 2,
                "make_im2col_tma_copy(op, tensor, smem_layout[, tile[, ctas]][, the convolution's 7 tuples])");
  auto const given = make_tuple(more...);
  auto const tiler = [&] {
    if constexpr (before > 0)
      return get<0>(given);
    else
      return product_each(shape(shared));
  }();
  auto const ctas = [&] {
    if constexpr (before > 1)
      return get<1>(given);
    else
      return Int<1>{};
  }();
  auto const convolution = [&] {
    if constexpr (n >= 7) {
      constexpr int i = before;
      return Im2col{get<i>(given),     get<i + 1>(given), get<i + 2>(given), get<i + 3>(given),
                    get<i + 4>(given), get<i + 5>(given), get<i + 6>(given)};
    } else {
      constexpr int first = decltype(flatten(layout<0>(global.layout())))::rank;
      constexpr int second = decltype(flatten(layout<1>(global.layout())))::rank;
      return detail::no_convolution<(first > second ? first : second) - 1>();
    }
  }();
  return detail::make_im2col_copy(op, global, shared, tiler, ctas, convolution);
}

#endif

}  // namespace zellige
