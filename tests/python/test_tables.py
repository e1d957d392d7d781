"""What the library lists of operators and dtypes is what graphs accept, and what the package knows."""

import numpy as np
import pytest
import zellige
from zellige import _native, dispatch, dtypes, operators, tracing


def test_operators_that_move_elements_and_views():
    assert {n for n in _native.operators() if tracing.moves(n)} == {"permute", "reshape", "expand", "slice", "split", "concat", "gather", "unfold"}
    assert {n for n in _native.operators() if tracing.is_view(n)} == {"permute", "reshape", "expand", "slice", "split", "unfold"}


def test_every_operator_of_the_package_is_the_librarys():
    assert operators.OPERATORS[-1] == "in_place" and set(operators.OPERATORS[:-1]) < set(_native.operators())
    assert len(set(operators.OPERATORS)) == len(operators.OPERATORS)


@pytest.mark.parametrize("op", [n for n, row in _native.operators().items() if row["family"] == "elementwise"])
def test_a_graph_takes_the_operands_and_scalars_that_are_listed(op):
    row = _native.operators()[op]
    attributes = {"cast": {"dtype": "f16"}, "clamp": {"lo": 0, "hi": 1}}.get(op, {})

    def takes(tensors, **scalar):
        names = [f"x{i}" for i in range(tensors)]
        inputs = [{"name": n, "dtype": "f32", "shape": [4]} for n in names]
        form = {"op": op, "inputs": names, "outputs": ["y"]} | attributes | scalar
        try:
            _native.Graph({"zellige_graph": 1, "inputs": inputs, "operators": [form], "outputs": ["y"]})
        except zellige.Error:
            return False
        return True

    needed = {"scalar": 2.0} if op == "mul_scalar" else {}
    assert takes(row["operands"], **needed) and not takes(row["operands"] + 1, **needed)
    tensors = row["operands"] if op == "mul_scalar" else max(row["operands"] - 1, 1)
    found = takes(tensors, scalar=2.0), takes(tensors, scalar="inf")
    assert found == {"none": (False, False), "finite": (True, False), "any": (True, True)}[row["scalar"]]
    assert dispatch._is_exact(op, 2.0) and dispatch._is_exact(op, float("inf")) == (row["scalar"] == "any")


def test_dtypes_are_the_librarys():
    assert tuple(_native.dtypes()) == dtypes.NAMES
    assert [(n, dtypes.itemsize(n)) for n in dtypes.NAMES if dtypes.is_integer(n)] == [("int8", 1), ("int32", 4), ("bool", 1), ("uint8", 1), ("int16", 2), ("int64", 8)]
    for name in dtypes.NAMES:
        if name in dtypes.PACKED:
            continue  # arrays have bytes of them
        try:
            found = dtypes.numpy_dtype(name)
        except zellige.Error as why:
            assert "ml_dtypes" in str(why)  # it is not installed
            continue
        row = _native.dtypes()[name]
        assert dtypes.dlpack_code(found) == (row["code"], row["bits"]) == (row["code"], 8 * found.itemsize)
    assert dtypes.dlpack_code(np.dtype("float64")) == (2, 64) and dtypes.dlpack_code(np.dtype("uint16")) == (1, 16)
