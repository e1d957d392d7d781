"""The convolutions converted to channels-last on a GPU, by measurements of a fake one, and the resulting graph."""

import types

import pytest

torch = pytest.importorskip("torch")
from torch._prims_common import suggest_memory_format  # noqa: E402
from torch._subclasses import FakeTensorMode, fake_tensor  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from rewriting import rewrite  # noqa: E402
from zellige.torch.import_ import schema  # noqa: E402
from zellige.torch.measure import clock, convolution_kernels, estimates  # noqa: E402
from zellige.torch.rewrites import channels_last  # noqa: E402

aten = torch.ops.aten
LAST = torch.channels_last
conv2d = torch.nn.functional.conv2d


def is_last(v) -> bool:
    return v.is_contiguous(memory_format=LAST) and suggest_memory_format(v) == LAST


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """Convolutions give the layout of what they read, and nothing is measured; the calls that ask."""
    asked = []

    def made(node, otherwise):
        asked.append(node.name)
        values = [a.meta["val"] for a in node.args[:2]]
        return convolution_kernels.in_channels_last(node.meta["val"].shape) if any(map(is_last, values)) else node.meta["val"].contiguous().stride()

    monkeypatch.setattr(convolution_kernels, "made", made)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return asked


@pytest.fixture
def times(monkeypatch):
    """By whether its input is in channels-last and its channels: the time of a convolution; 10 us of those that are not named."""
    found = {}

    def gpu_time(call, values, launches):
        key = is_last(values[0]), values[0].shape[1]
        found.setdefault("calls", []).append(key)
        return found.get(key, 10.0)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(fake_tensor, "init_gpu_context", lambda device: None)  # it would look for a driver
    monkeypatch.setattr(clock, "gpu_time", gpu_time)
    monkeypatch.setattr(convolution_kernels, "_US", {})
    return found


def traced(function, *shapes):
    with FakeTensorMode(), torch.no_grad():
        graph = make_fx(function, tracing_mode="fake")(*[torch.empty(s, device="cuda") for s in shapes]).graph
    schema.bind(graph)
    return graph


def laid(graph, captured=False):
    saved = rewrite(graph, "convolution in channels-last", captured=captured).saved
    graph.lint()
    return saved, {n.name: is_last(n.meta["val"]) for n in graph.find_nodes(op="call_function", target=aten.convolution.default)}


def copies(graph) -> list:
    return [(n.args[0].name, n.kwargs["memory_format"]) for n in graph.find_nodes(op="call_function", target=aten.clone.default)]


def block(x, w, v, u):
    """A dense block."""
    y = torch.relu(conv2d(x, w, padding=1))
    z = torch.cat([y, conv2d(y, v, padding=1)], 1)
    return conv2d(torch.relu(z) * 2, u, stride=4, padding=1), y.amax((2, 3))


SHAPES = (2, 3, 64, 64), (64, 3, 3, 3), (32, 64, 3, 3), (64, 96, 3, 3)


def test_a_region_is_in_channels_last_where_the_estimate_says_so():
    """Also for concatenations and a first convolution of three channels; the graph's outputs keep their strides."""
    graph = traced(block, *SHAPES)
    saved, found = laid(graph)
    assert found == {"convolution": True, "convolution_1": True, "convolution_2": True}
    assert copies(graph) == [*((f"{x}_1", LAST) for x in "xwvu"), ("convolution_2", torch.contiguous_format)]
    assert saved.gpu > 0 and saved.host == -5 * estimates.TRANSPOSED.host
    assert all(n.meta["val"].is_contiguous() for n in next(iter(graph.find_nodes(op="output"))).all_input_nodes)
    assert is_last(next(n for n in graph.nodes if n.target is aten.cat.default).meta["val"])


def test_what_is_measured_decides(times):
    times.update({(True, 3): 5.0, (True, 64): 1.0, (True, 96): 1.0})
    saved, found = laid(traced(block, *SHAPES))
    weights = sum(channels_last.WEIGHT.kernel + 8 * n / channels_last.WEIGHT.bytes for n in (64 * 27, 32 * 64 * 9, 64 * 96 * 9))
    tensors = sum(estimates.TRANSPOSED.kernel + 8 * n / estimates.TRANSPOSED.bytes for n in (2 * 3 * 4096, 2 * 64 * 256))
    assert all(found.values()) and saved.gpu == pytest.approx(30 - 7 - weights - tensors)


def test_what_loses_is_left_as_it_is(times):
    times.update({(True, 64): 12.0})
    graph = traced(block, *SHAPES)
    saved, found = laid(graph)
    assert not any(found.values()) and copies(graph) == [] and saved == estimates.Cost()
    assert len(times["calls"]) == 6


