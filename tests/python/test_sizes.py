"""Sizes that are known at launch, in Python: functions and graphs with Dims give what the same ones of constants give, and mistakes
are refused with the whole message."""

import random

import numpy as np
import pytest
import zellige
from zellige import sizes


def refused(call):
    with pytest.raises(zellige.Error) as why:
        call()
    return str(why.value)


def values(dims, draw):
    return {d.name: draw.randrange(d.minimum, d.greatest + 1, d.multiple) for d in dims}


def test_expressions_mean_what_they_say():
    draw = random.Random(60)
    T, P, B = zellige.Dim("T", max=64), zellige.Dim("P", min=0, max=30, multiple=5), zellige.Dim("B", max=4)
    for _ in range(200):
        parts = [draw.choice([T, P, B, draw.randrange(5)]) for _ in range(5)]
        made, text = T, "T"
        for part in parts:
            op = draw.choice("+*-") if not isinstance(part, int) or part else "+"
            made = {"+": lambda: made + part, "*": lambda: part * made, "-": lambda: made - part}[op]()
            text = f"({text}) {op} ({part})"
        v = values([T, P, B], draw)
        expected = eval(text, {}, v)  # of names and integers alone
        assert made.at(v) == expected == sizes.evaluate(str(made), v)


def test_fits_find_polynomials():
    draw = random.Random(7)
    T, P = zellige.Dim("T", max=100, multiple=4), zellige.Dim("P", max=50)
    fit = sizes.Fit([T, P])
    for e in (T * P * 8 + T * 4, P + T, T * T - P, (T + P) * (T + P) * 2, T * P * P + 3):
        text = fit.text([e.at(v) for v in fit.points])
        for _ in range(20):
            v = values([T, P], draw)
            assert sizes.evaluate(text, v) == e.at(v)
    assert fit.text([v["T"] // 8 for v in fit.points]) is None


def attention(q, k, before):
    keys = np.concatenate([before, k])
    scores = q @ keys.T / 4
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ keys


def flat(x, w):
    b, t, d = x.shape
    return (x.reshape(b * t, d) @ w).reshape(b, t * w.shape[1])


def test_a_function_of_sizes_is_the_one_of_constants():
    T, P = zellige.Dim("T", max=24, typical=[8]), zellige.Dim("P", max=20)
    program = zellige.compile(attention, zellige.TensorSpec((T, 16), "f32"), zellige.TensorSpec((T, 16), "f32"), zellige.TensorSpec((P, 16), "f32"), target="sm_80", on="reference")
    assert program.graph["sizes"] == {"T": {"min": 1, "max": 24, "typical": [8]}, "P": {"min": 1, "max": 20}}
    assert [i.shape for i in program.inputs] == [("T", 16), ("T", 16), ("P", 16)]
    draw = random.Random(5)
    generator = np.random.default_rng(5)
    for t, p in [(1, 1), (24, 20), (1, 20), *((draw.randrange(1, 25), draw.randrange(1, 21)) for _ in range(3))]:
        q, k, before = (generator.standard_normal((n, 16)).astype("f4") for n in (t, t, p))
        y = program(q, k, before)
        assert y.shape == (t, 16)
        np.testing.assert_allclose(y, attention(q, k, before), rtol=1e-3, atol=1e-4)


def test_extents_may_be_computed():
    B, T = zellige.Dim("B", min=2, max=6, multiple=2), zellige.Dim("T", max=9)
    program = zellige.compile(flat, zellige.TensorSpec((B, T, 16), "f32"), zellige.TensorSpec((16, 8), "f32"), target="sm_80", on="emulator")
    shapes = [o["shape"] for o in program.graph["operators"] if o["op"] == "reshape"]
    assert shapes == [["B * T", 16], ["B", "8 * T"]]
    x, w = (np.random.default_rng(1).standard_normal(s).astype("f4") for s in ((4, 3, 16), (16, 8)))
    np.testing.assert_allclose(program(x, w), flat(x, w), rtol=1e-3, atol=1e-4)
    assert program.at(B=4, T=3) is program.at(B=4, T=3)


def test_a_graph_with_sizes():
    form = {"zellige_graph": 1, "name": "g", "sizes": {"T": {"min": 1, "max": 40}}, "inputs": [{"name": "x", "dtype": "f32", "shape": ["T", 8]}, {"name": "z", "dtype": "f32", "shape": ["2 * T", 8]}],
            "operators": [{"op": "concat", "inputs": ["x", "z"], "outputs": ["y"], "dim": 0}], "outputs": ["y"]}  # fmt: skip
    program = zellige.compile(form, target="sm_80", on="reference")
    x, z = np.ones((3, 8), "f4"), np.zeros((6, 8), "f4")
    assert program(x, z).shape == (9, 8)
    assert refused(lambda: program(x, x)) == "program g, input z: expected 2*T = 6 elements along dimension 0, found 3; T is 3, dimension 0 of input x"
    assert refused(lambda: program(np.ones((41, 8), "f4"), z)) == "program g: expected T from 1 to 40, found 41, dimension 0 of input x"
    half = zellige.compile(form | {"inputs": [form["inputs"][1]], "operators": [{"op": "exp", "inputs": ["z"], "outputs": ["y"]}]}, target="sm_80", on="reference")
    assert refused(lambda: half(x)) == "program g, input z: expected 2*T elements along dimension 0, found 3"
    assert refused(lambda: program.at(T=0)) == "program g: expected T from 1 to 40, found 0"
    assert refused(lambda: program.at(S=1)) == "program g: expected values of T, found S"
    assert refused(lambda: program.at()) == "program g: expected a value of T, found none"
    assert refused(lambda: program(x[0], z)) == "program g, input x: expected rank 2, found 1"


def test_what_does_not_hold_for_all_values_is_refused():
    T, P = zellige.Dim("T", max=24), zellige.Dim("P", max=20)
    x, z = zellige.TensorSpec((T, 16), "f32"), zellige.TensorSpec((P, 16), "f32")

    def compiled(function, *examples):
        return lambda: zellige.compile(function, *examples, target="sm_80")

    clash = refused(compiled(lambda x, z: x + z, x, z))
    assert "expected dimensions that are equal or 1, found (24, 16) and (20, 16)" in clash and clash.endswith(", at T = 24, P = 20"), clash
    assert refused(compiled(lambda x: x / x.shape[0], x)) == "compile lambda: operator div: expected scalar to be the same for all sizes, found 24.0 at T = 24 and 3.0 at T = 3"
    some = zellige.TensorSpec((zellige.Dim("T", min=4, max=24), 16), "f32")
    assert refused(compiled(lambda x: x[: x.shape[0] // 2 + 1], some)) == (
        "compile lambda: operator slice: expected end to be a sum of products of sizes, found 13 at T = 24 and 3 at T = 5"
    )
    assert refused(compiled(lambda x: x if x.shape[0] > 5 else x + 1, zellige.TensorSpec((T, 16), "f32"))).startswith("compile lambda: expected lambda to compute something")
    assert refused(compiled(lambda x: x + 1 if x.shape[0] > 1 else x * 2, x)) == (
        "compile lambda: expected the same operators for all sizes, found others at T = 1; other ranges may exclude it"
    )


def test_dims_are_checked():
    assert refused(lambda: zellige.Dim("T", max=2.5)) == "Dim T: expected max to be an integer, found 2.5"
    assert refused(lambda: zellige.Dim("T", min=9, max=8)) == "Dim T: expected size T to have 0 <= min <= max <= 2147483647, found min 9 and max 8"
    assert refused(lambda: zellige.Dim(3, max=8)) == "Dim: expected a name, found 3"
    assert refused(lambda: zellige.Dim("T", max=8, typical=[9])) == "Dim T: a typical value: expected T from 1 to 8, found 9"
    T, other = zellige.Dim("T", max=8), zellige.Dim("T", max=9)
    x = zellige.TensorSpec((T, other), "f32")
    assert refused(lambda: zellige.compile(lambda x: x + 1, x)) == "Dim T: expected one size of that name, found <zellige.Dim T: 1 to 8> and <zellige.Dim T: 1 to 9>"
