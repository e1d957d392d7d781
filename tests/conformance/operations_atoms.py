"""The C++ expression for the operations on instructions and tilings; see operations.py for those on layouts."""
import re

from notation import expression as x


TYPES = {"half": "half_t", "bfloat16": "bfloat16_t", "bf16": "bfloat16_t", "int8": "signed char",
         "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short", "int": "int", "int32": "int",
         "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long", "float": "float",
         "double": "double", "tfloat32": "tfloat32_t", "tf32": "tfloat32_t", "int1": "integer_subbyte<1, true>",
         "uint1": "uint1_t", "int2": "int2_t", "uint2": "uint2_t", "int4": "int4_t", "uint4": "uint4_t",
         "uint128": "uint128_t", "float_e2m1": "float_e2m1_t", "float_e3m2": "float_e3m2_t",
         "float_e2m3": "float_e2m3_t", "float_ue8m0": "float_ue8m0_t", "float_ue4m3": "float_ue4m3_t", "float_e4m3": "float_e4m3_t", "float_e5m2": "float_e5m2_t", "e4m3": "float_e4m3_t",
         "e5m2": "float_e5m2_t"}
GMMA = "SM90::GMMA"
OPS = ("mma_traits", "copy_traits", "copy_atom_print", "tiled_mma_", "tiled_copy_", "cotiled_copy", "tma_", "gmma_desc")


def ctype(name):
    return TYPES.get(name.removesuffix("_t"), name)


def op_type(name):
    """A CuTe operation as a type of the library."""
    if name.startswith(GMMA) and name.endswith(("_SS", "_RS")):
        return f"{name}<{GMMA}::Major::K,{GMMA}::Major::K>"
    if name.startswith(GMMA) and "_S32" not in name:
        return f"{name}<>"
    found = re.fullmatch(r"(\w+)<(.*)>", name)
    if found and not found[2].isdigit():
        majors = {"K": "UMMA::Major::K", "MN": "UMMA::Major::MN"}
        return f"{found[1]}<{','.join(majors.get(t, ctype(t)) for t in found[2].split(','))}>"
    return name


def part(text, name, *args):
    return f"to_text({text}.{name}({','.join(args)}))"


def identity(shape):
    return f"make_identity_tensor({x(shape)})"


def tiled_mma(a):
    return f"make_tiled_mma({op_type(a[0])}{{}},{x(a[1])},{x(a[2])})"


def of_tiled_mma(op, a):
    mma = tiled_mma(a)
    if op == "tiled_mma_print":
        return f"to_text({mma})"
    if op == "tiled_mma_tile_shape":
        return f"to_text(tile_shape({mma}))"
    if op == "tiled_mma_layout_tv":
        return part(mma, f"get_layout{a[3]}_TV")
    if op == "tiled_mma_partition_shape":
        return f"to_text(partition_shape_{a[3]}({mma},{x(a[4])}))"
    if op == "tiled_mma_thrfrg":
        return part(mma, f"thrfrg_{a[3]}", f"make_layout({x(a[4])})")
    if op == "tiled_mma_partition":
        return part(f"{mma}.get_slice({x(a[5])})", f"partition_{a[3]}", identity(a[4]))
    raise ValueError(f"operation {op} is unknown")


def of_tiled_copy(op, a):
    atom = f"Copy_Atom<{op_type(a[0])},{ctype(a[1])}>{{}}"
    if op == "cotiled_copy":
        return f"to_text(make_cotiled_copy({atom},{x(a[2])},{x(a[3])}))"
    if op.startswith("tiled_copy_mma"):
        copy, rest = f"make_tiled_copy_{a[5]}({atom},{tiled_mma(a[2:])})", a[6:]
    else:
        copy, rest = f"make_tiled_copy({atom},{x(a[2])},{x(a[3])})", a[4:]
    if op.endswith("_print"):
        return f"to_text({copy})"
    if op.endswith("_layout_tv"):
        return part(copy, f"get_layout{rest[0]}_TV")
    if op.endswith("_tidfrg"):
        return part(copy, f"tidfrg_{rest[0]}", f"make_layout({x(rest[1])})")
    if op.endswith("_partition"):
        return part(f"{copy}.get_slice({x(rest[2])})", f"partition_{rest[0]}", identity(rest[1]))
    if op.endswith("_retile"):
        mine = f"{tiled_mma(a[2:])}.get_slice(0).partition_{a[5][0]}({identity(rest[0])})"
        return f"retile_text({copy},{mine})"
    raise ValueError(f"operation {op} is unknown")


def shared_layout(text):
    if not text.startswith("GMMA|"):
        return x(text)
    _, atom, kind, shape = text.split("|")
    return f"tile_to_shape({GMMA}::Layout_{atom}_Atom<{ctype(kind)}>{{}},{x(shape)})"


def of_tma(op, a):
    if op == "tma_multicast_mask":
        return f"std::to_string(create_tma_multicast_mask<{a[1]}>({x(a[0])},{x(a[2])}))"
    common = f"{a[0]}{{}},global_tensor<{ctype(a[1])}>({x(a[2])}),{shared_layout(a[3])},{x(a[4])},{x(a[5])}"
    more = "".join("," + x(v) for v in a[6:])
    return f"{op}_text({common}{more})"


def expression(op, a):
    """A C++ expression of type std::string."""
    if op == "mma_traits":
        return f"mma_traits_text<{op_type(a[0])}>()"
    if op == "copy_traits":
        return f"copy_traits_text<{op_type(a[0])}>()"
    if op == "copy_atom_print":
        return f"to_text(Copy_Atom<{op_type(a[0])},{ctype(a[1])}>{{}})"
    if op == "gmma_desc":
        block = x(a[3])
        tile = f"tile_to_shape({GMMA}::Layout_{a[0]}_{a[1]}_Atom<{ctype(a[2])}>{{}},make_shape(get<0>({block}),_128{{}}))"
        return f"gmma_desc_text<{GMMA}::Major::{a[0]},{ctype(a[2])}>({tile},{block})"
    if op.startswith("tiled_mma_"):
        return of_tiled_mma(op, a)
    if op.startswith("tma_"):
        return of_tma(op, a)
    return of_tiled_copy(op, a)
