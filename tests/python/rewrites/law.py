"""The law of rewrites: a rewrite is applied where its condition holds, with the results of eager torch, and nowhere else.

    run = compiled(function, inputs)      run.results, run.applied (a Counter by name), run.parts
    check(rewrite, index)                 one draw on which the condition holds
    check_broken(rewrite, index)          one draw on which it does not

Programs are evaluated by the library's reference, which needs no compiler; `emulated=True` compiles and emulates kernels.
"""

import collections
import contextlib
import copy
import types
import unittest.mock
import warnings
from dataclasses import dataclass

import op_samples
import torch
from torch._functorch.aot_autograd import aot_module_simplified
from torch.utils._pytree import tree_flatten, tree_map
from zellige import _native, dtypes, torch_backend
from zellige.torch import applications, compilation
from zellige.torch.execute import open_part, part
from zellige.torch.import_.aot import KeptWhole
from zellige.torch.import_ import decompositions as taken
from zellige.torch.import_.decompositions import decompositions
from zellige.torch.options import Options
from zellige.torch.report import Report
from zellige.torch.rewrites import expansions, numbers

from .draws import Draw


@dataclass(frozen=True)
class Rewrite:
    """What tests a row of the package's table. `holds(draw)` and `broken(draw)` return (a function or module, its inputs)."""

    name: str  # in the table
    holds: object
    broken: object  # None: the condition cannot be broken, which the condition says
    exact: bool = False  # results have the bits of eager torch
    around: object = contextlib.nullcontext  # a context in which the graph is compiled and run
    dynamic: bool = False  # of graphs with open sizes alone
    steps: float = 0  # rounding steps by which results may differ from float64's, if eager torch rounds less than the operators do

    def __str__(self):
        return self.name


@dataclass
class Run:
    results: list
    applied: collections.Counter
    parts: int
    graph: object  # the graph after its rewrites


class _Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return tuple(tree_flatten(self.function(*inputs))[0])


def by_reference(fuse=False):
    program = lambda *args, **options: _native.Program(*args, **options | {"on": "reference", "fuse": fuse, "keep": False})  # noqa: E731
    return types.SimpleNamespace(**vars(_native) | {"Program": program})


def compiled(function, inputs, emulated=False, dynamic=False) -> Run:
    """Runs a function as the backend compiles it, with every part as a program, and returns its results, followed by its
    arguments, which it may have changed. `dynamic`: by torch.compile, with open sizes."""
    if dynamic:
        return _compiled_open(function, inputs, emulated)
    seen, report = [], Report()

    def compiler(module, _):
        constants, saved = compilation.rewritten(module)
        seen.append(module.graph)
        made = compilation.partitioned(module, constants, report, Options(take="all"), saved, False)
        return lambda *given: made(*given)

    module, before = _Module(function), collections.Counter(applications.COUNTS)
    given = _again(inputs)
    with torch.no_grad(), warnings.catch_warnings(), KeptWhole():
        warnings.simplefilter("ignore")
        with unittest.mock.patch.object(part, "_native", part._native if emulated else by_reference()):
            run = aot_module_simplified(module, given, fw_compiler=compiler, decompositions=decompositions(), keep_inference_input_mutations=True)
            results = tree_flatten((run(*given), given))[0]
    assert not report.faults and not report.rejected, (report.faults, report.rejected)
    return Run(results, applications.COUNTS - before, len(report.parts), seen[-1] if seen else None)


@contextlib.contextmanager
def without_float64():
    """Programs lack float64, as they lack complex numbers, so that draws of it break the conditions on dtypes."""
    with contextlib.ExitStack() as stack:
        for module in (taken, expansions, numbers):
            stack.enter_context(unittest.mock.patch.object(module, "_DTYPES", module._DTYPES - {torch.float64}))
        stack.enter_context(unittest.mock.patch.object(dtypes, "_NAMES", {k: v for k, v in dtypes._NAMES.items() if v != "f64"}))
        yield


def _compiled_open(function, inputs, emulated):
    torch._dynamo.reset()
    torch_backend.reports.clear()
    before, given, programs = collections.Counter(applications.COUNTS), _again(inputs), _native if emulated else by_reference(fuse=True)
    run = torch.compile(function, backend=torch_backend.backend, dynamic=True, options={"take": "all", "cache": False})
    with torch.no_grad(), warnings.catch_warnings(), unittest.mock.patch.object(open_part, "_native", programs), unittest.mock.patch.object(part, "_native", programs):
        warnings.simplefilter("ignore")
        results = tree_flatten((run(*given), given))[0]
    (report,) = torch_backend.reports
    assert not report.faults and not report.rejected and report.sizes, str(report)
    return Run(results, applications.COUNTS - before, len(report.parts), report)


