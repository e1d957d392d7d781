"""Weights that are repacked once, outside of the programs: of 4 bits in torch's orders, in rows; others in lines that begin at
multiples of 16 bytes.

    _weight_int4pack_mm(x, packed, group, numbers)         int4_mm(x, packed, 0, group, numbers, int4_rows(packed), int4_numbers(numbers))
    _weight_int4pack_mm(x, _convert(weight, I), ...)       the same of weight, and I
    mm(x, permute(weight))                                 mm(x, permute(aligned_lines(weight))), where in_lines() is asked for

What no program has computed becomes torch's operator again (`restore`).
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..import_ import custom, packed
from ..import_.kinds import GIVEN, PRODUCTS as MATRIX_PRODUCTS

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


_PERMUTES = (aten.t.default, aten.transpose.int, aten.permute.default)


def in_lines(graph, names) -> int:
    """Has products read copies of weights whose lines begin at no multiple of 16 bytes. `names`: of the nodes that do not change.
    Returns the number of such weights."""
    copies = {}
    with _disable_current_modes(), torch.no_grad():
        for product in list(graph.nodes):
            if product.op == "call_function" and product.target in MATRIX_PRODUCTS:
                for operand in product.args[-2:] if len(product.args) < 4 else product.args[1:3]:
                    _read_in_lines(graph, product, operand, names, copies)
    return len(copies)


def _read_in_lines(graph, product, operand, names, copies) -> None:
    weight, views = operand, []
    while weight.op == "call_function" and weight.target in _PERMUTES:
        views.append(weight)
        weight = weight.args[0]
    if weight.op not in GIVEN or weight.name not in names or not _begin_anywhere(weight.meta["val"]):
        return
    # Views that others read stay views of the weight.
    if any(len(v.users) > 1 for v in views[1:]) or views and any(u.target not in MATRIX_PRODUCTS for u in views[0].users):
        return
    if weight not in copies:
        with graph.inserting_after(weight) if weight.op == "get_attr" else graph.inserting_before(_first_call(graph)):
            copies[weight] = graph.call_function(custom.ALIGNED_LINES, (weight,))
        copies[weight].meta["val"] = custom.ALIGNED_LINES(weight.meta["val"])
    (views[-1] if views else product).replace_input_with(weight, copies[weight])
    for view in reversed(views):
        view.meta["val"] = view.target(*torch.fx.map_arg(view.args, lambda n: n.meta["val"]))


def _first_call(graph):
    return next(n for n in graph.nodes if n.op not in GIVEN)


def _begin_anywhere(x) -> bool:
    """Returns true for a matrix, or several, of at most 16 bits an element whose lines begin at no multiple of 16 bytes."""
    if not isinstance(x, torch.Tensor) or x.ndim < 2 or x.layout != torch.strided or x.element_size() > 2 or not x.is_floating_point():
        return False
    strides = [s for n, s in zip(x.shape, x.stride()) if n > 1]
    return 1 in strides and min(strides) > 0 and any(s * x.element_size() % 16 for s in strides if s > 1)
