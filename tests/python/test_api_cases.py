"""Functions as they are written for NumPy and for torch give what they give there."""

import numpy as np
import pytest
import zellige

R = np.random.default_rng(58)
X, T = (R.standard_normal(s).astype("f4") for s in ((4, 8), (2, 3, 4)))
H, I, B = X.astype("f2"), R.integers(-5, 6, (4, 8)).astype("i4"), R.integers(-5, 6, (4, 8)).astype("i1")


def log_softmax(x):
    m = x.max(axis=-1, keepdims=True)
    return x - m - np.log(np.exp(x - m).sum(axis=-1, keepdims=True))


NUMPY = [
    (log_softmax, X),
    (lambda x: (x - x.mean(1, keepdims=True)) / (x.std(1, keepdims=True) + 1e-5), X),
    (lambda x: np.where((x > 0) & (x < 1), x, 0) + np.where(~(x > 0), x, 2), X),
    (lambda x: (x > 0) * (x < 1) + (x > 2), X),
    (lambda x: ((x > 0) + (x > 1)).sum(0), X),
    (lambda x: np.logical_not(x > 0) + (x > 2), X),
    (lambda x: x[::2, 1:7:3] * 1, X),
    (lambda x: x[..., ::-1] * 1, T),
    (lambda x: x[:, [1, 1, -2]] * 1, X),
    (lambda x: x[np.array([[2, 0], [1, 1]])] * 1, X),
    (lambda x: np.expand_dims(x, (0, -1)) * 1, X),
    (lambda x: np.concatenate([x, x], axis=None) * 1, X),
    (lambda x: np.split(x, [2, 5], axis=1)[1] * 1, X),
    (lambda x: np.clip(x, None, 0.5) + x.clip(max=0.1), X),
    (lambda x: np.minimum(np.inf, x) + np.maximum(x, np.nan), X),
    (lambda x: x**2 + x**3 - x**-1 + np.abs(x) ** 0.5, X),
    (lambda x: 2**x + (-2.0) ** np.abs(x) + 0 ** np.abs(x), X),
    (lambda x: 1e-3 / x, np.full((2, 4), 1e-6, "f2")),  # 1 / x alone is beyond f16
    (lambda x: (x < 0.1) + (0.1 > x), np.full((2, 4), 0.1, "f2")),  # NumPy rounds 0.1 to f16
    (lambda x: x + np.array(2.0, "f4"), H),
    (lambda x: np.float16(2) * x, X),
    (lambda x: x + 70000, H),
    (lambda x: np.var(x * 20, axis=1), H),
    (lambda x: np.sum(x, axis=1, dtype=np.float32), H),
    (lambda x: np.sum(x, -1, dtype=np.int32), I),
    (lambda x: x * x + (x - 100), B),
    (lambda x: x @ x.T, B),
    (lambda x: ~x + x * np.int32(300), I),
    (lambda x: np.dot(x, np.moveaxis(x, 1, 2)), T),
    (lambda x: np.einsum("ijk,ilk->ijl", x, x), T),
    (lambda x: pow(x, 2) + abs(x) + sum(x), X),
]


@pytest.mark.parametrize("function, x", NUMPY, ids=range(len(NUMPY)))
def test_numpys_functions_give_what_numpy_gives(function, x):
    with np.errstate(all="ignore"):
        expected = function(x)
    found = zellige.compile(function, x, on="reference")(x)
    assert found.shape == expected.shape and (found.dtype == expected.dtype or expected.dtype.itemsize in (1, 8))
    bound = 3e-3 if found.dtype == np.float16 else 2e-5
    np.testing.assert_allclose(found.astype("f8"), expected.astype("f8"), rtol=bound, atol=1e-5)


def torchs():
    import torch
    import torch.nn.functional as F

    w = torch.from_numpy(X)

    def rotated(x):
        a, b = x.chunk(2, -1)
        return torch.cat((-b, a), -1)

    def attention(x):
        return torch.softmax((x @ x.transpose(-2, -1)) * x.size(-1) ** -0.5, dim=-1) @ x

    return [
        (rotated, X), (attention, T), (lambda x: x.var(-1) + x.std(-1), X), (lambda x: x.transpose(0, 1) * 1, T), (lambda x: x.amax(-1, keepdim=True) - x, X),
        (lambda x: x.sum((0, 1)), T), (lambda x: x.mean(dim=[0, 2], keepdim=True), T), (lambda x: torch.where(x > 0, x, torch.zeros(())), X),
        (lambda x: x * (x > 0) + (x > 1).float(), X), (lambda x: x.pow(2).mean(-1, keepdim=True).add(1e-6).rsqrt() * x, H), (lambda x: x.to(torch.float16), X),
        (lambda x: x.view(-1, 2) * 1, X), (lambda x: F.linear(x, w, torch.ones(4)), X), (lambda x: torch.addmm(torch.ones(4), x, w.t(), beta=0.5, alpha=2), X),
        (lambda x: torch.baddbmm(torch.zeros(1), x, x.mT), T), (lambda x: 2 / x - 1, X), (lambda x: x / 2 + x * 0.5, I), (lambda x: torch.exp(x), I),
        (lambda x: x < 0.1, np.full((2, 4), 0.1, "f2")), (lambda x: x * torch.tensor(2.0), H), (lambda x: x + torch.ones(8, dtype=torch.int32), X),
        (lambda x: x.softmax(dim=0, dtype=torch.float32), H), (lambda x: torch.cat([x, x.half()]), X), (lambda x: F.layer_norm(x, x.shape[-1:], None, torch.ones(8), 1e-3), X),
        (lambda x: x.masked_fill(x > 0, float("-inf")), X), (lambda x: x.split([3, 5], -1)[1] * 1, X), (lambda x: torch.index_select(x, 0, torch.tensor([1, 0], dtype=torch.int32)), X),
        (lambda x: x.add(x, alpha=2), X), (lambda x: np.float32(2) * x, H), (lambda x: F.dropout(x, 0.1, training=False) * 2, X), (lambda x: x.expand(3, -1, -1) * 1, X),
    ]  # fmt: skip


def test_torchs_functions_give_what_torch_gives():
    torch = pytest.importorskip("torch")
    for i, (function, x) in enumerate(torchs()):
        x = torch.from_numpy(x)
        expected, found = function(x), zellige.compile(function, x, on="reference")(x)
        assert found.dtype == expected.dtype or expected.dtype == torch.bool, i
        bound = 1e-2 if found.dtype == torch.float16 else 2e-5
        torch.testing.assert_close(found.double(), expected.double(), rtol=bound, atol=1e-5, msg=lambda m, i=i: f"case {i}: {m}")


def test_a_function_of_no_framework_has_both(refusal):
    pytest.importorskip("torch")
    import torch

    spec = zellige.TensorSpec((4, 8), "f32")
    found = zellige.compile(lambda x: torch.softmax(x.sum(-1, keepdim=True) + np.exp(x), -1).permute(1, 0) * 1, spec, on="reference")(X)
    expected = np.exp(np.exp(X) + X.sum(-1, keepdims=True))
    np.testing.assert_allclose(found, (expected / expected.sum(-1, keepdims=True)).T, rtol=2e-5)
    assert zellige.compile(lambda x: x.var(-1), spec, on="reference")(X)[0] == pytest.approx(X[0].var(), rel=1e-5)
    of_torch = zellige.TensorSpec((4, 8), torch.float32)
    assert zellige.compile(lambda x: x.var(-1), of_torch, on="reference")(X)[0] == pytest.approx(X[0].var(ddof=1), rel=1e-5)
