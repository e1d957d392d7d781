// Defines TiledCopy, as in CuTe: a copy instruction repeated over threads and values to cover a tile. It partitions
// tensors into the parts that the threads copy.
//
//   auto copy_a = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, half_t>{},
//                                 Layout<Shape<_16, _8>, Stride<_8, _1>>{},     // 16 x 8 threads
//                                 Layout<Shape<_1, _8>>{});                     // of 1 x 8 values each
//   auto mine = copy_a.get_slice(threadIdx.x);
//   copy(copy_a, mine.partition_S(gA), mine.partition_D(sA));
//
// make_tiled_copy_A, _B and _C return a copy in which each thread copies its own fragment of a TiledMMA's operand.
#pragma once

#include <zellige/atom/copy_atom.hpp>
#include <zellige/atom/tiled_mma.hpp>

namespace zellige {

template <class TiledCopy, class ThrIdx>
struct ThrCopy;

/// The copy instruction Atom_ repeated over a tile. LayoutCopy_TV maps (thread, value) to an index in the tile,
/// ShapeTiler_MN is the tile. Refuses to compile if the instruction's threads or values do not divide the tiling's.
template <class Atom_, class LayoutCopy_TV, class ShapeTiler_MN>
struct TiledCopy : Atom_ {
  using Atom = Atom_;
  using AtomThrID = typename Atom::ThrID;
  using AtomLayoutSrc = typename Atom::ValLayoutSrc;
  using AtomLayoutDst = typename Atom::ValLayoutDst;
  using AtomLayoutRef = typename Atom::ValLayoutRef;
  using AtomNumThr = decltype(size<0>(AtomLayoutRef{}));
  using AtomNumVal = decltype(size<1>(AtomLayoutRef{}));

  using Tiler_MN = ShapeTiler_MN;
  using TiledLayout_TV = LayoutCopy_TV;
  using TiledNumThr = decltype(size<0>(TiledLayout_TV{}));
  using TiledNumVal = decltype(size<1>(TiledLayout_TV{}));

  ZELLIGE_HOST_DEVICE constexpr TiledCopy(Atom const& atom = {}) : Atom(atom) {
    if constexpr (TiledNumThr::value % AtomNumThr::value != 0)
      detail::refuse<TiledOp::check_tiling, Rule::copy_threads, TiledNumThr::value, AtomNumThr::value>();
    if constexpr (TiledNumVal::value % AtomNumVal::value != 0)
      detail::refuse<TiledOp::check_tiling, Rule::copy_values, TiledNumVal::value, AtomNumVal::value>();
  }

  /// Returns the view ((ThrV, ThrX), FrgV, (RestM, RestN, ...)) of a source tensor (M, N, ...). ThrV are the threads
  /// of one instruction, ThrX its repetitions over threads, FrgV a thread's values.
  template <class X>
  ZELLIGE_HOST_DEVICE static constexpr auto tidfrg_S(X&& x) {
    return tidfrg<AtomLayoutSrc>(x);
  }
  /// Returns the view ((ThrV, ThrX), FrgV, (RestM, RestN, ...)) of a destination tensor (M, N, ...). ThrV are the
  /// threads of one instruction, ThrX its repetitions over threads, FrgV a thread's values.
  template <class X>
  ZELLIGE_HOST_DEVICE static constexpr auto tidfrg_D(X&& x) {
    return tidfrg<AtomLayoutDst>(x);
  }
  /// Returns the view ((ThrV, ThrX), FrgV, (RestM, RestN, ...)) of a tensor that is already divided into tiles,
  /// ((TileM, TileN, ...), (RestM, RestN, ...)). ThrV are the threads of one instruction, ThrX its repetitions over
  /// threads, FrgV a thread's values. `order` maps (thread, value) at the instruction's source or destination to
  /// (thread, value) in its reference layout.
  template <class X, class Order>
  ZELLIGE_HOST_DEVICE static constexpr auto tile2thrfrg(X&& x, Order const& order) {
    if constexpr (tensor_like<X>) {
      return detail::view_of(x, x.data(), tile2thrfrg(x.layout(), order));
    } else {
      auto const counted = make_layout(shape(AtomLayoutRef{}));
      return invoke<TiledOp::tile_to_threads>(x, TiledLayout_TV{}, Tiler_MN{}, counted, order);
    }
  }
  /// Returns a view of register tensor x in this copy's order of values, (V, M, N, ...), where V are the values of one
  /// instruction of this copy. x was partitioned by another tiling, such as a TiledMMA.
  template <class X>
  ZELLIGE_HOST_DEVICE static constexpr auto retile(X&& x) {
    if constexpr (tensor_like<X>)
      return detail::view_of(x, x.data(), retile(x.layout()));
    else
      return invoke<TiledOp::retile>(x, TiledLayout_TV{}, Tiler_MN{}, AtomLayoutRef{}, AtomLayoutRef{});
  }

