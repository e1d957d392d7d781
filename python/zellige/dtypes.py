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
bool   bool             bool
uint8  uint8            uint8
int16  int16            int16
int64  int64            int64
int4   ml_dtypes' own   none: two in a byte of uint8
uint4  ml_dtypes' own   none: two in a byte of uint8
e2m1   ml_dtypes' own   none: two in a byte of uint8
e8m0   ml_dtypes' own   float8_e8m0fnu
f64    float64          float64
====== ================ =======================
"""

import functools

from . import _native
from ._native import Error

# The names elsewhere; the library has the rest (_native.dtypes).
_ELSEWHERE = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "int8": "int8",
    "int32": "int32",
    "bool": "bool",
    "uint8": "uint8",
    "int16": "int16",
    "int64": "int64",
    "int4": "int4",
    "uint4": "uint4",
    "e2m1": "float4_e2m1fn",
    "e8m0": "float8_e8m0fnu",
    "f64": "float64",
}
_NAMES = {n: name for name, elsewhere in _ELSEWHERE.items() for n in (name, elsewhere)}
NAMES = tuple(_ELSEWHERE)
PACKED = ("int4", "uint4", "e2m1", "e8m0")  # of weights alone, which arrays have as bytes of uint8
_INTEGERS, _FLOAT = (0, 1, 6), 2  # DLPack's type codes
# integers that are stored, moved, compared, selected and cast, but not computed with
STORED = ("bool", "uint8", "int16")
_KINDS = {"f": _FLOAT, "i": 0, "u": 1, "c": 5, "b": 6}  # by NumPy's kinds


def name_of(dtype) -> str:
    """Returns Zellige's name of a dtype: a string, or a dtype of NumPy, ml_dtypes or torch. Raises Error if
    Zellige does not support it. For example name_of(torch.float16) is "f16"."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    found = _NAMES.get(name.removeprefix("torch.")) or (_NAMES.get(_numpys_name(dtype)) if isinstance(dtype, (str, type)) else None)
    if found is None:
        raise Error(f"dtype: expected one of {', '.join(NAMES)}, found {name}")
    return found


def _numpys_name(dtype) -> str:
    """Returns NumPy's name of a dtype that is given by a code, such as "f4" or "<i4"; "" if NumPy has none."""
    import numpy

    try:
        found = numpy.dtype(dtype)
    except TypeError:
        return ""
    return found.name if found.isnative else ""


def is_integer(name: str) -> bool:
    return name not in PACKED and _native.dtypes()[name]["code"] in _INTEGERS


def bits(name: str) -> int:
    """Returns the size of an element of the dtype, in bits."""
    return _native.dtypes()[name]["bits"]


def itemsize(name: str) -> int:
    """Returns the size of an element of the dtype, in bytes."""
    return bits(name) // 8


def dlpack_code(dtype) -> tuple:
    """Returns DLPack's (type code, bits) of any NumPy dtype, supported by Zellige or not."""
    row = _native.dtypes().get(_NAMES.get(dtype.name))
    return (row["code"], row["bits"]) if row else (_KINDS.get(dtype.kind, 3), 8 * dtype.itemsize)


def numpy_dtype(name: str):
    """Returns the NumPy dtype of Zellige's dtype `name`. Raises Error if that needs ml_dtypes and it is not
    installed."""
    import numpy

    if _native.dtypes()[name]["code"] in (*_INTEGERS, _FLOAT):
        return numpy.dtype(_ELSEWHERE[name])
    try:
        import ml_dtypes
    except ImportError:
        raise Error(f"dtype {name}: NumPy has it by the package ml_dtypes, which is not installed") from None
    return numpy.dtype(getattr(ml_dtypes, _ELSEWHERE[name]))


@functools.cache
def torch_dtype(name: str):
    """Returns torch's dtype of Zellige's dtype `name`."""
    import torch

    return getattr(torch, _ELSEWHERE[name])


def promoted(names) -> str:
    """Returns the common dtype of operands with the dtypes `names`, as in NumPy and torch: f32 for different
    floating-point dtypes of 16 bits or more, f64 if one is f64. Raises Error for mixtures that Zellige does not support."""
    names = list(dict.fromkeys(names))
    if len(names) == 1:
        return names[0]
    if all(map(is_integer, names)):
        return _wider(names)
    if any(is_integer(n) for n in names):
        raise Error(f"expected operands of one dtype or of floating-point dtypes, found {' and '.join(names)}; cast one")
    if any(itemsize(n) == 1 for n in names):
        raise Error(f"expected operands of one dtype where some are of 8 bits, found {' and '.join(names)}; cast one")
    return "f64" if "f64" in names else "f32"


def computed(name: str) -> str:
    """Returns the floating-point dtype in which kernels compute with numbers of the dtype: f64 for f64, else f32."""
    return "f64" if name == "f64" else "f32"


def _wider(names) -> str:
    """Returns the common dtype of integers: the widest one, and int16 for int8 with uint8."""
    kept = [n for n in names if n != "bool"]
    widest = max(kept, key=itemsize)
    return "int16" if set(kept) == {"int8", "uint8"} else widest
