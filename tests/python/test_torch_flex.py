"""flex_attention under torch.compile: random scores and masks at random sizes give what eager's do, by programs.
ZELLIGE_ALL=1 takes all of them."""

import os
import random
import unittest.mock
import warnings

import pytest

torch = pytest.importorskip("torch")
from rewrites import law, of_flex  # noqa: E402
from rewrites.draws import Draw  # noqa: E402
from torch.nn.attention import flex_attention as flex  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.execute import open_part, part  # noqa: E402

SEED, HEADS = 60, 4
ALL = "ZELLIGE_ALL" in os.environ
CASES = [(score, None) for score in of_flex.SCORES] + [(None, mask) for mask in of_flex.MASKS] + [("soft cap", "causal documents"), ("alibi", "window")]
TAKEN = [(names, dynamic) for names in CASES for dynamic in (False, True)] if ALL else [(("alibi", "window"), True)]


@pytest.fixture(autouse=True)
def _anew():
    torch._dynamo.reset()
    torch_backend.reports.clear()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        yield


def draws(names, count, grouped, lse, dtype=torch.float32):
    """Yields (a function of tensors, its tensors) for random sizes."""
    score, mask = (of[name][1] if name else None for of, name in zip((of_flex.SCORES, of_flex.MASKS), names))

    def run(q, k, v, scored, masked):
        score_mod = None if score is None else lambda x, b, h, q, k: score(x, b, h, q, k, *scored)
        mask_mod = lambda b, h, q, k: mask(b, h, q, k, *masked)  # noqa: E731
        block_mask = None if mask is None else flex.create_block_mask(mask_mod, q.shape[0], HEADS, q.shape[2], k.shape[2], "cpu")
        return flex.flex_attention(q, k, v, score_mod, block_mask, enable_gqa=grouped, **({"return_aux": flex.AuxRequest(lse=True)} if lse else {}))

    of, choice = Draw(f"{SEED} {names}", 0), random.Random(f"{SEED} {names}")
    for _ in range(count):
        batch, queries, keys = choice.randint(2, 3), choice.randint(9, 14), choice.randint(15, 24)
        shape = of_flex.Shape(batch, HEADS, queries, keys, 48)
        captured = [() if name is None else table[name][0](of, shape) for table, name in zip((of_flex.SCORES, of_flex.MASKS), names)]
        q = of.tensor(batch, queries, HEADS, 8, dtype=dtype, special=False).transpose(1, 2)
        k, v = (of.tensor(batch, HEADS // (1 + grouped), keys, 8, dtype=dtype, special=False) for _ in range(2))
        yield run, (q, k, v, *captured)


def check(names, dynamic, count, **options):
    compiled = None
    for run, given in draws(names, count, **options):
        compiled = compiled or torch.compile(run, backend=torch_backend.backend, dynamic=dynamic, options={"take": "all"})
        with unittest.mock.patch.object(flex, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True):
            expected = run(*given)
        found = compiled(*given)
        for x, y in zip(*map(lambda made: torch.utils._pytree.tree_flatten(made)[0], (found, expected)), strict=True):
            assert (x is None) == (y is None)
            if x is not None:
                assert x.stride() == y.stride()
                torch.testing.assert_close(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("names", "dynamic"), TAKEN, ids=str)
def test_random_functions_of_positions(names, dynamic):
    programs = law.by_reference(fuse=True)
    with unittest.mock.patch.object(part, "_native", programs), unittest.mock.patch.object(open_part, "_native", programs):
        check(names, dynamic, 3 if dynamic else 1, grouped=names[0] is None, lse=names[1] is None)
    assert len(torch_backend.reports) <= 2
    left = {name for r in torch_backend.reports for name in r.left}
    assert all(r.parts and not r.faults for r in torch_backend.reports) and not any("flex" in name for name in left), "\n".join(map(str, torch_backend.reports))


def test_kernels_have_the_mask_and_no_table_of_blocks():
    """Emulated: what the graph computes is one kernel of attention, whose mask and score are functions of positions."""
    check(("soft cap", "causal"), False, 1, grouped=True, lse=False)
    (report,) = torch_backend.reports
    assert report.taken == report.operators and [len(p.manifest['kernels']) for p in report.parts] == [1], str(report)


def test_what_is_no_function_of_numbers_is_left_with_a_sentence():
    bias = torch.ones(HEADS, 6)
    q = torch.randn(2, HEADS, 6, 8)
    run = lambda q: flex.flex_attention(q, q, q, lambda x, b, h, q, k: x + bias[h].sum())  # noqa: E731
    with unittest.mock.patch.object(flex, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True):
        expected = run(q)
    torch.testing.assert_close(torch.compile(run, backend=torch_backend.backend)(q), expected)
    (why,) = torch_backend.reports[0].left.values()
    assert why.startswith("score_mod calls aten.sum.dim_IntList on positions or scores, which is no elementwise operator, and does not take one element of a captured tensor (")
