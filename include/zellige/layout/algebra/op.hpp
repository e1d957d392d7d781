// Defines the table of all layout operations, with one row per operation. All code that finds an operation by name or
// number is generated from this table: the enumeration Op, the dispatch to the functions (operation.hpp), the
// treatment of composed layouts and of strides of a user's type, the run-time API (runtime.hpp), and the evaluation
// of operations given by name (evaluate.hpp), which the command `zellige layout` uses.
//
//   row(id, names, parameters, family, composed, function)
//
// id          the enumerator of Op; unique. A name may occur in several rows; it then selects the first row that
//             accepts the operands
// names       the name in CuTe, and aliases after a blank
// parameters  one letter per operand; `|` separates alternative lists of operands:
//             c layout, possibly composed; p uncomposed layout; s swizzle; i number or tuple of numbers; n number;
//             x coordinate (numbers and _); m tiler (a layout, a number, _, or a tuple of these); k mode index
//             or count; f factor; b number of bits; e size of an element in bits, or the name of its type.
//             `?` after a letter: optional; `*`: any number of such operands
// family      the kind of operation, an enumerator of Family
// composed    what happens if the first operand is a composed layout, an enumerator of Composed
// function    the expression that computes the result on the tape t from the operands a, in namespace algebra
#pragma once
#include <zellige/layout/algebra/value.hpp>

