"""Rewrites unfused attention in a torch graph as one operator. If the operator is left to torch, it runs as torch's
fused kernel and not as a dozen kernels.

    softmax(mask(q kT * scale)) v      zellige::attention(q, k, v, None, causal, scale, grouped, safe=False)

None: no mask tensor; causal, grouped: whether a causal mask applies, and whether query heads share keys. Supported are
tensors (batch, heads, tokens, size) of 16 bits, with a causal mask or none. A mask counts as causal if its last two
dimensions are queries and keys of a head. If the graph repeats keys and values for
each query head of a group, also before fused attention, the unrepeated tensors are used: the copies are not made, and
the kernel reads less. Scores are not rounded in between, as in Zellige's kernels.
"""

import math

import torch

from ..import_ import custom, declared
from ..import_.kinds import COPY, QUOTIENTS, RESHAPES, SAME, SCALES, shape_of
from . import ranges
from .masks import HUGE

aten = torch.ops.aten
_WIDE = (torch.float32, torch.float64)


def repeated_keys(work, node) -> bool:
    """Replaces keys and values that are repeated for each query head by the unrepeated ones, if the node calls
    zellige::attention without a mask tensor in 16 bits. (Otherwise torch might have only its math kernel for shared
    keys.)"""
    q, k, v, mask, causal, scale, grouped = node.args[:7]
    if grouped or mask is not None or q.meta["val"].dtype not in (torch.float16, torch.bfloat16):
        return False
    narrow = _unrepeated(k), _unrepeated(v)
    if None in narrow or shape_of(narrow[0])[1] != shape_of(narrow[1])[1]:
        return False
    node.args = (q, *narrow, mask, causal, scale, True, *node.args[7:])
    return True


def written_out(work, node) -> bool:
    """Replaces unfused attention, of which the node is the second matmul."""
    found = _attention(work, node)
    if found is None:
        return False
    changed = {found}
    for view in [u for u in node.users if u.target in RESHAPES and shape_of(u) == shape_of(found)]:
        view.replace_all_uses_with(found)
    if node.users:
        rows = work.call(node, aten.reshape.default, found, list(shape_of(node)))
        node.replace_all_uses_with(rows)
        changed.add(rows)
    declared.follow(work.graph, changed)
    return True


def _as(n, shape):
    """Returns the earliest tensor with the given shape of which node n is a view or a copy; None if there is none."""
    best = n if shape_of(n) == shape else None
    while n.target in SAME and isinstance(n.args[0], torch.fx.Node):
        if n.target is aten.expand.default and shape_of(n) != shape_of(n.args[0]):
            break
        n = n.args[0]
        best = n if shape_of(n) == shape else best
        if best is None and math.prod(shape_of(n)) != math.prod(shape):
            return None
    return best


def _attention(work, second):
    """Matches unfused attention whose second matmul is the node `second`. Returns a new node that calls
    zellige::attention; None if there is no match."""
    p, v = second.args
    if second.meta["val"].dtype not in (torch.float16, torch.bfloat16):
        return None
    softmax, casts = p, 0
    while softmax.target in (*SAME, aten._to_copy.default) and len(softmax.users) == 1:
        casts += softmax.target is aten._to_copy.default
        softmax = softmax.args[0]
    if casts > 1 or softmax.target not in (aten._softmax.default, aten._safe_softmax.default) or len(softmax.users) > 1:
        return None
    shape = shape_of(softmax)
    if len(shape) != 4 or softmax.args[1] not in (3, -1) or shape_of(p) != (shape[0] * shape[1], *shape[2:]):
        return None
    found = _scores(softmax.args[0], shape, (*_WIDE, second.meta["val"].dtype))
    if found is None:
        return None
    first, scale, causal = found
    batch, heads, tokens, keys = shape
    q, k = first.args
    size, width = shape_of(q)[-1], shape_of(v)[-1]
    q, k, v = _as(q, (batch, heads, tokens, size)), _as(k, (batch, heads, size, keys)), _as(v, (batch, heads, keys, width))
    if q is None or k is None or v is None or len({n.meta["val"].dtype for n in (q, k, v, second)}) > 1:
        return None
    k = _transposed(work, second, k)
    narrow = _unrepeated(k), _unrepeated(v)
    grouped = None not in narrow and shape_of(narrow[0])[1] == shape_of(narrow[1])[1]
    k, v = narrow if grouped else (k, v)
    value = custom.ATTENTION(*(n.meta["val"] for n in (q, k, v)), None, causal, scale, grouped)
    safe = {} if softmax.target is aten._safe_softmax.default else {"safe": False}
    return work.call(second, custom.ATTENTION, q, k, v, None, causal, scale, grouped, value=value, **safe)