  /// Returns the layout (thread, value) -> (M, N) of the source tile.
  ZELLIGE_HOST_DEVICE static constexpr auto get_layoutS_TV() { return layout_tv<AtomLayoutSrc>(); }
  /// Returns the layout (thread, value) -> (M, N) of the destination tile.
  ZELLIGE_HOST_DEVICE static constexpr auto get_layoutD_TV() { return layout_tv<AtomLayoutDst>(); }
  /// Returns a pair of layouts: the inverse of get_layoutS_TV, (M, N) -> (thread, value), and the identity on thread
  /// indices.
  ZELLIGE_HOST_DEVICE static constexpr auto get_layoutS_MN() { return layout_mn(get_layoutS_TV()); }
  /// Returns a pair of layouts: the inverse of get_layoutD_TV, (M, N) -> (thread, value), and the identity on thread
  /// indices.
  ZELLIGE_HOST_DEVICE static constexpr auto get_layoutD_MN() { return layout_mn(get_layoutD_TV()); }

  /// Returns the ThrCopy of thread `thread`, which partitions tensors for this thread.
  template <integral I>
  ZELLIGE_HOST_DEVICE static constexpr auto get_slice(I const& thread) {
    auto const number = detail::thread_number(thread);
    return ThrCopy<TiledCopy, remove_cvref_t<decltype(number)>>{number};
  }
  template <integral I>
  ZELLIGE_HOST_DEVICE static constexpr auto get_thread_slice(I const& thread) {
    return get_slice(thread);
  }

  /// Returns the part (V, RestM, RestN, ...) of tensor x that thread `thread` copies. Target is the instruction's
  /// layout of the source or of the destination.
  template <class Target, class X, class I>
  ZELLIGE_HOST_DEVICE static constexpr auto partition(X&& x, I const& thread) {
    auto const mine =
        invoke<TiledOp::copy_partition>(x.layout(), TiledLayout_TV{}, Tiler_MN{}, AtomLayoutRef{}, Target{}, thread);
    return detail::view_of_thread(
        x, x.data() + get<1>(mine), get<0>(mine), Tiler_MN{}, [] { return layout_tv<Target>(); },
        [&] { return thread; });
  }

