"""torch.compile(backend="zellige"), on the CPU through the emulator, at small sizes."""

import math

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
nn, F = torch.nn, torch.nn.functional


@pytest.fixture
def compiled():
    """Runs a model eagerly and compiled: (the greatest difference, the reports on its graphs)."""
    from zellige import torch_backend

    def run(model, *inputs, times=1):
        torch._dynamo.reset()
        torch_backend.reports.clear()
        fast = torch.compile(model, backend=torch_backend.backend)
        with torch.no_grad():
            for _ in range(times):
                found, expected = fast(*inputs), model(*inputs)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        return (found - expected).abs().max().item(), torch_backend.reports

    return run


class Mlp(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Llama(nn.Module):
    """A layer: RMSNorm, grouped heads with rotary embedding, SwiGLU."""

    def __init__(self, dim=32, heads=4, kv=2):
        super().__init__()
        self.heads, self.kv, self.size = heads, kv, dim // heads
        self.qkv = nn.Linear(dim, (heads + 2 * kv) * self.size, bias=False)
        self.out, self.gate, self.up = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.down = nn.Linear(dim, dim, bias=False)
        self.first, self.second = nn.RMSNorm(dim, eps=1e-5), nn.RMSNorm(dim, eps=1e-5)

    @staticmethod
    def rotated(x, cos, sin):
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    def forward(self, x, cos, sin):
        b, t, d = x.shape
        qkv = self.qkv(self.first(x)).view(b, t, -1, self.size).transpose(1, 2)
        q, k, v = qkv.split([self.heads, self.kv, self.kv], 1)
        q, k = self.rotated(q, cos, sin), self.rotated(k, cos, sin)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        h = self.second(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def llama(dtype):
    torch.manual_seed(0)
    angles = torch.rand(8, 8) * 6
    return Llama().to(dtype).eval(), [torch.randn(2, 8, 32).to(dtype), angles.cos().to(dtype), angles.sin().to(dtype)]


@pytest.mark.parametrize("dtype, bound", [(torch.float32, 2e-6), (torch.bfloat16, 4e-2)])
def test_a_layer_is_taken_whole(compiled, dtype, bound):
    model, inputs = llama(dtype)
    error, reports = compiled(model, *inputs)
    assert error <= bound
    assert len(reports) == 1 and len(reports[0].parts) == 1
    assert reports[0].taken == reports[0].operators > 30 and not reports[0].left, str(reports[0])
    weights = [i for i in reports[0].parts[0].inputs if i.constant]
    assert len(weights) == len(list(model.parameters()))


class Gpt(nn.Module):
    """Embeddings of tokens and places, attention under a mask of bool, GELU by tanh, logits by the tied weight."""

    def __init__(self, words=50, dim=32, heads=4, length=8):
        super().__init__()
        self.heads = heads
        self.tokens, self.places = nn.Embedding(words, dim), nn.Embedding(length, dim)
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, tokens, places, mask):
        x = self.tokens(tokens) + self.places(places)
        b, t, d = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        x = x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))
        return F.log_softmax(self.norms[2](x) @ self.tokens.weight.T, -1)


def test_a_gpt_with_its_embeddings(compiled):
    torch.manual_seed(1)
    tokens = torch.randint(0, 50, (2, 8))
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    model = Gpt().eval()
    error, reports = compiled(model, tokens, torch.arange(8), mask)
    with torch.no_grad():
        largest = model(tokens, torch.arange(8), mask).abs().max()
    # Two evaluations, each of which rounds twelve stages to 24 bits: three norms, seven products, the softmax and its logarithm.
    assert error <= 2 * 12 * 2**-24 * largest
    assert len(reports[0].parts) == 1 and reports[0].operators - reports[0].taken <= 8, str(reports[0])
    assert not any("embedding" in name or "attention" in name for name in reports[0].left), str(reports[0])


@pytest.mark.parametrize("shape", [(8, 8), (2, 1, 8, 8), (2, 4, 8, 8)])
def test_grouped_heads_under_a_mask(compiled, shape):
    def attend(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True) * 2

    torch.manual_seed(2)
    q, k, v = torch.randn(2, 4, 8, 16), torch.randn(2, 2, 8, 16), torch.randn(2, 2, 8, 16)
    mask = torch.where(torch.rand(shape) < 0.3, -torch.inf, torch.randn(shape))
    error, reports = compiled(attend, q, k, v, mask)
    assert error <= 4e-6 and reports[0].taken == reports[0].operators


