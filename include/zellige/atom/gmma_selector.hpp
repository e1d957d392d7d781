// Selects the warpgroup instruction (wgmma) for a tile: by element types and major orders, with the greatest N
// that divides the tile's N.
//
//   auto op = ss_op_selector<half_t, half_t, float, Shape<_128, _192, _64>>();    64 x 192 x 16, from smem
//   make_tiled_mma(op, Layout<Shape<_2, _1, _1>>{})
//
// Operands of type float select tf32 instructions. Every multiple of 8 is a candidate for N, whereas CuTe by
// default considers only powers of two, 96 and 192.
#pragma once

#include <zellige/atom/gmma.hpp>

namespace zellige {
namespace detail {

/// The number type by which wgmma reads operands of type T: tf32 for float.
template <class T>
inline constexpr Number gmma_number = number_of<T> == Number::f32 ? Number::tf32 : number_of<T>;

/// Returns the greatest N that divides tile_n and for which wgmma exists with accumulators of type `sums`. tile_n
/// must be a multiple of 8, so that 8 is always valid.
ZELLIGE_ALGEBRA constexpr int greatest_n(Number sums, int tile_n) {
  for (int n = 256; n > 8; n -= 8) {
    if (tile_n % n == 0 && warpgroup_n(sums, n)) return n;
  }
  return 8;
}

/// Returns true if a matrix instruction with the shape and types of `row` exists (mma_traits/table.hpp).
ZELLIGE_ALGEBRA constexpr bool any_family_admits(MmaRow const& row) {
  for (MmaFamily const& f : mma_families) {
    if (admits(f, row)) return true;
  }
  return false;
}

/// Returns the wgmma for a tile of shape (M, N, K); implements ss_op_selector and rs_op_selector. Fails to
/// compile if no instruction has these types, or if M is no multiple of 64, N of 8, or K of 32 bytes.
template <class A, class B, class C, class TileShape, bool a_in_registers, SM90::GMMA::Major major_a,
          SM90::GMMA::Major major_b, SM90::GMMA::ScaleIn scale_a, SM90::GMMA::ScaleIn scale_b>
ZELLIGE_HOST_DEVICE constexpr auto select_gmma() {
  static_assert(is_static_v<TileShape> && rank_v<TileShape> == 3,
                "GMMA selector: the tile is a static shape (M, N, K)");
  constexpr int m = decltype(size<0>(TileShape{}))::value, n = decltype(size<1>(TileShape{}))::value,
                k = decltype(size<2>(TileShape{}))::value;
  static_assert(m % 64 == 0, "GMMA selector: M of the tile is a multiple of 64");
  static_assert(n % 8 == 0, "GMMA selector: N of the tile is a multiple of 8");
  constexpr Number a = gmma_number<A>, b = gmma_number<B>, c = number_of<C>;
  constexpr int bits = bits_of(a) == 0 ? 16 : bits_of(a);
  constexpr MmaRow row{90, 64, 8, short(256 / bits), c, a, b, c, Issuer::warpgroup};
  static_assert(any_family_admits(row),
                "GMMA selector: no warpgroup instruction multiplies these types into this accumulator");
  static_assert(k % row.k == 0, "GMMA selector: K of the tile is a multiple of 32 bytes of A");
  return SM90::GMMA::named_t<
      SM90::GMMA::Mma<greatest_n(c, n), c, a, b, a_in_registers, major_a, major_b, scale_a, scale_b>>{};
}

}  // namespace detail

namespace SM90::GMMA {

/// Returns the wgmma with A and B from shared memory, for element types A and B, accumulators C, and a static
/// tile (M, N, K). Fails to compile if there is no such instruction.
template <class A, class B, class C, class TileShape_MNK, Major major_a = Major::K, Major major_b = Major::K,
          ScaleIn scale_a = ScaleIn::One, ScaleIn scale_b = ScaleIn::One>
ZELLIGE_HOST_DEVICE constexpr auto ss_op_selector() {
  return zellige::detail::select_gmma<A, B, C, TileShape_MNK, false, major_a, major_b, scale_a, scale_b>();
}
/// Returns the wgmma with A from registers and B from shared memory, for element types A and B, accumulators
/// C, and a static tile (M, N, K). Fails to compile if there is no such instruction.
template <class A, class B, class C, class TileShape_MNK, Major major_a = Major::K, Major major_b = Major::K,
          ScaleIn scale_a = ScaleIn::One, ScaleIn scale_b = ScaleIn::One>
ZELLIGE_HOST_DEVICE constexpr auto rs_op_selector() {
  return zellige::detail::select_gmma<A, B, C, TileShape_MNK, true, major_a, major_b, scale_a, scale_b>();
}

}  // namespace SM90::GMMA
}  // namespace zellige
