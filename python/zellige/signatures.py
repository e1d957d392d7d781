"""Binds calls of NumPy's and torch's functions on traced arrays to these functions' own signatures.

    SUM = [Form("a, axis=None, dtype=None, out=None, keepdims=NoValue", _sum)]       # def _sum(a, axis=None, keepdims=False)
    call("numpy.sum", SUM, (x,), {"axis": 1})

A Form is a signature with the function that gives its meaning. What the meaning has as a parameter is honoured. Every other
argument must be the signature's default, or the call is refused with a sentence. So no argument is ignored. A function with
several signatures, as torch's have, has several forms; the first that takes the arguments' names and kinds is used.
"""

import functools
import inspect
import numbers
import operator

from . import exchange
from ._native import Error
from .call_site import speaking
from .tracing import Array


class _NoValue:
    def __repr__(self):
        return "<no value>"


NoValue = _NoValue()
_NAMES = {"input": "x", "self": "x", "a": "x", "m": "x", "ary": "x", "array": "x", "x1": "x", "x2": "y", "other": "y", "b": "y"}
# torch takes NumPy's names, too (torch/csrc/utils/python_arg_parser.cpp)
_NUMPYS = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


# ---- The kinds of torch's parameters ----


def _is_tensor(v):
    return isinstance(v, Array) or exchange.is_torch(v) and exchange.is_array(v)


def _is_number(v):
    return isinstance(v, (numbers.Number, bool)) or getattr(v, "shape", None) == () and not isinstance(v, Array)


def is_int(v):
    """Returns true for an integer of Python or NumPy that is no bool."""
    return hasattr(v, "__index__") and not isinstance(v, (bool, Array)) and type(v).__name__ not in ("bool_", "bool") and not getattr(v, "shape", ())


def is_ints(v):
    """Returns true for a tuple or list of integers."""
    return isinstance(v, (tuple, list)) and all(map(is_int, v))


def _is_dtype(v):
    return type(v).__name__ == "dtype" and type(v).__module__ == "torch"


KINDS = {
    "T": ("a tensor", _is_tensor),
    "N": ("a number", _is_number),
    "TN": ("a tensor or a number", lambda v: _is_tensor(v) or _is_number(v)),
    "I": ("an integer", is_int),
    "S": ("integers", lambda v: is_ints(v)),
    "J": ("an integer or integers", lambda v: is_int(v) or is_ints(v)),
    "B": ("True or False", lambda v: isinstance(v, bool)),
    "D": ("a torch.dtype", _is_dtype),
    "F": ("a number", lambda v: isinstance(v, numbers.Real)),
    "L": ("tensors in a tuple or list", lambda v: isinstance(v, (tuple, list)) and all(map(_is_tensor, v))),
    "W": ("a string", lambda v: isinstance(v, str)),
    "O": ("None", lambda v: v is None),
    "X": ("", lambda v: True),
}


