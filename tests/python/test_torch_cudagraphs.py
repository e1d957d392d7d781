"""Calls replayed from CUDA graphs, with a fake GPU: what is captured, what is copied, what is not captured and why."""

import threading
import types

import pytest

torch = pytest.importorskip("torch")
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch import execute  # noqa: E402
from zellige.torch.execute import capturable, cudagraphs  # noqa: E402
from zellige.torch.import_ import custom  # noqa: E402
from zellige.torch.measure import estimates  # noqa: E402


class MadeUp:
    """Captures by keeping the call: a replay runs it on the tensors of the capture, and copies what it makes into those of the first time."""

    captures, current, capturing, failing, memory = [], 7, False, False, 1 << 30

    def __init__(self, device):
        pass

    def is_capturing(self):
        return MadeUp.capturing

    def stream(self):
        return MadeUp.current

    def new_stream(self):
        return object()

    def reserved(self):
        return sum(x.nbytes for c in MadeUp.captures for x in c.inputs if isinstance(x, torch.Tensor))

    def room(self):
        return MadeUp.memory

    def run(self, call, inputs, stream):
        return call(*inputs)

    def capture(self, call, inputs, stream):
        if MadeUp.failing:
            raise RuntimeError("operation not permitted when stream is capturing\nand more")
        before = [(x, x.clone()) for x in inputs if isinstance(x, torch.Tensor)]
        outputs = [o.clone() if isinstance(o, torch.Tensor) else o for o in call(*inputs)]
        for x, value in before:  # a capture runs nothing
            if not torch.equal(x, value):
                x.copy_(value)
        made = types.SimpleNamespace(replays=0, inputs=inputs, stream=stream)

        def replay():
            made.replays += 1
            for own, o in zip(outputs, call(*inputs), strict=True):
                if isinstance(o, torch.Tensor):
                    own.copy_(o)

        MadeUp.captures.append(made)
        return outputs, replay


@pytest.fixture
def captures(monkeypatch):
    MadeUp.captures, MadeUp.current, MadeUp.capturing, MadeUp.failing, MadeUp.memory = [], 7, False, False, 1 << 30
    monkeypatch.setattr(cudagraphs, "Gpu", MadeUp)
    monkeypatch.setattr(capturable, "DEVICE", "cpu")
    torch._dynamo.reset()
    torch_backend.reports.clear()
    return MadeUp.captures


def captured(function, **how):
    return torch.compile(function, backend=torch_backend.backend, **(how or {"options": {"cudagraphs": True}}))


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(16, 16))

    def forward(self, x):
        return torch.relu(x @ self.weight) + 1, x.sum(-1)


def close(found, expected):
    for f, e in zip(found, expected, strict=True):
        torch.testing.assert_close(f, e, rtol=1e-4, atol=1e-4)


def test_the_first_call_is_captured_and_later_ones_are_replayed(captures):
    model = Layer()
    run = captured(model)
    with torch.no_grad():
        for calls in range(4):
            x = torch.randn(8, 16)
            close(run(x), model(x))
            assert len(captures) == 1 and captures[0].replays == calls
    (report,) = torch_backend.reports
    assert report.captured == 1 and report.uncaptured == "" and "  captured: 1 CUDA graph(s)" in str(report).splitlines()


def test_weights_may_stand_anywhere_among_the_inputs(captures, monkeypatch):
    weight = torch.randn(4, 4)
    graph = torch.fx.Graph()
    for name in ("x", "weight"):
        graph.placeholder(name).meta["val"] = torch.empty(4, 4)
    graph.output([graph.call_function(torch.mm, tuple(graph.nodes))])
    report = types.SimpleNamespace(captured=0, uncaptured="")
    monkeypatch.setattr(capturable, "device", lambda graph: None)
    run = cudagraphs.Replayed(lambda x, w: [x @ w], graph, {1}, report)
    with torch.no_grad():
        for calls in range(3):
            x = torch.randn(4, 4)
            close(run([x, weight]), [x @ weight])
            assert report.captured == 1 and captures[0].replays == calls
        other = torch.randn(4, 4)
        close(run([x, other]), [x @ other])
    assert report.captured == 2


