"""torch.compile on typical blocks: the operators taken and left, and the distance of results from eager's."""

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
from models import (  # noqa: E402
    HEADS, SIZE, TOKENS, WIDTH, Biased, Cached, Cross, Experts, GptJ, GptNeoX, Hf, Meta, Modulated, NanoGpt, Padded, Tied, angles, causal,
)  # fmt: skip

nn, F = torch.nn, torch.nn.functional
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # the CPU's runs are the emulator's


class Block(nn.Module):
    """LayerNorm, attention of one matrix for q, k and v, GELU, residuals."""

    def __init__(self, dim, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.first, self.second = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.first(x)).split(d, 2))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh" if self.causal else "none"))


class Vit(nn.Module):
    """Patches by a convolution, a class token, places."""

    def __init__(self, dim=32, size=16, patch=8):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch, patch)
        self.token, self.places = nn.Parameter(torch.randn(1, 1, dim)), nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, dim))
        self.block, self.norm, self.head = Block(dim, 4, False), nn.LayerNorm(dim), nn.Linear(dim, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.places
        return self.head(self.norm(self.block(x))[:, 0])


class Gpt(nn.Module):
    def __init__(self, words=50, dim=32, length=8):
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, dim), nn.Embedding(length, dim)
        self.block, self.norm = Block(dim, 4, True), nn.LayerNorm(dim)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        return F.linear(self.norm(self.block(x)), self.tokens.weight)


class Decoder(nn.Module):
    """Grouped heads over caches of which one row is written, where a tensor says; a mask of bool says how many keys there are."""

    def __init__(self, dim=32, heads=4, kv=2, length=16):
        super().__init__()
        self.heads, self.kv, size = heads, kv, dim // heads
        self.q, self.kv_of, self.out = nn.Linear(dim, dim), nn.Linear(dim, 2 * kv * size), nn.Linear(dim, dim)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.randn(2, kv, length, size))

    def forward(self, x, at, mask):
        b, t, d = x.shape
        q = self.q(x).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = self.kv_of(x).view(b, t, 2 * self.kv, -1).transpose(1, 2).chunk(2, 1)
        self.keys[:, :, at] = k
        self.values.index_copy_(2, at.remainder(self.values.shape[2]), v)
        a = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask, enable_gqa=True)
        return self.out(a.transpose(1, 2).reshape(b, t, d))


def mask(keys):
    return (torch.arange(16) < keys).view(1, 1, 1, 16)


def hf(batch=2, tokens=TOKENS, window=None, dtype=torch.float32):
    return lambda: (torch.randn(batch, tokens, WIDTH, dtype=dtype), *angles(tokens, batch, dtype), causal(tokens, window, dtype))


def rows(*inputs, batch=2, tokens=TOKENS):
    return lambda: (torch.randn(batch, tokens, WIDTH), *(i() if callable(i) else i for i in inputs))


