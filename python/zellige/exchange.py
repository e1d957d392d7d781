"""Converts arrays of NumPy, torch, CuPy, JAX and other frameworks to the library's tensors: device, dtype, shape and
strides.

NumPy's arrays are read directly, because DLPack does not support all dtypes of ml_dtypes. All other arrays are read
by DLPack, without a copy and without waiting for the GPU.
"""

import ctypes
import functools
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from . import _abi, dtypes, sizes
from ._native import Error

HOST, CUDA = 1, 2

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_VERSIONED_HEAD = 32  # bytes of DLManagedTensorVersioned before its DLTensor


@dataclass(frozen=True)
class TensorSpec:
    """The shape, dtype and strides of an array, as an example for `compile` in place of an array.

      spec = TensorSpec((16, 64), "f16")

    shape: the extents, integers or Dims, or sums of products of these.  dtype: a name of Zellige, NumPy or torch.  strides: in elements; None: row-major. Raises
    Error if Zellige does not support the dtype.
    """

    shape: tuple
    dtype: str
    strides: tuple = None
    is_torchs: bool = field(default=None, repr=False, compare=False)  # a function with such examples is one for torch

    def __post_init__(self):
        if self.is_torchs is None:
            object.__setattr__(self, "is_torchs", str(self.dtype).startswith("torch."))
        for what, given in (("shape", self.shape), ("strides", self.strides or ())):
            if not isinstance(given, Sequence) or not all(isinstance(n, (numbers.Integral, sizes.DimExpression)) and not isinstance(n, bool) for n in given):
                raise Error(f"TensorSpec: expected integers in a tuple for {what}, found {given!r}")
        object.__setattr__(self, "shape", tuple(self.shape))
        object.__setattr__(self, "dtype", dtypes.name_of(self.dtype))
        if self.strides is not None:
            object.__setattr__(self, "strides", tuple(self.strides))


def is_torch(x) -> bool:
    """Returns true for torch tensors, and for objects of classes derived from torch's."""
    return type(x).__module__.partition(".")[0] == "torch" or any(c.__module__ == "torch" for c in type(x).__mro__[:-1])


def is_numpy(x) -> bool:
    return type(x).__module__.partition(".")[0] == "numpy" and hasattr(x, "__array_interface__")


def is_array(x) -> bool:
    return isinstance(x, TensorSpec) or is_numpy(x) or hasattr(x, "__dlpack__")


def check_supported(x) -> None:
    """Raises Error for an array whose elements are not those of its memory alone: masked ones, tensors that are negated lazily,
    sparse tensors; and for numpy.matrix, whose operators are others."""
    if is_numpy(x) and type(x).__name__ in ("MaskedArray", "matrix"):
        what = "whose mask a program does not have; pass x.filled(number)" if type(x).__name__ == "MaskedArray" else "whose * is a product of matrices; pass numpy.asarray(x)"
        raise Error(f"expected a numpy.ndarray, found numpy.{type(x).__name__}, {what}")
    if is_torch(x) and hasattr(x, "layout"):
        if str(x.layout) != "torch.strided" or getattr(x, "is_nested", False):
            raise Error(f"expected a tensor with strides, found one of {'nested sizes' if getattr(x, 'is_nested', False) else x.layout}")
        if x.is_neg() or x.is_conj():
            raise Error("expected a tensor whose memory has its elements, found a lazily negated or conjugated one; pass x.resolve_neg().resolve_conj()")


def spec_of(x) -> TensorSpec:
    """Returns the TensorSpec of an array. Raises Error if x is not an array, or if Zellige does not support its
    dtype."""
    if isinstance(x, TensorSpec):
        return x
    if not is_array(x):
        raise Error(f"expected an array of NumPy, torch or another that has DLPack, or a zellige.TensorSpec, found {type(x).__name__}")
    check_supported(x)
    if is_numpy(x):
        return TensorSpec(x.shape, dtypes.name_of(x.dtype), _element_strides(x))
    dtype = dtypes.name_of(x.dtype)
    if callable(getattr(x, "stride", None)):
        strides = tuple(x.stride())
    else:
        strides = _element_strides(x) if isinstance(getattr(x, "strides", None), tuple) else None
    return TensorSpec(x.shape, dtype, strides)


