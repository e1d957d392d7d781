"""What ATen's operators on integers and bools mean: the dtype in which torch computes, comparisons, logic, and divisions by a
constant; and roundings to whole numbers. All of it is exact."""

import functools

import torch

from ... import dtypes
from ... import operators as op
from ...tracing import Array
from .custom import COMPARISONS
from .kinds import is_pointwise
from .scalars import overflows
from .schema import Left

aten = torch.ops.aten

_WHOLE = {"f32": 2.0**23, "f64": 2.0**52}  # from these on each number is whole


def computed_in(node) -> str | None:
    """Returns the dtype in which torch computes an elementwise operator; None if the operands stay as they are."""
    if not is_pointwise(node.target):
        return None
    value = node.meta["val"]
    if node.target in COMPARISONS:
        operands = [x.meta["val"] if isinstance(x, torch.fx.Node) else x for x in node.args[:2]]
        return dtypes.name_of(torch.result_type(*operands))
    if node.target in _BY_TRUTH or not isinstance(value, torch.Tensor):
        return None
    return dtypes.name_of(value.dtype)


def of_dtype(x, dtype):
    """Returns the operand x in the dtype in which the operator computes, if one of both is of integers or of f64."""
    if not isinstance(x, Array):
        return x
    dtype = "int32" if dtype in dtypes.STORED and x._dtype != dtype else dtype
    return op.cast(x, dtype) if x._dtype != dtype and (dtypes.is_integer(dtype) or dtypes.is_integer(x._dtype) or "f64" in (dtype, x._dtype)) else x


def wide(x):
    """Returns x in a dtype for arithmetic: int32 for bool, uint8 and int16."""
    return op.cast(x, "int32") if isinstance(x, Array) and x._dtype in dtypes.STORED else x


def arithmetic(function):
    """Wraps `function`, arithmetic on arrays, in one whose operands may also be stored alone; the result has their dtype."""
    @functools.wraps(function)
    def of(*args, **options):
        stored = next((a._dtype for a in args if isinstance(a, Array) and a._dtype in dtypes.STORED), None)
        args = [int(a) if isinstance(a, bool) else a for a in args]
        if stored is None:
            return function(*args, **options)
        return op.cast(function(*map(wide, args), **options), stored)

    return of


def compared(kind):
    def of(x, y):
        y = int(y) if isinstance(y, bool) else y
        if isinstance(x, Array) and dtypes.is_integer(x._dtype) and isinstance(y, float):
            raise Left(f"expected a number in {x._dtype}, found {y}")
        return op.cast(getattr(op, kind)(x, y), "bool")

    return of


def truth(x):
    """Returns whether x is not 0, as bool."""
    return x if x._dtype == "bool" else op.cast(op.ne(x, 0), "bool")


def logical(function):
    return lambda x, y: function(truth(x), truth(y))


def bitwise(function):
    def of(x, y):
        if not isinstance(x, Array) or not isinstance(y, Array) or {x._dtype, y._dtype} != {"bool"}:
            raise Left("expected bools: programs have no operator on the bits of numbers")
        return function(x, y)

    return of


def negation(x):
    if x._dtype != "bool":
        return op.sub(-1, wide(x)) if x._dtype not in dtypes.STORED else op.cast(op.sub(-1, wide(x)), x._dtype)
    return op.eq(x, 0)


def any_of(x, dim=None, keepdim=False):
    dims = list(range(x.ndim)) if dim is None or dim == [] else [dim] if isinstance(dim, int) else list(dim)
    made = op.amax(truth(x), dims, keepdim or len({d % x.ndim for d in dims}) == x.ndim)
    return op.reshape(made, (1,)) if len({d % x.ndim for d in dims}) == x.ndim and not keepdim else made


def all_of(x, dim=None, keepdim=False):
    return op.eq(any_of(op.eq(truth(x), 0), dim, keepdim), 0)


def lowest(reduce):
    """Wraps op.amin: the minimum of integers is -1 less the maximum of -1 - x, which no integer exceeds."""
    def along(x, dims, keepdim):
        if not dtypes.is_integer(x._dtype):
            return reduce(x, dims, keepdim)
        return op.cast(op.sub(-1, op.amax(op.sub(-1, wide(x)), dims, keepdim)), x._dtype)

    return along


