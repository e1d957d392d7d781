// Implements prefetch(atom, src), which loads into L2 what copy(atom, src, dst) will read later, with the prefetch
// instruction that belongs to the copy (TMA or bulk). Called by one thread, which does not wait.
//
//   prefetch(tma, mine.partition_S(tile)(_, _, _, k));        the boxes of a TMA load (make_tma_copy)
//   prefetch(bulk, mine.partition_S(gA));                     the bytes of a bulk copy (SM90_BULK_COPY_G2S)
//   prefetch(Copy_Traits<SM90_BULK_COPY_AUTO>{}, gRow);       the longest contiguous runs of the layout
//
// If the copy has no prefetch instruction, each cache line of the source is prefetched, as by prefetch(src).
#pragma once

#include <zellige/atom/bulk_copy_call.hpp>
#include <zellige/atom/prefetch.hpp>
#include <zellige/atom/tma_im2col.hpp>

namespace zellige {

/// Traits of the TMA prefetch of a box of Bits bits. Constructed from the traits of a TMA load or from a pointer
/// to a TMA descriptor.
template <class Bits, class... Args>
struct Copy_Traits<SM90_TMA_LOAD::PREFETCH, Bits, Args...> {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = SM90_TMA_LOAD::PREFETCH;
  TmaDescriptor const* descriptor;

  ZELLIGE_HOST_DEVICE constexpr Copy_Traits(TmaDescriptor const* map) : descriptor(map) {}
  template <class Load>
  requires requires(Load const& load) { load.get_tma_descriptor(); }
  ZELLIGE_HOST_DEVICE constexpr Copy_Traits(Load const& load) : descriptor(load.get_tma_descriptor()) {}
  ZELLIGE_HOST_DEVICE constexpr Copy_Traits with(TmaDescriptor const* map) const { return {map}; }
};
/// Traits of the bulk prefetch of Bits contiguous bits, a multiple of 16 bytes.
template <class Bits>
struct Copy_Traits<SM90_BULK_COPY_G2S::PREFETCH, Bits> {
  static_assert(Bits::value % 128 == 0, "SM90_BULK_COPY_G2S::PREFETCH: a multiple of 16 bytes");
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = SM90_BULK_COPY_G2S::PREFETCH;
};

namespace detail {
/// Issues the TMA prefetch of the box at coordinate `c`. The number of modes of `c` selects the instruction.
template <class Crd, int... I>
ZELLIGE_CALL void prefetch_box(TmaDescriptor const& map, Crd const& c, seq<I...>) {
  constexpr int rank = int(sizeof...(I));
  static_assert(rank >= 1 && rank <= 5, "a TMA coordinate has 1 to 5 modes");
  if constexpr (rank == 1) tma_prefetch_1d(map, coordinate<I>(c)...);
  if constexpr (rank == 2) tma_prefetch_2d(map, coordinate<I>(c)...);
  if constexpr (rank == 3) tma_prefetch_3d(map, coordinate<I>(c)...);
  if constexpr (rank == 4) tma_prefetch_4d(map, coordinate<I>(c)...);
  if constexpr (rank == 5) tma_prefetch_5d(map, coordinate<I>(c)...);
}
}  // namespace detail

// Issues one TMA prefetch of the box at the coordinate of src. The destination is ignored, because a prefetch writes
// nothing.
template <class Bits, class... Args, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_TMA_LOAD::PREFETCH, Bits, Args...> const& traits, TS const& src,
                                       TD&&) {
  detail::prefetch_box(*traits.descriptor, *src.data(), detail::coordinate_modes<TS>{});
}
template <class Bits, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_BULK_COPY_G2S::PREFETCH, Bits> const&, TS const& src, TD&&) {
  bulk_prefetch_l2(first_address(src), unsigned(Bits::value / 8));
}

template <class... Barrier, tensor_like X>
ZELLIGE_DEVICE inline void prefetch(Copy_Traits<SM90_BULK_COPY_AUTO, Barrier...> const&, X const& src);

/// Prefetches into L2 what copy(atom, src, dst) would read. Fails to compile for im2col loads, for which this function
/// is not implemented.
template <class Op, class... Args, class T, tensor_like X>
ZELLIGE_DEVICE inline void prefetch(Copy_Atom<Copy_Traits<Op, Args...>, T> const& atom, X const& src) {
  static_assert(!is_same_v<Op, SM90_TMA_LOAD_IM2COL> && !is_same_v<Op, SM90_TMA_LOAD_IM2COL_MULTICAST>,
                "prefetch(tma, src): there is no call of an im2col prefetch");
  if constexpr (is_same_v<Op, SM90_BULK_COPY_AUTO>) {
    prefetch(atom.traits(), src);
  } else if constexpr (is_same_v<Op, SM90_BULK_COPY_G2S>) {
    Copy_Atom<Copy_Traits<typename Op::PREFETCH, Args...>, T> const prefetch_atom;
    detail::copy_each_mode(prefetch_atom, src, src, detail::Always{});
  } else if constexpr (requires { typename Op::PREFETCH; }) {
    using PrefetchTraits = Copy_Traits<typename Op::PREFETCH, Args...>;
    Copy_Atom<PrefetchTraits, T> const prefetch_atom{PrefetchTraits{atom.traits()}};
    detail::copy_each_mode(prefetch_atom, src, src, detail::Always{});
  } else {
    prefetch(src);
  }
}
/// Prefetches the global-memory tensor `src` into L2 with one bulk prefetch per run, where a run is the longest
/// sequence of elements that is contiguous in the layout of `src`. Fails to compile if a run is no multiple of 16
/// bytes.
template <class... Barrier, tensor_like X>
ZELLIGE_DEVICE inline void prefetch(Copy_Traits<SM90_BULK_COPY_AUTO, Barrier...> const&, X const& src) {
  static_assert(is_gmem_v<X>, "prefetch(SM90_BULK_COPY_AUTO, src): the source is in global memory");
  auto const run = max_common_layout(src.layout(), src.layout());
  constexpr int bits = size_v<remove_cvref_t<decltype(run)>> * sizeof_bits_v<typename X::value_type>;
  static_assert(bits % 128 == 0, "prefetch(SM90_BULK_COPY_AUTO, src): what is contiguous is no multiple of 16 bytes");
  auto const runs = zipped_divide(src, run);
  for (int i = 0; i < int(size<1>(runs)); ++i)
    bulk_prefetch_l2(first_address(runs(Underscore{}, i)), unsigned(bits / 8));
}

}  // namespace zellige