def test_a_weight_of_which_a_capture_reads_a_copy_is_captured_again_where_it_changes(captures, monkeypatch):
    weight, x = torch.nn.Parameter(torch.randn(5, 4)), torch.randn(3, 5)
    graph = torch.fx.Graph()
    nodes = [graph.placeholder(name) for name in ("x", "weight")]
    for node, value in zip(nodes, (x, weight)):
        node.meta["val"] = torch.empty_like(value)
    graph.output([graph.call_function(torch.mm, (nodes[0], graph.call_function(custom.ALIGNED_LINES, (nodes[1],))))])
    report = types.SimpleNamespace(captured=0, uncaptured="")
    monkeypatch.setattr(capturable, "device", lambda graph: None)
    run = cudagraphs.Replayed(lambda x, w: [x @ custom.aligned_lines(w)], graph, {1}, report)
    again = cudagraphs.Replayed.again(run._call, run.written() | {"device": "cpu"}, report)
    with torch.no_grad():
        for changes in (0, 1, 2):
            for _ in range(3):
                close(run([x, weight]), [x @ weight])
                close(again([x, weight]), [x @ weight])
            assert report.captured == 2 * (changes + 1)
            weight.mul_(2) if changes == 0 else setattr(weight, "data", weight.data + 1)


def test_outputs_are_overwritten_by_the_next_call(captures):
    run = captured(lambda x: torch.relu(x) * 2)
    with torch.no_grad():
        run(torch.ones(4))
        first = run(torch.full((4,), 2.0))
        assert torch.equal(first, torch.full((4,), 4.0))
        run(torch.full((4,), 3.0))
    assert torch.equal(first, torch.full((4,), 6.0))


def test_a_shape_that_the_caller_changes_is_its_own(captures):
    run = captured(lambda x: torch.relu(x) * 2)
    with torch.no_grad():
        for _ in range(3):
            y = run(torch.ones(4))
            assert y.shape == (4,)
            y.unsqueeze_(0)


def test_parameters_are_read_where_they_lie(captures):
    model, x = Layer(), torch.randn(8, 16)
    run = captured(model)
    with torch.no_grad():
        run(x)
        assert [y.data_ptr() == model.weight.data_ptr() for y in captures[0].inputs if y.shape == (16, 16)] == [True]
        assert all(y.data_ptr() != x.data_ptr() for y in captures[0].inputs)
        model.weight.mul_(-2)
        close(run(x), model(x))
        first, other = model.weight, torch.nn.Parameter(torch.randn(16, 16))
        for weight, count in ((other, 2), (other, 2), (first, 2), (torch.nn.Parameter(torch.zeros(16, 16)), 3)):
            model.weight = weight
            close(run(x), model(x))
            assert len(captures) == count
    assert [c.replays for c in captures] == [2, 1, 0] and sum(r.captured for r in torch_backend.reports) == 3


def test_more_captures_than_are_kept_run_as_they_are(captures, monkeypatch):
    monkeypatch.setattr(cudagraphs, "MAX_CAPTURES", 2)
    model, x = Layer(), torch.randn(8, 16)
    run = captured(model)
    with torch.no_grad():
        for _ in range(4):
            model.weight = torch.nn.Parameter(torch.randn(16, 16))
            close(run(x), model(x))
    assert len(captures) == 2


def test_inputs_of_all_kinds_are_copied(captures):
    """Expanded, sliced, transposed, of several dtypes, without dimensions, unused."""

    def function(expanded, sliced, transposed, rows, number, unused):
        return expanded * 2 + sliced, transposed[rows] * number, expanded.sum()

    def given(seed):
        torch.manual_seed(seed)
        rows = torch.randint(0, 5, (3,))
        return torch.randn(4, 1).expand(4, 6), torch.randn(4, 9)[:, 1:7], torch.randn(7, 5).t(), rows, torch.randn(()), torch.randn(2)

    run = captured(function)
    with torch.no_grad():
        for seed in range(3):
            close(run(*given(seed)), function(*given(seed)))
    assert torch_backend.reports[0].uncaptured == "" and [c.replays for c in captures] == [2]


