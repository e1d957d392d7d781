"""Matmuls, and rank 8 for them and other operators."""

import numpy as np
from case import WIDE, Operand, along, case, magnitudes
from dimensions import numpy_softmax
from elementwise import torch_pair
from oracles import torch
from values import ordinary, rows, spread

def product(name, x, y, bias=None, dtypes=WIDE, out=None, attributes=None, **more):
    operands = [Operand(x, rows if more.pop("specials", False) else ordinary), Operand(y, ordinary)] + ([Operand(bias, ordinary, out)] if bias else [])

    def plus(z, b):
        return (z.reshape(1) if z.ndim == 0 else z) + (0 if b is None else b)

    def in_torch(x, y, b=None):
        z = torch.matmul(x.to(torch.int32), y.to(torch.int32)) if x.dtype == torch.int8 else torch.matmul(x, y)
        return plus(z, b)

    case(name, "matmul", operands, more.pop("torch", in_torch), more.pop("numpy", lambda x, y, b=None: plus(np.matmul(x, y), b)), dtypes, attributes or {}, out=out,
         units=32, mass=magnitudes(lambda x, y, b=None: plus(np.matmul(x, y), b)), **more)


BYTES = ("e4m3", "e5m2")
for _tag, _dtypes, _out in (("", WIDE, None), ("_bytes", BYTES, "f32"), ("_int8", ("int8",), "int32")):
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
