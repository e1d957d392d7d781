"""Products of float32 are of tf32 where torch's setting for cuBLAS allows it, and of float32 elsewhere."""

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.import_.products import allows_tf32  # noqa: E402

SETTINGS = torch.backends.cuda.matmul
PRODUCTS = {  # functions of x, y and a bias
    "mm": (lambda x, y, c: x @ y, (24, 40), (40, 16)),
    "addmm": (lambda x, y, c: F.linear(x, y.T, c), (24, 40), (40, 16)),
    "bmm": (lambda x, y, c: torch.bmm(x, y), (3, 24, 40), (3, 40, 16)),
    "baddbmm": (lambda x, y, c: torch.baddbmm(c, x, y), (3, 24, 40), (3, 40, 16)),
}


@pytest.fixture(autouse=True)
def setting():
    """Sets torch as it was before the test."""
    torch._dynamo.reset()
    torch_backend.reports.clear()
    yield
    torch.set_float32_matmul_precision("highest")


def rounded(x):
    """Returns x rounded to 10 bits of fraction, ties away from zero."""
    return ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_of_what_torch_is_set_to(name):
    function, *shapes = PRODUCTS[name]
    torch.manual_seed(1)
    x, y, c = map(torch.randn, [*shapes, (16,)])
    exact, as_tf32 = (function(left.double(), right.double(), c.double()) for left, right in [(x, y), (rounded(x), rounded(y))])
    assert (exact - as_tf32).abs().max() > 1e-4  # so that the results distinguish them
    for precision, expected in {"highest": exact, "high": as_tf32, "medium": as_tf32}.items():
        torch.set_float32_matmul_precision(precision)
        with torch.no_grad():
            found = torch.compile(function, backend=torch_backend.backend, options={"take": "all"})(x, y, c)
        assert torch_backend.reports[-1].parts and (found - expected).abs().max() < 1e-5
        torch._dynamo.reset()


def test_narrow_products_are_unchanged():
    torch.set_float32_matmul_precision("high")
    x = torch.randn(24, 40).half()
    with torch.no_grad():
        found = torch.compile(lambda x: x @ x.mT, backend=torch_backend.backend)(x)
    assert torch.allclose(found, x @ x.mT, atol=1e-2)


def test_each_of_torchs_ways_to_set_it_counts():
    assert not allows_tf32()
    SETTINGS.allow_tf32 = True
    assert allows_tf32()
    SETTINGS.allow_tf32 = False
    assert not allows_tf32()
    if getattr(SETTINGS, "fp32_precision", None) is not None:
        SETTINGS.fp32_precision = "tf32"
        assert allows_tf32()
        SETTINGS.fp32_precision = "ieee"
        assert not allows_tf32()
