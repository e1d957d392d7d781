"""Masks by position in many spellings become one operator that reads no tensor; other masks stay tensors."""

import itertools
import math
import os

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.import_ import custom  # noqa: E402
from zellige.torch.rewrites import masks  # noqa: E402

QUERIES, KEYS, WINDOW = 24, 40, 7


def offset():
    return torch.arange(KEYS)[None, :] - torch.arange(QUERIES)[:, None]


def ones():
    return torch.ones(QUERIES, KEYS, dtype=torch.bool)


def added(kept, value, dtype):
    return torch.zeros(QUERIES, KEYS, dtype=dtype).masked_fill(~kept, value)


# By name: what is done to scores, and what it is.
CAUSAL, BACK, BAND = {"tril": 0}, {"triu": 0}, {"tril": 0, "triu": -WINDOW}
SPELLINGS = {
    "masked_fill by triu": (lambda s: s.masked_fill(ones().triu(1), -math.inf), CAUSAL),
    "masked_fill by tril == 0": (lambda s: s.masked_fill(torch.tril(torch.ones(QUERIES, KEYS)) == 0, -math.inf), CAUSAL),
    "where": (lambda s: torch.where(ones().tril(), s, -math.inf), CAUSAL),
    "where of a tensor": (lambda s: torch.where(ones().tril(), s, torch.full((), -1e9, dtype=s.dtype)), CAUSAL),
    "positions compared": (lambda s: s.masked_fill(offset() > 0, -math.inf), CAUSAL),
    "rows of the heads": (lambda s: s.masked_fill(ones().triu(1)[None, None], -math.inf), CAUSAL),
    "added": (lambda s: s + added(ones().tril(), -math.inf, s.dtype), CAUSAL),
    "added, the least number": (lambda s: s + added(ones().tril(), torch.finfo(torch.float32).min, s.dtype), CAUSAL),
    "added from the left": (lambda s: added(ones().tril(), -math.inf, s.dtype) + s, CAUSAL),
    "a tensor that is written down": (lambda s: s + torch.where(ones().tril(), torch.tensor(0.0), torch.finfo(s.dtype).min), CAUSAL),
    "the other side": (lambda s: s.masked_fill(offset() < 0, -math.inf), BACK),
    "a window": (lambda s: s.masked_fill((offset() > 0) | (offset() < -WINDOW), -math.inf), BAND),
    "a window by product": (lambda s: torch.where((offset() <= 0) & (offset() >= -WINDOW), s, -math.inf), BAND),
    "two masks": (lambda s: s.masked_fill(offset() > 0, -math.inf).masked_fill(offset() < -WINDOW, -math.inf), None),
}


def masks_of(graphs):
    return [o for g in graphs for o in g["operators"] if o["op"] == "mask"]


@pytest.fixture
def graphs(monkeypatch):
    from zellige import _native

    seen, init = [], _native.Graph.__init__

    def keep(self, form, *rest):
        if isinstance(form, dict) and form["name"].startswith("fused"):
            seen.append(form)
        init(self, form, *rest)

    monkeypatch.setattr(_native.Graph, "__init__", keep)
    torch._dynamo.reset()
    return seen


