"""Values that depend on no input are computed once; callers get copies."""

import pytest

torch = pytest.importorskip("torch")
from zellige import torch_backend  # noqa: E402
from zellige.torch.rewrites import constants  # noqa: E402


def run(function, *arguments, times=1):
    """The results of each call, and what is left in the graph."""
    from zellige.torch.execute import direct

    graphs, straighten = [], direct.straighten

    def kept(module):
        straighten(module)
        graphs.append([str(n.target) for n in module.graph.nodes if n.op == "call_function"])

    torch._dynamo.reset()
    direct.straighten = kept
    try:
        with torch.no_grad():
            call = torch.compile(function, backend=torch_backend.backend)
            return [call(*arguments) for _ in range(times)], graphs[0]
    finally:
        direct.straighten = straighten


def test_positions_are_computed_once():
    def function(x):
        at = torch.arange(8)[:, None] - torch.arange(8)[None]
        return x[:, (at.abs() % 3).flatten()] + 1

    x = torch.randn(4, 8)
    (found,), left = run(function, x)
    torch.testing.assert_close(found, function(x))
    assert not any("arange" in name or "remainder" in name for name in left)


def test_outputs_are_the_callers():
    """One who writes into what it got does not change what the next one gets."""

    def function(x):
        table = torch.arange(6)
        return x + 1, table, table.view(2, 3)

    results, _ = run(function, torch.randn(4), times=2)
    for first, second, expected in zip(results[0][1:], results[1][1:], function(torch.zeros(4))[1:]):
        first.fill_(-1)
        torch.testing.assert_close(second, expected)


def test_random_numbers_are_not_constants():
    results, _ = run(lambda x: x + torch.rand(4), torch.zeros(4), times=2)
    assert not torch.equal(*results)


def test_what_is_too_large_is_computed_at_each_call(monkeypatch):
    monkeypatch.setattr(constants, "MAX_BYTES", 100)
    x = torch.randn(64)
    (found,), left = run(lambda x: x + torch.arange(64).float(), x)
    torch.testing.assert_close(found, x + torch.arange(64).float())
    assert any("arange" in name for name in left)
