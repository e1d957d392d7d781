// Lets classes whose layouts are C++ types (TiledCopy, TiledMMA, TMA copies) call the functions of atom/algebra. These
// functions compute on layouts that are constexpr objects of class `Value`. For example, TiledMMA calls
// invoke<TiledOp::thrfrg>(layout, ...). This call converts the type of each argument to a Value, calls thrfrg at
// compile time, and converts the result to a layout type.
#pragma once

#include <zellige/atom/algebra/tma.hpp>
#include <zellige/atom/copy_traits/row.hpp>
#include <zellige/layout/modes.hpp>

namespace zellige {

/// The operations of atom/algebra that invoke<op>(...) can call; enumerators have the functions' names.
enum class TiledOp : short {
  thrfrg,
  mma_layout_tv,
  mma_partition,
  mma_partition_shape,
  tidfrg,
  copy_partition,
  copy_layout_tv,
  tile_to_threads,
  retile,
  raked_tiling,
  accumulator_tiling,
  cotiled_tiling,
  check_tiling,
  copy_values,
  tma_basis,
  tma_im2col,
  tma_stride,
  tma_tiling,
  tma_partition,
  gmma_descriptor,
};

/// Returns true if `op` of a composed layout A o B is A composed with `op` of B, for any function A, even one that is
/// not linear, such as a table lookup. Called for layouts whose A has strides of a type that the user defines.
ZELLIGE_ALGEBRA constexpr bool is_of_the_right_part(TiledOp op) {
  return op == TiledOp::thrfrg || op == TiledOp::mma_partition || op == TiledOp::tidfrg ||
         op == TiledOp::copy_partition || op == TiledOp::tile_to_threads || op == TiledOp::retile;
}

namespace algebra {

/// Returns the parameters of a TiledMMA, which are a[i] to a[i + 4]: the operand (A, B or C), its thread-value
/// layout, the instruction's shape, the thread layout (V, M, N, K) and the permutations.
ZELLIGE_ALGEBRA constexpr MmaTiling mma_tiling(Values const& a, int i) {
  return {MmaPart(a[i].root().s.v), a[i + 1], a[i + 2], a[i + 3], a[i + 4]};
}
/// Returns the parameters of a TiledCopy, which are a[i] to a[i + 3]: its thread-value layout, its tile, and the
/// instruction's reference layout and source or destination layout.
ZELLIGE_ALGEBRA constexpr CopyTiling copy_tiling(Values const& a, int i) {
  return {a[i], a[i + 1], a[i + 2], a[i + 3]};
}
/// Returns the parameters of a TMA copy, which are a[0] to a[4]: the layouts of global and of shared memory, the
/// tile, the bits of a tensor element and those of a box element.
ZELLIGE_ALGEBRA constexpr TmaRequest tma_request(Tape& t, Values const& a) {
  return {a[0], without_swizzle(a[1]), tile_modes(t, a[0], a[2]), a[3].root().s.v, a[4].root().s.v};
}

}  // namespace algebra

/// Returns the result of operation `op` on the arguments a. If the operation fails, returns an empty value, nothing(),
/// and records the reason in t.
ZELLIGE_ALGEBRA constexpr Value apply(TiledOp op, Tape& t, Values const& a) {
  using namespace algebra;
  if (t.failed()) return nothing();
  switch (op) {
    case TiledOp::thrfrg:
      return thrfrg(t, a[0], mma_tiling(a, 1));
    case TiledOp::mma_layout_tv:
      return mma_layout_tv(t, mma_tiling(a, 0));
    case TiledOp::mma_partition:
      return mma_partition(t, a[0], mma_tiling(a, 1), a[6]);
    case TiledOp::mma_partition_shape:
      return mma_partition_shape(t, a[0], mma_tiling(a, 1));
    case TiledOp::tidfrg:
      return tidfrg(t, a[0], copy_tiling(a, 1));
    case TiledOp::copy_partition:
      return copy_partition(t, a[0], copy_tiling(a, 1), a[5]);
    case TiledOp::copy_layout_tv:
      return copy_layout_tv(t, copy_tiling(a, 0));
    case TiledOp::tile_to_threads:
      return tile_to_threads(t, a[0], copy_tiling(a, 1));
    case TiledOp::retile:
      return retile(t, a[0], copy_tiling(a, 1));
    case TiledOp::raked_tiling:
      return raked_tiling(t, a[0], a[1]);
    case TiledOp::accumulator_tiling:
      return accumulator_tiling(t, mma_tiling(a, 0), a[5]);
    case TiledOp::cotiled_tiling:
      return cotiled_tiling(t, a[0], a[1]);
    case TiledOp::check_tiling:
      check_tiling(t, copy_tiling(a, 0));
      return number(0);
    case TiledOp::tma_basis: {
      TmaRequest const r = tma_request(t, a);
      if (t.failed()) return nothing();
      return tma_basis(t, r);
    }
    case TiledOp::tma_im2col: {
      TmaRequest const r = tma_request(t, a);
      if (t.failed()) return nothing();
      return tma_im2col(t, r);
    }
    case TiledOp::tma_stride: {
      TmaRequest const r = tma_request(t, a);
      if (t.failed()) return nothing();
      return tma_stride(t, r, a[5]);
    }
    case TiledOp::tma_tiling: {
      TmaRequest const r = tma_request(t, a);
      if (t.failed()) return nothing();
      return tma_tiling(t, r, a[5], a[6]);
    }
    case TiledOp::tma_partition:
      return tma_partition(t, a[0], a[1], a[2].root().s, a[3], a[4]);
    default:
      return t.refused(Rule::not_a_layout, int(op), 0);
  }
}

namespace detail {

/// The result of the TiledOp `op` on arguments of types T..., encoded as a constant with at most 40 nodes (modes of a
/// layout or tuple). The primary template, for operations of other enums, has only 12 nodes, which is rarely enough for
/// the results of these operations.
template <auto op, class... T>
requires is_same_v<remove_cvref_t<decltype(op)>, TiledOp>
struct plan<op, T...> {
  static constexpr auto value = make_plan<40, 32, op, T...>();
};

/// Returns layout v as a constant with at most nodes_max nodes (modes of a layout or tuple). planned_layout converts
/// the constant to a Layout type. v must not contain run-time numbers.
template <int nodes_max>
ZELLIGE_ALGEBRA constexpr Planned<nodes_max, 1> planned(Value const& v) {
  Planned<nodes_max, 1> p;
  p.node_count = v.nodes.size();
  for (int i = 0; i < p.node_count && i < nodes_max; ++i) p.nodes[i] = v.nodes[i];
  return p;
}
// The Layout type is formed by a class template without default arguments: nvcc writes types out for the host compiler,
// which would treat a default argument inside a template as dependent.
template <class S, class D>
struct planned_layout_type {
  using type = Layout<S, D>;
};
template <class P>
using planned_layout =
    typename planned_layout_type<typename static_part<P, 0, false, (at<P>::kids(0) >= 0)>::type,
                                 typename static_part<P, 0, true, (at<P>::kids(0) >= 0)>::type>::type;

}  // namespace detail
}  // namespace zellige
