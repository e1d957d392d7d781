"""Max pools in channels-last by torch's kernel for three dimensions: where, and that it gives the same numbers."""

import itertools
import math
import types

import pytest

torch = pytest.importorskip("torch")
from torch._subclasses import FakeTensorMode, fake_tensor  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from rewriting import rewrite  # noqa: E402
from zellige.torch.import_ import custom, schema  # noqa: E402
from zellige.torch.measure import clock, estimates  # noqa: E402
from zellige.torch.rewrites import pools  # noqa: E402

LAST = torch.channels_last
max_pool2d = torch.nn.functional.max_pool2d


def traced(function, shape=(2, 64, 16, 16), layout=LAST, dtype=torch.float32):
    with FakeTensorMode(), torch.no_grad():
        graph = make_fx(function, tracing_mode="fake")(torch.empty(shape, device="cuda", dtype=dtype).to(memory_format=layout)).graph
    schema.bind(graph)
    return graph


def by_rows(graph):
    """Returns (the cost that is saved, the nodes of pools by rows)."""
    saved = rewrite(graph, "max pool by rows").saved
    graph.lint()
    return saved, graph.find_nodes(op="call_function", target=custom.MAX_POOL)


@pytest.fixture
def times(monkeypatch):
    """The microseconds of the pool as torch calls it, and by rows; the calls that are measured."""
    found = types.SimpleNamespace(us=[20.0, 5.0], calls=0)

    def gpu_time(call, values, launches):
        found.calls += 1
        return found.us[(found.calls - 1) % 2]

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(fake_tensor, "init_gpu_context", lambda device: None)  # it would look for a driver
    monkeypatch.setattr(clock, "gpu_time", gpu_time)
    monkeypatch.setattr(pools, "_US", {})
    return found


def test_the_same_numbers_in_channels_last():
    """Of windows that overlap, have gaps, or end outside; with NaN and infinities."""
    torch.manual_seed(1)
    x = torch.randn(2, 5, 11, 14)
    x[0, 1, 2, 3], x[1, :, 4:9, :], x[0, 2, 5] = math.nan, -math.inf, math.inf
    for kernel, stride, padding, dilation, ceil in itertools.product(((3, 3), (2, 3)), ((1, 1), (2, 3)), ((0, 0), (1, 1)), ((1, 1), (2, 1)), (False, True)):
        for t in (x.to(memory_format=LAST), x.to(torch.float16).to(memory_format=LAST)):
            found = custom.max_pool_by_rows(t, list(kernel), list(stride), list(padding), list(dilation), ceil)
            expected = max_pool2d(t, kernel, stride, padding, dilation, ceil)
            torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
            assert found.stride() == expected.stride()


def test_arguments_may_be_numbers_or_missing():
    for call in (lambda x: max_pool2d(x, 3, 2, 1), lambda x: max_pool2d(x, 2), lambda x: max_pool2d(x, (3, 2), padding=(1, 0), dilation=2, ceil_mode=True)):
        graph = traced(lambda x: call(x) + 1)  # noqa: B023
        _, (pool,) = by_rows(graph)
        x = torch.randn(2, 64, 16, 16).to(memory_format=LAST)
        assert torch.equal(pool.target(x, *pool.args[1:]), call(x))
        assert pool.meta["val"].shape == call(x).shape and pool.meta["val"].stride() == call(x).stride()


def test_what_is_left():
    """Pools in NCHW, whose indices are used, or of the CPU."""
    assert by_rows(traced(lambda x: max_pool2d(x, 2), layout=torch.contiguous_format))[1] == []
    assert by_rows(traced(lambda x: max_pool2d(x, 2, return_indices=True)))[1] == []
    assert by_rows(traced(lambda x: max_pool2d(x, 1), (2, 64, 1, 1), torch.contiguous_format))[1] == []
    with torch.no_grad():
        graph = make_fx(lambda x: max_pool2d(x, 2))(torch.randn(2, 8, 4, 4).to(memory_format=LAST)).graph
    schema.bind(graph)
    assert by_rows(graph)[1] == []


def test_the_faster_kernel_is_called(times):
    saved, pools = by_rows(traced(lambda x: max_pool2d(max_pool2d(x, 3, 1, 1), 3, 1, 1)))
    assert len(pools) == 2 and times.calls == 2 and saved == estimates.Cost(30.0, -4 * estimates.VIEW)
    times.us = [5.0, 6.0]
    saved, pools = by_rows(traced(lambda x: max_pool2d(x, 2)))
    assert pools == [] and times.calls == 4 and saved == estimates.Cost()
    times.us = [None, 6.0]
    saved, pools = by_rows(traced(lambda x: max_pool2d(x, 4)))
    assert len(pools) == 1 and saved.gpu == 0
