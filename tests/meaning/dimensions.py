"""Additions, maxima, softmax and norms along dimensions."""

import numpy as np
from case import F, Operand, along, case, magnitudes
from oracles import torch
from values import FLOATS, INTEGERS, ordinary, rows

R = (2, 11, 13)


def keys(dim, keepdim):
    return {"dim": dim, **({"keepdim": True} if keepdim else {})}


for _dim, _keep in ((2, False), (1, True), (0, False), ([1, 2], False), ([0, 2], True)):
    _n = {"attributes": keys(_dim, _keep), "batch": 1 if _dim in (0, [0, 2]) else 2}
    _axis = tuple(_dim) if isinstance(_dim, list) else _dim
    _tag = f"{_dim}".replace("[", "").replace("]", "").replace(", ", "_") + ("_kept" if _keep else "")
    _x = [Operand(R, along(_dim if isinstance(_dim, int) else _dim[-1]))]

    def _np(f, axis=_axis, keep=_keep):
        return lambda x: f(x, axis=axis, keepdims=keep)

    def _th(name, axis=_axis, keep=_keep):
        return lambda x: getattr(torch, name)(x, dim=axis, keepdim=keep)

    case(f"sum_{_tag}", "sum", _x, _th("sum"), _np(np.sum), units=32, mass=magnitudes(_np(np.sum)), **_n)
    case(f"sum_{_tag}_integer", "sum", _x, lambda x, a=_axis, k=_keep: torch.sum(x, dim=a, keepdim=k, dtype=torch.int32), _np(np.sum), tuple(INTEGERS), out="int32", **_n)
    case(f"mean_{_tag}", "mean", _x, _th("mean"), _np(np.mean), units=32, mass=magnitudes(_np(np.mean)), **_n)
    case(f"amax_{_tag}", "amax", _x, _th("amax"), _np(np.max), (*FLOATS, *INTEGERS), **_n)
    case(f"amin_{_tag}", "amin", _x, _th("amin"), _np(np.min), FLOATS, **_n)
    if isinstance(_dim, int):  # torch.prod takes one dimension; of several, the order decides what overflows
        case(f"prod_{_tag}", "prod", _x, _th("prod"), _np(np.prod), units=2 * 32, **_n)

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
    """As `rows`, without denormals: their squares underflow in float32."""
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
