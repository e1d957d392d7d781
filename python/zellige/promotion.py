"""The dtypes of operands and results, by NumPy's rules and by torch's.

    common, operands = NUMPY.operands([x, 0.5])          # x: f16; 0.5 is rounded to f16, as NumPy does
    common, operands = TORCH.operands([x, 0.5])          # 0.5 stays as it is

A result whose dtype Zellige lacks, such as NumPy's float64 of int32 / int32, is refused. Results of comparisons, of which NumPy
and torch have bool, are numbers in the operands' dtype; with numbers they take the dtype of these.
"""

import math

from . import dtypes, exchange
from . import operators as op
from ._native import Error
from .dispatch import number
from .tracing import Array, as_numbers, truth

_UNKNOWN = "cast one with astype or to"


def traced(x, like: Array):
    """Returns x as a traced array: one of another kind becomes a constant of like's trace. Raises Error if it is none."""
    if isinstance(x, Array):
        return x
    if isinstance(x, (tuple, list)):
        raise Error(f"expected arrays and numbers, found a {type(x).__name__} of {len(x)}; make it an array before the function")
    if not exchange.is_array(x):
        raise Error(f"expected arrays and {'real ' if isinstance(x, complex) else ''}numbers, found {x!r}")
    return like._trace.capture(x)


def _is_weak(x) -> bool:
    """Returns true for a number of Python, or one of 64 bits: an array's dtype prevails over its dtype."""
    return isinstance(x, (bool, int, float)) or not hasattr(x, "dtype")


def with_dtype(x: Array, name: str) -> Array:
    """Returns x in a dtype, as numbers: bool of NumPy and torch (a comparison's result) as 1 and 0."""
    return op.cast(x, name)


class _Rules:
    """What is common to NumPy's and torch's rules. `name`: the framework's."""

    name, wide = "", ""

    def common(self, names) -> str:
        """Returns the dtype to which arrays of the dtypes `names` are promoted. Raises Error if Zellige lacks it."""
        names = list(dict.fromkeys(names))
        if len(names) == 1:
            return names[0]
        made = self.promoted(names)
        try:
            return dtypes.name_of(made)
        except Error:
            raise Error(f"expected operands whose common dtype Zellige has, found {' and '.join(names)}, for which {self.name} has {made}; {_UNKNOWN}") from None

    def operands(self, values, rounds=True, floats=False):
        """Returns (the common dtype, the operands: arrays of that dtype and numbers). `rounds`: NumPy rounds numbers to the
        arrays' dtype; torch does for comparisons only. `floats`: the function is of floating-point numbers."""
        first = next((v for v in values if isinstance(v, Array)), None)
        if first is None:
            raise Error(f"expected a traced array among the operands, found {', '.join(type(v).__name__ for v in values)}")
        values = [v if op.is_scalar(v) else traced(v, first) for v in values]
        arrays = [v for v in values if isinstance(v, Array)]
        numbers = [v for v in values if not isinstance(v, Array)]
        names = [a._dtype for a in arrays if not a._truth]
        strong = [v for v in numbers if not _is_weak(v) and self.counts(v)]
        names += [dtypes.name_of(v.dtype) for v in strong]
        weak = [number(v) for v in numbers if not any(v is s for s in strong)]
        if not names:  # comparisons' results alone: with numbers they are integers of 64 bits, or float64
            kinds = {a._dtype for a in arrays}
            whole = all(map(dtypes.is_integer, kinds)) and all(isinstance(n, int) for n in weak) and not floats
            names = list(kinds) if len(kinds) == 1 and not weak and not floats else ["int32" if whole else "f32"]
        common = self.common(names)
        common = self.with_numbers(common, weak, floats)
        made = []
        for v in values:
            if isinstance(v, Array):
                made.append(as_numbers(v) if v._dtype == common and v._truth else with_dtype(v, common))
            else:
                made.append(self.rounded(number(v), common) if rounds or dtypes.is_integer(common) else number(v))
        return common, made

    @staticmethod
    def rounded(x, name):
        """Returns a number rounded to a dtype. Raises Error for an integer that it lacks."""
        import numpy

        if dtypes.is_integer(name):
            info = numpy.iinfo(dtypes.numpy_dtype(name))
            if not info.min <= x <= info.max:
                raise Error(f"expected a number from {info.min} to {info.max} as an operand of {name}, found {x}")
            return int(x)
        with numpy.errstate(all="ignore"):
            return float(dtypes.numpy_dtype(name).type(x)) if math.isfinite(x) else x


class _Numpy(_Rules):
    name = "NumPy"

    @staticmethod
    def promoted(names):
        import functools

        import numpy

        try:
            return functools.reduce(numpy.promote_types, [dtypes.numpy_dtype(n) for n in names])
        except TypeError:
            return "no dtype"

    @staticmethod
    def counts(x) -> bool:
        """Returns true for a scalar of NumPy whose dtype counts in an operation with arrays: those of up to 32 bits."""
        return x.dtype.itemsize < 8 and x.dtype.kind != "b"

    @staticmethod
    def with_numbers(common, weak, floats):
        if dtypes.is_integer(common) and (floats or any(isinstance(n, float) for n in weak)):
            found = next((n for n in weak if isinstance(n, float)), None)
            with_number = "" if found is None else f" and the number {found}"
            raise Error(f"expected floating-point numbers, found {common}{with_number}, for which NumPy's result is of another dtype; cast it: x.astype('f32')")
        return common


class _Torch(_Rules):
    name = "torch"

    def fitting(self, x: Array, *numbers) -> None:
        """Raises Error for a number beyond the largest of x's dtype, which some of torch's functions refuse."""
        for n in numbers:
            if op.is_scalar(n) and math.isfinite(number(n)) and not math.isfinite(self.rounded(number(n), x._dtype)):
                raise Error(f"expected a number that {x._dtype} has, found {n}")

    @staticmethod
    def promoted(names):
        import functools

        import torch

        return functools.reduce(torch.promote_types, [dtypes.torch_dtype(n) for n in names])

    @staticmethod
    def counts(x) -> bool:
        return False  # a tensor without dimensions counts as a number

    @staticmethod
    def with_numbers(common, weak, floats):
        """torch's default dtype is float32, which integers become in an operation with a floating-point number."""
        return "f32" if dtypes.is_integer(common) and (floats or any(isinstance(n, float) for n in weak)) else common


NUMPY, TORCH = _Numpy(), _Torch()


def logical(x: Array) -> Array:
    """Returns where x is not 0, as a comparison's result."""
    return x if x._truth else truth(op.ne(x, 0))