def _element_strides(x) -> tuple:
    """Returns a NumPy-like array's strides in elements. Raises Error if they are not multiples of the element
    size."""
    if any(s % x.itemsize for s in x.strides):
        raise Error(f"expected strides of whole elements of {x.itemsize} bytes, found {x.strides} bytes")
    return tuple(s // x.itemsize for s in x.strides)


class Tensors:
    """A C array of zellige_tensor that describes arrays, valid as long as this object. Raises Error if an array
    cannot be read."""

    def __init__(self, arrays):
        self.count = len(arrays)
        self.c = (_abi.Tensor * max(1, self.count))()
        self._alive = []
        for at, x in enumerate(arrays):
            check_supported(x)
            if is_numpy(x):
                self._numpy(self.c[at], x)
            elif hasattr(x, "__dlpack__"):
                self._dlpack(at, x)
            else:
                raise Error(f"expected an array of NumPy, torch or another that has DLPack, found {type(x).__name__}")

    def _numpy(self, to, x):
        if not x.dtype.isnative:
            raise Error(f"expected numbers in this machine's byte order, found {x.dtype.str}")
        extents = ctypes.c_int64 * max(1, x.ndim)
        shape, strides = extents(*x.shape), extents(*_element_strides(x))
        self._alive += [shape, strides, x]
        code, bits = dtypes.dlpack_code(x.dtype)
        to.data, to.device_type, to.device_id, to.rank = x.__array_interface__["data"][0], HOST, 0, x.ndim
        to.dtype_code, to.dtype_bits, to.dtype_lanes = code, bits, 1
        to.shape, to.strides, to.byte_offset = shape, strides, 0

    def _dlpack(self, at, x):
        if getattr(x, "requires_grad", False):
            x = x.detach()
        # -1: do not synchronise; the program runs on the producer's current stream.
        try:
            capsule = x.__dlpack__(stream=-1) if x.__dlpack_device__()[0] == CUDA else x.__dlpack__()
        except (BufferError, ValueError, RuntimeError) as why:
            raise Error(f"expected an array that DLPack can export, found one that it cannot: {(str(why).splitlines() or [''])[0]}") from None
        name = _capsule_name(capsule)
        pointer = _capsule_pointer(capsule, name) + (_VERSIONED_HEAD if name == b"dltensor_versioned" else 0)
        ctypes.memmove(ctypes.byref(self.c[at]), pointer, ctypes.sizeof(_abi.Tensor))
        self._alive.append(capsule)

    def device(self):
        """Returns (DLPack's device type, device index) of the first array."""
        return (self.c[0].device_type, self.c[0].device_id) if self.count else (HOST, 0)


@functools.cache
def exchange_table(kind: type):
    """Returns the address of a framework's table of C functions for its array type `kind` (DLPack's exchange API); None
    if the framework has none, or one of another version."""
    capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    return None if capsule is None else _capsule_pointer(capsule, b"dlpack_exchange_api")


def current_stream(like, device: int):
    """Returns the address of the current CUDA stream on GPU number `device`, as known to the framework of the array
    `like`. Returns None for the default stream and for an unknown framework. Raises Error for JAX."""
    framework = type(like).__module__.partition(".")[0]
    if framework == "torch":
        import torch

        return torch.cuda.current_stream(device).cuda_stream or None
    if framework == "cupy":
        import cupy

        return cupy.cuda.get_current_stream().ptr or None
    if framework == "jaxlib":
        raise Error("arrays of JAX on a GPU: JAX does not report its stream; wait for them by block_until_ready, and pass stream= and out=")
    return None


def in_bytes(info):
    """Returns the description of an input as its array is: of numbers of 4 bits, two in a byte of uint8, one of bytes."""
    if dtypes.bits(info.dtype) >= 8:
        return info
    line = next(d for d, s in enumerate(info.strides) if s == 1 and info.shape[d] > 1)
    halved = {"shape": tuple(n // 2 if d == line else n for d, n in enumerate(info.shape))}
    return replace(info, dtype="uint8", strides=tuple(s if d == line else s // 2 for d, s in enumerate(info.strides)), **halved)


def padding_of(info):
    """Returns the dimension in which the lines of an output have padding that the program may write, and the shape with
    the padding after the last line. Without such padding returns None and the shape."""
    elements = 1 + sum((n - 1) * s for n, s in zip(info.shape, info.strides)) if all(info.shape) else 0
    room = info.bytes // dtypes.itemsize(info.dtype) - elements
    if room <= 0:
        return None, tuple(info.shape)
    line = next(d for d, (n, s) in enumerate(zip(info.shape, info.strides)) if s == 1 and n > 1)
    return line, tuple(n + room * (d == line) for d, n in enumerate(info.shape))


def _allocation(info) -> tuple:
    """Returns (the dimension in which lines have padding or None, the shape with padding, the dtype of torch) of an output, which
    keeps them: they are asked for in each call."""
    kept = info.__dict__.get("_allocation")
    if kept is None:
        kept = info.__dict__["_allocation"] = (*padding_of(info), dtypes.torch_dtype(info.dtype))
    return kept


def is_negated(arrays) -> bool:
    """Returns true if one of torch's tensors is lazily negated, so that its memory has not its elements."""
    return True in [x.is_neg() for x in arrays if hasattr(x, "is_neg")]


def empty_strided(info, strides, device):
    """Returns a new, uninitialised torch tensor with the dtype and shape of an output, and the padding that the program
    may write after it."""
    import torch

    line, shape, dtype = _allocation(info)
    made = torch.empty_strided(shape, strides, dtype=dtype, device=device)
    return made if line is None else made.narrow(line, 0, info.shape[line])


def new_outputs(like, outputs) -> list:
    """Returns `empty_like` of each of a program's outputs."""
    if hasattr(like, "new_empty_strided"):
        device = like.device
        return [empty_strided(o, o.strides, device) for o in outputs]
    return [empty_like(like, o) for o in outputs]


def empty_like(like, info):
    """Returns a new, uninitialised array of the framework and device of `like`, with the dtype, shape and strides of
    `info`, a program's output. Raises Error if arrays of that framework cannot be allocated here."""
    framework = type(like).__module__.partition(".")[0]
    if framework == "torch" or hasattr(like, "new_empty_strided"):
        return empty_strided(info, info.strides, like.device)
    if is_numpy(like):
        import numpy as module
    elif framework == "cupy":
        import cupy as module
    elif framework == "jaxlib" and like.__dlpack_device__()[0] == HOST:
        import jax.numpy

        return jax.numpy.empty(info.shape, dtypes.numpy_dtype(info.dtype), device=like.device).block_until_ready()
    else:
        raise Error(f"output {info.name}: arrays of {framework} are not allocated here; pass out=")
    dtype = dtypes.numpy_dtype(info.dtype)
    buffer = module.empty(info.bytes // dtype.itemsize, dtype)
    strides = [s * dtype.itemsize for s in info.strides]
    if framework == "cupy":
        return module.lib.stride_tricks.as_strided(buffer, info.shape, strides)
    return module.ndarray(info.shape, dtype, buffer, 0, strides)  # as_strided does not know ml_dtypes' float8_e5m2
