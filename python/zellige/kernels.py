"""Hand-written kernels for GPU arrays of torch, CuPy or any framework with DLPack.

    from zellige import kernels
    y = kernels.rms_norm(x, weight)             # on the current stream, without a copy
    y = kernels.gemm(x, w.T)                    # w: a Linear's weight

The template instance for the shapes of a call is compiled by NVRTC at its first use and cached on disk; later calls
with the same shapes only launch it. Tensors are f16 or bf16, row-major (gemm's b may be the transpose of a row-major
matrix), and aligned to 16 bytes; for other tensors a function raises Error with the expected and the found value.
out: an array for the result. If torch is installed the kernels are also torch operators
(torch.ops.zellige_kernels.NAME). torch.compile traces these operators with fake tensors and does not decompose them.
"""

import functools
import importlib.util
import json
import math
import numbers
import re
import sys

from . import _native, exchange
from ._native import Error
from .kernel_table import KERNELS, SIXTEEN, Map, Spec
from .program import Program

_SIZES = {"f16": 2, "bf16": 2}


def _row_major(shape) -> tuple:
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


def _text(launch) -> str:
    """Returns the CUDA source code that instantiates the kernel template of a Launch (kernel_table.py)."""
    return (
        f"#include <zellige/kernels/{launch.header}.hpp>\n"
        "using namespace zellige;\nusing namespace zellige::kernels;\n"
        f"{launch.asserts}\n"
        f"template __global__ void zellige::kernels::{launch.instance}({launch.parameters});\n"
    )


def _manifest(name, target, launch, function) -> dict:
    """Returns the manifest that describes a Launch (kernel_table.py), as a dict in the form of
    docs/reference/manifest.md. `function`: the kernel's mangled name."""

    def tensor(key, role, position, spec):
        strides = spec.strides or _row_major(spec.shape)
        last = sum((n - 1) * s for n, s in zip(spec.shape, strides))
        form = {"name": key, "role": role, "position": position, "dtype": spec.dtype, "shape": list(spec.shape)}
        return form | {"strides": list(strides), "bytes": (last + 1) * _SIZES[spec.dtype]}

    def argument(a):
        if isinstance(a, bytes):
            return {"bytes": a.hex()}
        key = a.tensor if isinstance(a, Map) else a
        form = {"tensor": key, "writes": key in launch.outputs}
        if isinstance(a, Map):
            form["tensor_map"] = {"extent": a.extent, "stride": a.stride, "box": a.box, "swizzle": a.swizzle}
        return form

    kernel = {"name": function, "grid": list(launch.grid), "block": [launch.block, 1, 1], "shared_bytes": launch.shared}
    kernel |= {"cluster": [launch.cluster, 1, 1], "programmatic": target == "sm_90a", "arguments": [argument(a) for a in launch.arguments]}
    tensors = [tensor(key, "input", i, spec) for i, (key, spec) in enumerate(launch.inputs.items())]
    tensors += [tensor(key, "output", i, spec) for i, (key, spec) in enumerate(launch.outputs.items())]
    return {"version": 2, "name": name, "target": target, "buffer_size": 0, "tensors": tensors, "kernels": [kernel]}


def _launch(name, target, specs, options):
    """Returns the Launch (template instance, grid and arguments) of the kernel `name` for tensors with the dtypes,
    shapes and strides of `specs`: (name, Spec) for each tensor. `options`: (name, value) for each keyword option, such
    as causal. Raises Error for tensors that the kernel does not support."""
    for key, spec in specs:
        if spec.dtype not in SIXTEEN:
            raise Error(f"{name}, {key}: expected {' or '.join(SIXTEEN)}, found {spec.dtype}")
        if spec.dtype != specs[0][1].dtype:
            raise Error(f"{name}, {key}: expected {specs[0][1].dtype}, as {specs[0][0]} is, found {spec.dtype}")
        if not spec.shape or 0 in spec.shape:
            raise Error(f"{name}, {key}: expected at least one element in one dimension, found shape {spec.shape}")
    for key, value in options if isinstance(options, tuple) else options.items():
        flag, number = isinstance(value, bool), isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
        if key == "causal" and not flag:
            raise Error(f"{name}: expected causal to be True or False, found {value!r}")
        if key != "causal" and not number and not (key == "scale" and value is None):
            raise Error(f"{name}: expected {key} to be a finite number, found {value!r}")
    launch = KERNELS[name][0](target, **dict(specs), **dict(options))
    launch.inputs = dict(specs)
    return launch


@functools.lru_cache(maxsize=4096)
def program(name, target, specs, options=()) -> Program:
    """Returns the kernel `name` as a Program, compiled for `target`, for tensors with the dtypes, shapes and strides of
    `specs`: (name, Spec) for each tensor. `options`: (name, value) for each keyword option, such as causal. Works
    without a GPU. Raises Error for tensors that the kernel does not support."""
    launch = _launch(name, target, specs, options)
    cubin = _native.cubin(_text(launch), target)
    function = re.search(rb"\0\.text\.([^\0]+)\0", cubin).group(1).decode()
    manifest = _native.sealed(json.dumps(_manifest(name, target, launch, function)), name, cubin)
    return Program(_native.loaded(manifest, name, cubin), name)


