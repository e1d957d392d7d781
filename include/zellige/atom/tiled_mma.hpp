// Defines TiledMMA, as in CuTe: a matrix instruction repeated over threads and values to cover a tile. It partitions
// operand tensors into the parts that the threads hold.
//
//   auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{},
//                             Tile<_32, _32, _16>{});
//   auto mine = mma.get_slice(threadIdx.x);
//   Tensor tCgC = mine.partition_C(gC);                  // (MMA, MMA_M, MMA_N)
//   Tensor rC = mine.partition_fragment_C(gC);           // registers for it
//   gemm(mma, rA, rB, rC);
#pragma once

#include <zellige/atom/mma_atom.hpp>

namespace zellige {

template <class TiledMMA, class ThrVMNK>
struct ThrMMA;

namespace detail {
/// Returns a thread index, such as the unsigned threadIdx.x, as an int, because index arithmetic on mixed signs would
/// use 64 bits. In device code nvcc assumes that an unsigned index is below 2^31: it then divides without a sign, and
/// drops comparisons that the range of a coordinate decides. Returns static integers unchanged.
template <integral I>
ZELLIGE_HOST_DEVICE constexpr auto thread_number(I const& thread) {
  if constexpr (is_static_integer_v<I>) {
    return thread;
  } else {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(I) == 4 && I(-1) > I(0)) __builtin_assume(thread <= I(0x7fffffff));
#endif
    return int(thread);
  }
}
}  // namespace detail

/// The matrix instruction Atom_ repeated over threads. AtomLayoutMNK arranges the instructions' thread groups along (M,
/// N, K). PermutationMNK permutes each of M, N and K before tiling, or sets the tile's extent there.
template <class Atom_, class AtomLayoutMNK, class PermutationMNK = Tile<Underscore, Underscore, Underscore>>
struct TiledMMA : Atom_ {
  using Atom = Atom_;
  using AtomShape_MNK = typename Atom::Shape_MNK;
  using AtomThrID = typename Atom::ThrID;
  using AtomLayoutC_TV = typename Atom::LayoutC_TV;
  using AtomLayoutA_TV = typename Atom::LayoutA_TV;
  using AtomLayoutB_TV = typename Atom::LayoutB_TV;
  using Permutation = PermutationMNK;

  static_assert(AtomLayoutMNK::rank == 3, "TiledMMA: the layout of instructions over threads has modes M, N and K");
  static_assert(tuple_size_v<PermutationMNK> == 3, "TiledMMA: M, N and K have a permutation each");
  static_assert(is_static_v<PermutationMNK>, "TiledMMA: the permutations must be static");

  using ThrLayoutVMNK = remove_cvref_t<decltype(tiled_product(AtomThrID{}, AtomLayoutMNK{}))>;
  ThrLayoutVMNK thr_layout_vmnk_;  // not [[no_unique_address]]: nvcc passes no empty class to a kernel

  ZELLIGE_HOST_DEVICE constexpr TiledMMA(Atom const& atom = {}, AtomLayoutMNK const& threads = {})
      : Atom(atom), thr_layout_vmnk_(tiled_product(AtomThrID{}, threads)) {}

  ZELLIGE_HOST_DEVICE constexpr auto get_thr_layout_vmnk() const { return thr_layout_vmnk_; }

  /// Returns the permutation of mode I (M, N or K), which is applied before tiling. If the mode has none, returns the
  /// extent of the TiledMMA's tile along it: the instruction's extent times the number of its repetitions over
  /// threads.
  template <int I>
  ZELLIGE_HOST_DEVICE constexpr auto permutation_mnk() const {
    auto const given = get<I>(PermutationMNK{});
    if constexpr (is_underscore_v<decltype(given)>)
      return size<I>(AtomShape_MNK{}) * size<I + 1>(thr_layout_vmnk_);
    else
      return given;
  }
  template <int I>
  ZELLIGE_HOST_DEVICE constexpr auto tile_size_mnk() const {
    return size(permutation_mnk<I>());
  }

