"""Views, joins and products of traced arrays, and assignment to them, where NumPy and torch mean the same."""

import math

from . import dtypes
from . import operators as op
from ._native import Error
from .signatures import dim_of, dims_of, is_int, shown
from .promotion import traced
from .tracing import Array, as_numbers, is_view, truth

# ---- Views ----


def permuted(x, dims, what="axes"):
    found = [dim_of(x, d, what) for d in dims]
    if sorted(found) != list(range(x.ndim)):
        raise Error(f"expected each of the {x.ndim} dimensions once in {what}, found {shown(tuple(dims))} for shape {x.shape}")
    return op.permute(x, found)


def swapped(x, a, b, what="dim"):
    dims = list(range(x.ndim))
    a, b = dim_of(x, a, what), dim_of(x, b, what)
    dims[a], dims[b] = b, a
    return op.permute(x, dims)


def moved(x, source, destination):
    """Returns x with dimensions `source` moved to `destination`: integers or tuples of them."""
    source, destination = dims_of(x, _sequence(source), "source"), dims_of(x, _sequence(destination), "destination")
    if len(source) != len(destination):
        raise Error(f"expected the same number of dimensions in source and destination, found {len(source)} and {len(destination)}")
    order = [d for d in range(x.ndim) if d not in source]
    for to, d in sorted(zip(destination, source)):
        order.insert(to, d)
    return op.permute(x, order)


def _sequence(dims):
    return list(dims) if isinstance(dims, (tuple, list)) else [dims]


