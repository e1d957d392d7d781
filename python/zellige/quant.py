"""Weights of 4 and 8 bits: quantises them, and converts those of GPTQ, AWQ, compressed-tensors and bitsandbytes.

    layers, report = quant.convert(state_dict)           # by name: Weight
    print(report)                                        # what each layer is, and its error if the float weight is known
    w = layers["model.layers.0.mlp.up_proj"]
    program = quant.linear(w, rows=1)                    # y = x w^T: one kernel that reads the bytes of 4 bits
    y = program(x, *w.arrays())

A Weight has the numbers q (n, k), of 4 bits two in a byte, and for each of k / group elements of a row a scale, and a zero point if
there is one: the weight is (q - zero) * scale. The orders in which GPTQ, AWQ and compressed-tensors store q are layouts of
the same numbers; a converter writes them in rows, once. Of GPTQ in activation order (desc_act) it sorts the columns by group,
and linear() sorts x. bitsandbytes' numbers of 4 bits are indices of a table: the table's numbers are stored in 8 bits.

A state dict is of arrays that numpy.asarray accepts, or of torch tensors.
"""

import json
from dataclasses import dataclass

import numpy

from ._native import Error

_AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # the column of 8 that each 4 bits of an int32 have, from the lowest on


@dataclass(frozen=True)
class Weight:
    """A matrix of `shape` (n, k) in 4 or 8 bits.

    q: uint8 (n, k / 2), element 2 j of a row in the lower half of byte j, or int8 (n, k).  scale: float16 (n, k / group).  zero:
    float16 (n, k / group), or None.  dtype: "uint4", "int4" for numbers from -8 to 7, or "int8".  order: int32 (k), None or
    the column of the given weight that each column is.
    """

    q: numpy.ndarray
    scale: numpy.ndarray
    zero: numpy.ndarray
    dtype: str = "uint4"
    order: numpy.ndarray = None

    @property
    def shape(self) -> tuple:
        return self.q.shape[0], self.q.shape[1] * (1 if self.dtype == "int8" else 2)

    @property
    def group(self) -> int:
        return self.shape[1] // self.scale.shape[1]

    @property
    def bytes(self) -> int:
        return sum(a.nbytes for a in self.arrays())

    def arrays(self) -> tuple:
        """Returns the arguments of a program of linear(), after x."""
        numbers = [self.scale, *([] if self.zero is None else [self.zero])]
        return (self.q, *(numpy.ascontiguousarray(a)[:, :, None] for a in numbers), *([] if self.order is None else [self.order]))

    def numbers(self) -> numpy.ndarray:
        """Returns q as int8 (n, k)."""
        if self.dtype == "int8":
            return self.q
        q = numpy.stack([self.q & 15, self.q >> 4], axis=-1).reshape(self.shape).astype("i1")
        return (q ^ 8) - 8 if self.dtype == "int4" else q

    def widened(self) -> numpy.ndarray:
        """Returns the weight as float32."""
        q = self.numbers().astype("f4").reshape(*self.scale.shape, self.group)
        if self.zero is not None:
            q = q - self.zero.astype("f4")[:, :, None]
        wide = (q * self.scale.astype("f4")[:, :, None]).reshape(self.shape)
        return wide if self.order is None else wide[:, numpy.argsort(self.order)]

    def error(self, weight) -> float:
        """Returns the Frobenius norm of the difference from a float weight (n, k), relative to the weight's."""
        w = _array(weight).astype("f4")
        if w.shape != self.shape:
            raise Error(f"quant: expected a weight of shape {self.shape}, found {w.shape}")
        return float(numpy.linalg.norm(self.widened() - w) / max(numpy.linalg.norm(w), 1e-30))


@dataclass(frozen=True)
class LayerReport:
    name: str
    format: str
    shape: tuple
    group: int
    bytes: int
    error: float = None  # relative to the float weight; None if that is not known

    def __str__(self) -> str:
        error = "error not known" if self.error is None else f"error {100 * self.error:.2f} %"
        return f"{self.name}: {self.format}, {self.shape[0]} x {self.shape[1]}, groups of {self.group}, {self.bytes} bytes, {error}"


