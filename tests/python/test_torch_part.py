"""The function that calls a part directly, as for a GPU's tensors, here on the emulator; and the Python around the parts."""

import types

import pytest

torch = pytest.importorskip("torch")
from zellige import torch_backend  # noqa: E402
from zellige.torch import execute  # noqa: E402


@pytest.fixture
def parts(monkeypatch):
    """Parts as they are made; on the CPU, too, they are called at once."""
    made, plan = [], execute.part.Part.plan

    def direct(self, *arguments):
        program = plan(self, *arguments)
        self.call = self.direct(torch.device("cpu"))
        self.refusals, checked = 0, self.checked

        def counted(*given):
            self.refusals += 1
            return checked(*given)

        self.checked = counted
        made.append(self)
        return program

    monkeypatch.setattr(execute.part.Part, "plan", direct)
    torch._dynamo.reset()
    return made


def compiled(function, *arguments):
    with torch.no_grad():
        run = torch.compile(function, backend=torch_backend.backend)
        run(*arguments)
    return run


def close(found, expected):
    for f, e in zip(found, expected, strict=True):
        torch.testing.assert_close(f, e, rtol=1e-3, atol=1e-3)


def layer(x, w, g):
    h = torch.relu(x @ w)
    return h * g, h.view(-1), x, h.sum(-1)


def layers_tensors(seed):
    torch.manual_seed(seed)
    return torch.randn(8, 16), torch.randn(16, 32), torch.randn(32)


def test_results_of_all_kinds(parts):
    run = compiled(layer, *layers_tensors(1))
    given = layers_tensors(2)
    with torch.no_grad():
        close(run(*given), layer(*given))
    assert [p.refusals for p in parts] == [0]


def test_what_lies_otherwise_is_copied_from_then_on(parts):
    run = compiled(layer, *layers_tensors(1))
    x, w, g = layers_tensors(3)
    transposed = w.t().contiguous().t()
    strided = torch.randn(17 * 32)[1:].as_strided((16, 32), (33, 1))
    (part,) = parts
    with torch.no_grad():
        for other in (transposed, transposed, strided, w):
            close(part.call(*in_order(part, x, other, g)), in_part(part, x, other, g))
    assert part.refusals == 1
    with torch.no_grad():
        close(run(x, w, g), layer(x, w, g))


def in_order(part, *tensors):
    """Arguments in the part's order, by their shapes."""
    shapes = [tuple(n.meta["val"].shape) for n in part.module.graph.nodes if n.op == "placeholder"]
    return [next(t for t in tensors if tuple(t.shape) == s) for s in shapes]


def in_part(part, *tensors):
    return part.module(*in_order(part, *tensors))


def test_another_dtype_or_shape_is_torchs(parts):
    compiled(layer, *layers_tensors(1))
    (part,) = parts
    for x, w, g in ([t.double() for t in layers_tensors(4)], (torch.randn(4, 16), *layers_tensors(4)[1:])):
        given = [dict(zip(("x", "w", "g"), (x, w, g)))[n] for n in arguments_of(part)]
        with torch.no_grad():
            close(part.call(*given), part.module(*given))
    assert part.refusals == 2


def arguments_of(part):
    shapes = {(8, 16): "x", (16, 32): "w", (32,): "g"}
    return [shapes[tuple(n.meta["val"].shape)] for n in part.module.graph.nodes if n.op == "placeholder"]


def test_numbers_without_dimensions(parts):
    function = lambda x, s: torch.relu(x * s).sum()  # noqa: E731
    run = compiled(function, torch.randn(8, 8), torch.tensor(2.0))
    for value in (3.0, 4.0):
        x = torch.randn(8, 8)
        with torch.no_grad():
            close([run(x, torch.tensor(value))], [function(x, torch.tensor(value))])


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, 16, 8))

    def forward(self, x):
        self.rows[:, 3:4] = torch.relu(x) * 2
        return self.rows.sum(1)


def test_a_cache_is_changed_where_it_lies(parts):
    model, own = Cache(), Cache()
    run = compiled(model, torch.randn(4, 1, 8))
    for seed in (1, 2):
        torch.manual_seed(seed)
        x = torch.randn(4, 1, 8)
        with torch.no_grad():
            close([run(x)], [own(x)])
        close([model.rows], [own.rows])
    assert any(p.updates for p in parts) and [p.refusals for p in parts] == [0] * len(parts)
    model.rows = torch.zeros(4, 8, 16).transpose(1, 2)  # lies otherwise: copied there and back
    model.rows.copy_(own.rows)
    for part in parts:
        if part.updates:
            rows, x = model.rows, torch.randn(4, 1, 8)
            given = [rows if tuple(n.meta["val"].shape) == (4, 16, 8) else x for n in part.module.graph.nodes if n.op == "placeholder"]
            with torch.no_grad():
                part.call(*given)
                own(x)
            close([rows], [own.rows])


def test_around_the_parts_are_functions_alone(parts, monkeypatch):
    from zellige.torch.execute import direct

    modules, straighten = [], direct.straighten
    monkeypatch.setattr(direct, "straighten", lambda module: (straighten(module), modules.append(module)))

    def function(x, w):
        y = torch.nn.functional.interpolate(torch.relu(x) * 2, scale_factor=2, mode="bicubic")
        values, rows = torch.topk(torch.sigmoid(y * w) + 1, 2)
        return values * 3 - 1, rows

    given = torch.randn(1, 2, 8, 8), torch.randn(2, 1, 1)
    run = compiled(function, *given)
    (module,) = modules
    assert [n.op for n in module.graph.nodes if n.op == "call_module"] == []
    assert "upsample_bicubic2d" in module.code and "fused_" in module.code
    with torch.no_grad():
        (values, rows), (values_own, rows_own) = run(*given), function(*given)
    close([values], [values_own])
    assert torch.equal(rows, rows_own)
    assert len(parts) == len(torch_backend.reports[-1].parts) > 1


@torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True)
def test_sizes_that_depend_on_data_are_left_to_torch():
    torch._dynamo.reset()
    x, function = torch.tensor([0.0, 1.0, 0.0, 2.0]), lambda x: torch.nonzero(torch.relu(x)) * 2
    run = compiled(function, x)
    with torch.no_grad():
        for given in (x, -x, x + 1):
            assert torch.equal(run(given), function(given))


def layouts(x):
    y = torch.relu(x) + 1
    return y, y.clone(memory_format=torch.contiguous_format), y.clone(), x.clone()


def test_clones_are_tensors_of_their_own_in_their_layouts(parts):
    """Also where the program finds them in one array, or in an argument."""
    given = torch.randn(2, 8, 3, 5).to(memory_format=torch.channels_last)
    run = compiled(layouts, given)
    with torch.no_grad():
        found, expected = run(given), layouts(given)
    close(found, expected)
    assert [f.stride() for f in found] == [e.stride() for e in expected] and expected[0].stride() != expected[1].stride()
    assert len({f.data_ptr() for f in (given, *found)}) == 5 and [p.refusals for p in parts] == [0]
    checked = parts[0].checked(given)
    assert sorted(c.stride() for c in checked) == sorted(e.stride() for e in expected)
    assert len({c.data_ptr() for c in (given, *checked)}) == 5


def batch_of_one(x, w):
    y = torch.relu(x @ w) + 1
    return y, y.transpose(1, 2) * 2, y.view(8, 1, 16) * 3, y.permute(1, 0, 2).relu() - y.view(8, 1, 16), y[:, 1:].transpose(1, 2)


def test_dimensions_of_one_element_have_torchs_strides(parts):
    """Convolutions choose the layout of what they make by them."""
    given = torch.randn(1, 8, 12), torch.randn(12, 16)
    run = compiled(batch_of_one, *given)
    with torch.no_grad():
        found, expected = run(*given), batch_of_one(*given)
        refusals, checked = [p.refusals for p in parts], parts[0].checked(*given)
    close(found, expected)
    assert [f.stride() for f in found] == [e.stride() for e in expected] and refusals == [0]
    assert [c.stride() for c in checked] == [e.stride() for e in expected[: len(checked)]]


def test_strides_of_dimensions_of_one_element_are_the_declared_ones():
    """If a program's own strides differ."""
    output = types.SimpleNamespace(shape=(1, 8, 16), strides=(16, 16, 1))
    part = types.SimpleNamespace(program=types.SimpleNamespace(outputs=[output]), which=[0, 0], shapes=[(8, 16), (1, 8, 16)], strides=[(16, 1), (200, 16, 1)])
    assert execute.part.Part._strides_of(part, 0) == (200, 16, 1)
    part.shapes = [(8, 16), (8, 1, 16)]
    assert execute.part.Part._strides_of(part, 0) == (16, 16, 1)
    made = torch.empty_strided((8, 16), (16, 1))
    assert execute.part.viewed(made, (1, 8, 16), (200, 16, 1)).stride() == (200, 16, 1)
    assert execute.part.viewed(made, (1, 8, 16), (200, 1, 8)).stride() == (128, 16, 1)  # another order is no matter of such a dimension


def test_an_argument_in_another_layout_is_a_programs_copy(parts):
    """As the weights of convolutions in channels-last; torch's kernel for it reads and writes slowly. A copy in the same
    layout is torch's."""

    def function(x, w, v):
        return torch.relu(x) + 1, w.clone(memory_format=torch.channels_last), v.clone()

    given = torch.randn(2, 8, 3, 5), torch.randn(4, 3, 2, 2), torch.randn(4, 3)
    run = compiled(function, *given)
    with torch.no_grad():
        found, expected = run(*given), function(*given)
    close(found, expected)
    (part,) = parts
    assert [f.stride() for f in found] == [e.stride() for e in expected]
    assert len(part.program.outputs) == 2 and part.refusals == 0
    assert len({t.data_ptr() for t in (*given, *found)}) == 6


COPIED = {
    "expanded": lambda x: x[:1].expand(7, 4),
    "expanded without dimensions": lambda x: x[0, 0].expand(7, 4),
    "windows": lambda x: x.flatten()[:16].unfold(0, 4, 2),
    "overlapping": lambda x: torch.as_strided(x, (7, 4), (1, 1)),
}


@pytest.mark.parametrize("kind", COPIED)
def test_an_operand_that_programs_cannot_read_in_place_is_copied(parts, kind):
    x, y = COPIED[kind](torch.randn(7, 4)), torch.randn(7, 4)
    for function in (lambda x, y: torch.relu(x * y) + 1, lambda x, y: (x.clone(), x + y), lambda x, y: (x.t() @ y, x.sum(1), y * 2)):
        run = compiled(function, x, y)
        assert parts[-1].copied and torch_backend.reports[-1].left == {}
        with torch.no_grad():
            for found, expected in zip(*(f if isinstance(f, tuple) else (f,) for f in (run(x, y), function(x, y)))):
                torch.testing.assert_close(found, expected)
                assert found.stride() == expected.stride()
        assert parts[-1].refusals == 0


def test_one_that_is_changed_in_place_is_not_copied():
    def function(x, y):
        return x.add_(torch.relu(y)) * 2

    x = torch.randn(1, 4).expand(3, 4)
    torch._dynamo.reset()
    with torch.no_grad(), pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.compile(function, backend=torch_backend.backend)(x, torch.randn(3, 4))
