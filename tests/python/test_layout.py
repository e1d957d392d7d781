"""Layouts: compared with CuTe and with the conformance corpus."""

import collections
import json
import os
import pathlib
import re

import pytest
import zellige
from zellige import layout
from zellige.layout import Int, Layout


def test_prints_as_cute_prints():
    assert str(layout.logical_divide(Layout((8, 8), (8, 1)), (2, 2))) == "((2,4),(2,4)):((8,16),(1,2))"
    assert repr(layout.composition(Layout("(_4,_8):(_8,_1)"), "_16:_2")) == "(_2,_8):(_16,_1)"
    assert str(layout.composition("Sw<3,3,3>", Layout("(_8,_64):(_64,_1)"))) == "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"
    assert str(Layout((Int(4), 8))) == "(_4,8):(_1,_4)"
    assert str(layout.make_layout((4, 8), "LayoutRight")) == "(4,8):(8,_1)"
    assert str(layout.complement(Layout("_4:_2"), 24)) == "(_2,3):(_1,_8)"


def test_values_are_pythons_where_it_has_them():
    tiles = Layout("(_4,(2,_2)):(_8,(_1,2))")
    assert tiles.shape == (4, (2, 2)) and repr(tiles.shape) == "(_4, (2, _2))"
    assert tiles.stride == (8, (1, 2))
    assert layout.size(tiles) == 16 and layout.cosize(tiles) == 28 and len(tiles) == 2
    assert tiles(1, 2) == 10 and tiles(3) == 24
    assert str(tiles(None, 1)) == "(_4):(_8)"
    assert [str(mode) for mode in tiles] == ["_4:_8", "(2,_2):(_1,2)"]
    assert layout.congruent((1, (2, 3)), (4, (5, 6))) is True
    assert Layout((4, 8)) == Layout("(4,8):(_1,4)") and len({Layout((4, 8)), Layout((4, 8))}) == 1
    assert layout.idx2crd(5, (4, 8)) == (1, 1)


def test_every_index_of_a_composition():
    a, b = Layout("(_6,_2):(_8,_2)"), Layout("(_4,_3):(_3,_1)")
    r = layout.composition(a, b)
    for i in range(12):
        assert r(i) == a(b(i))


def test_composed_layouts_are_called_whole():
    rows, inner = Layout("(_4,_8):(_8,_1)"), Layout("(_10,_3):(_1,_10)")
    for left in (rows, Layout("_32:_4"), layout.evaluate("Sw<2,0,2>")):
        for offset in (0, 3):
            both = layout.evaluate(f"make_composed_layout({left}, {offset}, {inner})")
            assert isinstance(both, Layout) and both.shape == (10, 3)
            assert [both(i) for i in range(30)] == [left(offset + inner(i)) for i in range(30)]
            assert both(5, 2) == both(25) and both(None, 2).shape == (10,)
    assert rows(layout.evaluate("_1")) == 8 and layout.composition(rows, both)(7) == rows(both(7))
    with pytest.raises(zellige.Error, match="a call needs a coordinate"):
        rows()


def test_draws_itself():
    svg = Layout((2, 4))._repr_svg_()
    assert svg.startswith("<svg") and svg.count("<rect") >= 8
    assert layout.print_layout(Layout((2, 2), (2, 1))).splitlines()[0] == "(2,2):(2,1)"


@pytest.mark.parametrize(
    "work, message",
    [
        (lambda: layout.logical_divide(Layout((8, 8))), "logical_divide takes (layout, tiler); 1 operand is given"),
        (lambda: layout.right_inverse(3.5), "expected a layout, a number, a tuple, None or a string as an operand, found 3.5"),
        (lambda: Layout("(2,"), "a number is expected"),
        (lambda: Layout("(2,3)"), "Layout: expected a layout, found (2,3)"),
        (
            lambda: layout.evaluate("coalesced(4:1)"),
            "coalesced is no operation; zellige layout --list shows them; did you mean coalesce?",
        ),
        (
            lambda: layout.composition("(_4,_6):(_1,_10)", "_6:_3"),
            "composition((_4,_6):(_1,_10), _6:_3): stride 3 of the right operand does not divide extent 4 of the mode of the left"
            " operand that it crosses",
        ),
    ],
)
def test_refuses_with_the_librarys_sentence(work, message, refusal):
    assert refusal(work) == message


