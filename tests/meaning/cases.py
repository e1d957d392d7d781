"""Every operator: operands, attributes, and what it is in PyTorch and, apart from that, in NumPy.

Both functions get the operands in float64 (integers: int64 in NumPy, their own dtype in PyTorch) and give what has not been rounded yet.
"""

import functools
import math
from dataclasses import dataclass, field
from typing import Callable

import numpy as np
from oracles import torch
from values import FLOATS, INTEGERS, ordinary, rows, special, spread

F = torch.nn.functional if torch else None
ALL = (*FLOATS, *INTEGERS)


@dataclass
class Operand:
    shape: tuple
    kind: Callable  # (rng, dtype, shape): its values
    dtype: str = None  # in place of the case's
    map: dict = None  # block level: which dimension a grid axis splits; None: the first one where it is the case's batch
    loop_dim: int = -1


@dataclass
class Case:
    name: str
    op: str
    operands: list
    torch: Callable
    numpy: Callable
    dtypes: tuple = FLOATS
    attributes: dict = field(default_factory=dict)
    results: int = 1
    out: str = None  # the results' dtype; None: the case's
    # How far from exact: units of float32's last place of the larger of the result and `mass` (of the operands' magnitudes). 0: not at all.
    units: float = 0
    mass: Callable = None
    levels: str = "KB"
    batch: int = 2  # the extent of dimension 0 that a block-level grid splits; 1: the operator works along it
    maps: list = None  # block level: of each result, where not the batch
    grid: tuple = None
    loop: int = 1
    body: Callable = None  # block level: (tiles) -> operators, in place of the one
    before: tuple = ()  # block level: the operand that an accumulator sums first
    said: dict = field(default_factory=dict)


CASES = []


def case(*arguments, **more):
    CASES.append(Case(*arguments, **more))


def fixed(values):
    return lambda rng, dtype, shape: np.broadcast_to(np.asarray(values, np.float64), shape).copy()


def positive(rng, dtype, shape):
    return np.abs(ordinary(rng, dtype, shape)) + 0.5


# ---- Elementwise, of one ----

X = (2, 5, 9)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def numpy_gelu(x):
    return x * np.vectorize(lambda v: math.erfc(-v / math.sqrt(2)) / 2)(x)


def numpy_gelu_tanh(x):
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))


def unary(op, in_torch, in_numpy, units=4.0, dtypes=FLOATS, **more):
    case(more.pop("name", op), op, [Operand(X, spread)], in_torch, in_numpy, dtypes, units=units, **more)


def t(name, of=torch):
    """A function of torch's, called when it is there."""
    return lambda *a, **k: functools.reduce(getattr, name.split("."), torch)(*a, **k)


for _name in "exp log sqrt tanh sin cos".split():
    unary(_name, t(_name), getattr(np, _name))
