"""The function that dynamo calls for a graph: AOT's wrappers only if they have something to do."""

import sys

import pytest

torch = pytest.importorskip("torch")
from zellige import torch_backend  # noqa: E402


def called(function, *arguments, calls=3, **options):
    """(results of the last call, the files of torch's that a call of the graph went through)."""
    kept = []

    def backend(module, inputs):
        made = torch_backend.backend(module, inputs, options=options)

        def watched(*given):
            files, before = set(), sys.getprofile()
            sys.setprofile(lambda frame, event, arg: files.add(frame.f_code.co_filename) if event == "call" else None)
            try:
                return made(*given)
            finally:
                sys.setprofile(before)
                kept[:] = [files]

        return watched

    torch._dynamo.reset()
    run = torch.compile(function, backend=backend)
    for _ in range(calls):
        found = run(*arguments)
    return found, kept[0]


def wrappers(files) -> bool:
    return any("_functorch" in f for f in files)


def test_a_part_is_called_at_once():
    x, y = torch.randn(4, 8), torch.randn(4, 8)
    for taken in ("all", "cheaper"):  # the latter leaves relu to torch, and the graph as it was traced
        with torch.no_grad():
            found, files = called(lambda x, y: torch.relu(x + y), x, y, take=taken)
        assert torch.equal(found, torch.relu(x + y)) and not wrappers(files)
        assert not any(f.endswith(("fx/_lazy_graph_module.py", "nn/modules/module.py", "fx/graph_module.py")) for f in files), files


def test_operators_that_are_called_in_the_same_way_are_looked_up_once(monkeypatch):
    from zellige.torch.execute import direct

    tried, binding = [], direct._binding
    monkeypatch.setattr(direct, "_binding", lambda node: (tried.append(node.args[1]), binding(node))[1])

    def function(x):
        for _ in range(4):
            x = torch.cumprod(x, 0)
        return torch.cumprod(torch.cumprod(x, 1), 0)

    x = torch.randn(4, 8)
    with torch.no_grad():
        found, _ = called(function, x)
    assert torch.equal(found, function(x)) and tried == [0, 1]


def test_functions_of_networks_are_called_by_torchs_bindings(monkeypatch):
    from zellige.torch.execute import direct

    found, binding = [], direct._binding
    monkeypatch.setattr(direct, "_binding", lambda node: (found.append(binding(node)), found[-1])[1])

    def function(x):
        y = torch.nn.functional.interpolate(x + 1, scale_factor=0.5, mode="bicubic")
        return torch.nn.functional.interpolate(y, scale_factor=1.5, mode="bilinear") * 2

    x = torch.randn(2, 4, 20, 20)
    with torch.no_grad():
        torch.testing.assert_close(called(function, x)[0], function(x))
    assert [torch._C._nn.upsample_bicubic2d, torch._C._nn.upsample_bilinear2d] == [f for f in found if getattr(f, "__module__", "") == "torch._C._nn"]


def test_parameters_and_several_results():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU())
    x = torch.randn(4, 8)
    with torch.no_grad():
        (y, z), files = called(lambda x: (model(x), torch.cumprod(x, 0) * 2), x)
        torch.testing.assert_close(y, model(x))
        torch.testing.assert_close(z, torch.cumprod(x, 0) * 2)
    assert not wrappers(files)


def in_place(x):
    x.add_(1)
    return x * 2


def two_views(x):
    y = torch.relu(x) + 1
    return y.view(-1), y.t()


# Two views of one result matter to gradients alone, and an input that is returned is dynamo's.
@pytest.mark.parametrize("function, needed", [(in_place, True), (two_views, False), (lambda x: (x.view(-1), x * 2), True), (lambda x: (x, x + 1), False)])
def test_aots_wrappers_are_kept_where_they_are_needed(function, needed):
    x = torch.zeros(3, 4)
    version = x._version
    with torch.no_grad():
        found, files = called(function, x, calls=2)
        expected = function(x.clone() - (1 if function is in_place else 0))
    assert wrappers(files) == needed
    found, expected = (f if isinstance(f, tuple) else (f,) for f in (found, expected))
    for f, e in zip(found, expected, strict=True):
        assert torch.equal(f, e)
    if function is in_place:
        assert torch.equal(x, torch.full((3, 4), 2.0)) and x._version >= version + 2
    elif function is two_views:
        assert found[0].data_ptr() == found[1].data_ptr()
    else:
        assert found[0].data_ptr() == x.data_ptr()


def test_under_autocast_operators_are_not_cast_again():
    """The graph has its casts; what is left to torch, cumprod, is f32 in it."""
    x, w = torch.randn(4, 8), torch.randn(8, 8)

    def function(x, w):
        return torch.cumprod(x @ w, 0, dtype=torch.float32) @ w, torch.relu(x @ w)

    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        found, files = called(function, x, w)
        expected = function(x, w)
    assert wrappers(files) and [f.dtype for f in found] == [e.dtype for e in expected]


def test_gradients_that_are_on_and_not_needed():
    x = torch.randn(4, 8)
    found, files = called(lambda x: torch.relu(x) + 1, x)
    assert torch.equal(found, torch.relu(x) + 1) and not found.requires_grad and not wrappers(files)


def test_a_custom_operator_keeps_aots_check():
    @torch.library.custom_op("zellige_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    twice.register_fake(torch.empty_like)
    x = torch.randn(4)
    with torch.no_grad():
        found, files = called(lambda x: torch.relu(twice(x)) + 1, x)
    assert torch.equal(found, torch.relu(x * 2) + 1) and wrappers(files)