@pytest.mark.parametrize("queries, shape", [(1, None), (3, None), (1, (1, 8)), (1, (2, 1, 1, 8)), (1, (2, 4, 1, 8))])
def test_a_groups_queries_are_rows_of_one_product(compiled, queries, shape):
    def attend(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)

    torch.manual_seed(7)
    q, k, v = torch.randn(2, 4, queries, 16), torch.randn(2, 2, 8, 16), torch.randn(2, 2, 8, 16)
    mask = None if shape is None else torch.where(torch.rand(shape) < 0.3, -torch.inf, torch.randn(shape))
    error, reports = compiled(attend, q, k, v, mask)
    assert error <= 2e-6 and reports[0].taken == reports[0].operators


def test_a_second_call_uses_the_same_program(compiled):
    error, reports = compiled(Mlp().eval(), torch.randn(4, 32), times=2)
    assert error <= 2e-6 and len(reports) == 1
    assert str(reports[0]).startswith("8 of 8 operators in 1 part(s)\n  part fused_0: ")


def test_what_is_not_known_is_left_to_torch(compiled):
    class Cut(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)

        def forward(self, x):
            h = torch.cumprod(F.silu(self.a(x)), -1)
            return torch.softmax(self.b(h), -1)

    error, reports = compiled(Cut().eval(), torch.randn(4, 16))
    assert error <= 2e-6
    assert len(reports[0].parts) == 2 and reports[0].taken == reports[0].operators - 1
    assert list(reports[0].left) == ["aten.cumprod.default"] and reports[0].left["aten.cumprod.default"].startswith("is not known (")


def test_a_cache_is_updated(compiled):
    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(4, 8))

        def forward(self, x):
            self.cache[1:3] = torch.tanh(x)
            return self.cache * 2

    model, x = Cached().eval(), torch.randn(2, 8)
    error, reports = compiled(model, x)
    assert error <= 2e-6 and torch.equal(model.cache[1:3], torch.tanh(x))
    assert len(reports[0].parts) == 1 and reports[0].taken == reports[0].operators and not reports[0].left
    part = reports[0].parts[0]
    assert [part.inputs[o.memory].shape for o in part.outputs if o.memory is not None] == [(4, 8)]  # where it lies, not copied


@pytest.mark.parametrize("first", [0, 1])  # the second is no multiple of 16 bytes, and copied back
@pytest.mark.parametrize("cumulative", [False, True])  # the second's part may not change what torch's own operator still reads
def test_a_cache_is_updated_where_it_lies(first, cumulative):
    from zellige import torch_backend

    def update(cache, x):
        old = torch.cumprod(cache, 0) if cumulative else cache * 3
        cache[1:3] = torch.tanh(x)
        return old + cache

    cache, x = torch.randn(33)[first : first + 32].view(4, 8), torch.randn(2, 8)
    changed = cache.clone()
    torch._dynamo.reset()
    with torch.no_grad():
        expected, found = update(changed, x), torch.compile(update, backend=torch_backend.backend)(cache, x)
    assert (cache - changed).abs().max() <= 2e-6 and (found - expected).abs().max() <= 2e-6


def test_views_between_products_and_what_follows_cost_no_kernel(compiled):
    """Three dimensions, a product of two: the residual joins the product's kernel, and so does the rotation of halves."""
    layer = nn.Linear(32, 32, bias=False)
    error, reports = compiled(lambda x: x + F.silu(layer(x)), torch.randn(2, 4, 32))
    assert error <= 2e-6 and len(reports[0].parts[0].manifest["kernels"]) == 1
    cos, sin = torch.randn(4, 16), torch.randn(4, 16)
    error, reports = compiled(lambda x: Llama.rotated(x, cos, sin), torch.randn(2, 3, 4, 16))
    assert error <= 2e-6 and len(reports[0].parts[0].manifest["kernels"]) == 1


@pytest.mark.parametrize("rotates", [True, False])
def test_a_rotation_of_halves_is_one_operator(compiled, rotates):
    def rotated(x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * (sin if rotates else cos)), -1)

    torch.manual_seed(6)
    error, reports = compiled(rotated, torch.randn(2, 3, 4, 16), torch.randn(4, 8), torch.randn(4, 8))
    (part,) = reports[0].parts
    assert error <= 2e-6 and (len(part.manifest["kernels"]) == 1) == rotates


