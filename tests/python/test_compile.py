"""Functions become programs, and programs compute what the functions do."""

import json
import math
import pathlib

import numpy as np
import pytest
import zellige
from zellige import TensorSpec

ROOT = pathlib.Path(__file__).parents[2]


def close(found, expected, dtype="f16"):
    """Within the fraction of the greatest magnitude that a kernel's order of summation explains."""
    found, expected = (np.asarray(a, np.float64) for a in (found, expected))
    assert found.shape == expected.shape
    scale = {"f16": 2e-3, "bf16": 2e-2, "f32": 2e-6}[dtype] * np.abs(expected).max()
    assert np.abs(found - expected).max() <= scale, np.abs(found - expected).max() / scale


def layer(x, w, b):
    return zellige.softmax(np.maximum(x @ w + b, 0) / 2, -1)


def layer_inputs(rng, dtype=np.float16):
    return [rng.standard_normal(s).astype(dtype) for s in ((16, 64), (64, 32), (32,))]


def test_a_layer_on_the_emulator(rng):
    x, w, b = layer_inputs(rng)
    program = zellige.compile(layer, x, w, b, target="sm_80", on="emulator", constant="w")
    y = program(x, w, b)
    assert y.dtype == np.float16 and y.flags.c_contiguous
    close(y, layer(x, w, b))
    assert [(i.name, i.dtype, i.shape, i.constant) for i in program.inputs] == [
        ("x", "f16", (16, 64), False), ("w", "f16", (64, 32), True), ("b", "f16", (32,), False),
    ]  # fmt: skip
    assert program.target == "sm_80" and program.price > 0 and "__global__" in program.source
    assert "workspace" in program.plan and "cost of" in program.explain()
    assert program.manifest["name"] == "layer" and program.graph["zellige_graph"] == 1
    assert repr(program).startswith("<zellige.Program layer for sm_80: x f16 (16, 64), w f16 (64, 32)")
    out = np.empty_like(y)
    assert program(x, b=b, w=w, out=out) is out
    np.testing.assert_array_equal(out, y)


def test_bf16_by_ml_dtypes(rng):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x, w, b = layer_inputs(rng, ml_dtypes.bfloat16)
    y = zellige.compile(layer, x, w, b, target="sm_80", on="emulator")(x, w, b)
    assert y.dtype == ml_dtypes.bfloat16
    close(y, layer(x, w, b), "bf16")


def test_arguments_and_results_are_trees(rng):
    def block(x, parameters, *, scale):
        hidden = zellige.rms_norm(x, parameters["norm"]) @ parameters["weights"][0]
        return {"hidden": hidden, "out": zellige.silu(hidden) * scale, "x": x, "again": hidden}

    x = rng.standard_normal((4, 16)).astype(np.float32)
    p = {"norm": np.ones(16, np.float32), "weights": [rng.standard_normal((16, 8)).astype(np.float32)]}
    import functools

    program = zellige.compile(functools.partial(block, scale=2.0), x, p, on="reference")
    assert [i.name for i in program.inputs] == ["x", "parameters.norm", "parameters.weights.0"]
    y = program(x, p)
    expected = block(x, p, scale=2.0)
    assert list(y) == list(expected) and y["x"] is x and y["again"] is y["hidden"]
    close(y["out"], expected["out"], "f32")
    assert [o.name for o in program.outputs] == ["hidden", "out"]


def test_a_graph_by_dict_text_and_file(rng):
    form = json.loads((ROOT / "examples/attention.json").read_text())
    form = form[0] if isinstance(form, list) else form
    shapes = [(tuple(i["shape"]), i["dtype"]) for i in form["inputs"]]
    for graph in (form, json.dumps(form), ROOT / "examples/attention.json"):
        program = zellige.compile(graph, on="reference")
        assert [(i.shape, i.dtype) for i in program.inputs] == shapes
    inputs = [(rng.standard_normal(s) / 8).astype(np.float16) for s, _ in shapes]
    y = program(*inputs)
    assert y.shape == program.outputs[0].shape and np.isfinite(y.astype(np.float32)).all()


def test_captured_arrays_are_constants(rng):
    w = rng.standard_normal((8, 8)).astype(np.float32)
    program = zellige.compile(lambda x: x @ w + w[0], TensorSpec((4, 8), "f32"), on="reference")
    x = rng.standard_normal((4, 8)).astype(np.float32)
    assert [i.constant for i in program.inputs] == [False, True, True]
    close(program(x), x @ w + w[0], "f32")