def test_a_convolution_that_loses_more_than_copies_is_left(times):
    times.update({(False, 3): 90.0, (True, 64): 500.0, (False, 96): 90.0})
    graph = traced(block, *SHAPES)
    _, found = laid(graph)
    assert found == {"convolution": True, "convolution_1": False, "convolution_2": True}
    assert ("relu", torch.contiguous_format) in copies(graph) and ("arg2_1", LAST) not in copies(graph)


def test_a_gain_that_copies_of_many_weights_cost_the_host_more_is_left(times):
    """If it is a small fraction of the graph's time, and calls are not replayed from a CUDA graph."""

    def function(x, *weights):
        for w in weights:
            x = torch.relu(conv2d(x, w, padding=1))
        return x.sum()

    shapes = [(1, 64, 8, 8), *[(64, 64, 3, 3)] * 8]
    times.update({(False, 64): 300.0, (True, 64): 296.0})
    assert not any(laid(traced(function, *shapes))[1].values())
    assert all(laid(traced(function, *shapes), captured=True)[1].values())
    times.update({(True, 64): 200.0})
    convolution_kernels._US.clear()
    assert all(laid(traced(function, *shapes))[1].values())


def test_each_shape_is_measured_once_and_no_longer_than_is_allowed(times, monkeypatch):
    def function(x, *weights):
        for w in weights:
            x = conv2d(x, w, padding=1)
        return x

    shapes = [(1, 16, 8, 8), *[(16, 16, 3, 3)] * 5]
    laid(traced(function, *shapes))
    laid(traced(function, *shapes))
    assert sorted(times["calls"]) == [(False, 16), (True, 16)]
    monkeypatch.setattr(channels_last, "SECONDS", 0.0)
    laid(traced(function, (1, 8, 8, 8), (8, 8, 3, 3)))
    assert len(times["calls"]) == 2


def test_a_convolution_that_is_measured_in_one_layout_alone_is_estimated(times, monkeypatch):
    clock = iter([0.0, 9.0])
    graph = traced(lambda x, w: conv2d(x, w), (1, 16, 8, 8), (16, 16, 3, 3))
    node = next(iter(graph.find_nodes(op="call_function", target=aten.convolution.default)))
    monkeypatch.setattr(convolution_kernels, "time", types.SimpleNamespace(monotonic=clock.__next__))
    before, after = convolution_kernels.us(node, 1.0)
    assert times["calls"] == [(False, 16)] and after < before < 10.0


def test_regions_are_decided_by_themselves(times):
    def function(x, w, y, v):
        return torch.relu(conv2d(x, w, padding=1)).sum(), torch.relu(conv2d(y, v, padding=1)).sum()

    times.update({(False, 32): 200.0, (True, 16): 30.0})
    assert laid(traced(function, (1, 16, 16, 16), (16, 16, 3, 3), (1, 32, 16, 16), (32, 32, 3, 3)))[1] == {"convolution": False, "convolution_1": True}


def test_pieces_of_a_tensor_are_views_at_the_border(times):
    """Torch's kernels copy what is not dense, as the graph would."""

    def function(x, w, v):
        a, b = x.to(memory_format=LAST).split([16, 48], 1)
        return conv2d(a, w, padding=1).sum(), conv2d(b, v, padding=1).sum()

    times.update({(False, 16): 50.0})
    graph = traced(function, (2, 64, 16, 16), (16, 16, 1, 1), (48, 48, 1, 1))
    assert sorted(len(r.convolutions) for r in channels_last._regions(graph) if r.convolutions) == [1, 1]
    saved, _ = laid(graph)
    piece = estimates.SIMPLE.kernel + 2 * 4 * 2 * 16 * 256 / estimates.SIMPLE.bytes
    assert saved.gpu == pytest.approx(40 - piece) and copies(graph) == [("getitem", LAST)]


def test_weights_are_copied_by_programs(times):
    """Which take a third of the time of torch's kernel for a large one."""

    def function(x, w):
        return torch.relu(conv2d(x, w, padding=1)).sum()

    times.update({(False, 512): 50.0, (True, 512): 30.0})
    saved, found = laid(traced(function, (1, 512, 7, 7), (512, 512, 3, 3)))
    assert all(found.values()) and 0 < saved.gpu < 20 < channels_last._copy(torch.empty(512, 512, 3, 3, device="meta")).gpu


