"""The C++ expression for each operation of the corpus, from its arguments."""
import operations_atoms
from notation import expression as x
from operations_atoms import ctype

# Functions whose arguments are all values: op -> name.
CALLS = {
    "coalesce": "coalesce", "coalesce_profile": "coalesce", "coalesce_shape": "coalesce",
    "composition": "composition", "composition_tiler": "composition", "composition_basis_rhs": "composition",
    "complement": "complement", "complement1": "complement", "right_inverse": "right_inverse",
    "left_inverse": "left_inverse", "nullspace": "nullspace", "filter": "filter", "filter_profile": "filter",
    "filter_zeros": "filter_zeros", "filter_zeros_profile": "filter_zeros", "with_shape": "with_shape",
    "tile_to_shape": "tile_to_shape", "tile_to_shape_order": "tile_to_shape",
    "make_layout_left": "make_layout", "make_layout": "make_layout", "make_layout_concat": "make_layout",
    "make_ordered_layout": "make_ordered_layout", "make_layout_like": "make_layout_like",
    "make_fragment_like": "make_fragment_like", "make_identity_layout": "make_identity_layout",
    "max_common_layout": "max_common_layout", "max_common_vector": "max_common_vector",
    "max_alignment": "max_alignment", "domain_distribute": "domain_distribute", "append": "append",
    "prepend": "prepend", "flatten": "flatten", "unflatten": "unflatten", "zip1": "zip", "zip2": "zip",
    "slice": "slice", "dice": "dice", "slice_tuple": "slice", "dice_tuple": "dice",
    "slice_and_offset": "slice_and_offset", "size": "size", "cosize": "cosize", "coshape": "coshape",
    "coprofile": "coprofile", "rank": "rank", "depth": "depth", "shape": "shape", "stride": "stride",
    "crd2idx": "crd2idx", "crd2idx2": "crd2idx", "idx2crd": "idx2crd", "idx2crd2": "idx2crd", "crd2crd": "crd2crd",
    "as_arithmetic_tuple": "as_arithmetic_tuple", "basis_abs": "abs", "basis_ceil_div": "ceil_div",
    "basis_safe_div": "safe_div", "make_basis_like": "make_basis_like", "make_coord_tensor": "make_coord_tensor",
    "make_identity_tensor": "make_identity_tensor", "ceil_div_layout": "ceil_div",
    "swizzle_composition": "composition", "swizzle_compose2": "composition",
    "t_compact_col_major": "compact_col_major", "t_compact_row_major": "compact_row_major",
    "t_filter_zeros": "filter_zeros", "t_flatten": "flatten", "t_flatten_to_tuple": "flatten_to_tuple",
}
for _name in ("logical_divide zipped_divide tiled_divide flat_divide logical_product zipped_product tiled_product "
              "flat_product blocked_product raked_product").split():
    CALLS[_name] = _name
for _name in ("ceil_div colex_less compatible congruent depth elem_leq elem_less elem_scale evenly_divides gcd "
              "inner_product lex_less max min product product_each product_like rank repeat_like reverse round_up "
              "shape_div size sum unwrap weakly_congruent wrap zip").split():
    CALLS["t_" + _name] = _name
for _name in ("coalesce composition cosize depth flatten left_inverse logical_divide logical_product max_alignment "
              "max_common_layout max_common_vector rank right_inverse shape size slice slice_and_offset "
              "tile_to_shape zipped_divide filter complement").split():
    CALLS["composed_" + _name] = _name

SIGNS = {"i_add": "+", "i_sub": "-", "i_mul": "*", "i_div": "/", "i_mod": "%", "basis_add": "+", "basis_eq": "==",
         "basis_scale": "*", "basis_scale_r": "*"}


def expression(op, a):
    """A C++ expression of type std::string."""
    if op.startswith(operations_atoms.OPS):
        return operations_atoms.expression(op, a)
    if op in CALLS:
        return f"to_text({CALLS[op]}({','.join(x(v) for v in a)}))"
    if op in SIGNS:
        return f"to_text({x(a[0])}{SIGNS[op]}{x(a[1])})"
    text = special(op, a)
    if text is None and op.endswith("_mode"):
        text = f"{op[:-5]}<{a[1]}>({x(a[0])})"
    if text is None:
        raise ValueError(f"operation {op} is unknown")
    return text if text.startswith("std::string") or text.startswith("[&]") else f"to_text({text})"


