"""Cumulative sums of counts of sorted indices as positions: where, and that the numbers are the same."""

import pytest

torch = pytest.importorskip("torch")
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from rewriting import rewrite  # noqa: E402
from zellige.torch.import_ import schema  # noqa: E402


def replaced(function, x):
    """Returns (a module with the function's graph after the replacement, whether it has replaced something)."""
    with torch.no_grad():
        module = make_fx(function, tracing_mode="fake")(x)
    schema.bind(module.graph)
    module.graph.eliminate_dead_code()
    rewrite(module.graph, "counts by positions")
    module.graph.lint()
    module.recompile()
    return module, bool(module.graph.find_nodes(op="call_function", target=torch.ops.aten.searchsorted.Tensor))


def ends(x, experts=8, cast=torch.Tensor.float, sort=torch.sort, high=None, dtype=torch.int32, low=0):
    """Where the tokens of each expert end in the sorted vector."""
    indices = torch.topk(x, 2, -1)[1].reshape(-1)
    counts = torch.histc(cast(sort(indices)[0]), bins=experts, min=low, max=experts - 1 if high is None else high)
    return torch.cumsum(counts, 0, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("experts", [2, 5, 8, 60])
def test_the_same_numbers(experts, dtype):
    """Also where experts have no token, and where indices are not among those that are counted."""
    torch.manual_seed(1)
    for x in (torch.randn(40, experts), torch.randn(3, experts), torch.randn(20, experts + 3)):
        module, done = replaced(lambda x: ends(x, experts, dtype=dtype), x)
        assert done and module(x).dtype == dtype and torch.equal(module(x), ends(x, experts, dtype=dtype))
        assert not module.graph.find_nodes(op="call_function", target=torch.ops.aten.histc.default)


def test_other_counts_are_kept():
    """Other bins; numbers in another order, not exact, or of which nothing is known; counts that others read."""
    x = torch.randn(12, 8)
    assert not replaced(lambda x: ends(x, high=8), x)[1] and not replaced(lambda x: ends(x, low=-1), x)[1]
    assert not replaced(lambda x: ends(x, sort=lambda n: torch.sort(n, descending=True)), x)[1]
    assert not replaced(lambda x: ends(x, cast=torch.Tensor.half), x)[1]
    assert not replaced(lambda x: ends(x, dtype=torch.float32), x)[1]
    assert not replaced(lambda x: torch.cumsum(torch.histc(torch.sort(x.flatten())[0], 8, 0, 7), 0, dtype=torch.int32), x)[1]

    def both(x):
        counts = torch.histc(torch.sort(torch.topk(x, 2, -1)[1].reshape(-1))[0].float(), 8, 0, 7)
        return torch.cumsum(counts, 0, dtype=torch.int32), counts

    assert not replaced(both, x)[1]