def sign(x):
    x = wide(x)
    return op.sub(op.gt(x, 0), op.lt(x, 0))


def selected(condition, x, y):
    dtype = next(a._dtype for a in (x, y) if isinstance(a, Array))
    return op.where(op.cast(condition, dtype), x, y)


# ---- Whole numbers ----


def truncated(x):
    """Returns x rounded toward 0."""
    if dtypes.is_integer(x._dtype):
        return x
    x = op.cast(x, dtypes.computed(x._dtype))
    whole = op.cast(op.cast(x, "int64" if x._dtype == "f64" else "int32"), x._dtype)
    return op.where(op.lt(op.abs(x), _WHOLE[x._dtype]), whole, x)


def floor(x):
    if dtypes.is_integer(x._dtype):
        return x
    whole = truncated(x)
    return op.sub(whole, op.lt(op.cast(x, whole._dtype), whole))


def ceil(x):
    if dtypes.is_integer(x._dtype):
        return x
    whole = truncated(x)
    return op.add(whole, op.gt(op.cast(x, whole._dtype), whole))


def rounded_to_even(x):
    if dtypes.is_integer(x._dtype):
        return x
    x = op.cast(x, dtypes.computed(x._dtype))
    whole = floor(x)
    left, half = op.sub(x, whole), op.mul(whole, 0.5)
    odd = op.ne(floor(half), half)
    up = op.maximum(op.gt(left, 0.5), op.minimum(op.eq(left, 0.5), odd))
    return op.where(op.lt(op.abs(x), _WHOLE[x._dtype]), op.add(whole, up), x)


def _divided(x, by):
    """Returns (x, the quotient of integers x by the number `by`, rounded down, what is left of it). Each estimate in float32
    leaves less than 2^-21 of the error of the one before, and the last one is off by one at most."""
    if not isinstance(by, int) or isinstance(by, bool) or not dtypes.is_integer(x._dtype):
        raise Left("expected integers by a constant; of floating-point numbers the remainder needs the exact quotient" if not dtypes.is_integer(x._dtype)
                   else "expected a constant divisor: torch raises an error where one is 0")  # fmt: skip
    if overflows(by, dtypes.torch_dtype(x._dtype)):  # of which torch's kernel keeps the lower bits
        raise Left(f"expected a divisor that {x._dtype} holds, found {by}")
    x = wide(x)
    if not 1 <= by < (1 << 40 if x._dtype == "int64" else 1 << 30):
        raise Left(f"expected a divisor above 0 and below 2^30 (int64: 2^40), found {by}")
    if by == 1:
        return x, x, op.sub(x, x)
    estimate = lambda n: op.cast(op.mul(op.cast(n, "f32"), 1 / by), x._dtype)  # noqa: E731
    quotient = estimate(x)
    for _ in range(3 if x._dtype == "int64" else 2):
        quotient = op.add(quotient, estimate(op.sub(x, op.mul(quotient, by))))
    left = op.sub(x, op.mul(quotient, by))
    off = op.sub(op.ge(left, by), op.lt(left, 0))
    return x, op.add(quotient, off), op.sub(left, op.mul(off, by))


def divided(x, y, *, rounding_mode=None):
    """Returns torch's div with a rounding mode."""
    if rounding_mode is None:
        return op.div(x, y)
    if not dtypes.is_integer(x._dtype):
        if rounding_mode != "trunc":
            raise Left("expected rounding_mode='trunc': torch computes a floor by the exact remainder")
        return truncated(op.div(*(op.cast(v, dtypes.computed(v._dtype)) if isinstance(v, Array) else v for v in (x, y))))
    dtype = x._dtype
    x, quotient, left = _divided(x, y)
    if rounding_mode == "trunc":
        quotient = op.add(quotient, op.mul(op.lt(x, 0), op.ne(left, 0)))
    return op.cast(quotient, dtype)