def test_has_every_operation_and_the_stub_declares_them():
    names = set(layout.operations())
    assert {"composition", "logical_divide", "zipped_divide", "complement", "coalesce", "right_inverse", "local_tile"} <= names
    assert zellige.composition is layout.composition and "logical_divide(layout, tiler)" in layout.logical_divide.__doc__
    stub = (pathlib.Path(layout.__file__).parent / "layout.pyi").read_text()
    assert set(re.findall(r"^def (\w+)\(", stub, re.M)) == names | {"evaluate", "operations"}
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        layout.nope


# ---- The corpus ----

# The corpus's name of an operation for each combination of operand kinds.
NAMES = {
    "composition_tiler": "composition", "composition_basis_rhs": "composition", "swizzle_compose2": "composition",
    "tile_to_shape_order": "tile_to_shape", "layout_mode": "get", "slice_tuple": "slice", "dice_tuple": "dice",
    "crd2idx2": "crd2idx", "idx2crd2": "idx2crd", "composed_eval": "layout_eval", "basis_eq": "equal", "basis_scale": "mul",
    "basis_scale_r": "mul", "ceil_div_layout": "ceil_div", "append_N": "append", "prepend_N": "prepend",
    "local_tile_proj": "local_tile", "local_partition_proj": "local_partition",
}  # fmt: skip
# Records that only print, and those composed of several operations.
SEPARATE = {"basis_print", "layout_print", "composed_print", "tensor_print", "inttuple_iter_add", "basis_sum4", "gmma_smem_atom_tiled"}
# Operations on instructions and their tilings: `zellige layout --jsonl` answers those.
ATOMS = ("tiled_", "mma_", "copy_", "cotiled_", "tma_", "gmma_desc", "print_tensor_values")


def operation(record: str, arguments: list):
    if record in NAMES:
        return NAMES[record], arguments
    if record == "select":
        return record, [arguments[0], *arguments[1].split(",")]
    makes = record.startswith(("make_", "print_", "ostream_"))
    if record.endswith("_tensor") and not makes:
        return record[:-7], [f"make_identity_tensor({arguments[0]})", *arguments[1:]]
    if record not in ("swizzle_apply", "as_arithmetic_tuple"):
        record = re.sub(r"^(t|i|at|basis|composed|swizzle)_", "", record)
    return re.sub(r"_mode$|_profile$|(?<=coalesce)_shape$|_concat$|(?<=[a-z])[12]$", "", record), arguments


def test_the_corpus():
    folder = os.environ.get("ZELLIGE_CONFORMANCE", "")
    if not os.path.isdir(folder):
        pytest.skip("ZELLIGE_CONFORMANCE names no folder of the conformance corpus")
    passed, wrong = collections.Counter(), []
    for file in sorted(pathlib.Path(folder).glob("*.jsonl")):
        if file.stem == "rejected" or file.stem.endswith("_unsound"):
            continue
        for line in file.read_text().splitlines():
            record = json.loads(line)
            if record["op"] in SEPARATE or record["op"].startswith(ATOMS):
                continue
            if record["op"] == "composed_logical_product" and " o " in record["args"][1]:
                continue  # refused: it takes an uncomposed layout there
            name, arguments = operation(record["op"], record["args"])
            try:
                found = getattr(layout, name)(*arguments)
            except (zellige.Error, AttributeError) as why:
                found = f"{type(why).__name__}: {why}"
            text = {True: "true", False: "false"}.get(found, str(found)) if isinstance(found, bool) else str(found)
            if isinstance(found, tuple):
                text = text.replace(" ", "").replace(",)", ")")
            if text == record["result"].rstrip("\n") or (isinstance(found, bool) and "_" + text == record["result"]):
                passed[file.stem] += 1
            else:
                wrong.append((record["id"], name, arguments, record["result"], text))
    assert not wrong, f"{len(wrong)} of {sum(passed.values()) + len(wrong)}: {wrong[:5]}"
    assert sum(passed.values()) > 1500, passed


def test_what_cute_gets_wrong_is_refused():
    folder = os.environ.get("ZELLIGE_CONFORMANCE", "")
    if not os.path.isdir(folder):
        pytest.skip("ZELLIGE_CONFORMANCE names no folder of the conformance corpus")
    count = 0
    for file in sorted(pathlib.Path(folder).glob("*_unsound.jsonl")):
        for line in file.read_text().splitlines():
            record = json.loads(line)
            name, arguments = operation(record["op"], record["args"])
            with pytest.raises(zellige.Error):
                getattr(layout, name)(*arguments)
            count += 1
    assert count > 10
