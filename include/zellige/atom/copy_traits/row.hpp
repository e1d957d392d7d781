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
    vector,        // one thread moves `bits` contiguous bits
    element,       // one thread moves one element; wider accesses are chosen from the tensors' layouts
    shuffle1,      // threads at lane distance 1 transpose the 2 x 2 matrix of their registers
    shuffle4,      // the same at lane distance 4
    rows,          // ldmatrix of `matrices` 8x8 matrices of 16-bit elements: reads rows of 16 bytes
    columns,       // ldmatrix.trans
    to_rows,       // stmatrix: writes rows of 16 bytes
    to_columns,    // stmatrix.trans
    in_registers,  // movmatrix: transposes an 8x8 matrix in a warp's registers
  };
  Kind kind = Kind::none;
  short arch = 0;     // the first compute capability that has it, 10 * major + minor; 0: all
  int bits = 0;       // that one thread moves, where the kind does not determine them
  int matrices = 0;   // of ldmatrix, stmatrix, movmatrix
  int wrong_for = 0;  // if PTX has no cp.async of `bits`: a number of bits that it has, for the error; else 0
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
};

/// Returns the descriptor of the copy instruction with this CuTe name. If copy_rows does not list the name, the
/// returned descriptor converts to false. Names with template arguments (UniversalCopy, cp.async) are not listed.
ZELLIGE_ALGEBRA constexpr CopyRow find_copy(char const* name) {
  for (CopyName const& known : copy_rows) {
    detail::NameReader in{name};
    if (in.next(known.name) && *in.at == 0) return known.row;
  }
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
