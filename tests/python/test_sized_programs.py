"""Programs with sizes that are known at a call: one program, compiled once, called with arrays of different lengths."""

import numpy as np
import pytest
import zellige


def rows(multiple=1):
    return {
        "zellige_graph": 1,
        "name": "rows",
        "sizes": {"T": {"min": multiple, "max": 64, "multiple": multiple}},
        "inputs": [{"name": "x", "dtype": "f32", "shape": ["T", 64]}, {"name": "z", "dtype": "f32", "shape": ["T", 64]}],
        "operators": [{"op": "softmax", "inputs": ["x"], "dim": 1, "outputs": ["s"]}, {"op": "add", "inputs": ["s", "z"], "outputs": ["y"]}],
        "outputs": ["y"],
    }


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def arrays(*lengths):
    generator = np.random.default_rng(len(lengths))
    return [generator.standard_normal((n, 64)).astype("f4") for n in lengths]


def refused(call):
    with pytest.raises(zellige.Error) as why:
        call()
    return str(why.value)


@pytest.mark.parametrize("on", ["emulator", "reference"])
def test_one_program_is_called_with_arrays_of_all_lengths(on):
    program = zellige.compile(rows(), target="sm_80", on=on)
    for length in (1, 2, 15, 16, 17, 63, 64):
        x, z = arrays(length, length)
        y = program(x, z)
        assert y.shape == (length, 64)
        np.testing.assert_allclose(y, softmax(x) + z, rtol=1e-3, atol=1e-4)
    assert program.whole is not None and not program._programs, program.why_not
    out = np.zeros((17, 64), "f4")
    assert program(*arrays(17, 17), out=out) is out


def test_a_program_says_its_sizes():
    program = zellige.compile(rows(8), target="sm_80", on="emulator").whole
    assert program.sizes == (zellige.SizeInfo("T", 8, 64, 8),)
    assert [i.shape for i in program.inputs] == [(-1, 64), (-1, 64)]
    assert program.outputs[0].shape == (-1, 64)
    assert program.manifest["version"] == 3 and program.manifest["sizes"][0]["max"] == 64


def test_what_is_not_of_its_sizes_is_refused():
    program = zellige.compile(rows(8), target="sm_80", on="emulator").whole
    assert refused(lambda: program(*arrays(8, 16))) == "program rows: T is 8, dimension 0 of input x, and 16, dimension 0 of input z"
    assert refused(lambda: program(*arrays(72, 72))) == "program rows: expected T from 8 to 64, found 72, dimension 0 of input x"
    assert refused(lambda: program(*arrays(12, 12))) == "program rows: expected T to be a multiple of 8, found 12, dimension 0 of input x"
    x, z = arrays(8, 8)
    assert refused(lambda: program(x, z, out=np.zeros((16, 64), "f4"))) == "program rows: T is 8, dimension 0 of input x, and 16, dimension 0 of output y"


def test_a_function_is_one_program_for_all_its_sizes():
    T = zellige.Dim("T", max=40)
    program = zellige.compile(lambda x: np.tanh(softmax(x)), zellige.TensorSpec((T, 64), "f32"), target="sm_80", on="emulator")
    for length in (40, 1, 7):
        (x,) = arrays(length)
        np.testing.assert_allclose(program(x), np.tanh(softmax(x)), rtol=1e-3, atol=1e-4)
    assert program.whole is not None, program.why_not
