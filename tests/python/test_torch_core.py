"""ATen's core operators: the page lists those that the backend takes, and a call of each has eager's result."""

import os

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
import core_operators  # noqa: E402
import op_samples  # noqa: E402
from zellige import torch_backend  # noqa: E402

UNDEFINED = (torch.ops.aten.empty.memory_format, torch.ops.aten.empty_strided.default)
CALLED = [t for t in core_operators.CALLS if torch.Tag.nondeterministic_seeded not in t.tags and t not in UNDEFINED and "_out" not in str(t)]
CALLED = CALLED if "ZELLIGE_ALL" in os.environ else CALLED[::12]


def test_the_page_has_the_table_of_operators():
    """Of all operators with ZELLIGE_ALL=1; else each operator is in it, and some are tried."""
    (table,) = core_operators.TABLE.findall(core_operators.PAGE.read_text())
    if "ZELLIGE_ALL" in os.environ:
        assert table == core_operators.table(), "the page differs: python tests/python/core_operators.py --fix"
    first, *rows = table.split("| left to PyTorch |")
    for i, target in enumerate(core_operators.core()):
        name = f"`{str(target).removeprefix('aten.').removesuffix('.default')}`"
        assert (name in first) != (f"| {name} |" in rows[0]), name
        if i % 12 == 0:
            assert (core_operators.outcome(target)[0] is True) == (name in first), name


def test_each_operator_that_is_left_has_a_reason():
    assert core_operators.REASONS.keys() <= set(core_operators.core()) and all(core_operators.REASONS.values())


def differs(found, eager, wide):
    if isinstance(eager, (tuple, list)):
        return next((says for f, e, w in zip(found, eager, wide) if (says := differs(f, e, w))), None)
    if not isinstance(eager, torch.Tensor):
        return None if found == eager else f"expected {eager}, found {found}"
    return op_samples.differs(found, eager, wide)


@pytest.mark.parametrize("target", CALLED, ids=str)
def test_a_call_has_eagers_result(target):
    function, tensors = core_operators._function(target, core_operators.CALLS[target])
    torch._dynamo.reset()
    with torch.no_grad():
        eager = function(*tensors)
        try:
            wide = function(*(x.double() if x.is_floating_point() else x for x in tensors))
        except RuntimeError:  # torch has no kernel for float64 there
            wide = eager
        found = torch.compile(function, backend="zellige", options={"take": "all"})(*tensors)
    assert differs(found, eager, wide) is None
    report = torch_backend.reports[-1]
    assert not report.faults and not report.rejected, str(report)
