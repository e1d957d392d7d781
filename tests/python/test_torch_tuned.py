"""The warning on a GPU whose expected times nobody measured."""

import warnings

import pytest
import zellige
from zellige import _native

torch = pytest.importorskip("torch", reason="torch is not installed")
import zellige.torch_backend  # noqa: E402
from zellige.torch import backend  # noqa: E402


def warned(monkeypatch, target, calls=2):
    """Returns the warnings of some graphs on a GPU of the target."""
    monkeypatch.setattr(_native, "gpu", lambda: (target, "" if target else "no GPU"))
    backend._warn_if_untuned.cache_clear()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(calls):
            backend._warn_if_untuned()
    backend._warn_if_untuned.cache_clear()
    return [str(w.message) for w in found]


@pytest.mark.parametrize("target", ["sm_80", "sm_100a", "sm_120a"])
def test_a_gpu_that_is_not_tuned_is_named_once(monkeypatch, target):
    (message,) = warned(monkeypatch, target)
    assert message == (
        f"zellige is not tuned on this GPU ({target}): expected times are of data sheets; parts that torch's kernels beat here are left to "
        "torch, as on every GPU"
    )


@pytest.mark.parametrize("target", ["sm_90a", ""])
def test_a_gpu_that_is_tuned_and_a_machine_without_one_are_not(monkeypatch, target):
    assert warned(monkeypatch, target) == []


def test_a_graph_on_the_cpu_is_not(monkeypatch):
    monkeypatch.setattr(backend, "_warn_if_untuned", lambda: pytest.fail("a graph on the CPU"))
    x = torch.ones(4)
    with torch.no_grad():
        assert torch.equal(torch.compile(lambda x: x + 1, backend="zellige")(x), x + 1)


def test_targets_are_listed():
    targets = _native.targets()
    assert [name for name, row in targets.items() if row["tuned"]] == ["sm_90a"]
    assert targets["sm_120a"] == {"name": "sm_120a", "compute_capability": 120, "tuned": False}
    assert all(name.removesuffix("a") == f"sm_{row['compute_capability']}" for name, row in targets.items())
    with pytest.raises(zellige.Error, match="known targets are " + ", ".join(targets)):
        zellige.compile(lambda x: x + 1, zellige.TensorSpec((8,), "f32"), target="sm_7")
