"""Builds attention as a chain of Zellige's operators, from torch's attention operator or from its unfused form.

Grouped-query attention: if the queries need no copy for it, query heads that share keys become rows of one matmul,
which reads the keys once. Otherwise an expand and a reshape repeat the keys for each head. These are views: kernels
read the original keys. If the graph itself repeats keys for each head, the unrepeated keys are used.
"""

import math

from ... import array_views
from ... import operators as op
from ...tracing import Array
from ..applications import applied
from .products import matmul

# rows of a wgmma; with fewer queries than this, the heads of a group share the rows of one instruction
ROWS = 64


def masked(x, tril, triu, row_ends, column_ends, row_starts=None, value=-math.inf):
    """Returns x where triu <= column - row <= tril, the row's start <= column < its end and row < the column's end (None: no limit), else `value`."""
    limits = {name: n for name, n in (("tril", tril), ("triu", triu), ("length", row_ends), ("first", row_starts)) if n is not None}
    x = op.mask(x, value=value, **limits) if limits else x
    return x if column_ends is None else op.mask(x, length=column_ends, value=value, dims=(-1, -2))


def attention(q, k, v, mask, causal, scale, grouped, row_ends=None, column_ends=None, row_starts=None, *, safe=True, tril=None, triu=None):
    """Returns softmax(scale q k^T + mask) v for q of (batch, heads, queries, size), with the limits of `masked`. scale None: size^-0.5.
    `grouped` is not used: the numbers of heads show whether query heads share keys. `safe`: rows of minus infinity alone give 0."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale

    def chain(scores, adapt):
        scores = op.mul(scores, scale)
        return scores if mask is None else op.add(scores, adapt(mask))

    limits = 0 if causal else tril, triu, row_ends, column_ends, row_starts
    return _attention(q, k, v, chain, limits, alone=mask is None, by_place=any(n is not None for n in limits),
                      softmax=op.safe_softmax if safe else op.softmax)  # fmt: skip


def _attention(q, k, v, chain, limits=(None,) * 5, alone=False, by_place=False, softmax=op.safe_softmax):
    """Returns the attention of q, k and v: softmax(masked(chain(q k^T), *limits)) v.

    `chain(scores, adapt)` computes the input of softmax from q k^T. If the chain has other operands, of shape (...,
    heads, queries, keys), it calls `adapt` on each of them, which reshapes the operand as the scores have been
    reshaped. `alone`: the chain has no other operands. `by_place`: scores are masked by the position of query and key, so
    that heads must not be merged into the dimension of queries."""
    shape, pair = q.shape, (_unrepeated(k), _unrepeated(v))
    if pair[0] is not None and pair[1] is not None and pair[0].shape[1] == pair[1].shape[1]:
        k, v = pair
    heads, adapt = k.shape[1], lambda x: x
    if heads != shape[1]:
        group, few = shape[1] // heads, shape[2] < ROWS
        if not by_place and (alone or shape[2] == 1) and (few or not _permuted(q)):
            applied("heads as rows")
            q = op.reshape(q, (shape[0], heads, group * shape[2], shape[3]))

            def adapt(x):
                return x if x.ndim < 3 or x.shape[-3] == 1 else op.reshape(x, (*x.shape[:-3], heads, group, x.shape[-1]))

        elif few:
            q = op.reshape(q, (shape[0], heads, group, *shape[2:]))
            k, v = array_views.inserted(k, 2), array_views.inserted(v, 2)

            def adapt(x):
                if x.ndim < 3:
                    return x
                return op.reshape(x, (*x.shape[:-3], *((heads, group) if x.shape[-3] != 1 else (1, 1)), *x.shape[-2:]))

    keys, values = array_views.swapped(k, -1, -2), v
    if q.ndim == 4 and q.shape[1] != heads:
        keys, values = (_repeated(x, shape[1] // heads) for x in (keys, values))
    scores = masked(chain(matmul(q, keys), adapt), *(adapt(n) if isinstance(n, Array) else n for n in limits))
    made = matmul(op.cast(softmax(scores, -1), v._dtype), values)
    return op.reshape(made, (*shape[:-1], v.shape[-1]))


def _permuted(x):
    """Returns true if x is the result of a permute."""
    made = x._trace.producer(x)
    return bool(made) and made["op"] == "permute"


def _repeated(x, times):
    """Returns x with each head repeated `times` times: (batch, heads, m, n) becomes (batch, heads * times, m, n)."""
    batch, heads, *matrix = x.shape
    wide = op.expand(array_views.inserted(x, 2), (batch, heads, times, *matrix))
    return op.reshape(wide, (batch, heads * times, *matrix))


def _unrepeated(x):
    """Returns the tensor with the unrepeated keys or values, (batch, heads, keys, size), if x repeats each of its heads
    for several query heads; None if x does not."""
    trace, made = x._trace, x._trace.producer(x)
    wide = made and made["op"] == "reshape" and trace.producer(made["inputs"][0])
    if not wide or wide["op"] != "expand":
        return None
    narrow, whole = trace.arrays[wide["inputs"][0]], trace.arrays[wide["outputs"][0]].shape
    if len(whole) != 5 or narrow.shape != (*whole[:2], 1, *whole[3:]) or x.shape != (whole[0], whole[1] * whole[2], *whole[3:]):
        return None
    return array_views.without(narrow, [2])


_BETWEEN = {"cast", "mask", "mul_scalar", "add", "sub", "mul", "div", "neg", "tanh", "where", "maximum", "minimum", "clamp"}
_SOFTMAX = {"softmax": op.softmax, "safe_softmax": op.safe_softmax}


def attended(p, v):
    """Rewrites the batched matmul p v as attention, if p is the softmax of an elementwise chain on q k^T, or its cast to the
    dtype of v, and q, k, v and p are of the same batches and heads. Returns the attention in the shape of the matmul's
    result; None if p is anything else."""
    trace, p, v = p._trace, _by_heads(p), _by_heads(v)
    if p is None or v is None or v.shape[:3] != (*p.shape[:2], p.shape[3]) or p._dtype != v._dtype:
        return None
    made = trace.producer(p)
    if made and made["op"] == "cast" and not made.get("saturate"):
        made = trace.producer(made["inputs"][0])
    if not made or made["op"] not in _SOFTMAX or made["dim"] != 3:
        return None
    found = _scores(trace, made["inputs"][0], p.shape)
    if found is None:
        return None
    q, k, chain, by_place = found
    if q.shape[:3] != p.shape[:3] or k.shape != (*p.shape[:2], p.shape[3], q.shape[3]):
        return None
    applied("attention of a chain")
    made = _attention(q, k, v, chain, by_place=by_place, softmax=_SOFTMAX[made["op"]])
    return op.reshape(made, (-1, *made.shape[2:]))


def _by_heads(x):
    """Returns the tensor of shape (batch, heads, m, n) of which x, of shape (batch * heads, m, n), is a reshape; None
    if x is no such reshape."""
    made = x._trace.producer(x)
    if not made or made["op"] != "reshape":
        return None
    y = x._trace.arrays[made["inputs"][0]]
    return y if y.ndim == 4 and x.shape == (y.shape[0] * y.shape[1], *y.shape[2:]) else None


def _scores(trace, name, shape, deep=12):
    """Matches a chain of elementwise operators on q k^T, recorded in `trace`, whose result is the tensor `name`.
    Returns (q, k, the chain as a function for _attention, whether the chain masks by position); None if there is no
    match. `shape`: shape of the scores q k^T; `deep`: limit of the chain's length."""
    made = trace.producer(name)
    if not made or deep == 0 or trace.arrays[name].shape != shape:
        return None
    if made["op"] == "reshape":
        product = trace.producer(made["inputs"][0])
        if not product or product["op"] != "matmul":
            return None
        q, k = (_by_heads(trace.arrays[n]) for n in product["inputs"])
        return None if q is None or k is None else (q, _transposed(k), lambda scores, adapt: scores, False)
    if made["op"] not in _BETWEEN:
        return None
    for at, operand in enumerate(made["inputs"]):
        found = _scores(trace, operand, shape, deep - 1)
        if found is not None:
            break
    else:
        return None
    q, k, before, masked = found
    if made["op"] == "mask" and sorted(made["dims"]) != [2, 3]:
        return None
    attributes = {key: value for key, value in made.items() if key not in ("op", "inputs", "outputs")}

    def chain(scores, adapt):
        operands = [before(scores, adapt) if i == at else adapt(trace.arrays[n]) for i, n in enumerate(made["inputs"])]
        own = {"dims": [operands[0].ndim - 4 + d for d in made["dims"]]} if made["op"] == "mask" else {}
        return trace.append(made["op"], operands, attributes | own)[0]

    return q, k, chain, masked or made["op"] == "mask"


def _transposed(k):
    """Returns k with its last two dimensions exchanged. If k itself is such a permute of another array, returns that
    array."""
    made = k._trace.producer(k)
    if made and made["op"] == "permute" and made["dims"] == [0, 1, 3, 2]:
        return k._trace.arrays[made["inputs"][0]]
    return array_views.swapped(k, -1, -2)