def _scores(n, shape, dtypes):
    """Matches a chain of elementwise operators from a matmul to the node n, the input of a softmax of `shape` (batch, heads,
    tokens, keys). `dtypes`: to which it may cast. Returns (the matmul, the scale, whether a causal mask applies); None if
    there is no match."""
    scale, causal = 1.0, False  # scale: what comes after n
    while len(n.users) == 1:
        if n.target is aten.bmm.default:
            fits = shape_of(n) == (shape[0] * shape[1], *shape[2:]) and 0 < scale < math.inf
            return (n, scale, causal) if fits else None
        if n.target is custom.MASK:
            if causal or not _hides_the_future(n, shape, scale):
                return None
            causal = True
        elif n.target in SCALES and isinstance(n.args[1], (int, float)):
            if n.args[1] == 0 or not math.isfinite(n.args[1]):
                return None
            scale *= 1 / n.args[1] if n.target in QUOTIENTS else n.args[1]
        elif n.target is aten._to_copy.default:
            if n.meta["val"].dtype not in dtypes:
                return None
        elif n.target not in SAME or n.target is aten.expand.default and shape_of(n) != shape_of(n.args[0]):
            return None
        n = n.args[0]
        if not isinstance(n, torch.fx.Node):
            return None
    return None


def _hides_the_future(mask, shape, scale) -> bool:
    """Returns true if the node of a mask by position is a causal one for scores of `shape` (batch, heads, tokens, keys), of
    which it may be a view: its last two dimensions are theirs, and what it stores acts as -inf after it is multiplied by
    `scale`."""
    tril, triu, value, *ends = mask.args[1:]
    return tril == 0 and triu is None and all(end is None for end in ends) and value * scale < HUGE and shape_of(mask)[-2:] == shape[-2:]


def _transposed(work, before, k):
    """Returns a node for k with its last two dimensions exchanged. If k itself is such a transpose of another node,
    returns that node."""
    if k.target is aten.permute.default and [d % 4 for d in k.args[1]] == [0, 1, 3, 2]:
        return k.args[0]
    if k.target is aten.transpose.int and {d % 4 for d in k.args[1:]} == {2, 3}:
        return k.args[0]
    return work.call(before, aten.permute.default, k, [0, 1, 3, 2])


def _unrepeated(x):
    """Returns the node with the unrepeated keys or values, (batch, heads, keys, size), if x repeats each of its heads
    for several query heads; None if x does not."""
    batch, heads, keys, size = shape_of(x)
    wide = x
    while wide.target in (*RESHAPES, COPY):
        wide = wide.args[0]
    if wide.target is not aten.expand.default or wide is x:
        return None
    one, shape = wide.args[0], shape_of(wide)
    if len(shape) != 5 or shape[0] != batch or shape[1] * shape[2] != heads or shape[3:] != (keys, size) or shape_of(one) != (*shape[:2], 1, *shape[3:]):
        return None
    return one.args[0] if one.target is aten.unsqueeze.default and one.args[1] % 5 == 2 else None


def copy_around(work, n) -> bool:
    """Removes a copy that does not change strides, and that the graph does not return, where attention was written out. It is
    not needed, because a graph of AOT autograd writes only to its arguments, at its end."""
    x = n.args[0]
    if not work.applied["attention written out"] or x.op != "call_function" or ranges.returned(n):
        return False
    if x.meta["val"].stride() != n.meta["val"].stride():
        return False
    n.replace_all_uses_with(x)
    return True
