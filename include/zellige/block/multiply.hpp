// Computes a block's matmul with mma.sync. Operands are in shared memory, loaded by ldmatrix; A may also be in
// registers. Accumulators are in a Fragment, whose instruction determines the step over K.
//
//   multiply<half_t, K, AlongK_A, AlongK_B>(d, A, B, warp, lane);    // d += A B
//
// The type is half_t, bfloat16_t, float_e4m3_t, float_e5m2_t, or tfloat32_t for tiles of float, whose elements are rounded as
// they are loaded.
// A is a tile with coordinates (b, m, k), B a tile with coordinates (b, k, n). AlongK_A (AlongK_B) is true if A (B) is
// contiguous along K; if not, ldmatrix transposes it, or ordinary loads read it if its elements have 32 bits. Tiles of 8-bit
// elements must be contiguous along K. Each 16 contiguous bytes must start at a multiple of 16 bytes. Any K, M and N are
// allowed:
//   K      both tiles must hold zeros from K up to the next multiple of 16 bytes; a last step of at most half an
//          instruction's K uses the instruction with half the K. For 8-bit elements there is none, and zeros must follow
//          up to the next multiple of the instruction's K
//   M, N   loads beyond a tile read its edge instead, and the accumulators computed from them are unused
#pragma once
#include <zellige/atom/mma_unpacked.hpp>
#include <zellige/block/fragment.hpp>
#include <zellige/block/tile.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/block/multiply_emulated.hpp>
#endif

