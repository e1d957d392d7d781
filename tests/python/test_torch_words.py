"""What the torch backend reports names the user's operator and line, never a node, a part or a traced tensor."""

import inspect
import warnings

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import zellige  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.execute import part, traced  # noqa: E402


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)

    def forward(self, x):
        h = self.first(x).relu() * 2
        return torch.softmax(h, -1)


def report(function, *inputs):
    torch._dynamo.reset()
    torch_backend.reports.clear()
    with torch.no_grad():
        torch.compile(function, backend="zellige")(*inputs)
    return torch_backend.reports[0]


def line(text, of=None):
    """Returns the place of the line that contains a string, in a function of this file, as messages have it."""
    lines, first = inspect.getsourcelines(of)
    at, found = next((i, one) for i, one in enumerate(lines) if text in one)
    return f"{__file__}:{first + at}", found.strip()


def left_by(x):
    y = x.cumprod(0)
    z = torch.sort(y * 2)[0]
    return z.to(torch.complex64) + x.exp()


def test_an_operator_that_is_left_has_the_users_line():
    r = report(left_by, torch.randn(4, 4))
    expected = {
        "aten.cumprod.default": ("is not known", "cumprod"),
        "aten._to_copy.default": ("dtype: expected one of f16, bf16, f32, e4m3, e5m2, int8, int32, bool, uint8, int16, int64, int4, uint4, e2m1, e8m0, f64, found torch.complex64", "complex64"),
    }
    for name, (why, text) in expected.items():
        place, code = line(text, left_by)
        assert r.left[name] == f"{why} ({place}: {code})"
    assert not any("getitem" in name or "operand is left" in why for name, why in r.left.items())


def nine(x):
    return (x * 2).relu()


@pytest.mark.parametrize(
    "shape, why",
    [
        ((2,) * 9, "expected an operand to have 1 to 8 dimensions, found 9"),
    ],
)
def test_an_operand_has_no_name_of_a_node(shape, why):
    place, code = line("relu", nine)
    assert report(nine, torch.randn(*shape)).left == dict.fromkeys(("aten.mul.Tensor", "aten.relu.default"), f"{why} ({place}: {code})")


def norm_of_two(x):
    return torch.layer_norm(x, (4, 8)) * 2


def not_a_number(x):
    return x * float("nan")


def above_no_number(x):
    return (x > float("nan")).to(x.dtype) * 2


def too_many(x):
    return x.var(0, correction=10) * 2


LEFT = [
    (norm_of_two, "aten.native_layer_norm.default", "expected a norm over the last dimension, found [4, 8]"),
    (not_a_number, "aten.mul.Tensor", "expected real numbers, found nan"),
    (above_no_number, "gt", "expected real numbers, found nan"),
    (too_many, "aten.var.correction", "expected more elements than the correction, found 4 and 10"),
]


@pytest.mark.filterwarnings("ignore:var")
@pytest.mark.parametrize("function, name, why", LEFT, ids=[name for _, name, _ in LEFT])
def test_what_is_not_taken_is_told_with_both_numbers(function, name, why):
    place, code = line("return", function)
    assert report(function, torch.randn(4, 8)).left[name] == f"{why} ({place}: {code})"


def changing(x, c):
    c.add_(x * 2)
    y = c[1:] * 3
    c[0].mul_(2)
    return y


def test_an_update_that_torch_copies_has_the_users_line():
    r = report(changing, torch.randn(4, 4), torch.randn(4, 4))
    place, code = line("mul_", changing)
    assert r.left["aten.copy_.default"] == f"expected a new value that one part computes in the argument's memory, found one that torch copies there ({place}: {code})"


def test_a_part_that_cannot_be_traced_names_the_operator(monkeypatch):
    evaluate = traced.Rows.evaluate

    def failing(self, node, arrays):
        if "relu" in str(node.target):
            raise zellige.Error("reshape: expected a shape of 6 elements, found 5")
        return evaluate(self, node, arrays)

    monkeypatch.setattr(traced.Rows, "evaluate", failing)
    r = report(Model(), torch.randn(5, 8))
    (place, code), (last, _) = line("relu", Model), line("softmax", Model)
    assert f"left: fused_0 (Linear to softmax, {place} to {last}): relu: expected a shape of 6 elements, found 5 ({place}: {code})" in str(r)


def test_a_fault_of_the_library_names_the_operators(monkeypatch):
    def failing(graph, **_):
        at = next(i for i, o in enumerate(form["operators"]) if o["op"] == "relu")
        tensor = form["operators"][at]["inputs"][0]
        raise zellige.Fault(f"graph fused_0, operator {at} (relu): expected {tensor} of 3 elements, found 4")

    form, made = {}, part._native.Graph

    def graph(given, *name):
        form.update(given if name == ("fused_0",) else {})
        return made(given, *name)

    monkeypatch.setattr(part._native, "Graph", graph)
    monkeypatch.setattr(part._native, "Program", failing)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        r = report(Model(), torch.randn(5, 8))
    (place, code), (last, _) = line("relu", Model), line("softmax", Model)
    reason = f"relu ({place}: {code}): expected Linear ({place}: {code}) of 3 elements, found 4"
    name = f"fused_0 (Linear to softmax, {place} to {last})"
    assert r.faults == [f"{name}: {reason}"]
    assert str(told[-1].message) == f"zellige leaves {name} to torch, by a fault of its own: {reason}"


def test_a_lazily_negated_tensor_is_negated():
    function = lambda x: (x * 2).relu() + 1  # noqa: E731
    x = torch.randn(4, 8, dtype=torch.complex64).conj().imag
    assert x.is_neg()
    with torch.no_grad():
        assert torch.equal(torch.compile(function, backend="zellige")(x), function(x))
