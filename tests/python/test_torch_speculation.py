"""Biases of convolutions and pools with windows of one size: a part takes them if it costs less, else they are restored."""

import pytest

torch = pytest.importorskip("torch")
from zellige import torch_backend  # noqa: E402
from zellige.torch.execute import direct  # noqa: E402
from zellige.torch.import_.schema import Left  # noqa: E402
from zellige.torch.measure import convolution_kernels, estimates  # noqa: E402

aten = torch.ops.aten


@pytest.fixture(autouse=True)
def as_on_a_gpu(monkeypatch):
    def check(node):
        raise Left("torch's kernel takes 1.0 us, a program is expected to take 2.0 us")

    monkeypatch.setattr(convolution_kernels, "adds_bias", lambda node: True)
    monkeypatch.setattr(convolution_kernels, "check", check)


@pytest.fixture
def left(monkeypatch):
    """The operators that are left in the graphs around the parts, with their arguments."""
    found, straighten = [], direct.straighten

    def kept(module):
        straighten(module)
        found.extend((n.target.__name__.removesuffix(".default"), n.args) for n in module.graph.nodes if n.op == "call_function")

    monkeypatch.setattr(direct, "straighten", kept)
    torch._dynamo.reset()
    return found


def run(function, *arguments, **options):
    with torch.no_grad():
        found = torch.compile(function, backend=torch_backend.backend, options=options)(*arguments)
        expected = function(*arguments)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
    assert found.stride() == expected.stride()
    return torch_backend.reports[-1]


def convolved(x, w, b):
    return torch.relu(torch.nn.functional.conv2d(x, w, b)) * 2


def tensors(*shape):
    torch.manual_seed(5)
    return torch.randn(2, 6, *shape), torch.randn(8, 6, *[3] * len(shape)), torch.randn(8)


def test_a_part_adds_the_bias(left):
    r = run(convolved, *tensors(8, 8), take="all")
    (name, args), *_ = left
    assert (name, args[2]) == ("convolution", None) and len(r.parts) == 1 and [i.shape for i in r.parts[0].inputs] == [(8,), (2, 8, 6, 6)]


def test_a_bias_in_one_dimension(left):
    def function(x, w, b):
        return torch.nn.functional.silu(torch.nn.functional.conv1d(x, w, b)) * 2

    assert len(run(function, *tensors(8), take="all").parts) == 1 and left[0][1][2] is None


def test_a_convolution_keeps_its_bias_where_its_part_is_left(left, monkeypatch):
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(1e6, 1.0))
    r = run(convolved, *tensors(8, 8), take="cheaper")
    assert r.parts == [] and [name for name, _ in left] == ["convolution", "relu", "mul"] and left[0][1][2].name == "arg2_1"


def test_a_convolution_keeps_its_bias_where_no_part_reads_it(left):
    run(lambda x, w, b: torch.cumprod(torch.nn.functional.conv2d(x * 2 + 1, w, b), 1), *tensors(8, 8), take="all")
    assert next(args for name, args in left if name == "convolution")[2] is not None


def test_a_bias_that_is_computed_is_left(left):
    run(lambda x, w, b: torch.relu(torch.nn.functional.conv2d(x, w, b * 2)) * 2, *tensors(8, 8), take="all")
    assert next(args for name, args in left if name == "convolution")[2] is not None


def pooled(size):
    return lambda x: torch.relu(torch.nn.functional.adaptive_avg_pool2d(x * 2, size)) + 1


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("size", [(2, 2), (4, 1), (6, 3)])
def test_windows_of_one_size_are_means(left, size, layout):
    x = torch.randn(2, 5, 12, 6).to(memory_format=layout)
    assert len(run(pooled(size), x, take="all").parts) == 1
    assert [name for name, _ in left] == [left[0][0]] and "pool" not in left[0][0]


def test_windows_of_several_sizes_are_taken_by_constant_numbers(left):
    run(pooled((5, 3)), torch.randn(2, 5, 12, 6), take="all")
    assert [name for name, _ in left if "pool" in name] == []


def test_a_pool_that_no_part_takes_is_torchs(left, monkeypatch):
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(1e6, 1.0))
    r = run(pooled((2, 2)), torch.randn(2, 5, 12, 6), take="cheaper")
    assert r.parts == [] and [(name, args[1:]) for name, args in left][1] == ("_adaptive_avg_pool2d", ([2, 2],))
