#include "view/operation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/nearest.hpp"

namespace zellige::view {
namespace {

constexpr Operation table[] = {
    // Simplification.
    {"coalesce", "c", "coalesce"},
    {"coalesce", "i", "coalesce_shape"},
    {"coalesce", "c i", "coalesce_profile"},
    {"filter", "c", "filter"},
    {"filter", "p i", "filter_profile"},
    {"filter_zeros", "c", "filter_zeros"},
    {"filter_zeros", "p i", "filter_zeros_profile"},
    {"filter_zeros", "i i", "t_filter_zeros"},
    // Composition and inverses.
    {"composition", "c m", "composition"},
    {"composition", "c m", "composition_tiler"},
    {"composition", "p p", "composition_basis_rhs"},
    {"composition", "s s", "swizzle_compose2"},
    {"composition", "s p", "swizzle_composition"},
    {"complement", "p", "complement1"},
    {"complement", "p i", "complement"},
    {"right_inverse", "c", "right_inverse"},
    {"left_inverse", "c", "left_inverse"},
    {"nullspace", "p", "nullspace"},
    {"with_shape", "c i", "with_shape"},
    // Divides and products.
    {"logical_divide", "c m", "logical_divide"},
    {"zipped_divide", "c m", "zipped_divide"},
    {"tiled_divide", "c m", "tiled_divide"},
    {"flat_divide", "c m", "flat_divide"},
    {"logical_product", "c m", "logical_product"},
    {"logical_product", "p c", "logical_product"},
    {"zipped_product", "c m", "zipped_product"},
    {"tiled_product", "c m", "tiled_product"},
    {"flat_product", "c m", "flat_product"},
    {"blocked_product", "p p", "blocked_product"},
    {"raked_product", "p p", "raked_product"},
    {"tile_to_shape", "c i", "tile_to_shape"},
    {"tile_to_shape", "c i i", "tile_to_shape_order"},
    // Construction.
    {"make_layout", "i i", "make_layout"},
    {"make_layout", "i", "make_layout_left"},
    {"make_layout", "p*", "make_layout_concat"},
    {"make_layout_left", "i", "make_layout_left"},
    {"make_layout_right", "i", "make_layout_right"},
    {"make_ordered_layout", "i i", "make_ordered_layout"},
    {"make_layout_like", "p", "make_layout_like"},
    {"make_fragment_like", "p", "make_fragment_like"},
    {"make_identity_layout", "i", "make_identity_layout"},
    {"identity", "i", "make_identity_layout"},
    {"make_swizzle", "b b", "make_swizzle"},
    {"gmma_smem_atom", "w w w", "gmma_smem_atom"},
    {"gmma_smem_atom_tiled", "w w w i", "gmma_smem_atom_tiled"},
    // Vectors and element sizes.
    {"max_common_layout", "c c", "max_common_layout"},
    {"max_common_vector", "c c", "max_common_vector"},
    {"max_alignment", "c", "max_alignment"},
    {"domain_distribute", "i i", "domain_distribute"},
    {"upcast", "c f", "upcast"},
    {"upcast", "s f", "swizzle_upcast"},
    {"downcast", "c f", "downcast"},
    {"downcast", "s f", "swizzle_downcast"},
    {"recast_layout", "c w w", "recast_layout"},
    // Modes.
    {"append", "c k c?", "append_N"},
    {"append", "i k i?", "t_append"},
    {"append", "p p", "append"},
    {"prepend", "c k c?", "prepend_N"},
    {"prepend", "i k i?", "t_prepend"},
    {"prepend", "p p", "prepend"},
    {"take", "c k k", "take"},
    {"take", "i k k", "take"},
    {"group", "c k k", "group"},
    {"group", "i k k", "group"},
    {"get", "c k k*", "get"},
    {"get", "i k k*", "get"},
    {"layout", "c k", "layout_mode"},
    {"select", "c w", "select"},
    {"select", "i w", "select"},
    {"replace", "p k p", "replace"},
    {"replace", "i k i", "replace"},
    {"insert", "i k i", "t_insert"},
    {"remove", "i k", "t_remove"},
    {"reverse", "i", "t_reverse"},
    {"flatten", "c", "flatten"},
    {"flatten", "i", "t_flatten"},
    {"flatten_to_tuple", "i", "t_flatten_to_tuple"},
    {"unflatten", "p i", "unflatten"},
    {"unflatten", "i i", "unflatten"},
    {"zip", "p", "zip1"},
    {"zip", "p p", "zip2"},
    {"zip", "i", "t_zip"},
    {"slice", "x c", "slice"},
    {"slice", "x i", "slice_tuple"},
    {"dice", "x p", "dice"},
    {"dice", "x i", "dice_tuple"},
    {"slice_and_offset", "x c", "slice_and_offset"},
    {"wrap", "i", "t_wrap"},
    {"unwrap", "i", "t_unwrap"},
    {"repeat_like", "i n", "t_repeat_like"},
    // Queries.
    {"size", "c", "size"},
    {"size", "i", "t_size"},
    {"cosize", "c", "cosize"},
    {"coshape", "p", "coshape"},
    {"coprofile", "p", "coprofile"},
    {"rank", "c", "rank"},
    {"rank", "i", "t_rank"},
    {"depth", "c", "depth"},
    {"depth", "i", "t_depth"},
    {"shape", "c", "shape"},
    {"stride", "p", "stride"},
    {"size", "c k", "size_mode"},
    {"cosize", "p k", "cosize_mode"},
    {"coshape", "p k", "coshape_mode"},
    {"coprofile", "p k", "coprofile_mode"},
    {"rank", "c k", "rank_mode"},
    {"depth", "c k", "depth_mode"},
    {"shape", "c k", "shape_mode"},
    {"stride", "p k", "stride_mode"},
    // Coordinates.
    {"crd2idx", "i i i", "crd2idx"},
    {"crd2idx", "i i", "crd2idx2"},
    {"idx2crd", "i i i", "idx2crd"},
    {"idx2crd", "i i", "idx2crd2"},
    {"crd2crd", "i i i", "crd2crd"},
    {"layout_call", "c x", "layout_call"},
    {"layout_eval", "c x", "layout_eval"},
    {"layout_eval", "c x", "composed_eval"},
    {"swizzle_apply", "s n", "swizzle_apply"},
    {"get_1d_coord", "p n", "get_1d_coord"},
    {"get_flat_coord", "p n", "get_flat_coord"},
    {"get_hier_coord", "p n", "get_hier_coord"},
    // Numbers and tuples of numbers.
    {"add", "n n", "i_add"},
    {"add", "i i", "at_add"},
    {"add", "n n", "basis_add"},
    {"sub", "n n", "i_sub"},
    {"sub", "i i", "at_sub"},
    {"neg", "i", "at_neg"},
    {"mul", "n n", "i_mul"},
    {"mul", "n n", "basis_scale"},
    {"mul", "n n", "basis_scale_r"},
    {"div", "n n", "i_div"},
    {"mod", "n n", "i_mod"},
    {"safe_div", "n n", "basis_safe_div"},
    {"abs", "n", "basis_abs"},
    {"ceil_div", "i p", "ceil_div_layout"},
    {"ceil_div", "n n", "basis_ceil_div"},
    {"ceil_div", "i i", "t_ceil_div"},
    {"basis_eq", "n n", "basis_eq"},
    {"as_arithmetic_tuple", "i", "as_arithmetic_tuple"},
    {"make_basis_like", "i", "make_basis_like"},
    {"compact_col_major", "i", "t_compact_col_major"},
    {"compact_row_major", "i", "t_compact_row_major"},
    {"colex_less", "i i", "t_colex_less"},
    {"lex_less", "i i", "t_lex_less"},
    {"elem_less", "i i", "t_elem_less"},
    {"elem_leq", "i i", "t_elem_leq"},
    {"compatible", "i i", "t_compatible"},
    {"congruent", "i i", "t_congruent"},
    {"weakly_congruent", "i i", "t_weakly_congruent"},
    {"evenly_divides", "i i", "t_evenly_divides"},
    {"elem_scale", "i i", "t_elem_scale"},
    {"inner_product", "i i", "t_inner_product"},
    {"round_up", "i i", "t_round_up"},
    {"shape_div", "i i", "t_shape_div"},
    {"gcd", "i", "t_gcd"},
    {"max", "i", "t_max"},
    {"min", "i", "t_min"},
    {"sum", "i", "t_sum"},
    {"product", "i", "t_product"},
    {"product_each", "i", "t_product_each"},
    {"product_like", "i i", "t_product_like"},
    {"iscan", "i n", "t_iscan"},
    {"escan", "i n", "t_escan"},
    // Tensors of coordinates; a shape stands for the identity tensor of it.
    {"make_identity_tensor", "i", "make_identity_tensor"},
    {"make_coord_tensor", "p", "make_coord_tensor"},
    {"tensor_eval", "t x", "tensor_eval"},
    {"tensor_slice", "t x", "tensor_slice"},
    {"local_tile", "i m x", "local_tile"},
    {"local_tile", "i m x x", "local_tile_proj"},
    {"inner_partition", "i m x", "inner_partition"},
    {"outer_partition", "i m x", "outer_partition"},
    {"local_partition", "i p n", "local_partition"},
    {"local_partition", "i p n x", "local_partition_proj"},
    {"domain_offset", "i i", "domain_offset"},
    {"group_modes", "i k k", "group_modes"},
    {"inttuple_iter_add", "i i", "inttuple_iter_add"},
    // Instructions and tilings by the names of their types.
    {"mma_traits", "w", "mma_traits"},
    {"copy_traits", "w", "copy_traits"},
    {"copy_atom_print", "w w", "copy_atom_print"},
    {"tiled_mma_print", "w q 3", "tiled_mma_print"},
    {"tiled_mma_tile_shape", "w q 3", "tiled_mma_tile_shape"},
    {"tiled_mma_layout_tv", "w q 3 w", "tiled_mma_layout_tv"},
    {"tiled_mma_partition_shape", "w q 3 w y", "tiled_mma_partition_shape"},
    {"tiled_mma_thrfrg", "w q 3 w y", "tiled_mma_thrfrg"},
    {"tiled_mma_partition", "w q 3 w y n", "tiled_mma_partition"},
    {"cotiled_copy", "w w p p", "cotiled_copy"},
    {"tiled_copy_print", "w w p p", "tiled_copy_print"},
    {"tiled_copy_layout_tv", "w w p p w", "tiled_copy_layout_tv"},
    {"tiled_copy_tidfrg", "w w p p w i", "tiled_copy_tidfrg"},
    {"tiled_copy_partition", "w w p p w i n", "tiled_copy_partition"},
    {"tiled_copy_mma_print", "w w w q 3 w", "tiled_copy_mma_print"},
    {"tiled_copy_mma_partition", "w w w q 3 w w y n", "tiled_copy_mma_partition"},
    {"tiled_copy_mma_retile", "w w w q 3 w y", "tiled_copy_mma_retile"},
    {"tma_copy", "w w p w m n", "tma_copy"},
    {"tma_copy_partition", "w w p w m n x n", "tma_copy_partition"},
    {"tma_atom_partition", "w w p w m n x n", "tma_atom_partition"},
    {"tma_multicast_mask", "p w i", "tma_multicast_mask"},
    {"gmma_desc", "w w w y", "gmma_desc"},
    // Texts.
    {"basis_sum4", "w w*", "basis_sum4"},
    {"basis_print", "n", "basis_print"},
    {"layout_print", "c", "layout_print"},
    {"composed_print", "c", "composed_print"},
    {"tensor_print", "t", "tensor_print"},
    {"print_tensor", "t", "print_tensor"},
    {"ostream_tensor", "t", "ostream_tensor"},
    {"print_layout", "c", "print_layout"},
    {"print_latex", "c", "print_latex"},
    {"print_tensor_values", "w c w", "print_tensor_values"},
};

constexpr long long most_count = 64, most_factor = 1LL << 40;

bool is_plain(const Value& v) { return v.is(ValueKind::layout); }
bool is_integers(const Value& v) {
  return std::all_of(v.nodes.begin(), v.nodes.end(), [](const ValueNode& n) {
    return n.kids < 0 ? n.kind == ValueKind::number
                      : n.kind == ValueKind::tuple || n.kind == ValueKind::arithmetic;
  });
}
bool is_composed(const Value& v) {
  if (!v.is(ValueKind::composed)) return false;
  const Value a = v[0], offset = v[1], b = v[2];
  return a.is(ValueKind::swizzle) && is_plain(b) &&
         (offset.is(ValueKind::flag) || (offset.is_number() && offset.root().e == 0));
}
bool is_tensor(const Value& v) { return v.is(ValueKind::tensor) && (is_plain(v[1]) || is_composed(v[1])); }
bool is_coordinate(const Value& v) {
  return std::all_of(v.nodes.begin(), v.nodes.end(), [](const ValueNode& n) {
    return n.kids < 0 ? n.kind == ValueKind::underscore || (n.kind == ValueKind::number && n.e == 0)
                      : n.kind == ValueKind::tuple || n.kind == ValueKind::arithmetic;
  });
}
bool is_tiler(const Value& v) {
  if (is_plain(v) || v.is_number() || v.is(ValueKind::underscore)) return true;
  if (!v.is(ValueKind::tuple)) return false;
  for (int i = 0; i < v.rank(); ++i) {
    if (!is_tiler(v[i])) return false;
  }
  return true;
}
bool is_count(const Value& v, long long least, long long most) {
  return v.is_number() && v.root().e == 0 && v.root().s.v >= least && v.root().s.v <= most;
}

bool fits(char parameter, const Argument& a) {
  if (parameter == 'w') return !a.text.empty();
  if (a.is_word()) return false;
  const Value& v = a.value;
  switch (parameter) {
    case 'c':
      return is_plain(v) || is_composed(v);
    case 'p':
      return is_plain(v);
    case 's':
      return v.is(ValueKind::swizzle);
    case 't':
      return is_tensor(v);
    case 'i':
      return is_integers(v);
    case 'n':
      return v.is_number();
    case 'x':
      return is_coordinate(v);
    case 'm':
      return is_tiler(v);
    case 'q':
      return is_plain(v) && v.rank() == 3;
    case '3':
      return v.is(ValueKind::tuple) && v.rank() == 3 && is_tiler(v);
    case 'y':
      return v.is(ValueKind::tuple) && v.rank() >= 2 && is_integers(v);
    case 'k':
      return is_count(v, -1, most_count);
    case 'f':
      return is_count(v, 1, most_factor);
    case 'b':
      return is_count(v, 0, most_factor);
    default:
      return parameter == 'v';
  }
}

// How many arguments, from the first on, suit the row; all of them and no parameter left makes it fit.
struct Match {
  std::size_t suited = 0;
  bool whole = false;
};
Match match(const Operation& o, std::span<const Argument> arguments) {
  Match m;
  for (const char* p = o.parameters; *p != 0;) {
    const char letter = *p++, mark = *p == '?' || *p == '*' ? *p++ : ' ';
    const std::size_t before = m.suited;
    while (m.suited < arguments.size() && fits(letter, arguments[m.suited])) {
      ++m.suited;
      if (mark != '*') break;
    }
    if (m.suited == before && mark == ' ') return m;
    if (*p == ' ') ++p;
  }
  m.whole = m.suited == arguments.size() && m.suited > 0;
  return m;
}

const char* meaning(char parameter) {
  switch (parameter) {
    case 'c':
      return "layout";
    case 'p':
      return "plain layout";
    case 's':
      return "swizzle";
    case 't':
      return "tensor";
    case 'i':
      return "numbers";
    case 'n':
      return "number";
    case 'x':
      return "coordinate";
    case 'm':
      return "tiler";
    case 'q':
      return "layout of rank 3";
    case '3':
      return "three tilers";
    case 'y':
      return "(M,N,...)";
    case 'k':
      return "mode or count";
    case 'f':
      return "factor";
    case 'b':
      return "bits";
    case 'w':
      return "word";
    default:
      return "anything";
  }
}

}  // namespace

std::span<const Operation> operations() { return table; }

std::string kind_name(const Value& v) {
  switch (v.kind()) {
    case ValueKind::number:
      return v.root().e ? "a basis element" : "a number";
    case ValueKind::boolean:
      return "a truth value";
    case ValueKind::underscore:
      return "the mark _";
    case ValueKind::tuple:
    case ValueKind::arithmetic:
      return is_integers(v) ? "a tuple of numbers" : "a tuple";
    case ValueKind::layout:
      return "a layout";
    case ValueKind::swizzle:
      return "a swizzle";
    case ValueKind::composed:
      return is_composed(v) ? "a composed layout" : "composed of other things than a swizzle and a layout";
    case ValueKind::tensor:
      return "a tensor";
    case ValueKind::counting:
    case ValueKind::coordinates:
      return "an iterator";
    case ValueKind::flag:
      return "a pointer's place";
    default:
      return "nothing";
  }
}

std::string parameters_text(const Operation& o) {
  std::string text;
  for (const char* p = o.parameters; *p != 0;) {
    const char letter = *p++, mark = *p == '?' || *p == '*' ? *p++ : ' ';
    text += text.empty() ? "" : ", ";
    text += mark == '?' ? fmt::format("[{}]", meaning(letter)) : std::string(meaning(letter));
    if (mark == '*') text += ", ...";
    if (*p == ' ') ++p;
  }
  return text;
}

bool fits(const Operation& o, std::span<const Argument> arguments) { return match(o, arguments).whole; }

Misfit misfit(std::string_view name, std::span<const Operation* const> rows,
              std::span<const Argument> arguments) {
  std::size_t suited = 0;
  std::vector<std::string> wanted;
  for (const Operation* row : rows) {
    suited = std::max(suited, match(*row, arguments).suited);
    const std::string text = fmt::format("({})", parameters_text(*row));
    if (std::find(wanted.begin(), wanted.end(), text) == wanted.end()) wanted.push_back(text);
  }
  std::string choices;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    choices += (i == 0 ? "" : i + 1 == wanted.size() ? " or " : ", ") + wanted[i];
  if (suited >= arguments.size()) {
    const char* are = arguments.size() == 1 ? " is" : "s are";
    return {fmt::format("{} takes {}; {} operand{} given", name, choices, arguments.size(), are),
            arguments.size()};
  }
  const Argument& a = arguments[suited];
  return {fmt::format("{} takes {}; its operand {} is {}", name, choices, suited + 1,
                      a.is_word() ? "the word " + a.text : kind_name(a.value)),
          suited};
}

std::string near_operation(std::string_view name) {
  std::vector<std::string> known;
  for (const Operation& o : table) known.insert(known.end(), {o.name, o.record});
  return did_you_mean(name, known);
}

std::vector<const Operation*> named(std::string_view name) {
  std::vector<const Operation*> rows;
  for (const Operation& o : table) {
    if (name == o.name) rows.push_back(&o);
  }
  return rows;
}
std::vector<const Operation*> recorded(std::string_view record) {
  std::vector<const Operation*> rows;
  for (const Operation& o : table) {
    if (record == o.record) rows.push_back(&o);
  }
  return rows;
}

}  // namespace zellige::view
