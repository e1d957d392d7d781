// A matrix instruction as data, with the (thread, value) layouts of its operands.
//
//   MmaRow row = find_mma("SM80_16x8x16_F32F16F16F32_TN");         // table.hpp
//   operand_layout(row, MmaPart::c)      ((_4,_8),(_2,_2)):((_32,_1),(_16,_8)) as a ThreadValue
//
// A layout maps (thread, value) to the colexicographic index in (M,K), (N,K) or (M,N). From Turing on they
// follow one rule, PTX ISA's fragment figures: a register holds the neighbours along K that fit in 32 bits;
// four threads are along K and eight along the rows; the remaining modes are values, first 8 rows down, then
// along K. algebra/mma.hpp has the same as layouts of the layout library, which this header does not include.
#pragma once

#include <zellige/atom/number.hpp>
#include <zellige/atom/thread_value.hpp>

namespace zellige {

enum class Issuer : signed char { thread, quad_pair, warp, warpgroup };

/// The suffix of a name after types and shape: how integer accumulators overflow, and which bits a single-bit
/// instruction counts.
enum class MmaEnding : signed char { none, saturate, xor_popc, and_popc };

struct MmaRow {
  using Ending = MmaEnding;

  short arch = 0;  // the first compute capability that has it, 10 * major + minor; 0: scalar arithmetic
  short m = 0, n = 0, k = 0;
  Number d = Number::none, a = Number::none, b = Number::none, c = Number::none;
  Issuer issuer = Issuer::thread;
  Ending ending = Ending::none;
  bool a_from_smem = false;  // of a warpgroup's: through a descriptor, like B
  bool a_rows = true;        // of a quad pair's: each thread holds part of a row of A, and of a column of B
  bool b_columns = true;
  ZELLIGE_ALGEBRA constexpr explicit operator bool() const { return m > 0; }
};

enum class MmaPart : signed char { a, b, c, threads };

/// The threads of a warp, or warpgroup, that issue it; a warp has four quad pairs, at a distance of 4
/// threads.
ZELLIGE_ALGEBRA constexpr ThreadValue issuing_threads(Issuer issuer) {
  switch (issuer) {
    case Issuer::thread:
      return {{{1, 0}}, {}};
    case Issuer::quad_pair:
      return {{{4, 1}, {2, 16}}, {}};
    case Issuer::warp:
      return {{{32, 1}}, {}};
    default:
      return {{{128, 1}}, {}};
  }
}

namespace detail {

/// A fragment of (rows, depth) distributed over warps of 32 threads, with registers of `packed` neighbours
/// along the depth.
ZELLIGE_ALGEBRA constexpr ThreadValue fragment(int rows, int depth, int packed, int warps, bool keep_unit) {
  ThreadValue r{{{4, packed * rows}, {8, 1}}, {}};
  if (warps > 1) r.threads[2] = {warps, 16};
  int const down = rows / 8 / warps, along = depth / (4 * packed);
  int mode = 0;
  if (packed > 1) r.values[mode++] = {packed, rows};
  if (down > 1) r.values[mode++] = {down, 8};
  if (along > 1 || keep_unit) r.values[mode++] = {along, 4 * packed * rows};
  if (mode == 0) r.values[0] = {1, 0};
  return r;
}

}  // namespace detail

ZELLIGE_ALGEBRA constexpr ThreadValue operand_layout(MmaRow const& row, MmaPart part) {
  if (part == MmaPart::threads) return issuing_threads(row.issuer);
  int const rows = part == MmaPart::b ? row.n : row.m, depth = part == MmaPart::c ? row.n : row.k;
  int const bits = bits_of(part == MmaPart::b ? row.b : row.a);
  switch (row.issuer) {
    case Issuer::thread:
      return {{{rows, rows == 1 ? 0 : 1}}, {{depth, depth == 1 ? 0 : 1}}};
    case Issuer::quad_pair:
      if (part == MmaPart::c && row.c == Number::f32)
        return {{{2, 1}, {2, 16}, {2, 4}}, {{2, 8}, {2, 2}, {2, 32}}};
      if (part == MmaPart::c) return {{{8, 1}}, {{8, 8}}};
      if (part == MmaPart::a ? row.a_rows : row.b_columns) return {{{8, 1}}, {{4, 8}}};
      return {{{4, 8}, {2, 4}}, {{4, 1}}};
    case Issuer::warp:
      return detail::fragment(rows, depth, part == MmaPart::c ? 2 : bits >= 32 ? 1 : 32 / bits, 1, false);
    default:
      if (part == MmaPart::c) return detail::fragment(rows, depth, 2, 4, true);
      // In shared memory: all 128 threads read the whole operand.
      if (part == MmaPart::b || row.a_from_smem) return {{{128, 0}}, {{rows, 1}, {depth, rows}}};
      return detail::fragment(rows, depth, 32 / bits, 4, false);
  }
}

}  // namespace zellige
