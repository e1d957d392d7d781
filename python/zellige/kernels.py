"""The hand-written kernels, for GPU arrays of torch, CuPy or any framework with DLPack.

    from zellige import kernels
    y = kernels.rms_norm(x, weight)             # on the current stream, without a copy
    y = kernels.gemm(x, w.T)                    # w: a Linear's weight

Each is compiled by NVRTC for the template instance of the shapes at first use and cached on disk by content; later calls with
the same shapes launch it. Tensors are f16 or bf16, row-major (gemm's b may be the transpose of a row-major matrix), and
aligned to 16 bytes; other tensors raise Error with both values. If torch is installed the kernels are also torch operators
(torch.ops.zellige_kernels.NAME), with fake tensors, which torch.compile does not decompose.
"""

import functools
import importlib.util
import json
import math
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
    return (
        f"#include <zellige/kernels/{launch.header}.hpp>\n"
        "using namespace zellige;\nusing namespace zellige::kernels;\n"
        f"{launch.asserts}\n"
        f"template __global__ void zellige::kernels::{launch.instance}({launch.parameters});\n"
    )


def _manifest(name, target, launch, function) -> dict:
    """Makes the manifest of docs/reference/manifest.md."""

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
    """The launch of a kernel for tensors like these; `specs`: (name, Spec) of each passed tensor."""
    for key, spec in specs:
        if spec.dtype not in SIXTEEN:
            raise Error(f"{name}, {key}: expected {' or '.join(SIXTEEN)}, found {spec.dtype}")
        if spec.dtype != specs[0][1].dtype:
            raise Error(f"{name}, {key}: expected {specs[0][1].dtype}, as {specs[0][0]} is, found {spec.dtype}")
        if not spec.shape or 0 in spec.shape:
            raise Error(f"{name}, {key}: expected at least one element in one dimension, found shape {spec.shape}")
    launch = KERNELS[name][0](target, **dict(specs), **dict(options))
    launch.inputs = dict(specs)
    return launch


@functools.lru_cache(maxsize=4096)
def program(name, target, specs, options=()) -> Program:
    """The kernel as a program for tensors like these, compiled for `target`, with or without a GPU."""
    launch = _launch(name, target, specs, options)
    cubin = _native.cubin(_text(launch), target)
    function = re.search(rb"\0\.text\.([^\0]+)\0", cubin).group(1).decode()
    manifest = _native.sealed(json.dumps(_manifest(name, target, launch, function)), name, cubin)
    return Program(_native.loaded(manifest, name, cubin), name)


def _spec(name, key, x) -> Spec:
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
    given = [(key, x) for key, x in zip(KERNELS[name][1], tensors) if x is not None]
    specs = tuple((key, _spec(name, key, x)) for key, x in given)
    made = program(name, _target(), specs, tuple(sorted(options.items())))
    return made(*(x for _, x in given), out=None if out is None else [out])


def gemm(a, b, *, out=None):
    """a b: (m, k) by (k, n). Fastest on sm_90a if b is the transpose of a row-major (n, k)."""
    return _call("gemm", (a, b), {}, out)


def attention(q, k, v, *, causal=False, scale=None, out=None):
    """softmax(scale q k^T) v: q (batch, heads, queries, size), k and v (batch, kv_heads, keys, size), size 64 or 128. Causal:
    the last query sees the last key. scale: size^-0.5 by default. For sm_90a."""
    return _call("attention", (q, k, v), {"causal": causal, "scale": scale}, out)


def decode_attention(q, k, v, *, scale=None, out=None):
    """The same with one query per head: q (batch, heads, size)."""
    return _call("decode_attention", (q, k, v), {"scale": scale}, out)


def softmax(x, *, out=None):
    """exp(x - max) / sum along the last dimension."""
    return _call("softmax", (x,), {}, out)


def rms_norm(x, weight=None, *, eps=1e-5, out=None):
    """x / sqrt(mean(x^2) + eps) weight along the last dimension."""
    return _call("rms_norm", (x, weight), {"eps": eps}, out)


def layer_norm(x, weight=None, bias=None, *, eps=1e-5, out=None):
    """(x - mean) / sqrt(variance + eps) weight + bias along the last dimension."""
    return _call("layer_norm", (x, weight, bias), {"eps": eps}, out)


def transpose(x, *, out=None):
    """x^T, copied to new memory."""
    return _call("transpose", (x,), {}, out)


def rms_norm_linear(x, w, *, out=None):
    """(x / sqrt(mean(x^2))) w: x (1 to 16 rows, k), w (k, n). For sm_90a."""
    return _call("rms_norm_linear", (x, w), {}, out)


def gated_mlp(x, w, v, *, out=None):
    """silu(x w) (x v): x (1 to 16 rows, k), w and v (k, n). For sm_90a."""
    return _call("gated_mlp", (x, w, v), {}, out)


if "torch" in sys.modules or importlib.util.find_spec("torch"):
    from . import kernels_torch  # noqa: F401 (registers them)