def test_transposed_convolutions_are_converted_too(times):
    """torch would copy their weights at every call."""

    def function(x, w, v):
        return torch.nn.functional.conv_transpose2d(torch.relu(conv2d(x, w, padding=1)), v, stride=2).sum()

    times.update({(True, 16): 1.0, (True, 64): 1.0})
    graph = traced(function, (1, 16, 16, 16), (64, 16, 3, 3), (64, 8, 2, 2))
    assert all(laid(graph)[1].values()) and ("v_1", LAST) in copies(graph)


def test_inputs_of_one_element_have_strides_of_channels_last(times):
    """torch would take a contiguous (N, C, 1, 1) for NCHW. What no program makes is viewed, not copied."""

    def function(x, w, v):
        y = torch.relu(conv2d(x, w, padding=1))
        return (y * torch.sigmoid(conv2d(y.mean((2, 3), keepdim=True), v))).sum()

    times.update({(True, 16): 1.0, (True, 64): 1.0})
    graph = traced(function, (2, 16, 16, 16), (64, 16, 3, 3), (64, 64, 1, 1))
    laid(graph)
    copy = graph.find_nodes(op="call_function", target=aten.convolution.default)[1].args[0]
    assert copy.target is aten.clone.default and copy.meta["val"].stride() == (64, 1, 64, 64)
    channels_last.declare(graph)
    assert copy.target is aten.as_strided.default and copy.target(torch.ones(2, 64, 1, 1), *copy.args[1:]).stride() == (64, 1, 64, 64)
    assert ("x_1", LAST) in copies(graph)  # others stay


def test_operators_on_the_input_of_convolutions_read_the_same_copy(times):
    """If another operand does not have four dimensions in another layout."""

    def function(x, w, y):
        pooled = torch.nn.functional.max_pool2d(x, 2)
        scaled = torch.cat([torch.relu(conv2d(x, w, padding=1, stride=2)), pooled], 1) * 2
        return scaled.sum() + (x + y).sum()

    times.update({(True, 16): 1.0})
    graph = traced(function, (2, 16, 16, 16), (64, 16, 3, 3), (2, 16, 16, 16))
    laid(graph)
    assert copies(graph).count(("x_1", LAST)) == 1
    pool, cat = (next(n for n in graph.nodes if n.target is t) for t in (aten.max_pool2d_with_indices.default, aten.cat.default))
    assert pool.args[0].target is aten.clone.default and is_last(cat.meta["val"])
    assert any(n.target is aten.add.Tensor and n.args[0].op == "placeholder" for n in graph.nodes)


def test_weights_that_a_part_computes_cost_no_copy(times):
    def function(x, w):
        return conv2d(x, (w.view(64, -1) * 2).view(64, 64, 3, 3), padding=1).sum()

    times.update({(True, 64): 0.0})
    saved, found = laid(traced(function, (1, 64, 8, 8), (64, 64, 3, 3)))
    x = estimates.TRANSPOSED.kernel + 8 * 64 * 64 / estimates.TRANSPOSED.bytes
    assert all(found.values()) and saved.gpu == pytest.approx(10 - x) and saved.host == -estimates.TRANSPOSED.host


def test_pools_of_several_windows_are_in_nchw(times):
    def function(x, w, v):
        y = torch.relu(conv2d(x, w, padding=1))
        pools = [torch.nn.functional.adaptive_avg_pool2d(y, n) for n in (2, 3)]
        return conv2d(torch.cat([p.mean((2, 3), keepdim=True) * y for p in pools], 1), v).sum()

    times.update({(True, 16): 1.0, (True, 64): 1.0, (False, 16): 99.0})
    graph = traced(function, (1, 16, 16, 16), (32, 16, 3, 3), (16, 64, 3, 3))
    assert all(laid(graph)[1].values()) and copies(graph).count(("relu", torch.contiguous_format)) == 1
    assert all(n.args[0].meta["val"].is_contiguous() for n in graph.find_nodes(op="call_function", target=aten._adaptive_avg_pool2d.default))


def test_what_kernels_make_is_followed(monkeypatch, kernels):
    """If torch declares other strides: reshapes that are not views become copies. Outputs have the kernels' strides."""
    monkeypatch.setattr(convolution_kernels, "made", lambda node, otherwise: (4 * 64, 64, 1, 8))

    def function(x, w):
        y = conv2d(x, w)
        return torch.relu(y), y.view(1, 4, 64) * 2

    graph = traced(function, (1, 2, 8, 8), (4, 2, 1, 1))
    monkeypatch.setattr(channels_last, "_selected", lambda graph, captured: ([], estimates.Cost()))
    laid(graph)
    relu, product = next(iter(graph.find_nodes(op="output"))).all_input_nodes
    assert relu.meta["val"].stride() == (256, 64, 1, 8) and product.args[0].target is aten.reshape.default


