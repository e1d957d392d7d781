"""Keeps operators whole while AOT traces a graph, which torch would decompose before it considers the table of decompositions.

    with KeptWhole():
        aot_module_simplified(...)
"""

import math

import torch

from . import custom, flex

_ATTENTION = (torch.nn.functional.scaled_dot_product_attention, torch._C._nn.scaled_dot_product_attention)


class KeptWhole(torch.overrides.TorchFunctionMode):
    """Keeps attention, interpolation and one loss as single operators while a graph is traced. Otherwise torch decomposes
    them before it considers the table of decompositions. Decomposes flex_attention, which is not in that table."""

    def __init__(self):
        super().__init__()
        self.kernels = custom.allowed_kernels()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in _ATTENTION:
            return self._attention(function, *args, **(kwargs or {}))
        if function is flex.FLEX:
            made = flex.attended(*args, **(kwargs or {}))
            return function(*args, **(kwargs or {})) if made is NotImplemented else made
        if function is torch.nn.functional.interpolate:
            return self._interpolate(function, *args, **(kwargs or {}))
        if function is torch.nn.functional.multilabel_margin_loss or function is torch._C._nn.multilabel_margin_loss:
            with torch._C._AutoDispatchBelowAutograd():  # torch's decomposition counts labels after the last one
                return function(*args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))

    @staticmethod
    def _interpolate(function, input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
        n = input.ndim - 2
        tuple_of = lambda x: None if x is None else tuple(x) if isinstance(x, (tuple, list)) else (x,) * n  # noqa: E731
        names = {"nearest": "upsample_nearest{}d", "nearest-exact": "_upsample_nearest_exact{}d", "linear": "upsample_linear{}d",
                 "bilinear": "upsample_bilinear{}d", "bicubic": "upsample_bicubic{}d", "trilinear": "upsample_trilinear{}d"}  # fmt: skip
        name = names.get(mode, "").format(n)
        operator = getattr(torch.ops.aten, f"_{name}_aa" if antialias else name, None) if name else None
        if operator is None or recompute_scale_factor or (size is None) == (scale_factor is None):
            return function(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
        scales, size = tuple_of(scale_factor), tuple_of(size)
        size = size or [i * int(s) if float(s).is_integer() else int(i * s) for i, s in zip(input.shape[2:], scales)]
        aligned = () if "nearest" in mode else (bool(align_corners),)
        with torch._C._AutoDispatchBelowAutograd():  # torch's autograd kernels would decompose the operator
            return operator.default(input, size, *aligned, *(scales or [None] * n))

    def _attention(self, function, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if attn_mask is not None and is_causal:  # torch's kernels do not check this while tracing
            raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        # the model uses `with sdpa_kernel(...)`, which torch applies while tracing
        named = custom.allowed_kernels() != self.kernels
        if named or dropout_p != 0 or not _is_simple(query, key, value, attn_mask, is_causal, enable_gqa):
            return function(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            attn_mask = torch.where(attn_mask, 0.0, -math.inf).to(query.dtype)
        return custom.ATTENTION(query, key, value, attn_mask, is_causal, scale, enable_gqa)


def _is_simple(query, key, value, mask, causal, grouped) -> bool:
    """Returns true if zellige::attention supports the operands: (batch, heads, tokens, size) of one dtype, without
    broadcasts except of the mask."""
    if not query.ndim == key.ndim == value.ndim == 4 or not query.dtype == key.dtype == value.dtype:
        return False
    if query.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        return False
    (b, heads, queries, size), (keys_b, keys_heads, keys, _) = query.shape, key.shape
    if key.shape[:3] != value.shape[:3] or keys_b != b or key.shape[3] != size:
        return False
    if heads != keys_heads and not (grouped and keys_heads > 0 and heads % keys_heads == 0):
        return False
    if mask is None:
        return True
    broadcasts = mask.ndim <= 4 and all(m in (1, n) for m, n in zip(mask.shape[::-1], (keys, queries, heads, b)))
    return not causal and broadcasts and mask.dtype in (torch.bool, query.dtype)
