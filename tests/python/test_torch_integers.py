"""Random functions on integers, masks, indices and views: the backend's results equal eager's bit for bit.

12 functions by default, of sizes 3 to 7 and of sizes 0 and 1; with ZELLIGE_ALL=1 300 of each. ZELLIGE_INTEGERS_SEED draws others.
"""

import os

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
import integer_functions  # noqa: E402
from rewrites import law  # noqa: E402
from zellige import torch_backend  # noqa: E402

COUNT = 300 if "ZELLIGE_ALL" in os.environ else 12
SEED = int(os.environ.get("ZELLIGE_INTEGERS_SEED", "61")) * 100000


def check(function, inputs):
    """Compares the function's results with eager's, and returns the report."""
    torch._dynamo.reset()
    expected = function(*inputs)
    found = torch.compile(function, backend="zellige", options={"take": "all"})(*inputs)
    for word, f, e in zip(function.words, found, expected):
        assert f.dtype == e.dtype and f.shape == e.shape, f"{function}: {word}: expected {e.dtype} {tuple(e.shape)}, found {f.dtype} {tuple(f.shape)}"
        assert torch.equal(f, e), f"{function}: {word}: expected {e}, found {f}"
    report = torch_backend.reports[-1]
    assert not report.faults and not report.rejected, f"{function}: {report}"
    return report


@pytest.mark.parametrize("index", range(COUNT))
def test_integers_equal_eagers(index):
    check(*integer_functions.draw(SEED + index))


@pytest.mark.parametrize("index", range(COUNT))
def test_integers_of_sizes_0_and_1_equal_eagers(index):
    check(*integer_functions.draw(SEED + 50000 + index, (0, 1, 1, 2)))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.int16])
def test_bits_of_a_number(dtype):
    """Runs of ones at either end and between, and negative numbers, whose ones do not end."""
    numbers = [0, 1, 6, 15, 85, 112] + ([] if dtype == torch.uint8 else [-1, -2, -6, -128, 0b101100])

    def function(x):
        return [of(x, n) for n in numbers for of in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor)]

    low, high = (0, 256) if dtype == torch.uint8 else (-32768, 32768)
    x = torch.randint(low, high, (3, 40), generator=torch.Generator().manual_seed(3)).to(dtype)
    x = x * (1 << 30) + 12345 if dtype == torch.int64 else x  # the reference has 53 bits
    run = law.compiled(function, [x])
    assert run.parts == 1 and all(torch.equal(f, e) and f.dtype == dtype for f, e in zip(run.results, function(x)))


def test_a_divisor_beyond_the_dtype_is_torchs():
    """torch's kernel keeps the lower bits of such a number."""
    x = torch.arange(0, 250, 7).to(torch.uint8)
    run = law.compiled(lambda x: (x % 300, x // 300, torch.fmod(x, 300), x % 200), [x])
    assert run.parts == 1 and all(map(torch.equal, run.results, (x % 300, x // 300, torch.fmod(x, 300), x % 200)))


def test_most_operators_are_taken():
    """Functions that are left to torch say nothing of programs."""
    reports = [check(*integer_functions.draw(SEED + index)) for index in range(12)]
    assert sum(r.taken for r in reports) >= 0.7 * sum(r.operators for r in reports)