namespace zellige {

/// Groups of operations that share their treatment of composed layouts and strides.
enum class Family : signed char {
  reshape,   // the same elements under other coordinates
  filter,    // without repeated elements
  compose,   // composition
  invert,    // inverses and their parts
  divide,    // tiles of a layout
  product,   // repetitions of a block
  make,      // layouts from shapes, or with the shape of another layout
  vector,    // common vectors of two layouts, and elements of another size
  modes,     // edits of the list of modes
  query,     // size, rank and shape
  codomain,  // properties of the indices, such as cosize
  coordinate,
  number,
};
/// How an operation treats a composed layout, f(offset + inner(c)), as its first operand.
enum class Composed : signed char {
  inside,  // applied to the inner layout; the result is composed with the same f and offset
  asks,    // the result for the inner layout is returned
  moves,   // has a rule of its own, in apply_composed.hpp
  reject,  // refused
};

// The table: expands the macro `row` once per operation. The head of this file explains its arguments.
// clang-format off
#define ZELLIGE_LAYOUT_OPERATIONS(row)                                                                                 \
  row(coalesce,             "coalesce",             "c",             reshape, inside, coalesce(t, a[0]))               \
  row(coalesce_shape,       "coalesce",             "i",             reshape, reject, coalesce_shape(t, a[0]))         \
  row(coalesce_profile,     "coalesce",             "c i",           reshape, inside, coalesce(t, a[0], a[1]))         \
  row(flatten,              "flatten",              "c|i",           reshape, inside, flat(a[0]))                      \
  row(flatten_to_tuple,     "flatten_to_tuple",     "i",             reshape, reject, flat_tuple(a[0]))                \
  row(unflatten,            "unflatten",            "c i|i i",       reshape, inside, unflatten(t, a[0], a[1]))        \
  row(with_shape,           "with_shape",           "c i",           reshape, inside, under_shape(t, a[0], a[1]))      \
  row(filter,               "filter",               "c",             filter,  inside, filter(t, a[0]))                 \
  row(filter_profile,       "filter",               "c i",           filter,  inside, filter(t, a[0], a[1]))           \
  row(filter_zeros,         "filter_zeros",         "c",             filter,  inside, filter_zeros(a[0]))              \
  row(filter_zeros_profile, "filter_zeros",         "c i",           filter,  inside, zeros_of_profile(t, a[0], a[1])) \
  row(filter_zeros_tuple,   "filter_zeros",         "i i",           filter,  reject, filter_zeros(t, a[0], a[1]))     \
  row(composition,          "composition",          "c m|c c|c s|s s|s c", compose, inside, composition(t, a[0], a[1]))  \
  row(complement1,          "complement",           "c",             invert,  moves,  complement(t, a[0]))             \
  row(complement,           "complement",           "c i",           invert,  moves,  complement(t, a[0], shape_of(a[1]))) \
  row(right_inverse,        "right_inverse",        "c",             invert,  moves,  right_inverse(t, a[0]))          \
  row(left_inverse,         "left_inverse",         "c",             invert,  moves,  left_inverse(t, a[0]))           \
  row(nullspace,            "nullspace",            "c",             invert,  moves,  nullspace(t, a[0]))              \
  row(logical_divide,       "logical_divide",       "c m",           divide,  inside, logical_divide(t, a[0], a[1]))   \
  row(zipped_divide,        "zipped_divide",        "c m",           divide,  inside, zipped_divide(t, a[0], a[1]))    \
  row(tiled_divide,         "tiled_divide",         "c m",           divide,  inside, tiled_divide(t, a[0], a[1]))     \
  row(flat_divide,          "flat_divide",          "c m",           divide,  inside, flat_divide(t, a[0], a[1]))      \
  row(logical_product,      "logical_product",      "c m|p c",       product, inside, logical_product(t, a[0], a[1]))  \
  row(zipped_product,       "zipped_product",       "c m",           product, inside, zipped_product(t, a[0], a[1]))   \
  row(tiled_product,        "tiled_product",        "c m",           product, inside, tiled_product(t, a[0], a[1]))    \
  row(flat_product,         "flat_product",         "c m",           product, inside, flat_product(t, a[0], a[1]))     \
  row(blocked_product,      "blocked_product",      "c p",           product, inside, blocked_product(t, a[0], a[1]))  \
  row(raked_product,        "raked_product",        "c p",           product, inside, raked_product(t, a[0], a[1]))    \
  row(tile_to_shape,        "tile_to_shape",        "c i i?",        product, inside, tile_in_order(t, a))             \
  row(make_layout,          "make_layout",          "i i",           make,    reject, paired(t, a[0], a[1]))           \
  row(make_layout_left,     "make_layout make_layout_left", "i",     make,    reject, compact_left(t, a[0]))           \
  row(make_layout_right,    "make_layout_right",    "i",             make,    reject, compact_right(t, a[0]))          \
  row(make_layout_concat,   "make_layout",          "p p*",          modes,   reject, concatenated(a))                 \
  row(make_ordered_layout,  "make_ordered_layout",  "i i",           make,    reject, ordered_layout(t, a[0], a[1]))   \
  row(make_layout_like,     "make_layout_like",     "c",             make,    asks,   layout_like(t, a[0]))            \
  row(make_fragment_like,   "make_fragment_like",   "c",             make,    asks,   fragment_like(t, a[0]))          \
  row(make_identity_layout, "make_identity_layout identity", "i",    make,    reject, pair_up(a[0], basis_like(a[0]))) \
  row(compact_col_major,    "compact_col_major",    "i",             make,    reject, stride_of(compact_left(t, a[0])))  \
  row(compact_row_major,    "compact_row_major",    "i",             make,    reject, stride_of(compact_right(t, a[0]))) \
  row(make_swizzle,         "make_swizzle",         "b b",           make,    reject, make_swizzle(t, a[0].root().s.v, a[1].root().s.v)) \
  row(max_common_layout,    "max_common_layout",    "c c",           vector,  moves,  max_common_layout(t, a[0], a[1])) \
  row(max_common_vector,    "max_common_vector",    "c c",           vector,  moves,  max_common_vector(t, a[0], a[1])) \
  row(max_alignment,        "max_alignment",        "c",             vector,  moves,  max_alignment(t, a[0]))          \
  row(domain_distribute,    "domain_distribute",    "i i",           vector,  reject, domain_distribute(t, a[0], a[1])) \
  row(upcast,               "upcast",               "c f|s f",       vector,  moves,  upcast(t, a[0], a[1].root().s.v)) \
  row(downcast,             "downcast",             "c f|s f",       vector,  moves,  downcast(t, a[0], a[1].root().s.v)) \
  row(recast_layout,        "recast_layout",        "c e e",         vector,  moves,  recast(t, a[0], a[1].root().s.v, a[2].root().s.v)) \
  row(append_to,            "append",               "c k c?|i k i?", modes,   inside, pad_to(t, a[0], small(a[1]), extra(a, a[0]))) \
  row(append,               "append",               "c p",           modes,   inside, append(a[0], a[1]))              \
  row(prepend_to,           "prepend",              "c k c?|i k i?", modes,   inside, pad_front(t, a[0], small(a[1]), extra(a, a[0]))) \
  row(prepend,              "prepend",              "c p",           modes,   inside, prepend(a[0], a[1]))             \
  row(take,                 "take",                 "c k k|i k k",   modes,   inside, take(t, a[0], small(a[1]), small(a[2]))) \
  row(group,                "group",                "c k k|i k k",   modes,   inside, group(t, a[0], small(a[1]), small(a[2]))) \
  row(get,                  "get layout",           "c k k*|i k k*", modes,   inside, mode_at(t, a))                   \
  row(select,               "select",               "c k k*|i k k*", modes,   inside, selected(t, a))                  \
  row(replace,              "replace",              "c k p|i k i",   modes,   inside, replace(t, a[0], small(a[1]), a[2])) \
  row(insert,               "insert",               "i k i",         modes,   reject, insert(t, a[0], small(a[1]), a[2])) \
  row(remove,               "remove",               "i k",           modes,   reject, remove(t, a[0], small(a[1])))    \
  row(reverse,              "reverse",              "i",             modes,   reject, reverse(a[0]))                   \
  row(zip1,                 "zip",                  "c|i",           modes,   inside, transpose_modes(t, a[0]))        \
  row(zip2,                 "zip",                  "p p",           modes,   reject, zip(t, a[0], a[1]))              \
  row(slice,                "slice",                "x c|x i",       modes,   moves,  slice(t, a[0], a[1]))            \
  row(dice,                 "dice",                 "x c|x i",       modes,   moves,  dice(t, a[0], a[1]))             \
  row(slice_and_offset,     "slice_and_offset",     "x c",           modes,   moves,  sliced_from(t, a[0], a[1]))      \
  row(size,                 "size",                 "c k*|i",        query,   asks,   number(product_of(t, mode_at(t, a)))) \
  row(rank,                 "rank",                 "c k*|i",        query,   asks,   number(mode_at(t, a).rank()))    \
  row(depth,                "depth",                "c k*|i",        query,   asks,   number(depth_of(mode_at(t, a)))) \
  row(shape,                "shape",                "c k*",          query,   asks,   shape_of(mode_at(t, a)))         \
  row(cosize,               "cosize",               "c k*",          codomain, moves, cosize(t, mode_at(t, a)))        \
  row(coshape,              "coshape",              "p k*",          codomain, reject, coshape(t, mode_at(t, a)))       \
  row(coprofile,            "coprofile",            "p k*",          codomain, reject, coprofile_of(t, mode_at(t, a)))  \
  row(stride,               "stride",               "p k*",          codomain, reject, stride_of(mode_at(t, a)))        \
  row(crd2idx,              "crd2idx",              "i i i?",        coordinate, reject, index_at(t, a))                \
  row(idx2crd,              "idx2crd",              "i i i?",        coordinate, reject, coordinate_at(t, a))           \
  row(crd2crd,              "crd2crd",              "i i i",         coordinate, reject, crd2crd(t, a[0], a[1], a[2]))  \
  row(layout_call,          "layout_call layout_eval", "c x|s n",    coordinate, moves, called(t, a[0], a[1]))         \
  row(swizzle_apply,        "swizzle_apply",        "s n",           coordinate, reject, apply_function(t, a[0], a[1])) \
  row(get_1d_coord,         "get_1d_coord",         "p n",           coordinate, reject, crd2idx(t, hier_coord(t, a[1], a[0]), shape_of(a[0]))) \
  row(get_flat_coord,       "get_flat_coord",       "p n",           coordinate, reject, flat_coord(t, a[1], a[0]))     \
  row(get_hier_coord,       "get_hier_coord",       "p n",           coordinate, reject, hier_coord(t, a[1], a[0]))     \
  row(wrap,                 "wrap",                 "i",             number,  reject, wrapped(a[0]))                   \
  row(unwrap,               "unwrap",               "i",             number,  reject, unwrapped(a[0]))                 \
  row(repeat_like,          "repeat_like",          "i i",           number,  reject, repeat_like(a[0], a[1]))         \
  row(as_arithmetic_tuple,  "as_arithmetic_tuple",  "i",             number,  reject, as_arithmetic_tuple(a[0]))       \
  row(make_basis_like,      "make_basis_like",      "i",             number,  reject, basis_like(a[0]))                \
  row(add,                  "add",                  "n n|i i",       number,  reject, add(t, a[0], a[1]))              \
  row(sub,                  "sub",                  "n n|i i",       number,  reject, subtract(t, a[0], a[1]))         \
  row(neg,                  "neg",                  "i",             number,  reject, negate(t, a[0]))                 \
  row(mul,                  "mul",                  "n n",           number,  reject, scaled(t, a[0], a[1]))           \
  row(div,                  "div",                  "n n",           number,  reject, number(t.div(num(a[0]), num(a[1])), a[0].root().e)) \
  row(mod,                  "mod",                  "n n",           number,  reject, number(t.mod(num(a[0]), num(a[1])), a[0].root().e)) \
  row(safe_div,             "safe_div",             "n n",           number,  reject, divided_whole(t, a[0], a[1]))    \
  row(abs,                  "abs",                  "n",             number,  reject, number(t.abs(num(a[0])), a[0].root().e)) \
  row(ceil_div,             "ceil_div",             "i p|n n|i i",   number,  reject, divided_up(t, a[0], a[1]))       \
  row(shape_div,            "shape_div",            "i i",           number,  reject, shape_div(t, a[0], a[1]))        \
  row(round_up,             "round_up",             "i i",           number,  reject, round_up(t, a[0], a[1]))         \
  row(elem_scale,           "elem_scale",           "i i",           number,  reject, elem_scale(t, a[0], a[1]))       \
  row(product,              "product",              "i",             number,  reject, number(product_of(t, a[0])))     \
  row(product_each,         "product_each",         "i",             number,  reject, product_each(t, a[0]))           \
  row(product_like,         "product_like",         "i i",           number,  reject, product_like(t, a[0], a[1]))     \
  row(sum,                  "sum",                  "i",             number,  reject, number(fold_leaves(t, a[0], &Tape::add))) \
  row(inner_product,        "inner_product",        "i i",           number,  reject, inner_product(t, a[0], a[1]))    \
  row(gcd,                  "gcd",                  "i",             number,  reject, number(fold_leaves(t, a[0], &Tape::gcd))) \
  row(max,                  "max",                  "i",             number,  reject, number(fold_leaves(t, a[0], &Tape::max))) \
  row(min,                  "min",                  "i",             number,  reject, number(fold_leaves(t, a[0], &Tape::min))) \
  row(iscan,                "iscan",                "i n",           number,  reject, scan(t, a[0], num(a[1]), true))  \
  row(escan,                "escan",                "i n",           number,  reject, scan(t, a[0], num(a[1]), false)) \
  row(congruent,            "congruent",            "i i",           number,  reject, boolean(fixed(congruent(a[0], a[1])))) \
  row(weakly_congruent,     "weakly_congruent",     "i i",           number,  reject, boolean(fixed(weakly_congruent(a[0], a[1])))) \
  row(compatible,           "compatible",           "i i",           number,  reject, boolean(compatible(t, a[0], a[1]))) \
  row(evenly_divides,       "evenly_divides",       "i i",           number,  reject, boolean(evenly_divides(t, a[0], a[1]))) \
  row(lex_less,             "lex_less",             "i i",           number,  reject, boolean(lex_less(t, a[0], a[1], false))) \
  row(colex_less,           "colex_less",           "i i",           number,  reject, boolean(lex_less(t, a[0], a[1], true))) \
  row(elem_less,            "elem_less",            "i i",           number,  reject, boolean(elem_less(t, a[0], a[1]))) \
  row(elem_leq,             "elem_leq",             "i i",           number,  reject, boolean(negation(t, elem_less(t, a[1], a[0])))) \
  row(equal,                "equal",                "n n",           number,  reject, boolean(equal(t, a[0], a[1])))
// clang-format on

/// Number of an operation: its row's position in the table.
enum class Op : short {
#define ZELLIGE_ROW(id, ...) id,
  ZELLIGE_LAYOUT_OPERATIONS(ZELLIGE_ROW)
#undef ZELLIGE_ROW
      count
};

/// Returns the kind of an operation: the column `family` of its row.
ZELLIGE_ALGEBRA constexpr Family family_of(Op op) {
  switch (op) {
#define ZELLIGE_ROW(id, names, parameters, family, ...) \
  case Op::id:                                          \
    return Family::family;
    ZELLIGE_LAYOUT_OPERATIONS(ZELLIGE_ROW)
#undef ZELLIGE_ROW
    default:
      return Family::number;
  }
}
/// Returns how an operation treats composed layouts: the column `composed` of its row.
ZELLIGE_ALGEBRA constexpr Composed composed_of(Op op) {
  switch (op) {
#define ZELLIGE_ROW(id, names, parameters, family, composed, ...) \
  case Op::id:                                                    \
    return Composed::composed;
    ZELLIGE_LAYOUT_OPERATIONS(ZELLIGE_ROW)
#undef ZELLIGE_ROW
    default:
      return Composed::reject;
  }
}

using Values = List<Value>;

}  // namespace zellige
