"""The accumulators of a block's loop."""

import functools

import numpy as np
from case import WIDE, Operand, along, case, magnitudes
from oracles import torch

A = (2, 10, 24)


def tiles_of(x):
    return x.reshape(*x.shape[:-1], 3, 8)


def accumulator(op, of_tiles, units=32, kind=along(2), dtypes=WIDE, **more):
    f = of_tiles
    case(op, op, [Operand(A, kind, map={"x": 0, "y": 1}, loop_dim=2)], f, f, dtypes, levels="B", grid=(2, 5, 1), loop=3, maps=[{"x": 0, "y": 1}], units=units,
         mass=more.pop("mass", magnitudes(f)), **more)


accumulator("accum", lambda x: tiles_of(x).sum(-2))
accumulator("accum_red_sum", lambda x: tiles_of(x).sum((-2, -1))[..., None])
accumulator("accum_red_mean", lambda x: tiles_of(x).mean((-2, -1))[..., None])
accumulator("accum_red_rms", lambda x: (tiles_of(x) ** 2).mean((-2, -1))[..., None] ** 0.5)
accumulator("accum_redtox_sum", lambda x: x.reshape(*x.shape[:-1], 6, 4).sum(-2), attributes={"to": 4})


def greatest_of(m):
    """From the lowest finite float32 on; NaN wins."""
    lowest = -3.4028234663852886e38
    return torch.clamp(m, min=lowest) if torch is not None and isinstance(m, torch.Tensor) else np.maximum(m, lowest)


def greatest(x):
    return greatest_of(tiles_of(x).amax(-2) if torch is not None and isinstance(x, torch.Tensor) else tiles_of(x).max(-2))


accumulator("accum_max", greatest, 0)


def log_of_sum(x):
    return torch.logsumexp(tiles_of(x), -2) if torch is not None and isinstance(x, torch.Tensor) else np.logaddexp.reduce(tiles_of(x), axis=-2)


accumulator("accum_logsumexp", log_of_sum, 64)


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


def first_maximum(x):
    """For a single iteration: the maximum, and a difference of 0, or NaN if the maximum is."""
    m = greatest_of(x.amax(-1, keepdim=True) if torch is not None and isinstance(x, torch.Tensor) else x.max(-1, keepdims=True))
    return [m, torch.where(m.isnan(), m, torch.zeros_like(m)) if torch is not None and isinstance(m, torch.Tensor) else np.where(np.isnan(m), m, 0)]


case("reduction_max", "reduction_max", [Operand((2, 10, 8), along(2))], first_maximum, first_maximum, WIDE, {"dim": 2}, results=2, levels="B")