def _spec(name, key, x) -> Spec:
    """Returns the Spec of an array that is passed as the kernel's tensor `key`. Raises Error if it is no array."""
    try:
        spec = exchange.spec_of(x)
    except Error as why:
        raise Error(f"{name}, {key}: {why}") from None
    transposed = name == "gemm" and key == "b" and len(spec.shape) == 2 and spec.strides == (1, spec.shape[0]) and 1 not in spec.shape
    return Spec(spec.dtype, tuple(spec.shape), spec.strides if transposed else None)


def _target() -> str:
    target, why_not = _native.gpu()
    if why_not:
        raise Error(f"kernels run on a GPU: {why_not}")
    return target


def _call(name, tensors, options, out=None):
    """Runs the kernel `name` on arrays and returns its output."""
    given = [(key, x) for key, x in zip(KERNELS[name][1], tensors) if x is not None]
    specs = tuple((key, _spec(name, key, x)) for key, x in given)
    made = program(name, _target(), specs, tuple(sorted(options.items())))
    return made(*(x for _, x in given), out=None if out is None else [out])


def gemm(a, b, *, out=None):
    """Returns the matrix product a b of a (m, k) and b (k, n), of shape (m, n).

      y = kernels.gemm(x, w.T)

    Fastest on sm_90a if b is the transpose of a row-major (n, k) matrix, as in the example. Raises Error if the
    shapes or dtypes do not match.
    """
    return _call("gemm", (a, b), {}, out)


def attention(q, k, v, *, causal=False, scale=None, out=None):
    """Returns softmax(scale q k^T) v, in the shape of q.

      y = kernels.attention(q, k, v, causal=True)

    q: (batch, heads, queries, size).  k, v: (batch, kv_heads, keys, size), where kv_heads divides heads; size is
    64 or 128. causal: query i of n sees all keys except the last n - 1 - i; there must be at least n
    keys. scale: size^-0.5 by default. Raises Error for other shapes, and on GPUs other than sm_90a.
    """
    return _call("attention", (q, k, v), {"causal": causal, "scale": scale}, out)


def decode_attention(q, k, v, *, scale=None, out=None):
    """Returns softmax(scale q k^T) v for one query per head, in the shape of q.

      y = kernels.decode_attention(q, k_cache, v_cache)

    q: (batch, heads, size).  k, v: (batch, kv_heads, keys, size), where kv_heads divides heads; size is 64 or 128.
    scale: size^-0.5 by default. Raises Error for other shapes.
    """
    return _call("decode_attention", (q, k, v), {"scale": scale}, out)


def softmax(x, *, out=None):
    """Returns exp(x - max) / sum(exp(x - max)) along the last dimension, in the shape of x (at least one
    dimension). Example: kernels.softmax(x). Raises Error for a dtype other than f16 and bf16."""
    return _call("softmax", (x,), {}, out)


def rms_norm(x, weight=None, *, eps=1e-5, out=None):
    """Returns x / sqrt(mean(x^2) + eps) * weight along the last dimension, in the shape of x. weight: (last
    dimension), or None. Example: kernels.rms_norm(x, weight). Raises Error if the weight has another shape or
    dtype."""
    return _call("rms_norm", (x, weight), {"eps": eps}, out)


def layer_norm(x, weight=None, bias=None, *, eps=1e-5, out=None):
    """Returns (x - mean) / sqrt(variance + eps) * weight + bias along the last dimension, in the shape of x.
    weight, bias: (last dimension), or both None. Example: kernels.layer_norm(x, weight, bias). Raises Error if
    only one of them is passed, or for another shape or dtype."""
    return _call("layer_norm", (x, weight, bias), {"eps": eps}, out)


def transpose(x, *, out=None):
    """Returns the transpose of the matrix x, (m, n), as a new row-major matrix (n, m). Example:
    kernels.transpose(x). Raises Error unless x has two dimensions."""
    return _call("transpose", (x,), {}, out)


def rms_norm_linear(x, w, *, out=None):
    """Returns (x / sqrt(mean(x^2))) w for x (rows, k) and w (k, n), of shape (rows, n). Example:
    kernels.rms_norm_linear(x, w). Raises Error unless x has 1 to 16 rows, k is a multiple of 64, n of 8, and the
    GPU is sm_90a."""
    return _call("rms_norm_linear", (x, w), {}, out)


def gated_mlp(x, w, v, *, out=None):
    """Returns silu(x w) * (x v) for x (rows, k), w and v (k, n), of shape (rows, n). Example: kernels.gated_mlp(x,
    w, v). Raises Error unless x has 1 to 16 rows, k is a multiple of 64, n of 8, and the GPU is sm_90a."""
    return _call("gated_mlp", (x, w, v), {}, out)


if "torch" in sys.modules or importlib.util.find_spec("torch"):
    from .torch.tensors import kernels  # noqa: F401 (registers the kernels as torch operators)
