// Operations by name on text: evaluate("complement", {"_4:_2", "_24"}) is "(_2,_3):(_1,_8)".
// Host only; the command line and the tests come in here.
#pragma once
#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>
#include <zellige/layout/algebra/tensors.hpp>
#include <zellige/layout/picture.hpp>
#include <zellige/layout/text.hpp>

namespace zellige {

struct OpName {
  char const* name;
  Op op;
};
/// Names under which operations are called; prefixes t_, i_, composed_, swizzle_ and the ending _mode are
/// understood.
inline constexpr OpName op_names[] = {
    {"coalesce", Op::coalesce},
    {"coalesce_profile", Op::coalesce_profile},
    {"coalesce_shape", Op::coalesce_shape},
    {"composition", Op::composition},
    {"composition_tiler", Op::composition},
    {"composition_basis_rhs", Op::composition},
    {"complement", Op::complement},
    {"complement1", Op::complement1},
    {"right_inverse", Op::right_inverse},
    {"left_inverse", Op::left_inverse},
    {"nullspace", Op::nullspace},
    {"filter", Op::filter},
    {"filter_profile", Op::filter_profile},
    {"filter_zeros", Op::filter_zeros},
    {"filter_zeros_profile", Op::filter_zeros_profile},
    {"logical_divide", Op::logical_divide},
    {"zipped_divide", Op::zipped_divide},
    {"tiled_divide", Op::tiled_divide},
    {"flat_divide", Op::flat_divide},
    {"logical_product", Op::logical_product},
    {"zipped_product", Op::zipped_product},
    {"tiled_product", Op::tiled_product},
    {"flat_product", Op::flat_product},
    {"blocked_product", Op::blocked_product},
    {"raked_product", Op::raked_product},
    {"tile_to_shape", Op::tile_to_shape},
    {"tile_to_shape_order", Op::tile_to_shape},
    {"make_layout_left", Op::make_layout_left},
    {"make_layout_right", Op::make_layout_right},
    {"make_layout", Op::make_layout},
    {"make_layout_concat", Op::make_layout_concat},
    {"make_ordered_layout", Op::make_ordered_layout},
    {"make_layout_like", Op::make_layout_like},
    {"make_fragment_like", Op::make_fragment_like},
    {"make_identity_layout", Op::make_identity_layout},
    {"with_shape", Op::with_shape},
    {"max_common_layout", Op::max_common_layout},
    {"max_common_vector", Op::max_common_vector},
    {"max_alignment", Op::max_alignment},
    {"domain_distribute", Op::domain_distribute},
    {"upcast", Op::upcast},
    {"downcast", Op::downcast},
    {"append", Op::append},
    {"append_N", Op::append_to},
    {"prepend", Op::prepend},
    {"prepend_N", Op::prepend_to},
    {"take", Op::take},
    {"group", Op::group},
    {"get", Op::get},
    {"layout_mode", Op::get},
    {"replace", Op::replace},
    {"flatten", Op::flatten},
    {"unflatten", Op::unflatten},
    {"zip1", Op::zip1},
    {"zip2", Op::zip2},
    {"slice", Op::slice},
    {"dice", Op::dice},
    {"slice_tuple", Op::slice},
    {"dice_tuple", Op::dice},
    {"slice_and_offset", Op::slice_and_offset},
    {"size", Op::size},
    {"cosize", Op::cosize},
    {"coshape", Op::coshape},
    {"coprofile", Op::coprofile},
    {"rank", Op::rank},
    {"depth", Op::depth},
    {"shape", Op::shape},
    {"stride", Op::stride},
    {"crd2idx", Op::crd2idx},
    {"crd2idx2", Op::crd2idx},
    {"idx2crd", Op::idx2crd},
    {"idx2crd2", Op::idx2crd},
    {"crd2crd", Op::crd2crd},
    {"layout_call", Op::layout_call},
    {"layout_eval", Op::layout_call},
    {"eval", Op::layout_call},
    {"get_1d_coord", Op::get_1d_coord},
    {"get_flat_coord", Op::get_flat_coord},
    {"get_hier_coord", Op::get_hier_coord},
    {"i_add", Op::add},
    {"i_sub", Op::sub},
    {"i_mul", Op::mul},
    {"i_div", Op::div},
    {"i_mod", Op::mod},
    {"at_add", Op::add},
    {"at_sub", Op::sub},
    {"at_neg", Op::neg},
    {"basis_add", Op::add},
    {"basis_abs", Op::abs},
    {"basis_ceil_div", Op::ceil_div},
    {"basis_eq", Op::equal},
    {"basis_print", Op::identity},
    {"basis_safe_div", Op::safe_div},
    {"basis_scale", Op::mul},
    {"basis_scale_r", Op::mul},
    {"layout_print", Op::identity},
    {"composed_print", Op::identity},
    {"tensor_print", Op::identity},
    {"as_arithmetic_tuple", Op::as_arithmetic_tuple},
    {"make_basis_like", Op::make_basis_like},
    {"make_swizzle", Op::make_swizzle},
    {"swizzle_apply", Op::swizzle_apply},
    {"compose2", Op::composition},
    {"ceil_div_layout", Op::ceil_div},
    {"t_append", Op::append_to},
    {"t_prepend", Op::prepend_to},
    {"t_ceil_div", Op::ceil_div},
    {"t_colex_less", Op::colex_less},
    {"t_compact_col_major", Op::make_layout_left},
    {"t_compact_row_major", Op::make_layout_right},
    {"t_compatible", Op::compatible},
    {"t_congruent", Op::congruent},
    {"t_elem_leq", Op::elem_leq},
    {"t_elem_less", Op::elem_less},
    {"t_elem_scale", Op::elem_scale},
    {"t_escan", Op::escan},
    {"t_evenly_divides", Op::evenly_divides},
    {"t_filter_zeros", Op::filter_zeros_tuple},
    {"t_flatten_to_tuple", Op::flatten_to_tuple},
    {"t_gcd", Op::gcd},
    {"t_inner_product", Op::inner_product},
    {"t_insert", Op::insert},
    {"t_iscan", Op::iscan},
    {"t_lex_less", Op::lex_less},
    {"t_max", Op::max},
    {"t_min", Op::min},
    {"t_product", Op::product},
    {"t_product_each", Op::product_each},
    {"t_product_like", Op::product_like},
    {"t_remove", Op::remove},
    {"t_repeat_like", Op::repeat_like},
    {"t_reverse", Op::reverse},
    {"t_round_up", Op::round_up},
    {"t_shape_div", Op::shape_div},
    {"t_sum", Op::sum},
    {"t_unwrap", Op::unwrap},
    {"t_weakly_congruent", Op::weakly_congruent},
    {"t_wrap", Op::wrap},
    {"t_zip", Op::zip1},
};

namespace detail {
inline Op find_op(std::string_view name) {
  auto look = [](std::string_view n) {
    for (OpName const& o : op_names) {
      if (n == o.name) return o.op;
    }
    return Op::count;
  };
  Op op = look(name);
  for (std::string_view prefix : {"t_", "i_", "composed_", "swizzle_"}) {
    if (op == Op::count && name.starts_with(prefix)) op = look(name.substr(prefix.size()));
  }
  return op;
}
inline int least_arguments(Op op) {
  switch (op) {
    case Op::coalesce:
    case Op::coalesce_shape:
    case Op::complement1:
    case Op::right_inverse:
    case Op::left_inverse:
    case Op::nullspace:
    case Op::filter:
    case Op::filter_zeros:
    case Op::max_alignment:
    case Op::make_layout_left:
    case Op::make_layout_right:
    case Op::make_layout_concat:
    case Op::make_layout_like:
    case Op::make_fragment_like:
    case Op::make_identity_layout:
    case Op::size:
    case Op::cosize:
    case Op::coshape:
    case Op::coprofile:
    case Op::rank:
    case Op::depth:
    case Op::shape:
    case Op::stride:
    case Op::as_arithmetic_tuple:
    case Op::make_basis_like:
    case Op::neg:
    case Op::abs:
    case Op::product:
    case Op::product_each:
    case Op::sum:
    case Op::gcd:
    case Op::max:
    case Op::min:
    case Op::flatten:
    case Op::flatten_to_tuple:
    case Op::reverse:
    case Op::zip1:
    case Op::wrap:
    case Op::unwrap:
    case Op::identity:
      return 1;
    case Op::take:
    case Op::group:
    case Op::replace:
    case Op::insert:
    case Op::crd2crd:
      return 3;
    default:
      return 2;
  }
}
[[noreturn]] inline void too_few_arguments(std::string_view op, std::size_t given) {
  throw LayoutError(std::string(op) + ": " + std::to_string(given) + " arguments are too few",
                    {Rule::not_a_layout, 0, 0});
}
inline long long bits_of_type(std::string_view type) {
  constexpr std::pair<char const*, int> known[] = {
      {"bool", 8},       {"char", 8},      {"int8", 8},    {"uint8", 8},     {"float8", 8},  {"fp8", 8},
      {"e4m3", 8},       {"e5m2", 8},      {"half", 16},   {"bfloat16", 16}, {"bf16", 16},   {"int16", 16},
      {"uint16", 16},    {"float", 32},    {"tf32", 32},   {"tfloat32", 32}, {"int", 32},    {"int32", 32},
      {"uint32", 32},    {"unsigned", 32}, {"double", 64}, {"int64", 64},    {"uint64", 64}, {"uint128", 128},
      {"int4", 4},       {"uint4", 4},     {"int2", 2},    {"uint2", 2},     {"uint1", 1},   {"int1", 1},
      {"float_e4m3", 8}, {"float_e5m2", 8}};
  if (type.ends_with("_t")) type.remove_suffix(2);
  for (auto [name, bits] : known) {
    if (type == name) return bits;
  }
  throw LayoutError("element type " + std::string(type) + " is unknown", {Rule::not_a_layout, 0, 0});
}
/// The layout of a shared-memory tile that the matrix instructions of SM90 read, in elements of some bits.
inline Value gmma_atom(Tape& t, std::string_view major, std::string_view kind, long long bits) {
  int const swizzle = kind == "SW128" ? 3 : kind == "SW64" ? 2 : kind == "SW32" ? 1 : 0;
  Num const line = fixed(128LL << swizzle);
  bool const k = major == "K";
  Value const raw = k ? bundle(ValueKind::layout, mode(fixed(8), {line}), mode(line, {fixed(1)}))
                      : bundle(ValueKind::layout, mode(line, {fixed(1)}), mode(fixed(8), {line}));
  return algebra::composed(algebra::swizzle_value({swizzle, 4, 3}),
                           leaf({-1, ValueKind::flag, fixed(bits), {}, 0}), algebra::upcast(t, raw, bits));
}

/// Operations on tensors, and those whose arguments are not all values. `done` says whether the name was one
/// of them.
inline Value evaluate_tensor(Tape& t, std::string_view op, std::vector<std::string> const& args, bool& done) {
  using namespace algebra;
  auto arg = [&](std::size_t i) { return parse_value(args.at(i)); };
  auto on_layout = [&](Op o, Value const& x, Values rest) {
    Values all;
    all.push_back(x[1]);
    all.append(rest);
    Value const l = apply(o, t, all);
    return t.failed() ? nothing() : tensor(x[0], l);
  };
  auto more = [&](std::size_t from) {
    Values v;
    for (std::size_t i = from; i < args.size(); ++i) v.push_back(arg(i));
    return v;
  };
  done = true;
  if (op == "make_coord_tensor") {
    Value const layout = arg(0);
    coshape(t, layout);  // refuses strides that are of no one module
    return t.failed() ? nothing() : coord_tensor(layout);
  }
  if (op == "make_identity_tensor") return identity_tensor(arg(0));
  if (op == "tensor_eval" || op == "tensor_slice") return tensor_call(t, arg(0), arg(1));
  if (op == "local_tile" || op == "inner_partition")
    return local_tile(t, identity_tensor(arg(0)), arg(1), arg(2));
  if (op == "outer_partition") return partition(t, identity_tensor(arg(0)), arg(1), arg(2), false);
  if (op == "local_tile_proj") {
    Value const tiler = dice(t, arg(3), arg(1)), crd = dice(t, arg(3), arg(2));
    return t.failed() ? nothing() : local_tile(t, identity_tensor(arg(0)), tiler, crd);
  }
  if (op == "local_partition" || op == "local_partition_proj") {
    return local_partition(t, identity_tensor(arg(0)), arg(1), arg(2), args.size() > 3 ? arg(3) : number(1));
  }
  if (op == "domain_offset") {
    Value const x = identity_tensor(arg(0));
    Value const at = advance(t, x[0], index_of(t, arg(1), x[1]));
    return t.failed() ? nothing() : tensor(at, x[1]);
  }
  if (op == "group_modes") return on_layout(Op::group, identity_tensor(arg(0)), more(1));
  if (op.ends_with("_tensor")) {
    Op const o = find_op(op.substr(0, op.size() - 7));
    if (o != Op::count) return on_layout(o, identity_tensor(arg(0)), more(1));
  }
  if (op == "inttuple_iter_add") return algebra::add(t, retag(arg(0), ValueKind::arithmetic), arg(1));
  if (op == "basis_sum4") {
    Value sum = number(0);
    for (std::size_t i = 0; i < args.size(); ++i) {
      auto const star = args[i].find('*');
      Value const scale = parse_value(args[i].substr(0, star)), basis = parse_value(args[i].substr(star + 1));
      Value const term = number(t.mul(scale.root().s, basis.root().s), basis.root().e);
      sum = i == 0 ? term : algebra::add(t, sum, term);
    }
    return sum;
  }
  if (op == "recast_layout") {
    return recast(t, arg(0), bits_of_type(args.at(1)), bits_of_type(args.at(2)));
  }
  if (op == "gmma_smem_atom" || op == "gmma_smem_atom_tiled") {
    Value const atom = gmma_atom(t, args.at(0), args.at(1), bits_of_type(args.at(2)));
    if (op == "gmma_smem_atom") return atom;
    Values v;
    v.push_back(atom);
    v.push_back(arg(3));
    return apply(Op::tile_to_shape, t, v);
  }
  if (op == "select") {
    Values v;
    v.push_back(arg(0));
    for (std::size_t i = 0, end; i < args.at(1).size(); i = end + 1) {
      end = std::min(args[1].find(',', i), args[1].size());
      v.push_back(number(std::stoll(args[1].substr(i, end - i))));
    }
    return apply(Op::select, t, v);
  }
  done = false;
  return nothing();
}
}  // namespace detail

/// Evaluates one operation on values in CuTe's notation. Throws LayoutError when it is refused or unknown.
inline std::string evaluate(std::string_view op, std::vector<std::string> const& args) try {
  auto refuse_if = [&](Tape const& t) {
    if (t.failed()) throw LayoutError(std::string(op) + ": " + to_text(t.refusal()), t.refusal());
  };
  if (op == "print_tensor" || op == "ostream_tensor")
    return tensor_text(parse_value(args.at(0)), op[0] == 'o');
  if (op == "print_layout") return layout_table(parse_value(args.at(0)));
  if (op == "print_latex") return layout_latex(parse_value(args.at(0)));
  if (op == "print_tensor_values") return values_text(args.at(0), parse_value(args.at(1)), args.at(2));
  Tape t;
  bool done = false;
  Value result = detail::evaluate_tensor(t, op, args, done);
  if (!done) {
    std::string_view name = op;
    std::string_view mode;
    if (name.ends_with("_mode") && name != "layout_mode") name.remove_suffix(5), mode = args.back();
    Op const o = detail::find_op(name);
    if (o == Op::count) {
      throw LayoutError("operation " + std::string(op) + " is unknown", {Rule::not_a_layout, 0, 0});
    }
    Values v;
    for (std::size_t i = 0; i + (mode.empty() ? 0 : 1) < args.size(); ++i) v.push_back(parse_value(args[i]));
    if (!mode.empty()) v[0] = algebra::get(t, v[0], int(std::stol(std::string(mode))));
    refuse_if(t);
    if (v.size() < detail::least_arguments(o)) detail::too_few_arguments(op, args.size());
    result = apply(o, t, v);
    if (!t.failed() && (name == "t_compact_col_major" || name == "t_compact_row_major"))
      result = stride_of(result);
    if (!t.failed() && name == "flatten" && v[0].is_number()) result = v[0];
  }
  refuse_if(t);
  return to_text(result);
} catch (std::out_of_range const&) {
  detail::too_few_arguments(op, args.size());
}

}  // namespace zellige
