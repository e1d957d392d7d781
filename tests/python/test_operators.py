"""Every operator computes on NumPy what the library's reference computes, and both have the same operators."""

import json
import re

import numpy as np
import pytest
import zellige
from zellige import operators


def arrays(rng, *shapes, dtype=np.float32):
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


X = (4, 8)
# Operator: shapes of its operands, and how it is called.
CASES = {
    "matmul": ([X, (8, 4)], lambda o, x, y: o.matmul(x, y)),
    "gelu": ([X], lambda o, x: o.gelu(x) + o.gelu(x, approximate="tanh")),
    "clamp": ([X], lambda o, x: o.clamp(x, -0.5, 0.75)),
    "cast": ([X], lambda o, x: o.cast(o.cast(x * 100, "f16"), "f32") + o.cast(o.cast(x * 100, "int8", saturate=True), "f32")),
    "log": ([X], lambda o, x: o.log(o.abs(x))),
    "log1p": ([X], lambda o, x: o.log1p(o.abs(x) * 1e-3)),
    "sqrt": ([X], lambda o, x: o.sqrt(o.abs(x))),
    "rsqrt": ([X], lambda o, x: o.rsqrt(o.abs(x) + 1)),
    "pow": ([X, X], lambda o, x, y: o.pow(o.abs(x), y) + o.pow(x, 3) + o.pow(2.0, x)),
    "div": ([X, (8,)], lambda o, x, y: o.div(x, y * y + 1) + o.div(3, x * x + 1)),
    "where": ([X, X, X], lambda o, c, x, y: o.where(c, x, y) + o.where(o.gt(c, 0), x, 2.0) + o.where(o.gt(c, 0), 2.0, y)),
    "layer_norm": ([X, (8,), (8,)], lambda o, x, w, b: o.layer_norm(x, w, b, eps=1e-5) + o.layer_norm(x)),
    "rms_norm": ([X, (8,)], lambda o, x, w: o.rms_norm(x, w, eps=1e-5)),
    "logsumexp": ([X], lambda o, x: o.logsumexp(x, 0, keepdim=True)),
    "permute": ([(2, 3, 4)], lambda o, x: o.permute(x, (2, 0, 1))),
    "reshape": ([X], lambda o, x: o.reshape(x, (2, -1))),
    "expand": ([(4, 1)], lambda o, x: o.expand(x, (3, -1, 5))),
    "unfold": ([X], lambda o, x: o.unfold(x, -1, 3, 2, dilation=2, padding=(1, 2))),
    "slice": ([X], lambda o, x: o.slice(x, -1, 2, 5)),
    "concat": ([X, X], lambda o, x, y: o.concat([x, y], 1)),
    "split": ([X], lambda o, x: o.split(x, 3, 1)[2] + o.split(x, [2, 6], 1)[0]),
    "mask": ([X], lambda o, x: o.mask(x, tril=1, triu=-1, length=6, value=0.5)),
    "rotary": ([X, (4, 4), (4, 4)], lambda o, x, c, s: o.rotary(x, c, s)),
    "rotary_interleaved": ([X, (4, 4), (4, 4)], lambda o, x, c, s: o.rotary_interleaved(x, c, s)),
}
for _name in "exp square neg abs sin cos tanh sigmoid silu relu softmax safe_softmax log_softmax".split():
    CASES.setdefault(_name, ([X], lambda o, x, n=_name: getattr(o, n)(x)))
for _name in "add sub mul maximum minimum eq ne lt le gt ge".split():
    CASES.setdefault(_name, ([X, (8,)], lambda o, x, y, n=_name: getattr(o, n)(x, y) + getattr(o, n)(0.5, x) + getattr(o, n)(x, 0.5)))
CASES["logaddexp"] = ([X, (8,)], lambda o, x, y: o.logaddexp(x, y))
for _name in "sum mean amax amin prod".split():
    CASES.setdefault(_name, ([(2, 3, 4)], lambda o, x, n=_name: getattr(o, n)(x, 1) + getattr(o, n)(x, (0, 1), keepdim=True)[0]))


@pytest.mark.parametrize("name", sorted(CASES))
def test_numpys_meaning_is_the_references(name, rng):
    shapes, call = CASES[name]
    inputs = arrays(rng, *shapes)

    def function(*operands):
        return call(operators, *operands)

    function.__signature__ = __import__("inspect").signature(eval(f"lambda {', '.join(f'x{i}' for i in range(len(inputs)))}: 0"))
    found = zellige.compile(function, *inputs, on="reference")(*inputs)
    np.testing.assert_allclose(found, np.asarray(function(*inputs)), rtol=2e-6, atol=2e-6)


def test_rows_by_number(rng):
    (x,) = arrays(rng, (6, 4))
    n, u = np.array([5, 0], np.int32), np.ones((2, 4), np.float32)

    def rows(x, n, u):
        return zellige.gather(x, n), x[n], zellige.scatter(x, n, u), zellige.slice_scatter(x, u, 0, 3)

    for found, expected in zip(zellige.compile(rows, x, n, u, on="reference")(x, n, u), rows(x, n, u)):
        np.testing.assert_array_equal(found, expected)


def test_every_operator_of_the_library_is_here(refusal):
    """The library lists its operators in the error for an unknown one."""
    form = {"zellige_graph": 1, "inputs": [], "operators": [{"op": "nothing", "inputs": [], "outputs": []}], "outputs": []}
    sentence = refusal(lambda: zellige.compile(json.dumps(form)))
    known = re.search(r"known operators of the kernel level are (.*?)(;|$)", sentence)[1].replace(" and ", ", ").split(", ")
    # Written otherwise: gelu(approximate="tanh"), x * number; and what only a graph states.
    elsewhere = {"gelu_tanh", "mul_scalar", "custom", "reduction", "all_reduce_max", *zellige.ranks.COLLECTIVES}
    assert set(known) - elsewhere == set(operators.OPERATORS) - {"in_place"}
    rows = {"gather", "scatter", "slice_scatter", "in_place"}
    assert set(CASES) == set(operators.OPERATORS) - rows


def test_the_packages_stub_declares_every_name():
    import pathlib

    folder = pathlib.Path(zellige.__file__).parent
    names = re.findall(r"^from \S+ import \w+ as (\w+)$", (folder / "__init__.pyi").read_text(), re.M)
    declared = set(names)
    assert len(names) == len(declared), "a name that occurs twice has the type of the first"
    # The layout's operations, but where an operator has the same name.
    of_layouts = set(re.findall(r"^def (\w+)\(", (folder / "layout.pyi").read_text(), re.M)) - {*operators.OPERATORS, "layout"}
    own = {*zellige._PLACES, *operators.OPERATORS, "dtypes", "kernels", "layout", "operators", "ranks", "Int", "Layout", "Value"}
    assert declared == own | of_layouts
    assert declared <= set(dir(zellige))
    for name in declared:
        assert getattr(zellige, name) is not None
