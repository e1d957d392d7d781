// Evaluates a layout operation, given by its name, on operands in CuTe's notation:
//
//   evaluate("complement", {"_4:_2", "_24"})  is  "(_2,_3):(_1,_8)"
//
// Host only; called by the command `zellige layout` and by tests. The operations on layouts are those of the table in
// algebra/op.hpp; operations on tensors, and operations that print, are defined in this file.
#pragma once
#include <utility>
#include <zellige/layout/algebra/tensors.hpp>
#include <zellige/layout/picture.hpp>
#include <zellige/layout/signature.hpp>

namespace zellige {

namespace detail {
/// Returns the size in bits of an element type such as half_t or e4m3. Throws LayoutError if the name is
/// unknown.
inline long long bits_of_type(std::string_view type) {
  constexpr std::pair<char const*, int> known[] = {
      {"bool", 8},       {"char", 8},       {"int8", 8},       {"uint8", 8},      {"float8", 8},     {"fp8", 8},
      {"e4m3", 8},       {"e5m2", 8},       {"half", 16},      {"bfloat16", 16},  {"bf16", 16},      {"int16", 16},
      {"uint16", 16},    {"float", 32},     {"tf32", 32},      {"tfloat32", 32},  {"int", 32},       {"int32", 32},
      {"uint32", 32},    {"unsigned", 32},  {"double", 64},    {"int64", 64},     {"uint64", 64},    {"uint128", 128},
      {"int4", 4},       {"uint4", 4},      {"int2", 2},       {"uint2", 2},      {"uint1", 1},      {"int1", 1},
      {"float_e4m3", 8}, {"float_e5m2", 8}, {"float_e2m1", 4}, {"float_e2m3", 6}, {"float_e3m2", 6}, {"float_ue8m0", 8},
      {"float_ue4m3", 8}};
  if (type.ends_with("_t")) type.remove_suffix(2);
  for (auto [name, bits] : known) {
    if (type == name) return bits;
  }
  throw LayoutError("element type " + std::string(type) + " is unknown", {Rule::not_a_layout, 0, 0});
}
/// Returns the canonical layout of a shared-memory tile for wgmma, for elements of `bits` bits. `major` is
/// "K" or "MN"; `kind` is the swizzle: "SW128", "SW64", "SW32", or "INTER" for none.
inline Value gmma_atom(Tape& t, std::string_view major, std::string_view kind, long long bits) {
  int const swizzle = kind == "SW128" ? 3 : kind == "SW64" ? 2 : kind == "SW32" ? 1 : 0;
  Num const line = fixed(128LL << swizzle);
  bool const k = major == "K";
  Value const raw = k ? bundle(ValueKind::layout, mode(fixed(8), {line}), mode(line, {fixed(1)}))
                      : bundle(ValueKind::layout, mode(line, {fixed(1)}), mode(fixed(8), {line}));
  return algebra::composed(algebra::swizzle_value({swizzle, 4, 3}), leaf({-1, ValueKind::flag, fixed(bits), {}, 0}),
                           algebra::upcast(t, raw, bits));
}

/// Returns the operand's value if it is a tensor; if it is a shape, returns the identity tensor of that
/// shape.
inline Value tensor_of(ParsedOperand const& o) {
  return o.value.is(ValueKind::tensor) ? o.value : algebra::identity_tensor(o.value);
}
/// Returns v, the result of an operation, as a string; "" if the operation was refused (t.failed()).
inline std::string text_of(Tape const& t, Value const& v) { return t.failed() ? "" : to_text(v); }

inline constexpr Operation tensor_operations[] = {
    {"make_identity_tensor", "make_identity_tensor", "i", Op::count,
     [](Tape&, Operands const& o) { return to_text(algebra::identity_tensor(o[0].value)); }},
    {"make_coord_tensor", "make_coord_tensor", "p", Op::count,
     [](Tape& t, Operands const& o) {
       algebra::coshape(t, o[0].value);  // refuses strides of different modules
       return t.failed() ? "" : to_text(algebra::coord_tensor(o[0].value));
     }},
    {"tensor_call", "layout_call tensor_eval tensor_slice", "t x", Op::count,
     [](Tape& t, Operands const& o) { return text_of(t, algebra::tensor_call(t, o[0].value, o[1].value)); }},
    {"local_tile", "local_tile inner_partition", "d m x", Op::count,
     [](Tape& t, Operands const& o) {
       return text_of(t, algebra::local_tile(t, tensor_of(o[0]), o[1].value, o[2].value));
     }},
    {"local_tile_proj", "local_tile", "d m x x", Op::count,
     [](Tape& t, Operands const& o) {
       Value const tiler = algebra::dice(t, o[3].value, o[1].value), crd = algebra::dice(t, o[3].value, o[2].value);
       return t.failed() ? "" : text_of(t, algebra::local_tile(t, tensor_of(o[0]), tiler, crd));
     }},
    {"outer_partition", "outer_partition", "d m x", Op::count,
     [](Tape& t, Operands const& o) {
       return text_of(t, algebra::partition(t, tensor_of(o[0]), o[1].value, o[2].value, false));
     }},
    {"local_partition", "local_partition", "d p n x?", Op::count,
     [](Tape& t, Operands const& o) {
       Value const projection = o.size() > 3 ? o[3].value : number(1);
       return text_of(t, algebra::local_partition(t, tensor_of(o[0]), o[1].value, o[2].value, projection));
     }},
    {"domain_offset", "domain_offset", "d i", Op::count,
     [](Tape& t, Operands const& o) {
       Value const x = tensor_of(o[0]);
       return text_of(t, algebra::seen_from(t, x, o[1].value));
     }},
    {"group_modes", "group_modes", "d k k", Op::count,
     [](Tape& t, Operands const& o) {
       Value const x = tensor_of(o[0]);
       int const begin = algebra::small(o[1].value), end = algebra::small(o[2].value);
       Value const l = algebra::group(t, algebra::innermost(x[1]), begin, end);
       return t.failed() ? "" : to_text(algebra::tensor(x[0], algebra::with_innermost(x[1], l)));
     }},
    {"gmma_smem_atom", "gmma_smem_atom", "w w e", Op::count,
     [](Tape& t, Operands const& o) {
       return text_of(t, gmma_atom(t, o[0].text, o[1].text, bits_of_type(o[2].text)));
     }},
    // The following operations return the string that they print, not a value in CuTe's notation.
    {"print_tensor", "print_tensor", "t", Op::count,
     [](Tape&, Operands const& o) { return tensor_text(o[0].value, false); }},
    {"ostream_tensor", "ostream_tensor", "t", Op::count,
     [](Tape&, Operands const& o) { return tensor_text(o[0].value, true); }},
    {"print_layout", "print_layout", "c", Op::count, [](Tape&, Operands const& o) { return layout_table(o[0].value); }},
    {"print_latex", "print_latex", "c", Op::count, [](Tape&, Operands const& o) { return layout_latex(o[0].value); }},
    {"print_tensor_values", "print_tensor_values", "w c w", Op::count,
     [](Tape&, Operands const& o) { return values_text(o[0].text, o[1].value, o[2].text); }},
};

/// Returns the values of the operands; the name of an element type becomes its size in bits.
inline Values values_of(Operands const& operands) {
  Values v;
  for (ParsedOperand const& o : operands) v.push_back(o.is_word() ? number(bits_of_type(o.text)) : o.value);
  return v;
}
}  // namespace detail

/// The operation selected for given operands. If `inside`, the first operand is a tensor, and the operation
/// applies to its layout.
struct SelectedRow {
  Operation const* row = nullptr;
  bool inside = false;
};
/// Returns the first of the operations `rows` that accepts the operands. If none accepts them and the first
/// operand is a tensor, tries again with the tensor's layout in place of the tensor. The member `row` of the
/// result is null if no operation fits.
inline SelectedRow choose_row(Rows const& rows, Operands const& operands) {
  if (Operation const* row = row_for(rows, operands)) return {row};
  if (operands.empty() || operands[0].is_word() || !operands[0].value.is(ValueKind::tensor)) return {};
  Operands inner = operands;
  inner[0].value = operands[0].value[1];
  for (Operation const* row : rows) {
    if (row->run == nullptr && fits(*row, inner)) return {row, true};
  }
  return {};
}
/// Returns the result, in CuTe's notation, of the selected operation on operands that it accepts. Throws
/// LayoutError if the operation is refused; `name` appears in the message.
inline std::string evaluate(SelectedRow const& selected, std::string_view name, Operands const& operands) {
  Tape t;
  std::string text;
  if (selected.row->run != nullptr) {
    text = selected.row->run(t, operands);
  } else {
    Values v = detail::values_of(operands);
    Value const x = v[0];
    if (selected.inside) v[0] = x[1];
    Value const r = apply(selected.row->op, t, v);
    bool const again = selected.inside && (r.is_layout() || r.is(ValueKind::composed));
    if (!t.failed()) text = to_text(again ? algebra::tensor(x[0], r) : r);
  }
  if (t.failed()) throw LayoutError(std::string(name) + ": " + to_text(t.refusal()), t.refusal());
  return text;
}

/// Returns the result, in CuTe's notation, of the operation `name` on operands in CuTe's notation. Throws
/// LayoutError if the operation is unknown, does not accept the operands, or is refused.
inline std::string evaluate(std::string_view name, std::vector<std::string> const& texts) {
  Rows rows = named(layout_operations, name);
  Rows const more = named(detail::tensor_operations, name);
  rows.insert(rows.end(), more.begin(), more.end());
  if (rows.empty()) throw LayoutError("operation " + std::string(name) + " is unknown", {Rule::not_a_layout, 0, 0});
  Operands operands;
  for (std::string const& text : texts) operands.push_back(operand(text));
  SelectedRow const selected = choose_row(rows, operands);
  if (selected.row == nullptr) throw LayoutError(misfit(name, rows, operands).why, {Rule::not_a_layout, 0, 0});
  return evaluate(selected, name, operands);
}

}  // namespace zellige
