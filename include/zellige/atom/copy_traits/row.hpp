// CopyRow: the descriptor of a copy instruction. copy_layout computes the instruction's thread-value layouts
// from it: which bits each thread holds at the source, at the destination, and in the reference order (by
// which TiledCopy numbers values).
//
//   CopyRow row = find_copy("SM75_U32x4_LDSM_N");
//   copy_layout(row, CopyPart::source)         (_32,_128):(_128,_1)       one 16-byte row per thread
//   copy_layout(row, CopyPart::destination)    (_32,(_32,_4)):(_32,(_1,_1024))
//
// To add an instruction, add its name to copy_rows and its C++ type to names.hpp. If no CopyRow::Kind fits, add a
// kind, and its source and destination layouts to copy_layout.
#pragma once

#include <zellige/atom/algebra/mma.hpp>
#include <zellige/atom/mma_traits/table.hpp>

namespace zellige {

/// The descriptor of a copy instruction; converts to false if there is none.
struct CopyRow {
  enum class Kind : signed char {
    none,
    vector,           // one thread moves `bits` contiguous bits
    element,          // one thread moves one element; wider accesses are chosen from the tensors' layouts
    shuffle1,         // threads at lane distance 1 transpose the 2 x 2 matrix of their registers
    shuffle4,         // the same at lane distance 4
    rows,             // ldmatrix of `matrices` 8x8 matrices of 16-bit elements: reads rows of 16 bytes
    columns,          // ldmatrix.trans
    to_rows,          // stmatrix: writes rows of 16 bytes
    to_columns,       // stmatrix.trans
    in_registers,     // movmatrix: transposes an 8x8 matrix in a warp's registers
    byte_columns,     // ldmatrix.trans of 16x16 matrices of bytes, `matrices` registers
    to_byte_columns,  // stmatrix.trans of 16x8 matrices of bytes
    expanded_rows,    // ldmatrix of rows of 16 elements of 4 or 6 bits, which become bytes
    tmem_load,        // tcgen05.ld: `matrices` times `bits` of each of `lanes` lanes of tensor memory
    tmem_store,       // tcgen05.st
  };
  Kind kind = Kind::none;
  short arch = 0;        // the first compute capability that has it, 10 * major + minor; 0: all
  int bits = 0;          // that one thread moves, where the kind does not determine them
  int matrices = 0;      // of ldmatrix, stmatrix, movmatrix
  int wrong_for = 0;     // if PTX has no cp.async of `bits`: a number of bits that it has, for the error; else 0
  short lanes = 0;       // of tensor memory: 16 or 32
  bool of_half = false;  // tcgen05.ld, st: a column of 32 bits has one element of 16
  ZELLIGE_ALGEBRA constexpr explicit operator bool() const { return kind != Kind::none; }
};

/// The layouts of a copy instruction: its threads, and (thread, bit) -> bit of the source, of the destination,
/// and of the reference order in which TiledCopy distributes values.
enum class CopyPart : signed char { threads, source, destination, reference };

/// A copy instruction with its CuTe name.
struct CopyName {
  char const* name;
  CopyRow row;
};
inline constexpr CopyName copy_rows[] = {
    {"DefaultCopy", {CopyRow::Kind::element}},
    {"AutoVectorizingCopy", {CopyRow::Kind::element}},
    {"AutoCopyAsync", {CopyRow::Kind::element, 80}},
    {"SM50_Shuffle_U32_2x2Trans_XOR1", {CopyRow::Kind::shuffle1, 50, 64}},
    {"SM50_Shuffle_U32_2x2Trans_XOR4", {CopyRow::Kind::shuffle4, 50, 64}},
    {"SM75_U32x1_LDSM_N", {CopyRow::Kind::rows, 75, 0, 1}},
    {"SM75_U32x2_LDSM_N", {CopyRow::Kind::rows, 75, 0, 2}},
    {"SM75_U32x4_LDSM_N", {CopyRow::Kind::rows, 75, 0, 4}},
    {"SM75_U16x2_LDSM_T", {CopyRow::Kind::columns, 75, 0, 1}},
    {"SM75_U16x4_LDSM_T", {CopyRow::Kind::columns, 75, 0, 2}},
    {"SM75_U16x8_LDSM_T", {CopyRow::Kind::columns, 75, 0, 4}},
    {"SM75_U32x1_MOVM_T", {CopyRow::Kind::in_registers, 75, 32, 1}},
    {"SM90_U32x1_STSM_N", {CopyRow::Kind::to_rows, 90, 0, 1}},
    {"SM90_U32x2_STSM_N", {CopyRow::Kind::to_rows, 90, 0, 2}},
    {"SM90_U32x4_STSM_N", {CopyRow::Kind::to_rows, 90, 0, 4}},
    {"SM90_U16x2_STSM_T", {CopyRow::Kind::to_columns, 90, 0, 1}},
    {"SM90_U16x4_STSM_T", {CopyRow::Kind::to_columns, 90, 0, 2}},
    {"SM90_U16x8_STSM_T", {CopyRow::Kind::to_columns, 90, 0, 4}},
    {"SM100_U8x8_LDSM_T", {CopyRow::Kind::byte_columns, 100, 0, 2}},
    {"SM100_U8x16_LDSM_T", {CopyRow::Kind::byte_columns, 100, 0, 4}},
    {"SM100_SU4_DU8x16_x1_LDSM_N", {CopyRow::Kind::expanded_rows, 100, 0, 1}},
    {"SM100_SU4_DU8x16_x2_LDSM_N", {CopyRow::Kind::expanded_rows, 100, 0, 2}},
    {"SM100_SU4_DU8x16_x4_LDSM_N", {CopyRow::Kind::expanded_rows, 100, 0, 4}},
    {"SM100_SU6_DU8x16_x1_LDSM_N", {CopyRow::Kind::expanded_rows, 100, 0, 1}},
    {"SM100_SU6_DU8x16_x2_LDSM_N", {CopyRow::Kind::expanded_rows, 100, 0, 2}},
    {"SM100_SU6_DU8x16_x4_LDSM_N", {CopyRow::Kind::expanded_rows, 100, 0, 4}},
    {"SM100_U8x4_STSM_T", {CopyRow::Kind::to_byte_columns, 100, 0, 1}},
    {"SM100_U8x8_STSM_T", {CopyRow::Kind::to_byte_columns, 100, 0, 2}},
    {"SM100_U8x16_STSM_T", {CopyRow::Kind::to_byte_columns, 100, 0, 4}},
};

/// The shapes of tcgen05.ld and tcgen05.st: lanes and bits of a lane, and how often it may be repeated: 1 up to `most`, by
/// powers of two. Of 16 lanes of 32 bits, the two halves of a warp access two places of each lane.
struct TmemShape {
  short lanes, bits, most;
};
inline constexpr TmemShape tmem_shapes[] = {{16, 256, 32}, {16, 128, 64}, {16, 64, 128}, {16, 32, 128}, {32, 32, 128}};

/// Returns the descriptor of a move between tensor memory and registers. It converts to false if there is none.
ZELLIGE_ALGEBRA constexpr CopyRow tmem_copy(bool load, int lanes, int bits, int times, bool of_half) {
  for (TmemShape const& s : tmem_shapes) {
    bool const power = times > 0 && (times & (times - 1)) == 0;
    if (s.lanes != lanes || s.bits != bits || !power || times > s.most) continue;
    CopyRow row{load ? CopyRow::Kind::tmem_load : CopyRow::Kind::tmem_store, 100, bits, times};
    row.lanes = s.lanes, row.of_half = of_half;
    return row;
  }
  return {};
}
/// Parses the rest of a name after SM100_TMEM_, such as LOAD_16dp256b1x or STORE_32dp32b8x_16b.
ZELLIGE_ALGEBRA constexpr CopyRow find_tmem_copy(detail::NameReader in) {
  bool const load = in.next("LOAD_");
  if (!load && !in.next("STORE_")) return {};
  int const lanes = in.number();
  if (!in.next("dp")) return {};
  int const bits = in.number();
  if (!in.next("b")) return {};
  int const times = in.number();
  if (!in.next("x")) return {};
  bool const of_half = in.next("_16b");
  return *in.at == 0 ? tmem_copy(load, lanes, bits, times, of_half) : CopyRow{};
}

/// Returns the descriptor of the copy instruction with this CuTe name. If copy_rows does not list the name, the
/// returned descriptor converts to false. Names with template arguments (UniversalCopy, cp.async) are not listed.
ZELLIGE_ALGEBRA constexpr CopyRow find_copy(char const* name) {
  for (CopyName const& known : copy_rows) {
    detail::NameReader in{name};
    if (in.next(known.name) && *in.at == 0) return known.row;
  }
  detail::NameReader in{name};
  if (in.next("SM100_TMEM_")) return find_tmem_copy(in);
  return {};
}
/// Returns the descriptor of a copy in which one thread moves `bits` contiguous bits, such as UniversalCopy or
/// cp.async. `arch` is the first compute capability that has the copy (80 for SM80); 0 means all. `wrong_for` is 0,
/// or, for a cp.async whose width PTX does not have, a valid width in bits, for the error message.
ZELLIGE_ALGEBRA constexpr CopyRow vector_copy(int bits, short arch = 0, int wrong_for = 0) {
  return {CopyRow::Kind::vector, arch, bits, 0, wrong_for};
}

namespace algebra {

/// Returns the layout with the two modes `threads` and `values`.
ZELLIGE_ALGEBRA constexpr Value two_modes(Value const& threads, Value const& values) {
  return bundle(ValueKind::layout, threads, values);
}
/// Returns the layout (thread, bit) -> bit of the 16-byte rows that the threads of an ldmatrix or stmatrix of
/// `matrices` 8x8 matrices address: thread t addresses row t modulo 8 * matrices.
ZELLIGE_ALGEBRA constexpr Value addressed_rows(int matrices) {
  Value threads = mode(fixed(8LL * matrices), {fixed(128)});
  if (matrices < 4) threads = two_modes(threads, mode(fixed(4 / matrices), {fixed(0)}));
  return two_modes(threads, column(128));
}
/// Returns the layout (thread, bit) -> bit of 8x8 matrices of 16-bit elements in a warp's registers. Each
/// thread has one register per matrix, which holds two elements that are adjacent in a row or, if
/// `transposed`, in a column.
ZELLIGE_ALGEBRA constexpr Value matrix_registers(int matrices, bool transposed) {
  Value threads = mode(fixed(32), {fixed(32)});
  Value values = bundle(ValueKind::layout, column(32));
  if (transposed) {
    threads = two_modes(mode(fixed(4), {fixed(256)}), mode(fixed(8), {fixed(16)}));
    values = two_modes(column(16), mode(fixed(2), {fixed(128)}));
  }
  if (matrices > 1) values.add(mode(fixed(matrices), {fixed(1024)}));
  if (values.rank() == 1) {
    Value const only = values[0];
    values = only;
  }
  return two_modes(threads, values);
}

/// Returns the layout (thread, bit) -> bit of bytes in a warp's registers, where a register has two bytes of each of two
/// 8x8 matrices, a column of which four threads share.
ZELLIGE_ALGEBRA constexpr Value byte_registers(int registers) {
  Value values = bundle(ValueKind::layout, column(8), mode(fixed(2), {fixed(128)}), mode(fixed(2), {fixed(64)}));
  if (registers > 1) values.add(mode(fixed(registers), {fixed(1024)}));
  return two_modes(two_modes(mode(fixed(4), {fixed(256)}), mode(fixed(8), {fixed(8)})), values);
}
/// Returns the layout (thread, bit) -> bit of the rows that the threads of an ldmatrix of 16x16 matrices of bytes address.
ZELLIGE_ALGEBRA constexpr Value addressed_byte_rows(int registers) {
  Value threads = bundle(ValueKind::layout, mode(fixed(2), {fixed(128)}), mode(fixed(2), {fixed(1024)}),
                         mode(fixed(4), {fixed(256)}));
  threads.add(mode(fixed(2), {fixed(registers == 4 ? 2048 : 0)}));
  return two_modes(threads, column(128));
}
/// Returns the layout (thread, bit) -> bit of what a warp moves between registers and tensor memory: in its registers,
/// or, if `in_tmem`, all of it for each thread.
ZELLIGE_ALGEBRA constexpr Value tmem_bits(CopyRow const& row, bool in_tmem) {
  bool const halves = row.lanes == 16 && row.bits == 32;
  int const n = row.matrices, lane = row.bits * n * (halves ? 2 : 1);  // bits of a lane
  if (in_tmem) return two_modes(mode(fixed(32), {fixed(0)}), column(row.lanes * lane));
  if (row.lanes == 32) return two_modes(mode(fixed(32), {fixed(lane)}), column(lane));
  if (halves)
    return two_modes(two_modes(mode(fixed(16), {fixed(lane)}), mode(fixed(2), {fixed(32 * n)})), column(32 * n));
  if (row.bits == 64) {
    Value const threads = bundle(ValueKind::layout, mode(fixed(2), {fixed(8 * lane)}), mode(fixed(2), {fixed(32)}),
                                 mode(fixed(8), {fixed(lane)}));
    if (n == 1) return two_modes(threads, column(32));
    return two_modes(threads, two_modes(column(32), mode(fixed(n), {fixed(64)})));
  }
  int const part = row.bits / 4;  // bits of a row of a repetition that one of four threads has
  Value values = two_modes(column(part), mode(fixed(2), {fixed(8 * lane)}));
  if (n > 1) values.add(mode(fixed(n), {fixed(row.bits)}));
  return two_modes(two_modes(mode(fixed(4), {fixed(part)}), mode(fixed(8), {fixed(lane)})), values);
}

/// Returns the layout (thread, bit) -> bit that `part` selects: the instruction's source, its destination, or
/// the reference order. For CopyPart::threads, returns the layout of the instruction's threads.
ZELLIGE_ALGEBRA constexpr Value copy_layout(CopyRow const& row, CopyPart part) {
  using Kind = CopyRow::Kind;
  bool const one_thread = row.kind == Kind::vector || row.kind == Kind::element;
  if (part == CopyPart::threads) return column(one_thread ? 1 : 32);
  // The reference order is that of the registers: the destination of an ldmatrix, else the source.
  bool const source = part == CopyPart::source;
  bool const destination = part == CopyPart::destination;
  switch (row.kind) {
    case Kind::element:
      return two_modes(unit(), unit());
    case Kind::vector:
      return two_modes(unit(), column(row.bits));
    case Kind::shuffle1:
      if (!destination) break;
      return two_modes(two_modes(mode(fixed(2), {fixed(32)}), mode(fixed(16), {fixed(128)})),
                       two_modes(column(32), mode(fixed(2), {fixed(64)})));
    case Kind::shuffle4:
      if (!destination) break;
      return two_modes(bundle(ValueKind::layout, mode(fixed(4), {fixed(64)}), mode(fixed(2), {fixed(32)}),
                              mode(fixed(4), {fixed(512)})),
                       two_modes(column(32), mode(fixed(2), {fixed(256)})));
    case Kind::rows:
    case Kind::columns:
      if (source) return addressed_rows(row.matrices);
      return matrix_registers(row.matrices, row.kind == Kind::columns);
    case Kind::to_rows:
    case Kind::to_columns:
      if (destination) return addressed_rows(row.matrices);
      return matrix_registers(row.matrices, row.kind == Kind::to_columns);
    case Kind::byte_columns:
      return source ? addressed_byte_rows(row.matrices) : byte_registers(row.matrices);
    case Kind::to_byte_columns:
      return destination ? addressed_rows(row.matrices) : byte_registers(row.matrices);
    case Kind::expanded_rows:
      return source ? addressed_rows(row.matrices) : matrix_registers(row.matrices, false);
    case Kind::tmem_load:  // the reference order is that of tensor memory
      return tmem_bits(row, !destination);
    case Kind::tmem_store:
      return tmem_bits(row, !source);
    default:
      break;
  }
  return two_modes(mode(fixed(32), {fixed(row.bits)}), column(row.bits));
}

/// Converts the layout `bits`, (thread, bit) -> bit, to (thread, value) -> element for elements of
/// `element_bits` bits. Records the violated rule in `t` in two cases: an element would span threads, or
/// `wrong_for` is not 0, which means that PTX has no cp.async of this width.
ZELLIGE_ALGEBRA constexpr Value values_of_bits(Tape& t, Value const& bits, long long element_bits, int wrong_for) {
  Num const held = product_of(t, shape_of(bits[1]));
  if (wrong_for > 0) return t.refused(Rule::copy_bytes, held.v / 8, wrong_for / 8);
  Value const values = recast(t, bits, 1, element_bits);
  if (t.failed()) return nothing();
  Num const before = product_of(t, shape_of(bits[0])), after = product_of(t, shape_of(values[0]));
  t.require(t.eq(before, after), Rule::copy_type, fixed(element_bits), held);
  if (t.failed()) return nothing();
  return values;
}
/// Returns the layout (thread, value) -> element that `part` selects: the instruction's source, its
/// destination, or the reference order, for elements of `element_bits` bits. Records the violated rule in `t`
/// if an element would span threads.
ZELLIGE_ALGEBRA constexpr Value copy_values(Tape& t, CopyRow const& row, CopyPart part, long long element_bits) {
  return values_of_bits(t, copy_layout(row, part), element_bits, row.wrong_for);
}

}  // namespace algebra
}  // namespace zellige
