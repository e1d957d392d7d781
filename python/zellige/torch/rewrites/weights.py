"""Products with weights of 4 bits in torch's orders: the weight is repacked in rows once, outside of the programs.

    _weight_int4pack_mm(x, packed, group, numbers)         int4_mm(x, packed, 0, group, numbers, int4_rows(packed), int4_numbers(numbers))
    _weight_int4pack_mm(x, _convert(weight, I), ...)       the same of weight, and I

What no program has computed becomes torch's operator again (`restore`).
"""

import torch

from ..import_ import custom, packed
from ..import_.kinds import GIVEN

aten = torch.ops.aten

PRODUCTS = (aten._weight_int4pack_mm.default, aten._weight_int4pack_mm_for_cpu.default)
_PACKS = (aten._convert_weight_to_int4pack.default, aten._convert_weight_to_int4pack_for_cpu.default)


def in_rows(work, node) -> bool:
    """Replaces a product with a packed weight that is given, or packed of what is given."""
    x, weight, group, numbers = node.args
    inner = 0
    if weight.target in _PACKS:
        weight, inner = weight.args
    if weight.op not in GIVEN or numbers.op not in GIVEN or not packed.order(weight.meta["val"], inner):
        return False
    k, dtype = packed.shape(weight.meta["val"], inner)[1], x.meta["val"].dtype
    if k % group or numbers.meta["val"].dtype != dtype or dtype not in (torch.float16, torch.bfloat16, torch.float32):
        return False
    rows = work.once(node, custom.INT4_ROWS, weight, inner)
    scales = work.once(node, custom.INT4_NUMBERS, numbers)
    return work.replace(node, custom.INT4_MM, x, weight, inner, group, numbers, rows, scales)


def restore(work, node) -> bool:
    """Replaces what `in_rows` has made, where torch is to run it."""
    x, weight, inner, group, numbers, *made = node.args
    on_cpu = weight.meta["val"].device.type == "cpu"
    if inner:
        weight = work.once(node, _PACKS[on_cpu], weight, inner)
    work.replace(node, PRODUCTS[on_cpu], x, weight, group, numbers)
    for n in (node, *made):
        if not n.users:
            work.graph.erase_node(n)
    return True