def half_angles():
    return torch.rand(TOKENS, SIZE // 2)


def kept():
    return torch.randn(2, HEADS, 16, SIZE)


def images():
    return (torch.randn(2, 3, 16, 16),)


def words():
    return (torch.randint(0, 40, (2, TOKENS)),)


# (model, its inputs, what autocast takes, how many operators are left, parts, how many arguments and buffers are written in place)
MODELS = {
    "vit": (Vit, images, False, 0, 1, 0),
    "vit autocast": (Vit, images, True, 0, 1, 0),
    "gpt": (Gpt, words, False, 1, 1, 0),  # left: torch checks the words
    "gpt autocast": (Gpt, words, True, 1, 1, 0),
    "decoder": (Decoder, lambda: (torch.randn(2, 1, 32), torch.tensor([5]), mask(6)), False, 1, 1, 2),  # left: torch checks the rows' numbers
    "decoder at its end": (Decoder, lambda: (torch.randn(2, 1, 32), torch.tensor([-1]), mask(16)), False, 1, 1, 2),
    "hf": (Hf, hf(), False, 0, 1, 0),
    "hf bf16": (lambda: Hf().bfloat16(), hf(dtype=torch.bfloat16), False, 0, 1, 0),
    "hf autocast": (Hf, hf(), True, 0, 1, 0),
    "hf one token": (lambda: Hf().bfloat16(), hf(1, 1, dtype=torch.bfloat16), False, 0, 1, 0),
    "hf sdpa": (lambda: Hf(fused=True), hf(), False, 0, 1, 0),
    "hf of one key head": (lambda: Hf(kv=1), hf(), False, 0, 1, 0),
    "sliding window": (Hf, hf(window=4), False, 0, 1, 0),
    "soft cap": (lambda: Hf(cap=30.0), hf(), False, 0, 1, 0),
    "qk norm": (lambda: Hf(norms=True), hf(), False, 0, 1, 0),
    "alibi": (lambda: Hf(alibi=True), hf(), False, 0, 1, 0),
    "gpt-j": (GptJ, rows(half_angles, half_angles), False, 0, 1, 0),
    "gpt-neox": (GptNeoX, rows(half_angles, half_angles), False, 0, 1, 0),
    "meta": (Meta, rows(lambda: torch.polar(torch.ones(TOKENS, SIZE // 2), half_angles()), half_angles), False, 1, 1, 0),
    "cross": (Cross, rows(lambda: torch.randn(2, 12, WIDTH)), False, 0, 1, 0),
    "experts": (Experts, rows(), False, 0, 1, 0),
    "experts gathered": (lambda: Experts(gathered=True), rows(), False, 0, 1, 0),
    "index_copy_": (lambda: Cached("index_copy_"), rows(kept, kept, torch.tensor([7]), tokens=1), False, 2, 1, 2),
    "index_copy_ of several": (lambda: Cached("index_copy_"), rows(kept, kept, torch.tensor([7, 8, 9]), tokens=3), False, 4, 2, 0),
    "a tensor's row": (lambda: Cached("a tensor's row"), rows(kept, kept, torch.tensor([7]), tokens=1), False, 1, 1, 2),
    "a slice": (lambda: Cached("a slice"), rows(kept, kept, torch.tensor([7]), tokens=3), False, 0, 1, 2),
    "cat": (lambda: Cached("cat"), rows(kept, kept, torch.tensor([7]), tokens=1), False, 0, 1, 0),
    "rows of sequences": (lambda: Cached("rows of sequences"), rows(kept, kept, torch.tensor([[3], [7]]), tokens=1), False, 4, 2, 0),  # left: a row of each sequence, its copies
    "tied": (Tied, words, False, 1, 1, 0),
    "t5": (Biased, rows(), False, 0, 1, 0),
    "padded": (Padded, rows(torch.arange(TOKENS)[None] < torch.tensor([[TOKENS], [5]])), False, 0, 1, 0),
    "nanogpt": (NanoGpt, rows(), False, 0, 1, 0),
    "modulated": (Modulated, rows(lambda: torch.randn(2, WIDTH), lambda: torch.randn(2, WIDTH)), False, 0, 1, 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_taken(name):
    from zellige import torch_backend

    make, inputs, autocast, left, parts, written = MODELS[name]
    torch.manual_seed(4)
    model, x = make().eval().to(DEVICE), [i.to(DEVICE) for i in inputs()]
    given = [i.clone() for i in x]
    before = {k: b.clone() for k, b in model.named_buffers()}
    torch._dynamo.reset()
    torch_backend.reports.clear()
    exact = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)  # cuDNN convolves in tf32 by default
    with torch.no_grad(), exact, torch.autocast(DEVICE, torch.bfloat16, enabled=autocast):
        found = torch.compile(model, backend=torch_backend.backend)(*x)
        changed = {k: b.clone() for k, b in model.named_buffers()}
        model.load_state_dict(before, strict=False)
        expected = model(*given)
    assert found.dtype == expected.dtype
    # For float32 both round each stage to 24 bits, with at most some twenty stages in sequence; for bf16 to 8.
    bound = 2e-2 if autocast or found.dtype == torch.bfloat16 else 20 * 2**-24
    assert (found - expected).abs().max() <= bound * expected.abs().max()
    for mine, theirs in [*zip(x, given), *((changed[k], b) for k, b in model.named_buffers())]:
        assert (mine - theirs).abs().max() <= bound if mine.is_floating_point() else torch.equal(mine, theirs)
    assert all(not torch.equal(b, before[k]) for k, b in model.named_buffers() if isinstance(model, Decoder))
    (report,) = torch_backend.reports
    assert (report.operators - report.taken, len(report.parts)) == (left, parts), str(report)
    assert len([o for p in report.parts for o in p.outputs if o.memory is not None]) == written  # where they lie


@pytest.mark.skipif(DEVICE != "cpu", reason="kernels are counted for sm_80, which the CPU takes")
@pytest.mark.parametrize("name, max_kernels", [("hf", 10), ("hf bf16", 5), ("hf one token", 3), ("hf sdpa", 10), ("gpt-j", 6), ("soft cap", 10)])
def test_what_is_written_out_costs_no_kernels(name, max_kernels):
    """Repeated keys, rotated halves, masks, soft caps and casts are fused into the kernels of their matmuls and of attention."""
    from zellige import torch_backend

    make, inputs, *_ = MODELS[name]
    torch._dynamo.reset()
    torch_backend.reports.clear()
    with torch.no_grad():
        torch.compile(make().eval(), backend=torch_backend.backend)(*inputs())
    (part,) = torch_backend.reports[0].parts
    assert len(part.manifest["kernels"]) <= max_kernels
