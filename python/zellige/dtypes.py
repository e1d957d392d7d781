"""Translates the names of Zellige's dtypes to and from NumPy, ml_dtypes, torch and DLPack.

====== ================ =======================
dtype  NumPy            torch
====== ================ =======================
f16    float16          float16
bf16   ml_dtypes' own   bfloat16
f32    float32          float32
e4m3   ml_dtypes' own   float8_e4m3fn
e5m2   ml_dtypes' own   float8_e5m2
int8   int8             int8
int32  int32            int32
====== ================ =======================
"""

import functools

from ._native import Error

# Zellige's name, the name elsewhere, bytes per element, DLPack's type code.
_ROWS = [
    ("f16", "float16", 2, 2),
    ("bf16", "bfloat16", 2, 4),
    ("f32", "float32", 4, 2),
    ("e4m3", "float8_e4m3fn", 1, 10),
    ("e5m2", "float8_e5m2", 1, 12),
    ("int8", "int8", 1, 0),
    ("int32", "int32", 4, 0),
]
_BY_NAME = {name: row for row in _ROWS for name in row[:2]}
_KINDS = {"f": 2, "i": 0, "u": 1, "c": 5, "b": 6}
NAMES = tuple(row[0] for row in _ROWS)


def name_of(dtype) -> str:
    """Returns Zellige's name of a dtype: a string, or a dtype of NumPy, ml_dtypes or torch. Raises Error if
    Zellige does not support it. For example name_of(torch.float16) is "f16"."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    row = _BY_NAME.get(name.removeprefix("torch.")) or (_BY_NAME.get(_numpys_name(dtype)) if isinstance(dtype, (str, type)) else None)
    if row is None:
        raise Error(f"dtype: expected one of {', '.join(NAMES)}, found {name}")
    return row[0]


def _numpys_name(dtype) -> str:
    """Returns NumPy's name of a dtype that is given by a code, such as "f4" or "<i4"; "" if NumPy has none."""
    import numpy

    try:
        found = numpy.dtype(dtype)
    except TypeError:
        return ""
    return found.name if found.isnative else ""


def is_integer(name: str) -> bool:
    return name.startswith("int")


def itemsize(name: str) -> int:
    """Returns the size of an element of the dtype, in bytes."""
    return _BY_NAME[name][2]


def dlpack_code(dtype) -> tuple:
    """Returns DLPack's (type code, bits) of any NumPy dtype, supported by Zellige or not."""
    row = _BY_NAME.get(dtype.name)
    return (row[3], 8 * row[2]) if row else (_KINDS.get(dtype.kind, 3), 8 * dtype.itemsize)


def numpy_dtype(name: str):
    """Returns the NumPy dtype of Zellige's dtype `name`. Raises Error if that needs ml_dtypes and it is not
    installed."""
    import numpy

    row = _BY_NAME[name]
    if row[3] in (0, 2):
        return numpy.dtype(row[1])
    try:
        import ml_dtypes
    except ImportError:
        raise Error(f"dtype {name}: NumPy has it by the package ml_dtypes, which is not installed") from None
    return numpy.dtype(getattr(ml_dtypes, row[1]))


@functools.cache
def torch_dtype(name: str):
    """Returns torch's dtype of Zellige's dtype `name`."""
    import torch

    return getattr(torch, _BY_NAME[name][1])


def promoted(names) -> str:
    """Returns the common dtype of operands with the dtypes `names`, as in NumPy and torch: f32 for different
    floating-point dtypes of 16 bits or more. Raises Error for mixtures that Zellige does not support."""
    names = list(dict.fromkeys(names))
    if len(names) == 1:
        return names[0]
    if set(names) == {"int8", "int32"}:
        return "int32"
    if any(is_integer(n) for n in names):
        raise Error(f"expected operands of one dtype or of floating-point dtypes, found {' and '.join(names)}; cast one")
    if any(n in ("e4m3", "e5m2") for n in names):
        raise Error(f"expected operands of one dtype where some are of 8 bits, found {' and '.join(names)}; cast one")
    return "f32"