def test_unused_parameters_are_omitted(rng):
    program = zellige.compile(lambda a, b, c: a + c, *[TensorSpec((4, 4), "f32")] * 3, on="reference")
    a, b, c = (rng.standard_normal((4, 4)).astype(np.float32) for _ in range(3))
    np.testing.assert_array_equal(program(a, b, c), a + c)
    assert len(program.inputs) == 2


def test_numpys_own_functions_and_named_tuples(rng):
    import collections

    Pair = collections.namedtuple("Pair", "a b")
    x = rng.standard_normal((4, 8)).astype(np.float32)
    close(zellige.compile(np.exp, x, on="reference")(x), np.exp(x), "f32")
    found = zellige.compile(lambda p: Pair(p.a + p.b, p.a * 2), Pair(x, x), on="reference")(Pair(x, x))
    assert isinstance(found, Pair) and (found.b == x * 2).all()


def test_strides_of_the_examples_are_taken(rng):
    x = rng.standard_normal((8, 16)).astype(np.float32)
    program = zellige.compile(lambda a: a * 2, x.T, on="emulator", target="sm_80")
    assert program.inputs[0].strides == (1, 16)
    np.testing.assert_array_equal(program(x.T), x.T * 2)


def test_a_cache_is_changed_in_place(rng):
    def update(cache, row, start):
        return zellige.in_place(zellige.slice_scatter(cache, row, 0, start), cache)

    cache, row = np.zeros((8, 4), np.float16), np.ones((1, 4), np.float16)
    start = np.array([3], np.int32)
    program = zellige.compile(update, cache, row, start, on="emulator", target="sm_80")
    assert program.outputs[0].memory == 0
    assert program(cache, row, start) is cache
    assert cache.sum() == 4 and (cache[3] == 1).all()


def test_numpys_functions_and_methods(rng):
    def many(x, y):
        c = x - x.mean(axis=-1, keepdims=True)
        n = c / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5)
        parts = np.split(n, 2, axis=1)
        joined = np.concatenate([parts[1], parts[0]], axis=1)
        t = np.where(joined > y, joined, -1.5) ** 2
        u = np.clip(t.reshape(2, 2, 8).transpose(1, 0, 2), 0.1, 2.0).swapaxes(0, 1)
        v = 1 / (u[:, 0, 2:6] + 3) - np.expand_dims(u[..., -1].max(axis=1), 1)
        return v, np.exp(-np.abs(x)).sum(axis=(0, 1), keepdims=True), np.stack([y[0], y[1]]).T, np.tril(x) + np.triu(y, 1)

    x, y = (rng.standard_normal((4, 8)).astype(np.float32) for _ in range(2))
    program = zellige.compile(many, x, y, on="reference")
    for found, expected in zip(program(x, y), many(x, y)):
        close(found, expected, "f32")


def test_comparisons_are_numbers(rng):
    x, y = (np.arange(-4, 4, dtype=np.float32).reshape(2, 4) for _ in range(2))
    y = y[::-1].copy()

    def compared(x, y):
        return x < y, x >= 0, 2 > x, zellige.where(x != y, 1.0, 0.0)

    found = zellige.compile(compared, x, y, on="reference")(x, y)
    for f, e in zip(found, compared(x, y)):
        assert f.dtype == np.float32
        np.testing.assert_array_equal(f, np.asarray(e, np.float32))


def test_dtypes_are_promoted_as_numpys(rng):
    x, y = rng.standard_normal((4, 4)).astype(np.float16), rng.standard_normal((4, 4)).astype(np.float32)
    found = zellige.compile(lambda a, b: (a + b, a * 2, (a.astype(np.float32) * 2).astype("f16")), x, y, on="reference")(x, y)
    assert [f.dtype for f in found] == [np.float32, np.float16, np.float16]
    np.testing.assert_array_equal(found[0], x + y)


def test_products_of_vectors_and_batches(rng):
    def products(x, w, b):
        return x[0] @ w, w @ x[0], b @ w, np.matmul(x, b)

    x, w, b = (rng.standard_normal(s).astype(np.float32) for s in ((4, 4), (4, 4), (3, 4, 4)))
    for f, e in zip(zellige.compile(products, x, w, b, on="reference")(x, w, b), products(x, w, b)):
        close(f, e, "f32")


