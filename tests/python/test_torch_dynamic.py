"""Sizes that differ from call to call: one compilation for all of them, and right results at each."""

import random

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

CALLS = 10


@pytest.fixture
def backend():
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    return torch_backend


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.gate, self.up, self.down = nn.RMSNorm(32), nn.Linear(32, 64), nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(self, x):
        h = self.norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Attention(nn.Module):
    """Attention of a layer: by torch's operator, causal or not, or written out with a mask of its length."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.norm, self.qkv, self.out = kind, nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        b, t, d = x.size()
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, 4, d // 4).permute(2, 0, 3, 1, 4)
        if self.kind == "written out":
            hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
            made = (q @ k.transpose(-1, -2) * 8**-0.5).masked_fill(hidden, -1e9).softmax(-1) @ v
        else:
            made = F.scaled_dot_product_attention(q, k, v, is_causal=self.kind == "causal")
        return x + self.out(made.transpose(1, 2).reshape(b, t, -1))


class Cache(nn.Module):
    """T queries on P keys of a cache that grows, and T new ones."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(32, 32)

    def forward(self, x, keys, values):
        b, t, _ = x.shape
        p = keys.shape[2]
        q = self.q(x).view(b, t, 4, 8).transpose(1, 2)
        keys, values = torch.cat([keys, q], 2), torch.cat([values, q], 2)
        mask = torch.arange(p + t)[None, :] <= torch.arange(t)[:, None] + p
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask).transpose(1, 2).reshape(b, t, 32), keys, values


class Grown(nn.Module):
    """Keys of a cache that begins without any."""

    def __init__(self):
        super().__init__()
        self.k = nn.Linear(32, 32)

    def forward(self, x, keys):
        k = self.k(x).view(*x.shape[:2], 4, 8).transpose(1, 2)
        return torch.cat([keys, k], 2)


class Block(nn.Module):
    """A step down and up again of a U-Net, whose pictures have any height and width that 2 divides."""

    def __init__(self):
        super().__init__()
        self.inner, self.down, self.norm = nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(8, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8)

    def forward(self, x):
        h = F.silu(self.norm(self.inner(x)))
        return h + F.interpolate(F.silu(self.norm(self.down(h))), scale_factor=2) * 0.5


def entropy(x, y):
    return -(torch.log_softmax(x, -1) * y).sum(-1), x.softmax(-2)


def draw(*shape):
    return torch.randn(shape)


def length(low=2, high=40):
    return random.randint(low, high)


def with_cache():
    b, t, p = length(2, 4), length(), length()
    return draw(b, t, 32), draw(b, 4, p, 8), draw(b, 4, p, 8)


def two_of(*shape):
    return draw(*shape), draw(*shape)


BLOCKS = {
    "gate": (Gate, lambda: (draw(length(2, 5), length(), 32),)),
    "attention": (lambda: Attention("whole"), lambda: (draw(length(2, 5), length(), 32),)),
    "causal attention": (lambda: Attention("causal"), lambda: (draw(length(2, 5), length(), 32),)),
    "attention written out": (lambda: Attention("written out"), lambda: (draw(length(2, 5), length(), 32),)),
    "cache": (Cache, with_cache),
    "entropy": (lambda: entropy, lambda: two_of(length(), length(2, 3) * 16)),
    "pictures": (Block, lambda: (draw(length(2, 3), 4, 2 * length(2, 10), 2 * length(2, 10)),)),
    "shifted rows": (lambda: lambda x: torch.relu(x[:, 1:] * 2 + x[:, :-1]) * x[:, 1:].tanh(), lambda: (draw(length(2, 5), length(3), 32),)),
}
# operators of each block that programs have for all sizes, at least
TAKEN = {"gate": 1.0, "attention": 1.0, "causal attention": 1.0, "attention written out": 1.0, "cache": 0.4, "entropy": 1.0, "pictures": 0.6, "shifted rows": 0.2}


