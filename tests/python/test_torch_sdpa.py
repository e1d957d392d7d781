"""The torch kernel that an attention calls, with a fake GPU and fake kernels: what is refused, what is wrong, what is faster."""

import types

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.import_ import custom  # noqa: E402
from zellige.torch.measure import attention_kernels, clock, estimates  # noqa: E402
from zellige.torch.partition import taking  # noqa: E402


def right(q, k, v, mask, causal, scale, grouped):
    return F.scaled_dot_product_attention(q, k, v, mask, 0.0, causal, scale=scale, enable_gqa=grouped).contiguous()


def wrong(q, k, v, mask, causal, scale, grouped):
    """Its mask ends at the last key."""
    n, m = q.shape[2], k.shape[2]
    mask = torch.ones(n, m, dtype=torch.bool).tril(m - n) if causal else mask
    return F.scaled_dot_product_attention(q, k, v, mask, 0.0, False, scale=scale, enable_gqa=grouped)


def nan_where_all_is_masked(q, k, v, mask, causal, scale, grouped):
    made = right(q, k, v, mask, causal, scale, grouped)
    return made if mask is None else torch.where((mask == -torch.inf).all(-1, keepdim=True), torch.nan, made)


def failing(*arguments):
    raise RuntimeError("no plan")


@pytest.fixture
def gpu(monkeypatch):
    """Kernels by name, with what they cost, and which were called since they were measured."""
    called, us = [], {}

    def kernels(**table):
        made = {}
        for name, (function, *cost) in table.items():

            def call(*arguments, name=name, function=function):
                called.append(name)
                return function(*arguments)

            made[name], us[name] = (call, lambda *arguments: True), estimates.Cost(*cost)
        monkeypatch.setattr(attention_kernels, "KERNELS", made)

    def cost(call, values, launches):
        called.clear()
        with torch.no_grad():
            call(*map(clock.like, values))
        (name,) = set(called) or {"default"}
        called.clear()
        return us[name]

    us["default"] = estimates.Cost(100.0, 20.0)
    monkeypatch.setattr(attention_kernels, "_COSTS", {})
    monkeypatch.setattr(attention_kernels, "DEVICE", "cpu")
    monkeypatch.setattr(clock, "cost", cost)
    kernels.called = called
    return kernels