def _again(inputs):
    return tree_map(lambda x: op_samples._laid_as(x) if isinstance(x, torch.Tensor) else x, inputs)


def eager(function, inputs):
    """Returns what eager torch makes of the inputs, and the arguments after the call."""
    given = _again(inputs)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tree_flatten((function(*given), given))[0]


def _wide(function, inputs):
    """Returns the results in float64; None if the function has no such results."""
    try:
        made = copy.deepcopy(function).double() if isinstance(function, torch.nn.Module) else function
        return eager(made, tree_map(op_samples._wide, inputs))
    except Exception:
        return None


def difference(function, inputs, found, exact, steps=0):
    """Returns the difference of results from eager torch's, in words; None if they are right."""
    expected = eager(function, inputs)
    if steps:
        return next((f"result {i}: {says}" for i, (y, e) in enumerate(zip(found, expected, strict=True)) if (says := _far(y, e, steps))), None)
    if exact:
        return next((f"result {i}: {says}" for i, (y, e) in enumerate(zip(found, expected, strict=True)) if (says := _bits_differ(y, e))), None)
    wide = _wide(function, inputs)
    return op_samples._judged(found, expected, wide if wide is not None and len(wide) == len(expected) else None)


def _far(found, eager, steps):
    """Returns how two results differ by more than `steps` rounding steps of their dtype and root mean square; None if they
    do not."""
    if not isinstance(eager, torch.Tensor) or not eager.is_floating_point() or found.shape != eager.shape:
        return _bits_differ(found, eager)
    finite = eager.double()[eager.isfinite()]
    allowed = steps * torch.finfo(eager.dtype).eps * (1e-3 + (finite.square().mean().sqrt().item() if finite.numel() else 0.0))
    try:
        torch.testing.assert_close(found, eager, rtol=steps * torch.finfo(eager.dtype).eps, atol=allowed, equal_nan=True)
    except AssertionError as why:
        return " ".join(str(why).split())


def _bits_differ(found, eager):
    if not isinstance(eager, torch.Tensor):
        return None if found == eager or found != found else f"expected {eager}, found {found}"
    if (found.dtype, found.shape, found.stride()) != (eager.dtype, eager.shape, eager.stride()):
        of = lambda t: f"{t.dtype} {tuple(t.shape)} {t.stride()}"  # noqa: E731
        return f"expected {of(eager)}, found {of(found)}"
    wrong = found != eager
    if found.is_floating_point():
        wrong = (wrong & ~(found.isnan() & eager.isnan())) | ((found == 0) & (eager == 0) & (found.signbit() != eager.signbit()))
    if not wrong.any():
        return None
    at = wrong.nonzero()[0].tolist()
    return f"{int(wrong.sum())} of {found.numel()} differ; at {at}: expected {eager[tuple(at)].item()}, found {found[tuple(at)].item()}"


def check(rewrite, index, emulated=False) -> None:
    """Checks one draw on which the condition of a rewrite holds: it is applied, and the results are right."""
    function, inputs = rewrite.holds(Draw(f"{rewrite} held", index))
    with rewrite.around():
        run = compiled(function, inputs, emulated, rewrite.dynamic)
    assert run.applied[rewrite.name], f"{rewrite}, draw {index}: not applied to\n{run.graph}"
    says = difference(function, inputs, run.results, rewrite.exact, rewrite.steps)
    assert says is None, f"{rewrite}, draw {index}: {says}\ninputs: {inputs}\n{run.graph}"


def check_broken(rewrite, index) -> None:
    """Checks one draw on which the condition is broken: the rewrite is not applied, and the results are right."""
    function, inputs = rewrite.broken(Draw(f"{rewrite} broken", index))
    with rewrite.around(), without_float64():
        run = compiled(function, inputs, dynamic=rewrite.dynamic)
    assert not run.applied[rewrite.name], f"{rewrite}, draw {index}: applied to\n{run.graph}"
    says = difference(function, inputs, run.results, False, rewrite.steps)
    assert says is None, f"{rewrite}, draw {index}: {says}\ninputs: {inputs}\n{run.graph}"