def close(found, expected):
    for x, y in zip(*((made,) if isinstance(made, torch.Tensor) else made for made in (found, expected)), strict=True):
        assert x.shape == y.shape and x.stride() == y.stride()
        torch.testing.assert_close(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", BLOCKS)
def test_random_lengths_compile_once(backend, name):
    random.seed(7)
    make, inputs = BLOCKS[name]
    function = make()
    if isinstance(function, nn.Module):
        function.eval()
    compiled = torch.compile(function, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for _ in range(CALLS):
            given = inputs()
            close(compiled(*given), function(*given))
    (report,) = backend.reports
    assert report.taken >= TAKEN[name] * report.operators and report.parts and not report.specialised, str(report)
    assert all(p.sizes for p in report.parts) and report.sizes


def test_a_second_length_makes_sizes_open(backend):
    """Automatic dynamic shapes: once for the first call, once for all others, and once for rows of length 1."""
    layer = Gate().eval()
    compiled = torch.compile(layer, backend=backend.backend)
    with torch.no_grad():
        for rows in (9, 12, 3, 33, 2, 1, 40, 1):
            x = draw(2, rows, 32)
            close(compiled(x), layer(x))
    assert [bool(r.sizes) for r in backend.reports] == [False, True, False]


def test_mark_dynamic_gives_the_range(backend):
    layer = Gate().eval()
    compiled = torch.compile(layer, backend=backend.backend)
    with torch.no_grad():
        for rows in (9, 30, 4, 64):
            x = draw(3, rows, 32)
            torch._dynamo.mark_dynamic(x, 1, min=4, max=64)
            close(compiled(x), layer(x))
    (report,) = backend.reports
    assert [p.sizes[0].max for p in report.parts] == [64] and [p.sizes[0].min for p in report.parts] == [4], str(report)
    assert list(report.sizes.values()) == ["L['x'].size()[1], 4 to 64"]


def test_mark_dynamic_without_a_range(backend):
    compiled = torch.compile(lambda x: torch.relu(x) * 2, backend=backend.backend)
    with torch.no_grad():
        for rows in (5, 7, 300):
            x = draw(rows, 8)
            torch._dynamo.mark_dynamic(x, 0)
            close(compiled(x), torch.relu(x) * 2)
    assert len(backend.reports) == 1 and [p.sizes[0].max for p in backend.reports[0].parts] == [8192]


def test_longer_tensors_than_the_range_get_another_program(backend):
    compiled = torch.compile(lambda x: torch.relu(x) * 2, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for rows in (5, 8192, 8193, 20000):
            x = draw(rows, 4)
            close(compiled(x), torch.relu(x) * 2)
    assert [max(s.max for s in r.parts[0].sizes) for r in backend.reports] == [8192, 65536]


def test_a_size_is_an_input_of_the_graph(backend):
    """dynamo passes n as a SymInt; a view, a slice and a fill read it."""

    def function(x, n):
        y = torch.relu(x).view(n, -1, 8) * 2
        return torch.cat([y.sum(0), torch.full((n, 8), 0.5)]).tanh()

    compiled = torch.compile(function, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for n, m in ((3, 4), (5, 2), (2, 7), (6, 6)):
            x = draw(n * m, 8)
            close(compiled(x, n), function(x, n))
    (report,) = backend.reports
    assert report.parts, str(report)


def test_sizes_are_results(backend):
    compiled = torch.compile(lambda x: (torch.relu(x) + 1, x.shape[0] * 2 + 1), backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for rows in (5, 9, 21):
            y, n = compiled(draw(rows, 8))
            assert n == 2 * rows + 1 and y.shape == (rows, 8)
    assert len(backend.reports) == 1 and backend.reports[0].taken == 2


def test_results_are_marked_for_the_graph_that_reads_them(backend):
    """As by AOT, whose wrapper is not called: the dimensions with open sizes are dynamic after a graph break."""
    layer = Gate().eval()
    compiled = torch.compile(layer, backend=backend.backend)
    x = draw(3, 9, 32)
    torch._dynamo.mark_dynamic(x, 1)
    with torch.no_grad():
        assert compiled(x)._dynamo_weak_dynamic_indices == {1}


def test_what_differs_with_a_size_is_torchs(backend):
    """A scale by the length is a number that differs; the operators around it are programs for all."""

    def function(x):
        return (torch.relu(x) * x.shape[0] + 1).exp().sum(-1) / x.shape[1]

    compiled = torch.compile(function, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for rows, columns in ((5, 6), (9, 7), (3, 30)):
            x = draw(rows, columns) / 99
            close(compiled(x), function(x))
    (report,) = backend.reports
    assert report.parts and any("expected scalar to be the same for all sizes" in why for why in report.left.values()), str(report)


def test_guards_of_the_function_hold(backend):
    """The branches of a function have graphs of their own."""

    def function(x):
        return torch.tanh(x) * 2 if x.shape[0] > 10 else torch.relu(x) + 1

    compiled = torch.compile(function, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for rows in (5, 30, 7, 12, 10, 11):
            x = draw(rows, 8)
            close(compiled(x), function(x))
    ranges = [{what for what in r.sizes.values() if "size()[0]" in what} for r in backend.reports]
    assert ranges == [{"L['x'].size()[0], 2 to 10"}, {"L['x'].size()[0], 11 to 8192"}]


def test_a_multiple_holds(backend):
    """Rows that the function views in pairs are even."""
    function = lambda x: torch.relu(x.view(x.shape[0] // 2, 2, 8)).sum(1) * 2  # noqa: E731
    compiled = torch.compile(function, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for rows in (6, 10, 22, 4):
            x = draw(rows, 8)
            close(compiled(x), function(x))
    assert len(backend.reports) == 1


def test_a_cache_that_grows_from_nothing_compiles_twice(backend):
    """Its first keys lie as torch's do, so that the graph of the second call is for all others, too."""
    layer = Grown().eval()
    compiled = torch.compile(layer, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for prompt in (5, 9, 2):
            keys, expected = torch.tensor([]), torch.tensor([])
            for length in (prompt, 2, 3, 2):
                x = draw(2, length, 32)
                keys, expected = compiled(x, keys), layer(x, expected)
                close(keys, expected)
    assert len(backend.reports) == 2, "\n".join(map(str, backend.reports))


def test_keys_and_their_mask_grow_far(backend):
    """Keys and values have sizes of their own, and the mask is longer by one: none is taken for a batch, which is shorter."""

    class Decoder(Cache):
        def forward(self, x, keys, values, mask):
            q = self.q(x).view(1, 1, 4, 8).transpose(1, 2)
            keys, values = torch.cat([keys, q], 2), torch.cat([values, q], 2)
            return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask).reshape(1, 32) * 2, keys

    layer = Decoder().eval()
    compiled = torch.compile(layer, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for length in (20, 21, 300, 2000):
            given = draw(1, 1, 32), draw(1, 4, length, 8), draw(1, 4, length, 8), draw(1, 1, 1, length + 1)
            for cache in given[1:3]:
                torch._dynamo.maybe_mark_dynamic(cache, 2)
            close(compiled(*given), layer(*given))
    (report,) = backend.reports
    assert report.taken == report.operators, str(report)


def test_a_number_of_a_size_leaves_one_part(backend):
    """Positions after those of a cache: the sum with its length is torch's, and the operators before and after it are one program."""

    def function(x, keys):
        place = torch.arange(x.shape[0]) + keys.shape[0]
        return (x.tanh() * 2 + place.float()[:, None]).exp() @ keys.relu().T

    compiled = torch.compile(function, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for rows, length in ((5, 9), (3, 4), (2, 30)):
            given = draw(rows, 8) / 99, draw(length, 8)
            close(compiled(*given), function(*given))
    (report,) = backend.reports
    assert len(report.parts) == 1 and report.operators - report.taken <= 3, str(report)


def test_integers_along_an_open_size_are_exact(backend):
    """Rows beyond the end are 0 in a sum and the least integer in a maximum, in the integers' own type, not in float32."""

    def function(x):
        return x.sum(0), (x - 1).amax(0), (x == -1).any(0)

    compiled = torch.compile(function, backend=backend.backend, dynamic=True, options={"take": "all"})
    for rows in (5, 9):
        x = torch.full((rows, 6), (1 << 24) + 1, dtype=torch.int32)
        assert all(map(torch.equal, compiled(x), function(x)))
    (report,) = backend.reports
    assert report.taken == report.operators and not report.faults, str(report)


def test_parts_that_are_a_number_for_all_sizes(backend):
    """Of four symbols, which guards equate, the last part's extent is a number."""
    function = lambda x, sizes: torch.split(x, sizes)  # noqa: E731
    compiled = torch.compile(function, backend=backend.backend, dynamic=True, options={"take": "all"})
    for found, part in zip(compiled(draw(11, 4), [3, 4, 4]), function(draw(11, 4), [3, 4, 4]), strict=True):
        assert found.shape == part.shape


def test_fractions_of_a_layer_are_numbers_and_those_of_a_call_are_not(backend):
    """A graph for each epsilon, and one for all scales."""

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.epsilon = 1e-5

        def forward(self, x, scale):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * scale

    layer = Norm()
    compiled = torch.compile(layer, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for layer.epsilon, graphs in ((1e-5, 1), (0.5, 2)):
            for rows in (5, 9, 2):
                x = draw(rows, 8)
                close(compiled(x, rows / 4), layer(x, rows / 4))
            assert len(backend.reports) == graphs, "\n".join(map(str, backend.reports))
    assert all(r.taken >= 5 for r in backend.reports), str(backend.reports[0])


def test_a_part_that_knows_a_product_of_sizes_alone(backend):
    """Greatest elements so far are torch's; the part after them has an input of B * T rows, and nothing that is B or T."""
    function = lambda x: (x.reshape(-1, 8).cummax(-1).values.tanh() * 2 + 1).sum(-1)  # noqa: E731
    compiled = torch.compile(function, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for batch, rows in ((3, 5), (2, 9), (7, 4), (4, 30)):
            x = draw(batch, rows, 8)
            close(compiled(x), function(x))
    (report,) = backend.reports
    assert report.taken >= 4 and [[s.max for s in p.sizes] for p in report.parts] == [[256 * 8192]], str(report)


def test_constants_of_an_open_size_stay_open(backend):
    """As of T5's positions: a tensor of one number in the shape of another, which is spelled as one of the shape's numbers."""

    def function(x):
        place = torch.arange(x.shape[0])
        far = (place[None] - place[:, None]).abs()
        return torch.min(far, torch.full_like(far, 3)).float() @ x * 2 + 1

    compiled = torch.compile(function, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for rows in (5, 9, 30, 2):
            x = draw(rows, 8)
            close(compiled(x), function(x))
    (report,) = backend.reports
    assert report.parts and not report.specialised, str(report)


def test_packed_sequences_by_their_positions(backend):
    """As of transformers: positions begin again with each sequence. Keys are masked by bounds, of which no kernel of torch's is made."""

    def function(q, ids):
        number = (torch.diff(ids, prepend=ids[:, :1] - 1, dim=-1) != 1).cumsum(-1)
        at = torch.arange(q.shape[2])
        return F.scaled_dot_product_attention(q, q, q, (number[:, None, :, None] == number[:, None, None, :]) & (at[:, None] >= at))

    compiled = torch.compile(function, backend=backend.backend)
    with torch.no_grad():
        for batch, tokens in ((3, 11), (2, 20)):
            ids = torch.stack([torch.cat([torch.arange(n), torch.arange(tokens - n)]) for n in torch.randint(0, tokens, (batch,)).tolist()])
            q = draw(batch, 2, tokens, 8)
            for x, dims in ((ids, (0, 1)), (q, (0, 2))):
                torch._dynamo.maybe_mark_dynamic(x, dims)
            close(compiled(q, ids), function(q, ids))
    (report,) = backend.reports
    assert report.parts and not report.specialised and report.left.keys() <= {"aten.cumsum.default"}, str(report)


@pytest.mark.parametrize("value", [3, 40])
def test_weights_of_the_size_of_a_symbol(backend, value):
    """The first length is the layer's width, too, and must not be taken for it."""
    layer = nn.Sequential(nn.Linear(8, value), nn.ReLU(), nn.Linear(value, value)).eval()
    compiled = torch.compile(layer, backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for rows in (value, 5, 17):
            x = draw(rows, 8)
            close(compiled(x), layer(x))
    assert len(backend.reports) == 1 and backend.reports[0].taken == backend.reports[0].operators


def test_an_exported_program_with_dynamic_dimensions(backend, tmp_path):
    """Saved and loaded by torch.export: its ranges are those of the program."""
    layer, rows = Gate().eval(), torch.export.Dim("rows", min=2, max=64)
    file = tmp_path / "gate.pt2"
    torch.export.save(torch.export.export(layer, (draw(3, 5, 32),), dynamic_shapes={"x": {1: rows}}), file)
    compiled = torch.compile(torch.export.load(file).module(), backend=backend.backend, dynamic=True)
    with torch.no_grad():
        for n in (5, 7, 64, 2):
            x = draw(3, n, 32)
            close(compiled(x), layer(x))
    (report,) = backend.reports
    assert report.taken == report.operators and [s.max for p in report.parts for s in p.sizes if s.max == 64] == [64] * len(report.parts)


def test_near_sizes_at_which_torchs_kernels_are_faster_they_run(backend, monkeypatch):
    """By the times that were measured on a GPU, here made up: the program is slower at 2 rows, and faster at 64."""
    from zellige.torch.execute.open_part import OpenPart

    parts, plan = [], OpenPart.plan
    monkeypatch.setattr(OpenPart, "plan", lambda self, *given: parts.append(self) or plan(self, *given))
    compiled = torch.compile(lambda x: torch.relu(x) * 2, backend=backend.backend)
    x = draw(64, 8)
    torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
    with torch.no_grad():
        compiled(x)
        (part,), ran = parts, []
        part.measured = [((2,), (1.0, 2.0)), ((64,), (9.0, 4.0))]
        part._torchs, part._kept = lambda *given: ran.append(given[1]) or torch.relu(given[0]) * 2, type(part._kept)()
        for rows in (2, 3, 40, 64, 5, 2):
            y = draw(rows, 8)
            close(compiled(y), torch.relu(y) * 2)
    assert ran == [2, 3, 5, 2]
    assert part.branches() == f"torch's kernels run near {part.names[0]} = 2 (1.0 us, the program 2.0)"
