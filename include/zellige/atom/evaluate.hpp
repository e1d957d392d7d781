// Evaluates operations on instructions, tiled MMAs, tiled copies and TMA copies. Operations are selected by
// name; operands and results are strings in CuTe's notation. Used by the command `zellige layout` and by tests.
// layout/evaluate.hpp has the operations on layouts alone.
//
//   evaluate_atom("tiled_mma_layout_tv", {"SM80_16x8x16_F32F16F16F32_TN", "(_2,_2,_1):(_1,_2,_0)",
//                                         "(_,_,_)", "A"})
//     is "((_4,_8,_2,_2),((_2,_2,_2),(_1,_1))):((_64,_1,_16,_0),((_32,_8,_256),(_0,_0)))"
#pragma once

#include <optional>
#include <stdexcept>
#include <zellige/atom/algebra/tma_descriptor.hpp>
#include <zellige/atom/narrow_text.hpp>
#include <zellige/atom/text.hpp>
#include <zellige/layout/evaluate.hpp>

namespace zellige {
namespace detail {

using Args = std::vector<std::string>;

/// Throws a LayoutError which says that `given` operands are too few for operation `name`.
[[noreturn]] inline void too_few_operands(std::string_view name, std::size_t given) {
  throw LayoutError(std::string(name) + ": " + std::to_string(given) + " operands are too few",
                    {Rule::not_a_layout, 0, 0});
}
/// Throws a LayoutError which says why the tables do not have instruction `name`: it is sparse, of SM100 with scales, lacks
/// template arguments, or is unknown.
[[noreturn]] inline void unknown_instruction(std::string_view name) {
  std::string const text(name);
  bool const newer = name.starts_with("SM100") || name.starts_with("SM120");
  if (!newer && (name.find("SPARSE") != name.npos || name.find("_sparse") != name.npos))
    throw LayoutError(text + ": sparse instructions are not in the tables; the dense ones of SM70 to SM90 are",
                      {Rule::not_a_layout, 0, 0});
  if (newer && name.find('<') == name.npos && (name.find("MMA") != name.npos || name.starts_with("SM120")))
    throw LayoutError(
        text +
            ": the name lacks its template arguments, as in SM120_16x8x32_TN<float_e4m3_t,float_e2m1_t,float> or "
            "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,256,K,K>",
        {Rule::not_a_layout, 0, 0});
  if (name.starts_with("SM100"))
    throw LayoutError(
        text + ": sparse instructions of SM100, and those with scales, are not in the tables; the others are",
        {Rule::not_a_layout, 0, 0});
  throw LayoutError("there is no instruction " + text, {Rule::not_a_layout, 0, 0});
}
/// Splits a name with template arguments: returns {"Name", "a", "b"} for "Name<a,b>".
inline Args split_template(std::string_view name) {
  Args parts;
  std::size_t const open = name.find('<');
  parts.emplace_back(name.substr(0, open));
  if (open == std::string_view::npos || !name.ends_with('>')) return parts;
  std::string_view inside = name.substr(open + 1, name.size() - open - 2);
  while (true) {
    std::size_t const comma = inside.find(',');
    parts.emplace_back(inside.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    inside.remove_prefix(comma + 1);
  }
}

/// A matrix instruction with the number of bits of its element types.
struct NamedMma {
  MmaAtomValue atom;
  int bits[4];  // D, A, B, C
};
/// Returns the matrix instruction with this CuTe name, or for "UniversalFMA<D,A,B,C>" a scalar multiply-add
/// with these types. If types are omitted, A and B are the last type given, and C is D. Throws LayoutError if
/// the name is unknown.
inline NamedMma named_mma(std::string const& name) {
  Args const parts = split_template(name);
  MmaRow row;
  NamedMma r{};
  if (parts[0] == "UniversalFMA" && parts.size() > 1) {
    row.m = row.n = row.k = 1;
    for (std::size_t i = 0; i < 4; ++i) {
      std::size_t const given = parts.size() - 1;
      r.bits[i] = int(bits_of_type(parts[1 + (i < given ? i : i == 3 ? 0 : given - 1)]));
    }
  } else {
    if (UmmaText const u = parse_umma(parts, [](auto const& type) { return bits_of_type(type); }); u.ctas != 0) {
      auto part = [&](int rows, int columns) {
        int const mine = rows / u.ctas;
        Value const elements = algebra::two_modes(mode(fixed(mine), {fixed(1)}), mode(fixed(columns), {fixed(rows)}));
        return algebra::two_modes(mode(fixed(u.ctas), {fixed(u.ctas == 1 ? 0 : mine)}), elements);
      };
      Value const shape = bundle(ValueKind::tuple, number(u.m), number(u.n), number(u.k));
      r.atom = {algebra::column(u.ctas), shape, part(u.m, u.k), part(u.n, u.k), part(u.m, u.n)};
      for (int i = 0; i < 4; ++i) r.bits[i] = u.bits[i];
      return r;
    }
    row = find_mma(name.c_str());
    if (!row) row = find_mma_template(name);
    if (!row) unknown_instruction(name);
    int const of_a = row.stored_bits(row.a), of_b = row.stored_bits(row.b);
    int const bits[] = {bits_of(row.d), of_a, of_b, bits_of(row.c)};
    for (int i = 0; i < 4; ++i) r.bits[i] = bits[i];
  }
  auto part = [&](MmaPart p) { return algebra::mma_layout(row, p); };
  r.atom = {part(MmaPart::threads), algebra::mma_shape(row), part(MmaPart::a), part(MmaPart::b), part(MmaPart::c)};
  return r;
}
/// Returns the copy instruction of this CuTe name, which may have template arguments, such as
/// "UniversalCopy<half_t>". Throws LayoutError if the name is unknown.
inline CopyRow named_copy(std::string const& name) {
  Args const parts = split_template(name);
  auto bits = [&] { return int(bits_of_type(parts.at(1))); };
  if (parts[0] == "UniversalCopy") return vector_copy(bits());
  if (parts[0] == "AutoVectorizingCopyWithAssumedAlignment") return find_copy("AutoVectorizingCopy");
  if (parts[0].starts_with("SM80_CP_ASYNC_CACHE")) {
    bool const global = parts[0].starts_with("SM80_CP_ASYNC_CACHEGLOBAL");
    int const b = bits();
    return vector_copy(b, 80, global ? (b == 128 ? 0 : 128) : b == 32 || b == 64 || b == 128 ? 0 : 32);
  }
  CopyRow const row = find_copy(name.c_str());
  if (!row) unknown_instruction(name);
  return row;
}
/// Returns the layouts of Copy_Atom<name, type>. Records a failure in `t` if an element of the type would span
/// threads.
inline CopyAtomValue copy_atom(Tape& t, std::string const& name, std::string const& type) {
  CopyRow const row = named_copy(name);
  long long const bits = bits_of_type(type);
  auto part = [&](CopyPart p) { return algebra::copy_values(t, row, p, bits); };
  return {algebra::copy_layout(row, CopyPart::threads), part(CopyPart::source), part(CopyPart::destination),
          part(CopyPart::reference), bits};
}

/// Returns how a TiledMMA partitions its operand `part` ('A', 'B' or 'C'). Three strings describe the TiledMMA:
/// a[from] is the instruction, a[from + 1] the layout of its repetitions over M, N and K, a[from + 2] the
/// permutation of M, N and K. Modes that the layout omits have one repetition; modes that the permutation
/// omits are not permuted.
inline algebra::MmaTiling mma_tiling(Tape& t, Args const& a, std::size_t from, char part) {
  NamedMma const m = named_mma(a.at(from));
  MmaPart const p = part == 'A' ? MmaPart::a : part == 'B' ? MmaPart::b : MmaPart::c;
  // Modes that the string omits have one repetition.
  Value const threads = algebra::pad_to(t, parse_value(a.at(from + 1)), 3, unit());
  Value const given = parse_value(a.at(from + 2));
  Value const permutation =
      algebra::pad_to(t, given.is_tuple() ? given : bundle(ValueKind::tuple, given), 3, underscore());
  Value const vmnk = algebra::call(Op::tiled_product, t, m.atom.threads, threads);
  return {p, p == MmaPart::a ? m.atom.a : p == MmaPart::b ? m.atom.b : m.atom.c, m.atom.shape, vmnk, permutation};
}
/// Returns how a TiledCopy partitions its source (`side` is 'S') or its destination ('D'). The TiledCopy
/// consists of the instruction `atom` and of `tv_and_tiler`, the pair (layout_tv, tiler).
inline algebra::CopyTiling copy_tiling(CopyAtomValue const& atom, Value const& tv_and_tiler, char side) {
  return {tv_and_tiler[0], tv_and_tiler[1], atom.reference, side == 'S' ? atom.source : atom.destination};
}
/// Returns the pair (layout_tv, tiler) of the TiledCopy that make_tiled_copy_A, _B or _C makes for operand m.part (A,
/// B or C) of the TiledMMA `m`. If `smallest`, returns that of make_tiled_copy_C_atom.
inline Value operand_tiling(Tape& t, CopyAtomValue const& atom, algebra::MmaTiling const& m, bool smallest) {
  using namespace algebra;
  if (smallest) return accumulator_tiling(t, m, number(size_of(t, atom.source[1])));
  Value tile = empty(ValueKind::tuple);
  for (int i = 0; i < 2; ++i) tile.add(number(size_of(t, permutation_mnk(t, m, m.mode_of(i)))));
  Value const tv = mma_layout_tv(t, m);
  return t.failed() ? nothing() : pair(tv, tile);
}

/// Returns, as a string, the coordinates that a partition selects in a tensor of shape `shape`. `part` is the
/// partition as a pair (layout, offset). Returns "" if a failure is recorded in `t`.
inline std::string part_text(Tape& t, Value const& shape, Value const& part) {
  using namespace algebra;
  if (t.failed()) return "";
  Value const x = identity_tensor(shape);
  Value const at = advance(t, x[0], part[1]);
  return t.failed() ? "" : to_text(tensor(at, part[0]));
}

/// Returns the result of the operation `op`, whose name begins with tiled_mma_, or "" if a failure is recorded in
/// `t`. `a` is: instruction, repetitions over threads, permutation, "A", "B" or "C", then, if the operation needs
/// them, a shape and a thread index.
inline std::string evaluate_tiled_mma(Tape& t, std::string_view op, Args const& a) {
  using namespace algebra;
  char const part = a.size() > 3 ? a[3][0] : 'C';
  MmaTiling const m = mma_tiling(t, a, 0, part);
  if (t.failed()) return "";
  if (op == "tiled_mma_print") return tiled_mma_text(m.vmnk, m.permutation, named_mma(a[0]).atom);
  Value r = nothing();
  if (op == "tiled_mma_tile_shape") {
    r = empty(ValueKind::tuple);
    for (int i = 0; i < 3; ++i) r.add(number(size_of(t, permutation_mnk(t, m, i))));
  } else if (op == "tiled_mma_layout_tv") {
    r = mma_layout_tv(t, m);
  } else {
    Value const shape = parse_value(a.at(4));
    if (op == "tiled_mma_partition_shape") {
      r = mma_partition_shape(t, shape, m);
    } else if (op == "tiled_mma_thrfrg") {
      r = thrfrg(t, compact_left(t, shape), m);
    } else {
      Value const identity = identity_layout(shape);
      Value const at = thread_vmnk(t, m.vmnk, parse_value(a.at(5)));
      return t.failed() ? "" : part_text(t, shape, mma_partition(t, identity, m, at));
    }
  }
  return t.failed() ? "" : to_text(r);
}

/// Returns the result of the operation `op`, which is cotiled_copy or begins with tiled_copy_, or "" if a failure is
/// recorded in `t`. `a` is: instruction, element type, the layouts of the tiling, then, if the operation needs them,
/// "S" or "D" for source or destination, a shape and a thread index.
inline std::string evaluate_tiled_copy(Tape& t, std::string_view op, Args const& a) {
  using namespace algebra;
  CopyAtomValue const atom = copy_atom(t, a.at(0), a.at(1));
  if (t.failed()) return "";
  bool const of_mma = op.starts_with("tiled_copy_mma");
  Value tiling = nothing();
  std::size_t next = 4;
  if (op == "cotiled_copy") {
    tiling = cotiled_tiling(t, parse_value(a.at(2)), parse_value(a.at(3)));
  } else if (of_mma) {
    tiling = operand_tiling(t, atom, mma_tiling(t, a, 2, a.at(5)[0]), a.at(5) == "C_atom");
    next = 6;
  } else {
    tiling = raked_tiling(t, parse_value(a.at(2)), parse_value(a.at(3)));
  }
  if (t.failed()) return "";
  CopyTiling const c = copy_tiling(atom, tiling, next < a.size() ? a[next][0] : 'S');
  check_tiling(t, c);
  if (t.failed()) return "";
  if (op.ends_with("_print") || op == "cotiled_copy") return tiled_copy_text(c.tiler, c.tv, atom);
  Value r = nothing();
  if (op == "tiled_copy_layout_tv") {
    r = copy_layout_tv(t, c);
  } else if (op == "tiled_copy_tidfrg") {
    r = tidfrg(t, compact_left(t, parse_value(a.at(next + 1))), c);
  } else if (op == "tiled_copy_mma_retile") {
    MmaTiling const m = mma_tiling(t, a, 2, a[5][0]);
    Value const shape = parse_value(a.at(6)), at = thread_vmnk(t, m.vmnk, number(0));
    Value const part = t.failed() ? nothing() : mma_partition(t, identity_layout(shape), m, at);
    if (t.failed()) return "";
    Value const fragment = compact_left(t, shape_of(part[0]));
    Value const again = retile(t, fragment, c);
    return t.failed() ? "" : to_text(fragment) + "\n" + to_text(again);
  } else {
    Value const shape = parse_value(a.at(next + 1));
    return part_text(t, shape, copy_partition(t, identity_layout(shape), c, parse_value(a.at(next + 2))));
  }
  return t.failed() ? "" : to_text(r);
}

/// Returns the layout of a shared-memory tile that `text` describes: a layout in CuTe's notation, or, for
/// example, "GMMA|MN_SW128|half_t|(_128,_64)", which is the wgmma layout atom MN_SW128 of half_t, repeated to
/// cover shape (_128,_64).
inline Value shared_layout(Tape& t, std::string const& text) {
  if (!text.starts_with("GMMA|")) return parse_value(text);
  std::size_t const kind = 5, type = text.find('|', kind) + 1, shape = text.find('|', type) + 1;
  std::string const name = text.substr(kind, type - 1 - kind);
  std::size_t const bar = name.find('_');
  Value const atom =
      gmma_atom(t, name.substr(0, bar), name.substr(bar + 1), bits_of_type(text.substr(type, shape - 1 - type)));
  return algebra::call(Op::tile_to_shape, t, atom, parse_value(text.substr(shape)));
}

/// Returns the result of the operation `op`, whose name begins with tma_, or "" if a failure is recorded in `t`. `a`
/// is: TMA instruction (not used), element type, global layout, shared layout, tiler, number of CTAs of the
/// multicast; for partitions, also the tile's coordinate and the CTA's index.
inline std::string evaluate_tma(Tape& t, std::string_view op, Args const& a) {
  using namespace algebra;
  long long const bits = bits_of_type(a.at(1));
  Value const global = parse_value(a.at(2)), shared = shared_layout(t, a.at(3)), tiler = parse_value(a.at(4));
  Num const cluster = parse_value(a.at(5)).root().s;
  Value const modes = tile_modes(t, global, tiler);
  if (t.failed()) return "";
  if (shared.is(ValueKind::composed) && !shared[0].is(ValueKind::swizzle))
    return t.refuse(Rule::composed_operand, 4, static_cast<long long>(a.size())), "";
  TmaRequest const request{global, algebra::without_swizzle(shared), modes, bits, bits};
  Value const box = tma_basis(t, request);
  if (t.failed()) return "";
  TmaNumbers const n = tma_numbers(t, request, box, cluster.v);
  Value const strides = tma_stride(t, request, box);
  if (t.failed()) return "";
  Value const coordinates = coord_tensor(pair_up(shape_of(global), strides));
  Value const ctas = run_of(cluster);
  if (op == "tma_copy") {
    Value const tiling = tma_tiling(t, request, box, ctas);
    if (t.failed()) return "";
    std::string text = "Tiler_MN: " + to_text(tiling[1]) + "\nTiledLayout_TV: " + to_text(tiling[0]) +
                       "\nTmaGmemBasis: " + to_text(box) + "\nTmaTensor: " + to_text(coordinates) + "\nglobalDim: ";
    for (long long e : n.extent) text += std::to_string(e) + ' ';
    text += "\nglobalStride: ";
    for (long long s : n.stride) text += std::to_string(s) + ' ';
    return text;
  }
  Value const part = local_tile(t, coordinates, tiler, parse_value(a.at(6)));
  if (t.failed()) return "";
  Value const cta = parse_value(a.at(7));
  Num const elements = tma_elements(t, request, box);
  // If the swizzle belongs to the pointer, the layout has none; otherwise the layout keeps its swizzle and the
  // offset of the partition.
  auto shared_text = [&](Value const& mine) {
    if (!shared.is(ValueKind::composed) || shared[1].is(ValueKind::flag)) return to_text(mine[0]);
    Num const begin = t.add(shared[1].root().s, mine[1].root().s);
    return to_text(composed(shared[0], number(begin), mine[0]));
  };
  if (op == "tma_copy_partition") {
    Value const tiling = tma_tiling(t, request, box, ctas);
    if (t.failed()) return "";
    Value const one = bundle(ValueKind::layout, unit(), run_of(elements));
    CopyTiling const c{tiling[0], tiling[1], one, one};
    Value const g = copy_partition(t, part[1], c, cta), s = copy_partition(t, request.shared, c, cta);
    if (t.failed()) return "";
    return "gA: " + to_text(part) + "\ntAgA: " + to_text(tensor(advance(t, part[0], g[1]), g[0])) +
           "\ntAsA: " + shared_text(s);
  }
  auto grouped = [&](Value const& l) { return group(t, l, 0, 2); };
  Value const tile = grouped(request.shared), whole = grouped(part[1]);
  if (t.failed()) return "";
  Value const g = tma_partition(t, whole, tile, elements, cta, ctas);
  Value const s = tma_partition(t, tile, tile, elements, cta, ctas);
  if (t.failed()) return "";
  return "tAgA: " + to_text(tensor(advance(t, part[0], g[1]), g[0])) + "\ntAsA: " + shared_text(s);
}

/// Returns the fields of a wgmma descriptor as a string, or "" if a failure is recorded in `t`. `a` is: major order
/// ("K", "MN"), swizzle ("SW128"), element type, and the shape (M or N, K) of one instruction's operand.
inline std::string evaluate_gmma_descriptor(Tape& t, Args const& a) {
  using namespace algebra;
  long long const bits = bits_of_type(a.at(2));
  Value const block = parse_value(a.at(3));
  Value const shape = pair(block[0], number(128));
  Value const whole = call(Op::tile_to_shape, t, gmma_atom(t, a.at(0), a.at(1), bits), shape);
  if (t.failed()) return "";
  Value const part = call(Op::zipped_divide, t, whole[2], block);
  if (t.failed()) return "";
  GmmaStrides const s = gmma_strides(t, part[0], int(bits_of(whole[0]).bits), a[0] == "K", bits);
  return gmma_strides_text(s);
}

/// Returns a TMA multicast mask as a decimal number. `a` is: the layout of the cluster, a list of modes such as
/// "0,1", and the coordinate of a CTA. The mask contains the CTAs whose coordinates differ from this coordinate at
/// most in the listed modes.
inline std::string evaluate_multicast(Tape& t, Args const& a) {
  using namespace algebra;
  Value const layout = parse_value(a.at(0));
  Value crd = parse_value(a.at(2));
  for (std::size_t i = 0; i < a[1].size(); ++i) {
    if (a[1][i] != ',') crd = replace(t, crd, a[1][i] - '0', underscore());
  }
  Value const both = call(Op::slice_and_offset, t, crd, layout);
  if (t.failed()) return "";
  unsigned mask = 0;
  for (long long i = 0; i < size_of(t, both[0]).v; ++i)
    mask |= 1u << index_of(t, number(dynamic(i)), both[0]).root().s.v;
  return std::to_string((mask << both[1].root().s.v) & 0xffffu);
}

inline std::string evaluate_mma_traits(Tape&, Args const& a) {
  NamedMma const m = named_mma(a.at(0));
  return mma_traits_text(m.atom, m.bits);
}
inline std::string evaluate_copy_traits(Tape&, Args const& a) {
  CopyRow row = named_copy(a.at(0));
  row.wrong_for = 0;
  auto part = [&](CopyPart p) { return algebra::copy_layout(row, p); };
  return copy_traits_text(
      {part(CopyPart::threads), part(CopyPart::source), part(CopyPart::destination), part(CopyPart::reference), 1});
}
inline std::string evaluate_copy_atom_print(Tape& t, Args const& a) {
  CopyAtomValue const c = copy_atom(t, a.at(0), a.at(1));
  return t.failed() ? "" : copy_atom_text(c);
}
/// Returns the strings from which the operands were parsed.
inline Args texts_of(Operands const& operands) {
  Args texts;
  for (ParsedOperand const& o : operands) texts.push_back(o.text);
  return texts;
}

/// The operations of this file: id, name, the kinds of the operands (layout/signature.hpp), and the function.
inline constexpr Operation atom_operations[] = {
    {"mma_traits", "mma_traits", "w", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_mma_traits(t, texts_of(o)); }},
    {"copy_traits", "copy_traits", "w", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_copy_traits(t, texts_of(o)); }},
    {"copy_atom_print", "copy_atom_print", "w w", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_copy_atom_print(t, texts_of(o)); }},
    {"tiled_mma_print", "tiled_mma_print", "w q 3", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_mma(t, "tiled_mma_print", texts_of(o)); }},
    {"tiled_mma_tile_shape", "tiled_mma_tile_shape", "w q 3", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_mma(t, "tiled_mma_tile_shape", texts_of(o)); }},
    {"tiled_mma_layout_tv", "tiled_mma_layout_tv", "w q 3 w", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_mma(t, "tiled_mma_layout_tv", texts_of(o)); }},
    {"tiled_mma_partition_shape", "tiled_mma_partition_shape", "w q 3 w y", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_mma(t, "tiled_mma_partition_shape", texts_of(o)); }},
    {"tiled_mma_thrfrg", "tiled_mma_thrfrg", "w q 3 w y", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_mma(t, "tiled_mma_thrfrg", texts_of(o)); }},
    {"tiled_mma_partition", "tiled_mma_partition", "w q 3 w y n", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_mma(t, "tiled_mma_partition", texts_of(o)); }},
    {"cotiled_copy", "cotiled_copy", "w w p p", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_copy(t, "cotiled_copy", texts_of(o)); }},
    {"tiled_copy_print", "tiled_copy_print", "w w p p", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_copy(t, "tiled_copy_print", texts_of(o)); }},
    {"tiled_copy_layout_tv", "tiled_copy_layout_tv", "w w p p w", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_copy(t, "tiled_copy_layout_tv", texts_of(o)); }},
    {"tiled_copy_tidfrg", "tiled_copy_tidfrg", "w w p p w i", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_copy(t, "tiled_copy_tidfrg", texts_of(o)); }},
    {"tiled_copy_partition", "tiled_copy_partition", "w w p p w i n", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_copy(t, "tiled_copy_partition", texts_of(o)); }},
    {"tiled_copy_mma_print", "tiled_copy_mma_print", "w w w q 3 w", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_copy(t, "tiled_copy_mma_print", texts_of(o)); }},
    {"tiled_copy_mma_partition", "tiled_copy_mma_partition", "w w w q 3 w w y n", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_copy(t, "tiled_copy_mma_partition", texts_of(o)); }},
    {"tiled_copy_mma_retile", "tiled_copy_mma_retile", "w w w q 3 w y", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tiled_copy(t, "tiled_copy_mma_retile", texts_of(o)); }},
    {"tma_copy", "tma_copy", "w w p w m n", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tma(t, "tma_copy", texts_of(o)); }},
    {"tma_copy_partition", "tma_copy_partition", "w w p w m n x n", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tma(t, "tma_copy_partition", texts_of(o)); }},
    {"tma_atom_partition", "tma_atom_partition", "w w p w m n x n", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_tma(t, "tma_atom_partition", texts_of(o)); }},
    {"tma_multicast_mask", "tma_multicast_mask", "p w i", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_multicast(t, texts_of(o)); }},
    {"gmma_desc", "gmma_desc", "w w w y", Op::count,
     [](Tape& t, Operands const& o) { return evaluate_gmma_descriptor(t, texts_of(o)); }},
};
}  // namespace detail

/// Returns the result of operation `name` on the operands `texts`, as a string. Returns nullopt if this file
/// has no operation of that name. Throws LayoutError if the operands are invalid or too few.
inline std::optional<std::string> evaluate_atom(std::string_view name, std::vector<std::string> const& texts) try {
  Rows const rows = named(detail::atom_operations, name);
  if (rows.empty()) return std::nullopt;
  Operands operands;
  for (std::string const& text : texts) operands.push_back(operand(text));
  return evaluate(SelectedRow{rows[0]}, name, operands);
} catch (std::out_of_range const&) {
  detail::too_few_operands(name, texts.size());
}

}  // namespace zellige
