"""Operators of each element, and casts."""

import math

import numpy as np
from case import ALL, F, Operand, case, t
from oracles import torch
from values import FLOATS, GREATEST, INTEGERS, special, spread

# ---- Elementwise, of one ----

X = (2, 5, 9)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def numpy_gelu(x):
    return x * np.vectorize(lambda v: math.erfc(-v / math.sqrt(2)) / 2)(x)


def numpy_gelu_tanh(x):
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))


def below(f):
    """For x < 0, where the exponential after an operator is large."""
    return lambda x: np.where(x < 0, f(np.abs(x)), 0)


def unary(op, in_torch, in_numpy, units=4.0, dtypes=FLOATS, **more):
    case(more.pop("name", op), op, [Operand(X, spread)], in_torch, in_numpy, dtypes, units=units, **more)


# The units are docs/reference/verdicts.md's, under "The reference".
unary("exp", t("exp"), np.exp, lambda x: 4 + 2 * np.abs(x))
unary("sqrt", t("sqrt"), np.sqrt, 2)
for _name in "log tanh sin cos".split():
    unary(_name, t(_name), getattr(np, _name))
unary("log1p", t("log1p"), np.log1p, 8)
unary("rsqrt", t("rsqrt"), lambda x: 1 / np.sqrt(x))
unary("square", t("square"), np.square, 1, ALL)
unary("neg", t("neg"), np.negative, 0, ALL)
unary("abs", t("abs"), np.abs, 0, ALL)
unary("relu", t("relu"), lambda x: np.maximum(x, 0), 0, ALL)
unary("sigmoid", t("sigmoid"), sigmoid, lambda x: 6 + below(lambda a: 2 * a)(x))
unary("silu", t("nn.functional.silu"), lambda x: x / (1 + np.exp(-x)), lambda x: 7 + below(lambda a: 3 * a)(x))
unary("gelu", t("nn.functional.gelu"), numpy_gelu, lambda x: 10 + below(lambda a: 6 * a * a)(x))
unary("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), numpy_gelu_tanh, lambda x: 12 + below(lambda a: 18 * math.sqrt(8 / math.pi) * (a + 0.044715 * a**3))(x))
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
binary("pow", torch_pair("pow"), lambda x, y: np.power(x, y + np.zeros_like(x)), 16, FLOATS, (3, 0.5, 0, -1))
for _name in ("maximum", "minimum"):
    binary(_name, torch_pair(_name), getattr(np, _name), 0, ALL, (0.5, "inf", "-inf"), (5,))
binary("logaddexp", torch_pair("logaddexp"), np.logaddexp, 64)
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


# ---- Casts: between all dtypes, with and without saturation ----


def boundaries(rng, dtype, shape):
    """Numbers next to the limits of narrower dtypes, and half-way between their numbers."""
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
        # Results that PyTorch leaves undefined, a NaN or a number beyond int32, are the nearest here, as on a GPU.
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
        y = x.astype(np.float32).astype(np.float64)
        return np.clip(y, -GREATEST[to], GREATEST[to]) if saturate else y

    return cast


for _to in ALL:
    for _saturate in (False, True):
        case(f"cast_{_to}{'_saturated' if _saturate else ''}", "cast", [Operand((2, 7, 13), boundaries)], torch_cast(_to, _saturate), numpy_cast(_to, _saturate),
             ALL, {"dtype": _to, **({"saturate": True} if _saturate else {})}, out=_to)
