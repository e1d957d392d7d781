// Computes a block's float32 matmul on FMA units (SIMT), without tensor cores. Operands are in shared memory,
// accumulators in a Fragment of OuterProducts.
//
//   // 4 x 2 warps along M and N; a warp's tile is 4 x 8 threads with 4 x 4 accumulators each
//   Fragment<1, 128, 128, 1, 4, 2, 1, OuterProduct<4, 4, 4, 8>> d;
//   multiply_outer<32, true, false>(d, A, B, warp, lane);   // d += A B, K = 32; A is contiguous along K, B along N
//
// A is a tile with coordinates (b, m, k), B a tile with coordinates (b, k, n). AlongK_A (AlongK_B) is true if A (B) is
// contiguous along K: a load then reads 4 elements along K of one row or column. If it is false, a load reads the
// adjacent rows or columns that a thread needs at one k. Each contiguous row must start at a multiple of 16 bytes.
// Any K, M and N are allowed:
//   K      both tiles must hold zeros from K up to the next multiple of 4
//   M, N   loads beyond a tile read elements inside it instead, and the accumulators computed from them are unused
#pragma once
#include <zellige/atom/outer_product.hpp>
#include <zellige/block/fragment.hpp>
#include <zellige/block/tile.hpp>

namespace zellige {

/// `value` is true if load_outer can compute the offsets of `Count` adjacent rows of a swizzled tile from the first
/// row's offset, by xor and the addition of a constant; the first row is a multiple of Count. This holds if the row
/// pitch is a power of two and these rows have the same swizzle. Mode is the index of the layout's row mode.
template <int Mode, int Count, class Layout>
struct StepsFlipBits {
  static constexpr bool value = false;
};
template <int Mode, int Count, int B, int M, int S, class Shape, auto... d>
struct StepsFlipBits<Mode, Count, Swizzled<B, M, S, Layout<Shape, tuple<C<d>...>>>> {
  static constexpr int steps[] = {int(d)...};
  static constexpr int pitch = steps[Mode];
  static constexpr int moved = (1 << (M + B)) - 1;  // bits up to the last that the swizzle changes
  static constexpr bool flips = (pitch & (pitch - 1)) == 0 && S > 0 && Count* pitch <= 1 << (M + S);
  static constexpr bool value = flips && steps[0] % (Count * pitch) == 0;  // batches begin at such a row
};
/// The layout type of an AddressTile; void for other tiles.
template <class Tile>
struct LayoutOf {
  using type = void;
};
template <class Pointer, class Layout>
struct LayoutOf<AddressTile<Pointer, Layout>> {
  using type = remove_cvref_t<Layout>;
};

/// Loads to r[i][d] the element of row x + i of A (Side = 0), or of column x + i of B (Side = 1), at k + d, in batch
/// b. Extent is the operand's number of rows or columns; Whole says that all x + i are less than Extent.
template <int Side, bool AlongK, int Extent, bool Whole, int Count, int Step, class Tile>
ZELLIGE_CALL void load_outer(float (&r)[Count][Step], const Tile& tile, int b, int x, int k) {
  const auto at = [&](int row, int depth) {
    if constexpr (Side == 0)
      return tile(b, row, depth);
    else
      return tile(b, depth, row);
  };
  if constexpr (AlongK) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      Vec<float, Step> v;
      using Flips = StepsFlipBits<1 + Side, Count, typename LayoutOf<Tile>::type>;
      if constexpr (Whole && Flips::value) {
        constexpr int moved = Flips::moved;
        const int down = i * Flips::pitch;
        const AddressTile<int, typename LayoutOf<Tile>::type> places{0};
        const int corner = Side == 0 ? places(b, x, 0) : places(b, 0, x);
        v = read<Step>(tile.data + ((corner ^ (k + (down & moved))) + (down & ~moved)));
      } else {
        v = read<Step>(at(Whole ? x + i : at_most(x + i, Extent - 1), k));
      }
#pragma unroll
      for (int d = 0; d < Step; ++d) r[i][d] = v[d];
    }
  } else {
    if constexpr (!Whole) x = x < Extent ? x : 0;
#pragma unroll
    for (int d = 0; d < Step; ++d) {
      const auto v = read<Count>(at(x, k + d));
#pragma unroll
      for (int i = 0; i < Count; ++i) r[i][d] = v[i];
    }
  }
}

