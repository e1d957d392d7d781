"""torch.compile on blocks as people write them: what is taken, what is left, and how far results lie from eager's."""

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
nn, F = torch.nn, torch.nn.functional


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


# (model, its inputs, autocast, how many operators are left, parts)
MODELS = {
    "vit": (Vit, lambda: (torch.randn(2, 3, 16, 16),), False, 1, 1),
    "vit autocast": (Vit, lambda: (torch.randn(2, 3, 16, 16),), True, 1, 2),
    "gpt": (Gpt, lambda: (torch.randint(0, 50, (2, 8)),), False, 3, 1),
    "gpt autocast": (Gpt, lambda: (torch.randint(0, 50, (2, 8)),), True, 3, 1),
    "decoder": (Decoder, lambda: (torch.randn(2, 1, 32), torch.tensor([5]), mask(6)), False, 8, 1),  # on numbers of rows and on bool
    "decoder at its end": (Decoder, lambda: (torch.randn(2, 1, 32), torch.tensor([-1]), mask(16)), False, 8, 1),  # on numbers of rows and on bool
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_taken(name):
    from zellige import torch_backend

    make, inputs, autocast, left, parts = MODELS[name]
    torch.manual_seed(4)
    model, x = make().eval(), inputs()
    before = {k: b.clone() for k, b in model.named_buffers()}
    torch._dynamo.reset()
    torch_backend.reports.clear()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        found = torch.compile(model, backend=torch_backend.backend)(*x)
        changed = {k: b.clone() for k, b in model.named_buffers()}
        model.load_state_dict(before, strict=False)
        expected = model(*x)
    assert found.dtype == expected.dtype
    assert (found - expected).abs().max() <= (2e-2 if autocast else 1e-6) * expected.abs().max()
    for k, b in model.named_buffers():
        assert (changed[k] - b).abs().max() <= 1e-6 and not torch.equal(b, before[k])
    (report,) = torch_backend.reports
    assert (report.operators - report.taken, len(report.parts)) == (left, parts), str(report)
    written = [o for p in report.parts for o in p.outputs if o.memory is not None]
    assert len(written) == len(before)  # each cache where it lies
