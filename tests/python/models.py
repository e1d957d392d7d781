"""Typical torch models, at small size."""

import math

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, SIZE, TOKENS = 32, 4, 8, 8  # heads of SIZE


def heads(x):
    return x.view(*x.shape[:2], -1, SIZE).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


class HfNorm(nn.Module):
    """LlamaRMSNorm."""

    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.rand(width) + 0.5), eps

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


def rotate_half(x):
    a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-b, a), dim=-1)


def repeat_kv(x, times):
    batch, heads, tokens, size = x.shape
    return x[:, :, None, :, :].expand(batch, heads, times, tokens, size).reshape(batch, heads * times, tokens, size)


class Hf(nn.Module):
    """A Hugging Face Llama layer with unfused attention; with variations of Gemma, Qwen and Bloom."""

    def __init__(self, kv=2, cap=None, norms=False, alibi=False, fused=False):
        super().__init__()
        self.kv, self.cap, self.alibi, self.fused = kv, cap, alibi, fused
        self.q, self.o = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.k, self.v = nn.Linear(WIDTH, kv * SIZE, bias=False), nn.Linear(WIDTH, kv * SIZE, bias=False)
        self.gate, self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False), nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.first, self.second = HfNorm(WIDTH), HfNorm(WIDTH)
        self.norms = nn.ModuleList(HfNorm(SIZE) if norms else nn.Identity() for _ in range(2))

    def forward(self, x, cos, sin, mask):
        h = self.first(x)
        q, k = (norm(y(h).view(*h.shape[:2], -1, SIZE)).transpose(1, 2) for norm, y in zip(self.norms, (self.q, self.k)))
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k, HEADS // self.kv), repeat_kv(heads(self.v(h)), HEADS // self.kv)
        if self.fused:
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = torch.matmul(q, k.transpose(2, 3)) * SIZE**-0.5
            if self.cap:
                scores = torch.tanh(scores / self.cap) * self.cap
            if self.alibi:
                scores = scores + slopes(x)
            scores = scores + mask[:, :, :, : k.shape[-2]]
            a = torch.matmul(F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype), v)
        x = x + self.o(a.transpose(1, 2).contiguous().reshape(*x.shape[:2], -1))
        h = self.second(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def slopes(x):
    """ALiBi."""
    each = torch.tensor([2.0 ** (-2 * (i + 1)) for i in range(HEADS)], device=x.device)
    place = torch.arange(x.shape[1], device=x.device)
    return each[:, None, None] * (place[None, :] - place[:, None])[None]


def causal(tokens=TOKENS, window=None, dtype=torch.float32):
    i = torch.arange(tokens)
    seen = i[None] <= i[:, None]
    if window:
        seen &= i[None] > i[:, None] - window
    return torch.where(seen, 0.0, torch.finfo(dtype).min).to(dtype)[None, None]


def angles(tokens=TOKENS, batch=2, dtype=torch.float32):
    a = torch.arange(tokens)[:, None] * 10000.0 ** (-torch.arange(0, SIZE, 2) / SIZE)
    a = torch.cat((a, a), -1)[None].expand(batch, -1, -1)
    return a.cos().to(dtype).contiguous(), a.sin().to(dtype).contiguous()


class GptJ(nn.Module):
    """Its rotary embedding: interleaved pairs."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))

    @staticmethod
    def rotated(x, cos, sin):
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)

    def forward(self, x, cos, sin):
        q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        return joined(F.scaled_dot_product_attention(self.rotated(q, cos, sin), self.rotated(k, cos, sin), v, is_causal=True))


class GptNeoX(GptJ):
    """Interleaved pairs, an angle for each element."""

    @staticmethod
    def rotated(x, cos, sin):
        quarter = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
        return x * cos.repeat_interleave(2, -1) + quarter * sin.repeat_interleave(2, -1)


class Meta(GptJ):
    """Meta's Llama: complex numbers."""

    @staticmethod
    def rotated(x, rotation, _):
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * rotation).flatten(3).type_as(x)


class Cross(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.q, self.kv, self.o = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, context):
        k, v = self.kv(context).view(*context.shape[:2], 2, HEADS, SIZE).permute(2, 0, 3, 1, 4)
        return x + self.o(joined(F.scaled_dot_product_attention(heads(self.q(self.norm(x))), k, v)))


