"""Bounds of the integers of a graph hold for what eager torch computes, and positions that are known to be in range need no check."""

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
import integer_functions  # noqa: E402
from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.import_ import schema  # noqa: E402
from zellige.torch.import_.decompositions import decompositions  # noqa: E402
from zellige.torch.rewrites import intervals  # noqa: E402
from zellige.torch.rewrites.rule import Work  # noqa: E402


def traced(function, *inputs):
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        module = make_fx(function, tracing_mode="fake", decomposition_table=decompositions())(*[mode.from_tensor(x) for x in inputs])
    schema.bind(module.graph)
    return module, Work(module)


class Values(torch.fx.Interpreter):
    """Runs a graph, and keeps the values of its nodes."""

    def run_node(self, n):
        made = super().run_node(n)
        self.values = getattr(self, "values", {}) | {n: made}
        return made


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_integers_are_between_their_bounds(first):
    known = 0
    for index in range(first, first + 20):
        function, inputs = integer_functions.draw(8800000 + index)
        module, work = traced(function, *inputs)
        run = Values(module)
        run.run(*inputs)
        for n, value in run.values.items():
            found = intervals.limits(work, n) if isinstance(value, torch.Tensor) and not value.is_floating_point() and value.numel() else None
            if found is not None:
                assert found[0] <= int(value.min()) and int(value.max()) <= found[1], f"{function}: {n.format_node()}: {found}, found {value}"
                known += value.dtype == torch.int64 and found[1] - found[0] < 1000
    assert known > 10


@pytest.mark.parametrize("of, expected", [
    (lambda x: x % 7, (0, 6)), (lambda x: x.clamp(-2, 9), (-2, 9)), (lambda x: (x % 7) * -2 + 1, (-11, 1)), (lambda x: 5 - x % 4, (2, 5)),
    (lambda x: x.clamp(min=3) % 4, (0, 3)), (lambda x: x.float().topk(2, -1)[1], (0, 5)), (lambda x: x.float().argmax(), (0, 23)),
    (lambda x: torch.where(x > 0, x % 3, 8), (0, 8)), (lambda x: (x % 9).to(torch.uint8), (0, 8)), (lambda x: x.to(torch.uint8), (0, 255)),
    (lambda x: torch.div(x % 9, 2, rounding_mode="floor"), (0, 4)), (lambda x: (x % 1000).to(torch.int8), (-128, 127)), (lambda x: x, None),
    (lambda x: x.clamp(min=0), (0, (1 << 63) - 1)), (lambda x: x.clamp(min=0) + 1, None), (lambda x: x % -3, None), (lambda x: x.fmod(3), None),
])  # fmt: skip
def test_bounds(of, expected):
    module, work = traced(of, torch.arange(24).reshape(4, 6))
    assert intervals.limits(work, module.graph.output_node().args[0]) == expected


def test_of_open_sizes_nothing_is_in_range():
    """What holds at the sizes that are tried may not hold at others."""
    module, work = traced(lambda x: x % 7, torch.arange(4))
    node = module.graph.output_node().args[0]
    assert intervals.in_range(work, node, 7) and not intervals.in_range(work, node, 6)
    work.opened = True
    assert not intervals.in_range(work, node, 7)


@pytest.mark.parametrize("of", [lambda x, i: x[i % 5], lambda x, i: x.gather(0, (i % 5)[:, None].expand(3, 4)), lambda x, i: x.index_select(0, i.clamp(0, 4))])
def test_positions_in_range_are_not_checked(of):
    x, i = torch.randn(5, 4), torch.tensor([9, -2, 3])
    torch._dynamo.reset()
    found = torch.compile(of, backend="zellige", options={"take": "all"})(x, i)
    assert torch.equal(found, of(x, i)) and torch_backend.reports[-1].left == {}


def test_other_positions_raise_eagers_error():
    torch._dynamo.reset()
    run = torch.compile(lambda x, i: x[i % 6] + 1, backend="zellige", options={"take": "all"})
    x = torch.randn(5, 4)
    assert torch.equal(run(x, torch.tensor([4, 1])), x[torch.tensor([4, 1])] + 1)
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 5"):
        run(x, torch.tensor([5, 1]))