def attend(mask, kv_heads=2):
    def function(q, k, v):
        if kv_heads != q.shape[1]:
            k, v = (t.repeat_interleave(q.shape[1] // kv_heads, 1) for t in (k, v))
        scores = mask(q @ k.transpose(-1, -2) * 0.25)
        return F.softmax(scores, -1) @ v

    return function


def tensors(heads=2, kv_heads=2, dtype=torch.float32):
    torch.manual_seed(1)
    return torch.randn(1, heads, QUERIES, 16).to(dtype), torch.randn(1, kv_heads, KEYS, 16).to(dtype), torch.randn(1, kv_heads, KEYS, 16).to(dtype)


def compare(function, given, tolerance=2e-3):
    with torch.no_grad():
        found, expected = torch.compile(function, backend=torch_backend.backend)(*given), function(*given)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return torch_backend.reports[-1]


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("heads", [(2, 2), (4, 2)])
def test_a_spelling_is_a_mask_by_position(name, heads, graphs):
    mask, expected = SPELLINGS[name]
    report = compare(attend(mask, heads[1]), tensors(*heads))
    assert len(report.parts) == 1 and not report.left, report
    found = masks_of(graphs)
    assert found and all(len(m["inputs"]) == 1 for m in found)
    if expected is not None:
        assert [{k: m[k] for k in ("tril", "triu") if k in m} for m in found] == [expected]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves(dtype, graphs):
    compare(attend(SPELLINGS["added"][0]), tensors(dtype=dtype), 8 * torch.finfo(dtype).eps)
    assert len(masks_of(graphs)) == 1


NO_BANDS = {
    "holes": lambda s: s.masked_fill(offset() % 3 == 0, -math.inf),
    "added, not far below 0": lambda s: s + added(ones().tril(), -5.0, s.dtype),
    "two numbers": lambda s: s + torch.where(offset() > 3, -math.inf, torch.where(offset() > 0, -1e32, 0.0)).to(s.dtype),
    "nothing masked": lambda s: s.masked_fill(offset() > KEYS, -math.inf),
}


@pytest.mark.parametrize("name", NO_BANDS)
def test_what_is_no_band_is_kept(name, graphs):
    compare(attend(NO_BANDS[name]), tensors())
    assert masks_of(graphs) == []


def test_a_mask_that_is_given_is_kept(graphs):
    function = lambda s, m: s.masked_fill(m, -math.inf).softmax(-1) * 2  # noqa: E731
    compare(function, (torch.randn(2, QUERIES, KEYS), ones().triu(1)))
    assert masks_of(graphs) == []


def test_attention_with_a_causal_mask_as_a_tensor(graphs):
    """Torch's own operator, masks of bool and of numbers."""
    for made in (lambda s: ones().tril(), lambda s: added(ones().tril(), -math.inf, s.dtype)):
        compare(lambda q, k, v, made=made: F.scaled_dot_product_attention(q, k, v, attn_mask=made(q)), tensors())
    assert [(m.get("tril"), "triu" in m) for m in masks_of(graphs)] == [(0, False)] * 2


def test_equal_masks_of_layers_are_recognised_once(monkeypatch, graphs):
    bands, found = masks.band_of, []
    monkeypatch.setattr(masks, "band_of", lambda *given: found.append(bands(*given)) or found[-1])

    def layers(q, k, v):
        for _ in range(3):
            q = q + F.scaled_dot_product_attention(q, k, v, attn_mask=ones().tril())
        return q

    compare(layers, tensors())
    assert found == [masks.Band(0, None)]
    assert [m["tril"] for m in masks_of(graphs)] == [0] * 3


@pytest.mark.parametrize("diagonal", [-3, 0, 2])
def test_tril_and_triu_of_numbers(diagonal, graphs):
    report = compare(lambda x: (torch.tril(x, diagonal) + 1) * torch.triu(x, diagonal), (torch.randn(3, 12, 20),))
    assert not report.left and len(masks_of(graphs)) == 2


def limited(kept, band):
    """Returns what zellige::mask keeps for a band of `kept`."""
    i, j = torch.arange(kept.shape[0])[:, None], torch.arange(kept.shape[1])
    ends = (kept * (j + 1)).amax(1, True) if band.rows else None, (kept * (i + 1)).amax(0, True) if band.columns else None
    return custom.mask(torch.ones(kept.shape), band.tril, band.triu, 0.0, *ends) == 1


def test_a_band_against_every_element():
    """All bands of a few shapes, and each of them with one element flipped."""
    for rows, columns in ((1, 5), (4, 4), (3, 6), (6, 3)):
        offset = torch.arange(columns)[None] - torch.arange(rows)[:, None]
        for low in range(1 - rows, columns):
            for high in range(low, columns):
                kept = (offset >= low) & (offset <= high)
                band = masks.band_of(kept, (rows, columns))
                if kept.all():
                    assert band is None
                    continue
                assert not band.rows and not band.columns and torch.equal(limited(kept, band), kept)
                for i in range(rows):
                    for j in range(columns):
                        flipped = kept.clone()
                        flipped[i, j] = ~flipped[i, j]
                        other = masks.band_of(flipped, (rows, columns))
                        if other is not None:
                            assert torch.equal(limited(flipped, other), flipped)


# As transformers' masking_utils spells masks: functions of the numbers of batch, head, query and key.


def causal(b, h, q, k):
    return k <= q


def window(b, h, q, k):
    return k > q - WINDOW


def chunked(b, h, q, k):
    return k // 10 == q // 10


def prefix(b, h, q, k):
    return (k < 9) | (k <= q)


def padded(kept):
    return lambda b, h, q, k: kept[b, k]


def all_of(*functions):
    def function(b, h, q, k):
        result = q.new_ones((), dtype=torch.bool)
        for f in functions:
            result = result & f(b, h, q, k).to(result.device)
        return result

    return function


def expanded(function, batch, queries, keys):
    b, h, q, k = (torch.arange(n) for n in (batch, 1, queries, keys))
    return function(b[:, None, None, None], h[None, :, None, None], q[None, None, :, None], k[None, None, None, :]).expand(batch, -1, queries, keys)


def mapped(function, batch, queries, keys):
    for dims in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
        function = torch.vmap(function, in_dims=dims)
    with torch._dynamo._trace_wrapped_higher_order_op.TransformGetItemToIndex():
        return function(*(torch.arange(n) for n in (batch, 1, queries, keys)))


def numbers(made, dtype):
    return torch.where(made, torch.tensor(0.0, dtype=dtype), torch.finfo(dtype).min)


POSITIONS = {"causal": (causal,), "window": (causal, window), "chunks": (causal, chunked), "blocks": (chunked,), "prefix": (prefix,)}
PADDED = {f"{name}, padded": (*functions, padded) for name, functions in POSITIONS.items()}


SPELLED = list(itertools.product([*POSITIONS, *PADDED], [expanded, mapped], [False, True]))


@pytest.mark.parametrize("name, spread, eager", SPELLED if "ZELLIGE_ALL" in os.environ else SPELLED[::3])
def test_masks_of_transformers_are_evaluated_where_they_are_used(name, spread, eager, graphs):
    """One kernel, which reads no mask of queries and keys."""
    q, k, v = (t.expand(2, *t.shape[1:]).contiguous() for t in tensors(dtype=torch.float16 if not eager else torch.float32))
    q = torch.randn(2, 2, KEYS, 16, dtype=q.dtype)  # a query for each key
    kept = torch.ones(2, KEYS, dtype=torch.int64)
    kept[1, KEYS - 6 :] = 0

    def function(q, k, v, kept):
        functions = (padded(kept.to(torch.bool)) if f is padded else f for f in (POSITIONS | PADDED)[name])
        mask = spread(all_of(*functions), 2, KEYS, KEYS)
        if eager:
            return torch.softmax(q @ k.transpose(-1, -2) * 0.25 + numbers(mask, q.dtype), -1) @ v
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    report = compare(function, (q, k, v, kept))
    assert not report.left and len(report.parts) == 1 and len(report.parts[0].manifest["kernels"]) == 1, report
    assert masks_of(graphs) and all(math.prod(i["shape"]) < KEYS * KEYS or i["name"][:3] in ("q", "k", "v") or i["shape"][-1] == 16 for i in graphs[-1]["inputs"])