  /// Returns the view ((ThrV, (ThrM, ThrN)), (FrgV, (RestM, RestN, ...))) of a tensor C, (M, N, ...). ThrV are the
  /// threads of one instruction, (ThrM, ThrN) its repetitions over threads, FrgV a thread's values.
  template <class X>
  ZELLIGE_HOST_DEVICE constexpr auto thrfrg_C(X&& x) const {
    return thrfrg<MmaPart::c, AtomLayoutC_TV>(x);
  }
  /// Returns the view ((ThrV, (ThrM, ThrK)), (FrgV, (RestM, RestK, ...))) of a tensor A, (M, K, ...). ThrV are the
  /// threads of one instruction, (ThrM, ThrK) its repetitions over threads, FrgV a thread's values.
  template <class X>
  ZELLIGE_HOST_DEVICE constexpr auto thrfrg_A(X&& x) const {
    return thrfrg<MmaPart::a, AtomLayoutA_TV>(x);
  }
  /// Returns the view ((ThrV, (ThrN, ThrK)), (FrgV, (RestN, RestK, ...))) of a tensor B, (N, K, ...). ThrV are the
  /// threads of one instruction, (ThrN, ThrK) its repetitions over threads, FrgV a thread's values.
  template <class X>
  ZELLIGE_HOST_DEVICE constexpr auto thrfrg_B(X&& x) const {
    return thrfrg<MmaPart::b, AtomLayoutB_TV>(x);
  }

  /// get_layoutC_TV, get_layoutA_TV and get_layoutB_TV return the layout (thread, value) -> element of the tile of C
  /// (M, N), A (M, K) or B (N, K).
  ZELLIGE_HOST_DEVICE constexpr auto get_layoutC_TV() const { return layout_tv<MmaPart::c, AtomLayoutC_TV>(); }
  ZELLIGE_HOST_DEVICE constexpr auto get_layoutA_TV() const { return layout_tv<MmaPart::a, AtomLayoutA_TV>(); }
  ZELLIGE_HOST_DEVICE constexpr auto get_layoutB_TV() const { return layout_tv<MmaPart::b, AtomLayoutB_TV>(); }

  /// get_layoutC_MN, get_layoutA_MK and get_layoutB_NK return a pair of layouts. The first maps an element of the
  /// tile of C (M, N), A (M, K) or B (N, K) to (operand thread, value). Threads that hold the same elements count as
  /// one operand thread; operand threads are numbered from 0. The second layout maps the number of an operand thread
  /// to the index of the first of its threads.
  ZELLIGE_HOST_DEVICE constexpr auto get_layoutC_MN() const {
    return inverse_of(thrfrg_C(tile<0, 1>()), tile<0, 1>(), thr_layout_vmnk_(make_coord(_, _, _, Int<0>{})));
  }
  ZELLIGE_HOST_DEVICE constexpr auto get_layoutA_MK() const {
    return inverse_of(thrfrg_A(tile<0, 2>()), tile<0, 2>(), thr_layout_vmnk_(make_coord(_, _, Int<0>{}, _)));
  }
  ZELLIGE_HOST_DEVICE constexpr auto get_layoutB_NK() const {
    return inverse_of(thrfrg_B(tile<1, 2>()), tile<1, 2>(), thr_layout_vmnk_(make_coord(_, Int<0>{}, _, _)));
  }

  /// Returns the ThrMMA of thread `thread`, which partitions operands for this thread.
  template <integral I>
  ZELLIGE_HOST_DEVICE constexpr auto get_slice(I const& thread) const {
    auto const at = thr_layout_vmnk_.get_flat_coord(detail::thread_number(thread));
    return ThrMMA<TiledMMA, remove_cvref_t<decltype(at)>>{*this, at};
  }
  template <integral I>
  ZELLIGE_HOST_DEVICE constexpr auto get_thread_slice(I const& thread) const {
    return get_slice(thread);
  }