namespace zellige {

/// The instruction that multiplies elements of T and accumulates in fragment F, as `type`. For 8-bit floats it is the
/// instruction of F, which may unpack them (atom/mma_unpacked.hpp).
template <class T, class F>
struct step_row : mma_row<T, F::Row::k, float> {};
template <class T, class F>
requires(sizeof(T) == 1) struct step_row<T, F> {
  using type = typename F::Product;
};
/// The instruction for a last step of at most half of F::Row::k, as `type`: that with half the K or, if there is none,
/// step_row's.
template <class T, class F>
struct last_step_row : step_row<T, F> {};
template <class T, class F>
requires requires { typename mma_row<T, F::Row::k / 2, float>::type; }
struct last_step_row<T, F> : mma_row<T, F::Row::k / 2, float> {};

/// The rows of one ldmatrix matrix, each of 16 bytes and addressed by one lane.
inline constexpr int matrix_rows = 8;
/// The elements of an operand of instruction Op in one register.
template <class Op>
inline constexpr int register_values = 32 / bits_of(MmaRowOf<Op>::row.a);
/// Whether ldmatrix loads operands of Op. It transposes elements of 16 bits alone.
template <class Op, bool AlongK>
inline constexpr bool by_ldmatrix = AlongK || register_values<Op> == 2;

/// Executes ldmatrix for load_a and load_b. On the emulator others take its place (multiply_emulated.hpp): those that only
/// name the rows read nothing.
struct MatrixLoad {
  static constexpr bool only_names = false;
  template <bool transposed, int Matrices, class Row>
  ZELLIGE_CALL void load(uint32_t (&r)[Matrices], Row row) const {
    if constexpr (Matrices == 4)
      transposed ? ldmatrix_x4_trans(r, row) : ldmatrix_x4(r, row);
    else if constexpr (Matrices == 2)
      transposed ? ldmatrix_x2_trans(r, row) : ldmatrix_x2(r, row);
    else
      transposed ? ldmatrix_x1_trans(r, row) : ldmatrix_x1(r, row);
  }
};

/// Sets `to`, a fragment of instruction Op, to the elements of the tile in the registers at `from`. They are converted if the
/// tile has another type than Op multiplies: floats are rounded to tf32, 8-bit floats unpacked.
template <class Op, class Registers>
ZELLIGE_CALL void to_fragment(Registers& to, const uint32_t* from) {
  if constexpr (requires { Op::unpack(to, from); }) {
    Op::unpack(to, from);
  } else {
    constexpr bool rounds = MmaRowOf<Op>::row.a == Number::tf32;
#pragma unroll
    for (unsigned j = 0; j < sizeof(to) / sizeof(to[0]); ++j)
      to[j] = rounds ? tfloat32_t(__builtin_bit_cast(float, from[j])).bits : from[j];
  }
}

/// Loads to r, by ordinary loads, a fragment of instruction Op's operand `part`, of which a register holds one element.
/// place(row, column) is the address of the element in this row of A or column of B, at this index along K.
template <class Op, MmaPart part, class Place>
ZELLIGE_CALL void load_elements(uint32_t (&r)[4], int lane, Place place) {
  using Coordinates = MmaCoordinates<Op, part>;
  static_assert(register_values<Op> == 1, "multiply: ldmatrix does not transpose the operand");
#pragma unroll
  for (int j = 0; j < Coordinates::values; ++j) {
    const ElementAt at = Coordinates::at(lane, j);
    r[j] = __builtin_bit_cast(uint32_t, read<1>(place(at.row, at.column))[0]);
  }
}

/// Loads the fragment of A that instruction Op needs, which begins at element (m, k) of batch b. A has M rows;
/// loads beyond them read a row inside the tile instead.
template <class Op, bool AlongK, int M, class A, class Load = MatrixLoad>
ZELLIGE_CALL void load_a(typename Op::ARegisters& fragment, const A& a, int b, int m, int k, int lane, Load by = {}) {
  using Coordinates = MmaCoordinates<Op, MmaPart::a>;
  constexpr int matrices = Coordinates::values / register_values<Op>;
  const int in_matrix = lane % matrix_rows;
  const ElementAt corner = Coordinates::at(0, lane / matrix_rows % matrices * register_values<Op>);
  int row = m + corner.row;
  const int column = k + corner.column;
  uint32_t r[4];
  auto& loaded = reinterpret_cast<uint32_t(&)[matrices]>(r);
  if constexpr (!by_ldmatrix<Op, AlongK>) {
    if constexpr (Load::only_names) return;
    load_elements<Op, MmaPart::a>(r, lane, [&](int down, int along) {
      return a(b, M % MmaRowOf<Op>::m == 0 ? m + down : at_most(m + down, M - 1), k + along);
    });
  } else if constexpr (AlongK) {
    row += in_matrix;
    if constexpr (M % MmaRowOf<Op>::m != 0) row = row < M ? row : M - 1;
    by.template load<false>(loaded, a(b, row, column));
  } else {
    if constexpr (M % MmaRowOf<Op>::m != 0) row = row < M ? row : m;
    by.template load<true>(loaded, a(b, row, column + in_matrix));
  }
  if constexpr (!Load::only_names) to_fragment<Op>(fragment, r);
}

/// Loads the fragments of B that instruction Op needs for `Width` adjacent tiles, which begin at element (k, n) of batch b.
/// B has N columns; loads beyond them read a column inside the tile instead.
template <class Op, bool AlongK, int N, int Width, class B, class Load = MatrixLoad>
ZELLIGE_CALL void load_b(typename Op::BRegisters (&fragments)[Width], const B& b_tile, int b, int k, int n, int lane,
                         Load by = {}) {
  using Coordinates = MmaCoordinates<Op, MmaPart::b>;
  constexpr int each = Coordinates::values / register_values<Op>, matrices = each * Width;  // per tile; in all
  // Matrices in the order of r: a tile's along K, then the next tile's.
  const int matrix = lane / matrix_rows % matrices, in_matrix = lane % matrix_rows;
  const ElementAt corner = Coordinates::at(0, matrix % each * register_values<Op>);
  const int row = k + corner.column;
  int column = n + corner.row + matrix / each * MmaRowOf<Op>::n;
  uint32_t r[4];
  auto& loaded = reinterpret_cast<uint32_t(&)[matrices]>(r);
  if constexpr (!by_ldmatrix<Op, AlongK>) {
    static_assert(Width == 1, "load_b: a warp's units are single tiles where ldmatrix does not load B");
    if constexpr (Load::only_names) return;
    load_elements<Op, MmaPart::b>(r, lane, [&](int across, int along) {
      return b_tile(b, k + along, N % MmaRowOf<Op>::n == 0 ? n + across : at_most(n + across, N - 1));
    });
  } else if constexpr (AlongK) {
    column += in_matrix;
    if constexpr (N % (2 * MmaRowOf<Op>::n) != 0) column = column < N ? column : N - 1;
    by.template load<false>(loaded, b_tile(b, row, column));
  } else {
    if constexpr (N % (2 * MmaRowOf<Op>::n) != 0) column = column < N ? column : n;
    by.template load<true>(loaded, b_tile(b, row + in_matrix, column));
  }
  if constexpr (!Load::only_names) {
#pragma unroll
    for (int t = 0; t < Width; ++t) to_fragment<Op>(fragments[t], r + t * each);
  }
}

#if defined(ZELLIGE_EMULATE)
/// Loads this warp's fragments of B of one K step of instruction Op, which begins at element k of batch b.
template <class Op, bool AlongK, class F, class B, class Load>
ZELLIGE_CALL void load_step_b(typename Op::BRegisters (&rb)[F::my_n][F::width], const B& b_tile, int b, int k, int warp,
                              int lane, Load by) {
#pragma unroll
  for (int ni = 0; ni < F::my_n; ++ni) {
    const int unit = ni * F::warps_n + F::warp_n(warp);
    if (F::units % F::warps_n == 0 || unit < F::units)
      load_b<Op, AlongK, F::columns, F::width>(rb[ni], b_tile, b, k, unit * F::width * F::Row::n, lane, by);
  }
}

/// Calls each(mi, first row) for the tiles along M of this warp.
template <class F, class Each>
ZELLIGE_CALL void each_row_tile(int warp, Each each) {
#pragma unroll
  for (int mi = 0; mi < F::my_m; ++mi) {
    const int m_tile = mi * F::warps_m + F::warp_m(warp);
    if (F::m_tiles % F::warps_m != 0 && m_tile >= F::m_tiles) continue;
    each(mi, m_tile * F::Row::m);
  }
}
/// Calls each(ni, t) for the tiles along N of this warp: tile t of its unit ni.
template <class F, class Each>
ZELLIGE_CALL void each_column_tile(int warp, Each each) {
#pragma unroll
  for (int ni = 0; ni < F::my_n; ++ni) {
    const int unit = ni * F::warps_n + F::warp_n(warp);
    if (F::units % F::warps_n != 0 && unit >= F::units) continue;
#pragma unroll
    for (int t = 0; t < F::width; ++t) {
      if (F::n_tiles % F::width != 0 && unit * F::width + t >= F::n_tiles) continue;
      each(ni, t);
    }
  }
}
#endif

/// Adds the product over one K step of instruction Op to d, for batch b, the bi-th of this warp's batches. The step
/// begins at element k. fetch(mi, m, fragment, by) loads the A fragment of the warp's mi-th tile, which begins at row m, by
/// the ldmatrix `by`.
template <class Op, bool AlongK, class F, class B, class Fetch>
ZELLIGE_CALL void multiply_step(F& d, const B& b_tile, int b, int bi, int k, int warp, int lane, Fetch fetch) {
  const auto accumulators = [&](int mi, int ni, int t) -> auto& {
    return d.d[((bi * F::my_m + mi) * F::my_n + ni) * F::width + t];
  };
#if defined(ZELLIGE_EMULATE)
  __attribute__((uninitialized)) typename Op::BRegisters rb[F::my_n][F::width];
  __attribute__((uninitialized)) typename Op::ARegisters ra[F::my_m];
  __attribute__((uninitialized)) MatrixLoads<F::my_n + F::my_m> loads;
  load_step_b<Op, AlongK, F>(rb, b_tile, b, k, warp, lane, loads.later());
  each_row_tile<F>(warp, [&](int mi, int m) { fetch(mi, m, ra[mi], loads.later()); });
  loads.execute();
  load_step_b<Op, AlongK, F>(rb, b_tile, b, k, warp, lane, loads.loaded());
  each_row_tile<F>(warp, [&](int mi, int m) { fetch(mi, m, ra[mi], loads.loaded()); });
  StepProducts<Op, F::my_m, F::my_n * F::width> products;
  each_row_tile<F>(warp, [&](int mi, int) {
    each_column_tile<F>(
        warp, [&](int ni, int t) { products.add(mi, ni * F::width + t, accumulators(mi, ni, t), ra[mi], rb[ni][t]); });
  });
  products.execute();
#else
  typename Op::BRegisters rb[F::my_n][F::width];  // converted once for all tiles along M
#pragma unroll
  for (int ni = 0; ni < F::my_n; ++ni) {
    const int unit = ni * F::warps_n + F::warp_n(warp);
    if (F::units % F::warps_n == 0 || unit < F::units)
      load_b<Op, AlongK, F::columns, F::width>(rb[ni], b_tile, b, k, unit * F::width * F::Row::n, lane);
  }
#pragma unroll
  for (int mi = 0; mi < F::my_m; ++mi) {
    const int m_tile = mi * F::warps_m + F::warp_m(warp);
    if (F::m_tiles % F::warps_m != 0 && m_tile >= F::m_tiles) continue;
    typename Op::ARegisters ra;
    fetch(mi, m_tile * F::Row::m, ra, MatrixLoad{});
#pragma unroll
    for (int ni = 0; ni < F::my_n; ++ni) {
      const int unit = ni * F::warps_n + F::warp_n(warp);
      if (F::units % F::warps_n != 0 && unit >= F::units) continue;
#pragma unroll
      for (int t = 0; t < F::width; ++t) {
        if (F::n_tiles % F::width != 0 && unit * F::width + t >= F::n_tiles) continue;
        mma<Op>(d.d[((bi * F::my_m + mi) * F::my_n + ni) * F::width + t], ra, rb[ni][t]);
      }
    }
  }
#endif
}

/// Computes d += a b, where K is the contracted extent and both operands are in shared memory. Called by all warps of
/// the Fragment d.
template <class T, int K, bool AlongK_A, bool AlongK_B, class F, class A, class B>
ZELLIGE_CALL void multiply(F& d, const A& a, const B& b_tile, int warp, int lane) {
  using Whole = typename step_row<T, F>::type;
  using Last = typename last_step_row<T, F>::type;
  constexpr int slice = F::Row::k, k_tiles = (K + slice - 1) / slice, mine = (k_tiles + F::warps_k - 1) / F::warps_k;
  constexpr bool short_tail = K % slice != 0 && K % slice <= MmaRowOf<Last>::k && MmaRowOf<Last>::k < slice;
#pragma unroll
  for (int bi = 0; bi < F::my_b; ++bi) {
    const int b = bi * F::warps_b + F::warp_b(warp);
    if (F::batch % F::warps_b != 0 && b >= F::batch) continue;
#pragma unroll(mine <= 16 ? mine : 4)
    for (int ki = 0; ki < mine; ++ki) {
      const int kt = ki * F::warps_k + F::warp_k(warp);
      if (k_tiles % F::warps_k != 0 && kt >= k_tiles) continue;
      if (short_tail && kt == k_tiles - 1)
        multiply_step<Last, AlongK_B>(d, b_tile, b, bi, kt * slice, warp, lane, [&](int, int m, auto& r, auto by) {
          load_a<Last, AlongK_A, F::rows>(r, a, b, m, kt * slice, lane, by);
        });
      else
        multiply_step<Whole, AlongK_B>(d, b_tile, b, bi, kt * slice, warp, lane, [&](int, int m, auto& r, auto by) {
          load_a<Whole, AlongK_A, F::rows>(r, a, b, m, kt * slice, lane, by);
        });
    }
  }
}

/// Computes d += a b, where K is the contracted extent and a is in registers: the rounded accumulators of an earlier
/// matmul, whose N dimension is K. Called by all warps of the Fragment d.
template <class T, int K, bool AlongK_B, class F, class P, class B>
ZELLIGE_CALL void multiply(F& d, const Operand<T, P>& a, const B& b_tile, int warp, int lane) {
  using Whole = typename step_row<T, F>::type;
  constexpr int slice = F::Row::k, k_tiles = K / slice;
  static_assert(K % slice == 0, "multiply: an operand in registers has whole slices of the instruction's K");
#pragma unroll
  for (int bi = 0; bi < F::my_b; ++bi) {
    const int b = bi * F::warps_b + F::warp_b(warp);
    if (F::batch % F::warps_b != 0 && b >= F::batch) continue;
#pragma unroll
    for (int ki = 0; ki < P::my_n; ++ki) {
      const int kt = ki * F::warps_k + F::warp_k(warp);
      if (k_tiles % F::warps_k != 0 && kt >= k_tiles) continue;
      multiply_step<Whole, AlongK_B>(d, b_tile, b, bi, kt * slice, warp, lane, [&](int mi, int, auto& r, auto by) {
        if constexpr (decltype(by)::only_names) return;
#pragma unroll
        for (int j = 0; j < 4; ++j) r[j] = a.get(bi, mi, ki, j);
      });
    }
  }
}

}  // namespace zellige