def test_results_that_are_inputs_are_those_of_the_call(captures):
    def function(x, y):
        return x, x.view(-1), x.t(), y * 2

    run = captured(function)
    with torch.no_grad():
        for _ in range(3):
            x, y = torch.randn(3, 4), torch.randn(2)
            found = run(x, y)
            close(found, function(x, y))
            assert found[0] is x and found[1].data_ptr() == found[2].data_ptr() == x.data_ptr()


def test_a_buffer_that_is_changed_where_it_lies(captures):
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(4))

        def forward(self, x):
            self.count.add_(x)
            return self.count * 2

    model = Counter()
    run = captured(model)
    with torch.no_grad():
        for calls in range(1, 5):
            assert torch.equal(run(torch.ones(4)), torch.full((4,), 2.0 * calls))
            assert torch.equal(model.count, torch.full((4,), float(calls)))
    assert len(captures) == 1 and captures[0].replays == 3


def test_threads_and_streams_have_captures_of_their_own(captures):
    run, x = captured(lambda x: torch.relu(x) * 2), torch.ones(4)

    def two_calls():
        with torch.no_grad():
            assert torch.equal(run(x), run(x))

    two_calls()
    MadeUp.current = 8
    two_calls()
    thread = threading.Thread(target=two_calls)
    thread.start()
    thread.join()
    assert [c.replays for c in captures] == [1, 1, 1] and len({id(c.stream) for c in captures}) == 3


def test_a_call_in_a_capture_of_the_callers_is_not_replayed(captures):
    run = captured(lambda x: torch.relu(x) * 2)
    with torch.no_grad():
        run(torch.ones(4))
        MadeUp.capturing = True
        assert torch.equal(run(torch.full((4,), 3.0)), torch.full((4,), 6.0))
    assert captures[0].replays == 0


@pytest.fixture
def kept(monkeypatch):
    """What is kept for graphs of the caller, with a fake GPU."""
    monkeypatch.setattr(execute.kept, "DEVICE", "cpu")
    monkeypatch.setattr(execute.kept, "is_capturing", lambda: MadeUp.capturing)
    monkeypatch.setattr(execute.kept, "KEPT", {})
    MadeUp.capturing = False
    return execute.kept.KEPT


def by_position(x):
    return x.cumprod(0)[torch.arange(x.shape[0] - 1, -1, -1)] * 2


def test_constants_that_the_callers_graph_reads_are_kept(kept):
    torch._dynamo.reset()
    run, x = torch.compile(by_position, backend=torch_backend.backend), torch.randn(6, 4)
    with torch.no_grad():
        run(x)
        assert not kept
        MadeUp.capturing = True
        for _ in range(2):
            assert torch.equal(run(x), by_position(x))
    assert [t.tolist() for t in kept.values()] == [torch.arange(24).view(6, 4).flip(0).tolist()]


def test_constants_of_a_function_from_the_cache_are_kept(kept, monkeypatch, tmp_path):
    monkeypatch.setenv("ZELLIGE_CACHE", str(tmp_path))
    for decisions in ("kept", "from the cache"):
        torch._dynamo.reset()
        torch_backend.reports.clear()
        run, x = torch.compile(by_position, backend=torch_backend.backend, options={"cache": True}), torch.randn(6, 4)
        with torch.no_grad():
            run(x)
            assert torch_backend.reports[0].decisions == decisions and not kept
    MadeUp.capturing = True
    with torch.no_grad():
        assert torch.equal(run(x), by_position(x))
    assert [t.tolist() for t in kept.values()] == [torch.arange(24).view(6, 4).flip(0).tolist()]


def test_a_capture_of_our_own_keeps_no_constants(captures, kept):
    run, x = captured(by_position), torch.randn(6, 4)
    with torch.no_grad():
        assert all(torch.equal(*run_and_expected) for run_and_expected in [(run(x), by_position(x)) for _ in range(2)])
    assert len(captures) == 1 and not kept