  /// Returns the part (V, RestM, RestN, ...) of tensor x that the thread at coordinate at = (v, m, n, k) holds.
  /// `part` says which operand x is (A, B or C), LayoutTV is the instruction's layout of this operand.
  template <MmaPart part, class LayoutTV, class X, class At>
  ZELLIGE_HOST_DEVICE constexpr auto partition(X&& x, At const& at) const {
    auto const mine = invoke<TiledOp::mma_partition>(x.layout(), Int<int(part)>{}, LayoutTV{}, AtomShape_MNK{},
                                                     thr_layout_vmnk_, PermutationMNK{}, at);
    auto const tiles =
        make_shape(tile_size_mnk < part == MmaPart::b ? 1 : 0 > (), tile_size_mnk < part == MmaPart::c ? 1 : 2 > ());
    return detail::view_of_thread(
        x, x.data() + get<1>(mine), get<0>(mine), tiles, [this] { return layout_tv<part, LayoutTV>(); },
        [&] { return thr_layout_vmnk_(at); });
  }
  /// Returns the shape (V, RestM, RestN, ...) of a thread's part of operand `part` (A, B or C), a tensor of shape
  /// `shape`. LayoutTV is the instruction's layout of this operand.
  template <MmaPart part, class LayoutTV, class S>
  ZELLIGE_HOST_DEVICE constexpr auto partition_shape(S const& shape) const {
    return invoke<TiledOp::mma_partition_shape>(shape, Int<int(part)>{}, LayoutTV{}, AtomShape_MNK{}, thr_layout_vmnk_,
                                                PermutationMNK{});
  }

 private:
  template <MmaPart part, class LayoutTV, class X>
  ZELLIGE_HOST_DEVICE constexpr auto thrfrg(X&& x) const {
    if constexpr (tensor_like<X>)
      return detail::view_of(x, x.data(), thrfrg<part, LayoutTV>(x.layout()));
    else
      return invoke<TiledOp::thrfrg>(x, Int<int(part)>{}, LayoutTV{}, AtomShape_MNK{}, thr_layout_vmnk_,
                                     PermutationMNK{});
  }
  template <MmaPart part, class LayoutTV>
  ZELLIGE_HOST_DEVICE constexpr auto layout_tv() const {
    return invoke<TiledOp::mma_layout_tv>(Int<int(part)>{}, LayoutTV{}, AtomShape_MNK{}, thr_layout_vmnk_,
                                          PermutationMNK{});
  }
  template <int I, int J>
  ZELLIGE_HOST_DEVICE constexpr auto tile() const {
    return make_layout(make_shape(tile_size_mnk<I>(), tile_size_mnk<J>()));
  }
  template <class TV, class Tiled, class Threads>
  ZELLIGE_HOST_DEVICE static constexpr auto inverse_of(TV const& tv, Tiled const& tile, Threads const& threads) {
    return make_tuple(with_shape(right_inverse(tv), tile.shape()), threads);
  }
};

/// One thread's share of a TiledMMA. partition_C, _A, _B return the thread's part (V, RestM, RestN, ...) of an operand
/// tensor; partition_fragment_C, _A, _B return fragments of that shape: registers, or descriptors for wgmma.
template <class Tiled, class ThrVMNK>
struct ThrMMA : Tiled {
  ThrVMNK thr_vmnk_;

  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto partition_C(X&& x) const {
    return Tiled::template partition<MmaPart::c, typename Tiled::AtomLayoutC_TV>(x, thr_vmnk_);
  }
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto partition_A(X&& x) const {
    return Tiled::template partition<MmaPart::a, typename Tiled::AtomLayoutA_TV>(x, thr_vmnk_);
  }
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto partition_B(X&& x) const {
    return Tiled::template partition<MmaPart::b, typename Tiled::AtomLayoutB_TV>(x, thr_vmnk_);
  }
  template <tensor_like X>
  ZELLIGE_OWNING ZELLIGE_HOST_DEVICE constexpr auto partition_fragment_C(X&& x) const {
    return Tiled::make_fragment_C(partition_C(x));
  }
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto partition_fragment_A(X&& x) const {
    return Tiled::make_fragment_A(partition_A(x));
  }
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto partition_fragment_B(X&& x) const {
    return Tiled::make_fragment_B(partition_B(x));
  }
};

namespace detail {
/// Returns the permutations p as a tile of three modes, for M, N and K. Modes that p does not have become `_`, which
/// means no permutation.
template <class Permutations>
ZELLIGE_HOST_DEVICE constexpr auto three_permutations(Permutations const& p) {
  if constexpr (!tuple_like<Permutations>)
    return make_tile(p, _, _);
  else if constexpr (tuple_size_v<Permutations> == 3)
    return p;
  else
    return tuple_cat(p, tuple_repeat<3 - tuple_size_v<Permutations>>(Underscore{}));
}
}  // namespace detail