 private:
  template <class Target, class X>
  ZELLIGE_HOST_DEVICE static constexpr auto tidfrg(X&& x) {
    if constexpr (tensor_like<X>)
      return detail::view_of(x, x.data(), tidfrg<Target>(x.layout()));
    else
      return invoke<TiledOp::tidfrg>(x, TiledLayout_TV{}, Tiler_MN{}, AtomLayoutRef{}, Target{});
  }
  template <class Target>
  ZELLIGE_HOST_DEVICE static constexpr auto layout_tv() {
    return invoke<TiledOp::copy_layout_tv>(TiledLayout_TV{}, Tiler_MN{}, AtomLayoutRef{}, Target{});
  }
  template <class TV>
  ZELLIGE_HOST_DEVICE static constexpr auto layout_mn(TV const& tv) {
    return make_tuple(with_shape(right_inverse(tv), shape(Tiler_MN{})), make_layout(TiledNumThr{}));
  }
};

/// One thread's share of a TiledCopy. partition_S and partition_D return the thread's part (V, RestM, RestN, ...) of a
/// source or destination tensor; retile_S and retile_D return register tensors in the copy's order of values.
template <class Tiled, class ThrIdx>
struct ThrCopy {
  ThrIdx thr_idx_;

  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto partition_S(X&& x) const {
    return Tiled::template partition<typename Tiled::AtomLayoutSrc>(x, thr_idx_);
  }
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto partition_D(X&& x) const {
    return Tiled::template partition<typename Tiled::AtomLayoutDst>(x, thr_idx_);
  }
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE static constexpr auto retile_S(X&& x) {
    return Tiled::retile(x);
  }
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE static constexpr auto retile_D(X&& x) {
    return Tiled::retile(x);
  }
};

template <class... Args, class LayoutTV, class Tiler>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_impl(Copy_Atom<Args...> const& atom, LayoutTV const&, Tiler const&) {
  return TiledCopy<Copy_Atom<Args...>, LayoutTV, Tiler>(atom);
}

/// Returns a TiledCopy whose tile has the extents of `threads` times those of `values`. `threads` maps (m, n) to a
/// thread index, `values` maps (m, n) to a value index. A thread's values are adjacent in the tile.
template <class... Args, class ThrLayout, class ValLayout = Layout<_1>>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy(Copy_Atom<Args...> const& atom, ThrLayout const& threads = {},
                                                   ValLayout const& values = {}) {
  auto const tiling = invoke<TiledOp::raked_tiling>(threads, values);
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}
/// Returns a TiledCopy that copies data with layout `data` (coordinate -> address). `tv` maps (thread, value) to the
/// address of the element that the thread copies. Both layouts must be static.
template <class... Args, class AtomTV, class Data>
ZELLIGE_HOST_DEVICE constexpr auto make_cotiled_copy(Copy_Atom<Args...> const& atom, AtomTV const& tv,
                                                     Data const& data) {
  static_assert(is_static_v<AtomTV> && is_static_v<Data>, "make_cotiled_copy: both layouts must be static");
  auto const tiling = invoke<TiledOp::cotiled_tiling>(tv, data);
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}

/// Returns a TiledCopy in which each thread copies its own fragment of operand A of `mma`.
template <class... C, class... M>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_A(Copy_Atom<C...> const& atom, TiledMMA<M...> const& mma) {
  return make_tiled_copy_impl(atom, mma.get_layoutA_TV(), make_shape(tile_size<0>(mma), tile_size<2>(mma)));
}
/// Returns a TiledCopy in which each thread copies its own fragment of operand B of `mma`.
template <class... C, class... M>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_B(Copy_Atom<C...> const& atom, TiledMMA<M...> const& mma) {
  return make_tiled_copy_impl(atom, mma.get_layoutB_TV(), make_shape(tile_size<1>(mma), tile_size<2>(mma)));
}
/// Returns a TiledCopy in which each thread copies its own fragment of accumulator C of `mma`. Threads along
/// K copy the same elements: after their sums are added, let one of them store.
template <class... C, class... M>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_C(Copy_Atom<C...> const& atom, TiledMMA<M...> const& mma) {
  return make_tiled_copy_impl(atom, mma.get_layoutC_TV(), make_shape(tile_size<0>(mma), tile_size<1>(mma)));
}
/// Returns a TiledCopy for the smallest tile of accumulator C in which each thread has as many values as one copy
/// instruction moves. Threads along K copy the same elements, as with make_tiled_copy_C.
template <class... C, class... M>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_C_atom(Copy_Atom<C...> const& atom, TiledMMA<M...> const& mma) {
  using Tiled = TiledMMA<M...>;
  auto const tiling = invoke<TiledOp::accumulator_tiling>(
      Int<int(MmaPart::c)>{}, typename Tiled::AtomLayoutC_TV{}, typename Tiled::AtomShape_MNK{},
      mma.get_thr_layout_vmnk(), typename Tiled::Permutation{}, Int<Copy_Atom<C...>::NumValSrc>{});
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}
/// Returns a TiledCopy with the instruction `atom`, whose threads copy the same elements as the source of the
/// TiledCopy `like`.
template <class... C, class Tiled>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_S(Copy_Atom<C...> const& atom, Tiled const& like) {
  return make_tiled_copy_impl(atom, like.get_layoutS_TV(), typename Tiled::Tiler_MN{});
}
/// Returns a TiledCopy with the instruction `atom`, whose threads copy the same elements as the destination of the
/// TiledCopy `like`.
template <class... C, class Tiled>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_D(Copy_Atom<C...> const& atom, Tiled const& like) {
  return make_tiled_copy_impl(atom, like.get_layoutD_TV(), typename Tiled::Tiler_MN{});
}

/// Returns the number of elements of the tile. With a template argument I, returns the tile's extent along mode I.
template <int... I, class... Args>
ZELLIGE_HOST_DEVICE constexpr auto tile_size(TiledCopy<Args...> const&) {
  return size<I...>(typename TiledCopy<Args...>::Tiler_MN{});
}
/// Returns the number of participating threads.
template <class... Args>
ZELLIGE_HOST_DEVICE constexpr auto size(TiledCopy<Args...> const&) {
  return typename TiledCopy<Args...>::TiledNumThr{};
}

/// Partitions tensors over threads and values without a copy instruction. LayoutTV maps (thread, value) to an index in
/// the tile Tiler. get_slice(thread).partition(x) returns the thread's part of x.
template <class LayoutTV, class Tiler>
struct TV_Tiler {
  using Tiler_MN = Tiler;
  using TiledLayout_TV = LayoutTV;

  /// Divides tensor x, (M, N, ...), into tiles, and each tile among threads. Returns the view ((threads, values),
  /// (RestM, RestN, ...)): `threads` indexes the threads, `values` a thread's values in one tile.
  template <class X>
  ZELLIGE_HOST_DEVICE static constexpr auto apply(X&& x) {
    return composition(zipped_divide(x, Tiler_MN{}), make_tile(TiledLayout_TV{}, _));
  }
  template <class Slice>
  struct TV_Partitioner {
    Slice coord_;
    template <tensor_like X>
    ZELLIGE_HOST_DEVICE constexpr auto partition(X&& x) const {
      return apply(x)(coord_, repeat<remove_cvref_t<X>::rank>(Underscore{}));
    }
  };
  template <class Slice>
  ZELLIGE_HOST_DEVICE static constexpr auto get_slice(Slice const& coord) {
    return TV_Partitioner<Slice>{coord};
  }
};
template <class LayoutTV, class Tiler>
ZELLIGE_HOST_DEVICE constexpr auto make_tiler_impl(LayoutTV const&, Tiler const&) {
  return TV_Tiler<LayoutTV, Tiler>{};
}

}  // namespace zellige
