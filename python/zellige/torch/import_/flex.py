"""Decomposes torch's flex_attention, whose scores and masks are functions of positions.

    attended(query, key, value, score_mod, ...)         (attention, logsumexp, maxima); NotImplemented if it stays torch's
    why_left(node)                                      why it does, in words

Both functions are of numbers: a score, and the numbers of batch, head, query and key. Those that are made of elementwise operators and of
elements of captured tensors, are evaluated on vectors of positions that broadcast to the scores. So a mask becomes a condition on
positions, which other rewrites know, and a score's function becomes operators of the attention. The tables of blocks of a BlockMask
are for torch's own kernels: which scores count, mask_mod says alone.
"""

import math

import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import _disable_current_modes

from ..applications import applied
from . import custom
from .kinds import is_pointwise

aten = torch.ops.aten

FLEX = torch.ops.higher_order.flex_attention
_DTYPES = (torch.float16, torch.bfloat16, torch.float32)
_FILLS = (aten.new_ones.default, aten.new_zeros.default, aten.new_full.default, aten.ones_like.default, aten.zeros_like.default,
          aten.full_like.default)  # fmt: skip
_SINGLE = (aten.floor_divide.default, aten._to_copy.default, aten.clone.default, aten.alias.default, aten.detach.default, aten.lift_fresh_copy.default)  # elementwise, without torch's tag


class _Elements:
    """Elements of a captured tensor, by the numbers of its first dimensions."""

    def __init__(self, tensor, numbers):
        self.tensor, self.numbers = tensor, numbers

    def __getitem__(self, numbers):
        made = [*self.numbers, *numbers]
        return aten.index.Tensor(self.tensor, made) if len(made) == self.tensor.ndim else _Elements(self.tensor, made)


class _OnPositions(torch.fx.Interpreter):
    """Evaluates the graph of a function of numbers on tensors that broadcast."""

    def call_function(self, target, args, kwargs):
        if target is aten.index.Tensor and all(isinstance(n, torch.Tensor) for n in args[1]):
            return (args[0] if isinstance(args[0], _Elements) else _Elements(args[0], []))[args[1]]
        return super().call_function(target, args, kwargs)


def _graph_of(function, count, captured):
    """Returns the graph of a function of numbers, the first `count` of which are not captured tensors."""
    dtypes = [torch.float32] * (count - 4) + [torch.int64] * 4

    def example(x):  # an integer that may differ from call to call is a tensor here
        shape = [n if isinstance(n, int) else n.node.hint for n in x.shape] if isinstance(x, torch.Tensor) else []
        return torch.empty(shape, dtype=x.dtype if isinstance(x, torch.Tensor) else torch.int64)

    with _disable_current_modes(), torch.no_grad(), TransformGetItemToIndex():
        return make_fx(function, tracing_mode="fake")(*(torch.zeros((), dtype=d) for d in dtypes), *map(example, captured))


def _refusal(graph, count):
    """Returns why the graph of a function cannot be evaluated on vectors of positions; None if it can."""
    places = set(graph.find_nodes(op="placeholder")[:count])
    for n in graph.nodes:
        if n.op != "call_function" or places.isdisjoint(n.all_input_nodes):
            continue
        places.add(n)
        elements = n.target is aten.index.Tensor and all(isinstance(i, torch.fx.Node) and i.meta["val"].ndim == 0 for i in n.args[1])
        if elements and (n.args[0] not in places or n.args[0].target is aten.index.Tensor):
            continue
        single = isinstance(n.meta.get("val"), torch.Tensor) and n.meta["val"].ndim == 0 and all(m.meta["val"].ndim == 0 for m in n.all_input_nodes)
        if not single or not (is_pointwise(n.target) or n.target in (*_SINGLE, *_FILLS)):
            return f"calls {n.target} on positions or scores, which is no elementwise operator, and does not take one element of a captured tensor"
    return None


def _constant(graph, count):
    """Returns the number that a function returns for all positions; None if there is none."""
    made = graph.output_node().args[0]
    if not isinstance(made, torch.fx.Node) or made.target not in _FILLS[:2] + _FILLS[3:5]:
        return None
    return made.target in (_FILLS[0], _FILLS[3])


