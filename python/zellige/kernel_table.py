"""Describes the hand-written kernels (include/zellige/kernels): for each its inputs and outputs and, for given
shapes, the template instance and its launch. kernels.py builds programs from the table KERNELS."""

import math
import struct
from dataclasses import dataclass, field

from ._native import Error

SIXTEEN = ("f16", "bf16")
_TYPES = {"f16": "half_t", "bf16": "bfloat16_t"}
_BLOCKS = 132  # multiprocessors of the GPUs with sm_90a; persistent kernels run one block on each


@dataclass(frozen=True)
class Spec:
    """A tensor's dtype, shape and strides; strides count elements, and None means row-major."""

    dtype: str
    shape: tuple
    strides: tuple = None


@dataclass
class Launch:
    """A launch of a template instance. `header`: file in zellige/kernels without .hpp. `instance`: the template's
    name and arguments. `parameters`: the types of its parameters. `shared`: bytes of dynamic shared memory.
    `cluster`: blocks along x."""

    header: str
    instance: str
    parameters: str
    grid: tuple
    block: int
    shared: int
    arguments: list  # for each parameter a tensor's name, a Map, or the bytes of a number
    outputs: dict  # Spec by name
    inputs: dict = field(default_factory=dict)  # Spec by name
    cluster: int = 1
    asserts: str = ""  # C++ that checks the numbers of this launch against the template


@dataclass
class Map:
    """A tensor that the kernel accesses through a TMA descriptor; see docs/reference/manifest.md."""

    tensor: str
    extent: list  # elements, innermost first
    stride: list  # bytes
    box: list  # elements copied at a time, innermost first
    swizzle: int = 128


