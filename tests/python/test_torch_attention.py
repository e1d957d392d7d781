"""Attention in many spellings is one operator, whether a program or torch's kernel computes it."""

import itertools
import math

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.import_ import custom  # noqa: E402
from zellige.torch.measure import estimates  # noqa: E402
from zellige.torch.partition import taking  # noqa: E402

SCALE = 0.3


def above(n):
    return torch.ones(n, n).triu(1).bool()


# The operators between the matmuls, and whether they are causal.
BETWEEN = {
    "scaled": (lambda s: torch.softmax(s * SCALE, -1), False),
    "divided": (lambda s: torch.softmax(s / (1 / SCALE), -1), False),
    "in f32": (lambda s: torch.softmax((s * SCALE).float(), -1).to(s.dtype), False),
    "of dtype f32": (lambda s: F.softmax(s * SCALE, dim=-1, dtype=torch.float32).to(s.dtype), False),
    "masked_fill": (lambda s: torch.softmax((s * SCALE).masked_fill(above(s.shape[-1]), -math.inf), -1), True),
    "masked before it is scaled": (lambda s: torch.softmax(s.masked_fill(above(s.shape[-1]), -math.inf) * SCALE, -1), True),
    "where": (lambda s: torch.softmax(torch.where(above(s.shape[-1]), -math.inf, s * SCALE), -1), True),
}


def heads(shared):
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(2, 16, h, 8, generator=generator).half() for h in (4, 4 // shared, 4 // shared)]


def attention(between, shared):
    def function(q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        if shared > 1:
            k, v = (x.repeat_interleave(shared, 1) for x in (k, v))
        return (between(q @ k.transpose(-1, -2)) @ v).transpose(1, 2).reshape(2, 16, 32)

    return function


@pytest.fixture
def graphs(monkeypatch):
    """The attention nodes of each graph, as parts are cut."""
    found, take = [], taking.Taking.take

    def kept(self, parts):
        found.append([n for n in self.module.graph.nodes if n.target is custom.ATTENTION])
        take(self, parts)

    monkeypatch.setattr(taking.Taking, "take", kept)
    return found


@pytest.mark.parametrize("name, shared", list(itertools.product(BETWEEN, (1, 2))))
def test_a_spelling_is_one_operator(graphs, name, shared):
    between, causal = BETWEEN[name]
    function, inputs = attention(between, shared), heads(shared)
    torch._dynamo.reset()
    with torch.no_grad():
        found = torch.compile(function, backend=torch_backend.backend)(*inputs)
    torch.testing.assert_close(found.double(), function(*(x.double() for x in inputs)), rtol=4e-3, atol=4e-3)
    (nodes,) = graphs
    (node,) = nodes
    assert node.args[3:5] == (None, causal) and node.args[5] == pytest.approx(SCALE) and node.args[6] == (shared > 1)


def test_left_to_torch_it_is_its_fused_kernel(graphs, monkeypatch):
    """As if programs were slow: the graph is kept for the savings of torch's fused kernel over unfused attention."""
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(1e6, 5.0))
    function, inputs = attention(BETWEEN["masked_fill"][0], 2), heads(2)
    called = []
    monkeypatch.setitem(custom.FUNCTIONS, custom.ATTENTION, lambda *a, **b: called.append(a) or custom.attention(*a, **b))
    torch._dynamo.reset()
    with torch.no_grad():
        found = torch.compile(function, backend=torch_backend.backend, options={"take": "cheaper"})(*inputs)
    torch.testing.assert_close(found.double(), function(*(x.double() for x in inputs)), rtol=4e-3, atol=4e-3)
    assert len(called) == 1 and torch_backend.reports[-1].parts == [] and torch_backend.reports[-1].kept


@pytest.mark.parametrize("what", ["float32", "probabilities", "a window"])
def test_what_is_not_that_is_still_written_out(graphs, what):
    q, k, v = heads(1)

    def function(q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        scores = q @ k.transpose(-1, -2) * SCALE
        if what == "a window":
            scores = scores.masked_fill(above(16) | above(16).T.tril(-4), -math.inf)
        p = torch.softmax(scores, -1)
        return (p @ v, p) if what == "probabilities" else p @ v

    if what == "float32":
        q, k, v = (x.float() for x in (q, k, v))
    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(function, backend=torch_backend.backend)(q, k, v)
    assert graphs == [[]]


@pytest.mark.parametrize("named", [False, True])
def test_a_kernel_that_the_model_names_is_not_selected_again(graphs, named):
    def function(q):
        if not named:
            return F.scaled_dot_product_attention(q, q, q)
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, q, q)

    torch._dynamo.reset()
    q = heads(1)[0].transpose(1, 2)
    with torch.no_grad():
        found = torch.compile(function, backend=torch_backend.backend)(q)
        torch.testing.assert_close(found, function(q), rtol=4e-3, atol=4e-3)
    assert [len(nodes) for nodes in graphs] == [0 if named else 1]


@pytest.mark.parametrize("causal, heads_last", list(itertools.product((False, True), (False, True))))
def test_shared_keys_are_read_where_they_lie(causal, heads_last):
    """One kernel: neither queries nor keys are copied, wherever the heads lie."""
    generator = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(2, *((72, h) if heads_last else (h, 72)), 24, generator=generator).half() for h in (6, 2, 2))

    def function(q, k, v):
        if heads_last:
            q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)

    torch._dynamo.reset()
    with torch.no_grad():
        found = torch.compile(function, backend=torch_backend.backend, options={"take": "all"})(q, k, v)
    torch.testing.assert_close(found.double(), function(*(x.double() for x in (q, k, v))), rtol=4e-3, atol=4e-3)
    (part,) = torch_backend.reports[-1].parts
    assert len(part.manifest["kernels"]) == 1


