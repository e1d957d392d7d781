// TMA copies of the operands of SM100's matrix instructions, under CuTe's names: make_tma_atom_A_sm100, make_tma_copy_A_sm100
// and those of B and C make them as a TiledMMA divides a tile among CTAs.
//
//   auto tma = make_tma_atom_A_sm100(SM100_TMA_2SM_LOAD_MULTICAST{}, a, shared_layout, tile_mnk, mma, cluster_vmnk);
//   auto part = tma_partition(tma, get<2>(cta), make_layout(size<2>(cluster_vmnk)), shared, global);
#pragma once

#include <zellige/atom/tiled_mma.hpp>
#include <zellige/atom/tma_tiled.hpp>

namespace zellige {

namespace detail {

/// Who issues a TMA instruction, and whether it writes to several CTAs. Specialised by each instruction.
template <class Op>
struct tma_form {
  static constexpr bool known = false, multicast = false;
};
template <>
struct tma_form<SM90_TMA_LOAD> {
  static constexpr bool known = true, multicast = false;
};
template <>
struct tma_form<SM90_TMA_STORE> : tma_form<SM90_TMA_LOAD> {};
template <>
struct tma_form<SM90_TMA_LOAD_MULTICAST> {
  static constexpr bool known = true, multicast = true;
};

#if !defined(__CUDACC_RTC__)

/// Returns the map from the values of a CTA to coordinates of `global`, for operand A, B or C of `mma`. tile_mnk is the
/// tile of the instructions' CTAs together.
template <MmaPart part, tensor_like X, class Tiler, class Mma>
constexpr auto values_of_cta(X const& global, Tiler const& tile_mnk, Mma const& mma) {
  constexpr int omitted = part == MmaPart::a ? 1 : part == MmaPart::b ? 0 : 2;
  auto const tile = make_identity_layout(shape(global)).compose(remove<omitted>(tile_mnk));
  auto const of_threads = [&] {
    if constexpr (part == MmaPart::a)
      return mma.thrfrg_A(tile);
    else if constexpr (part == MmaPart::b)
      return mma.thrfrg_B(tile);
    else
      return mma.thrfrg_C(tile);
  }();
  return layout<1>(of_threads)(_, tuple_repeat<decltype(rank(tile))::value>(_));
}
/// Returns the map from the CTAs (V, M, N, K) of `mma` to their shares: those along mode I share, or none.
template <bool multicast, int I, class Mma>
constexpr auto shares_of_ctas(Mma const& mma) {
  auto const ctas = shape(mma.get_thr_layout_vmnk());
  auto const steps = replace<I>(Stride<_0, _0, _0, _0>{}, Int<(multicast ? 1 : 0)>{});
  return make_layout(ctas, compact_col_major(ctas, steps));
}
template <class Op, class Internal, class T, MmaPart part>
struct tma_operand {
  static_assert(
      tma_form<Op>::known,
      "make_tma_copy_A_sm100 and its like take SM90_TMA_LOAD, _MULTICAST, SM90_TMA_STORE, SM100_TMA_2SM_LOAD or "
      "_MULTICAST");
  static_assert(part != MmaPart::c || !tma_form<Op>::multicast, "make_tma_copy_C_sm100: C is loaded by no multicast");
  using Box = typename box_type<T, Internal>::type;
  static constexpr bool multicast = tma_form<Op>::multicast;
};

#endif
}  // namespace detail

#if !defined(__CUDACC_RTC__)

/// Returns the TMA copy of operand A of the matrix instructions `mma`. `shared` is the layout (MMA, MMA_M, MMA_K, ...) of a
/// CTA's tile, tile_mnk the tile of a cluster. A multicast shares A among the CTAs along N, and B among those along M.
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class... Args>
auto make_tma_copy_A_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                           TiledMMA<Args...> const& mma) {
  using R = detail::tma_operand<Op, Internal, typename X::value_type, MmaPart::a>;
  return detail::make_tma_copy_tiled<typename R::Box>(op, global, shared,
                                                      coalesce(detail::shares_of_ctas<R::multicast, 2>(mma)),
                                                      detail::values_of_cta<MmaPart::a>(global, tile_mnk, mma));
}
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class... Args>
auto make_tma_copy_B_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                           TiledMMA<Args...> const& mma) {
  using R = detail::tma_operand<Op, Internal, typename X::value_type, MmaPart::b>;
  return detail::make_tma_copy_tiled<typename R::Box>(op, global, shared,
                                                      coalesce(detail::shares_of_ctas<R::multicast, 1>(mma)),
                                                      detail::values_of_cta<MmaPart::b>(global, tile_mnk, mma));
}
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class... Args>
auto make_tma_copy_C_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                           TiledMMA<Args...> const& mma) {
  using R = detail::tma_operand<Op, Internal, typename X::value_type, MmaPart::c>;
  return detail::make_tma_copy_tiled<typename R::Box>(op, global, shared, Layout<_1, _0>{},
                                                      detail::values_of_cta<MmaPart::c>(global, tile_mnk, mma));
}
/// The same as atoms of one instruction, which tma_partition divides. cluster_vmnk is the shape or layout (V, M, N, K) of the
/// cluster's CTAs.
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class... Args, class Cluster>
auto make_tma_atom_A_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                           TiledMMA<Args...> const& mma, Cluster const& cluster_vmnk) {
  using R = detail::tma_operand<Op, Internal, typename X::value_type, MmaPart::a>;
  auto const modes = detail::values_of_cta<MmaPart::a>(global, tile_mnk, mma);
  if constexpr (R::multicast)
    return detail::make_tma_copy_atom<typename R::Box>(op, global, shared, size<2>(cluster_vmnk), modes);
  else
    return detail::make_tma_copy_atom<typename R::Box>(op, global, shared, Int<1>{}, modes);
}
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class... Args, class Cluster>
auto make_tma_atom_B_sm100(Op const& op, X const& global, SLayout const& shared, Tiler const& tile_mnk,
                           TiledMMA<Args...> const& mma, Cluster const& cluster_vmnk) {
  using R = detail::tma_operand<Op, Internal, typename X::value_type, MmaPart::b>;
  auto const modes = detail::values_of_cta<MmaPart::b>(global, tile_mnk, mma);
  if constexpr (R::multicast)
    return detail::make_tma_copy_atom<typename R::Box>(op, global, shared, size<1>(cluster_vmnk), modes);
  else
    return detail::make_tma_copy_atom<typename R::Box>(op, global, shared, Int<1>{}, modes);
}

#endif

}  // namespace zellige
