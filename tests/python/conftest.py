"""When ctest runs these tests, the package and the library are the build's. Without names of tests (`-k`, `file.py::test`), parameterized
tests of the modules that tests/suite/sampled.txt names are sampled; ZELLIGE_ALL=1 takes all of them."""

import os
import pathlib
import sys

import pytest

np = pytest.importorskip("numpy", reason="NumPy is not installed")

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "suite"))
import sampled  # noqa: E402


def pytest_collection_modifyitems(config, items):
    """Deselects what the sample omits."""
    if "ZELLIGE_ALL" in os.environ or config.option.keyword or any("::" in name for name in config.args):
        return
    omitted = set()
    for module, of in sampled.modules(sampled.LIST.read_text()).items():
        if not (HERE / f"{module}.py").exists():
            raise pytest.UsageError(f"{sampled.LIST}: {HERE} has no {module}.py")
        own = [item for item in items if item.path == HERE / f"{module}.py"]
        omitted |= {own[i] for i in sampled.omitted([item.originalname for item in own], of)}
    if omitted:
        config.hook.pytest_deselected(items=[item for item in items if item in omitted])
        items[:] = [item for item in items if item not in omitted]


@pytest.fixture(autouse=True)
def _decided_anew():
    """What the torch backend decides depends on functions that tests replace, so it is not taken from the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        if "torch" in sys.modules and "zellige" in sys.modules:
            from zellige.torch import options

            patch.setattr(options, "CACHE", False)
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def refusal(work) -> str:
    """The whole message with which it is refused."""
    import zellige

    with pytest.raises(zellige.Error) as caught:
        work()
    return str(caught.value)


@pytest.fixture(name="refusal")
def _refusal():
    return refusal