def test_inputs_that_lie_otherwise_are_copied(compiled):
    x = torch.randn(33 * 32 + 1)[1:].view(33, 32)[:4]
    assert x.data_ptr() % 16 != 0
    error, reports = compiled(Mlp().eval(), x)
    assert error <= 2e-6 and len(reports[0].parts) == 1


def test_our_own_operators_keep_torchs_rules():
    """Operators left by a part run as these, with fake tensors before."""
    from zellige import torch_backend  # noqa: F401

    x, y, where = torch.randn(2, 4, 8, 16), torch.randn(2, 4, 8, 16), (torch.randn(2, 1, 8, 16) > 0).float()
    own = torch.ops.zellige
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(own.attention.default, (x, x, y, torch.randn(8, 8), False, None, False), test_utils=checks)
    torch.library.opcheck(own.choose.default, (where, x, y), test_utils=checks)
    torch.library.opcheck(own.fill.default, (where, x, -torch.inf), test_utils=checks)
    assert torch.equal(own.choose(where, x, y), torch.where(where != 0, x, y))
    assert torch.equal(own.fill(where, x, 3.0), x.masked_fill(where != 0, 3.0))


def test_graphs_that_need_gradients_are_left():
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    model, x = Mlp(), torch.randn(4, 32)
    torch.compile(model, backend=torch_backend.backend)(x).sum().backward()
    assert model.up.weight.grad is not None
    assert str(torch_backend.reports[0]).endswith(
        "left: the graph: needs gradients; run it under torch.no_grad() or torch.inference_mode()"
    )


def test_the_example_runs_at_small_size():
    import pathlib
    import subprocess
    import sys

    example = pathlib.Path(__file__).parents[2] / "examples/python/llama.py"
    size = "--on cpu --no-inductor --dim 32 --layers 2 --keys 16 --calls 1".split()
    done = subprocess.run([sys.executable, example, *size], capture_output=True, text=True, check=True).stdout
    assert "tokens/s" in done and " in 1 part(s)" in done
    assert float(done.split("differs from eager by ")[1].split()[0]) < 2e-2


def _two_parts(x):
    """A determinant is torch's, and lies between."""
    return torch.exp(x * torch.linalg.det(torch.sigmoid(x)))


def test_seconds_are_told_by_phase(compiled):
    difference, (report,) = compiled(_two_parts, torch.randn(16, 16))
    assert difference < 1e-4 and len(report.parts) == 2
    assert list(report.seconds) == ["tracing", "programs"] and all(s > 0 for s in report.seconds.values())
    assert str(report).endswith(f"seconds: tracing {report.seconds['tracing']:.1f}, programs {report.seconds['programs']:.1f}")


def test_parts_that_are_not_begun_in_time_are_left_to_torch():
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    x = torch.randn(16, 16)
    fast = torch.compile(_two_parts, backend=torch_backend.backend, options={"seconds": 1e-6})
    with torch.no_grad():
        assert torch.equal(fast(x), _two_parts(x))
    (report,) = torch_backend.reports
    assert report.taken == 0 and report.parts == []
    assert set(report.left.values()) >= {"not begun within 1e-06 seconds"}


def _row_steps(x):
    """A loop that is written out."""
    h = torch.zeros_like(x[0])
    for row in x:
        h = torch.tanh(row) * h + torch.sigmoid(row + h)
    return h


def test_of_a_part_that_is_planned_what_is_ready_in_time_is_taken(monkeypatch):
    from zellige import torch_backend
    from zellige.torch import compilation

    now = [0.0]

    def clock():
        """A second each time that somebody looks."""
        now[0] += 1
        return now[0]

    monkeypatch.setattr(compilation.time, "monotonic", clock)
    torch._dynamo.reset()
    torch_backend.reports.clear()
    x = torch.randn(6, 64)
    fast = torch.compile(_row_steps, backend=torch_backend.backend, options={"seconds": 40})
    with torch.no_grad():
        assert torch.allclose(fast(x), _row_steps(x), atol=1e-4)
    (report,) = torch_backend.reports
    assert report.taken > 0 and len(report.parts) == 1
    assert report.parts[0].notes[-1].startswith("the search was ended with ")
    assert f"  note: {report.parts[0].name}: the search was ended with " in str(report)


