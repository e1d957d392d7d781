// Lists the matrix instructions of SM70 to SM90 and finds an instruction by its CuTe name. The table has one line per
// family of instructions, which lists the combinations of shapes, number types and suffixes that exist. find_mma
// parses a name and looks for it in the table; it also finds SM61's DP4A and DP2A.
//
//   find_mma("SM80_16x8x32_S32U8S8S32_TN_SATURATE")    MmaRow: m16n8k32, u8 times s8 into s32, saturating
//   find_mma("SM80_16x8x48_S32U8S8S32_TN")             MmaRow that converts to false: no such instruction
//
// To add an instruction, add a line here, and its name in names.hpp for C++: docs/how-to/add-an-instruction.md.
#pragma once

#include <zellige/atom/mma_traits/row.hpp>

namespace zellige {

/// Extents of one instruction's matmul; m = 0 marks an unused entry.
struct MmaShape {
  short m = 0, n = 0, k = 0;
};
/// Instructions that exist in every combination of the listed types of A and B, shapes and suffixes.
struct MmaFamily {
  short arch;
  Issuer issuer;
  Number d;
  Number a[2];  // types of A; Number::none: there is no second type
  Number b[2];
  MmaShape shapes[3];  // n = 0: every N of wgmma, see detail::warpgroup_n
  MmaRow::Ending ending[2] = {};
};

// One line per family.
// clang-format off
inline constexpr MmaFamily mma_families[] = {
    // SM70: every combination of majors
    {70, Issuer::quad_pair, Number::f16, {Number::f16}, {Number::f16}, {{8, 8, 4}}},
    {70, Issuer::quad_pair, Number::f32, {Number::f16}, {Number::f16}, {{8, 8, 4}}},
    // SM75
    {75, Issuer::warp, Number::f16, {Number::f16}, {Number::f16}, {{16, 8, 8}}},
    {75, Issuer::warp, Number::f32, {Number::f16}, {Number::f16}, {{16, 8, 8}}},
    {75, Issuer::warp, Number::s32, {Number::s8}, {Number::s8}, {{8, 8, 16}}},
    // SM80
    {80, Issuer::warp, Number::f16, {Number::f16}, {Number::f16}, {{16, 8, 8}, {16, 8, 16}}},
    {80, Issuer::warp, Number::f32, {Number::f16}, {Number::f16}, {{16, 8, 8}, {16, 8, 16}}},
    {80, Issuer::warp, Number::f32, {Number::bf16}, {Number::bf16}, {{16, 8, 8}, {16, 8, 16}}},
    {80, Issuer::warp, Number::f32, {Number::tf32}, {Number::tf32}, {{16, 8, 4}, {16, 8, 8}}},
    {80, Issuer::warp, Number::f64, {Number::f64}, {Number::f64}, {{8, 8, 4}}},
    {80, Issuer::warp, Number::c64, {Number::c64}, {Number::c64}, {{8, 8, 4}}},
    {80, Issuer::warp, Number::gc64, {Number::c64}, {Number::c64}, {{8, 8, 4}}},
    {80, Issuer::warp, Number::s32, {Number::s8, Number::u8}, {Number::s8, Number::u8},
     {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}, {MmaRow::Ending::none, MmaRow::Ending::saturate}},
    {80, Issuer::warp, Number::s32, {Number::s4, Number::u4}, {Number::s4, Number::u4},
     {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}, {MmaRow::Ending::none, MmaRow::Ending::saturate}},
    {80, Issuer::warp, Number::s32, {Number::u1}, {Number::u1},
     {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}, {MmaRow::Ending::xor_popc, MmaRow::Ending::and_popc}},
    // SM89
    {89, Issuer::warp, Number::f32, {Number::e4m3, Number::e5m2}, {Number::e4m3, Number::e5m2},
     {{16, 8, 32}}},
    {89, Issuer::warp, Number::f16, {Number::e4m3, Number::e5m2}, {Number::e4m3, Number::e5m2},
     {{16, 8, 32}}},
    // SM90
    {90, Issuer::warp, Number::f64, {Number::f64}, {Number::f64}, {{16, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
    {90, Issuer::warp, Number::c64, {Number::c64}, {Number::c64}, {{16, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
    {90, Issuer::warpgroup, Number::f16, {Number::f16}, {Number::f16}, {{64, 0, 16}}},
    {90, Issuer::warpgroup, Number::f32, {Number::f16}, {Number::f16}, {{64, 0, 16}}},
    {90, Issuer::warpgroup, Number::f32, {Number::bf16}, {Number::bf16}, {{64, 0, 16}}},
    {90, Issuer::warpgroup, Number::f32, {Number::tf32}, {Number::tf32}, {{64, 0, 8}}},
    {90, Issuer::warpgroup, Number::s32, {Number::s8, Number::u8}, {Number::s8, Number::u8},
     {{64, 0, 32}}, {MmaRow::Ending::none, MmaRow::Ending::saturate}},
    {90, Issuer::warpgroup, Number::f16, {Number::e4m3, Number::e5m2}, {Number::e4m3, Number::e5m2},
     {{64, 0, 32}}},
    {90, Issuer::warpgroup, Number::f32, {Number::e4m3, Number::e5m2}, {Number::e4m3, Number::e5m2},
     {{64, 0, 32}}},
};
// clang-format on

namespace detail {

/// Returns true if n is a possible N of wgmma with accumulators of type d: a multiple of 8 up to 256; for integers
/// only 8, 24 and the multiples of 16.
ZELLIGE_ALGEBRA constexpr bool warpgroup_n(Number d, int n) {
  if (n % 8 != 0 || n < 8 || n > 256) return false;
  return d != Number::s32 || n == 8 || n == 24 || n % 16 == 0;
}

/// Returns true if instruction `r` belongs to family `f`, a line of the table: issuing threads and types are those of
/// `f`, and shape and suffix are among those that `f` lists.
ZELLIGE_ALGEBRA constexpr bool admits(MmaFamily const& f, MmaRow const& r) {
  auto among = [](Number n, Number const(&of)[2]) { return n != Number::none && (n == of[0] || n == of[1]); };
  if (f.arch != r.arch || f.issuer != r.issuer || f.d != r.d || !among(r.a, f.a) || !among(r.b, f.b)) return false;
  if (r.ending != f.ending[0] && r.ending != f.ending[1]) return false;
  for (MmaShape const& s : f.shapes) {
    bool const n_fits = s.n == r.n || (s.n == 0 && warpgroup_n(f.d, r.n));
    if (s.m == r.m && s.k == r.k && s.m != 0 && n_fits) return true;
  }
  return false;
}

/// Parses an instruction name from left to right; `at` is the next character.
struct NameReader {
  char const* at;
  /// If the rest of the name begins with `word`, skips `word` and returns true. Otherwise returns false.
  ZELLIGE_ALGEBRA constexpr bool next(char const* word) {
    char const* p = at;
    while (*word != 0 && *p == *word) ++p, ++word;
    if (*word != 0) return false;
    at = p;
    return true;
  }
  /// Reads and returns a decimal number, or returns 0 if the next character is no digit. Digits that would make the
  /// number exceed 30000 are skipped.
  ZELLIGE_ALGEBRA constexpr short number() {
    int n = 0;
    for (; *at >= '0' && *at <= '9'; ++at) n = n < 3000 ? 10 * n + (*at - '0') : n;
    return static_cast<short>(n);
  }
  /// Reads the longest name of a number type, such as BF16, and returns the type. Returns Number::none if the rest of
  /// the name begins with no such name.
  ZELLIGE_ALGEBRA constexpr Number type() {
    int best = -1,
        i = 0;  // not a pointer to a row: with -fsanitize=undefined g++ cannot compare it in a constant
    for (NumberName const& row : number_names) {
      NameReader trial{at};
      if (trial.next(row.name) &&
          (best < 0 || NameReader{number_names[best].name}.length() < NameReader{row.name}.length()))
        best = i;
      ++i;
    }
    if (best < 0) return Number::none;
    next(number_names[best].name);
    return number_names[best].number;
  }
  ZELLIGE_ALGEBRA constexpr int length() const {
    int n = 0;
    while (at[n] != 0) ++n;
    return n;
  }
  /// Skips the template arguments in a wgmma name, such as <MN,K> or <Major::K, Major::MN, ScaleIn::One,
  /// ScaleIn::Neg>. Returns false if they are invalid. `majors` says that the name has major orders, as names of
  /// instructions on 16-bit types have. An A in registers (a_from_smem is false) must be K-major.
  ZELLIGE_ALGEBRA constexpr bool gmma_arguments(bool majors, bool a_from_smem) {
    if (!next("<")) return false;
    int given = 0;
    while (!next(">")) {
      if (given > 0 && !next(",")) return false;
      while (next(" ")) continue;
      while (next("SM90::") || next("GMMA::")) continue;
      bool const major = majors && given < 2;
      next(major ? "Major::" : "ScaleIn::");
      bool const first = next(major ? "K" : "One"), second = !first && next(major ? "MN" : "Neg");
      if ((!first && !second) || ++given > (majors ? 4 : 2)) return false;
      if (major && second && given == 1 && !a_from_smem) return false;
    }
    return given != 1 || !majors;
  }
};

}  // namespace detail

/// Returns the descriptor of the instruction with this CuTe name. The MmaRow converts to false if there is no such
/// instruction.
ZELLIGE_ALGEBRA constexpr MmaRow find_mma(char const* name) {
  detail::NameReader in{name};
  MmaRow row;
  if (in.next("SM61_DP")) {
    bool const four = in.next("4A");
    Number const from = four ? Number::s8 : Number::s16;
    if (!four && !in.next("2A")) return {};
    if (*in.at != 0) return {};
    return {61, 1, 1, short(four ? 4 : 2), Number::s32, from, from, Number::s32};
  }
  bool const gmma = in.next("SM90::GMMA::MMA_");
  if (gmma || in.next("SM90::MMA_")) {
    row.arch = 90;
  } else {
    if (!in.next("SM")) return {};
    row.arch = in.number();
    if (!in.next("_")) return {};
  }
  row.m = in.number();
  if (!in.next("x")) return {};
  row.n = in.number();
  if (!in.next("x")) return {};
  row.k = in.number();
  if (!in.next("_")) return {};
  row.d = in.type(), row.a = in.type(), row.b = in.type();
  row.issuer = row.arch == 70 ? Issuer::quad_pair : row.arch == 90 && row.m == 64 ? Issuer::warpgroup : Issuer::warp;
  if (row.issuer == Issuer::warpgroup) {
    row.c = row.d;
    row.a_from_smem = in.next("_SS");
    if (!row.a_from_smem && !in.next("_RS")) return {};
    bool const either_major = bits_of(row.a) == 16;  // other types have no transpose: TN is part of the name
    if (!either_major && !in.next("_TN")) return {};
    // The majors of A and B, and their signs, affect how descriptors are read; the layouts are the same.
    if (*in.at == '<' && !in.gmma_arguments(either_major, row.a_from_smem)) return {};
  } else {
    row.c = in.type();
    if (row.c != row.d || !in.next("_")) return {};
    row.a_rows = in.next("T");
    if (!row.a_rows && !in.next("N")) return {};
    row.b_columns = in.next("N");
    if (!row.b_columns && !in.next("T")) return {};
    if (row.issuer == Issuer::warp && !(row.a_rows && row.b_columns)) return {};
  }
  if (in.next("_SATURATE")) row.ending = MmaRow::Ending::saturate;
  if (in.next("_XORPOPC")) row.ending = MmaRow::Ending::xor_popc;
  if (in.next("_ANDPOPC")) row.ending = MmaRow::Ending::and_popc;
  if (*in.at != 0) return {};
  for (MmaFamily const& f : mma_families) {
    if (detail::admits(f, row)) return row;
  }
  return {};
}

#if !defined(__CUDACC_RTC__)
/// Calls f(row) for every instruction of the table. Instructions of SM70 (issued by quad pairs) are included in all
/// four combinations of major orders of A and B; wgmma is included both with A in shared memory and with A in
/// registers. DP4A and DP2A are not included.
template <class F>
constexpr void each_mma_row(F&& f) {
  for (MmaFamily const& family : mma_families) {
    for (MmaShape const& s : family.shapes) {
      bool const any_n = s.m != 0 && s.n == 0;
      for (int n = any_n ? 8 : s.n; s.m != 0 && n <= (any_n ? 256 : s.n); n += 8) {
        if (any_n && !detail::warpgroup_n(family.d, n)) continue;
        for (Number a : family.a) {
          for (Number b : family.b) {
            for (int e = 0; e < (family.ending[0] == family.ending[1] ? 1 : 2); ++e) {
              if (a == Number::none || b == Number::none) continue;
              MmaRow row{family.arch, s.m, short(n), s.k, family.d, a, b, family.d, family.issuer, family.ending[e]};
              int const forms = row.issuer == Issuer::quad_pair ? 4 : row.issuer == Issuer::warpgroup ? 2 : 1;
              for (int form = 0; form < forms; ++form) {
                row.a_rows = row.issuer != Issuer::quad_pair || form % 2 == 0;
                row.b_columns = form < 2 || row.issuer != Issuer::quad_pair;
                row.a_from_smem = row.issuer == Issuer::warpgroup && form == 0;
                f(static_cast<MmaRow const&>(row));
              }
            }
          }
        }
      }
    }
  }
}
#endif

}  // namespace zellige