def _why_not(score_mod, scored, mask_mod, masked):
    """Returns why functions are not evaluated on positions; None if they are. scored, masked: what they capture."""
    for name, function, count, captured in (("score_mod", score_mod, 5, scored), ("mask_mod", mask_mod, 4, masked)):
        try:
            why = _refusal(_graph_of(function, count, captured).graph, count)
        except Exception as error:  # what torch cannot trace alone
            why = f"cannot be traced alone: {type(error).__name__}"
        if why:
            return f"{name} {why}"
    return None


def attended(query, key, value, score_mod, block_mask, scale, options, scored=(), masked=()):
    """Returns what torch's operator returns, in operators that programs have; NotImplemented where it stays torch's."""
    if torch.is_autocast_enabled(query.device.type):
        query, key, value = (x.to(torch.get_autocast_dtype(query.device.type)) for x in (query, key, value))
    if query.dtype not in _DTYPES or not query.dtype == key.dtype == value.dtype or key.shape[:3] != value.shape[:3]:
        return NotImplemented
    if query.shape[0] != key.shape[0] != 1 or _why_not(score_mod, scored, block_mask[-1], masked):
        return NotImplemented
    applied("attention by functions of positions")
    score, kept = _graph_of(score_mod, 5, scored), _graph_of(block_mask[-1], 4, masked)
    (batch, heads, queries, size), keys = query.shape, key.shape[2]
    places = [torch.arange(n, device=query.device).reshape(-1, *[1] * (3 - d)) for d, n in enumerate((batch, heads, queries, keys))]
    mask = None if _constant(kept.graph, 4) else _OnPositions(kept).run(*places, *masked)
    same = score.graph.output_node().args[0] is next(iter(score.graph.nodes))
    if key.shape[0] != batch:
        key, value = (x.expand(batch, *x.shape[1:]) for x in (key, value))
    alone = not options.get("OUTPUT_LOGSUMEXP", True) and not options.get("OUTPUT_MAX", True)
    if same and alone:
        hidden = None if mask is None else torch.where(mask, 0.0, -math.inf).to(query.dtype)
        none = query.new_empty(0, dtype=torch.float32)
        return custom.ATTENTION(query, key, value, hidden, False, scale, key.shape[1] != heads), none, none
    key, value = (_for_each(x, heads) for x in (key, value))
    # programs do not round the product of 16 bits that they read at once; what is returned of it in float32 is of float32
    factors = (query, key) if alone else (query.to(torch.float32), key.to(torch.float32))
    scores = torch.matmul(factors[0], factors[1].transpose(-1, -2)).to(torch.float32) * scale
    scores = scores if same else _OnPositions(score).run(scores, *places, *scored).to(torch.float32)
    scores = scores if mask is None else torch.where(mask, scores, -math.inf)
    made = torch.matmul(torch._safe_softmax(scores, -1).to(value.dtype), value)
    return _laid_as(made, query), torch.logsumexp(scores, -1) / math.log(2), scores.amax(-1) / math.log(2)


def _for_each(x, heads):
    """Returns keys or values repeated for each head of the queries."""
    batch, few, keys, size = x.shape
    return x if few == heads else x.unsqueeze(2).expand(batch, few, heads // few, keys, size).reshape(batch, heads, keys, size)


def _laid_as(x, query):
    """Returns x in the memory order of the queries, as torch does; the elements of a row stay adjacent."""
    order = sorted(range(3), key=lambda d: -query.stride(d))
    if order == [0, 1, 2]:
        return x
    made = x.permute(*order, 3).contiguous()
    return made.permute(*(order.index(d) for d in range(3)), 3)


def why_left(node) -> str:
    """Returns why torch has the node of flex_attention, in words."""
    function = lambda n: getattr(node.graph.owning_module, n.target)  # noqa: E731
    values = [[n.meta["val"] if isinstance(n, torch.fx.Node) else n for n in of] for of in (*node.args[7:], (), ())[:2]]
    dtypes = {str(n.meta["val"].dtype) for n in node.args[:3]}
    return _why_not(function(node.args[3]), values[0], function(node.args[4][-1]), values[1]) or f"expected one dtype of programs, found {', '.join(sorted(dtypes))}"
