"""The oracles: PyTorch, else NumPy. Values are passed and returned as float64, which represents every dtype."""

import numpy as np

try:
    import torch
except ImportError:
    torch = None

NUMPY = {"f16": "float16", "f32": "float32", "int8": "int8", "int32": "int32"}
ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


def numpy_dtype(dtype):
    """None if NumPy needs ml_dtypes for it, and that is missing."""
    if dtype in NUMPY:
        return np.dtype(NUMPY[dtype])
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(getattr(ml_dtypes, ML_DTYPES[dtype]))


class Numpy:
    name = "NumPy"
    has = staticmethod(lambda dtype: numpy_dtype(dtype) is not None)

    def array(self, values, dtype):
        with np.errstate(all="ignore"):
            return np.asarray(values, np.float64).astype(numpy_dtype(dtype))

    def values(self, x):
        return np.asarray(x).astype(np.float64)

    def strided(self, x, strides):
        room = np.zeros(1 + sum((n - 1) * s for n, s in zip(x.shape, strides)), x.dtype)
        y = np.ndarray(x.shape, x.dtype, room, 0, [s * x.itemsize for s in strides])
        y[...] = x
        return y

    def exact(self, case, operands):
        """In float64, or in the integers."""
        with np.errstate(all="ignore"):
            wide = [x.astype(np.int64 if x.dtype.kind == "i" else np.float64) for x in operands]
            return _list(case.numpy(*wide))

    def native(self, case, operands):
        return None

    def rounded(self, result, dtype):
        with np.errstate(all="ignore"):
            y = np.asarray(result)
            if dtype in ("int8", "int32"):
                return y.astype(np.int64).astype(numpy_dtype(dtype)).astype(np.float64)
            return y.astype(np.float64).astype(numpy_dtype(dtype)).astype(np.float64)


class Torch:
    name = "PyTorch"
    has = staticmethod(lambda dtype: True)
    device = "cpu"

    def dtype(self, dtype):
        names = {"f16": "float16", "f32": "float32", "bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
        return getattr(torch, names.get(dtype, dtype))

    def array(self, values, dtype):
        return torch.tensor(np.asarray(values), dtype=torch.float64).to(self.dtype(dtype)).to(self.device)

    def values(self, x):
        return x.cpu().to(torch.float64).numpy()

    def strided(self, x, strides):
        room = torch.zeros(1 + sum((n - 1) * s for n, s in zip(x.shape, strides)), dtype=torch.float32).to(x.dtype).to(x.device)
        y = room.as_strided(tuple(x.shape), tuple(strides))
        y.copy_(x)
        return y

    def exact(self, case, operands):
        wide = [x.cpu() if x.dtype in (torch.int8, torch.int32) else x.cpu().double() for x in operands]
        return _list(case.torch(*wide))

    def native(self, case, operands):
        """In the dtype itself, rounded wherever PyTorch rounds; None where it has no such function."""
        try:
            return [r.cpu().to(torch.float64).numpy() for r in _list(case.torch(*operands))]
        except (NotImplementedError, RuntimeError):
            return None

    def rounded(self, result, dtype):
        return result.to(self.dtype(dtype)).to(torch.float64).numpy()


def _list(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]
