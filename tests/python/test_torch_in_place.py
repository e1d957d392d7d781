"""Operators left to torch change tensors in place that nothing else reads."""

import pytest

torch = pytest.importorskip("torch")
from zellige import torch_backend  # noqa: E402
from zellige.torch.execute import direct  # noqa: E402


@pytest.fixture
def found(monkeypatch):
    """Names of the operators in place of the latest graph."""
    names, apply = [], direct.apply

    def kept(rows, work, rounds):
        apply(rows, work, rounds)
        names[:] = [n.target._schema.name for n in work.graph.nodes if isinstance(n.target, torch._ops.OpOverload) and n.target._schema.is_mutable]

    monkeypatch.setattr(direct, "apply", kept)
    return names


def same(function, *given):
    torch._dynamo.reset()
    copies = [x.clone() for x in given]
    with torch.no_grad():
        run = torch.compile(function, backend=torch_backend.backend)
        for _ in range(2):
            torch.testing.assert_close(run(*given), function(*copies))
    for x, copy in zip(given, copies):
        torch.testing.assert_close(x, copy)


ROWS = torch.tensor([2, 0, 3, 1])


def inverse(rows):
    """As experts of a mixture restore the order of tokens."""
    at = torch.empty_like(rows)
    at[rows] = torch.arange(4)
    return at


def test_new_tensors_are_changed(found):
    same(inverse, ROWS)
    assert found == ["aten::index_put_"]
    same(lambda x, at: torch.zeros_like(x).scatter(0, at, x), torch.randn(4, dtype=torch.complex64), ROWS)
    assert found == ["aten::scatter_"]


def read_again(x, at):
    y = torch.cumprod(x, 0)
    return y.index_copy(0, at, x), y


def with_itself(x, at):
    y = torch.cumprod(x, 0)
    return y.index_copy(0, at, y)


def expanded(x, at):
    return x[:1].expand(4).scatter(0, at, x)


def argument(x, at):
    return x.index_copy(0, at, x * 2)


def a_view(x, at):
    y = torch.cumprod(x, 0)
    return y.view(2, 2).view(4).index_copy(0, at, x), y.sum()


@pytest.mark.parametrize("function", [read_again, with_itself, expanded, argument, a_view])
def test_other_tensors_are_not(found, function):
    same(function, torch.randn(4), ROWS)
    assert found == []
