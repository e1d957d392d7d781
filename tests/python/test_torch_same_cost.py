"""torch.compile(backend="zellige") on parts of models, each in at least six spellings (spelled_rows.py, spelled_products.py): each
spelling has the number of kernels of the first, and the same estimated time within 3%. Spellings in the operators of Zellige's graphs are in
tests/fuse/spellings_test.cpp; these are what people write in torch. By default a sample, ZELLIGE_ALL=1 takes all."""

import functools
import pathlib
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import spelled_products  # noqa: E402
import spelled_rows  # noqa: E402

TOLERANCE = 0.03
PARTS = spelled_rows.PARTS | spelled_products.PARTS
# Spellings that cost otherwise, and why. Where one no longer does, its row is to be removed.
DIFFERENT = {
    ("linear with a bias", "einsum"): "a permute of the dimensions of 1 that a reshape adds, before a product",
    ("projections", "einsum"): "a permute of the dimensions of 1 that a reshape adds, before a product",
    ("scaled scores", "einsum"): "a permute of the dimensions of 1 that a reshape adds, before a product",
    ("low rank", "einsum"): "a permute of the dimensions of 1 that a reshape adds, before a product",
    ("gelu", "distribution"): "torch makes the normal distribution of erf, whose product with x is not recognised",
    ("relu after bias", "where"): "where(NaN > 0, NaN, 0) is 0, and relu(NaN) is NaN",
    ("softmax", "transposed"): "no rule moves a softmax between two permutes",
    ("mean of rows", "pooled"): "the mean of a dimension of 1, and of the other one, keep their dimensions",
    ("mean of rows", "flattened"): "a mean along two dimensions is two means",
    ("residual and norm", "flat"): "a sum that is a result is normalized in another shape",
    ("sum of squares", "einsum"): "einsum makes a product of matrices of one row",
    ("norm and linear", "einsum"): "the norm is three-dimensional, and einsum's product is not",
    ("attention", "einsum"): "batches and heads are one dimension, which costs less",
    ("attention", "two dimensions fewer"): "batches and heads are one dimension, which costs less",
    ("grouped attention", "stack"): "torch concatenates along the keys, and views the result",
}
MAX_DIFFERENT = 15  # may only fall


def results(made):
    return made if isinstance(made, tuple) else (made,)


@functools.cache
def compiled(part, spelling):
    """Returns the number of kernels of a spelling, their estimated time, and the backend's report."""
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    inputs, spellings = PARTS[part]
    with torch.no_grad():
        torch.compile(spellings[spelling], backend=torch_backend.backend)(*inputs())
    parts = [p for r in torch_backend.reports for p in r.parts]
    return sum(len(p.manifest["kernels"]) for p in parts), sum(p.price for p in parts), "; ".join(map(str, torch_backend.reports))


def first(part):
    return next(iter(PARTS[part][1]))


def test_there_are_forty_parts_in_six_spellings():
    assert len(PARTS) >= 40 and len(PARTS) == len(spelled_rows.PARTS) + len(spelled_products.PARTS)
    assert all(len(spellings) >= 6 for _, spellings in PARTS.values())
    assert len(DIFFERENT) <= MAX_DIFFERENT and all(s in PARTS[part][1] and s != first(part) for part, s in DIFFERENT)


@pytest.mark.parametrize("part", PARTS)
def test_spellings_of_a_part_mean_the_same(part):
    inputs, spellings = PARTS[part]
    expected = results(spellings[first(part)](*inputs()))
    for name, spelling in spellings.items():
        for x, y in zip(results(spelling(*inputs())), expected, strict=True):
            steps = 2**-4 if y.dtype == torch.bfloat16 else 2**-16
            assert x.shape == y.shape and (x - y).float().abs().max() <= steps * y.float().abs().max(), name


@pytest.mark.parametrize("part, spelling", [(part, s) for part, (_, spellings) in PARTS.items() for s in list(spellings)[1:]])
def test_a_spelling_has_the_kernels_and_the_estimated_time_of_the_first(part, spelling):
    kernels, us, _ = compiled(part, first(part))
    found, found_us, report = compiled(part, spelling)
    if (part, spelling) in DIFFERENT:
        assert found != kernels or abs(found_us / us - 1) > TOLERANCE, "no longer different"
    else:
        assert found == kernels and abs(found_us / us - 1) <= TOLERANCE, f"{found} kernels of {found_us:.2f} us, not {kernels} of {us:.2f}: {report}"
