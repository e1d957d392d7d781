// Executes TMA copies of convolution operands in kernels: copy(...) with a TiledCopy from make_im2col_tma_copy, to
// which `with` adds the mbarrier and the multicast mask.
//
//   copy(tma.with(barrier), mine.partition_S(tile)(_, _, _, k), mine.partition_D(sA)(_, _, _, stage));
//   copy(tma.with(barrier, mask), ...)                 into every CTA of the mask
//   copy(tma_store, mine.partition_S(sD), mine.partition_D(tile));         then tma_store_arrive(), ...
//
// Called by one thread. A box consists of some channels of some pixels, for one tap of the filter.
#pragma once

#include <zellige/atom/tma_call.hpp>
#include <zellige/atom/tma_im2col.hpp>

namespace zellige {

/// im2col loads that are ready to be issued: the results of `with` on SM90_TMA_LOAD_IM2COL and its multicast form.
struct SM90_TMA_LOAD_IM2COL_OP : SM90_TMA_LOAD_IM2COL {};
struct SM90_TMA_LOAD_IM2COL_MULTICAST_OP : SM90_TMA_LOAD_IM2COL_MULTICAST {};

namespace detail {
/// Copy_Traits members of an im2col load with all its run-time arguments. The box has Bits bits.
template <class Op, class Bits>
struct im2col_load_traits {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = Op;
  TmaDescriptor const* descriptor;
  smem<uint64_t> barrier;
  uint16_t mask;
};

/// The number of pixel dimensions, 1 to 3, of an im2col coordinate (c, (w, h, d), n, (s, r, t)).
template <class Crd>
inline constexpr int im2col_dims = tuple_size_v<remove_cvref_t<decltype(get<1>(lvalue<Crd const>()))>>;

/// Issues the im2col load of the box at coordinate crd = (c, (w, h, d), n, (s, r, t)) to `tile`.
template <class Crd, int... I>
ZELLIGE_CALL void load_im2col(any_pointer tile, TmaDescriptor const& map, smem<uint64_t> barrier, Crd const& crd,
                              seq<I...>) {
  int const c = int(get<0>(crd)), n = int(get<2>(crd));
  if constexpr (sizeof...(I) == 1)
    tma_load_im2col_3d(tile, map, barrier, c, int(get<1, I>(crd))..., n, uint16_t(int(get<3, I>(crd)))...);
  if constexpr (sizeof...(I) == 2)
    tma_load_im2col_4d(tile, map, barrier, c, int(get<1, I>(crd))..., n, uint16_t(int(get<3, I>(crd)))...);
  if constexpr (sizeof...(I) == 3)
    tma_load_im2col_5d(tile, map, barrier, c, int(get<1, I>(crd))..., n, uint16_t(int(get<3, I>(crd)))...);
}
/// Issues the multicast im2col load of the box at coordinate crd = (c, (w, h, d), n, (s, r, t)). Writes the box to the
/// offset of `tile` in the shared memory of every CTA of the mask.
template <class Crd, int... I>
ZELLIGE_CALL void load_im2col_multicast(any_pointer tile, TmaDescriptor const& map, smem<uint64_t> barrier,
                                        uint16_t mask, Crd const& crd, seq<I...>) {
  int const c = int(get<0>(crd)), n = int(get<2>(crd));
  if constexpr (sizeof...(I) == 1)
    tma_load_im2col_multicast_3d(tile, map, barrier, mask, c, int(get<1, I>(crd))..., n,
                                 uint16_t(int(get<3, I>(crd)))...);
  if constexpr (sizeof...(I) == 2)
    tma_load_im2col_multicast_4d(tile, map, barrier, mask, c, int(get<1, I>(crd))..., n,
                                 uint16_t(int(get<3, I>(crd)))...);
  if constexpr (sizeof...(I) == 3)
    tma_load_im2col_multicast_5d(tile, map, barrier, mask, c, int(get<1, I>(crd))..., n,
                                 uint16_t(int(get<3, I>(crd)))...);
}
/// Issues the im2col store of `tile` to the box at coordinate crd. The filter offsets in crd are ignored.
template <class Crd, int... I>
ZELLIGE_CALL void store_im2col(TmaDescriptor const& map, any_pointer tile, Crd const& crd, seq<I...>) {
  int const c = int(get<0>(crd)), n = int(get<2>(crd));
  if constexpr (sizeof...(I) == 1) tma_store_im2col_3d(map, tile, c, int(get<1, I>(crd))..., n);
  if constexpr (sizeof...(I) == 2) tma_store_im2col_4d(map, tile, c, int(get<1, I>(crd))..., n);
  if constexpr (sizeof...(I) == 3) tma_store_im2col_5d(map, tile, c, int(get<1, I>(crd))..., n);
}
}  // namespace detail

template <class Bits>
struct Copy_Traits<SM90_TMA_LOAD_IM2COL_OP, Bits> : detail::im2col_load_traits<SM90_TMA_LOAD_IM2COL_OP, Bits> {};
template <class Bits>
struct Copy_Traits<SM90_TMA_LOAD_IM2COL_MULTICAST_OP, Bits>
    : detail::im2col_load_traits<SM90_TMA_LOAD_IM2COL_MULTICAST_OP, Bits> {};

namespace detail {
template <class Op, class Bits, class Coordinates>
template <class Barrier>
ZELLIGE_HOST_DEVICE auto im2col_traits<Op, Bits, Coordinates>::with(Barrier&& barrier, uint16_t mask) const {
  return with(&tma_desc_, barrier, mask);
}
template <class Op, class Bits, class Coordinates>
template <class Barrier>
ZELLIGE_HOST_DEVICE auto im2col_traits<Op, Bits, Coordinates>::with(TmaDescriptor const* descriptor, Barrier&& barrier,
                                                                    uint16_t mask) const {
  static_assert(!is_same_v<Op, SM90_TMA_STORE_IM2COL>, "a TMA store completes in groups, not on a barrier");
  using Run = conditional_t<is_same_v<Op, SM90_TMA_LOAD_IM2COL_MULTICAST>, SM90_TMA_LOAD_IM2COL_MULTICAST_OP,
                            SM90_TMA_LOAD_IM2COL_OP>;
  return Copy_Traits<Run, Bits>{{descriptor, barrier_pointer(barrier), mask}};
}
}  // namespace detail

template <class Bits, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_LOAD_IM2COL_OP, Bits> const& traits, TS const& src,
                                       TD&& dst) {
  auto const crd = src(Int<0>{});
  detail::load_im2col(instruction_address(raw_tile(dst.data())), *traits.descriptor, traits.barrier, crd,
                      make_seq<detail::im2col_dims<decltype(crd)>>{});
}
template <class Bits, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_LOAD_IM2COL_MULTICAST_OP, Bits> const& traits,
                                       TS const& src, TD&& dst) {
  auto const crd = src(Int<0>{});
  detail::load_im2col_multicast(instruction_address(raw_tile(dst.data())), *traits.descriptor, traits.barrier,
                                traits.mask, crd, make_seq<detail::im2col_dims<decltype(crd)>>{});
}
template <class Bits, class C, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_STORE_IM2COL, Bits, C> const& traits, TS const& src,
                                       TD&& dst) {
  auto const crd = dst(Int<0>{});
  detail::store_im2col(traits.tma_desc_, instruction_address(raw_tile(src.data())), crd,
                       make_seq<detail::im2col_dims<decltype(crd)>>{});
}

}  // namespace zellige
