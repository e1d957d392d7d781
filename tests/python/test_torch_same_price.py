"""torch.compile(backend="zellige") on one part in many spellings: each is as many kernels, at the same price within 3%. Spellings in
the operators of Zellige's graphs are in tests/fuse/spellings_test.cpp; these are what only torch spells."""

import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional
TOLERANCE = 0.03


def draw(*shape, dtype=torch.bfloat16):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def scored(scores):
    """Attention by a function of queries, keys and a scale, which makes the scores."""
    return lambda q, k, v: torch.softmax(scores(q, k, q.shape[-1] ** -0.5), -1) @ v


def masked(mask):
    return lambda q, k, v: torch.softmax(mask((q @ k.mT).float() * 0.125), -1).to(q.dtype) @ v


def grouped(repeat):
    return lambda q, k, v: torch.softmax((q @ repeat(k).mT).float() * 0.125, -1).to(q.dtype) @ repeat(v)


def rotated(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def halves(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


# Per part: its inputs, and its spellings.
PARTS = {
    "silu gate": (
        lambda: (draw(64, 256), draw(64, 256)),
        {
            "F.silu": lambda x, y: F.silu(x) * y,
            "product": lambda x, y: x * torch.sigmoid(x) * y,
            "swapped": lambda x, y: y * (torch.sigmoid(x) * x),
            "quotient": lambda x, y: y * (x / (1 + torch.exp(-x))),
            "module": lambda x, y: torch.nn.SiLU()(x) * y,
            "in a batch of one": lambda x, y: (F.silu(x[None]) * y[None])[0],
        },
    ),
    "softmax": (
        lambda: (draw(64, 256, dtype=torch.float32),),
        {
            "torch.softmax": lambda x: torch.softmax(x * 0.25, -1),
            "divided": lambda x: F.softmax(x / 4, dim=1),
            "exp / sum": lambda x: (e := torch.exp(x * 0.25 - (x * 0.25).amax(-1, keepdim=True))) / e.sum(-1, keepdim=True),
            "max": lambda x: (e := torch.exp((s := x * 0.25) - s.max(-1, keepdim=True).values)) / e.sum(-1, keepdim=True),
            "log_softmax": lambda x: torch.log_softmax(x * 0.25, -1).exp(),
            "logsumexp": lambda x: torch.exp((s := x * 0.25) - torch.logsumexp(s, -1, keepdim=True)),
            "unsqueezed": lambda x: torch.exp((s := x * 0.25) - torch.logsumexp(s, -1).unsqueeze(-1)),
        },
    ),
    "gelu_tanh": (
        lambda: (draw(64, 256, dtype=torch.float32),),
        {
            "F.gelu": lambda x: F.gelu(x, approximate="tanh"),
            "by hand": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3)))),
            "cube": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
            "swapped": lambda x: (torch.tanh((x**3 * 0.044715 + x) * math.sqrt(2 / math.pi)) + 1) * (x * 0.5),
            "halved": lambda x: (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) * x / 2,
            "module": lambda x: torch.nn.GELU(approximate="tanh")(x),
        },
    ),
    "rms_norm": (
        lambda: (draw(64, 256, dtype=torch.float32), draw(256, dtype=torch.float32)),
        {
            "pow": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w,
            "product": lambda x, w: w * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)),
            "square": lambda x, w: w * (x * torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-6)),
            "sum": lambda x, w: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) / 256 + 1e-6) * w,
            "unsqueezed": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1) + 1e-6).unsqueeze(-1) * w,
            "F.rms_norm": lambda x, w: F.rms_norm(x, (256,), w, 1e-6),
            "expanded": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6).expand(64, 256) * w,
        },
    ),
    "variance": (
        lambda: (draw(64, 256, dtype=torch.float32),),
        {
            "torch.var": lambda x: torch.var(x, -1, correction=0, keepdim=True) + 1,
            "by hand": lambda x: (x - x.mean(-1, keepdim=True)).pow(2).mean(-1, keepdim=True) + 1,
            "square": lambda x: torch.square(x - x.mean(-1, keepdim=True)).mean(-1, keepdim=True) + 1,
            "product": lambda x: ((c := x - x.mean(-1, keepdim=True)) * c).mean(-1, keepdim=True) + 1,
            "sum": lambda x: (x - x.sum(-1, keepdim=True) / 256).pow(2).sum(-1, keepdim=True) / 256 + 1,
            "not kept": lambda x: (x - x.mean(-1).unsqueeze(1)).pow(2).mean(-1).unsqueeze(1) + 1,
        },
    ),
    "attention": (
        lambda: tuple(draw(2, 4, 64, 64) for _ in "qkv"),
        {
            "scores scaled": scored(lambda q, k, s: q @ k.transpose(-1, -2) * s),
            "scores divided": scored(lambda q, k, s: q @ k.mT / math.sqrt(q.shape[-1])),
            "queries scaled": scored(lambda q, k, s: (q * s) @ k.mT),
            "keys scaled": scored(lambda q, k, s: q @ (k * s).mT),
            "keys scaled, transposed": scored(lambda q, k, s: q @ (k.mT * s)),
            "einsum": scored(lambda q, k, s: torch.einsum("bhqd,bhkd->bhqk", q, k) * s),
            "in float32": lambda q, k, v: F.softmax((q @ k.mT) * 0.125, dim=-1, dtype=torch.float32).to(q.dtype) @ v,
            "cast first": masked(lambda s: s),
        },
    ),
    "causal attention": (
        lambda: tuple(draw(2, 4, 64, 64) for _ in "qkv"),
        {
            "masked_fill": masked(lambda s: s.masked_fill(~causal(64), -torch.inf)),
            "where": masked(lambda s: torch.where(causal(64), s, -torch.inf)),
            "added": masked(lambda s: s + torch.full((64, 64), -torch.inf).triu(1)),
            "added zeros": masked(lambda s: s + torch.zeros(64, 64).masked_fill(~causal(64), -torch.inf)),
            "positions": masked(lambda s: s.masked_fill(torch.arange(64)[None] > torch.arange(64)[:, None], -torch.inf)),
            "four dimensions": masked(lambda s: s.masked_fill(causal(64)[None, None] == 0, -torch.inf)),
        },
    ),
    "grouped attention": (
        lambda: (draw(2, 4, 64, 64), draw(2, 2, 64, 64), draw(2, 2, 64, 64)),
        {
            "repeat_interleave": grouped(lambda k: k.repeat_interleave(2, 1)),
            "expand": grouped(lambda k: k[:, :, None].expand(2, 2, 2, 64, 64).reshape(2, 4, 64, 64)),
            "unsqueeze": grouped(lambda k: k.unsqueeze(2).expand(-1, -1, 2, -1, -1).flatten(1, 2)),
            "repeat": grouped(lambda k: k[:, :, None].repeat(1, 1, 2, 1, 1).reshape(2, 4, 64, 64)),
            "stack": grouped(lambda k: torch.stack((k, k), 2).flatten(1, 2)),
            "index": grouped(lambda k: k[:, torch.tensor([0, 0, 1, 1])]),
        },
    ),
    "rotary": (
        lambda: (draw(4, 64, 64), draw(64, 32), draw(64, 32)),
        {
            "halves": halves,
            "rotate_half": lambda x, c, s: x * torch.cat((c, c), -1) + rotated(x) * torch.cat((s, s), -1),
            "swapped": lambda x, c, s: rotated(x) * torch.cat((s, s), -1) + x * torch.cat((c, c), -1),
            "repeated": lambda x, c, s: x * c.repeat(1, 2) + rotated(x) * s.repeat(1, 2),
            "slices": lambda x, c, s: torch.cat((x[..., :32] * c - x[..., 32:] * s, x[..., :32] * s + x[..., 32:] * c), -1),
            "negative": lambda x, c, s: torch.cat((x[..., :32] * c + -x[..., 32:] * s, x[..., 32:] * c + x[..., :32] * s), -1),
        },
    ),
    "projections": (
        lambda: (draw(64, 128), draw(256, 128), draw(256)),
        {
            "chunks": lambda x, w, b: tuple(t * 2 for t in F.linear(x, w, b).chunk(2, -1)),
            "split": lambda x, w, b: tuple(t * 2 for t in F.linear(x, w, b).split(128, -1)),
            "weight split": lambda x, w, b: (F.linear(x, w[:128], b[:128]) * 2, F.linear(x, w[128:], b[128:]) * 2),
            "bias after": lambda x, w, b: tuple(t * 2 for t in (x @ w.T + b).chunk(2, -1)),
            "view": lambda x, w, b: tuple(t.reshape(64, 128) * 2 for t in F.linear(x, w, b).view(64, 2, 128).unbind(1)),
            "einsum": lambda x, w, b: tuple(t * 2 for t in (torch.einsum("mk,nk->mn", x, w) + b).chunk(2, -1)),
        },
    ),
}
# Spellings that cost more, and why. Where one no longer does, its row is to be removed.
DIFFERENT = {
    ("softmax", "max"): "torch's maximum has indices, too, and stays torch's",
    ("attention", "einsum"): "einsum's copies are between its product and the softmax",
    ("grouped attention", "repeat"): "torch traces it as copies into an empty tensor",
    ("grouped attention", "stack"): "a concatenation, which is read as a tensor",
    ("rotary", "repeated"): "torch traces it as copies into an empty tensor",
    ("rotary", "negative"): "-b s rounds as b s does, but no rule moves the sign",
    ("projections", "weight split"): "a bias in parts is added to each part of the product",
    ("projections", "view"): "columns that are taken by an index are no slices of the product",
    ("projections", "einsum"): "einsum's copies are between its product and the bias",
}


def price(function, inputs):
    """Returns the number of kernels and the price of a function, compiled again."""
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    with torch.no_grad():
        torch.compile(function, backend=torch_backend.backend)(*inputs)
    parts = [p for r in torch_backend.reports for p in r.parts]
    return sum(len(p.manifest["kernels"]) for p in parts), sum(p.price for p in parts), str(torch_backend.reports)


@pytest.mark.parametrize("part, spelling", [(part, s) for part, (_, all_of_it) in PARTS.items() for s in list(all_of_it)[1:]])
def test_a_spelling_has_the_kernels_and_the_price_of_the_first(part, spelling):
    inputs, spellings = PARTS[part]
    kernels, us, _ = price(next(iter(spellings.values())), inputs())
    found, found_us, report = price(spellings[spelling], inputs())
    if (part, spelling) in DIFFERENT:
        assert found != kernels or abs(found_us / us - 1) > TOLERANCE, "no longer different"
    else:
        assert found == kernels and abs(found_us / us - 1) <= TOLERANCE, f"{found} kernels of {found_us:.2f} us, not {kernels} of {us:.2f}: {report}"
