"""Elementwise operators and reductions of traced arrays under NumPy's and torch's rules (promotion.py)."""

import math

from . import dtypes
from . import operators as op
from ._native import Error
from .dispatch import number
from .signatures import shown
from .promotion import logical, traced
from .tracing import Array, as_numbers, truth

# ---- Elementwise ----


def comparison(rules, function):
    """Returns the comparison `function` with operands promoted by `rules`; its result counts as bool."""
    def compared(x, y):
        if all(map(_is_truth, (x, y))):
            return truth(function(*_in_one_dtype(x, y)))
        common, operands = rules.operands([x, y])
        for given, made in zip((x, y), operands):
            if rules.name == "NumPy" and not isinstance(given, Array) and hasattr(given, "dtype") and number(given) != made and not math.isnan(made):
                raise Error(f"expected a number that {common} has, as NumPy does not round {given!r}, found {given}, which would be {made}; write {number(given)!r}, which it rounds")
        return truth(function(*operands))

    return compared


def _in_one_dtype(x, y):
    """Returns two comparisons' results in one dtype; one may be True or False."""
    if not isinstance(x, Array) or not isinstance(y, Array):
        return tuple(as_numbers(v) if isinstance(v, Array) else int(v) for v in (x, y))
    if x._dtype == y._dtype:
        return as_numbers(x), as_numbers(y)
    return op.cast(x, "f32"), op.cast(y, "f32")


def _is_truth(v) -> bool:
    return v._truth if isinstance(v, Array) else isinstance(v, bool) or getattr(getattr(v, "dtype", None), "kind", "") == "b" and v.shape == ()


def elementwise(rules, function, floats=False, rounds=True, of_truths=None):
    """Returns the elementwise `function` with operands promoted by `rules`. `floats`: it is of floating-point numbers.
    `rounds`: numbers are rounded to the arrays' dtype. `of_truths`: the function of two comparisons' results, or a sentence
    that says why there is none; None: as of numbers."""
    def applied(*values):
        if of_truths is not None and all(_is_truth(v) for v in values):
            if isinstance(of_truths, str):
                raise Error(of_truths)
            return truth(of_truths(*(_in_one_dtype(*values) if len(values) == 2 else values)))
        return function(*rules.operands(values, rounds or rules.name == "NumPy", floats)[1])

    return applied


_NUMBERS = "expected numbers, found results of comparisons; cast them"
_NO_DIFFERENCE = "expected numbers, found results of comparisons, which {} does not subtract; use ^ or cast them"


def functions(rules) -> dict:
    """Returns the elementwise functions of one and two arrays, by NumPy's names, under a framework's rules."""
    made = {n: elementwise(rules, getattr(op, n), floats=True) for n in ("exp", "log", "log1p", "sqrt", "sin", "cos", "tanh", "rsqrt", "sigmoid")}
    no_difference = _NO_DIFFERENCE.format(rules.name)
    differs = elementwise(rules, op.sub, False, False, no_difference)
    made |= {
        "add": elementwise(rules, op.add, False, False, op.maximum), "subtract": differs if rules.name == "NumPy" else _without_truths(differs, no_difference),
        "multiply": elementwise(rules, op.mul, False, False, op.mul), "divide": elementwise(rules, _quotient(rules), True, False),
        "maximum": elementwise(rules, op.maximum, of_truths=op.maximum), "minimum": elementwise(rules, op.minimum, of_truths=op.minimum),
        "logaddexp": elementwise(rules, op.logaddexp, floats=True), "square": elementwise(rules, op.square),
        "abs": elementwise(rules, op.abs, of_truths=as_numbers if rules.name == "NumPy" else _NUMBERS), "positive": elementwise(rules, as_numbers, of_truths=_NUMBERS),
        "negative": elementwise(rules, op.neg, of_truths=no_difference), "reciprocal": elementwise(rules, lambda x: op.div(1, x), floats=True),
    }  # fmt: skip
    names = {"equal": op.eq, "not_equal": op.ne, "less": op.lt, "less_equal": op.le, "greater": op.gt, "greater_equal": op.ge}
    if rules.name == "torch":
        made["logaddexp"] = _floats_only(made["logaddexp"])
    made |= {n: comparison(rules, function) for n, function in names.items()}
    made |= {
        "logical_not": lambda x: truth(op.eq(as_numbers(x), 0)), "logical_and": _both(op.minimum), "logical_or": _both(op.maximum), "logical_xor": _both(op.ne),
    }  # fmt: skip
    return made


def _without_truths(function, sentence):
    """torch subtracts no results of comparisons, not even of numbers."""
    def applied(*values):
        if any(map(_is_truth, values)):
            raise Error(sentence)
        return function(*values)

    return applied


def _floats_only(function):
    def applied(*values):
        found = next((v for v in values if isinstance(v, Array) and (v._truth or dtypes.is_integer(v._dtype))), None)
        if found is not None:
            raise Error(f"expected floating-point numbers, found {'a result of a comparison' if found._truth else found._dtype}; cast it first")
        return function(*values)

    return applied


def _quotient(rules):
    def quotient(x, y):
        if isinstance(x, Array) or rules.name == "torch":  # torch multiplies with the reciprocal
            return op.div(x, y)
        return op.div(y._trace.constant(x, y._dtype), y)

    return quotient


def _both(function):
    def combined(x, y):
        like = x if isinstance(x, Array) else y
        x, y = (logical(traced(like._trace.constant(number(v), like._dtype) if op.is_scalar(v) else v, like)) for v in (x, y))
        return truth(function(*_in_one_dtype(x, y)))

    return combined