def test_parameters_are_not_kept(kept):
    tensors = [torch.nn.Parameter(torch.ones(2)), None, 3]
    function = lambda x: x  # noqa: E731
    assert execute.kept.keeping(function, tensors) is function and execute.kept.without(function) is function


def test_a_capture_that_fails_is_told_once(captures):
    MadeUp.failing = True
    run = captured(lambda x: torch.relu(x) * 2)
    with torch.no_grad(), pytest.warns(RuntimeWarning) as warned:
        for _ in range(3):
            assert torch.equal(run(torch.ones(4)), torch.full((4,), 2.0))
    reason = "RuntimeError: operation not permitted when stream is capturing"
    assert torch_backend.reports[0].uncaptured == reason and f"  not captured: {reason}" in str(torch_backend.reports[0])
    assert [str(w.message) for w in warned] == [f"zellige captures no CUDA graph: {reason}"]


def test_a_graph_that_is_left_to_torch_is_captured(captures, monkeypatch):
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(1e6, 0.0))
    model = Layer()
    run = captured(model, options={"cudagraphs": True, "take": "cheaper"})
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(8, 16)
            close(run(x), model(x))
    (report,) = torch_backend.reports
    assert report.parts == [] and not report.kept and report.captured == 1 and captures[0].replays == 2


def test_what_the_host_takes_does_not_count(captures, monkeypatch):
    """A part that the GPU gains by, and the host loses by."""
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(0.1, 1000.0))
    for replayed in (False, True):
        torch._dynamo.reset()
        with torch.no_grad():
            captured(Layer(), options={"cudagraphs": replayed, "take": "cheaper"})(torch.randn(8, 16))
        assert len(torch_backend.reports[-1].parts) == replayed


def test_mode_reduce_overhead_is_the_option(captures):
    run = captured(lambda x: torch.relu(x) * 2, mode="reduce-overhead")
    with torch.no_grad():
        for _ in range(2):
            run(torch.ones(4))
    assert captures[0].replays == 1


def in_place(x, w):
    return x.add_(1) * w


def noise(x, w):
    return x + torch.rand_like(x)


REASONS = {
    in_place: "input L['x'] is changed in place",
    noise: "aten.rand_like.default draws random numbers",
    lambda x, w: torch.nn.functional.dropout(x, 0.5) * w: "draws random numbers",
    lambda x, w: x[x[:, 0] > 0]: "waits for results of the GPU",
    lambda x, w: torch.nonzero(x).float(): "waits for results of the GPU",
}


@pytest.mark.parametrize("function", REASONS, ids=["in place", "random", "dropout", "a condition", "nonzero"])
@torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True)
def test_what_is_not_captured_says_why(captures, function):
    run = captured(function)
    with torch.no_grad():
        for seed in range(2):
            x, w = torch.randn(4, 4), torch.randn(4)
            torch.manual_seed(seed)
            found = run(x.clone(), w)
            torch.manual_seed(seed)
            close([found], [function(x.clone(), w)])
    reason, report = REASONS[function], torch_backend.reports[0]
    assert captures == [] and report.captured == 0
    assert report.uncaptured.endswith(reason), report.uncaptured
    assert f"  not captured: {report.uncaptured}" in str(report).splitlines()


def test_numbers_that_differ_from_call_to_call(captures):
    """Dynamo makes them tensors of the host, which this GPU captures and a real one refuses: "an input of the host", below."""
    run = captured(lambda x, s: x * s)
    with torch.no_grad():
        for s in (1.5, 2.5, 3.5):
            assert torch.equal(run(torch.ones(4), s), torch.full((4,), s))


def test_without_a_gpu_nothing_is_captured():
    torch._dynamo.reset()
    torch_backend.reports.clear()
    with torch.no_grad():
        assert torch.equal(captured(lambda x: torch.relu(x) * 2)(torch.ones(4)), torch.full((4,), 2.0))
    assert torch_backend.reports[0].uncaptured == "expected tensors on one GPU, found them on none"