unary("rsqrt", t("rsqrt"), lambda x: 1 / np.sqrt(x))
unary("square", t("square"), np.square, 1, ALL)
unary("neg", t("neg"), np.negative, 0, ALL)
unary("abs", t("abs"), np.abs, 0, ALL)
unary("relu", t("relu"), lambda x: np.maximum(x, 0), 0, ALL)
unary("sigmoid", t("sigmoid"), sigmoid, 128)
unary("silu", t("nn.functional.silu"), lambda x: x / (1 + np.exp(-x)), 128)
unary("gelu", t("nn.functional.gelu"), numpy_gelu, 512)
unary("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), numpy_gelu_tanh, 512)
unary("mul_scalar", lambda x: x * 0.3, lambda x: x * 0.3, 2, attributes={"scalar": 0.3})
unary("mul_scalar", lambda x: x * 3, lambda x: x * 3, 0, tuple(INTEGERS), attributes={"scalar": 3}, name="mul_scalar_integer")
unary("clamp", lambda x: x.clamp(-0.5, 2), lambda x: np.minimum(np.maximum(x, -0.5), 2), 0, attributes={"lo": -0.5, "hi": 2})
unary("clamp", lambda x: x.clamp(-5, 90), lambda x: np.clip(x, -5, 90), 0, tuple(INTEGERS), attributes={"lo": -5, "hi": 90}, name="clamp_integer")


# ---- Elementwise, of two ----

N = 29  # more than there are special values


def down(rng, dtype, shape):
    """Special values from row to row."""
    return np.broadcast_to(spread(rng, dtype, (N,))[:, None], shape).copy()


def compared(name):
    return lambda x, y: getattr(torch, name)(x, torch.as_tensor(y, dtype=x.dtype)).to(x.dtype)


def torch_pair(name):
    return lambda x, y: getattr(torch, name)(x, torch.as_tensor(y, dtype=x.dtype))


def with_number(f, s):
    return lambda x: f(x, s)


def binary(op, in_torch, in_numpy, units, dtypes=FLOATS, scalars=(), whole=()):
    """`scalars` in place of the last operand, `whole` ones for integers."""
    case(op, op, [Operand((2, N, 1), down), Operand((N,), spread)], in_torch, in_numpy, dtypes, units=units)
    for s in scalars:
        v = math.copysign(math.inf, 1 if s == "inf" else -1) if isinstance(s, str) else float(np.float32(s))
        unary(op, with_number(in_torch, v), with_number(in_numpy, v), units, attributes={"scalar": s}, name=f"{op}_{s}")
    for s in whole:
        unary(op, with_number(in_torch, s), with_number(in_numpy, s), 0, tuple(INTEGERS), attributes={"scalar": s}, name=f"{op}_{s}_integer")


binary("add", torch_pair("add"), np.add, 1, ALL, (0.1,), (5,))
binary("sub", torch_pair("sub"), np.subtract, 1, ALL, (0.1,), (5,))
binary("mul", torch_pair("mul"), np.multiply, 1, ALL)
binary("div", torch_pair("div"), np.divide, 2, FLOATS, (3,))
binary("pow", torch_pair("pow"), lambda x, y: np.power(x, y + np.zeros_like(x)), 32, FLOATS, (3, 0.5, 0, -1))
for _name in ("maximum", "minimum"):
    binary(_name, torch_pair(_name), getattr(np, _name), 0, ALL, (0.5, "inf", "-inf"), (5,))
for _name, _in_numpy in dict(eq=np.equal, ne=np.not_equal, lt=np.less, le=np.less_equal, gt=np.greater, ge=np.greater_equal).items():
    binary(_name, compared(_name), _in_numpy, 0, ALL, (0.5, "inf"), (5,))


def conditions(rng, dtype, shape):
    return np.resize(np.asarray([0.0, 1.0, -0.0, 3.0] + ([math.nan, math.inf] if dtype in FLOATS else [])), shape)


case("where", "where", [Operand((2, N, 1), conditions), Operand((N, 5), down), Operand((5,), spread)],
     lambda c, x, y: torch.where(c != 0, x, y), lambda c, x, y: np.where(c != 0, x, y), ALL)
case("where_scalar", "where", [Operand((2, N, 1), conditions), Operand((N, 1), down)],
     lambda c, x: torch.where(c != 0, x, 0.5), lambda c, x: np.where(c != 0, x, 0.5), attributes={"scalar": 0.5})
case("where_scalar_integer", "where", [Operand((2, N, 1), conditions), Operand((N, 1), down)],
     lambda c, x: torch.where(c != 0, x, 7), lambda c, x: np.where(c != 0, x, 7), tuple(INTEGERS), attributes={"scalar": 7})


# ---- Casts: from each dtype to each, plain and to the last number ----


def boundaries(rng, dtype, shape):
    """What lies beside the ends of narrower dtypes, and half-way between their numbers."""
    s = special(dtype)
    if dtype in FLOATS:
        s = s + [v * e for v in (448, 464, 465, 480, 57344, 61439, 61440, 65519, 65520, 127.5, 128, 200.7, 1 + 2.0**-4, 1 + 3 * 2.0**-4, 2.0**-9,
                                 1.5 * 2.0**-9, 2.0**-10, 2.0**-16, 2.0**-17, 2.0**-24, 2.0**-25, 1 + 2.0**-11, 1 + 2.0**-8, 1.5, 2.5, 3e9, 1e20)
                 for e in (1, -1)]
    else:
        s = s + [448, 464, 465, 480, 1 << 24, (1 << 24) + 1, -(1 << 24) - 1, (1 << 30) + 65, 65519, 65520, 57344, 61440]
    return np.resize(np.asarray(s, np.float64), shape)


def torch_cast(to, saturate):
    def cast(x):
        # What PyTorch leaves open, a NaN or a number past int32, is the nearest here, as on a GPU.
        dtype = getattr(torch, {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}.get(to, to))
        if to in INTEGERS:
            ends = INTEGERS[to if saturate else "int32"]
            return torch.nan_to_num(x.double(), nan=0.0, posinf=ends[1], neginf=ends[0]).clamp(*ends).long().to(dtype)
        y = x.float()
        if saturate:
            y = y.clamp(torch.finfo(dtype).min, torch.finfo(dtype).max)
        return y.to(dtype)

    return cast


def numpy_cast(to, saturate):
    def cast(x):
        if to in INTEGERS:
            ends = INTEGERS[to if saturate else "int32"]
            whole = np.clip(np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0, posinf=ends[1], neginf=ends[0]), *ends).astype(np.int64)
            return whole if saturate or to == "int32" else (whole + 128) % 256 - 128
        from values import GREATEST

        y = x.astype(np.float32).astype(np.float64)
        return np.clip(y, -GREATEST[to], GREATEST[to]) if saturate else y

    return cast