class Experts(nn.Module):
    """Each token by two of them: all computed and weighted, or their weights gathered."""

    def __init__(self, gathered=False, experts=3):
        super().__init__()
        self.gathered, self.router = gathered, nn.Linear(WIDTH, experts, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(experts, 2 * WIDTH, WIDTH) / 6), nn.Parameter(torch.randn(experts, WIDTH, 2 * WIDTH) / 8)

    def forward(self, x):
        rows = x.view(-1, WIDTH)
        weights, which = torch.topk(F.softmax(self.router(rows), dim=1), 2, dim=-1)
        if self.gathered:
            h = F.silu(torch.einsum("td,tkfd->tkf", rows, self.up[which]))
            return torch.einsum("tkf,tkdf,tk->td", h, self.down[which], weights).view_as(x)
        each = torch.zeros(rows.shape[0], len(self.up), dtype=x.dtype, device=x.device).scatter(1, which, weights)
        made = sum(each[:, i : i + 1] * F.linear(F.silu(F.linear(rows, self.up[i])), self.down[i]) for i in range(len(self.up)))
        return made.view_as(x)


class Cached(nn.Module):
    """Keys and values of new tokens, put where they belong in one way or another."""

    def __init__(self, way):
        super().__init__()
        self.way, self.qkv = way, nn.Linear(WIDTH, 3 * WIDTH, bias=False)

    def forward(self, x, keys, values, at):
        q, k, v = (heads(y) for y in self.qkv(x).chunk(3, -1))
        if self.way == "index_copy_":
            keys.index_copy_(2, at, k), values.index_copy_(2, at, v)
        elif self.way == "a tensor's row":
            keys[:, :, at], values[:, :, at] = k, v
        elif self.way == "a slice":
            keys[:, :, 5 : 5 + x.shape[1]], values[:, :, 5 : 5 + x.shape[1]] = k, v
        elif self.way == "cat":
            keys, values = torch.cat((keys, k), 2), torch.cat((values, v), 2)
        elif self.way == "rows of sequences":
            each = torch.arange(x.shape[0], device=x.device)[:, None]
            keys[each, :, at], values[each, :, at] = k.transpose(1, 2), v.transpose(1, 2)
        return joined(F.scaled_dot_product_attention(q, keys, values))


class Tied(nn.Module):
    def __init__(self, words=40):
        super().__init__()
        self.words, self.norm, self.inner = nn.Embedding(words, WIDTH), HfNorm(WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens):
        x = self.words(tokens)
        return F.linear(x + F.gelu(self.inner(self.norm(x))), self.words.weight)


class Biased(nn.Module):
    """T5's bias by the distance of keys and queries."""

    def __init__(self):
        super().__init__()
        self.bias, self.qkv = nn.Embedding(8, HEADS), nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, x):
        place = torch.arange(x.shape[1], device=x.device)
        bias = self.bias((place[None] - place[:, None]).clamp(-4, 3) + 4).permute(2, 0, 1)[None]
        return joined(F.scaled_dot_product_attention(*(heads(y) for y in self.qkv(x).chunk(3, -1)), attn_mask=bias))


class Padded(nn.Module):
    """Sequences of their own lengths."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, x, there):
        seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()[None, None] & there[:, None, None]
        return joined(F.scaled_dot_product_attention(*(heads(y) for y in self.qkv(x).chunk(3, -1)), attn_mask=seen))


class NanoGpt(nn.Module):
    """Attention with masked_fill."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.register_buffer("seen", torch.ones(16, 16).tril().view(1, 1, 16, 16), persistent=False)

    def forward(self, x):
        q, k, v = (heads(y) for y in self.qkv(x).split(WIDTH, 2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.seen[:, :, : x.shape[1], : x.shape[1]] == 0, float("-inf"))
        return joined(F.softmax(scores, -1) @ v)


class Modulated(nn.Module):
    """adaLN of diffusion transformers, a squared ReLU in one matrix with its gate, a scale for each channel."""

    def __init__(self):
        super().__init__()
        self.norm, self.both = nn.LayerNorm(WIDTH, elementwise_affine=False), nn.Linear(WIDTH, 4 * WIDTH)
        self.down, self.scale = nn.Linear(2 * WIDTH, WIDTH), nn.Parameter(torch.rand(WIDTH))

    def forward(self, x, shift, scale):
        gate, up = self.both(self.norm(x) * (1 + scale[:, None]) + shift[:, None]).chunk(2, -1)
        y = self.down(F.relu(gate) ** 2 * up)
        return x + self.scale * (y * torch.sigmoid(1.702 * y))
