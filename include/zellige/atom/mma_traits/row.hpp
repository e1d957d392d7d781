// Describes a matrix instruction by its shape, number types and issuing threads (MmaRow), and computes the thread-value
// layouts of its operands from these.
//
//   MmaRow row = find_mma("SM80_16x8x16_F32F16F16F32_TN");         // table.hpp
//   operand_layout(row, MmaPart::c)      ((_4,_8),(_2,_2)):((_32,_1),(_16,_8)) as a ThreadValue
//
// A layout maps (thread, value) to the colexicographic index in A (M,K), B (N,K) or C (M,N). From Turing on, the
// fragment figures of the PTX ISA follow one rule: a 32-bit register holds elements that are adjacent along K (in C
// along N), four threads lie along this dimension and eight along the rows. A thread's values are numbered first within
// a register, then down the rows in steps of 8, then along K (in C along N). algebra/mma.hpp returns the same layouts
// as objects of the layout library, which this header does not include.
#pragma once

#include <zellige/atom/number.hpp>
#include <zellige/atom/thread_value.hpp>

namespace zellige {

/// The threads that execute a matrix instruction together: 1, 8 (a quad pair of SM70), 32 or 128.
enum class Issuer : signed char { thread, quad_pair, warp, warpgroup };

/// Variant of an instruction, named by the suffix of its CuTe name. saturate: integer accumulators saturate. xor_popc,
/// and_popc: a single-bit instruction counts the set bits of a xor b, or of a and b.
enum class MmaEnding : signed char { none, saturate, xor_popc, and_popc };

/// The kind of an instruction on floats of 4, 6 and 8 bits, the qualifier .kind of the PTX ISA. In f8f6f4 and mxf8f6f4
/// each element of A and B takes a byte, in mxf4nvf4 four bits. The last two multiply A and B by scales.
enum class MmaKind : signed char { standard, f8f6f4, mxf8f6f4, mxf4nvf4 };

/// Shape, number types and variant of one matrix instruction. Converts to false if there is no such instruction.
struct MmaRow {
  using Ending = MmaEnding;

  short arch = 0;  // the first compute capability that has it, 10 * major + minor; 0: scalar arithmetic
  short m = 0, n = 0, k = 0;
  Number d = Number::none, a = Number::none, b = Number::none, c = Number::none;
  Issuer issuer = Issuer::thread;
  Ending ending = Ending::none;
  bool a_from_smem = false;  // wgmma: A is in shared memory, like B; false: in registers
  bool a_rows = true;        // quad pairs: a thread holds part of a row of A; false: of a column
  bool b_columns = true;     // quad pairs: a thread holds part of a column of B; false: of a row
  MmaKind kind = MmaKind::standard;
  Number scale = Number::none;  // the type of the scales of A and B; none: they have no scales
  short scale_block = 0;        // consecutive elements along K that have one scale
  bool sparse = false;          // half of A's elements are stored: two of four, or two of four pairs if A has four bits

  /// Returns the bits that an element of type n of A or B takes in a register.
  ZELLIGE_ALGEBRA constexpr int stored_bits(Number n) const {
    return kind == MmaKind::f8f6f4 || kind == MmaKind::mxf8f6f4 ? 8 : bits_of(n);
  }
  ZELLIGE_ALGEBRA constexpr explicit operator bool() const { return m > 0; }
};

/// An operand of a matrix instruction, or the threads that issue it.
enum class MmaPart : signed char { a, b, c, threads };

/// Returns the layout that maps a thread's index in the instruction to its index in the warp or warpgroup. A quad
/// pair, which issues an SM70 instruction, consists of threads 0 to 3 and 16 to 19; the other three quad pairs of the
/// warp begin 4, 8 and 12 threads later.
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

/// Returns the thread-value layout of a (rows, depth) operand whose rows are divided among `warps` warps. A register
/// holds `packed` elements that are adjacent along the depth. If keep_unit, the last value mode is kept even if its
/// extent is 1.
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

/// Returns the thread-value layout of the operand `part`. For MmaPart::threads, returns the layout of the issuing
/// threads. If wgmma has the operand in shared memory, each of the 128 threads has all of the operand's elements as
/// values.
ZELLIGE_ALGEBRA constexpr ThreadValue operand_layout(MmaRow const& row, MmaPart part) {
  if (part == MmaPart::threads) return issuing_threads(row.issuer);
  int const rows = part == MmaPart::b ? row.n : row.m, depth = part == MmaPart::c ? row.n : row.k;
  int const bits = row.stored_bits(part == MmaPart::b ? row.b : row.a);
  int const stored = row.sparse && part == MmaPart::a ? 2 : 1;  // elements of A for each that is stored
  switch (row.issuer) {
    case Issuer::thread:
      return {{{rows, rows == 1 ? 0 : 1}}, {{depth, depth == 1 ? 0 : 1}}};
    case Issuer::quad_pair:
      if (part == MmaPart::c && row.c == Number::f32) return {{{2, 1}, {2, 16}, {2, 4}}, {{2, 8}, {2, 2}, {2, 32}}};
      if (part == MmaPart::c) return {{{8, 1}}, {{8, 8}}};
      if (part == MmaPart::a ? row.a_rows : row.b_columns) return {{{8, 1}}, {{4, 8}}};
      return {{{4, 8}, {2, 4}}, {{4, 1}}};
    case Issuer::warp:
      return detail::fragment(rows, depth, part == MmaPart::c ? 2 : bits >= 32 ? 1 : stored * 32 / bits, 1, false);
    default:
      if (part == MmaPart::c) return detail::fragment(rows, depth, 2, 4, true);
      // In shared memory: all 128 threads read the whole operand.
      if (part == MmaPart::b || row.a_from_smem) return {{{128, 0}}, {{rows, 1}, {depth, rows}}};
      return detail::fragment(rows, depth, 32 / bits, 4, false);
  }
}

}  // namespace zellige
