"""Decomposes torch's fused layers, which it runs in inference: the layer of an encoder, its attention, and an LSTM on the CPU.

    table | layers.DECOMPOSITIONS
"""

import torch
from torch._decomp.decompositions import one_layer_lstm

from ..applications import applied
from . import custom

aten = torch.ops.aten
F = torch.nn.functional

_DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def _has_one_dtype(mask, *tensors) -> bool:
    """Returns true for tensors of one dtype of programs, without a mask: what a row of a mask alone gives is torch's own."""
    return mask is None and all(x is not None and x.dtype == tensors[0].dtype and x.dtype in _DTYPES and x.layout == torch.strided for x in tensors)


def _heads(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)


def _attention(query, key, value, width, heads, weight, bias):
    """Returns the attention of heads, before its projection."""
    parts = zip((query, key, value), weight.split(width), bias.split(width))
    q, k, v = (_heads(F.linear(x, w, b), heads) for x, w, b in parts)
    return custom.ATTENTION(q, k, v, None, False, None, False).transpose(1, 2).reshape(query.shape)


def _encoder_layer(x, width, heads, qkv_weight, qkv_bias, weight, bias, gelu, first, eps, scale_1, shift_1, scale_2, shift_2, into, into_bias,
                   out, out_bias, mask=None, mask_type=None):  # fmt: skip
    if x.ndim != 3 or not _has_one_dtype(mask, x, qkv_weight, qkv_bias, weight, bias, scale_1, shift_1, scale_2, shift_2, into, into_bias, out, out_bias):
        return NotImplemented
    applied("layer of an encoder")

    def attended(x):
        return F.linear(_attention(x, x, x, width, heads, qkv_weight, qkv_bias), weight, bias)

    def fed_forward(x):
        inside = F.linear(x, into, into_bias)
        return F.linear(F.gelu(inside) if gelu else F.relu(inside), out, out_bias)

    norms = [lambda x, s=s, b=b: F.layer_norm(x, (width,), s, b, eps) for s, b in ((scale_1, shift_1), (scale_2, shift_2))]
    for norm, branch in zip(norms, (attended, fed_forward)):
        x = x + branch(norm(x)) if first else norm(x + branch(x))
    return x


def _multi_head_attention(query, key, value, width, heads, qkv_weight, qkv_bias, weight, bias, mask=None, need_weights=True, average=True, mask_type=None):
    if need_weights or query.ndim != 3 or not query.shape == key.shape == value.shape or not _has_one_dtype(mask, query, key, value, qkv_weight, qkv_bias, weight, bias):
        return NotImplemented
    applied("attention of a layer")
    made = F.linear(_attention(query, key, value, width, heads, qkv_weight, qkv_bias), weight, bias)
    return made, query.new_empty(0)


_LSTM, _STEPS = 2, 256  # oneDNN's number of the kind; the longest sequence that becomes a chain of cells


def _recurrent_layer(x, w0, w1, w2, w3, h, c, reverse, batch_sizes, mode, hidden, layers, biased, bidirectional, batch_first, train):
    if mode != _LSTM or train or batch_sizes or x.shape[0] > _STEPS or x.dtype not in _DTYPES:
        return NotImplemented
    applied("cells of an LSTM")
    weights = [w0, w1, w2, w3] if biased else [w0, w1]
    made, (last, cell) = one_layer_lstm(x, (h[0], c[0]), weights, biased, reverse=reverse)
    return made, last.reshape(h.shape), cell.reshape(c.shape), x.new_empty(0)


DECOMPOSITIONS = {aten.mkldnn_rnn_layer.default: _recurrent_layer, aten._transformer_encoder_layer_fwd.default: _encoder_layer, aten._native_multi_head_attention.default: _multi_head_attention}
