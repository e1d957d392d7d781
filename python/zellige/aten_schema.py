"""Binds calls of ATen's operators to their schemas, so that a call by keywords reads as the same call by position.

    bind(graph)                              # makes arguments positional where possible, with defaults
    call(function, node, args, kwargs)       # calls a function of Zellige's; raises Left for unsupported arguments
"""

import functools
import inspect

import torch

from ._native import Error


class Left(Error):
    """The reason why an operator is left to torch."""


def bind(graph) -> None:
    for node in graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if node.op == "call_function" and schema is not None:
            node.args, node.kwargs = _bound(schema, node.args, node.kwargs)


def _bound(schema, args, kwargs):
    """Positional arguments with their defaults, and the keyword-only arguments that differ from theirs."""
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
    """The number of positional arguments of a function, and the names of its keyword-only ones; None: any."""
    parameters = inspect.signature(function).parameters.values()
    kinds = {p.kind for p in parameters}
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    names = {p.name for p in parameters if p.kind == p.KEYWORD_ONLY}
    return (
        None if inspect.Parameter.VAR_POSITIONAL in kinds else count,
        None if inspect.Parameter.VAR_KEYWORD in kinds else names,
    )


def call(function, node, args, kwargs):
    """Checks that arguments beyond those of the function have the schema's defaults."""
    count, names = _taken(function)
    schema = getattr(node.target, "_schema", None)
    if count is not None and len(args) > count:
        declared = [a for a in schema.arguments if not a.kwarg_only] if schema is not None else []
        for a, x in list(zip(declared, args))[count:]:
            if not _same(x, a.default_value):
                raise Left(f"expected {a.name}={a.default_value}, found {a.name}={x}")
        args = args[:count]
    for name in kwargs:
        if names is not None and name not in names:
            raise Left(f"its argument {name} is not known, found {name}={kwargs[name]}")
    return function(*args, **kwargs)
