"""torch tensors on the CPU: read through DLPack, allocated by torch, and the same functions run on them."""

import numpy as np
import pytest
import zellige
from zellige import exchange

torch = pytest.importorskip("torch", reason="torch is not installed")


def layer(x, w, b):
    return zellige.softmax(zellige.silu(x @ w + b), -1)


def tensors(dtype):
    generator = torch.Generator().manual_seed(3)
    return [(torch.randn(s, generator=generator) / s[0] ** 0.5).to(dtype) for s in ((16, 64), (64, 32), (32,))]


@pytest.mark.parametrize("dtype, bound", [(torch.float16, 2e-3), (torch.bfloat16, 2e-2), (torch.float32, 2e-6)])
def test_tensors_of_the_host_run_on_the_emulator(dtype, bound):
    x, w, b = tensors(dtype)
    program = zellige.compile(layer, x, w, b, on="emulator", target="sm_80", constant="w")
    y = program(x, w, b)
    assert isinstance(y, torch.Tensor) and y.dtype == dtype and y.is_contiguous()
    assert (y - layer(x, w, b)).abs().max() <= bound
    out = torch.empty_like(y)
    assert program(x, w, b, out=out) is out and torch.equal(out, y)


def test_what_differs_is_one_sentence(refusal):
    x, w, b = tensors(torch.float32)
    program = zellige.compile(layer, x, w, b, on="reference")
    assert refusal(lambda: program(x.half(), w, b)) == "program layer, input x: expected f32, found f16"
    assert refusal(lambda: program(x, w.T.contiguous().T, b)) == "program layer, input w: expected strides (32, 1), found (1, 64)"
    assert refusal(lambda: program(x[:8], w, b)) == "program layer, input x: expected shape (16, 64), found (8, 64)"


def test_the_frameworks_table_of_functions(refusal):
    """The path of a launch: tensors are read in C. On the host the same call computes."""
    table = exchange.exchange_table(torch.Tensor)
    if table is None:
        pytest.skip(f"torch {torch.__version__} has no table for the exchange of tensors")
    x, w, b = tensors(torch.float32)
    program = zellige.compile(layer, x, w, b, on="reference")
    y = torch.empty(16, 32)
    program._native.call_objects(table, (x, w, b), [y])
    assert torch.equal(y, program(x, w, b)) and program._is_direct
    sentence = "program layer, input b: expected shape (32), found (16, 64)"
    assert refusal(lambda: program._native.call_objects(table, (x, w, x), [y])) == sentence


CASES = {
    "elementwise": lambda o, x: o.gelu(x) + o.gelu(x, "tanh") * o.rsqrt(o.abs(x) + 1) - o.clamp(x, -1, 1) / o.relu(x + 9),
    "scalars": lambda o, x: 1 / (x * x + 1) + 2.0 - x**2 + o.maximum(x, 0.5) + o.minimum(0.25, x) + o.where(o.gt(x, 0), x, 0.5),
    "reductions": lambda o, x: o.sum(x, 1, True) + o.mean(x, 0) + o.amax(x, (0, 1), True) + o.logsumexp(x, 1, True),
    "norms": lambda o, x: o.layer_norm(x, eps=1e-5) + o.rms_norm(x, x[0], eps=1e-5) + o.log_softmax(x, 0) + o.safe_softmax(x),
    "masks": lambda o, x: o.mask(x, tril=1, triu=-2, length=7, value=0.5),
    "rotary": lambda o, x: o.rotary(x, x[:, :4], x[:, 4:]) + o.rotary_interleaved(x, x[:, :4], x[:, 4:]),
    "views": lambda o, x: o.concat(o.split(o.permute(x, (1, 0)), [3, 5], 0)[::-1], 0).reshape(4, -1) + o.expand(x[0, :1], (4, 8)),
    "comparisons": lambda o, x: o.lt(x, 0.1) + o.ge(x, x * x) + o.eq(x, x) + o.ne(x, 0),
    "casts": lambda o, x: o.cast(o.cast(x * 500, "int8", saturate=True), "f32") + o.cast(o.cast(x, "bf16"), "f32"),
    "rows": lambda o, x: o.slice_scatter(x, x[:2] * 2, 0, 1) + o.slice(x, 0, 0, 4),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_function_means_the_same_on_torch_and_numpy(name):
    from zellige import operators

    x = np.random.default_rng(5).standard_normal((4, 8)).astype(np.float32)

    def function(a):
        return CASES[name](operators, a)

    traced = zellige.compile(function, x, on="reference")(x)
    for found in (traced, function(torch.from_numpy(x)).numpy()):
        np.testing.assert_allclose(found, function(x), rtol=2e-5, atol=2e-6)
