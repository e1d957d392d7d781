"""Gives the classes of traced arrays their operators and methods."""

from . import array_views as view
from ._native import Error
from .call_site import refused, speaking
from .signatures import call, shown

_BINARY = {
    "add": ("+", "add"), "sub": ("-", "subtract"), "mul": ("*", "multiply"), "truediv": ("/", "divide"), "pow": ("**", "power"), "matmul": ("@", "matmul"),
    "and": ("&", "bitwise_and"), "or": ("|", "bitwise_or"), "xor": ("^", "bitwise_xor"),
}  # fmt: skip
_COMPARED = {"eq": ("==", "equal"), "ne": ("!=", "not_equal"), "lt": ("<", "less"), "le": ("<=", "less_equal"), "gt": (">", "greater"), "ge": (">=", "greater_equal")}
_UNARY = {"neg": ("-", "negative"), "abs": ("abs", "absolute"), "pos": ("+", "positive"), "invert": ("~", "invert")}
_NO_VALUE = {
    "bool": "bool()", "float": "float()", "int": "int()", "index": "an integer", "complex": "complex()", "array": "NumPy",
    "contains": "in", "round": "round()", "trunc": "trunc()", "floor": "floor()", "ceil": "ceil()", "reversed": None,
}  # fmt: skip
_UNKNOWN = {"mod": "%", "floordiv": "//", "divmod": "divmod", "lshift": "<<", "rshift": ">>"}


class NoMember(Error, AttributeError):
    """Raised for a method that traced arrays lack; hasattr gives false."""


def equip(kind, functions, methods, owner: str) -> None:
    """Defines the operators and methods of a class of traced arrays. `functions`: the meaning of each operator, by NumPy's
    names. `methods`: forms by name. `owner`: whose methods they are, such as "torch.Tensor"."""
    for name, (sign, function) in (_BINARY | _COMPARED).items():
        one, other = _operators(sign, functions[function])
        setattr(kind, f"__{name}__", one)
        if name in _BINARY:
            setattr(kind, f"__r{name}__", other)
            setattr(kind, f"__i{name}__", _in_place(f"{sign}=", functions[function]))
    for name, (sign, function) in _UNARY.items():
        setattr(kind, f"__{name}__", _operator(sign, functions[function]))
    for name, sign in _UNKNOWN.items():
        for prefix in ("", "r", "i"):
            setattr(kind, f"__{prefix}{name}__", _refusing(f"operator {sign}: not known while tracing; the graph has no quotients without fraction and no shifts"))
    for name, what in _NO_VALUE.items():
        if what:
            setattr(kind, f"__{name}__", _valueless(what))
    for name, forms in methods.items():
        setattr(kind, name, _method(f"{owner}.{name}", forms))


def _operators(sign, function):
    def one(x, y, *more):
        with speaking(f"operator {sign}"):
            if more:
                raise Error(f"expected a power without a modulus, found the modulus {shown(more[0])}")
            return function(x, y)

    def other(x, y):
        with speaking(f"operator {sign}"):
            return function(y, x)

    return one, other


def _operator(sign, function):
    def one(x):
        with speaking(f"operator {sign}"):
            return function(x)

    return one


def _in_place(sign, function):
    def one(x, y):
        with speaking(f"operator {sign}"):
            return view.changed(x, function(x, y))

    return one


def _refusing(sentence):
    def one(*_):
        raise refused(sentence)

    return one


def _valueless(what):
    def one(x, *_, **__):
        name = x._trace.owners.get(x._name, "").partition(": ")[2] or x._name
        raise refused(f"{x._trace.name}: {name} is traced, so that its values are not known; shapes and dtypes are; {what} needs them")

    return one


def _method(title, forms):
    def method(self, *args, **kwargs):
        return call(title, forms, (self, *args), kwargs)

    return method


def either(name, forms):
    """Returns a method with NumPy's forms and then torch's, for arrays that are of no framework."""
    def method(self, *args, **kwargs):
        from .torch.tensors.functions import METHODS

        return call(f"numpy.ndarray.{name}", [*forms, *METHODS.get(name, ())], (self, *args), kwargs)

    return method


def missing(x, name, owner, known):
    """Returns torch's method `name` for an array that is not torch's, if NumPy's have none of that name or the array is of no
    framework. Raises Error for unknown names."""
    if name.startswith("__"):
        raise AttributeError(name)
    if owner != "torch.Tensor" and (owner != "numpy.ndarray" or not _numpys(name)):
        from .torch.tensors.functions import METHODS

        if name in METHODS:
            return lambda *args, **kwargs: call(f"torch.Tensor.{name}", METHODS[name], (x, *args), kwargs)
    raise NoMember(str(refused(f"{owner}.{name}: not known while tracing; known are {', '.join(sorted(known))}")))


def _numpys(name) -> bool:
    import numpy

    return hasattr(numpy.ndarray, name)


