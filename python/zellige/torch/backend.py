"""Implements torch.compile(model, backend="zellige").

The traced graph is decomposed where the result consists of operators that Zellige supports. It is then partitioned: the
largest convex parts of supported operators become programs, and all other operators are unchanged. Symbolic
sizes stay open, so that one program is for all values. A graph that needs gradients is left to torch. `reports` lists
for every graph which operators became parts of programs and which did not, with the reasons.
"""

import functools
import warnings

import torch

from .. import _native
from .compilation import Compilation
from .execute import wrappers
from .import_ import symbols
from .options import Options
from .report import Report, reports


def backend(graph_module, example_inputs, *, mode=None, options=None):
    """Compiles a graph for torch.compile, which calls this function; returns a function of the graph's inputs.

      compiled = torch.compile(model, backend="zellige", options={"seconds": 30})

    options: "seconds" limits the planning time; "take": "all" also takes parts that cost more than torch's
    kernels; "cudagraphs": True, equivalent to mode="reduce-overhead", replays calls from CUDA graphs; "cache": False
    decides again, where an earlier process has compiled an equal graph; "collectives" says what computes those of a model
    that is divided over ranks, as in zellige.ranks.compile; "align_weights": True copies weights of products once into lines
    that begin at multiples of 16 bytes. Raises ValueError for other options.
    """
    options, report = Options.of(options, mode), Report()
    reports.append(report)
    if any(isinstance(x, torch.Tensor) and x.is_cuda for x in example_inputs):
        _warn_if_untuned()
    why = _not_for_programs(graph_module, example_inputs)
    if why:
        report.left["the graph"] = why
        report.uncaptured = f"the graph {why}" if options.cudagraphs else ""
        return wrappers.forward(graph_module)
    try:
        symbols.specialize_attributes(graph_module)
        symbols.bound(graph_module)
        compilation = Compilation(graph_module, example_inputs, options, report)
        return compilation.found() or compilation.programs() or compilation.replayed() or compilation.as_traced()
    except BaseException:  # torch traces the function again in another way
        reports[:] = [r for r in reports if r is not report]
        raise


@functools.cache
def _warn_if_untuned() -> None:
    """Warns, once in a process, if the constants of expected times were measured on no GPU of this target."""
    target, _ = _native.gpu()
    if target and not _native.targets()[target]["tuned"]:
        why = "expected times are of data sheets; parts that torch's kernels beat here are left to torch, as on every GPU"
        warnings.warn(f"zellige is not tuned on this GPU ({target}): {why}", stacklevel=3)


def _not_for_programs(graph_module, example_inputs):
    """Returns why a graph is left to torch unchanged, as a predicate ("needs gradients; ..."); None if there is no such
    reason."""
    if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in example_inputs):
        return "needs gradients; run it under torch.no_grad() or torch.inference_mode()"
    if symbols.changes_shared(graph_module):
        return "changes tensors that share their memory and have symbolic sizes"
    return None
