"""When ctest runs these tests, the package and the library are the build's."""

import pytest

np = pytest.importorskip("numpy", reason="NumPy is not installed")


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