def test_an_interrupt_while_a_part_is_planned_reaches_the_caller(monkeypatch):
    from zellige import torch_backend
    from zellige.torch.partition import taking

    def interrupted(self, part, done, inside=""):
        if inside:
            raise KeyboardInterrupt

    monkeypatch.setattr(taking._Progress, "show", interrupted)
    torch._dynamo.reset()
    with pytest.raises(KeyboardInterrupt), torch.no_grad():
        torch.compile(_row_steps, backend=torch_backend.backend)(torch.randn(6, 64))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"second": 3}, "zellige: options: expected seconds, take, cudagraphs, cache, collectives or align_weights, found 'second'"),
        (
            {"collectives": "fast"},
            "zellige: options: collectives: expected one of cheapest, nccl, symmetric, one-shot, two-shots, fused, found 'fast'",
        ),
        ({"align_weights": 1}, "zellige: options: align_weights: expected True or False, found 1"),
        ({"take": "some"}, "zellige: options: take: expected 'cheaper' or 'all', found 'some'"),
        ({"seconds": 0}, "zellige: options: seconds: expected a number above 0, found 0"),
        ({"seconds": "3"}, "zellige: options: seconds: expected a number above 0, found '3'"),
        ({"seconds": True}, "zellige: options: seconds: expected a number above 0, found True"),
    ],
)
def test_options_that_are_wrong(options, message):
    from zellige import torch_backend

    with pytest.raises(ValueError) as found:
        torch_backend.backend(None, [], options=options)
    assert str(found.value) == message


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(2, 6, 5, 7), (3, 8), (2, 4, 9)])
@pytest.mark.parametrize("affine", [True, False])
def test_a_batch_norm_by_given_statistics_is_taken(dtype, shape, affine):
    from zellige import torch_backend

    torch.manual_seed(1)
    channels = shape[1]
    norm = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d}[len(shape)](channels, affine=affine)
    norm.running_mean.normal_(), norm.running_var.uniform_(0.5, 2)
    if affine:
        norm.weight.data.normal_(), norm.bias.data.normal_()
    norm = norm.eval().to(dtype)
    x = torch.randn(shape).to(dtype)
    function = lambda t: torch.relu(norm(t)) * 2  # noqa: E731
    torch._dynamo.reset()
    with torch.no_grad():
        found = torch.compile(function, backend=torch_backend.backend)(x)
        expected = torch.relu(norm.double()(x.double())) * 2
    report = torch_backend.reports[-1]
    assert report.taken == report.operators and len(report.parts) == 1, report
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(found.double(), expected, rtol=8 * eps, atol=16 * eps)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.logsumexp(x.float(), -1),
        lambda x: torch.logsumexp(x, 0, keepdim=True),
        lambda x: torch.logsumexp(x * 2, 1) + 1,
        lambda x: torch.var(x, -1),
        lambda x: torch.var(x.float(), 1, keepdim=True),
        lambda x: torch.var(x, (0, 1), correction=0),
        lambda x: torch.std(x * 3, -1, correction=2),
        lambda x: torch.var(x),
    ],
)
def test_sums_of_exponentials_and_variances_are_taken_whole(function, dtype):
    from zellige import torch_backend

    torch.manual_seed(1)
    x = torch.randn(6, 40).to(dtype)
    torch._dynamo.reset()
    with torch.no_grad():
        found = torch.compile(function, backend=torch_backend.backend)(x)
        expected = function(x.double())
    report = torch_backend.reports[-1]
    assert report.taken == report.operators and len(report.parts) == 1, report
    torch.testing.assert_close(found.double(), expected.double(), rtol=8 * torch.finfo(dtype).eps, atol=1e-5 if dtype == torch.float32 else 4e-3)


def test_sums_of_exponentials_of_infinities_are_torchs():
    from zellige import torch_backend

    x = torch.tensor([[-math.inf, -math.inf], [math.inf, 0.0], [-math.inf, 1.0], [math.inf, -math.inf]])
    torch._dynamo.reset()
    with torch.no_grad():
        found = torch.compile(lambda x: torch.logsumexp(x, 1), backend=torch_backend.backend)(x)
    torch.testing.assert_close(found, torch.logsumexp(x, 1))
