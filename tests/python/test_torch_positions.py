"""Masks by position and heads that lie otherwise than (batch, heads, queries, keys), with equal extents: as eager torch."""

import math

import pytest

torch = pytest.importorskip("torch")
from zellige import torch_backend  # noqa: E402

N = 8
F = torch.nn.functional


def above():
    return torch.ones(N, N, dtype=torch.bool).triu(1)


def offset():
    return torch.arange(N)[None] - torch.arange(N)[:, None]


# By name: what is done to scores (batch, rows, keys) after two linear layers.
FORMS = {
    "tril": lambda s: s.masked_fill(torch.tril(torch.ones(N, N)) == 0, -math.inf).softmax(-1),
    "triu": lambda s: s.masked_fill(above(), -math.inf).softmax(-1),
    "a band by where": lambda s: torch.where((offset() <= 0) & (offset() > -3), s, -math.inf).softmax(-1),
    "minus infinity added": lambda s: (s + torch.zeros(N, N).masked_fill(above(), -math.inf)).softmax(-1),
    "a window": lambda s: s.masked_fill(offset().abs() > 2, -math.inf).softmax(-1),
    "retention": lambda s: s * torch.where(offset() <= 0, 0.9 ** -offset().float(), 0.0),
    "tril of scores": lambda s: s.tril(),
    "one batch more": lambda s: s[None].masked_fill(above(), -math.inf).softmax(-1)[0],
    "expanded": lambda s: s.masked_fill(above().expand(2, N, N), -math.inf).softmax(-1),
    "of all batches": lambda s: s.masked_fill(torch.ones(2 * N, N, dtype=torch.bool).triu(1).view(2, N, N), -math.inf).softmax(-1),
    "transposed": lambda s: s.mT.masked_fill(above(), 0.0).mT.softmax(-1),
}


def compare(function, *inputs, tolerance=1e-5):
    torch._dynamo.reset()
    with torch.no_grad():
        found, expected = torch.compile(function, backend=torch_backend.backend)(*inputs), function(*inputs)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return torch_backend.reports[-1]


@pytest.mark.parametrize("name", FORMS)
def test_a_mask_over_batches_of_rows_keeps_its_coordinates(name):
    torch.manual_seed(4)
    q, k, v = (torch.randn(N, 16) / 4 for _ in range(3))
    form, x = FORMS[name], torch.randn(2, N, 16)
    report = compare(lambda x: form(F.linear(x, q) @ F.linear(x, k).mT * N**-0.5) @ F.linear(x, v), x)
    assert report.taken == report.operators, report


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_triangle_over_merged_rows_is_no_causal_mask_of_heads(dtype):
    def function(q, k, v):
        s = (q @ k.mT).view(1, 3 * N, N).masked_fill(torch.ones(3 * N, N, dtype=torch.bool).triu(1), -math.inf)
        return s.view(1, 3, N, N).softmax(-1) @ v

    torch.manual_seed(5)
    compare(function, *(torch.randn(1, 3, N, N).to(dtype) for _ in range(3)), tolerance=0.03)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_row_of_minus_infinity_alone_is_nan_in_attention_that_is_written_out(dtype):
    q, k = torch.tensor([[-math.inf, 1.0]] * 2 + [[1.0, 2.0]] * 2).view(1, 2, 2, 2).to(dtype), torch.ones(1, 2, 2, 2, dtype=dtype)
    compare(lambda q, k: (q @ k.mT).softmax(-1) @ k, q, k, tolerance=2e-3)


@pytest.mark.parametrize("channels, tokens", [(8, 8), (8, 5)])
def test_a_batch_norm_after_a_linear_layer_has_a_channel_for_each_token(channels, tokens):
    torch.manual_seed(6)
    linear, norm = torch.nn.Linear(4, tokens), torch.nn.BatchNorm1d(channels).eval()
    norm.running_mean.copy_(torch.randn(channels))
    report = compare(torch.nn.Sequential(linear, norm).requires_grad_(False), torch.randn(3, channels, 4))
    assert report.taken == report.operators, report


@pytest.mark.parametrize("reduced", [lambda y: y.logsumexp(-1), lambda y: y.mean(), lambda y: y.sum((0, 2)), lambda y: y.amax(1)])
def test_a_reduction_after_a_linear_layer_leaves_nothing(reduced):
    torch.manual_seed(7)
    linear = torch.nn.Linear(8, 16).requires_grad_(False)
    report = compare(lambda x: reduced(linear(x).relu() * 2), torch.randn(2, 5, 8))
    assert report.taken == report.operators, report


def test_a_half_that_is_moved_and_negated_keeps_to_its_elements():
    x = torch.randn(1, 8)
    x[0, 1], x[0, 6], x[0, 3] = math.inf, math.nan, -0.0
    function = lambda x: torch.cat((-x[:, 4:], x[:, :4]), -1) * 1.0  # noqa: E731
    with torch.no_grad():
        found, expected = torch.compile(function, backend=torch_backend.backend)(x), function(x)
    numbers = ~expected.isnan()
    assert torch.equal(found.isnan(), ~numbers) and torch.equal(found[numbers], expected[numbers])
    assert torch.equal(found[numbers].signbit(), expected[numbers].signbit())
