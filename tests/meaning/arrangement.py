"""Views, joins, masks, rotary embeddings, and gather/scatter by index."""

import functools
import math

import numpy as np
from case import ALL, WIDE, Operand, case, fixed, magnitudes, numbers
from oracles import torch
from values import ordinary, rows, spread

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


# ---- Masks by index, rotary embeddings, gather/scatter by index ----


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
# Tiles of a whole: rows over one axis of the grid, keys over the loop, which adds them with masked elements as 0.
case("mask_tiles", "mask", [Operand((2, 6, 20), ordinary, map={"x": 0, "y": 1}, loop_dim=2)], lambda x: _windowed(torch_mask, x), lambda x: _windowed(numpy_mask, x), WIDE,
     {"tril": 3, "triu": -2, "value": 0.0, "map": {"x": 0, "y": 1}, "loop_dim": 2}, levels="B", grid=(2, 3, 1), loop=5, maps=[{"x": 0, "y": 1}], units=8,
     mass=lambda x: np.ones(1) * 4, body=lambda tiles, a: [("mask", [tiles[0]], ["m"], a), ("accum", ["m"], ["r0"], {})])


def _windowed(mask, x):
    y = mask(x, i=1, j=2, tril=3, triu=-2, value=0.0)
    return y.reshape(2, 6, 5, 4).sum(2)


def rotated(a, b, cos, sin):
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


def rotated_pair(f):
    return magnitudes(lambda x, c, s: np.abs(x).max(-1, keepdims=True) * (c.max() + s.max()))


for _op, _f, _g in (("rotary", torch_rotary, numpy_rotary), ("rotary_interleaved", torch_rotary_interleaved, numpy_rotary_interleaved)):
    for _n in (7, 14):
        case(f"{_op}_{_n}", _op, [Operand((2, 5, 3, 14), rows), Operand((5, 1, _n), ordinary), Operand((5, 1, _n), ordinary)], _f, _g, units=8, mass=rotated_pair(_f))


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


def numpy_unfold(x):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (1, 2), (0, 0))), 5, 1)[:, ::3, :, ::2]
    return windows


def torch_unfold(x):
    return torch.nn.functional.pad(x, (0, 0, 1, 2)).unfold(1, 5, 3)[..., ::2]


case("unfold", "unfold", [Operand((2, 11, 5), spread)], torch_unfold, numpy_unfold, ALL, {"dim": 1, "size": 3, "step": 3, "dilation": 2, "padding": [1, 2]}, levels="K")
case("slice_scatter", "slice_scatter", [Operand((2, 11, 5), spread), Operand((2, 4, 5), spread)], torch_slice_scatter, numpy_slice_scatter, ALL, {"dim": 1, "start": 3}, levels="K")
case("slice_scatter_number", "slice_scatter", [Operand((2, 11, 5), spread), Operand((2, 4, 5), spread), Operand((1,), numbers([7]), "int32")], torch_slice_scatter,
     numpy_slice_scatter, ALL, {"dim": 1}, levels="K")