@pytest.mark.parametrize(
    "subscripts, shapes",
    [
        ("ij,jk->ik", [(4, 8), (8, 5)]),
        ("ij,jk", [(4, 8), (8, 5)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 8), (2, 3, 5, 8)]),
        ("bqhd,bkhd->bhqk", [(2, 4, 3, 8), (2, 5, 3, 8)]),
        ("bhqk,bkhd->bqhd", [(2, 3, 4, 5), (2, 5, 3, 8)]),
        ("ij,kj->ki", [(4, 8), (5, 8)]),
        ("i,j->ji", [(4,), (5,)]),
        ("ijk->kj", [(2, 3, 4)]),
        ("ij,jkl->k", [(4, 8), (8, 5, 2)]),
        ("bi,bi->b", [(4, 8), (4, 8)]),
    ],
)
def test_einsum(subscripts, shapes, rng):
    arrays = [rng.standard_normal(s).astype(np.float32) for s in shapes]

    def function(*operands):
        return np.einsum(subscripts, *operands)

    close(zellige.compile(function, *arrays, on="reference")(*arrays), function(*arrays), "f32")


f32 = TensorSpec((4, 8), "f32")


@pytest.mark.parametrize(
    "work, message",
    [
        (
            lambda: zellige.compile(lambda x, y: x @ y, f32, f32),
            "operator @: expected the last dimension of the left operand to equal the last but one of the right, found 8 and 4 in",
        ),
        (lambda: zellige.compile(lambda x: np.arctan(x), f32), "numpy arctan: not known while tracing; known are "),
        (lambda: zellige.compile(lambda x: np.linalg.norm(x), f32), "numpy linalg.norm: not known while tracing; known are "),
        (lambda: zellige.compile(lambda x: x if x else x, f32), "lambda: x is traced, so that its values are not known"),
        (lambda: zellige.compile(lambda x: x.sum(), f32), "numpy.ndarray.sum: expected a result of at least one dimension, found a number for shape (4, 8); keepdims=True keeps"),
        (lambda: zellige.compile(lambda x: x[9], f32), "indexing: expected -4 to 3 along dimension 0, found 9"),
        (lambda: zellige.compile(lambda x: x[4:], f32), "indexing: expected a slice that is not empty, found 4:: of 4 elements along dimension 0"),
        (lambda: zellige.compile(lambda x: x.reshape(3, -1), f32), "numpy.ndarray.reshape: expected a shape of 32 elements, as (4, 8) has, found (3, -1)"),
        (lambda: zellige.compile(lambda x: np.einsum("ii->i", x), f32), "numpy.einsum: expected letters, each once in a term, found ii->i"),
        (lambda: zellige.compile(lambda x: np.einsum("ij->k", x), f32), "numpy.einsum: expected the result's letters among the operands'"),
        (lambda: zellige.compile(lambda x: 3, f32), "compile lambda: expected lambda to return arrays, found int"),
        (lambda: zellige.compile(lambda x: x, f32), "compile lambda: expected lambda to compute something, found that it returns"),
        (lambda: zellige.compile(lambda x: x, 3), "compile lambda, argument x: expected an array of NumPy, torch or another that has"),
        (
            lambda: zellige.compile(lambda x: x + 1, np.zeros(3, complex)),
            "compile lambda, argument x: dtype: expected one of f16, bf16, f32, e4m3, e5m2, int8, int32, bool, uint8, int16, int64, int4, uint4, e2m1, e8m0, f64, found complex128",
        ),
        (lambda: zellige.compile(lambda x: x + 1), "compile lambda: missing a required argument: 'x'"),
        (lambda: zellige.compile(lambda x: x + 1, f32, constant="w"), "compile lambda: has no parameter w to be constant; its"),
        (lambda: zellige.compile(lambda x: x + 1, f32, on="moon"), "on: expected one of auto, gpu, emulator, reference, found moon"),
        (lambda: zellige.compile(lambda x: x + 1, f32, target="sm_1"), "target sm_1: unknown; known targets are sm_80, sm_86, sm_87, "),
        (lambda: zellige.compile({"zellige_graph": 2}), "graph graph: expected version 1 of the form, found 2"),
        (lambda: zellige.compile("no/such.json"), "no/such.json: cannot be read: No such file or directory"),
        (lambda: zellige.compile("{}", f32), "compile: a graph states its inputs; expected no examples, found 1"),
        (lambda: zellige.softmax(np.zeros((2, 2)), 2), "dim: expected -2 to 1 for shape (2, 2), found 2"),
        (lambda: zellige.layer_norm(np.zeros((2, 2)), bias=1), "layer_norm: expected a weight with the bias, found none"),
    ],
)
def test_what_cannot_be_compiled_is_one_sentence(work, message, refusal):
    found = refusal(work)
    assert found.startswith(message) and "\n" not in found


