// Executes TMA copies in kernels: copy(...) with a TiledCopy from make_tma_copy, to which `with` adds the mbarrier,
// multicast mask and cache hint.
//
//   copy(tma.with(barrier), mine.partition_S(tile)(_, _, _, k), mine.partition_D(sA)(_, _, _, stage));
//   copy(tma.with(barrier, mask), ...)                 into every CTA of the mask
//   copy(tma.with(barrier, 0, CacheHint::evict_last), ...)         with an L2 cache policy
//   copy(tma_store, mine.partition_S(sC), mine.partition_D(tile));
//   tma_store_arrive(); tma_store_wait<0>();           waits for this thread's stores
//
// Called by one thread. The mbarrier must expect the bytes of all boxes, including their elements outside the tensor.
#pragma once

#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/tma_copy.hpp>

namespace zellige {

/// TMA loads that are ready to be issued: the results of `with` on SM90_TMA_LOAD and SM90_TMA_LOAD_MULTICAST.
struct SM90_TMA_LOAD_OP : SM90_TMA_LOAD {};
struct SM90_TMA_LOAD_MULTICAST_OP : SM90_TMA_LOAD_MULTICAST {};
/// TMA store and reduction that use a pointer to a descriptor in place of a copy of it.
struct SM90_TMA_STORE_PTR : SM90_TMA_STORE {};
struct SM90_TMA_REDUCE_ADD_PTR : SM90_TMA_REDUCE_ADD {};

namespace detail {

/// Returns a pointer to an mbarrier that was passed as a pointer (this overload) or as a reference.
ZELLIGE_ANYWHERE smem<uint64_t> barrier_pointer(smem<uint64_t> const& p) { return p; }
#if defined(ZELLIGE_EMULATE)
ZELLIGE_ANYWHERE smem<uint64_t> barrier_pointer(emulate::reference<uint64_t> const& barrier) { return &barrier; }
ZELLIGE_ANYWHERE smem<uint64_t> barrier_pointer(uint64_t& barrier) { return emulate::known(&barrier); }
#else
ZELLIGE_ANYWHERE smem<uint64_t> barrier_pointer(uint64_t& barrier) { return &barrier; }
#endif

/// In place of a CacheHint: the copy has no L2 cache hint.
struct NoHint {};

/// Copy_Traits members of a TMA load with all its run-time arguments. The box has Bits bits.
template <class Op, class Bits, class Hint>
struct tma_load_traits {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = Op;
  [[no_unique_address]] Hint hint;  // first member, because nvcc 13 computes a wrong size otherwise (tensor.hpp)
  TmaDescriptor const* descriptor;
  smem<uint64_t> barrier;
  uint16_t mask;
};

/// Copy_Traits members of a TMA store or reduction with a descriptor pointer. The box has Bits bits.
template <class Op, class Bits, class Hint>
struct tma_store_traits {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = Op;
  [[no_unique_address]] Hint hint;
  TmaDescriptor const* descriptor;
};

/// Returns mode N of a TMA coordinate, which is a tuple or, with one dimension, a number.
template <int N, class Crd>
ZELLIGE_CALL int coordinate(Crd const& crd) {
  if constexpr (tuple_like<Crd>)
    return int(get<N>(crd));
  else
    return int(crd);
}
/// Issues the TMA load of the box at coordinate c to `tile`. The number of modes of c selects the instruction.
template <class Crd, class Hint, int... I>
ZELLIGE_CALL void load_box(any_pointer tile, TmaDescriptor const& map, smem<uint64_t> barrier, Hint const& hint,
                           Crd const& c, seq<I...>) {
  constexpr int rank = int(sizeof...(I));
  static_assert(rank >= 1 && rank <= 5, "a TMA coordinate has 1 to 5 modes");
  if constexpr (is_same_v<Hint, NoHint>) {
    if constexpr (rank == 1) tma_load_1d(tile, map, barrier, coordinate<I>(c)...);
    if constexpr (rank == 2) tma_load_2d(tile, map, barrier, coordinate<I>(c)...);
    if constexpr (rank == 3) tma_load_3d(tile, map, barrier, coordinate<I>(c)...);
    if constexpr (rank == 4) tma_load_4d(tile, map, barrier, coordinate<I>(c)...);
    if constexpr (rank == 5) tma_load_5d(tile, map, barrier, coordinate<I>(c)...);
  } else {
    if constexpr (rank == 1) tma_load_hint_1d(tile, map, barrier, hint, coordinate<I>(c)...);
    if constexpr (rank == 2) tma_load_hint_2d(tile, map, barrier, hint, coordinate<I>(c)...);
    if constexpr (rank == 3) tma_load_hint_3d(tile, map, barrier, hint, coordinate<I>(c)...);
    if constexpr (rank == 4) tma_load_hint_4d(tile, map, barrier, hint, coordinate<I>(c)...);
    if constexpr (rank == 5) tma_load_hint_5d(tile, map, barrier, hint, coordinate<I>(c)...);
  }
}
/// Issues the multicast TMA load of the box at coordinate c. Writes the box to the offset of `tile` in the shared
/// memory of every CTA of the mask.
template <class Crd, class Hint, int... I>
ZELLIGE_CALL void load_box_multicast(any_pointer tile, TmaDescriptor const& map, smem<uint64_t> barrier, uint16_t mask,
                                     Hint const& hint, Crd const& c, seq<I...>) {
  constexpr int rank = int(sizeof...(I));
  static_assert(rank >= 1 && rank <= 5, "a TMA coordinate has 1 to 5 modes");
  if constexpr (is_same_v<Hint, NoHint>) {
    if constexpr (rank == 1) tma_load_multicast_1d(tile, map, barrier, mask, coordinate<I>(c)...);
    if constexpr (rank == 2) tma_load_multicast_2d(tile, map, barrier, mask, coordinate<I>(c)...);
    if constexpr (rank == 3) tma_load_multicast_3d(tile, map, barrier, mask, coordinate<I>(c)...);
    if constexpr (rank == 4) tma_load_multicast_4d(tile, map, barrier, mask, coordinate<I>(c)...);
    if constexpr (rank == 5) tma_load_multicast_5d(tile, map, barrier, mask, coordinate<I>(c)...);
  } else {
    if constexpr (rank == 1) tma_load_multicast_hint_1d(tile, map, barrier, mask, hint, coordinate<I>(c)...);
    if constexpr (rank == 2) tma_load_multicast_hint_2d(tile, map, barrier, mask, hint, coordinate<I>(c)...);
    if constexpr (rank == 3) tma_load_multicast_hint_3d(tile, map, barrier, mask, hint, coordinate<I>(c)...);
    if constexpr (rank == 4) tma_load_multicast_hint_4d(tile, map, barrier, mask, hint, coordinate<I>(c)...);
    if constexpr (rank == 5) tma_load_multicast_hint_5d(tile, map, barrier, mask, hint, coordinate<I>(c)...);
  }
}
/// Issues the TMA store of `tile` to the box at coordinate c.
template <class Crd, class Hint, int... I>
ZELLIGE_CALL void store_box(TmaDescriptor const& map, any_pointer tile, Hint const& hint, Crd const& c, seq<I...>) {
  constexpr int rank = int(sizeof...(I));
  static_assert(rank >= 1 && rank <= 5, "a TMA coordinate has 1 to 5 modes");
  if constexpr (is_same_v<Hint, NoHint>) {
    if constexpr (rank == 1) tma_store_1d(map, tile, coordinate<I>(c)...);
    if constexpr (rank == 2) tma_store_2d(map, tile, coordinate<I>(c)...);
    if constexpr (rank == 3) tma_store_3d(map, tile, coordinate<I>(c)...);
    if constexpr (rank == 4) tma_store_4d(map, tile, coordinate<I>(c)...);
    if constexpr (rank == 5) tma_store_5d(map, tile, coordinate<I>(c)...);
  } else {
    if constexpr (rank == 1) tma_store_hint_1d(map, tile, hint, coordinate<I>(c)...);
    if constexpr (rank == 2) tma_store_hint_2d(map, tile, hint, coordinate<I>(c)...);
    if constexpr (rank == 3) tma_store_hint_3d(map, tile, hint, coordinate<I>(c)...);
    if constexpr (rank == 4) tma_store_hint_4d(map, tile, hint, coordinate<I>(c)...);
    if constexpr (rank == 5) tma_store_hint_5d(map, tile, hint, coordinate<I>(c)...);
  }
}
/// Issues the TMA reduction that adds `tile` to the box at coordinate c, atomically per element.
template <class Crd, int... I>
ZELLIGE_CALL void add_box(TmaDescriptor const& map, any_pointer tile, Crd const& c, seq<I...>) {
  constexpr int rank = int(sizeof...(I));
  static_assert(rank >= 1 && rank <= 5, "a TMA coordinate has 1 to 5 modes");
  if constexpr (rank == 1) tma_reduce_add_1d(map, tile, coordinate<I>(c)...);
  if constexpr (rank == 2) tma_reduce_add_2d(map, tile, coordinate<I>(c)...);
  if constexpr (rank == 3) tma_reduce_add_3d(map, tile, coordinate<I>(c)...);
  if constexpr (rank == 4) tma_reduce_add_4d(map, tile, coordinate<I>(c)...);
  if constexpr (rank == 5) tma_reduce_add_5d(map, tile, coordinate<I>(c)...);
}
/// The sequence of the indices 0, 1, ... of the modes of the TMA coordinates in tensor X.
template <class X>
using coordinate_modes = make_seq<detail::rank_v<remove_cvref_t<decltype(*lvalue<X const>().data())>>>;

}  // namespace detail

template <class Bits, class Hint>
struct Copy_Traits<SM90_TMA_LOAD_OP, Bits, Hint> : detail::tma_load_traits<SM90_TMA_LOAD_OP, Bits, Hint> {};
template <class Bits, class Hint>
struct Copy_Traits<SM90_TMA_LOAD_MULTICAST_OP, Bits, Hint>
    : detail::tma_load_traits<SM90_TMA_LOAD_MULTICAST_OP, Bits, Hint> {};

template <class Bits, class Hint>
struct Copy_Traits<SM90_TMA_STORE_PTR, Bits, Hint> : detail::tma_store_traits<SM90_TMA_STORE_PTR, Bits, Hint> {};
template <class Bits, class Hint>
struct Copy_Traits<SM90_TMA_REDUCE_ADD_PTR, Bits, Hint>
    : detail::tma_store_traits<SM90_TMA_REDUCE_ADD_PTR, Bits, Hint> {};

namespace detail {
/// Returns the Copy_Traits of a TMA load with all run-time arguments: descriptor, mbarrier, multicast mask and cache
/// hint.
template <class Op, class Bits, class Barrier, class Hint>
ZELLIGE_HOST_DEVICE auto load_with(TmaDescriptor const* descriptor, Barrier& barrier, uint16_t mask, Hint hint) {
  using Run = conditional_t<is_same_v<Op, SM90_TMA_LOAD_MULTICAST>, SM90_TMA_LOAD_MULTICAST_OP, SM90_TMA_LOAD_OP>;
  return Copy_Traits<Run, Bits, Hint>{{hint, descriptor, barrier_pointer(barrier), mask}};
}

template <class Op, class Bits, class Aux>
template <no_tma_descriptor Barrier>
ZELLIGE_HOST_DEVICE auto tma_traits<Op, Bits, Aux>::with(Barrier&& barrier, uint16_t mask) const {
  return load_with<Op, Bits>(&tma_desc_, barrier, mask, NoHint{});
}
template <class Op, class Bits, class Aux>
template <no_tma_descriptor Barrier>
ZELLIGE_HOST_DEVICE auto tma_traits<Op, Bits, Aux>::with(Barrier&& barrier, uint16_t mask, CacheHint hint) const {
  return load_with<Op, Bits>(&tma_desc_, barrier, mask, hint);
}
template <class Op, class Bits, class Aux>
template <class Barrier>
ZELLIGE_HOST_DEVICE auto tma_traits<Op, Bits, Aux>::with(TmaDescriptor const* descriptor, Barrier&& barrier,
                                                         uint16_t mask) const {
  return load_with<Op, Bits>(descriptor, barrier, mask, NoHint{});
}
template <class Op, class Bits, class Aux>
template <class Barrier>
ZELLIGE_HOST_DEVICE auto tma_traits<Op, Bits, Aux>::with(TmaDescriptor const* descriptor, Barrier&& barrier,
                                                         uint16_t mask, CacheHint hint) const {
  return load_with<Op, Bits>(descriptor, barrier, mask, hint);
}
template <class Op, class Bits, class Aux>
ZELLIGE_HOST_DEVICE auto tma_traits<Op, Bits, Aux>::with(TmaDescriptor const* descriptor) const {
  using Run = conditional_t<is_same_v<Op, SM90_TMA_REDUCE_ADD>, SM90_TMA_REDUCE_ADD_PTR, SM90_TMA_STORE_PTR>;
  return Copy_Traits<Run, Bits, NoHint>{{{}, descriptor}};
}
template <class Op, class Bits, class Aux>
ZELLIGE_HOST_DEVICE auto tma_traits<Op, Bits, Aux>::with(TmaDescriptor const* descriptor, CacheHint hint) const {
  static_assert(is_same_v<Op, SM90_TMA_STORE>, "only a TMA load or store takes a cache hint, a reduction does not");
  return Copy_Traits<SM90_TMA_STORE_PTR, Bits, CacheHint>{{hint, descriptor}};
}
}  // namespace detail

template <class Bits, class Hint, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_LOAD_OP, Bits, Hint> const& traits, TS const& src,
                                       TD&& dst) {
  static_assert(is_smem_v<remove_cvref_t<TD>>, "SM90_TMA_LOAD writes shared memory: make_smem_ptr");
  detail::load_box(instruction_address(raw_tile(dst.data())), *traits.descriptor, traits.barrier, traits.hint,
                   *src.data(), detail::coordinate_modes<TS>{});
}
template <class Bits, class Hint, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_LOAD_MULTICAST_OP, Bits, Hint> const& traits, TS const& src,
                                       TD&& dst) {
  static_assert(is_smem_v<remove_cvref_t<TD>>, "SM90_TMA_LOAD_MULTICAST writes shared memory: make_smem_ptr");
  detail::load_box_multicast(instruction_address(raw_tile(dst.data())), *traits.descriptor, traits.barrier, traits.mask,
                             traits.hint, *src.data(), detail::coordinate_modes<TS>{});
}
namespace detail {
template <class TS, class TD, class Hint>
ZELLIGE_DEVICE inline void tma_store_box(TmaDescriptor const& map, TS const& src, TD const& dst, Hint const& hint) {
  static_assert(is_smem_v<TS>, "SM90_TMA_STORE reads shared memory: make_smem_ptr");
  store_box(map, instruction_address(raw_tile(src.data())), hint, *dst.data(), coordinate_modes<TD>{});
}
template <class TS, class TD>
ZELLIGE_DEVICE inline void tma_add_box(TmaDescriptor const& map, TS const& src, TD const& dst) {
  static_assert(is_smem_v<TS>, "SM90_TMA_REDUCE_ADD reads shared memory: make_smem_ptr");
  add_box(map, instruction_address(raw_tile(src.data())), *dst.data(), coordinate_modes<TD>{});
}
}  // namespace detail
template <class Bits, class Aux, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_STORE, Bits, Aux> const& traits, TS const& src, TD&& dst) {
  detail::tma_store_box(traits.tma_desc_, src, dst, detail::NoHint{});
}
template <class Bits, class Aux, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_REDUCE_ADD, Bits, Aux> const& traits, TS const& src,
                                       TD&& dst) {
  detail::tma_add_box(traits.tma_desc_, src, dst);
}
template <class Bits, class Hint, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_STORE_PTR, Bits, Hint> const& traits, TS const& src,
                                       TD&& dst) {
  detail::tma_store_box(*traits.descriptor, src, dst, traits.hint);
}
template <class Bits, class Hint, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_REDUCE_ADD_PTR, Bits, Hint> const& traits, TS const& src,
                                       TD&& dst) {
  detail::tma_add_box(*traits.descriptor, src, dst);
}

/// CuTe's name of CacheHint, TMA::CacheHintSm90.
namespace TMA {
using CacheHintSm90 = CacheHint;
}  // namespace TMA

/// CuTe's name of tma_store_commit: closes a group of this thread's TMA stores.
ZELLIGE_CALL void tma_store_arrive() { tma_store_commit(); }
/// CuTe's name of fence_proxy_async: makes ordinary writes to shared memory visible to later TMA stores.
ZELLIGE_CALL void tma_store_fence() { fence_proxy_async(); }

}  // namespace zellige