for _to in ALL:
    for _saturate in (False, True):
        case(f"cast_{_to}{'_saturated' if _saturate else ''}", "cast", [Operand((2, 7, 13), boundaries)], torch_cast(_to, _saturate), numpy_cast(_to, _saturate),
             ALL, {"dtype": _to, **({"saturate": True} if _saturate else {})}, out=_to)


# ---- Along dimensions ----

R = (2, 11, 13)


def along(dim):
    return lambda rng, dtype, shape: rows(rng, dtype, shape, dim)


def magnitudes(f):
    return lambda *a: f(*(np.nan_to_num(np.abs(x), nan=0, posinf=0) for x in a))


def keys(dim, keepdim):
    return {"dim": dim, **({"keepdim": True} if keepdim else {})}


for _dim, _keep in ((2, False), (1, True), (0, False), ([1, 2], False), ([0, 2], True)):
    _n = {"attributes": keys(_dim, _keep), "batch": 1 if _dim in (0, [0, 2]) else 2}
    _axis = tuple(_dim) if isinstance(_dim, list) else _dim
    _tag = f"{_dim}".replace("[", "").replace("]", "").replace(", ", "_") + ("_kept" if _keep else "")
    _x = [Operand(R, along(_dim if isinstance(_dim, int) else _dim[-1]))]
    _count = math.prod(R[d] for d in (_dim if isinstance(_dim, list) else [_dim]))

    def _np(f, axis=_axis, keep=_keep):
        return lambda x: f(x, axis=axis, keepdims=keep)

    def _th(name, axis=_axis, keep=_keep):
        return lambda x: getattr(torch, name)(x, dim=axis, keepdim=keep)

    case(f"sum_{_tag}", "sum", _x, _th("sum"), _np(np.sum), units=32, mass=magnitudes(_np(np.sum)), **_n)
    case(f"sum_{_tag}_integer", "sum", _x, lambda x, a=_axis, k=_keep: torch.sum(x, dim=a, keepdim=k, dtype=torch.int32), _np(np.sum), tuple(INTEGERS), out="int32", **_n)
    case(f"mean_{_tag}", "mean", _x, _th("mean"), _np(np.mean), units=32, mass=magnitudes(_np(np.mean)), **_n)
    case(f"amax_{_tag}", "amax", _x, _th("amax"), _np(np.max), (*FLOATS, *INTEGERS), **_n)
    case(f"amin_{_tag}", "amin", _x, _th("amin"), _np(np.min), FLOATS, **_n)

    def _lse(x, axis=_axis, keep=_keep):
        m = np.max(x, axis=axis, keepdims=True)
        off = np.where(np.isinf(m), 0, m)
        y = np.log(np.sum(np.exp(x - off), axis=axis, keepdims=True)) + off
        return y if keep else np.squeeze(y, axis)

    case(f"logsumexp_{_tag}", "logsumexp", _x, _th("logsumexp"), _lse, units=64, **_n)


def numpy_softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def numpy_log_softmax(x, axis):
    d = x - x.max(axis, keepdims=True)
    return d - np.log(np.exp(d).sum(axis, keepdims=True))


