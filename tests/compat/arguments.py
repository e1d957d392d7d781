#!/usr/bin/env python3
"""Calls the functions of CuTe's headers with each kind of argument, and holds what they give against CuTe: arguments.tsv.

    tests/compat/arguments.py --check ROWS              compiles about ROWS calls of the table with compat's headers: what they
                                                        print, or that they are refused
    tests/compat/arguments.py --write CUTE              prints all calls with CuTe's headers in the folder CUTE and with compat's,
                                                        and writes the table

A row is a call, what CuTe prints, and what becomes of it here: "same"; or "refused" (it does not compile), "THROWS" or what is
printed, each with the reason (REASONS). Calls that CuTe refuses are not in the table. ROWS of 0 means all rows.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("arguments.tsv")
CUDA = "/usr/local/cuda/include"
CHUNK = 300  # calls of one translation unit

KINDS = {
    "L": "Layout<Shape<_8, _4>, Stride<_4, _1>>{}",
    "D": "make_layout(make_shape(8, _4{}), make_stride(_4{}, _1{}))",
    "I": "12",
    "N": "_12{}",
    "T": "make_tuple(_2{}, make_tuple(3, _4{}))",
    "C": "composition(Layout<Shape<_4, _8>, Stride<_8, _1>>{}, _2{}, Layout<Shape<_4, _4>>{})",
    "S": "composition(Swizzle<2, 0, 3>{}, Layout<Shape<_8, _8>, Stride<_8, _1>>{})",
    "X": "make_tensor(counting_iterator<int>(0), L)",
    "B": "make_tensor(subbyte_iterator<int4_t>(memory), L)",
    "K": "make_identity_tensor(Shape<_8, _4>{})",
}
OF_ONE = """size rank depth shape stride layout cosize coshape coprofile flatten coalesce filter filter_zeros complement
    right_inverse left_inverse nullspace max_alignment make_layout make_shape make_tile make_identity_layout make_identity_tensor
    make_coord_tensor make_counting_tensor make_layout_like make_fragment_like product product_each sum gcd max min abs wrap unwrap
    flatten_to_tuple front back reverse zip get_swizzle_portion get_nonswizzle_portion make_inttuple_iter as_arithmetic_tuple
    make_arithmetic_tuple make_basis_like compact_col_major compact_row_major size<0> size<1> rank<0> depth<1> shape<0> shape<1>
    stride<0> stride<1> layout<0> layout<1> tensor<0> tensor<1> tensor get<0> get<1> get<1,0> cosize<0> coshape<1> take<0,1> take<1,2>
    select<0> select<1,0> group<0,2> group_modes<0,2> append<3> prepend<3> append prepend remove<0> upcast<2> downcast<2>
    recast_layout<uint8_t,uint16_t> recast_layout<uint16_t,uint8_t> recast<int8_t> recast<uint16_t> bit_width has_single_bit popcount
    log_2 signum make_tensor_like make_fragment_like<float> make_tensor<float> repeat<2>""".split()
OF_TWO = """composition logical_divide zipped_divide tiled_divide flat_divide logical_product zipped_product tiled_product flat_product
    blocked_product raked_product complement coalesce filter congruent weakly_congruent compatible evenly_divides ceil_div round_up
    shape_div elem_scale lex_less colex_less elem_less elem_leq elem_gtr elem_geq inner_product product_like crd2idx idx2crd slice dice
    slice_and_offset domain_offset make_layout make_shape append prepend append<4> prepend<4> replace<0> zip zip2_by tuple_cat unflatten
    tile_to_shape max_common_vector max_common_layout domain_distribute make_ordered_layout compact_order repeat_like make_tile min max
    gcd lcm safe_div filter_zeros compact_col_major basis_get""".split()
SECOND = ["L", "Shape<_4,_2>{}", "make_coord(_,2)"]
MEMBERS = """size() shape() stride() layout() data() shape<0>() stride<1>() compose(Layout<_4,_2>{}) compose(_4{},_2{}) tile(_4{})
    tile(_4{},_2{}) with_shape(_8{},_4{}) get_1d_coord(5) get_hier_coord(5) get_flat_coord(5) layout_a() layout_b() offset()""".split()
COORDINATES = ["3", "_3{}", "make_coord(1,2)", "1,2", "_,2", "make_coord(_,_1{})", "make_coord(_1{},make_coord(1,2))"]
TILERS = ["Shape<_4,_2>{}", "make_tile(Layout<_4,_2>{},_2{})", "Layout<_4>{}", "_4{}", "make_shape(4,2)"]
# (what a row is, why it is refused or differs), the first that matches.
REASONS = [
    (r"complement\([SC]", "a swizzle has no complement; CuTe gives that of the layout inside"),
    (r"((right|left)_inverse|max_alignment|downcast<2>)\([IN]\)", "a number is no layout"),
    (r"max_alignment\(B\)", "an alignment is in elements; CuTe's is in bits here"),
    (r"(gcd|max|min)\([LDCSXBK]\)", "a layout or tensor has no greatest number; CuTe gives it back"),
    (r"(zip|group<0,2>)\([XBK]\)", "a tensor is no tuple; CuTe takes it for one element"),
    (r"cosize<0>\([SC]\)", "CuTe leaves the swizzle out of the indices of a mode"),
    (r"(coalesce|filter|product_like)\([LDISTCX],L\)", "a layout is no profile; CuTe takes it for one element"),
    (r"shape_div\(T,Shape", "neither of 3 and 2 divides the other; CuTe rounds"),
    (r"make_layout\(T,", "shape and stride differ in profile; CuTe drops the modes without a stride"),
    (r"append<4>\(S,", "a tuple is no layout that a mode of this one could have"),
    (r"(replace<0>|zip|basis_get)\([LDSTCX],", "a layout or tuple is no element of a tuple here; CuTe gives the other one, or a tuple"),
    (r"filter_zeros\(S,", "a swizzled layout has no strides; CuTe takes it for a stride"),
    (r"max_common_layout\(S,L\)", "a layout of one element: its stride is any"),
    (r"(take<1,2>|select<1,0>|group<0,2>)\(I\)", "a number has one mode; CuTe adds modes of 1"),
]

UNIT = """#include <cute/tensor.hpp>
#include <csetjmp>
#include <csignal>
#include <exception>
using namespace cute;
static sigjmp_buf before;
static void give_up(int) { siglongjmp(before, 1); }
template <class T>
void show(T const& x) {
  if constexpr (std::is_same_v<T, bool>)
    printf(x ? "true" : "false");
  else
    print(x);
}
unsigned char memory[256];
"""


def calls():
    """All calls of the table, in its order."""
    yield from (f"{f}({k})" for f in OF_ONE for k in KINDS)
    yield from (f"{f}({k},{s})" for f in OF_TWO for k in "LTSX" for s in SECOND)
    yield from (f"{k}.{m}" for k in "LDCSXBK" for m in MEMBERS)
    yield from (f"{k}({c})" for k in "LDCSXBK" for c in COORDINATES)
    yield from (f"{f}({k},{t},{c})" for f in ("local_tile", "outer_partition") for k in "XBK" for t in TILERS
                for c in ("make_coord(1,1)", "1", "make_coord(_,1)"))


def unit(sample):
    """The source that prints the calls of the sample by their number, and the call of each of its lines."""
    lines = (UNIT + "".join(f"auto {k} = {v};\n" for k, v in KINDS.items())).splitlines()
    at = {}
    for number, call in sample:
        lines.append(f"void call{number}() {{ show({call}); }}")
        at[len(lines)] = number
    lines.append("int main() { for (int s : {SIGFPE, SIGABRT, SIGSEGV}) signal(s, give_up);")
    for number, _ in sample:
        lines.append(f'printf("\\n@@{number}@@"); if (sigsetjmp(before, 1) == 0) {{ try {{ call{number}(); }} '
                     f'catch (std::exception const&) {{ printf("THROWS"); }} }} else printf("SIGNAL");')
    return "\n".join(lines + ["}"]) + "\n", at


def refused_in(errors, source, at):
    """The numbers of the calls whose compilation fails, by the lines of the unit that errors name."""
    refused, last = set(), None
    for line in errors.splitlines():
        named = re.search(re.escape(str(source)) + r":(\d+):", line)
        last = at.get(int(named.group(1)), last) if named else last
        if "error:" in line and last is not None:
            refused.add(last)
    return refused


def outcomes(sample, compile_with):
    """What each call prints, by its number; the number of a call that does not compile is missing."""
    printed = {}
    for begin in range(0, len(sample), CHUNK):
        part = sample[begin:begin + CHUNK]
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder) / "calls.cpp", pathlib.Path(folder) / "calls"
            while part:
                text, at = unit(part)
                source.write_text(text)
                done = subprocess.run([*compile_with, "-O0", "-w", "-fmax-errors=0", source, "-o", program], capture_output=True,
                                      text=True, check=False)
                if done.returncode == 0:
                    out = subprocess.run([program], capture_output=True, text=True, errors="replace", check=False).stdout
                    found = re.split(r"\n@@(\d+)@@", out)
                    printed |= {int(n): re.sub("0x[0-9a-f]+", "POINTER", t) for n, t in zip(found[1::2], found[2::2])}
                    break
                refused = refused_in(done.stderr, source, at)
                if not refused:
                    sys.exit(f"no call is to blame for:\n{done.stderr[:3000]}")
                part = [c for c in part if c[0] not in refused]
    return printed


def ours(compiler):
    return [compiler, "-std=c++20", "-DNDEBUG", "-I", ROOT / "compat", "-I", ROOT / "include"]


def reason(call, theirs, here):
    for pattern, why in REASONS:
        if re.match(pattern, call):
            return why
    sys.exit(f"{call}: CuTe prints {theirs}, and here is {here}: REASONS has no reason")


def write(cute, compiler):
    numbered = list(enumerate(calls()))
    theirs = outcomes(numbered, [compiler, "-std=c++17", "-DNDEBUG", "-I", cute, "-I", CUDA, "-I", f"{CUDA}/cccl"])
    wanted = [(n, c) for n, c in numbered if n in theirs and theirs[n] != "SIGNAL"]
    here = outcomes(wanted, ours(compiler))
    rows = ["call\tCuTe\there\treason"]
    for n, call in wanted:
        given = here.get(n, "refused")
        verdict = "same\t" if given == theirs[n] else f"{given}\t{reason(call, theirs[n], given)}"
        rows.append(f"{call}\t{theirs[n]}\t{verdict}".replace("\n", "\\n"))
    TABLE.write_text("\n".join(rows) + "\n")
    others = sum("\tsame\t" not in row for row in rows[1:])
    print(f"{len(rows) - 1} calls that CuTe takes, {others} of them refused or different here")


def check(count, compiler):
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()[1:]]
    step = max(1, len(rows) // count) if count else 1
    sample = list(enumerate(rows))[::step]
    printed = outcomes([(n, row[0]) for n, row in sample], ours(compiler))
    wrong = []
    for n, (call, cute, here, _) in sample:
        wanted, given = (cute if here == "same" else here), printed.get(n, "refused").replace("\n", "\\n")
        if given != wanted:
            wrong.append(f"{call}: expected {wanted}, found {given}")
    print("\n".join(wrong) or f"{len(sample)} of {len(rows)} calls give what the table says")
    return bool(wrong)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", type=int, metavar="ROWS")
    p.add_argument("--write", metavar="CUTE")
    p.add_argument("--compiler", default="c++")
    a = p.parse_args()
    if a.write:
        write(a.write, a.compiler)
        return 0
    return check(a.check or 0, a.compiler)


if __name__ == "__main__":
    sys.exit(main())
