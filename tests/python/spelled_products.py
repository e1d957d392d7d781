"""Parts of models around products of matrices and attention, each in the ways in which people write it: PARTS, as in spelled_rows.py."""

import math

import torch
import torch.nn.functional as F
from spelled_rows import draw, wide


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def scored(scores):
    """Attention by a function of queries, keys and a scale, which makes the scores."""
    return lambda q, k, v: torch.softmax(scores(q, k, q.shape[-1] ** -0.5), -1) @ v


def masked(mask):
    return lambda q, k, v: torch.softmax(mask((q @ k.mT).float() * 0.125), -1).to(q.dtype) @ v


def biased(bias):
    return lambda q, k, v, m: torch.softmax(bias((q @ k.mT).float() * 0.125, m), -1).to(q.dtype) @ v


def grouped(repeat):
    return lambda q, k, v: torch.softmax((q @ repeat(k).mT).float() * 0.125, -1).to(q.dtype) @ repeat(v)


def rotated(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def rotary_halves(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def pairs(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)


def pairs_of_view(x, cos, sin):
    a, b = x.reshape(*x.shape[:-1], -1, 2).unbind(-1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).reshape(x.shape)


def pairs_complex(x, cos, sin):
    rotated = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * torch.complex(cos, sin)
    return torch.view_as_real(rotated).flatten(-2)


def pairs_rotated(x, cos, sin):
    rotated = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * cos.repeat_interleave(2, -1) + rotated * sin.repeat_interleave(2, -1)


def pairs_indexed(x, cos, sin):
    p = x.view(*x.shape[:-1], -1, 2)
    return torch.stack((p[..., 0] * cos - p[..., 1] * sin, p[..., 1] * cos + p[..., 0] * sin), dim=-1).view(x.shape)


def pairs_of_float(x, cos, sin):
    a, b = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2).type_as(x)


def split_heads(x):
    return x.view(2, 32, 4, 32).transpose(1, 2)


def ways(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


PARTS = {
    "linear": (
        lambda: (draw(64, 128), draw(256, 128)),
        {
            "F.linear": lambda x, w: F.linear(x, w),
            "operator": lambda x, w: x @ w.T,
            "matmul": lambda x, w: torch.matmul(x, w.transpose(0, 1)),
            "mm": lambda x, w: torch.mm(x, w.t()),
            "einsum": lambda x, w: torch.einsum("mk,nk->mn", x, w),
            "einsum of the transposed": lambda x, w: torch.einsum("mk,kn->mn", x, w.T),
            "transposed": lambda x, w: (w @ x.T).T,
            "inner": lambda x, w: torch.inner(x, w),
            "tensordot": lambda x, w: torch.tensordot(x, w, dims=([1], [1])),
        },
    ),
    "linear of a batch": (
        lambda: (draw(2, 32, 128), draw(256, 128)),
        {
            "F.linear": lambda x, w: F.linear(x, w),
            "operator": lambda x, w: x @ w.T,
            "rows": lambda x, w: (x.view(64, 128) @ w.T).view(2, 32, 256),
            "flatten": lambda x, w: F.linear(x.flatten(0, 1), w).unflatten(0, (2, 32)),
            "einsum": lambda x, w: torch.einsum("bsk,nk->bsn", x, w),
            "mT": lambda x, w: torch.matmul(x, w.mT),
            "transposed": lambda x, w: (w @ x.mT).mT,
            "expanded": lambda x, w: torch.bmm(x, w.T.expand(2, 128, 256)),
            "tensordot": lambda x, w: torch.tensordot(x, w.T, 1),
        },
    ),
    "linear with a bias": (
        lambda: (draw(64, 128), draw(256, 128), draw(256)),
        {
            "F.linear": lambda x, w, b: F.linear(x, w, b),
            "operators": lambda x, w, b: x @ w.T + b,
            "addmm": lambda x, w, b: torch.addmm(b, x, w.T),
            "bias first": lambda x, w, b: b + torch.mm(x, w.t()),
            "row": lambda x, w, b: F.linear(x, w) + b[None, :],
            "einsum": lambda x, w, b: torch.einsum("mk,nk->mn", x, w) + b,
            "baddbmm": lambda x, w, b: torch.baddbmm(b.view(1, 1, 256), x[None], w.T[None])[0],
            "expanded": lambda x, w, b: F.linear(x, w).add(b.expand(64, 256)),
        },
    ),
    "linear, bias and gelu": (
        lambda: (draw(2, 32, 128), draw(256, 128), draw(256)),
        {
            "F.linear": lambda x, w, b: F.gelu(F.linear(x, w, b), approximate="tanh"),
            "operators": lambda x, w, b: F.gelu(x @ w.T + b, approximate="tanh"),
            "addmm": lambda x, w, b: F.gelu(torch.addmm(b, x.view(64, 128), w.T), approximate="tanh").view(2, 32, 256),
            "gelu of a view": lambda x, w, b: F.gelu(torch.addmm(b, x.view(64, 128), w.T).view(2, 32, 256), approximate="tanh"),
            "bias after the view": lambda x, w, b: F.gelu((x.reshape(-1, 128) @ w.T).view(2, 32, 256) + b, approximate="tanh"),
            "module": lambda x, w, b: torch.nn.GELU("tanh")(F.linear(x.flatten(0, 1), w, b)).view(2, 32, -1),
        },
    ),
    "linear and residual": (
        lambda: (draw(2, 32, 128), draw(256, 128), draw(256), draw(2, 32, 256)),
        {
            "sum": lambda x, w, b, r: r + F.linear(x, w, b),
            "swapped": lambda x, w, b, r: F.linear(x, w, b) + r,
            "operators": lambda x, w, b, r: x @ w.T + b + r,
            "rows": lambda x, w, b, r: r + torch.addmm(b, x.view(64, 128), w.T).view(2, 32, 256),
            "residual of rows": lambda x, w, b, r: (r.view(64, 256) + F.linear(x.view(64, 128), w, b)).view(2, 32, 256),
            "torch.add": lambda x, w, b, r: torch.add(r, F.linear(x, w).add(b)),
            "dropout": lambda x, w, b, r: r + F.dropout(F.linear(x, w, b), 0.1, training=False),
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
            "slices": lambda x, w, b: ((y := F.linear(x, w, b))[:, :128] * 2, y[:, 128:] * 2),
        },
    ),
    "swiglu": (
        lambda: (draw(64, 128), draw(512, 128)),
        {
            "chunk": lambda x, w: F.silu((c := F.linear(x, w).chunk(2, -1))[0]) * c[1],
            "split": lambda x, w: F.silu((c := (x @ w.T).split(256, -1))[0]) * c[1],
            "two weights": lambda x, w: F.silu(F.linear(x, w[:256])) * F.linear(x, w[256:]),
            "chunks of the weight": lambda x, w: F.silu(F.linear(x, (c := w.chunk(2, 0))[0])) * F.linear(x, c[1]),
            "slices": lambda x, w: F.silu((y := F.linear(x, w))[..., :256]) * y[..., 256:],
            "narrow": lambda x, w: (y := x @ w.t()).narrow(1, 256, 256) * F.silu(y.narrow(1, 0, 256)),
            "written out": lambda x, w: (c := F.linear(x, w).chunk(2, -1))[1] * (c[0] * c[0].sigmoid()),
            "unflatten": lambda x, w: F.silu((c := F.linear(x, w).unflatten(-1, (2, 256)))[:, 0]) * c[:, 1],
        },
    ),
    "heads": (
        lambda: (draw(2, 32, 128), draw(384, 128)),
        {
            "chunk": lambda x, w: ways(*(split_heads(t) for t in F.linear(x, w).chunk(3, -1))),
            "split": lambda x, w: ways(*(split_heads(t) for t in F.linear(x, w).split(128, dim=2))),
            "slices": lambda x, w: ways(*(split_heads(F.linear(x, w)[:, :, i : i + 128]) for i in (0, 128, 256))),
            "weight split": lambda x, w: ways(*(split_heads(F.linear(x, t)) for t in w.chunk(3, 0))),
            "permute": lambda x, w: ways(*F.linear(x, w).view(2, 32, 3, 4, 32).permute(2, 0, 3, 1, 4)),
            "unbind": lambda x, w: ways(*F.linear(x, w).reshape(2, 32, 3, 4, 32).permute(2, 0, 3, 1, 4).unbind(0)),
            "einsum": lambda x, w: ways(*torch.einsum("bsk,chdk->cbhsd", x, w.view(3, 4, 32, 128))),
        },
    ),
    "merged heads": (
        lambda: (draw(2, 4, 32, 32), draw(128, 128)),
        {
            "reshape": lambda x, w: F.linear(x.transpose(1, 2).reshape(2, 32, 128), w),
            "contiguous": lambda x, w: F.linear(x.transpose(1, 2).contiguous().view(2, 32, 128), w),
            "flatten": lambda x, w: F.linear(x.transpose(1, 2).flatten(2), w),
            "permute": lambda x, w: x.permute(0, 2, 1, 3).reshape(2, 32, -1) @ w.T,
            "einsum": lambda x, w: torch.einsum("bsk,nk->bsn", x.transpose(1, 2).reshape(2, 32, 128), w),
            "rows": lambda x, w: torch.mm(x.transpose(1, 2).reshape(64, 128), w.t()).view(2, 32, 128),
        },
    ),
    "scaled scores": (
        lambda: (draw(8, 64, 64), draw(8, 64, 64)),
        {
            "bmm": lambda q, k: torch.bmm(q, k.transpose(1, 2)) * 0.125,
            "operator": lambda q, k: q @ k.mT * 0.125,
            "quotient": lambda q, k: torch.matmul(q, k.transpose(-1, -2)) / 8,
            "queries": lambda q, k: (q * 0.125) @ k.mT,
            "keys": lambda q, k: q @ (k / 8).mT,
            "einsum": lambda q, k: torch.einsum("bqd,bkd->bqk", q, k) * 0.125,
            "baddbmm": lambda q, k: torch.baddbmm(torch.empty(8, 64, 64, dtype=q.dtype), q, k.mT, beta=0, alpha=0.125),
            "four dimensions": lambda q, k: (q.view(2, 4, 64, 64) @ k.view(2, 4, 64, 64).mT).view(8, 64, 64) * 0.125,
        },
    ),
    "low rank": (
        lambda: (draw(64, 128), draw(256, 128), draw(16, 128), draw(256, 16)),
        {
            "F.linear": lambda x, w, a, b: F.linear(x, w) + F.linear(F.linear(x, a), b) * 2,
            "operators": lambda x, w, a, b: x @ w.T + (x @ a.T @ b.T) * 2,
            "alpha": lambda x, w, a, b: torch.add(F.linear(x, w), F.linear(F.linear(x, a), b), alpha=2),
            "swapped": lambda x, w, a, b: 2 * ((x @ a.t()) @ b.t()) + x @ w.t(),
            "einsum": lambda x, w, a, b: torch.einsum("mk,nk->mn", x, w) + torch.einsum("mr,nr->mn", x @ a.T, b) * 2,
            "dropout": lambda x, w, a, b: F.linear(x, w) + F.linear(F.linear(F.dropout(x, 0.1, False), a), b) * 2,
        },
    ),
    "norm and linear": (
        lambda: (draw(2, 32, 128), draw(128), draw(256, 128)),
        {
            "F.rms_norm": lambda x, g, w: F.linear(F.rms_norm(x, (128,), g, 1e-6), w),
            "operator": lambda x, g, w: F.rms_norm(x, (128,), g, 1e-6) @ w.T,
            "rows": lambda x, g, w: (F.rms_norm(x.view(64, 128), (128,), g, 1e-6) @ w.t()).view(2, 32, 256),
            "flatten": lambda x, g, w: F.linear(F.rms_norm(x, (128,), g, 1e-6).flatten(0, 1), w).view(2, 32, 256),
            "torch.rms_norm": lambda x, g, w: torch.matmul(torch.rms_norm(x, [128], g, 1e-6), w.mT),
            "einsum": lambda x, g, w: torch.einsum("bsk,nk->bsn", F.rms_norm(x, (128,), g, 1e-6), w),
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
            "sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
            "two dimensions fewer": lambda q, k, v: (
                torch.bmm(torch.softmax(torch.bmm(q.flatten(0, 1), k.flatten(0, 1).mT) * 0.125, -1), v.flatten(0, 1)).view(2, 4, 64, 64)
            ),
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
            "sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            "sdpa with a mask": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=causal(64)),
            "triu of ones": masked(lambda s: s.masked_fill(torch.ones(64, 64).triu(1).bool(), float("-inf"))),
        },
    ),
    "window attention": (
        lambda: tuple(draw(2, 4, 64, 64) for _ in "qkv"),
        {
            "masked_fill": masked(lambda s: s.masked_fill(~(causal(64) & torch.ones(64, 64).triu(-15).bool()), -torch.inf)),
            "two masks": masked(lambda s: s.masked_fill(~causal(64), -torch.inf).masked_fill(~torch.ones(64, 64).triu(-15).bool(), -torch.inf)),
            "triu": masked(lambda s: s.masked_fill(~torch.ones(64, 64, dtype=torch.bool).tril().triu(-15), -torch.inf)),
            "positions": masked(lambda s: torch.where((d := torch.arange(64)[:, None] - torch.arange(64)) >= 0, s, -torch.inf).masked_fill(d > 15, -torch.inf)),
            "one comparison": masked(lambda s: torch.where(((d := torch.arange(64)[:, None] - torch.arange(64)) >= 0) & (d < 16), s, -torch.inf)),
            "added": masked(lambda s: s + torch.zeros(64, 64).masked_fill(~torch.ones(64, 64).bool().tril().triu(-15), -torch.inf)),
        },
    ),
    "attention with a bias": (
        lambda: (*(draw(2, 4, 64, 64) for _ in "qkv"), wide(4, 64, 64)),
        {
            "added": biased(lambda s, m: s + m),
            "swapped": biased(lambda s, m: m + s),
            "unsqueezed": biased(lambda s, m: s + m.unsqueeze(0)),
            "torch.add": biased(lambda s, m: torch.add(s, m[None])),
            "expanded": biased(lambda s, m: s + m.expand(2, 4, 64, 64)),
            "view": biased(lambda s, m: s + m.view(1, 4, 64, 64)),
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
            "sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        },
    ),
    "soft capped attention": (
        lambda: tuple(draw(2, 4, 64, 64) for _ in "qkv"),
        {
            "operators": masked(lambda s: 50.0 * torch.tanh(s / 50.0)),
            "methods": masked(lambda s: s.div(50.0).tanh() * 50.0),
            "in place": masked(lambda s: s.div_(50.0).tanh_().mul_(50.0)),
            "F.softmax": lambda q, k, v: F.softmax(torch.tanh(torch.matmul(q, k.mT).float() / 8 / 50) * 50, dim=-1).to(v.dtype) @ v,
            "steps": masked(lambda s: (s / 50.0).tanh().mul(50.0)),
            "batches": lambda q, k, v: (
                torch.softmax(50 * torch.tanh((q.flatten(0, 1) @ k.flatten(0, 1).mT).float() * 0.125 / 50), -1).bfloat16() @ v.flatten(0, 1)
            ).view(2, 4, 64, 64),
        },
    ),
    "rotary": (
        lambda: (draw(4, 64, 64), draw(64, 32), draw(64, 32)),
        {
            "halves": rotary_halves,
            "rotate_half": lambda x, c, s: x * torch.cat((c, c), -1) + rotated(x) * torch.cat((s, s), -1),
            "swapped": lambda x, c, s: rotated(x) * torch.cat((s, s), -1) + x * torch.cat((c, c), -1),
            "repeated": lambda x, c, s: x * c.repeat(1, 2) + rotated(x) * s.repeat(1, 2),
            "slices": lambda x, c, s: torch.cat((x[..., :32] * c - x[..., 32:] * s, x[..., :32] * s + x[..., 32:] * c), -1),
            "negative": lambda x, c, s: torch.cat((x[..., :32] * c + -x[..., 32:] * s, x[..., 32:] * c + x[..., :32] * s), -1),
            "split": lambda x, c, s: torch.cat(((p := x.split(32, -1))[0] * c - p[1] * s, p[0] * s + p[1] * c), dim=-1),
        },
    ),
    "rotary of pairs": (
        lambda: (wide(4, 64, 64), wide(64, 32), wide(64, 32)),
        {
            "strided": pairs,
            "view": pairs_of_view,
            "complex": pairs_complex,
            "rotated": pairs_rotated,
            "indexed": pairs_indexed,
            "float": pairs_of_float,
        },
    ),
}