def shaped(x, shape):
    """Returns x in another shape, in which one extent may be -1. Raises Error if it has another number of elements."""
    shape = _sequence(shape)
    if not all(map(is_int, shape)):
        raise Error(f"expected integers for shape, found {shown(next(n for n in shape if not is_int(n)))}")
    if not shape:
        raise Error(f"expected a result of at least one dimension, found the shape () for {x.shape}")
    size, rest = math.prod(x.shape), math.prod(n for n in shape if n != -1)
    if shape.count(-1) > 1 or any(n < -1 or n == 0 for n in shape) or (size % rest if -1 in shape else size != rest):
        raise Error(f"expected a shape of {size} elements, as {x.shape} has, found {tuple(shape)}")
    return op.reshape(x, [n if n != -1 else size // rest for n in shape])


def without(x, dims):
    """Returns x without the dimensions `dims`, of extent 1."""
    if len(dims) == x.ndim:
        raise Error(f"expected a result of at least one dimension, found a number for shape {x.shape}; keep a dimension")
    return op.reshape(x, [n for d, n in enumerate(x.shape) if d not in dims]) if dims else x


def inserted(x, dims, what="axis"):
    """Returns x with dimensions of 1 at the positions `dims` of the result."""
    dims = _sequence(dims)
    rank = x.ndim + len(dims)
    if any(not is_int(d) or not -rank <= d < rank for d in dims):
        raise Error(f"expected {what} from {-rank} to {rank - 1} for shape {x.shape}, found {shown(dims[0] if len(dims) == 1 else tuple(dims))}")
    places = {d % rank for d in dims}
    if len(places) < len(dims):
        raise Error(f"expected each position once in {what}, found {shown(tuple(dims))}")
    rest = iter(x.shape)
    return op.reshape(x, [1 if d in places else next(rest) for d in range(rank)])


def broadcast(x, shape, keeps=False):
    """Returns x broadcast to a shape. `keeps`: -1 keeps an extent, as in torch."""
    shape = _sequence(shape)
    own = [1] * (len(shape) - x.ndim) + list(x.shape)
    if not all(map(is_int, shape)) or len(shape) < x.ndim:
        raise Error(f"expected a shape of integers, at least {x.ndim} of them for {x.shape}, found {shown(tuple(shape))}")
    lead = len(shape) - x.ndim
    shape = [m if n == -1 and keeps and i >= lead else n for i, (n, m) in enumerate(zip(shape, own))]
    if any(n < 1 or m not in (1, n) for n, m in zip(shape, own)):
        raise Error(f"expected a shape to which {x.shape} broadcasts, found {tuple(shape)}")
    return x if tuple(shape) == x.shape else op.expand(x, shape)


def joined(rules, arrays, dim, what="axis"):
    """Returns arrays concatenated along a dimension, in their common dtype."""
    arrays = _arrays(rules, arrays)
    first = arrays[0]
    dim = dim_of(first, dim, what)
    for a in arrays:
        if a.ndim != first.ndim or any(m != n for d, (m, n) in enumerate(zip(a.shape, first.shape)) if d != dim):
            raise Error(f"expected shapes that differ along {what} {dim} only, found {first.shape} and {a.shape}")
    return as_numbers(first) if len(arrays) == 1 else op.concat(arrays, dim)


def stacked(rules, arrays, dim, what="axis"):
    arrays = _arrays(rules, arrays)
    for a in arrays:
        if a.shape != arrays[0].shape:
            raise Error(f"expected arrays of one shape, found {arrays[0].shape} and {a.shape}")
    if not is_int(dim):
        raise Error(f"expected an integer for {what}, found {shown(dim)}")
    arrays = [inserted(a, dim, what) for a in arrays]
    return arrays[0] if len(arrays) == 1 else op.concat(arrays, dim % arrays[0].ndim)


def _arrays(rules, arrays):
    arrays = list(arrays)
    like = next((a for a in arrays if isinstance(a, Array)), None)
    if like is None or any(op.is_scalar(a) for a in arrays):
        raise Error(f"expected arrays with dimensions, found {shown(tuple(arrays))}")
    arrays = [traced(a, like) for a in arrays]
    if all(a._truth for a in arrays):
        return arrays if len({a._dtype for a in arrays}) == 1 else [truth(op.cast(a, "f32")) for a in arrays]
    return rules.operands(arrays)[1]


def parts(x, sizes, dim):
    """Returns the parts of x along a dimension, which have the given sizes."""
    if any(n < 1 for n in sizes):
        raise Error(f"expected parts that are not empty, found sizes {tuple(sizes)} of {x.shape[dim]}")
    return [x] if len(sizes) == 1 else list(op.split(x, sizes, dim))


# ---- Products ----


def product(rules, x, y):
    """Returns the matrix product as matmul of NumPy and torch. Raises Error for numbers and for two vectors."""
    for v in (x, y):
        if op.is_scalar(v):
            raise Error(f"expected arrays with dimensions, found the number {v}")
    like = x if isinstance(x, Array) else y
    x, y = (traced(v, like) for v in (x, y))
    if x._truth and y._truth:
        raise Error("expected numbers, found results of comparisons; cast one")
    x, y = rules.operands([x, y])[1]
    if x.ndim == y.ndim == 1:
        raise Error(f"expected a result of at least one dimension, found a number, the product of two vectors of {x.shape[0]} and {y.shape[0]}; add a dimension")
    inner = x.shape[-1], y.shape[-2 if y.ndim > 1 else 0]
    if inner[0] != inner[1]:
        raise Error(f"expected the last dimension of the left operand to equal the last but one of the right, found {inner[0]} and {inner[1]} in {x.shape} and {y.shape}")
    return matrix(x, y)


def matrix(x, y):
    """Returns the matrix product in the operands' dtype: the graph's of int8 is int32; NumPy's and torch's keep the low bits."""
    made = op.matmul(x, y)
    return op.cast(made, "int8") if x._dtype == "int8" else made


# ---- Assignment ----


def changed(x, made):
    """Makes the array x, of which an operator such as += changes the elements, denote the new ones, and returns x. Raises Error
    where other arrays would change, too: x is an argument or a view, or one has been made of it."""
    trace = x._trace
    producer = trace.producer(x)
    own = "an argument or a constant" if producer is None else "a view of another" if is_view(producer["op"]) else ""
    if not own and any(is_view(o["op"]) and x._name in o["inputs"] for o in trace.operators):
        own = "an array of which views have been made"
    if own:
        raise Error(f"expected an array of its own memory, found {own}, which would change, too; write x = x + y in place of x += y")
    if made.shape != x.shape:
        raise Error(f"expected a result of shape {x.shape}, as the array has, found {made.shape}")
    if made._dtype != x._dtype and dtypes.is_integer(x._dtype):
        raise Error(f"expected a result of {x._dtype}, as the array has, found {made._dtype}")
    made = op.cast(made, x._dtype)
    x._name, x._truth = made._name, made._truth and x._truth
    return x