def numpy_safe_softmax(x, axis):
    return np.where((x == -np.inf).all(axis, keepdims=True), 0, numpy_softmax(x, axis))


for _dim in (0, 1, 2):
    _x = [Operand(R, along(_dim))]
    _n = {"attributes": {"dim": _dim}, "batch": 1 if _dim == 0 else 2}
    case(f"softmax_{_dim}", "softmax", _x, lambda x, d=_dim: torch.softmax(x, d), lambda x, d=_dim: numpy_softmax(x, d), units=256, **_n)
    case(f"log_softmax_{_dim}", "log_softmax", _x, lambda x, d=_dim: torch.log_softmax(x, d), lambda x, d=_dim: numpy_log_softmax(x, d), units=256, **_n)
    case(f"safe_softmax_{_dim}", "safe_softmax", _x, lambda x, d=_dim: torch._safe_softmax(x, d), lambda x, d=_dim: numpy_safe_softmax(x, d), units=256, **_n)

for _dim, _to in ((2, 1), (1, 1), (2, 4), (1, 5)):
    _shape = (2, 15, 12)

    def _strided(x, d=_dim, to=_to):
        y = x.reshape(*x.shape[:d], x.shape[d] // to, to, *x.shape[d + 1 :])
        return y.sum(d)

    case(f"reduction_{_dim}_{_to}", "reduction", [Operand(_shape, along(_dim))], _strided, _strided, units=32, mass=magnitudes(_strided),
         attributes={"dim": _dim, **({"to": _to} if _to > 1 else {})})


def numpy_rms_norm(axes, eps):
    def norm(x, w=1.0):
        return x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + eps) * w

    return norm


def numpy_layer_norm(axes, eps):
    def norm(x, w=1.0, b=0.0):
        c = x - x.mean(axis=axes, keepdims=True)
        return c / np.sqrt(np.mean(c * c, axis=axes, keepdims=True) + eps) * w + b

    return norm


def few_rows(rng, dtype, shape):
    """As rows, without denormals: their squares are nothing in float32."""
    x = rows(rng, dtype, shape)
    lines = x.reshape(-1, shape[-1])
    for i in range(len(lines)):
        if i % 10 == 7:
            lines[i] = ordinary(rng, dtype, shape[-1:])
    return lines.reshape(shape)


for _tag, _axes, _shape in (("last", (-1,), (13,)), ("two", (-2, -1), (11, 13))):
    for _eps in (0.0, 1e-5):
        _given = {} if _tag == "last" else {"normalized_shape": list(_shape)}
        _a = {**_given, **({"eps": _eps} if _eps else {})}
        _kind = rows if _eps else few_rows
        for _parts in range(3):
            _o = [Operand(R, _kind)] + [Operand(_shape, ordinary) for _ in range(_parts)]
            if _parts < 2:
                case(f"rms_norm_{_tag}_{_eps}_{_parts}", "rms_norm", _o, lambda x, w=None, s=_shape, e=_eps: F.rms_norm(x, s, w, e), numpy_rms_norm(_axes, _eps),
                     units=64, attributes=_a)
            case(f"layer_norm_{_tag}_{_eps}_{_parts}", "layer_norm", _o, lambda x, w=None, b=None, s=_shape, e=_eps: F.layer_norm(x, s, w, b, e),
                 numpy_layer_norm(_axes, _eps), units=64, mass=lambda *a: np.ones(1), attributes=_a)


# ---- Products ----


def product(name, x, y, bias=None, dtypes=FLOATS, out=None, attributes=None, **more):
    operands = [Operand(x, rows if more.pop("specials", False) else ordinary), Operand(y, ordinary)] + ([Operand(bias, ordinary, out)] if bias else [])

    def plus(z, b):
        return (z.reshape(1) if z.ndim == 0 else z) + (0 if b is None else b)

    def in_torch(x, y, b=None):
        z = torch.matmul(x.to(torch.int32), y.to(torch.int32)) if x.dtype == torch.int8 else torch.matmul(x, y)
        return plus(z, b)

    case(name, "matmul", operands, more.pop("torch", in_torch), more.pop("numpy", lambda x, y, b=None: plus(np.matmul(x, y), b)), dtypes, attributes or {}, out=out,
         units=32, mass=magnitudes(lambda x, y, b=None: plus(np.matmul(x, y), b)), **more)


