// A matrix instruction as data, and who holds what of its operands.
//
//   MmaRow row = find_mma("SM80_16x8x16_F32F16F16F32_TN");         // table.hpp
//   mma_shape(row)                       (_16,_8,_16)
//   mma_layout(row, MmaPart::c)          ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))
//
// A layout maps (thread, value) to the colexicographic index in (M,K), (N,K) or (M,N). From Turing on they
// are one rule, PTX ISA's fragment figures: a register holds as many neighbours along K as fit 32 bits; four
// threads lie along K and eight along the rows; what is left is values, first 8 rows down, then along K.
#pragma once

#include <zellige/atom/number.hpp>
#include <zellige/layout/algebra/tensors.hpp>

namespace zellige {

enum class Issuer : signed char { thread, quad_pair, warp, warpgroup };

struct MmaRow {
  enum class Ending : signed char { none, saturate, xor_popc, and_popc };

  short arch = 0;  // the compute capability that brought it, 10 * major + minor; 0: any thread's arithmetic
  short m = 0, n = 0, k = 0;
  Number d = Number::none, a = Number::none, b = Number::none, c = Number::none;
  Issuer issuer = Issuer::thread;
  Ending ending = Ending::none;
  bool a_from_smem = false;  // of a warpgroup's: through a descriptor, as B always is
  bool a_rows = true;        // of a quad pair's: each thread holds a piece of a row of A, of a column of B
  bool b_columns = true;
  ZELLIGE_ALGEBRA constexpr explicit operator bool() const { return m > 0; }
};

enum class MmaPart : signed char { a, b, c, threads };

namespace algebra {

/// (_m,_n,_k).
ZELLIGE_ALGEBRA constexpr Value mma_shape(MmaRow const& row) {
  return bundle(ValueKind::tuple, number(row.m), number(row.n), number(row.k));
}

ZELLIGE_ALGEBRA constexpr Value column(long long extent) {
  return mode(fixed(extent), {fixed(extent == 1 ? 0 : 1)});
}

/// A fragment of (rows, depth) held by warps of 32 threads, each register of `packed` neighbours along the
/// depth.
ZELLIGE_ALGEBRA constexpr Value fragment(int rows, int depth, int packed, int warps, bool keep_unit,
                                         bool wrap) {
  Value threads =
      bundle(ValueKind::layout, mode(fixed(4), {fixed(packed * rows)}), mode(fixed(8), {fixed(1)}));
  if (warps > 1) threads.add(mode(fixed(warps), {fixed(16)}));
  Value values = empty(ValueKind::layout);
  int const down = rows / 8 / warps, along = depth / (4 * packed);
  if (packed > 1) values.add(mode(fixed(packed), {fixed(rows)}));
  if (down > 1) values.add(mode(fixed(down), {fixed(8)}));
  if (along > 1 || keep_unit) values.add(mode(fixed(along), {fixed(4 * packed * rows)}));
  if (values.rank() == 0) values = unit();
  if (values.rank() == 1 && !wrap) {
    Value const only = values[0];
    values = only;
  }
  return bundle(ValueKind::layout, threads, values);
}
/// An operand that 128 threads see whole, in shared memory.
ZELLIGE_ALGEBRA constexpr Value seen_by_all(int rows, int depth) {
  Value const tile =
      bundle(ValueKind::layout, mode(fixed(rows), {fixed(1)}), mode(fixed(depth), {fixed(rows)}));
  return bundle(ValueKind::layout, mode(fixed(128), {fixed(0)}), tile);
}

/// Volta's: eight threads, two quads of a warp.
ZELLIGE_ALGEBRA constexpr Value quad_pair_operand(bool row_pieces) {
  if (row_pieces) return bundle(ValueKind::layout, mode(fixed(8), {fixed(1)}), mode(fixed(4), {fixed(8)}));
  Value const threads = bundle(ValueKind::layout, mode(fixed(4), {fixed(8)}), mode(fixed(2), {fixed(4)}));
  return bundle(ValueKind::layout, threads, mode(fixed(4), {fixed(1)}));
}
ZELLIGE_ALGEBRA constexpr Value quad_pair_result(bool wide) {
  if (!wide) return bundle(ValueKind::layout, mode(fixed(8), {fixed(1)}), mode(fixed(8), {fixed(8)}));
  Value const threads = bundle(ValueKind::layout, mode(fixed(2), {fixed(1)}), mode(fixed(2), {fixed(16)}),
                               mode(fixed(2), {fixed(4)}));
  Value const values = bundle(ValueKind::layout, mode(fixed(2), {fixed(8)}), mode(fixed(2), {fixed(2)}),
                              mode(fixed(2), {fixed(32)}));
  return bundle(ValueKind::layout, threads, values);
}

ZELLIGE_ALGEBRA constexpr Value mma_threads(Issuer issuer) {
  switch (issuer) {
    case Issuer::thread:
      return unit();
    case Issuer::quad_pair:
      return bundle(ValueKind::layout, mode(fixed(4), {fixed(1)}), mode(fixed(2), {fixed(16)}));
    case Issuer::warp:
      return column(32);
    default:
      return column(128);
  }
}

ZELLIGE_ALGEBRA constexpr Value mma_layout(MmaRow const& row, MmaPart part) {
  if (part == MmaPart::threads) return mma_threads(row.issuer);
  int const rows = part == MmaPart::b ? row.n : row.m, depth = part == MmaPart::c ? row.n : row.k;
  int const bits = bits_of(part == MmaPart::b ? row.b : row.a);
  switch (row.issuer) {
    case Issuer::thread:
      return bundle(ValueKind::layout, column(rows), column(depth));
    case Issuer::quad_pair:
      if (part == MmaPart::c) return quad_pair_result(row.c == Number::f32);
      return quad_pair_operand(part == MmaPart::a ? row.a_rows : row.b_columns);
    case Issuer::warp:
      if (part == MmaPart::c) return fragment(rows, depth, 2, 1, false, false);
      return fragment(rows, depth, bits >= 32 ? 1 : 32 / bits, 1, false, bits == 4);
    default:
      if (part == MmaPart::c) return fragment(rows, depth, 2, 4, true, false);
      if (part == MmaPart::b || row.a_from_smem) return seen_by_all(rows, depth);
      return fragment(rows, depth, 32 / bits, 4, false, false);
  }
}

}  // namespace algebra
}  // namespace zellige
