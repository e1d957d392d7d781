"""float64 tensors in programs on the emulator: every result is eager torch's within 1e-12 of the tensor's numbers, exactly where torch's is exact.

ZELLIGE_ALL=1 runs all of LONG, else one of them runs.
"""

import os

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
from zellige import torch_backend  # noqa: E402

F = torch.nn.functional
SEED = 6164


def tensors(*shapes, positive=False):
    generator = torch.Generator().manual_seed(SEED)
    made = [torch.randn(*s, dtype=torch.float64, generator=generator) * 3 for s in shapes]
    return [x.abs() + 0.1 for x in made] if positive else made


def close(function, *inputs, rtol=1e-12, left=()):
    """Checks a function against eager torch, and that the operators `left` alone are torch's."""
    torch._dynamo.reset()
    torch_backend.reports.clear()
    with torch.no_grad():
        found = torch.compile(function, backend="zellige", options={"take": "all"}, fullgraph=True)(*inputs)
        expected = function(*inputs)
    found, expected = (r if isinstance(r, tuple) else (r,) for r in (found, expected))
    for f, e in zip(found, expected, strict=True):
        assert (f.dtype, f.shape) == (e.dtype, e.shape)
        if e.is_floating_point():
            size = e[e.isfinite()].abs().max().item() if e.isfinite().any() else 0.0
            torch.testing.assert_close(f, e, rtol=rtol, atol=rtol * size, equal_nan=True)
        else:
            assert torch.equal(f, e)
    (report,) = torch_backend.reports
    assert not report.faults and not report.rejected
    assert sorted(report.left) == sorted(left)
    return report


def elementwise_functions():
    (x, y), (p,) = tensors((5, 37), (5, 37)), tensors((5, 37), positive=True)
    close(lambda x, y, p: (x * 0.1 + y / 3, x.exp(), p.log(), p.sqrt(), p.rsqrt(), x.sin(), x.cos(), x.tanh(), x.sigmoid(), p**y, torch.logaddexp(x, y)), x, y, p)
    close(lambda x, y, p: (F.silu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.relu(x), x.clamp(-0.3, 0.7), p.log1p(), x.expm1(), x.sinh(), x.cosh(), x.tan()), x, y, p)
    close(lambda x, y, p: (x.asinh(), (1 + p).acosh(), (x / 20).atanh(), p.log2(), p.log10(), p.reciprocal(), x.abs(), -x, torch.copysign(x, y), F.softplus(x)), x, y, p)


def test_a_chain_is_one_kernel():
    x, y = tensors((32, 128), (32, 128))
    report = close(lambda x, y: (F.silu(x * y + 0.1) * (x * 0.01).exp()).sum(-1), x, y)
    assert sum(len(p.manifest["kernels"]) for p in report.parts) == 1


def test_comparisons_and_choices():
    x, y = tensors((4, 33), (4, 33))
    x[0, :4] = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0])
    y[1] = x[1]
    close(lambda x, y: (x < y, x <= y, x == y, x != y, x > 0.1, torch.where(x > y, x, y), torch.maximum(x, y), torch.minimum(x, y), x.isnan(), x.isinf()), x, y, rtol=0)
    close(lambda x: (x.floor(), x.ceil(), x.trunc(), x.round(), x.sign(), x.masked_fill(x > 1, -1e300)), x, rtol=0)
    close(lambda x: ((x * 1e17).floor(), (x * 1e15).round(), (x * 1e10).trunc()), x, rtol=0)


def casts():
    (x,) = tensors((7, 29))
    x[0, :6] = torch.tensor([1 + 2.0**-11 + 2.0**-40, 1e300, -1e300, torch.nan, 2.0**53 + 2, 70000.0])
    close(lambda x: (x.float(), x.half(), x.bfloat16(), x.bool()), x, rtol=0)
    close(lambda x: (x[1:].int(), x[1:].long(), x[1:].to(torch.int16), (x[1:] > 0).double(), x[1:].float().double(), x[1:].half().double()), x, rtol=0)
    whole = torch.tensor([2**53 + 1, -(2**62) - 1, 7])
    close(lambda n: (n.double(), n.double() * 0.1, n.int().double()), whole, rtol=0)


def test_mixed_dtypes_promote():
    (x,) = tensors((4, 8))
    close(lambda x, y, n: (x + y, y * x, x > y, n + x, torch.where(n > 2, x, y), torch.cat((x, y.double()))), x, x.float() * 0.3, torch.arange(8))
    close(lambda y, s: (y * s, y + s, y < s), x.float(), torch.tensor(0.1, dtype=torch.float64), rtol=1e-7)  # s does not count


def test_reductions():
    (x,) = tensors((6, 300))
    close(lambda x: (x.sum(), x.sum(0), x.mean(1), x.amax(0), x.amin(1, keepdim=True), x.var(1), x.std(0), torch.var_mean(x, 1)[0], x.logsumexp(1)), x)
    close(lambda x: ((x * 0.1 + 1).prod(0), x.max(1).values, x.argmax(1), x.min(0).indices, x.any(), x.norm(), x.square().sum(1).sqrt()), x)
    close(lambda x: (x.cumsum(0), x.cumsum(1)), x)
    assert close(lambda x: x.sum(), x * 1e250)


def softmax_and_norms():
    (x, w, b) = tensors((6, 40), (40,), (40,))
    close(lambda x: (x.softmax(-1), x.log_softmax(0), F.softmin(x, -1)), x)
    close(lambda x, w, b: (F.layer_norm(x, (40,), w, b, 1e-9), F.rms_norm(x, (40,), w, 1e-9), F.normalize(x, dim=1)), x, w, b)
    close(lambda x, w, b: (F.group_norm(x.reshape(2, 40, 3), 4, w, b), F.batch_norm(x, w, w.abs() + 1, w, b)), x, w, b)
    close(lambda x: (x * 1e200).softmax(-1), x)


def views_and_selections():
    (x,) = tensors((6, 40))
    at = torch.tensor([3, 0, 5])
    close(lambda x, at: (x.t(), x[at.clamp(0, 5)], x[1:, ::2], x.reshape(-1, 8), x.flip(0), x.roll(2, 1), F.pad(x, (1, 2)), x.gather(0, at.clamp(0, 5).unsqueeze(1)), torch.stack((x, x))), x, at, rtol=0)
    close(lambda x: (x.tril(), x.topk(3).values, x.sort(1).values, F.avg_pool1d(x.unsqueeze(0), 4), F.max_pool1d(x.unsqueeze(0), 4)), x)


def products():
    x, w, b = tensors((3, 17, 70), (70, 21), (21,))
    close(lambda x, w, b: (x @ w, x @ w + b, torch.einsum("bij,jk->bik", x, w), F.linear(x, w.t(), b)), x, w, b)


def functions_by_series():
    (x, y), ends = tensors((4, 200), (4, 200)), torch.tensor([0.0, -0.0, 1.0, -1.0, 1e-200, 0.41421356, 2.4142135623, 0.5, torch.inf, -torch.inf, torch.nan])
    x[0, : len(ends)] = ends
    for function in (torch.erf, lambda x: (x / 20).erf(), torch.atan, lambda x: (x / 20).asin(), lambda x: (x / 20).acos()):
        close(function, x, rtol=1e-14)
    close(torch.atan2, x, y, rtol=1e-14)


LONG = (elementwise_functions, casts, softmax_and_norms, views_and_selections, products, functions_by_series)


@pytest.mark.parametrize("check", LONG if "ZELLIGE_ALL" in os.environ else LONG[1:2], ids=lambda f: f.__name__)
def test_others(check):
    check()