HALVES, BYTES = ("f16", "bf16", "f32"), ("e4m3", "e5m2")
for _tag, _dtypes, _out in (("", HALVES, None), ("_bytes", BYTES, "f32"), ("_int8", ("int8",), "int32")):
    product(f"matmul{_tag}", (2, 5, 19), (2, 19, 7), None, _dtypes, _out)
    product(f"matmul_specials{_tag}", (2, 11, 19), (2, 19, 7), None, _dtypes, _out, specials=True)
    product(f"matmul_batches{_tag}", (2, 3, 5, 19), (19, 7), None, _dtypes, _out)
    product(f"matmul_ones{_tag}", (2, 1, 5, 8), (3, 8, 7), None, _dtypes, _out)
    product(f"matmul_bias{_tag}", (2, 16, 32), (32, 24), (24,), _dtypes, _out)
    product(f"matmul_row{_tag}", (19,), (2, 19, 7), None, _dtypes, _out, batch=2)
    product(f"matmul_column{_tag}", (2, 5, 19), (19,), None, _dtypes, _out)
    product(f"matmul_vectors{_tag}", (19,), (19,), None, _dtypes, _out, batch=1)


def tf32(x):
    """Ten bits of mantissa, ties away from zero."""
    bits = x.astype(np.float32).view(np.uint32)
    kept = np.where((bits & 0x7F800000) == 0x7F800000, bits, (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).astype(np.uint32)
    return kept.view(np.float32).astype(np.float64)


product("matmul_tf32", (2, 16, 32), (2, 32, 8), None, ("f32",), None, {"tf32": True}, numpy=lambda x, y: tf32(x) @ tf32(y),
        torch=lambda x, y: torch.from_numpy(tf32(x.cpu().numpy()) @ tf32(y.cpu().numpy())))


# ---- Rank 8 ----

E = (2, 1, 3, 1, 2, 1, 5, 7)
case("add_8", "add", [Operand(E, spread), Operand((3, 1, 1, 4, 1, 7), spread)], torch_pair("add"), np.add, units=1)
case("softmax_8", "softmax", [Operand(E, along(6))], lambda x: torch.softmax(x, 6), lambda x: numpy_softmax(x, 6), units=256, attributes={"dim": 6})
case("sum_8", "sum", [Operand(E, along(7))], lambda x: torch.sum(x, (2, 4, 7)), lambda x: x.sum((2, 4, 7)), units=32,
     mass=magnitudes(lambda x: x.sum((2, 4, 7))), attributes={"dim": [2, 4, 7]})
product("matmul_8", E, (3, 1, 1, 4, 7, 6), None, ("f16", "bf16", "f32"))


# ---- Views and joins: nothing is computed, and nothing is lost, NaN and signs of zeros included ----

V = (2, 6, 3, 20)
for _dims in ((0, 2, 1, 3), (0, 3, 1, 2), (3, 2, 1, 0)):
    _fixed = _dims[0] == 0
    case(f"permute_{'_'.join(map(str, _dims))}", "permute", [Operand(V, spread)], lambda x, d=_dims: x.permute(d), lambda x, d=_dims: x.transpose(d), ALL, {"dims": list(_dims)},
         batch=2, maps=None if _fixed else [{"x": 3}])
case("permute_8", "permute", [Operand((2, 1, 3, 2, 1, 2, 3, 2), spread)], lambda x: x.permute(0, 7, 6, 5, 4, 3, 2, 1), lambda x: x.transpose(0, 7, 6, 5, 4, 3, 2, 1), ALL,
     {"dims": [0, 7, 6, 5, 4, 3, 2, 1]})
case("reshape", "reshape", [Operand(V, spread)], lambda x: x.reshape(4, 9, 20), lambda x: x.reshape(4, 9, 20), ALL, {"shape": [4, 9, 20]}, levels="K")
case("reshape_ones", "reshape", [Operand((4, 9, 20), spread)], lambda x: x.reshape(4, 1, 9, 20, 1), lambda x: x.reshape(4, 1, 9, 20, 1), ALL, {"shape": [4, 1, 9, 20, 1]},
     batch=1)
case("expand", "expand", [Operand((2, 5, 1, 7), spread)], lambda x: x.expand(2, 5, 3, 7), lambda x: np.broadcast_to(x, (2, 5, 3, 7)), ALL, {"shape": [2, 5, 3, 7]}, batch=1)
case("expand_rank", "expand", [Operand((5, 1), spread)], lambda x: x.expand(2, 5, 7), lambda x: np.broadcast_to(x, (2, 5, 7)), ALL, {"shape": [2, 5, 7]}, batch=1)
case("slice", "slice", [Operand((2, 9, 17), spread)], lambda x: x[:, 2:7], lambda x: x[:, 2:7], ALL, {"dim": 1, "start": 2, "end": 7})
case("slice_last", "slice", [Operand((2, 9, 17), spread)], lambda x: x[:, :, 5:], lambda x: x[:, :, 5:], ALL, {"dim": 2, "start": 5, "end": 17})
case("concat", "concat", [Operand((2, 9, 17), spread), Operand((2, 9, 3), spread), Operand((2, 9, 1), spread)], lambda *x: torch.cat(x, 2), lambda *x: np.concatenate(x, 2), ALL,
     {"dim": 2})
case("concat_rows", "concat", [Operand((2, 3, 17), spread), Operand((2, 6, 17), spread)], lambda *x: torch.cat(x, 1), lambda *x: np.concatenate(x, 1), ALL, {"dim": 1})
case("split", "split", [Operand((2, 9, 17), spread)], lambda x: torch.split(x, [4, 1, 12], 2), lambda x: np.split(x, [4, 5], 2), ALL, {"dim": 2, "sizes": [4, 1, 12]}, results=3)


# ---- Masks by index, rotary embeddings, rows by number ----


def numpy_mask(x, lengths=None, *, i, j, tril=None, triu=None, length=None, value=-math.inf):
    def index(d):
        return np.arange(x.shape[d]).reshape([-1 if k == d else 1 for k in range(x.ndim)])

    keep = np.ones(x.shape, bool)
    keep &= index(j) - index(i) <= (10**9 if tril is None else tril)
    keep &= index(j) - index(i) >= (-(10**9) if triu is None else triu)
    keep &= index(j) < (10**9 if length is None else length)
    if lengths is not None:
        keep &= index(j) < lengths
    return np.where(keep, x, value)


def torch_mask(x, lengths=None, *, i, j, tril=None, triu=None, length=None, value=-math.inf):
    """By torch's own tril and triu, of the two dimensions in their order."""
    keep = torch.ones(x.shape[i], x.shape[j], dtype=torch.bool)
    if tril is not None:
        keep = keep.tril(tril)
    if triu is not None:
        keep = keep.triu(triu)
    if length is not None:
        keep[:, max(length, 0) :] = False
    keep = keep if i < j else keep.t()
    keep = keep.reshape([x.shape[d] if d in (i, j) else 1 for d in range(x.ndim)]).to(x.device)
    if lengths is not None:
        keep = keep & (torch.arange(x.shape[j], device=x.device).reshape([-1 if d == j else 1 for d in range(x.ndim)]) < lengths)
    return torch.where(keep, x, torch.tensor(value, dtype=x.dtype))


M = (2, 7, 19)
MASKS = {
    "causal": {"tril": 0},
    "causal_of_a_cache": {"tril": 19 - 7},
    "offset": {"tril": -3, "value": 0.5},
    "window": {"tril": 0, "triu": -3},
    "around": {"tril": 2, "triu": -2},
    "keys": {"length": 11},
    "no_keys": {"length": 0},
    "all": {"tril": 1, "triu": -5, "length": 5, "value": 0.0},
}
for _name, _a in MASKS.items():
    for _i, _j in ((1, 2), (2, 1)):
        _d = {} if _i < _j else {"dims": [2, 1]}
        case(f"mask_{_name}_{_i}{_j}", "mask", [Operand(M, spread)], functools.partial(torch_mask, i=_i, j=_j, **_a), functools.partial(numpy_mask, i=_i, j=_j, **_a),
             attributes={**_a, **_d})
case("mask_first_dims", "mask", [Operand(M, spread)], functools.partial(torch_mask, i=2, j=0, tril=-1), functools.partial(numpy_mask, i=2, j=0, tril=-1), batch=1,
     attributes={"tril": -1, "dims": [2, 0]})
case("mask_lengths", "mask", [Operand((4, 7, 19), spread), Operand((4, 1, 1), fixed(np.array([0, 5, -3, 40]).reshape(4, 1, 1)), "int32")],
     functools.partial(torch_mask, i=1, j=2, tril=4), functools.partial(numpy_mask, i=1, j=2, tril=4), attributes={"tril": 4}, batch=4)
# Tiles of a whole: rows by one axis of the grid, keys by the loop, which sums them where a mask puts 0.
case("mask_tiles", "mask", [Operand((2, 6, 20), ordinary, map={"x": 0, "y": 1}, loop_dim=2)], lambda x: _windowed(torch_mask, x), lambda x: _windowed(numpy_mask, x), HALVES,
     {"tril": 3, "triu": -2, "value": 0.0, "map": {"x": 0, "y": 1}, "loop_dim": 2}, levels="B", grid=(2, 3, 1), loop=5, maps=[{"x": 0, "y": 1}], units=8,
     mass=lambda x: np.ones(1) * 4, body=lambda tiles, a: [("mask", [tiles[0]], ["m"], a), ("accum", ["m"], ["r0"], {})])


def _windowed(mask, x):
    y = mask(x, i=1, j=2, tril=3, triu=-2, value=0.0)
    return y.reshape(2, 6, 5, 4).sum(2)


def turned(a, b, cos, sin):
    return a * cos - b * sin, b * cos + a * sin


def torch_rotary(x, cos, sin):
    a, b = x.chunk(2, -1)
    halves = [(t[..., : a.shape[-1]], t[..., -a.shape[-1] :]) for t in (cos, sin)]
    return torch.cat((a * halves[0][0] - b * halves[1][0], b * halves[0][1] + a * halves[1][1]), -1)


def numpy_rotary(x, cos, sin):
    n = x.shape[-1] // 2
    k = np.arange(x.shape[-1])
    cos, sin = (np.concatenate([t, t], -1) if t.shape[-1] == n else t for t in (cos, sin))
    return x * cos + np.where(k < n, -1, 1) * np.roll(x, n, -1) * sin


def torch_rotary_interleaved(x, cos, sin):
    n = x.shape[-1]
    cos, sin = (t if t.shape[-1] == n else t.repeat_interleave(2, -1) for t in (cos, sin))
    other = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * cos + other * sin


def numpy_rotary_interleaved(x, cos, sin):
    y = np.empty(np.broadcast_shapes(x.shape, (*cos.shape[:-1], 1)))
    c, s = ((t, t) if t.shape[-1] * 2 == x.shape[-1] else (t[..., ::2], t[..., 1::2]) for t in (cos, sin))
    y[..., ::2] = x[..., ::2] * c[0] - x[..., 1::2] * s[0]
    y[..., 1::2] = x[..., 1::2] * c[1] + x[..., ::2] * s[1]
    return y


def turn(f):
    return magnitudes(lambda x, c, s: np.abs(x).max(-1, keepdims=True) * (c.max() + s.max()))


for _op, _f, _g in (("rotary", torch_rotary, numpy_rotary), ("rotary_interleaved", torch_rotary_interleaved, numpy_rotary_interleaved)):
    for _n in (7, 14):
        case(f"{_op}_{_n}", _op, [Operand((2, 5, 3, 14), rows), Operand((5, 1, _n), ordinary), Operand((5, 1, _n), ordinary)], _f, _g, units=8, mass=turn(_f))


def numbers(values):
    return lambda rng, dtype, shape: np.asarray(values, np.float64).reshape(shape)


case("gather", "gather", [Operand((11, 3, 5), spread), Operand((2, 4), numbers([0, 10, 3, 3, 7, 1, 0, 9]), "int32")], lambda x, n: x[n.long()], lambda x, n: x[n], ALL, levels="K")
case("gather_rows", "gather", [Operand((11, 5), spread), Operand((7,), numbers([0, 10, 3, 3, 7, 1, 0]), "int32")], lambda x, n: x[n.long()], lambda x, n: x[n], ALL, batch=1)


def torch_scatter(x, n, u):
    return x.index_put((n.long(),), u)


def numpy_scatter(x, n, u):
    y = x.copy()
    y[n] = u
    return y


case("scatter", "scatter", [Operand((11, 5), spread), Operand((3,), numbers([10, 0, 4]), "int32"), Operand((3, 5), spread)], torch_scatter, numpy_scatter, ALL, levels="K")


def numpy_slice_scatter(x, part, start=None, at=3):
    at = at if start is None else int(start[0])
    y = x.copy()
    y[:, at : at + part.shape[1]] = part
    return y


def torch_slice_scatter(x, part, start=None, at=3):
    at = at if start is None else int(start[0])
    return torch.slice_scatter(x, part, 1, at, at + part.shape[1])


case("slice_scatter", "slice_scatter", [Operand((2, 11, 5), spread), Operand((2, 4, 5), spread)], torch_slice_scatter, numpy_slice_scatter, ALL, {"dim": 1, "start": 3}, levels="K")
case("slice_scatter_number", "slice_scatter", [Operand((2, 11, 5), spread), Operand((2, 4, 5), spread), Operand((1,), numbers([7]), "int32")], torch_slice_scatter,
     numpy_slice_scatter, ALL, {"dim": 1}, levels="K")


# ---- Accumulators, in blocks: the loop cuts the last dimension into 3 tiles of 8 ----

A = (2, 10, 24)


def tiles_of(x):
    return x.reshape(*x.shape[:-1], 3, 8)


def accumulator(op, of_tiles, units=32, kind=along(2), dtypes=HALVES, **more):
    f = of_tiles
    case(op, op, [Operand(A, kind, map={"x": 0, "y": 1}, loop_dim=2)], f, f, dtypes, levels="B", grid=(2, 5, 1), loop=3, maps=[{"x": 0, "y": 1}], units=units,
         mass=more.pop("mass", magnitudes(f)), **more)


accumulator("accum", lambda x: tiles_of(x).sum(-2))
accumulator("accum_red_sum", lambda x: tiles_of(x).sum((-2, -1))[..., None])
accumulator("accum_red_mean", lambda x: tiles_of(x).mean((-2, -1))[..., None])
accumulator("accum_red_rms", lambda x: (tiles_of(x) ** 2).mean((-2, -1))[..., None] ** 0.5)
accumulator("accum_redtox_sum", lambda x: x.reshape(*x.shape[:-1], 6, 4).sum(-2), attributes={"to": 4})


def greatest(x):
    """From the lowest finite float32 on; NaN wins."""
    lowest = -3.4028234663852886e38
    if torch is not None and isinstance(x, torch.Tensor):
        return torch.clamp(tiles_of(x).amax(-2), min=lowest)
    return np.maximum(tiles_of(x).max(-2), lowest)


accumulator("accum_max", greatest, 0)


def running(x, tile):
    """Attention's softmax in one pass, step by step: what accumulators with a factor mean."""
    of_torch = not isinstance(x, np.ndarray)
    x = x.double().cpu().numpy() if of_torch else x
    m = np.full((*x.shape[:-1], 1), -3.4028234663852886e38)
    total = 0
    for i in range(3):
        part = tiles_of(x)[..., i, :]
        with np.errstate(all="ignore"):
            new = np.maximum(m, part.max(-1, keepdims=True))
            fell = np.exp(m - new) if i else np.ones_like(m)
            total = total * fell + (np.exp(part - new) if tile else np.exp(part - new).sum(-1, keepdims=True))
        m = new
    return torch.from_numpy(total) if of_torch else total


def one_pass(op):
    def body(tiles, attributes):
        return [
            ("reduction_max", [tiles[0]], ["m", "d"], {"dim": 2}),
            ("sub", [tiles[0], "m"], ["s"], {}),
            ("exp", ["s"], ["p"], {}),
            ("exp", ["d"], ["r"], {}),
            (op, ["p", "r"], ["r0"], {}),
        ]

    return body


for _op, _tile in (("accum_rescale", True), ("accum_red_sum_rescale", False)):
    accumulator(_op, functools.partial(running, tile=_tile), 256, mass=lambda x: np.ones(1), body=one_pass(_op))