def _up(a, b):
    """Returns a / b, rounded up."""
    return -(-a // b)


def _ints(*numbers):
    return [struct.pack("i", n) for n in numbers]


def _longs(*numbers):
    return [struct.pack("q", n) for n in numbers]


def _rows(x):
    """Returns (number of rows along the last dimension, length of a row)."""
    return math.prod(x.shape[:-1]), x.shape[-1]


def _expect(name, right, expected, found):
    """Raises Error with the expected and the found value unless `right` is true. `name`: the kernel and tensor."""
    if not right:
        raise Error(f"{name}: expected {expected}, found {found}")


def _row_blocking(columns):
    """Returns (the template arguments "V, Threads, Chunks, Long" of a kernel along rows of `columns` elements, the
    number of threads). A thread keeps Chunks chunks of V elements in registers. Long: a row may have more elements than
    all threads of a block keep."""
    if columns % 8:
        return "1, 256, 4, true", 256
    if columns <= 2048:
        return "8, 256, 1, false", 256
    return ("8, 512, 2, false" if columns <= 8192 else "8, 512, 2, true"), 512


def softmax(target, x):
    """Returns the Launch (template instance, grid and arguments) of the softmax kernel for the rows of x. Like the
    other functions of the table, it raises Error for tensors that the kernel does not support."""
    rows, columns = _rows(x)
    blocking, threads = _row_blocking(columns)
    t = _TYPES[x.dtype]
    return Launch(
        "softmax", f"softmax<{t}, {blocking}, 4>", f"gmem<const {t}>, gmem<{t}>, int, int, int64_t, int64_t", (rows, 1, 1), threads,
        threads // 2, ["x", "y", *_ints(rows, columns), *_longs(columns, columns)], {"y": Spec(x.dtype, x.shape)},
    )  # fmt: skip


def _norm(kind, x, weights, eps):
    rows, columns = _rows(x)
    for name, w in weights.items():
        _expect(f"{kind}_norm, {name}", w.shape == (columns,), f"shape ({columns},), as rows of x have {columns} columns", w.shape)
    blocking, threads = _row_blocking(columns)
    t = _TYPES[x.dtype]
    named = list(weights) or ["x"]  # a kernel without weights gets x in their place, and does not read it
    return Launch(
        "norm", f"norm<Norm::{'' if weights else 'plain_'}{kind}, {t}, {blocking}, 4>",
        f"gmem<const {t}>, gmem<const {t}>, gmem<const {t}>, gmem<{t}>, int, int, int64_t, int64_t, float", (rows, 1, 1), threads, threads,
        ["x", named[0], named[-1], "y", *_ints(rows, columns), *_longs(columns, columns), struct.pack("f", eps)],
        {"y": Spec(x.dtype, x.shape)},
    )  # fmt: skip


def rms_norm(target, x, weight=None, *, eps=1e-5):
    return _norm("rms", x, {} if weight is None else {"weight": weight}, eps)


def layer_norm(target, x, weight=None, bias=None, *, eps=1e-5):
    _expect("layer_norm", (weight is None) == (bias is None), "weight and bias, or neither", "one of them")
    return _norm("layer", x, {} if weight is None else {"weight": weight, "bias": bias}, eps)


def transpose(target, x):
    rows, columns = _rows(x)
    _expect("transpose, x", len(x.shape) == 2, "a matrix", f"{len(x.shape)} dimensions")
    t = _TYPES[x.dtype]
    tile = (128, 4, 256, "true") if rows % 8 == 0 and columns % 8 == 0 else (64, 1, 128, "false")
    grid = (_up(columns, 64 * tile[1]), _up(rows, tile[0]), 1)
    return Launch(
        "transpose", f"transpose<{t}, {', '.join(map(str, tile))}>", f"gmem<const {t}>, gmem<{t}>, int, int, int64_t, int64_t", grid, tile[2],
        128 * tile[0] * tile[1], ["x", "y", *_ints(rows, columns), *_longs(columns, rows)], {"y": Spec(x.dtype, (columns, rows))},
    )  # fmt: skip


def gemm(target, a, b):
    _expect("gemm, a", len(a.shape) == 2, "a matrix", f"{len(a.shape)} dimensions")
    _expect("gemm, b", len(b.shape) == 2, "a matrix", f"{len(b.shape)} dimensions")
    (m, k), n = a.shape, b.shape[1]
    _expect("gemm, b", b.shape[0] == k, f"{k} rows, as a has {k} columns", b.shape[0])
    _expect("gemm, b", b.dtype == a.dtype, f"{a.dtype}, as a is", b.dtype)
    along_k = b.strides is not None and b.strides == (1, k)
    if target == "sm_90a" and along_k and n % 8 == 0 and k % 8 == 0:
        if m <= 16 and k % 64 == 0:
            return _few_rows("product", a, b, None, m, n, k)
        return _many_rows(a, b, m, n, k) if m <= 128 and n >= 4096 else _tiles(a, b, m, n, k)
    return _any_gemm(a, b, m, n, k, along_k)


def _any_gemm(a, b, m, n, k, along_k):
    """Returns the Launch (template instance, grid and arguments) of a matmul kernel for any GPU and shape; along_k: b
    is the transpose of a row-major matrix."""
    t, along = _TYPES[a.dtype], str(along_k).lower()
    ldb = k if along_k else n
    if k % 8 == 0 and ldb % 8 == 0 and _up(m, 128) * _up(n, 128) >= 32:
        tile, header, threads, shared = (128, 128), "gemm_sm80", 256, 2 * 3 * 2 * 128 * 64
        plan = f"GemmSm80<{t}, 128, 128, 64, 3, 2, 4, {along}>"
        instance = f"gemm_sm80<{plan}, Identity>"
    else:
        side, stages = (64, 3) if _up(m, 32) * _up(n, 32) > 264 else (32, 4)
        tile, header, threads = (side, side), "gemm_ragged", 256
        plan = f"GemmRagged<{side}, {side}, {stages}, {along}>"
        instance = f"gemm_ragged<{t}, {side}, {side}, {stages}, {along}, Identity>"
        line, plane = 264, (32 * (side // 8 + 1) + 4) * 8
        stage = side * line + (side * line if along_k else 8 * plane)
        shared = max(2 * stages * stage, 32 * side * (side if along_k else side + 8))
    return Launch(
        header, instance, f"gmem<const {t}>, int64_t, gmem<const {t}>, int64_t, gmem<{t}>, int64_t, int, int, int, Identity",
        (_up(n, tile[1]), _up(m, tile[0]), 1), threads, shared,
        ["a", *_longs(k), "b", *_longs(ldb), "y", *_longs(n), *_ints(m, n, k), b"\0"], {"y": Spec(a.dtype, (m, n))},
        asserts=f"static_assert({plan}::bytes == {shared} && {plan}::threads == {threads});",
    )  # fmt: skip


_MAP = "const __grid_constant__ TmaDescriptor"


def _matrix(name, rows, columns, box_rows, box_columns, swizzle=128):
    """Returns the TMA map of a row-major matrix of 2-byte elements, copied in boxes of box_rows times box_columns
    elements."""
    return Map(name, [columns, rows], [2, 2 * columns], [box_columns, box_rows], swizzle)


def _chunks(name, rows, k, box_rows, chunks):
    """Returns the TMA map of a row-major (rows, k) matrix of 2-byte elements, divided into chunks of 64 columns. A box
    (the tile of one copy) has `box_rows` rows and `chunks` chunks."""
    return Map(name, [64, rows, k // 64], [2, 2 * k, 128], [64, box_rows, chunks])


def _tiles(a, b, m, n, k):
    """Returns the Launch (template instance, grid and arguments) of the persistent matmul kernel for large matrices on
    sm_90a."""
    t = _TYPES[a.dtype]
    few = _up(m, 256) * _up(n, 192) <= 64
    width, group, blocks = (192, 4, 2 * _up(m, 256) * _up(n, 192)) if few else (256, 2, _BLOCKS)
    tile = f"GemmTile<{t}, {t}, {width}, 4, 2>"
    shared = 4 * (128 * 128 + width * 128) + 4 * 64 * 64 * 2 + 16 * 4
    return Launch(
        "gemm_sm90", f"gemm_sm90<{tile}, Identity>", f"{_MAP}, {_MAP}, {_MAP}, GemmShape, Identity", (blocks, 1, 1), 384, shared,
        [_matrix("a", m, k, 128, 64), _matrix("b", n, k, width // 2, 64), _matrix("y", m, n, 64, 64), struct.pack("4i", m, n, k, group), b"\0"],
        {"y": Spec(a.dtype, (m, n))}, cluster=2, asserts=f"static_assert({tile}::shared_bytes == {shared} && {tile}::slice_rows == {width // 2});",
    )  # fmt: skip


def _many_rows(a, b, m, n, k):
    """Returns the Launch (template instance, grid and arguments) of the sm_90a matmul kernel for up to 128 rows of a
    and many columns of b."""
    t, rows = _TYPES[a.dtype], 64 if m <= 64 else 128
    layer = f"ManyRows<{t}, {rows}>"
    xs, ws = (8, 10) if rows == 128 else (12, 14)
    shared = xs * rows * 128 + ws * 64 * 128 + rows * 128 + 16 * (xs + ws)
    return Launch(
        "linear_rows_sm90", f"linear_rows_sm90<{layer}, Identity>", f"{_MAP}, {_MAP}, {_MAP}, LinearShape, Identity",
        (min(_BLOCKS, _up(n, 64)), 1, 1), 256, shared,
        [_matrix("b", n, k, 64, 64), _matrix("a", m, k, rows, 64), _matrix("y", m, n, rows, 64), struct.pack("3i", m, n, k), b"\0"],
        {"y": Spec(a.dtype, (m, n))}, asserts=f"static_assert({layer}::shared_bytes == {shared});",
    )  # fmt: skip


def _few_rows(work, x, w, v, m, n, k):
    """Returns the Launch (template instance, grid and arguments) of the sm_90a kernel for matmuls with up to 16 rows.
    `work` is what the kernel computes: "product" (x w), "rms_norm" (x is normalised before the matmul) or "gated"
    (silu(x w) * (x v)). This function does not use `v`, because the launch depends on shapes only, and `v` has the
    shape of w."""
    t, rows, chunks = _TYPES[x.dtype], 8 if m <= 8 else 16, 4
    kn, gated = work != "product", work == "gated"
    layer = f"FewRows<{t}, Weights::{'kn' if kn else 'nk'}, LinearWork::{work}, {rows}, {chunks}>"
    x_name, w_name = ("x", "w") if kn else ("a", "b")
    columns, stage = 32 if gated else 64, 8192 * chunks + rows * 128 * chunks
    stages = 200 * 1024 // stage
    shared = stages * stage + 16 * 128 + 64 * rows * 4 + 16 * stages

    def weights(name):
        return _matrix(name, k, n, 64 * chunks, columns, 64 if gated else 128) if kn else _chunks(name, n, k, 64, chunks)

    return Launch(
        "linear_sm90", f"linear_sm90<{layer}>", f"{_MAP}, {_MAP}, {_MAP}, gmem<{t}>, LinearShape", (min(_BLOCKS, _up(n, columns)), 1, 1), 256,
        shared, [weights(w_name), weights("v" if gated else w_name), _chunks(x_name, m, k, rows, chunks), "y", struct.pack("3i", m, n, k)],
        {"y": Spec(x.dtype, (m, n))}, asserts=f"static_assert({layer}::shared_bytes == {shared});",
    )  # fmt: skip


def _layer(name, target, x, **weights):
    """Checks the tensors of the kernel `name`, a matmul with 1 to 16 rows of x, on sm_90a; `weights`: the weight
    matrices by name. Returns (rows of x, columns of the weights, k). Raises Error if the kernel does not support
    them."""
    _expect(name, target == "sm_90a", "a GPU with sm_90a", target)
    _expect(f"{name}, x", len(x.shape) == 2 and 1 <= x.shape[0] <= 16, "a matrix of 1 to 16 rows", x.shape)
    k, first = x.shape[1], next(iter(weights.values()))
    _expect(f"{name}, x", k % 64 == 0, "a multiple of 64 columns", k)
    for key, w in weights.items():
        _expect(f"{name}, {key}", len(w.shape) == 2 and w.shape[0] == k, f"a matrix of {k} rows, as x has {k} columns", w.shape)
        _expect(f"{name}, {key}", w.shape[1] % 8 == 0, "a multiple of 8 columns", w.shape[1])
        _expect(f"{name}, {key}", w.shape == first.shape, f"shape {first.shape}, as w has", w.shape)
    return x.shape[0], first.shape[1], k


def rms_norm_linear(target, x, w):
    return _few_rows("rms_norm", x, w, None, *_layer("rms_norm_linear", target, x, w=w))


def gated_mlp(target, x, w, v):
    return _few_rows("gated", x, w, v, *_layer("gated_mlp", target, x, w=w, v=v))


def _heads(name, q, k, v, sizes):
    """Raises Error if the shapes of queries, keys and values do not match, or if heads have other sizes than 64 and
    128. `sizes`: the number of dimensions that q must have."""
    _expect(f"{name}, q", len(q.shape) == sizes, f"{sizes} dimensions", len(q.shape))
    _expect(f"{name}, k", len(k.shape) == 4, "4 dimensions", len(k.shape))
    _expect(f"{name}, v", v.shape == k.shape, f"shape {k.shape}, as k has", v.shape)
    _expect(f"{name}, q", q.shape[-1] in (64, 128), "heads of 64 or 128", q.shape[-1])
    _expect(f"{name}, k", k.shape[3] == q.shape[-1], f"heads of {q.shape[-1]}, as q has", k.shape[3])
    _expect(f"{name}, k", k.shape[0] == q.shape[0], f"a batch of {q.shape[0]}, as q has", k.shape[0])
    _expect(f"{name}, q", q.shape[1] % k.shape[1] == 0, f"a multiple of {k.shape[1]} heads, as k has {k.shape[1]}", q.shape[1])


def attention(target, q, k, v, *, causal=False, scale=None):
    _expect("attention", target == "sm_90a", "a GPU with sm_90a", target)
    _heads("attention", q, k, v, 4)
    (batch, heads, queries, size), kv, keys = q.shape, k.shape[1], k.shape[2]
    _expect("attention, k", not causal or keys >= queries, f"at least {queries} keys, as q has {queries} queries", keys)
    t, tile, slabs = _TYPES[q.dtype], 176 if size == 128 and not causal else 128, size // 64
    plan = f"Attention<{t}, {size}, {tile}, {str(causal).lower()}>"
    shared = 2 * 64 * size * 2 + 2 * 2 * tile * size * 2 + 3 * 32

    def rows(name, count, n, box):
        return Map(name, [64, n, slabs, count], [2, 2 * size, 128, 2 * n * size], [64, box, slabs, 1])

    shape = struct.pack("4if", queries, keys, batch * heads, batch * kv, size**-0.5 if scale is None else scale)
    return Launch(
        "attention_sm90", f"attention_sm90<{plan}>", f"{_MAP}, {_MAP}, {_MAP}, {_MAP}, AttentionShape", (_BLOCKS, 1, 1), 384, shared,
        [rows("q", batch * heads, queries, 64), rows("k", batch * kv, keys, tile), rows("v", batch * kv, keys, tile),
         rows("y", batch * heads, queries, 64), shape],
        {"y": Spec(q.dtype, q.shape)}, asserts=f"static_assert({plan}::shared_bytes == {shared});",
    )  # fmt: skip


def decode_attention(target, q, k, v, *, scale=None):
    _heads("decode_attention", q, k, v, 3)
    (batch, heads, size), kv, keys = q.shape, k.shape[1], k.shape[2]
    units = batch * kv * _up(heads // kv, 8)
    # blocks that share a head's keys exchange partial results through distributed shared memory
    clusters = target == "sm_90a"
    splits = 1 if not clusters or units >= 128 or keys < 512 else 2 if units >= 64 else 4 if units >= 32 else 8
    t, warps = _TYPES[q.dtype], 8 if splits == 1 else 4
    plan = f"DecodePlan<{t}, {size}, 8, {warps}, 3, {splits}>"
    shared = max(2 * warps * 3 * 2 * 16 * size, 4 * (warps + 1) * (8 * size + 16)) + 16
    shape = struct.pack("3i4xqqqf4x", heads, kv, keys, size, keys * size, kv * keys * size, size**-0.5 if scale is None else scale)
    return Launch(
        "decode_attention", f"decode_attention<{plan}>",
        f"gmem<const {t}>, gmem<const {t}>, gmem<const {t}>, gmem<{t}>, gmem<float>, gmem<unsigned>, DecodeShape",
        (splits, units // batch, batch), 32 * warps, shared, ["q", "k", "v", "y", *_longs(0, 0), shape], {"y": Spec(q.dtype, q.shape)},
        cluster=splits, asserts=f"static_assert({plan}::bytes == {shared} && sizeof(DecodeShape) == 48);",
    )  # fmt: skip


# By name: the function that returns the launch, and the names of its tensors in order.
KERNELS = {
    "gemm": (gemm, ("a", "b")),
    "attention": (attention, ("q", "k", "v")),
    "decode_attention": (decode_attention, ("q", "k", "v")),
    "softmax": (softmax, ("x",)),
    "rms_norm": (rms_norm, ("x", "weight")),
    "layer_norm": (layer_norm, ("x", "weight", "bias")),
    "transpose": (transpose, ("x",)),
    "rms_norm_linear": (rms_norm_linear, ("x", "w")),
    "gated_mlp": (gated_mlp, ("x", "w", "v")),
}