/// Returns a TiledMMA that repeats the instruction `atom` along M, N and K: each repetition is issued by a different
/// group of threads. The layout `threads` maps (m, n, k) to the index of a group. A mode of `permutations` is a
/// permutation of M, N or K that is applied before tiling, or the extent of the tile along this mode, or `_` (none).
template <class... Args, class Threads = Layout<Shape<_1, _1, _1>>,
          class Permutations = Tile<Underscore, Underscore, Underscore>>
ZELLIGE_HOST_DEVICE constexpr auto make_tiled_mma(MMA_Atom<Args...> const& atom, Threads const& threads = {},
                                                  Permutations const& permutations = {}) {
  auto const mnk = append<3>(threads, Layout<_1, _0>{});
  using Three = remove_cvref_t<decltype(detail::three_permutations(permutations))>;
  return TiledMMA<MMA_Atom<Args...>, remove_cvref_t<decltype(mnk)>, Three>(atom, mnk);
}
namespace detail {
template <class T>
inline constexpr bool is_mma_atom = false;
template <class... Args>
inline constexpr bool is_mma_atom<MMA_Atom<Args...>> = true;
}  // namespace detail
template <class Op, class Threads = Layout<Shape<_1, _1, _1>>,
          class Permutations = Tile<Underscore, Underscore, Underscore>>
requires(!detail::is_mma_atom<Op>) ZELLIGE_HOST_DEVICE
    constexpr auto make_tiled_mma(Op const&, Threads const& threads = {}, Permutations const& permutations = {}) {
  return make_tiled_mma(MMA_Atom<Op>{}, threads, permutations);
}

/// partition_shape_C, _A and _B return the shape of a thread's part (V, RestM, RestN, ...) of operand C, A or B with the
/// shape of x: a shape, a layout or a tensor.
template <class... Args, class X>
ZELLIGE_HOST_DEVICE constexpr auto partition_shape_C(TiledMMA<Args...> const& mma, X const& x) {
  return mma.template partition_shape<MmaPart::c, typename TiledMMA<Args...>::AtomLayoutC_TV>(shape(x));
}
template <class... Args, class X>
ZELLIGE_HOST_DEVICE constexpr auto partition_shape_A(TiledMMA<Args...> const& mma, X const& x) {
  return mma.template partition_shape<MmaPart::a, typename TiledMMA<Args...>::AtomLayoutA_TV>(shape(x));
}
template <class... Args, class X>
ZELLIGE_HOST_DEVICE constexpr auto partition_shape_B(TiledMMA<Args...> const& mma, X const& x) {
  return mma.template partition_shape<MmaPart::b, typename TiledMMA<Args...>::AtomLayoutB_TV>(shape(x));
}
/// Returns an uninitialised register tensor for a thread's part of an accumulator tensor with the shape of x: a shape, a
/// layout or a tensor.
template <class... Args, class X>
ZELLIGE_HOST_DEVICE constexpr auto partition_fragment_C(TiledMMA<Args...> const& mma, X const& x) {
  return TiledMMA<Args...>::make_accumulator(partition_shape_C(mma, x));
}

/// Returns the extent of the tile along M (I = 0), N (1) or K (2).
template <int I, class... Args>
ZELLIGE_HOST_DEVICE constexpr auto tile_size(TiledMMA<Args...> const& mma) {
  return mma.template tile_size_mnk<I>();
}
template <class... Args>
ZELLIGE_HOST_DEVICE constexpr auto tile_shape(TiledMMA<Args...> const& mma) {
  return make_shape(tile_size<0>(mma), tile_size<1>(mma), tile_size<2>(mma));
}
/// size and thr_size return the number of participating threads. With a template argument I, they return the number of
/// threads along mode I of (V, M, N, K).
template <int... I, class... Args>
ZELLIGE_HOST_DEVICE constexpr auto size(TiledMMA<Args...> const& mma) {
  return size<I...>(mma.get_thr_layout_vmnk());
}
template <int... I, class... Args>
ZELLIGE_HOST_DEVICE constexpr auto thr_size(TiledMMA<Args...> const& mma) {
  return size<I...>(mma.get_thr_layout_vmnk());
}

}  // namespace zellige
