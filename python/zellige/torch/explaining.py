"""Prints what the backend takes of a model, what it leaves and why, and the times of both.

    import zellige.torch
    zellige.torch.explain(model, *args)
"""

import time

import torch

from .report import reports

_CALLS = 3


def explained(model, *args, options=None, **kwargs) -> list:
    """Compiles a model, or a function, by torch.compile with this backend, without gradients, and calls it. Prints for each graph
    its report and what is left, and the seconds of a call by torch and of one of what was compiled. Returns the reports.

      zellige.torch.explain(model, x, mask=mask)

    options: those of torch.compile(..., backend="zellige").
    """
    from .backend import backend

    begun = len(reports)
    torch._dynamo.reset()
    with torch.no_grad():
        compiled = torch.compile(model, backend=backend, options=options) if options else torch.compile(model, backend=backend)
        start = time.perf_counter()
        compiled(*args, **kwargs)
        first = time.perf_counter() - start
        eager, own = _seconds(model, args, kwargs), _seconds(compiled, args, kwargs)
    made = reports[begun:]
    for i, report in enumerate(made):
        print(f"graph {i + 1} of {len(made)}: {report}")
    if not made:
        print("no graph: torch.compile traced nothing of this function")
    print(f"a call: {_shown(eager)} by torch, {_shown(own)} as compiled; the first one took {_shown(first)}")
    return made


def _seconds(function, args, kwargs) -> float:
    """Returns the shortest time of a few calls; only one is made if that takes longer than a second."""
    times = []
    while len(times) < _CALLS and sum(times) < 1:
        _synchronize()
        start = time.perf_counter()
        function(*args, **kwargs)
        _synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def _synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _shown(seconds) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"
