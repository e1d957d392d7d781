"""Graphs over ranks: each of several processes, usually one per GPU, runs the same graph on arrays of its own.

    from zellige import ranks

    def mlp(x, up, down):
        return ranks.all_reduce(zellige.silu(x @ up) @ down)

    form = ranks.graph(mlp, x, up, down, ranks=2)      # the graph in JSON form, as a dict

    mine = ranks.of_environment()                      # this process's rank, of torchrun or mpirun
    y = ranks.compile(form, mine)(x, up, down)         # this rank's result

`zellige run` runs it on all ranks, and `zellige equal --shard` compares it with a graph of whole tensors.
docs/explanation/ranks.md says what collectives compute.
"""

import inspect
import threading
from collections.abc import Callable
from typing import Any

from . import _native, exchange
from ._native import Error
from .call_site import tracing
from .compilation import array_class
from .dispatch import call as _call
from .dispatch import dim_of as _dim
from .rank_program import RankProgram, Ranks, compile, of_environment, of_gather, of_group, of_threads
from .tracing import Array, Trace

__all__ = """all_gather all_reduce all_to_all broadcast compile graph of_environment of_gather of_group of_threads rank reduce_scatter RankProgram
Ranks""".split()


class _Traces(threading.local):
    """The traces of the calls of graph() that are running in a thread."""

    def __init__(self):
        self.running: list = []


_traces = _Traces()


def all_reduce(x: Any, op: str = "sum") -> Any:
    """Returns the sum or the maximum of x over the ranks: ranks.all_reduce(x, "max")."""
    if op not in ("sum", "max"):
        raise Error(f"all_reduce: expected op to be sum or max, found {op!r}")
    return _collective("all_reduce" if op == "sum" else "all_reduce_max", x)


def all_gather(x: Any, dim: int = 0) -> Any:
    """Returns the ranks' x one after another along a dimension: ranks.all_gather(x, -1)."""
    return _collective("all_gather", x, dim=_dim(x, dim))


def reduce_scatter(x: Any, dim: int = 0) -> Any:
    """Returns this rank's part, along a dimension, of the sum of x over the ranks: ranks.reduce_scatter(x, 0)."""
    return _collective("reduce_scatter", x, dim=_dim(x, dim))


def all_to_all(x: Any, split: int = 0, joined: int = 0) -> Any:
    """Sends part r of x along the dimension `split` to rank r, and returns what comes, joined along the dimension `joined`
    in the order of ranks: ranks.all_to_all(x, 0, 1)."""
    return _collective("all_to_all", x, dims=[_dim(x, split), _dim(x, joined)])


def broadcast(x: Any, root: int = 0) -> Any:
    """Returns the x of one rank: ranks.broadcast(x, 0)."""
    return _collective("broadcast", x, root=root)


def rank() -> Any:
    """Returns the number of the rank, an int32 array of shape (1): ranks.rank()."""
    if not _traces.running:
        raise Error("rank: expected a function that ranks.graph traces, found a call outside of one")
    return _traces.running[-1].append("rank", [], {})[0]


COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "rank")


def _collective(op: str, x: Any, **attributes) -> Any:
    if not isinstance(x, Array):
        raise Error(f"{op}: expected an array of a function that ranks.graph traces, found {type(x).__name__}")
    return _call(op, (x,), **attributes)


def graph(function: Callable, *examples: Any, ranks: int) -> dict:
    """Traces a function of one rank's arrays and returns its graph in JSON form (docs/reference/graph-json.md).

      form = ranks.graph(mlp, x, up, down, ranks=2)

    examples: for each parameter an array, or a TensorSpec; only shapes, dtypes and strides are used. Raises Error for errors
    in the function or the graph.
    """
    name = getattr(function, "__name__", type(function).__name__).strip("<>")
    try:
        bound = inspect.signature(function).bind(*examples)
    except TypeError as why:
        raise Error(f"graph {name}: {why}") from None
    trace = Trace(name, *array_class(list(bound.arguments.values())), ranks=ranks)
    for parameter, example in bound.arguments.items():
        spec = exchange.spec_of(example)
        bound.arguments[parameter] = trace.input(parameter, spec.dtype, spec.shape, spec.strides)
    _traces.running.append(trace)
    try:
        with tracing():
            result = function(*bound.args, **bound.kwargs)
    finally:
        _traces.running.pop()
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    for y in outputs:
        if not isinstance(y, Array):
            raise Error(f"graph {name}: expected {name} to return arrays, found {type(y).__name__}")
    names = [trace.fresh(f"Y{i}" if len(outputs) > 1 else "Y") for i in range(len(outputs))]
    form, _ = trace.form(outputs, names)
    _native.Graph(form, name)  # which validates it
    return form