@pytest.mark.parametrize("dtype, spelled", [(torch.float16, "mask"), (torch.float16, None), (torch.bfloat16, None), (torch.float32, None)])
def test_keys_that_are_repeated_for_fused_attention_are_read_once(monkeypatch, dtype, spelled):
    """As in models of Hugging Face with a mask. Not in float32, and with a mask that remains a tensor: torch might have no
    fused kernel for them."""

    def function(q, k, v, bias):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        k, v = (x[:, :, None].expand(-1, -1, 2, -1, -1).reshape(q.shape) for x in (k, v))
        mask = bias if spelled else ~above(16)
        return F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).reshape(2, 16, 32)

    found, take = [], taking.Taking.take

    def kept(self, parts):
        attention = [n for n in self.module.graph.nodes if n.target is custom.ATTENTION]
        found.extend(([m.meta["val"].shape[1] for m in n.args[1:3]], n.args[4], n.args[6]) for n in attention)
        take(self, parts)

    monkeypatch.setattr(taking.Taking, "take", kept)
    q, k, v = (x.to(dtype) for x in heads(2))
    bias = torch.zeros(16, 16, dtype=dtype)
    torch._dynamo.reset()
    with torch.no_grad():
        made = torch.compile(function, backend=torch_backend.backend)(q, k, v, bias)
        torch.testing.assert_close(made, function(q, k, v, bias), rtol=0.02, atol=0.02)
    grouped = dtype is not torch.float32 and spelled is None
    assert found == [([2 if grouped else 4] * 2, spelled is None, grouped)]


def test_returned_attention_has_the_strides_of_eager_torch():
    q, k, v = heads(1)

    def function(q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        y = torch.softmax((q @ k.mT).masked_fill(above(16), -math.inf), -1) @ v
        return y, y * 2, y.transpose(1, 2)

    found = torch.compile(function, backend=torch_backend.backend)(q, k, v)
    assert [y.stride() for y in found] == [y.stride() for y in function(q, k, v)]
