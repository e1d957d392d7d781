"""Implements torch.compile(model, backend="zellige").

The traced graph is decomposed where the result consists of operators that Zellige supports. It is then partitioned: the
largest convex parts of supported operators become programs, and all other operators are unchanged. Symbolic
sizes stay open, so that one program is for all values. A graph that needs gradients is left to torch. `reports` lists
for every graph which operators became parts of programs and which did not, with the reasons.
"""

import torch

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
    decides again, where an earlier process has compiled an equal graph. Raises ValueError for other options.
    """
    options, report = Options.of(options, mode), Report()
    reports.append(report)
    why = _not_for_programs(graph_module, example_inputs)
    if why:
        report.left["the graph"] = why
        report.uncaptured = f"the graph {why}" if options.cudagraphs else ""
        return wrappers.forward(graph_module)
    symbols.bound(graph_module)
    try:
        compilation = Compilation(graph_module, example_inputs, options, report)
        return compilation.found() or compilation.programs() or compilation.replayed() or compilation.as_traced()
    except BaseException:  # torch traces the function again in another way
        reports[:] = [r for r in reports if r is not report]
        raise


def _not_for_programs(graph_module, example_inputs):
    """Returns why a graph is left to torch unchanged, as a predicate ("needs gradients; ..."); None if there is no such
    reason."""
    if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in example_inputs):
        return "needs gradients; run it under torch.no_grad() or torch.inference_mode()"
    if symbols.changes_shared(graph_module):
        return "changes tensors that share their memory and have symbolic sizes"
    return None