class Form:
    """A signature with its meaning. `declared`: the signature as source code, where an annotation is a key of KINDS, the
    kind of argument that torch takes, with _ where None is one, too. `meaning`: the function of the arguments that are
    honoured; None: this form is refused. `instead`: what a message proposes for a refused form."""

    def __init__(self, declared: str, meaning, instead: str = ""):
        self.declared, self.meaning, self.instead = declared, meaning, instead

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        scope = {}
        exec(f"def form({self.declared}): ...", {"NoValue": NoValue, **{k + end: k + end for k in KINDS for end in ("", "_")}}, scope)
        return inspect.signature(scope["form"])

    @functools.cached_property
    def honoured(self) -> frozenset:
        """The names of the parameters that the meaning has; all operands, if it has *values."""
        own = inspect.signature(self.meaning).parameters.values()
        names = {p.name for p in own}
        if any(p.kind is p.VAR_POSITIONAL for p in own) and not any(p.kind is p.VAR_POSITIONAL for p in self.signature.parameters.values()):
            names |= {_NAMES.get(n, n) for n, p in self.signature.parameters.items() if p.default is p.empty}
        return frozenset(names)

    def bind(self, args, kwargs) -> dict:
        """Returns the arguments by parameter. Raises TypeError if the signature does not take them."""
        parameters = self.signature.parameters
        given = {_NUMPYS[k] if k not in parameters and _NUMPYS.get(k) in parameters else k: v for k, v in kwargs.items()}
        if len(given) < len(kwargs):
            raise TypeError(f"got one argument by two names: {', '.join(kwargs)}")
        bound = self.signature.bind(*args, **given).arguments
        for name, value in bound.items():
            p = parameters[name]
            if p.annotation is p.empty or (p.default is not p.empty and _same(value, p.default)) or value is None and p.default is None:
                continue
            words, fits = KINDS[p.annotation.removesuffix("_")]
            many = p.kind is p.VAR_POSITIONAL
            if not all(map(fits, value)) if many else not (fits(value) or value is None and p.annotation.endswith("_")):
                raise TypeError(f"expected {words} for {name}, found {shown(value)}")
        return bound

    def apply(self, bound):
        """Calls the meaning. Raises Error if an argument that it does not honour is not the default."""
        if self.meaning is None:
            raise Error(f"this form, ({self.shown}), is not known while tracing{self.instead and f'; {self.instead}'}")
        given, many = {}, ()
        for name, value in bound.items():
            p = self.signature.parameters[name]
            if value is NoValue or type(value).__name__ == "_NoValueType":
                continue
            if p.kind is p.VAR_KEYWORD and value:
                name, value = next(iter(value.items()))
                raise Error(f"expected no {name} while tracing, found {name}={shown(value)}")
            if p.kind is p.VAR_POSITIONAL:
                many = value
            elif _NAMES.get(name, name) in self.honoured:
                given[_NAMES.get(name, name)] = value
            elif not _same(value, p.default) and not (name == "where" and value is True):
                if p.default is NoValue:
                    raise Error(f"expected no {name} while tracing, found {name}={shown(value)}")
                raise Error(f"expected {name}={p.default!r} while tracing, found {name}={shown(value)}")
        if many:
            return self.meaning(given.pop("x"), *many, **given)
        return self.meaning(*given.values()) if "values" in inspect.signature(self.meaning).parameters else self.meaning(**given)

    @property
    def shown(self) -> str:
        parts = []
        for p in self.signature.parameters.values():
            parts.append(str(p.replace(annotation=p.empty)))
            if p.kind is p.KEYWORD_ONLY and "*" not in parts and not any(q.startswith("*") for q in parts):
                parts.insert(-1, "*")
        return ", ".join(parts)


def _same(value, default) -> bool:
    """Returns true if a value is the default: of the same type and equal; no array is."""
    if value is default or (isinstance(value, tuple) and default is None and len(value) == 1 and value[0] is None):
        return True
    return type(value) is type(default) and (isinstance(value, (bool, int, float, str)) or isinstance(value, tuple) and not value and not default) and value == default


def shown(value) -> str:
    """Returns a value as a message has it: short, and an array by its shape."""
    if isinstance(value, Array) or exchange.is_array(value):
        return f"an array of shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(shown, value)) + ("," if isinstance(value, tuple) and len(value) == 1 else "")
        text = f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    else:
        text = repr(value) if not isinstance(value, type) else value.__name__
    return text if len(text) <= 80 else text[:77] + "..."


def call(title: str, forms, args, kwargs):
    """Returns the result of the function `title`, with the signatures `forms`, for arguments as the user passes them.
    Raises Error, with the user's line, if no signature takes them or an argument is not supported."""
    with speaking(title):
        reasons = []
        for form in forms:
            try:
                bound = form.bind(args, kwargs)
            except TypeError as why:
                reasons.append(str(why))
                continue
            return form.apply(bound)
        if len(forms) == 1:
            raise Error(f"{reasons[0]}; its parameters are ({forms[0].shown})")
        given = [*map(shown, args), *(f"{k}={shown(v)}" for k, v in kwargs.items())]
        raise Error(f"expected {' or '.join(f'({f.shown})' for f in forms)}, found ({', '.join(given)})")


# ---- Checks of arguments, for both APIs ----


def dim_of(x, dim, what="dim") -> int:
    """Returns a dimension of x counted from 0. Raises Error if `dim` is no integer or out of range."""
    if not is_int(dim):
        raise Error(f"expected an integer for {what}, found {shown(dim)}")
    dim = operator.index(dim)
    if not -x.ndim <= dim < x.ndim:
        raise Error(f"expected {what} from {-x.ndim} to {x.ndim - 1} for shape {x.shape}, found {dim}")
    return dim % x.ndim


def dims_of(x, dims, what="dim") -> list:
    """Returns dimensions of x counted from 0, of an integer, several or None (all). Raises Error for a dimension that is
    out of range or given twice."""
    if dims is None:
        return list(range(x.ndim))
    found = [dim_of(x, d, what) for d in (dims if isinstance(dims, (tuple, list)) else [dims])]
    if len(set(found)) < len(found):
        raise Error(f"expected each dimension once in {what}, found {shown(dims)} for shape {x.shape}")
    return found


def truth_of(value, what) -> bool:
    """Returns a flag, which may be given as a number. Raises Error for what is neither."""
    if isinstance(value, (bool, int)):
        return bool(value)
    raise Error(f"expected True or False for {what}, found {shown(value)}")
