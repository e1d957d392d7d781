"""Attention over sequences that lie one after another in one tensor, as models write it: the kernels skip the keys of other sequences."""

import itertools
import os

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

HEADS, SIZE, TOKENS = 8, 64, 256


@pytest.fixture
def backend():
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    return torch_backend


def own_sequence(cu_seqlens, causal):
    at = torch.arange(TOKENS)
    number = torch.searchsorted(cu_seqlens, at, right=True)
    same = number[:, None] == number[None, :]
    return same & (at[None, :] <= at[:, None]) if causal else same


def by_attention(q, k, v, cu_seqlens, causal):
    heads_first = (x.transpose(0, 1)[None] for x in (q, k, v))
    return F.scaled_dot_product_attention(*heads_first, own_sequence(cu_seqlens, causal)[None, None])[0].transpose(0, 1)


def by_selection(q, k, v, cu_seqlens, causal):
    q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) * SIZE**-0.5
    return (scores.masked_fill(~own_sequence(cu_seqlens, causal), -torch.inf).softmax(-1) @ v).transpose(0, 1)


def separately(q, k, v, cu_seqlens, causal):
    parts = []
    for first, end in itertools.pairwise(cu_seqlens.tolist()):
        own = (x[first:end].transpose(0, 1).double() for x in (q, k, v))
        parts.append(F.scaled_dot_product_attention(*own, is_causal=causal).transpose(0, 1))
    return torch.cat(parts)


CASES = [(by_attention, True), (by_selection, False), (by_attention, False), (by_selection, True)]


@pytest.mark.parametrize("attend, causal", CASES if os.environ.get("ZELLIGE_ALL") else CASES[:1])
def test_a_token_sees_its_own_sequence(backend, attend, causal):
    generator = torch.Generator().manual_seed(6011)
    q, k, v = (torch.randn(TOKENS, HEADS, SIZE, generator=generator).half() for _ in range(3))
    run = torch.compile(attend, backend="zellige", options={"take": "all"})
    for ends in ([0, 100, 100, 101, 256], [0, 0, 0, 0, 256], [0, 64, 128, 192, 256]):
        cu_seqlens = torch.tensor(ends, dtype=torch.int32)
        found = run(q, k, v, cu_seqlens, causal)
        assert (found - separately(q, k, v, cu_seqlens, causal)).abs().max() <= 4e-3, ends
    (report,) = backend.reports
    assert len(report.parts) == 1, str(report)
    source = report.parts[0].source
    assert "const int begin = " in source, source