def heads(queries=16, keys=16, shared=1, dtype=torch.float16, size=8):
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(2, n, h, size, generator=generator).to(dtype).transpose(1, 2) for n, h in ((queries, 4), (keys, 4 // shared), (keys, 4 // shared))]


def node(q, k, v, mask=None, causal=False, grouped=False):
    graph = torch.fx.Graph()
    given = []
    for t in (q, k, v, mask):
        given.append(None if t is None else graph.placeholder(f"x{len(given)}"))
        if t is not None:
            given[-1].meta["val"] = t
    return graph.call_function(custom.ATTENTION, (*given, causal, None, grouped))


def selected(*arguments, captured=False, **options):
    made = node(*arguments, **options)
    attention_kernels.choose(made.graph, captured)
    return attention_kernels.of(made)


def test_the_fastest_kernel_is_called_where_it_takes_three_percent_less(gpu):
    for times, name in (((97.5, 98.0), attention_kernels.DEFAULT), ((97.0, 98.0), "cudnn"), ((50.0, 20.0), "flash")):
        attention_kernels._COSTS.clear()
        gpu(cudnn=(right, times[0], 20.0), flash=(right, times[1], 20.0))
        choice = selected(*heads())
        assert choice.name == name and choice.saves() == estimates.Cost({attention_kernels.DEFAULT: 0.0, "cudnn": 3.0, "flash": 80.0}[name], 0.0)


def test_a_kernel_that_the_host_loses_by_is_called_in_cuda_graphs_alone(gpu):
    gpu(cudnn=(right, 10.0, 200.0), flash=(right, 60.0, 30.0))
    assert selected(*heads()).name == "flash" and selected(*heads(), captured=True).name == "cudnn"


def test_what_is_measured_is_told(gpu):
    gpu(cudnn=(right, 10.0, 25.0), flash=(failing, 1.0))
    choice = selected(*heads(shared=2), causal=True, grouped=True)
    assert str(choice) == "attention (2, 4, 16, 8) of 16 keys in 2 heads, causal, float16: cudnn 10.0 us of the GPU and 25.0 of the host (torch's choice 100.0 and 20.0, flash not)"


@pytest.mark.parametrize("kernel, options", [(wrong, {"causal": True}), (nan_where_all_is_masked, {"mask": torch.zeros(16, 24).half()}), (failing, {})])
def test_a_kernel_that_differs_from_torchs_choice_is_not_called(gpu, kernel, options):
    gpu(cudnn=(kernel, 1.0), flash=(right, 90.0))
    assert selected(*heads(keys=24), **options).name == "flash"
    if kernel is not failing:  # where they do not differ, it is
        attention_kernels._COSTS.clear()
        assert selected(*heads()).name == "cudnn"


def test_a_result_lies_as_q_does(gpu):
    gpu(cudnn=(right, 1.0))
    q, k, v = heads()
    made = selected(q, k, v).call(q, k, v, None, False, None, False)
    assert made.stride() == q.stride() and torch.equal(made, right(q, k, v, None, False, None, False))


def test_what_a_kernel_refuses_later_is_torchs(gpu):
    gpu(cudnn=(right, 1.0))
    q, k, v = heads()
    choice = selected(q, k, v)
    gpu(cudnn=(failing, 1.0))
    attention_kernels._COSTS.clear()
    refused = attention_kernels._laid_out(failing)
    assert choice.name == "cudnn"
    assert torch.equal(refused(q, k, v, None, True, 0.5, False), custom.attention(q, k, v, None, True, 0.5, False))


def test_it_is_measured_once(gpu):
    gpu(cudnn=(right, 1.0))
    assert selected(*heads()).name == "cudnn"
    gpu(cudnn=(failing, 1.0))
    assert selected(*heads()).name == "cudnn"
    assert selected(*(x.contiguous() for x in heads())).name == attention_kernels.DEFAULT


def test_single_precision_is_torchs_choice(gpu):
    gpu(cudnn=(right, 1.0))
    choice = selected(*heads(dtype=torch.float32))
    assert choice.name == attention_kernels.DEFAULT and choice.costs == {} and choice.saves() == estimates.Cost()


def test_attention_that_is_left_calls_it(gpu, monkeypatch):
    """As if programs were slow, and torch's choice too."""
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(1e6, 5.0))
    gpu(cudnn=(right, 10.0))
    q, k, v = heads()
    torch._dynamo.reset()
    with torch.no_grad():
        found = torch.compile(lambda *x: F.scaled_dot_product_attention(*x, is_causal=True), backend=torch_backend.backend, options={"take": "cheaper"})(q, k, v)
    report = torch_backend.reports[-1]
    assert gpu.called == ["cudnn"] and report.kept and report.parts == []
    assert torch.equal(found, right(q, k, v, None, True, None, False))
    assert "  attention (2, 4, 16, 8) of 16 keys in 4 heads, causal, float16: cudnn 10.0 us of the GPU and 0.0 of the host (torch's choice 100.0 and 20.0)" in str(report).splitlines()


def test_programs_are_compared_with_it(gpu):
    gpu(cudnn=(right, 10.0))
    q, k, v = heads()
    graph = torch.fx.Graph()
    given = [graph.placeholder(n) for n in "qkv"]
    for n, t in zip(given, (q, k, v)):
        n.meta["val"] = t
    made = graph.call_function(custom.ATTENTION, (*given, None, False, None, False))
    graph.output(made)
    attention_kernels.choose(graph, False)
    module = torch.fx.GraphModule({}, graph)
    gpu.called.clear()
    assert torch.equal(attention_kernels.in_place_of_torchs(module)(q, k, v), right(q, k, v, None, False, None, False)) and gpu.called == ["cudnn"]
    assert made.target is custom.ATTENTION

    class Part:
        program, markers = types.SimpleNamespace(manifest={"kernels": [1]}), ()
        call = staticmethod(lambda q, k, v: q)

    planned = types.SimpleNamespace(module=module, values=lambda: [q, k, v], part=Part())
    assert taking.Taking._measure(types.SimpleNamespace(measured={}), planned, 0) == (10.0, 100.0)


@pytest.mark.parametrize("shape, keys, copied", [((16, 24), 24, False), ((4, 16, 20), 20, True), ((16, 1), 24, True), ((1, 1, 1, 24), 24, False)])
def test_lines_of_a_mask(shape, keys, copied):
    mask = torch.randn(shape).half()
    made = attention_kernels.lines(mask, keys)
    assert torch.equal(made, mask.expand(*shape[:-1], keys)) and all(s % 8 == 0 for s in made.stride()[:-1]) and made.stride(-1) == 1
    assert (made.data_ptr() != mask.data_ptr()) == copied


MASKS = {"none": None, "one row": (1, 24), "a matrix": (16, 24), "by head": (4, 16, 24), "all": (2, 1, 16, 24)}


@pytest.mark.parametrize("name", MASKS)
def test_the_kernels_arguments(name):
    """On torch's device "meta", which has their signatures; math and repeated keys compute."""
    q, k, v = heads(keys=24, shared=2)
    mask = MASKS[name] and torch.randn(MASKS[name]).half()
    expected = custom.attention(q, k, v, mask, False, 0.5, True)
    assert attention_kernels._agrees(attention_kernels._math(q, k, v, mask, False, 0.5, True), expected)
    wide = attention_kernels._for_each_head(q, k, v)
    torch.testing.assert_close(custom.attention(q, *wide, mask, False, 0.5, False), expected)
    q, k, v = (x.to("meta") for x in heads(keys=24))
    mask = mask if mask is None else mask.to("meta")
    for kernel in (attention_kernels._efficient, attention_kernels._cudnn, *([attention_kernels._flash] if mask is None else [])):
        assert kernel(q, k, v, mask, False, 0.5, False).shape == expected.shape