def special(op, a):
    identity = f"make_identity_tensor({x(a[0])})" if op.endswith(("_tensor", "_partition", "local_tile", "_proj",
                                                                     "domain_offset", "group_modes")) else ""
    if op in ("basis_print", "layout_print", "composed_print", "tensor_print"):
        return x(a[0])
    if op in ("layout_eval", "layout_call", "tensor_eval", "tensor_slice", "composed_eval", "swizzle_apply"):
        return f"{x(a[0])}({x(a[1])})"
    if op in ("get_1d_coord", "get_flat_coord", "get_hier_coord"):
        return f"{x(a[0])}.{op}({x(a[1])})"
    if op == "make_layout_right":
        return f"make_layout({x(a[0])},LayoutRight{{}})"
    if op in ("append_N", "prepend_N"):
        return f"{op[:-2]}<{a[1]}>({x(a[0])})"
    if op in ("t_append", "t_prepend"):
        return f"{op[2:]}<{a[1]}>({x(a[0])},{x(a[2])})"
    if op in ("take", "group"):
        return f"{op}<{a[1]},{a[2]}>({x(a[0])})"
    if op in ("get", "layout_mode"):
        return f"{'get' if op == 'get' else 'layout'}<{a[1]}>({x(a[0])})"
    if op == "select":
        return f"select<{a[1]}>({x(a[0])})"
    if op in ("replace", "t_insert", "t_replace"):
        return f"{op.removeprefix('t_')}<{a[1]}>({x(a[0])},{x(a[2])})"
    if op == "t_remove":
        return f"remove<{a[1]}>({x(a[0])})"
    if op in ("t_iscan", "t_escan"):
        return f"{op[2:]}({x(a[0])},{x(a[1])},multiplies{{}})"
    if op in ("upcast", "downcast", "swizzle_upcast", "swizzle_downcast", "composed_upcast", "composed_downcast"):
        return f"{op.split('_')[-1]}<{a[1]}>({x(a[0])})"
    if op == "recast_layout":
        return f"recast_layout<{ctype(a[1])},{ctype(a[2])}>({x(a[0])})"
    if op == "make_swizzle":
        return f"make_swizzle<{a[0]},{a[1]}>()"
    if op in ("at_add", "at_sub"):
        sign = "+" if op == "at_add" else "-"
        return f"as_arithmetic_tuple({x(a[0])}){sign}as_arithmetic_tuple({x(a[1])})"
    if op == "at_neg":
        return f"-as_arithmetic_tuple({x(a[0])})"
    if op == "inttuple_iter_add":
        return f"*(make_inttuple_iter({x(a[0])})+{x(a[1])})"
    if op == "basis_sum4":
        return "+".join(f"{x(s)}*{x(b)}" for s, b in (t.split("*") for t in a))
    if op in ("local_tile", "inner_partition", "outer_partition", "local_partition", "local_partition_proj",
              "local_tile_proj"):
        return f"{op.removesuffix('_proj')}({identity},{','.join(x(v) for v in a[1:])})"
    if op == "domain_offset":
        return f"domain_offset({x(a[1])},{identity})"
    if op == "group_modes":
        return f"group_modes<{a[1]},{a[2]}>({identity})"
    if op.endswith("_tensor") and op not in ("print_tensor", "ostream_tensor"):
        return f"{op.removesuffix('_tensor')}({','.join([identity] + [x(v) for v in a[1:]])})"
    if op == "print_tensor":
        return f"std::string(table_text({x(a[0])},false,true))"
    if op == "ostream_tensor":
        return f"[&]{{std::ostringstream os;os<<{x(a[0])};return os.str();}}()"
    if op == "print_layout":
        return f"std::string(layout_table(describe({x(a[0])})))"
    if op == "print_latex":
        return f"std::string(layout_latex(describe({x(a[0])})))"
    if op == "print_tensor_values":
        t = ctype(a[0])
        return (f"[&]{{static {t} b[64];for(int i=0;i<64;++i)b[i]=static_cast<{t}>({a[2]});"
                f"return table_text(make_tensor(&b[0],{x(a[1])}),false,false);}}()")
    if op in ("gmma_smem_atom", "gmma_smem_atom_tiled"):
        atom = f"SM90::GMMA::Layout_{a[0]}_{a[1]}_Atom<{ctype(a[2])}>{{}}"
        return atom if op == "gmma_smem_atom" else f"tile_to_shape({atom},{x(a[3])})"
    return None
