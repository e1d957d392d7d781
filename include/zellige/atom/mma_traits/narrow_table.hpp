// Lists the matrix instructions of SM120 on floats of 4, 6 and 8 bits: dense and sparse, dense and with scales of blocks.
// CuTe names them by templates of the number types, so they have a table of their own beside table.hpp. each_narrow_row
// enumerates it, narrow_mma_name returns the name of a row.
//
//   narrow_mma_name(row)    SM120_16x8x32_TN<float_e4m3_t,float_e2m1_t,float>
//
// To add an instruction, add a line here.
#pragma once

#include <zellige/atom/composed_text.hpp>
#include <zellige/atom/mma_traits/row.hpp>

namespace zellige {

/// Instructions m16n8 with this K, for every pair of the kind's types of A and B, and each listed type of D.
struct NarrowFamily {
  short k;
  MmaKind kind;
  Number d[2];  // Number::none: there is no second type
  Number scale = Number::none;
  short scale_block = 0;
  bool sparse = false;
};

// clang-format off
inline constexpr NarrowFamily narrow_families[] = {
    {32,  MmaKind::f8f6f4,   {Number::f32, Number::f16}},
    {64,  MmaKind::f8f6f4,   {Number::f32, Number::f16}, Number::none,  0,  true},
    {32,  MmaKind::mxf8f6f4, {Number::f32},              Number::ue8m0, 32},
    {64,  MmaKind::mxf8f6f4, {Number::f32},              Number::ue8m0, 64, true},
    {64,  MmaKind::mxf4nvf4, {Number::f32},              Number::ue8m0, 32},
    {64,  MmaKind::mxf4nvf4, {Number::f32},              Number::ue4m3, 16},
    {128, MmaKind::mxf4nvf4, {Number::f32},              Number::ue8m0, 64, true},
    {128, MmaKind::mxf4nvf4, {Number::f32},              Number::ue4m3, 32, true},
};
// clang-format on
inline constexpr Number narrow_types[] = {Number::e2m1, Number::e3m2, Number::e2m3, Number::e4m3, Number::e5m2};

/// Returns the row of family `f` for the types a and b of A and B, and d of D. It converts to false if the family
/// has no such instruction.
ZELLIGE_ALGEBRA constexpr MmaRow narrow_row(NarrowFamily const& f, Number a, Number b, Number d) {
  auto known = [](Number n) {
    for (Number t : narrow_types)
      if (t == n) return true;
    return false;
  };
  bool const of_four_bits = f.kind == MmaKind::mxf4nvf4;
  MmaRow row;
  if (d == Number::none || (d != f.d[0] && d != f.d[1]) || !known(a) || !known(b)) return row;
  if (of_four_bits && (a != Number::e2m1 || b != Number::e2m1)) return row;
  row = {120, 16, 8, f.k, d, a, b, d, Issuer::warp};
  row.kind = f.kind;
  row.scale = f.scale, row.scale_block = f.scale_block, row.sparse = f.sparse;
  return row;
}
/// Returns the instruction with these properties, which converts to false if there is none. scale_block is 0 for an
/// instruction without scales.
ZELLIGE_ALGEBRA constexpr MmaRow find_narrow_mma(int k, Number a, Number b, Number d, Number scale, int scale_block,
                                                 bool sparse) {
  for (NarrowFamily const& f : narrow_families) {
    bool const same = f.k == k && f.scale == scale && f.scale_block == scale_block && f.sparse == sparse;
    if (!same) continue;
    if (MmaRow const row = narrow_row(f, a, b, d)) return row;
  }
  return {};
}
/// Calls f(row) for every instruction of the table.
template <class F>
ZELLIGE_ALGEBRA constexpr void each_narrow_row(F&& f) {
  for (NarrowFamily const& family : narrow_families) {
    for (Number d : family.d) {
      for (Number a : narrow_types) {
        for (Number b : narrow_types) {
          if (MmaRow const row = narrow_row(family, a, b, d)) f(row);
        }
      }
    }
  }
}

/// Returns the CuTe name of an instruction of this table, with its template arguments.
ZELLIGE_ALGEBRA constexpr detail::ComposedText narrow_mma_name(MmaRow const& row) {
  bool const scaled = row.scale != Number::none;
  detail::ComposedText t;
  if (scaled || row.sparse) t += "SM120::";
  if (scaled) t += "BLOCKSCALED::";
  t += row.sparse ? "SPARSE::SM120_SPARSE_16x8x" : "SM120_16x8x";
  t += row.k;
  t += scaled ? "_TN_VS<float_" : "_TN<float_";
  t += row.a;
  t += "_t,float_";
  t += row.b;
  t += row.d == Number::f16 ? "_t,half_t" : "_t,float";
  if (scaled) {
    t += ",float_";
    t += row.scale;
    t += "_t,";
    t += row.scale_block;
  }
  t += ">";
  return t;
}

/// Returns the PTX mnemonic of an instruction of this table, with all its qualifiers.
ZELLIGE_ALGEBRA constexpr detail::ComposedText narrow_mma_ptx(MmaRow const& row) {
  bool const scaled = row.scale != Number::none;
  detail::ComposedText t;
  t += "mma.sync.aligned.kind::";
  t += row.kind == MmaKind::f8f6f4 ? "f8f6f4" : row.kind == MmaKind::mxf8f6f4 ? "mxf8f6f4" : "mxf4nvf4";
  if (row.sparse) t += ".sp::ordered_metadata";
  if (scaled) {
    t += ".block_scale.scale_vec::";
    t += row.k / row.scale_block;
    t += "X";
  }
  t += ".m16n8k";
  t += row.k;
  t += ".row.col.";
  t += row.d;
  t += ".";
  t += row.a;
  t += ".";
  t += row.b;
  t += ".";
  t += row.d;
  if (scaled) {
    t += ".";
    t += row.scale;
  }
  return t;
}

}  // namespace zellige
