"""Implements numpy.einsum for one or two traced arrays, as a matmul.

A letter that both operands and the result have is a batch dimension. A letter that both operands but not the result
have is contracted. A letter that one operand and the result have is a dimension of rows or columns. A letter that only
one operand has is summed before the matmul.
"""

import math

from . import operators as op
from ._native import Error
from .array_views import matrix
from .tracing import Array


def _terms(subscripts: str, arrays) -> tuple:
    """Returns (the letters of each operand, the letters of the result). Raises Error if the subscripts do not fit the
    arrays."""
    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    if "." in text or any(len(set(t)) < len(t) for t in (*terms, result)):
        raise Error(f"einsum: expected letters, each once in a term, found {subscripts}")
    if len(terms) != len(arrays) or len(terms) > 2 or any(len(t) != a.ndim for t, a in zip(terms, arrays)):
        raise Error(f"einsum: expected one or two arrays with a letter for each dimension, found {subscripts} for {[a.shape for a in arrays]}")
    if not arrow:
        result = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    unknown = set(result) - set(inputs)
    if len(result) == 0:
        raise Error("einsum: expected a result of at least one dimension, found a number")
    if unknown:
        raise Error(f"einsum: expected the result's letters among the operands', found {min(unknown)} in {subscripts}")
    return terms, result


def _check_extents(terms, arrays):
    """Raises Error if a letter has two extents."""
    extents = {}
    for term, x in zip(terms, arrays):
        for letter, n in zip(term, x.shape):
            if extents.setdefault(letter, n) != n:
                raise Error(f"einsum: expected one extent for the letter {letter}, found {extents[letter]} and {n} for {[a.shape for a in arrays]}")


def _summed(x, term: str, kept: str) -> tuple:
    """Returns (x summed over the letters that occur in no other term, the remaining letters of `term`). `kept`: the
    letters of the other terms."""
    gone = [d for d, c in enumerate(term) if c not in kept]
    if gone:
        x = op._along("sum", x, gone, False)
    return x, "".join(c for c in term if c in kept)


def _arranged(x, term: str, order: str):
    """Returns x with its dimensions permuted from the order of letters `term` to the order `order`."""
    return x if term == order else op.permute(x, [term.index(c) for c in order])


def einsum(subscripts, *arrays, rules):
    """Returns the einsum of one or two arrays for subscripts such as "bij,bjk->bik", promoted by `rules` (promotion.py).
    Raises Error for more arrays, for repeated letters, for extents that differ, or for a result without dimensions."""
    if not isinstance(subscripts, str):
        raise Error("einsum: expected a string of letters before the arrays")
    if any(op.is_scalar(a) for a in arrays) or not any(isinstance(a, Array) for a in arrays):
        raise Error("einsum: expected arrays with dimensions after the subscripts, found a number")
    arrays = rules.operands(arrays)[1]
    terms, result = _terms(subscripts, arrays)
    _check_extents(terms, arrays)
    if len(arrays) == 1:
        x, term = _summed(arrays[0], terms[0], result)
        return _arranged(x, term, result)
    (x, a), (y, b) = (_summed(m, t, result + o) for m, t, o in zip(arrays, terms, terms[::-1]))
    extent = dict(zip(a + b, (*x.shape, *y.shape)))
    batch = [c for c in result if c in a and c in b]
    inner = [c for c in a if c in b and c not in result]
    rows, columns = ([c for c in result if c in t and c not in batch] for t in (a, b))

    def size(letters):
        return math.prod(extent[c] for c in letters)

    x = op.reshape(_arranged(x, a, "".join(batch + rows + inner)), (*(extent[c] for c in batch), size(rows), size(inner)))
    y = op.reshape(_arranged(y, b, "".join(batch + inner + columns)), (*(extent[c] for c in batch), size(inner), size(columns)))
    order = "".join(batch + rows + columns)
    return _arranged(op.reshape(matrix(x, y), [extent[c] for c in order]), order, result)