/// Adds the product over the P::k = 4 values of K from k on to d, for batch b, which is the bi-th of this warp's
/// batches. Loads the thread's elements of A once, and its elements of B tile by tile.
template <bool AlongK_A, bool AlongK_B, class F, class A, class B>
ZELLIGE_CALL void outer_step(F& d, const A& a, const B& b_tile, int b, int bi, int k, int warp, int lane) {
  using P = typename F::Product;
  constexpr bool whole_m = F::rows % P::m == 0, whole_n = F::columns % P::n == 0;
  const ElementAt corner = P::at(lane, 0);
  float ra[F::my_m][P::rows][P::k];
#pragma unroll
  for (int mi = 0; mi < F::my_m; ++mi) {
    const int tile = mi * F::warps_m + F::warp_m(warp);
    if (F::m_tiles % F::warps_m != 0 && tile >= F::m_tiles) continue;
    load_outer<0, AlongK_A, F::rows, whole_m>(ra[mi], a, b, tile * P::m + corner.row, k);
  }
#pragma unroll
  for (int ni = 0; ni < F::my_n; ++ni) {
    const int n_tile = ni * F::warps_n + F::warp_n(warp);
    if (F::units % F::warps_n != 0 && n_tile >= F::units) continue;
    float rb[P::columns][P::k];
    load_outer<1, AlongK_B, F::columns, whole_n>(rb, b_tile, b, n_tile * P::n + corner.column, k);
#pragma unroll
    for (int dk = 0; dk < P::k; ++dk)
#pragma unroll
      for (int mi = 0; mi < F::my_m; ++mi) {
        if (F::m_tiles % F::warps_m != 0 && mi * F::warps_m + F::warp_m(warp) >= F::m_tiles) continue;
        auto& out = d.d[(bi * F::my_m + mi) * F::my_n + ni];
#pragma unroll
        for (int i = 0; i < P::rows; ++i)
#pragma unroll
          for (int j = 0; j < P::columns; ++j) out[i * P::columns + j] += ra[mi][i][dk] * rb[j][dk];
      }
  }
}

/// Computes d += a b, where K is the contracted extent. Called by all warps of the Fragment d.
template <int K, bool AlongK_A, bool AlongK_B, class F, class A, class B>
ZELLIGE_CALL void multiply_outer(F& d, const A& a, const B& b_tile, int warp, int lane) {
  using P = typename F::Product;
  constexpr int steps = (K + P::k - 1) / P::k, mine = (steps + F::warps_k - 1) / F::warps_k;
  constexpr int fmas =
      F::my_m * F::my_n * F::values_per_tile * P::k;  // per step: keeps the loop's code within some 16 KB
  constexpr int unrolled = fmas >= 256 ? 2 : 512 / fmas < mine ? 512 / fmas : mine;
#pragma unroll
  for (int bi = 0; bi < F::my_b; ++bi) {
    const int b = bi * F::warps_b + F::warp_b(warp);
    if (F::batch % F::warps_b != 0 && b >= F::batch) continue;
#pragma unroll(unrolled)
    for (int ki = 0; ki < mine; ++ki) {
      const int step = ki * F::warps_k + F::warp_k(warp);
      if (steps % F::warps_k != 0 && step >= steps) continue;
      outer_step<AlongK_A, AlongK_B>(d, a, b_tile, b, bi, step * P::k, warp, lane);
    }
  }
}

}  // namespace zellige
