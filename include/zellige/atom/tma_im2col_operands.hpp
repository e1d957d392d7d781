// TMA copies in im2col mode of the operands of SM100's matrix instructions, under CuTe's names: a tile of the im2col matrix is
// divided among CTAs as a TiledMMA divides it. The convolution is given as make_im2col_tma_copy takes it: 7 tuples.
//
//   auto tma = make_im2col_tma_atom_A_sm100(SM100_TMA_2SM_LOAD_IM2COL{}, x, shared_layout, tile_mnk, mma, cluster_vmnk,
//                                           lower_corner, upper_corner, ..., dilation);
#pragma once

#include <zellige/atom/tma_im2col.hpp>
#include <zellige/atom/tma_pair.hpp>

namespace zellige {

#if !defined(__CUDACC_RTC__)

namespace detail {
template <>
struct tma_form<SM90_TMA_LOAD_IM2COL> : tma_form<SM90_TMA_LOAD> {};
template <>
struct tma_form<SM90_TMA_STORE_IM2COL> : tma_form<SM90_TMA_LOAD> {};
template <>
struct tma_form<SM100_TMA_2SM_LOAD_IM2COL> : tma_form<SM90_TMA_LOAD> {};
template <>
struct tma_form<SM90_TMA_LOAD_IM2COL_MULTICAST> : tma_form<SM90_TMA_LOAD_MULTICAST> {};
template <>
struct tma_form<SM100_TMA_2SM_LOAD_IM2COL_MULTICAST> : tma_form<SM90_TMA_LOAD_MULTICAST> {};

/// Returns the layout of the coordinates of a CTA's elements of operand A or B: of a tile of (pixels, channels and taps).
template <MmaPart part, class Op, int numbers, class Tiler, class Mma>
constexpr auto im2col_values(Tiler const& tile_mnk, Mma const& mma) {
  static_assert(tma_form<Op>::known,
                "make_im2col_tma_copy_A_sm100 and its like take SM90_TMA_LOAD_IM2COL, _MULTICAST, "
                "SM100_TMA_2SM_LOAD_IM2COL or _MULTICAST");
  static_assert(numbers == 7,
                "make_im2col_tma_copy_A_sm100 and its like take 7 tuples: lower and upper corner, lower and upper "
                "padding, stride, first tap, dilation");
  auto const tile = make_identity_layout(make_shape(get < part == MmaPart::a ? 0 : 1 > (tile_mnk), get<2>(tile_mnk)));
  if constexpr (part == MmaPart::a)
    return layout<1>(mma.thrfrg_A(tile))(_, make_tuple(_, _));
  else
    return layout<1>(mma.thrfrg_B(tile))(_, make_tuple(_, _));
}
template <class Op, int I, class Cluster>
constexpr auto sharers_of(Cluster const& cluster_vmnk) {
  if constexpr (tma_form<Op>::multicast)
    return size<I>(cluster_vmnk);
  else
    return Int<1>{};
}
}  // namespace detail

/// Returns the copy of operand A of `mma`. A multicast shares A among the CTAs along N, and B among those along M.
template <class Op, tensor_like X, class SLayout, class Tiler, class... Args, class... Convolution>
auto make_im2col_tma_copy_A_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                                  TiledMMA<Args...> const& mma, Convolution const&... convolution) {
  auto const modes = detail::im2col_values<MmaPart::a, Op, int(sizeof...(Convolution))>(tile_mnk, mma);
  return detail::make_im2col_copy(op, global, shared, modes,
                                  detail::shares_of_ctas<detail::tma_form<Op>::multicast, 2>(mma),
                                  Im2col<Convolution...>{convolution...});
}
template <class Op, tensor_like X, class SLayout, class Tiler, class... Args, class... Convolution>
auto make_im2col_tma_copy_B_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                                  TiledMMA<Args...> const& mma, Convolution const&... convolution) {
  auto const modes = detail::im2col_values<MmaPart::b, Op, int(sizeof...(Convolution))>(tile_mnk, mma);
  return detail::make_im2col_copy(op, global, shared, modes,
                                  detail::shares_of_ctas<detail::tma_form<Op>::multicast, 1>(mma),
                                  Im2col<Convolution...>{convolution...});
}
/// The same as atoms of one instruction. cluster_vmnk is the shape or layout (V, M, N, K) of the cluster's CTAs.
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class... Args, class Cluster,
          class... Convolution>
auto make_im2col_tma_atom_A_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                                  TiledMMA<Args...> const& mma, Cluster const& cluster_vmnk,
                                  Convolution const&... convolution) {
  auto const modes = detail::im2col_values<MmaPart::a, Op, int(sizeof...(Convolution))>(tile_mnk, mma);
  return detail::make_im2col_atom(op, global, shared, modes, int(detail::sharers_of<Op, 2>(cluster_vmnk)),
                                  Im2col<Convolution...>{convolution...});
}
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class... Args, class Cluster,
          class... Convolution>
auto make_im2col_tma_atom_B_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                                  TiledMMA<Args...> const& mma, Cluster const& cluster_vmnk,
                                  Convolution const&... convolution) {
  auto const modes = detail::im2col_values<MmaPart::b, Op, int(sizeof...(Convolution))>(tile_mnk, mma);
  return detail::make_im2col_atom(op, global, shared, modes, int(detail::sharers_of<Op, 1>(cluster_vmnk)),
                                  Im2col<Convolution...>{convolution...});
}

#endif

}  // namespace zellige