def test_pools_of_what_lies_in_channels_last_by_itself_are_in_nchw():
    """Their results lie in channels-last where the graph gives them."""
    graph = traced(lambda x: torch.nn.functional.adaptive_avg_pool2d(torch.relu(x.to(memory_format=LAST)), 3), (2, 16, 9, 16))
    pool = next(n for n in graph.nodes if n.target is aten._adaptive_avg_pool2d.default)
    before = pool.meta["val"].stride()
    laid(graph)
    assert pool.args[0].meta["val"].is_contiguous() and pool.meta["val"].is_contiguous()
    result = next(iter(graph.find_nodes(op="output"))).all_input_nodes[0]
    assert before == (144, 1, 48, 16) == result.meta["val"].stride() and result.meta["val"].shape == (2, 16, 3, 3)


def test_biases_that_are_kernels_of_their_own():
    """cuDNN's; the kernel for depthwise convolutions in NCHW adds it itself."""
    if not torch.backends.cuda.is_built():
        pytest.skip("this torch knows no kernels of a GPU")

    def function(x, w, b, v, c):
        y = conv2d(x, w, b)
        return conv2d(y, v, c, groups=8), conv2d(y.to(memory_format=LAST), v, c, groups=8), conv2d(y, w, None)

    graph = traced(function, (1, 8, 16, 16), (8, 8, 3, 3), (8,), (8, 1, 3, 3), (8,))
    assert [convolution_kernels.adds_bias(n) for n in graph.find_nodes(op="call_function", target=aten.convolution.default)] == [True, False, True, False]


class Net(torch.nn.Module):
    """Dense blocks with biases, grouped, depthwise and transposed convolutions, pools, a squeezed gate, a head."""

    def __init__(self):
        super().__init__()
        conv = torch.nn.Conv2d
        self.first, self.dense, self.deep = conv(3, 8, 3, 2, 1), conv(8, 4, 3, padding=1), conv(12, 12, 3, padding=1, groups=12)
        self.grouped, self.norm, self.head = conv(12, 8, 3, padding=1, groups=2, bias=False), torch.nn.BatchNorm2d(12), torch.nn.Linear(8, 5)
        self.pooled, self.gate, self.wide = conv(8, 8, 1), conv(12, 12, 1), torch.nn.ConvTranspose2d(8, 6, 3, 2, 1, bias=False)

    def forward(self, x):
        y = torch.relu(self.first(x))
        y = torch.relu(self.norm(torch.cat([y, torch.nn.functional.silu(self.dense(y))], 1)))
        y = torch.nn.functional.max_pool2d(y, 3, 1, 1)
        y = self.deep(y) + y
        y = self.grouped(y * torch.sigmoid(self.gate(y.mean((2, 3), keepdim=True))))
        pools = [torch.relu(self.pooled(torch.nn.functional.adaptive_avg_pool2d(y, n))) for n in (2, 3)]
        return self.head(y.mean((2, 3))), *pools, self.wide(torch.sigmoid(y) * 2) + 1, torch.sigmoid(y) * 2, y.flatten(1) + 1


@pytest.mark.parametrize("separate", [False, True])
def test_a_network_in_channels_last_computes_the_same(monkeypatch, separate):
    """On the CPU, as if that were a GPU: its convolutions keep that layout, too."""
    from zellige import torch_backend

    monkeypatch.undo()
    monkeypatch.setattr(convolution_kernels, "DEVICE", "cpu")
    monkeypatch.setattr(convolution_kernels, "adds_bias", lambda node: separate)
    laid_out, lay = [], channels_last._lay

    def kept(graph, selected):
        lay(graph, selected)
        laid_out.extend(is_last(n.meta["val"]) for n in selected)

    monkeypatch.setattr(channels_last, "_lay", kept)
    monkeypatch.setattr(convolution_kernels, "us", lambda node, deadline: (1e3, 0.0))
    monkeypatch.setattr(estimates, "own_convolution", lambda node: 1e4)  # these are left to torch
    torch._dynamo.reset()
    torch.manual_seed(3)
    net, x = Net().eval(), torch.randn(2, 3, 24, 24)
    with torch.no_grad():
        found, expected = torch.compile(net, backend=torch_backend.backend)(x), net(x)
    assert len(laid_out) == 8 and all(laid_out)
    for f, e in zip(found, expected, strict=True):
        torch.testing.assert_close(f, e, rtol=1e-3, atol=1e-3)
        assert f.stride() == e.stride()
    report = torch_backend.reports[-1]
    assert report.faults == [] and report.kept and len(report.parts) >= 4