def _common_bits(x, bits):
    """Returns x & bits: of each run of ones in the number, what x leaves of the power of two above it, less what it leaves of the one
    below. The ones of a negative number do not end."""
    made, at = None, 0
    while bits >> at not in (0, -1):
        first = at + ((bits >> at) & -(bits >> at)).bit_length() - 1
        ones = bits >> first
        if ones == -1:
            at = first
            break
        at = first + (~ones & (ones + 1)).bit_length() - 1
        run = op.sub(remainder(x, 1 << at), remainder(x, 1 << first)) if first else remainder(x, 1 << at)
        made = run if made is None else op.add(made, run)
    if bits < 0:
        run = op.sub(x, remainder(x, 1 << at)) if at else x
        made = run if made is None else op.add(made, run)
    return op.sub(x, x) if made is None else made


def with_bits(function):
    """Wraps `function` of (integers, what they have in common with a number's bits, the number): and, or, exclusive or."""
    def of(x, bits):
        if x._dtype == "bool" or not isinstance(bits, int) or isinstance(bits, bool) or overflows(bits, dtypes.torch_dtype(x._dtype)):
            raise Left(f"expected integers and a number in their range, found {x._dtype} and {bits}")
        return op.cast(function(wide(x), _common_bits(wide(x), bits), bits), x._dtype)

    return of


def shifted_left(x, by):
    if not isinstance(by, int) or not 0 <= by < 31:
        raise Left(f"expected a shift by 0 to 30 bits, found {by}")
    return op.cast(op.mul(wide(x), 1 << by), x._dtype)


def shifted_right(x, by):
    if not isinstance(by, int) or not 0 <= by < 30:
        raise Left(f"expected a shift by 0 to 29 bits, found {by}")
    return op.cast(_divided(x, 1 << by)[1], x._dtype)


def remainder(x, y):
    dtype = x._dtype
    return op.cast(_divided(x, y)[2], dtype)


def fmod(x, y):
    dtype = x._dtype
    x, _, left = _divided(x, y)
    return op.cast(op.sub(left, op.mul(op.mul(op.lt(x, 0), op.ne(left, 0)), y)), dtype)


OPERATORS = {
    **{target: compared(kind) for target, kind in COMPARISONS.items()},
    aten.logical_and.default: logical(op.minimum),
    aten.logical_or.default: logical(op.maximum),
    aten.logical_xor.default: logical(op.ne),
    aten.logical_not.default: lambda x: op.eq(truth(x), 0),
    aten.bitwise_and.Tensor: bitwise(op.minimum),
    aten.bitwise_or.Tensor: bitwise(op.maximum),
    aten.bitwise_xor.Tensor: bitwise(op.ne),
    aten.bitwise_not.default: negation,
    aten.bitwise_and.Scalar: with_bits(lambda x, common, bits: common),
    aten.bitwise_or.Scalar: with_bits(lambda x, common, bits: op.add(op.sub(x, common), bits)),
    aten.bitwise_xor.Scalar: with_bits(lambda x, common, bits: op.add(op.sub(x, op.mul(common, 2)), bits)),
    aten.__lshift__.Scalar: shifted_left,
    aten.__rshift__.Scalar: shifted_right,
    aten.bitwise_left_shift.Tensor_Scalar: shifted_left,
    aten.bitwise_right_shift.Tensor_Scalar: shifted_right,
    aten.isnan.default: lambda x: op.cast(op.ne(x, x), "bool"),
    aten.isinf.default: lambda x: op.cast(op.eq(op.abs(op.cast(x, dtypes.computed(x._dtype))), float("inf")), "bool"),
    aten.all.default: all_of,
    aten.all.dim: all_of,
    aten.all.dims: all_of,
    aten.floor_divide.default: lambda x, y: divided(x, y, rounding_mode="floor"),
    aten.any.default: any_of,
    aten.any.dim: any_of,
    aten.any.dims: any_of,
    aten.where.self: selected,
    aten.sign.default: sign,
    aten.trunc.default: truncated,
    aten.floor.default: floor,
    aten.ceil.default: ceil,
    aten.round.default: rounded_to_even,
    aten.div.Tensor_mode: divided,
    aten.div.Scalar_mode: divided,
    aten.remainder.Scalar: remainder,
    aten.remainder.Tensor: remainder,
    aten.fmod.Scalar: fmod,
    aten.fmod.Tensor: fmod,
}
_BY_TRUTH = {t for t in OPERATORS if t.overloadpacket.__name__.startswith(("logical_", "isnan", "isinf", "bitwise_"))}