class Report(list):
    """What convert() made of each layer; str() is a line for each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def _array(x) -> numpy.ndarray:
    if type(x).__module__.partition(".")[0] == "torch":
        x = x.detach().cpu()
        x = (x.float() if "bfloat16" in str(x.dtype) or "float8" in str(x.dtype) else x).numpy()
    return numpy.asarray(x)


def _fields(words: numpy.ndarray) -> numpy.ndarray:
    """Returns the eight numbers of 4 bits of each int32, from the lowest bits on, as a last dimension."""
    return (words.astype("u4")[..., None] >> (4 * numpy.arange(8, dtype="u4"))) & 15


def pack(q) -> numpy.ndarray:
    """Returns numbers of 4 bits (n, k), from -8 to 15, two in a byte: uint8 (n, k / 2)."""
    q = _array(q)
    if q.ndim != 2 or q.shape[1] % 2:
        raise Error(f"quant: expected a matrix with an even number of columns, found shape {q.shape}")
    if q.size and (q.min() < -8 or q.max() > 15):
        raise Error(f"quant: expected numbers of 4 bits, from -8 to 15, found {q.min()} to {q.max()}")
    q = q.astype("i2") & 15
    return numpy.ascontiguousarray(q[:, 0::2] | q[:, 1::2] << 4, "u1")


def quantize(weight, group: int = 128, zero: bool = True) -> Weight:
    """Returns a float weight (n, k) in 4 bits, each group of a row rounded to nearest between its lowest and its highest
    number (zero), or symmetrically (int4)."""
    w = _array(weight).astype("f4")
    if w.ndim != 2 or group < 2 or w.shape[1] % group:
        raise Error(f"quant: expected a matrix whose columns are groups of {group}, found shape {w.shape}")
    g = w.reshape(w.shape[0], -1, group)
    if not zero:
        scale = (numpy.abs(g).max(-1) / 7).astype("f2")
        q = numpy.clip(numpy.rint(g / numpy.where(scale == 0, 1, scale).astype("f4")[..., None]), -8, 7)
        return Weight(pack(q.reshape(w.shape)), scale, None, "int4")
    low, high = numpy.minimum(g.min(-1), 0), numpy.maximum(g.max(-1), 0)
    scale = ((high - low) / 15).astype("f2")
    step = numpy.where(scale == 0, 1, scale).astype("f4")
    point = numpy.clip(numpy.rint(-low / step), 0, 15)
    q = numpy.clip(numpy.rint(g / step[..., None]) + point[..., None], 0, 15)
    return Weight(pack(q.reshape(w.shape)), scale, point.astype("f2"))


def from_gptq(qweight, qzeros, scales, g_idx=None, added: int = 1) -> Weight:
    """Returns a weight of GPTQ in 4 bits: qweight int32 (k / 8, n), qzeros int32 (groups, n / 8), scales (groups, n).
    `added`: what is added to the zero points of the file, 1 in version 1 of the format, 0 in version 2. g_idx: the group of each
    k; if it does not ascend (desc_act), the weight's columns are sorted by group, and its `order` says how. Raises Error if groups
    differ in size."""
    words, zeros, scale = _array(qweight), _array(qzeros), _array(scales)
    k, n = 8 * words.shape[0], words.shape[1]
    groups = scale.shape[0]
    if scale.shape[1] != n or zeros.shape != (groups, n // 8) or k % groups:
        raise Error(f"quant: expected qzeros ({groups}, {n // 8}) and scales (groups, {n}) for qweight {words.shape}, found {zeros.shape} and {scale.shape}")
    q, order = _fields(words.T).reshape(n, k), None
    if g_idx is not None:
        g_idx = _array(g_idx)
        counts = numpy.bincount(g_idx, minlength=groups)
        if g_idx.shape != (k,) or counts.shape != (groups,) or counts.min() != counts.max():
            raise Error(f"quant: expected g_idx ({k},) with {k // groups} of each of {groups} groups, found {g_idx.shape} with {counts.min()} to {counts.max()}")
        if (numpy.diff(g_idx) < 0).any():
            order = numpy.argsort(g_idx, kind="stable").astype("i4")
            q = numpy.ascontiguousarray(q[:, order])
    zero = _fields(zeros).reshape(groups, n).T + added
    return Weight(pack(q), scale.T.astype("f2"), zero.astype("f2"), order=order)


def from_awq(qweight, qzeros, scales) -> Weight:
    """Returns a weight of AWQ: qweight int32 (k, n / 8), qzeros int32 (groups, n / 8), scales (groups, n). Eight columns of
    an int32 are in the order 0, 2, 4, 6, 1, 3, 5, 7."""
    words, zeros, scale = _array(qweight), _array(qzeros), _array(scales)
    k, n = words.shape[0], 8 * words.shape[1]
    if scale.shape[1] != n or zeros.shape != (scale.shape[0], n // 8) or k % scale.shape[0]:
        raise Error(f"quant: expected qzeros (groups, {n // 8}) and scales (groups, {n}) for qweight {words.shape}, found {zeros.shape} and {scale.shape}")

    def columns(of):
        fields, out = _fields(of), numpy.empty((*of.shape, 8), "u4")
        out[..., list(_AWQ_ORDER)] = fields
        return out.reshape(of.shape[0], n)

    return Weight(pack(columns(words).T), scale.T.astype("f2"), columns(zeros).T.astype("f2"))


def from_compressed_tensors(packed, scale, shape, zero_point=None) -> Weight:
    """Returns a weight of compressed-tensors' format pack-quantized: int32 (n, k / 8), each number plus 8; scale (n, groups);
    zero_point int32 (n / 8, groups), or None."""
    words, scale = _array(packed), _array(scale)
    n, k = (int(x) for x in _array(shape))
    if words.shape != (n, k // 8) or scale.shape[0] != n or k % scale.shape[1]:
        raise Error(f"quant: expected weight_packed ({n}, {k // 8}) and weight_scale ({n}, groups), found {words.shape} and {scale.shape}")
    q = _fields(words).reshape(n, k)
    if zero_point is None:
        return Weight(pack(q.astype("i4") - 8), scale.astype("f2"), None, "int4")
    zero = numpy.moveaxis(_fields(_array(zero_point)), -1, 1).reshape(n, scale.shape[1])
    return Weight(pack(q), scale.astype("f2"), zero.astype("f2"))


def from_bitsandbytes(weight, absmax, quant_map, state, nested_absmax=None, nested_quant_map=None) -> Weight:
    """Returns a weight of bitsandbytes in nf4 or fp4 as int8: weight uint8 (n k / 2, 1), two indices of quant_map in a byte, the first
    in the upper half; absmax, the factor of each block. state: the quant_state as a dictionary, or the bytes of its JSON. With double
    quantisation absmax is indices of nested_quant_map. The table's numbers, from -1 to 1, are rounded to multiples of 1 / 127."""
    state = state if isinstance(state, dict) else json.loads(bytes(_array(state).astype("u1")).decode())
    (n, k), block = state["shape"], state["blocksize"]
    bytes_, scale = _array(weight).reshape(-1).astype("u1"), _array(absmax).reshape(-1)
    if k % block or bytes_.size * 2 != n * k or scale.size != n * k // block:
        raise Error(f"quant: expected {n * k // 2} bytes and {n * k // block} blocks of {block} that divide rows of {k}, found {bytes_.size} and {scale.size}")
    if nested_absmax is not None:
        each = numpy.repeat(_array(nested_absmax).astype("f4"), state["nested_blocksize"])[: scale.size]
        scale = _array(nested_quant_map).astype("f4")[scale] * each + state.get("nested_offset", 0)
    index = numpy.stack([bytes_ >> 4, bytes_ & 15], axis=-1).reshape(n, k)
    q = numpy.rint(127 * _array(quant_map).astype("f4"))[index].astype("i1")
    return Weight(q, (scale.reshape(n, k // block) / 127).astype("f2"), None, "int8")


def convert(state_dict, floats=None, zeros_added: int = 1):
    """Returns the weights of 4 or 8 bits in a state dict, by the name of their layer, and a Report. `floats`: a state dict with
    float weights, NAME.weight, of which the report has the error. `zeros_added`: as from_gptq's `added`."""
    layers, report = {}, Report()
    for key in state_dict:
        name, _, last = key.rpartition(".")
        get = lambda part, name=name: state_dict.get(f"{name}.{part}" if name else part)
        if last == "weight_packed":
            kind, w = "compressed-tensors", from_compressed_tensors(state_dict[key], get("weight_scale"), get("weight_shape"), get("weight_zero_point"))
        elif last == "qweight":
            words, scales = _array(state_dict[key]), _array(get("scales"))
            if words.shape[1] == scales.shape[1]:
                kind, w = "GPTQ", from_gptq(words, get("qzeros"), scales, get("g_idx"), zeros_added)
            else:
                kind, w = "AWQ", from_awq(words, get("qzeros"), scales)
        elif key.endswith((".quant_state.bitsandbytes__nf4", ".quant_state.bitsandbytes__fp4")):
            name = key[: key.rindex(".weight.quant_state.")]
            part = lambda of, name=name: state_dict.get(f"{name}.weight.{of}")
            kind = "bitsandbytes " + key[-3:]
            w = from_bitsandbytes(state_dict[f"{name}.weight"], part("absmax"), part("quant_map"), state_dict[key], part("nested_absmax"), part("nested_quant_map"))
        else:
            continue
        known = None if floats is None else floats.get(f"{name}.weight")
        layers[name] = w
        report.append(LayerReport(name, kind, w.shape, w.group, w.bytes, None if known is None else w.error(known)))
    if not layers:
        raise Error("quant: expected a state dict with qweight (GPTQ, AWQ), weight_packed (compressed-tensors) or quant_state (bitsandbytes), found none of these")
    return layers, report


def product(x, q, scale, *rest):
    """Returns x w^T for a weight of 4 or 8 bits, as plain math on traced arrays: cast, minus the zero point, times the scale. `rest`:
    the zero points, if there are some, and the weight's order, if it has one."""
    from . import operators as op

    n, k = q.shape
    zero = next((a for a in rest if len(a.shape) == 3), None)
    for order in rest:
        if len(order.shape) == 1:
            x = op.permute(op.gather(op.permute(x, (1, 0)), order), (1, 0))
    w = op.reshape(op.cast(q, x.dtype), (n, scale.shape[1], k // scale.shape[1]))
    if zero is not None:
        w = op.sub(w, zero)
    w = op.reshape(op.mul(w, scale), (n, k))
    return op.matmul(x, op.permute(w, (1, 0)))


def linear(weight: Weight, rows: int, dtype: str = "f16", **options):
    """Returns the program of y = x w^T for x (rows, k). Call it with x and the weight's arrays(). `options`: those of compile()."""
    from .exchange import TensorSpec
    from .compilation import compile

    n, k = weight.shape
    if dtype != "f16":
        raise Error(f"quant: expected f16 as the dtype of x, like the weight's scales, found {dtype}")
    per = (n, k // weight.group, 1)
    specs = [TensorSpec((rows, k), dtype), TensorSpec((n, k), weight.dtype), TensorSpec(per, dtype)]
    if weight.zero is not None:
        specs.append(TensorSpec(per, dtype))
    if weight.order is not None:
        specs.append(TensorSpec((k,), "int32"))
    return compile(product, *specs, **options)
