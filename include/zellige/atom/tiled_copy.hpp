// TiledCopy: a copy instruction repeated over threads and values, and the part of a tensor that
// each thread copies.
//
//   auto copy_a = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, half_t>{},
//                                 Layout<Shape<_16, _8>, Stride<_8, _1>>{},     // 16 x 8 threads
//                                 Layout<Shape<_1, _8>>{});                     // of 1 x 8 values each
//   auto mine = copy_a.get_slice(threadIdx.x);
//   copy(copy_a, mine.partition_S(gA), mine.partition_D(sA));
//
// make_tiled_copy_A, _B and _C tile so that each thread copies its operand of a TiledMMA.
#pragma once

#include <zellige/atom/copy_atom.hpp>
#include <zellige/atom/tiled_mma.hpp>

namespace zellige {

template <class TiledCopy, class ThrIdx>
struct ThrCopy;

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

  /// ((ThrV, ThrX), FrgV, (RestM, RestN, ...)) of a tensor or a layout (M, N, ...), as the source or
  /// destination.
  template <class X>
  ZELLIGE_HOST_DEVICE static constexpr auto tidfrg_S(X&& x) {
    return tidfrg<AtomLayoutSrc>(x);
  }
  template <class X>
  ZELLIGE_HOST_DEVICE static constexpr auto tidfrg_D(X&& x) {
    return tidfrg<AtomLayoutDst>(x);
  }
  /// The same for an already tiled tensor, ((TileM, TileN, ...), (RestM, RestN, ...)); `order` maps
  /// (thread, value) of one instruction to the reference's.
  template <class X, class Order>
  ZELLIGE_HOST_DEVICE static constexpr auto tile2thrfrg(X&& x, Order const& order) {
    if constexpr (tensor_like<X>) {
      return detail::view_of(x, x.data(), tile2thrfrg(x.layout(), order));
    } else {
      auto const counted = make_layout(shape(AtomLayoutRef{}));
      return invoke<TiledOp::tile_to_threads>(x, TiledLayout_TV{}, Tiler_MN{}, counted, order);
    }
  }
  /// (V, M, N, ...) in the copy's order of values: converts registers partitioned by another
  /// tiling.
  template <class X>
  ZELLIGE_HOST_DEVICE static constexpr auto retile(X&& x) {
    if constexpr (tensor_like<X>)
      return detail::view_of(x, x.data(), retile(x.layout()));
    else
      return invoke<TiledOp::retile>(x, TiledLayout_TV{}, Tiler_MN{}, AtomLayoutRef{}, AtomLayoutRef{});
  }

  /// (thread, value) -> (M, N) of the tile.
  ZELLIGE_HOST_DEVICE static constexpr auto get_layoutS_TV() { return layout_tv<AtomLayoutSrc>(); }
  ZELLIGE_HOST_DEVICE static constexpr auto get_layoutD_TV() { return layout_tv<AtomLayoutDst>(); }
  /// ((M, N) -> (thread, value), thread -> thread).
  ZELLIGE_HOST_DEVICE static constexpr auto get_layoutS_MN() { return layout_mn(get_layoutS_TV()); }
  ZELLIGE_HOST_DEVICE static constexpr auto get_layoutD_MN() { return layout_mn(get_layoutD_TV()); }

  template <integral I>
  ZELLIGE_HOST_DEVICE static constexpr auto get_slice(I const& thread) {
    auto const number = detail::thread_number(thread);
    return ThrCopy<TiledCopy, remove_cvref_t<decltype(number)>>(number);
  }
  template <integral I>
  ZELLIGE_HOST_DEVICE static constexpr auto get_thread_slice(I const& thread) {
    return get_slice(thread);
  }