def bitwise(name, rules):
    """Returns the operator & or | or ^ of comparisons' results; refuses integers' bits, for which the graph has no operator."""
    function = functions(rules)[{"&": "logical_and", "|": "logical_or", "^": "logical_xor"}[name]]

    def combined(x, y):
        for v in (x, y):
            if not (isinstance(v, bool) or isinstance(v, Array) and v._truth or getattr(getattr(v, "dtype", None), "kind", "") == "b"):
                raise Error(f"expected results of comparisons, found {v._dtype if isinstance(v, Array) else shown(v)}; bits of integers are not known while tracing")
        return function(x, y)

    return combined


def inverted(x):
    """Returns ~x: of a comparison's result the contrary, of an integer -x - 1."""
    if x._truth:
        return truth(op.eq(as_numbers(x), 0))
    if not dtypes.is_integer(x._dtype):
        raise Error(f"expected results of comparisons or integers, found {x._dtype}")
    return op.sub(op.neg(x), 1)


def power(rules):
    """Returns the power x ** y, with NumPy's and torch's roots and products for some numbers y."""
    def raised(x, y):
        if _is_truth(x):
            raise Error(_NUMBERS)
        _, (a, b) = rules.operands([x, y], rules.name == "NumPy")
        if isinstance(a, Array) and not isinstance(b, Array):
            if rules.name == "torch":
                rules.fitting(a, b)
            if dtypes.is_integer(a._dtype) and b < 0:
                raise Error(f"expected a power of at least 0 of integers, found {b}")
            if b in (0.5, 2, 1):
                return {0.5: op.sqrt, 2: op.square, 1: as_numbers}[b](a)
            if rules.name == "torch" and b in (-0.5, 3, -1, -2):
                return {-0.5: op.rsqrt, 3: lambda a: op.mul(op.mul(a, a), a), -1: lambda a: op.div(1, a), -2: lambda a: op.div(1, op.square(a))}[b](a)
            return op.pow(a, b)
        return op.pow(a if isinstance(a, Array) else b._trace.constant(a, b._dtype), b)

    return raised


def selected(rules, condition, x, y, bool_only=False):
    """Returns where(condition, x, y). `bool_only`: the condition must be a comparison's result, as torch's."""
    like = next(v for v in (condition, x, y) if isinstance(v, Array))
    condition = traced(condition, like) if not op.is_scalar(condition) else condition
    if not isinstance(condition, Array):
        raise Error(f"expected an array for condition, found {shown(condition)}")
    if bool_only and not condition._truth:
        raise Error(f"expected a comparison's result for condition, as torch takes bool only, found {condition._dtype}; compare it: condition != 0")
    values = [v if op.is_scalar(v) else traced(v, like) for v in (x, y)]
    if all(isinstance(v, Array) and v._truth for v in values):
        x, y = _in_one_dtype(*values)
        return truth(op.where(condition, x, y))
    if not any(isinstance(v, Array) for v in values):
        numbers = [number(v) for v in values]
        name = "int32" if all(isinstance(n, int) for n in numbers) and dtypes.is_integer(condition._dtype) else "f32"
        like = op.cast(op.ne(condition, 0), name)
        values = [like._trace.constant(numbers[0], name), rules.rounded(numbers[1], name)]
        return op.where(like, *values)
    x, y = rules.operands(values)[1]
    return op.where(condition, x, y)


# ---- Reductions ----

_KEEP = {"NumPy": "keepdims", "torch": "keepdim"}


def reduced(rules, function, x, dims, keep, integers=True):
    """Returns the reduction `function` along `dims`, as dims_of returns them. Raises Error for a result without dimensions."""
    if not dims:
        raise Error(f"expected at least one dimension, found none for shape {x.shape}")
    if len(dims) == x.ndim and not keep:
        raise Error(f"expected a result of at least one dimension, found a number for shape {x.shape}; {_KEEP[rules.name]}=True keeps dimensions of 1")
    return function(x, dims, keep)


def accumulated(rules, x, dtype, floats=False):
    """Returns the operand of a sum in the dtype in which it is computed: `dtype`, or x's own. NumPy and torch count
    comparisons' results, and sum integers in 64 bits, which Zellige lacks."""
    if dtype is not None:
        return op.cast(x, dtype)
    if x._truth:
        return op.cast(x, "f32")
    if dtypes.is_integer(x._dtype):
        what = "expected floating-point numbers" if floats else f"expected a dtype, as {rules.name}'s result is of 64 bits, which Zellige lacks"
        raise Error(f"{what}, found {x._dtype}; {'cast it first' if floats else f'pass dtype, such as {x._dtype}'}")
    return x


def variance(rules, x, dims, keep, correction, root=False):
    """Returns the variance along dimensions, or its root: computed in float32 (float64 of f64), in x's dtype."""
    count = math.prod(x.shape[d] for d in dims)
    correction = number(correction)
    if not correction < count:
        raise Error(f"expected a correction (ddof) below the {count} elements, found {correction}")
    if x._truth or dtypes.is_integer(x._dtype):
        raise Error(f"expected floating-point numbers, found {'a result of a comparison' if x._truth else x._dtype}; cast it first")

    def along(x, dims, keep):
        made = deviation(op.cast(x, dtypes.computed(x._dtype)), dims, keep)
        made = made if correction == 0 else op.mul(made, count / (count - correction))
        return op.cast(op.sqrt(made) if root else made, x._dtype)

    return reduced(rules, along, x, dims, keep)


def deviation(x, dims, keep):
    """Returns the mean square of x's distance from its mean along dimensions, in x's dtype."""
    return op.mean(op.square(op.sub(x, op.mean(x, dims, True))), dims, keep)


def holds(rules, function, x, dims, keep):
    """Returns any or all along dimensions: `function` is op.amax or op.amin."""
    return truth(reduced(rules, function, logical(x), dims, keep))
