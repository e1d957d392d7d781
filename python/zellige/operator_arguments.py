"""Checks the arguments of Zellige's operators (operators.py) by the kinds that their parameters are annotated with."""

import functools
import inspect
from collections.abc import Sequence
from typing import Any

from ._native import Error
from .call_site import speaking
from .signatures import is_int, is_ints, shown
from .tracing import is_scalar

_KINDS = {
    int: ("an integer", is_int), bool: ("True or False", lambda v: isinstance(v, bool)), float: ("a number", is_scalar), str: ("a string", lambda v: isinstance(v, str)),
    Sequence[int]: ("integers", is_ints), int | Sequence[int]: ("an integer or integers", lambda v: is_int(v) or is_ints(v)),
    int | Sequence[int] | None: ("an integer, integers or None", lambda v: v is None or is_int(v) or is_ints(v)), int | None: ("an integer or None", lambda v: v is None or is_int(v)),
    Sequence[Any]: ("arrays in a tuple or list", lambda v: isinstance(v, (tuple, list)) and len(v) > 0),
}  # fmt: skip


def _checked(signature, args, kwargs):
    """Raises Error if an operator's parameters do not take the arguments, or one is not of its parameter's kind."""
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError as why:
        raise Error(f"{why}; its parameters are {', '.join(str(p.replace(annotation=p.empty)) for p in signature.parameters.values())}") from None
    for name, value in bound.items():
        words, fits = _KINDS.get(signature.parameters[name].annotation, ("", None))
        if fits is not None and not fits(value):
            raise Error(f"expected {words} for {name}, found {shown(value)}")


def spoken(function):
    """Returns an operator that checks its arguments, and whose errors name it with the user's line, while a function is
    traced."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def operator(*args, **kwargs):
        with speaking(f"zellige.{function.__name__}") as outermost:
            if outermost:
                _checked(signature, args, kwargs)
            return function(*args, **kwargs)

    return operator