def test_a_graph_that_needs_gradients_is_not_captured(captures):
    captured(Layer())(torch.randn(8, 16))
    assert torch_backend.reports[0].uncaptured == "the graph needs gradients; run it under torch.no_grad() or torch.inference_mode()"


MIXED = {
    "an input of the host": (lambda x, y: x + y.sum(), "input y lies on cpu"),
    "a number of the host": (lambda x, y: x + torch.full((), 2.0), None),
    "a table of the host": (lambda x, y: x + torch.ones(4).to(x.device), "aten._to_copy.default copies between the host and the GPU"),
    "a result for the host": (lambda x, y: x.cpu(), "aten._to_copy.default copies between the host and the GPU"),
    "a number that is put in": (lambda x, y: x.index_put([torch.zeros(1, dtype=torch.int64, device="meta")], torch.full((), 2.0)),
                                "aten.index_put.default copies between the host and the GPU"),
    "the GPU alone": (lambda x, y: torch.relu(x), None),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_host_and_gpu(name, monkeypatch):
    """The GPU is torch's device "meta" here."""
    monkeypatch.setattr(capturable, "DEVICE", "meta")
    function, reason = MIXED[name]
    with FakeTensorMode(allow_non_fake_inputs=True):
        x, y = torch.empty(4, device="meta"), torch.empty(4)
        graph = make_fx(function)(x, y).graph
    assert capturable.why_not(graph, set(), ["x", "y"]) == reason


OVERLAPS = {
    "a matrix": ((3, 4), (4, 1), False),
    "transposed": ((4, 3), (1, 4), False),
    "sliced": ((3, 4), (9, 2), False),
    "expanded": ((3, 4), (0, 1), False),
    "a window": ((3, 4), (1, 1), True),
    "adjacent rows": ((3, 4), (3, 1), True),
    "of one row": ((1, 4), (1, 1), False),
}


@pytest.mark.parametrize("shape, strides, expected", OVERLAPS.values(), ids=OVERLAPS)
def test_elements_that_share_memory(shape, strides, expected):
    x = torch.arange(100).as_strided(shape, strides)
    dense = x[tuple(slice(0, 1) if s == 0 else slice(None) for s in strides)]
    assert capturable.overlaps(x) == expected == (dense.unique().numel() < dense.numel())


@pytest.mark.parametrize(
    "mode, options, message",
    [
        ("max-autotune", None, "zellige: mode: expected 'default' or 'reduce-overhead', found 'max-autotune'"),
        (None, {"cudagraphs": 1}, "zellige: options: cudagraphs: expected True or False, found 1"),
    ],
)
def test_what_is_not_known_is_refused(mode, options, message):
    with pytest.raises(ValueError) as caught:
        torch_backend.backend(None, [], mode=mode, options=options)
    assert str(caught.value) == message


def test_each_size_has_a_capture(captures, monkeypatch):
    """One compilation; a capture for each length that is called, and the one that was replayed longest ago makes room."""
    monkeypatch.setattr(cudagraphs, "MAX_SIZES", 3)
    model = Layer()
    run = captured(model, options={"cudagraphs": True}, dynamic=True)
    with torch.no_grad():
        for rows in (5, 7, 5, 7, 9, 5, 11, 7):
            x = torch.randn(rows, 16)
            close(run(x), model(x))
    (report,) = torch_backend.reports
    assert [c.replays for c in captures] == [2, 1, 0, 0, 0] and report.captured == 5 and not report.uncaptured


def test_captures_of_sizes_have_a_share_of_the_memory(captures):
    """Those of two lengths fit, so that the first one is captured again after two others."""
    model = Layer()
    run = captured(model, options={"cudagraphs": True}, dynamic=True)
    MadeUp.memory = 64 * 16 * 4 * 2
    with torch.no_grad():
        for rows in (64, 65, 66, 64):
            x = torch.randn(rows, 16)
            close(run(x), model(x))
    assert torch_backend.reports[0].captured == 4