def test_what_a_program_does_not_take_is_one_sentence(rng, refusal):
    program = zellige.compile(lambda x, y: x + y, f32, f32, on="reference")
    x = np.zeros((4, 8), np.float32)
    room = np.zeros(68, np.float32)
    shifted = room[1:33].reshape(4, 8)
    excess = shifted.ctypes.data % 16
    readonly = x.copy()
    readonly.flags.writeable = False
    cases = [
        (lambda: program(x, x.astype(np.float16)), "program lambda, input y: expected f32, found f16"),
        (lambda: program(x, x.astype(np.float64)), "program lambda, input y: expected f32, found f64"),
        (lambda: program(x[:2], x), "program lambda, input x: expected shape (4, 8), found (2, 8)"),
        (lambda: program(np.zeros((8, 4), np.float32).T, x), "program lambda, input x: expected strides (8, 1), found (1, 4)"),
        (
            lambda: program(x, shifted),
            f"program lambda, input y: expected memory that begins at a multiple of 16 bytes, found {excess} above one",
        ),
        (lambda: program(x), "program lambda: missing a required argument: 'y'"),
        (lambda: program(x, [x, x]), "program lambda: expected arguments x, y, found x, y.0, y.1"),
        (lambda: program(x, 3), "expected an array of NumPy, torch or another that has DLPack, found int"),
        (lambda: program(x, x, out=x), "program lambda, output Y: expected memory of its own, found some of input x"),
        (lambda: program(x, x, out=[x, x]), "program lambda: expected 1 arrays in out, found 2"),
        (
            lambda: program(x, x, out=readonly),
            "program lambda, output Y: expected memory that can be written, found a read-only array",
        ),
        (lambda: program(x, x.astype(">f4")), "expected numbers in this machine's byte order, found >f4"),
    ]
    for work, message in cases:
        assert refusal(work) == message


def test_on_gpu_without_one_says_why(refusal):
    target, why_not = zellige.gpu()
    if target:
        pytest.skip("there is a GPU here")
    assert refusal(lambda: zellige.compile(lambda x: x + 1, f32, on="gpu")) == f"on gpu: {why_not}"
    program = zellige.compile(lambda x: x + 1, f32)
    assert refusal(program.time) == f"time: needs a GPU; {why_not}"
    assert refusal(lambda: zellige.compile(lambda x: x + 1, f32, tune=2)) == f"tune: needs a GPU; {why_not}"


def test_importing_loads_nothing_else():
    import subprocess
    import sys

    code = "import importlib, sys; before = set(sys.modules); import zellige; print(*sorted(set(sys.modules) - before))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "zellige\n"


def test_masks_and_rotary(rng):
    def attention(q, k, v, cos, sin):
        q, k = zellige.rotary(q, cos, sin), zellige.rotary_interleaved(k, cos, sin)
        s = zellige.mask(q @ zellige.permute(k, (0, 2, 1)) * (1 / math.sqrt(8)), tril=0)
        return zellige.safe_softmax(s) @ v

    q, k, v = (rng.standard_normal((2, 6, 8)).astype(np.float32) for _ in range(3))
    angles = rng.standard_normal((6, 4)).astype(np.float32)
    inputs = (q, k, v, np.cos(angles), np.sin(angles))
    close(zellige.compile(attention, *inputs, on="reference")(*inputs), attention(*inputs), "f32")


def test_the_layouts_are_drawn(tmp_path):
    import subprocess
    import sys

    example = ROOT / "examples/python/layouts.py"
    done = subprocess.run([sys.executable, example, tmp_path], capture_output=True, text=True, check=True).stdout
    drawn = sorted(f.name for f in tmp_path.iterdir())
    assert len(drawn) == 4 and all((tmp_path / f).read_text().startswith("<svg") for f in drawn)
    assert "((2,4),(2,4)):((8,16),(1,2))" in done


def test_the_quickstart_runs():
    import subprocess
    import sys

    done = subprocess.run([sys.executable, ROOT / "examples/python/quickstart.py"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("<zellige.Program layer for sm_") and "differs from NumPy by at most 0" in done.stdout
