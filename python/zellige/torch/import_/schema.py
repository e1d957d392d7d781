"""Normalises the arguments of ATen calls by the operators' schemas, so that a call by keywords equals the same call
by position.

    bind(graph)                              # makes arguments positional where possible, and adds defaults
    call(function, node, args, kwargs)       # calls a Python function; raises Left for arguments that it does not support

Left is the exception for operators that Zellige does not support, and that are left to torch.
"""

import functools
import inspect

import torch

from ..._native import Error
from ...signatures import shown


class Left(Error):
    """Raised if Zellige does not support an operator, which is then left to torch. The message is the reason."""


def bind(graph) -> None:
    """Normalises the arguments of all ATen calls of an FX graph, in place."""
    for node in graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if node.op == "call_function" and schema is not None:
            node.args, node.kwargs = _bound(schema, node.args, node.kwargs)


def _bound(schema, args, kwargs):
    """Returns (all positional arguments of a call, with defaults added; its keyword-only arguments that differ from
    their defaults)."""
    args, rest = list(args), dict(kwargs)
    for i, a in enumerate(a for a in schema.arguments if not a.kwarg_only):
        given = rest.pop(a.name, a.default_value)
        if i >= len(args):
            args.append(given)
    for a in schema.arguments:
        if a.kwarg_only and a.name in rest and _same(rest[a.name], a.default_value):
            del rest[a.name]
    return tuple(args), rest


def _same(x, y) -> bool:
    return type(x) is type(y) and not isinstance(x, torch.fx.Node) and x == y


@functools.cache
def _taken(function):
    """Returns (the number of positional arguments that `function` accepts, the names of its keyword-only arguments).
    The number is None if the function accepts *args; the names are None if it accepts **kwargs."""
    parameters = inspect.signature(function).parameters.values()
    kinds = {p.kind for p in parameters}
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    names = {p.name for p in parameters if p.kind == p.KEYWORD_ONLY}
    return (
        None if inspect.Parameter.VAR_POSITIONAL in kinds else count,
        None if inspect.Parameter.VAR_KEYWORD in kinds else names,
    )


def call(function, node, args, kwargs):
    """Returns the result of `function`, called with those arguments of the node that it accepts. Raises Left if an
    argument that it does not accept differs from the default in the node's schema."""
    count, names = _taken(function)
    schema = getattr(node.target, "_schema", None)
    if count is not None and len(args) > count:
        declared = [a for a in schema.arguments if not a.kwarg_only] if schema is not None else []
        for a, x in list(zip(declared, args))[count:]:
            if not _same(x, a.default_value):
                raise Left(f"expected {a.name}={a.default_value}, found {a.name}={shown(x)}")
        args = args[:count]
    for name in kwargs:
        if names is not None and name not in names:
            raise Left(f"its argument {name} is not known, found {name}={shown(kwargs[name])}")
    return function(*args, **kwargs)