  template <class Target, class X, class I>
  ZELLIGE_HOST_DEVICE static constexpr auto partition(X&& x, I const& thread) {
    auto const mine = invoke<TiledOp::copy_partition>(x.layout(), TiledLayout_TV{}, Tiler_MN{},
                                                      AtomLayoutRef{}, Target{}, thread);
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

template <class Tiled, class ThrIdx>
struct ThrCopy {
  ThrIdx thr_idx_;

  ZELLIGE_HOST_DEVICE constexpr ThrCopy(ThrIdx const& thread) : thr_idx_(thread) {}

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
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_impl(Copy_Atom<Args...> const& atom, LayoutTV const&,
                                                        Tiler const&) {
  return TiledCopy<Copy_Atom<Args...>, LayoutTV, Tiler>(atom);
}

/// Tiles by threads and values, layouts (m, n) -> index; each thread's values are adjacent.
template <class... Args, class ThrLayout, class ValLayout = Layout<_1>>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy(Copy_Atom<Args...> const& atom,
                                                   ThrLayout const& threads = {},
                                                   ValLayout const& values = {}) {
  auto const tiling = invoke<TiledOp::raked_tiling>(threads, values);
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}
/// Tiles by a layout of threads and values to addresses, for data with the given layout.
template <class... Args, class AtomTV, class Data>
ZELLIGE_HOST_DEVICE constexpr auto make_cotiled_copy(Copy_Atom<Args...> const& atom, AtomTV const& tv,
                                                     Data const& data) {
  static_assert(is_static_v<AtomTV> && is_static_v<Data>, "make_cotiled_copy: both layouts must be static");
  auto const tiling = invoke<TiledOp::cotiled_tiling>(tv, data);
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}

/// Tiles like operand A, B or C of a TiledMMA.
template <class... C, class... M>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_A(Copy_Atom<C...> const& atom, TiledMMA<M...> const& mma) {
  return make_tiled_copy_impl(atom, mma.get_layoutA_TV(), make_shape(tile_size<0>(mma), tile_size<2>(mma)));
}
template <class... C, class... M>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_B(Copy_Atom<C...> const& atom, TiledMMA<M...> const& mma) {
  return make_tiled_copy_impl(atom, mma.get_layoutB_TV(), make_shape(tile_size<1>(mma), tile_size<2>(mma)));
}
template <class... C, class... M>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_C(Copy_Atom<C...> const& atom, TiledMMA<M...> const& mma) {
  static_assert(
      decltype(size<3>(mma.get_thr_layout_vmnk()))::value == 1,
      "make_tiled_copy_C: the threads along K hold partial results of the same elements; add them first");
  return make_tiled_copy_impl(atom, mma.get_layoutC_TV(), make_shape(tile_size<0>(mma), tile_size<1>(mma)));
}
/// The smallest part of an accumulator that the instruction can store.
template <class... C, class... M>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_C_atom(Copy_Atom<C...> const& atom,
                                                          TiledMMA<M...> const& mma) {
  using Tiled = TiledMMA<M...>;
  static_assert(decltype(size<3>(mma.get_thr_layout_vmnk()))::value == 1,
                "make_tiled_copy_C_atom: the threads along K hold partial results of the same elements; add "
                "them first");
  auto const tiling = invoke<TiledOp::accumulator_tiling>(
      Int<int(MmaPart::c)>{}, typename Tiled::AtomLayoutC_TV{}, typename Tiled::AtomShape_MNK{},
      mma.get_thr_layout_vmnk(), typename Tiled::Permutation{}, Int<Copy_Atom<C...>::NumValSrc>{});
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}
/// Tiles like the source or destination of another tiled copy.
template <class... C, class Tiled>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_S(Copy_Atom<C...> const& atom, Tiled const& like) {
  return make_tiled_copy_impl(atom, like.get_layoutS_TV(), typename Tiled::Tiler_MN{});
}
template <class... C, class Tiled>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_copy_D(Copy_Atom<C...> const& atom, Tiled const& like) {
  return make_tiled_copy_impl(atom, like.get_layoutD_TV(), typename Tiled::Tiler_MN{});
}

template <int... I, class... Args>
ZELLIGE_HOST_DEVICE constexpr auto tile_size(TiledCopy<Args...> const&) {
  return size<I...>(typename TiledCopy<Args...>::Tiler_MN{});
}
template <class... Args>
ZELLIGE_HOST_DEVICE constexpr auto size(TiledCopy<Args...> const&) {
  return typename TiledCopy<Args...>::TiledNumThr{};
}

/// Threads and values over a tile, without an instruction.
template <class LayoutTV, class Tiler>
struct TV_Tiler {
  using Tiler_MN = Tiler;
  using TiledLayout_TV = LayoutTV;

  /// ((ThrV, FrgV), (RestM, RestN, ...)).
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
