"""Random functions of torch on integers, masks, indices and views, for tests that compare the backend with eager bit for bit.

    function, inputs = draw(seed)               # sizes of 3 to 7
    function, inputs = draw(seed, (0, 1))       # sizes of 0 and 1

A function is a list of steps. Each step has an operator and the numbers of the values that it reads; what eager refuses is not
drawn.
"""

import random

import torch

DTYPES = (torch.int64, torch.int64, torch.int32, torch.bool, torch.uint8, torch.int16, torch.int8)


def _number(draw, x):
    return draw.randint(0, 3) if x.dtype in (torch.bool, torch.uint8) else draw.randint(-3, 4)


def _dim(draw, x):
    return draw.randrange(x.ndim)


def _shifted(draw, x):
    return draw.randint(-3, 3), _dim(draw, x)


def _indices(draw, x, d):
    """A function of a value that makes valid indices along dimension d."""
    n = x.shape[d]
    return lambda y: torch.remainder(y.to(torch.int64), n)


def _fixed(f):
    return lambda draw, x: (lambda y: f(y), "")


def _with(f, numbers):
    def drawn(draw, x):
        given = numbers(draw, x)
        given = given if isinstance(given, tuple) else (given,)
        return (lambda y: f(y, *given)), given

    return drawn


def _as_integers(x):
    return x.to(torch.int64) if x.dtype == torch.bool else x


# operators of one value: a function of the draw and the value, which returns a function and its numbers
UNARY = {
    "neg": _fixed(lambda x: -_as_integers(x)),
    "abs": _fixed(lambda x: _as_integers(x).abs()),
    "not": _fixed(lambda x: ~x),
    "logical_not": _fixed(torch.logical_not),
    "sign": _fixed(lambda x: _as_integers(x).sign()),
    "plus": _with(lambda x, n: x + n, _number),
    "times": _with(lambda x, n: x * n, _number),
    "less from": _with(lambda x, n: n - x, lambda d, x: d.randint(0, 3)),
    "floor division": _with(lambda x, n: x // n, lambda d, x: d.choice((1, 2, 3, 7))),
    "truncated division": _with(lambda x, n: torch.div(x, n, rounding_mode="trunc"), lambda d, x: d.choice((2, 3, 5))),
    "remainder": _with(lambda x, n: x % n, lambda d, x: d.choice((1, 2, 3, 16))),
    "fmod": _with(lambda x, n: torch.fmod(_as_integers(x), n), lambda d, x: d.choice((2, 3, 7))),
    "low bits": _with(lambda x, n: _as_integers(x) & n, lambda d, x: d.choice((1, 3, 7))),
    "shift": _with(lambda x, n: (_as_integers(x) << n) >> 1, lambda d, x: d.choice((0, 1, 3))),
    "square": _fixed(lambda x: _as_integers(x) ** 2),
    "above": _with(lambda x, n: x > n, _number),
    "equal": _with(lambda x, n: x == n, _number),
    "clamp": _with(lambda x, n: _as_integers(x).clamp(n - 2, n + 2), _number),
    "int64": _fixed(lambda x: x.to(torch.int64)),
    "int32": _fixed(lambda x: x.to(torch.int32)),
    "uint8": _fixed(lambda x: x.to(torch.uint8)),
    "bool": _fixed(lambda x: x.to(torch.bool)),
    "float and back": _fixed(lambda x: (x.float() * 0.5).floor().to(torch.int64)),
    "sum": _with(lambda x, d: x.sum(d, keepdim=True), _dim),
    "maximum along": _with(lambda x, d: x.amax(d, keepdim=True), _dim),
    "minimum along": _with(lambda x, d: x.amin(d, keepdim=True), _dim),
    "any": _with(lambda x, d: x.any(d, keepdim=True), _dim),
    "all": _with(lambda x, d: x.all(d, keepdim=True), _dim),
    "argmax": _with(lambda x, d: _as_integers(x).argmax(d, keepdim=True), _dim),
    "argmin": _with(lambda x, d: _as_integers(x).argmin(d), _dim),
    "max with its place": _with(lambda x, d: x.max(d, keepdim=True)[1], _dim),
    "cumsum": _with(lambda x, d: x.cumsum(d), _dim),
    "flip": _with(lambda x, d: x.flip(d), _dim),
    "roll": _with(lambda x, n, d: x.roll(n, d), _shifted),
    "transposed": _fixed(lambda x: x.transpose(0, -1)),
    "row": _with(lambda x, d: x.select(d, 0).unsqueeze(d), _dim),
    "slice": _with(lambda x, d: x.narrow(d, 0, max(x.shape[d] - 1, 0)), _dim),
    "every other": _fixed(lambda x: x[::2]),
    "repeated": _with(lambda x, d: x.repeat(*[2 if e == d else 1 for e in range(x.ndim)]), _dim),
    "repeated apart": _with(lambda x, d: x.repeat_interleave(2, d), _dim),
    "padded": _with(lambda x, n: torch.nn.functional.pad(x, (1, n), value=1), lambda d, x: d.randint(0, 2)),
    "tril": _with(lambda x, n: x.tril(n), lambda d, x: d.randint(-1, 1)),
    "triu": _with(lambda x, n: x.triu(n), lambda d, x: d.randint(-1, 1)),
    "zeros": _fixed(lambda x: torch.zeros_like(x) + x),
    "ones": _fixed(lambda x: torch.ones_like(x, dtype=torch.int32) + x),
    "positions": _fixed(lambda x: x + torch.arange(x.shape[-1])),
    "flat": _fixed(lambda x: x.reshape(x.shape[0], -1)),
    "diagonal": _fixed(lambda x: x.diagonal(0, 0, -1)),
    "windows": _fixed(lambda x: x.unfold(-1, 2, 1).sum(-1)),
    "chunks": _fixed(lambda x: x.chunk(2, -1)[0]),
}  # fmt: skip

# operators of two values
BINARY = {
    "add": torch.add, "sub": lambda x, y: _as_integers(x) - y, "mul": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum,
    "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge, "eq": torch.eq, "ne": torch.ne,
    "and": torch.logical_and, "or": torch.logical_or, "xor": torch.logical_xor,
    "bits and": lambda x, y: x.bool() & y.bool(), "bits or": lambda x, y: x.bool() | y.bool(), "bits xor": lambda x, y: x.bool() ^ y.bool(),
    "where": lambda x, y: torch.where(y > 1, x, y), "masked": lambda x, y: x.masked_fill(y.bool(), 1),
    "where a number": lambda x, y: torch.where(x.bool(), y, 2),
    "cat": lambda x, y: torch.cat((x, y.to(x.dtype))), "stack": lambda x, y: torch.stack((x, y.to(x.dtype))).amax(0),
    "index": lambda x, y: x[y.reshape(-1).to(torch.int64) % x.shape[0]],
    "index of the last": lambda x, y: x[..., y.reshape(-1).to(torch.int64) % x.shape[-1]],
    "index_select": lambda x, y: x.index_select(-1, y.reshape(-1).to(torch.int64) % x.shape[-1]),
    "gather": lambda x, y: x.gather(0, y.to(torch.int64) % x.shape[0]),
    "scatter_add": lambda x, y: x.to(torch.int64).scatter_add(0, y.to(torch.int64) % x.shape[0], y.to(torch.int64)),
    "embedding": lambda x, y: torch.nn.functional.embedding(y.reshape(-1).to(torch.int64) % x.shape[0], x.reshape(x.shape[0], -1).float()).to(torch.int64),
    "copy_": lambda x, y: torch.empty_like(x).copy_(y),
    "isin": lambda x, y: (x.unsqueeze(-1) == y.reshape(-1)).any(-1),
    "expanded": lambda x, y: x + y.sum().expand(x.shape),
}  # fmt: skip


def _input(draw, sizes):
    shape = [draw.choice(sizes) for _ in range(draw.choice((1, 2, 2, 3)))]
    dtype, generator = draw.choice(DTYPES), torch.Generator().manual_seed(draw.randrange(1 << 30))
    low, high = (0, 2) if dtype == torch.bool else (0, 9) if dtype == torch.uint8 else (-9, 9)
    x = torch.randint(low, high, shape, generator=generator).to(dtype)
    if draw.random() < 0.2 and dtype == torch.int64:
        x = x * (1 << 40) + 3
    if draw.random() < 0.25 and x.ndim > 1:
        x = x.transpose(0, 1).contiguous().transpose(0, 1)
    return x


class Function:
    """A random function; its string has the steps."""

    def __init__(self):
        self.steps, self.words = [], []

    def __call__(self, *inputs):
        values = list(inputs)
        for f, read in self.steps:
            values.append(f(*(values[i] for i in read)))
        return tuple(values[len(inputs) :])

    def __str__(self):
        return "; ".join(self.words)


def draw(seed, sizes=(3, 4, 5, 7), steps=5):
    """Returns a random function and its inputs. It returns all values that it computes."""
    random_draw = random.Random(seed)
    shape = [random_draw.choice(sizes) for _ in range(random_draw.choice((1, 2, 2)))]
    inputs = [_input(random_draw, sizes) for _ in range(2)]
    inputs.append(torch.randint(0, 5, shape, generator=torch.Generator().manual_seed(seed)))
    made, values = Function(), list(inputs)
    for _ in range(40):
        read = [random_draw.randrange(len(values))]
        if random_draw.random() < 0.5:
            name = random_draw.choice(list(UNARY))
            f, numbers = UNARY[name](random_draw, values[read[0]]) if values[read[0]].ndim else (None, "")
        else:
            name, numbers = random_draw.choice(list(BINARY)), ""
            f, read = BINARY[name], [*read, random_draw.randrange(len(values))]
        try:
            value = f(*(values[i] for i in read))
        except Exception:  # eager refuses it
            continue
        if value.ndim == 0 or value.ndim > 4 or value.numel() > 4096 or value.dtype not in (*DTYPES, torch.float32):
            continue
        made.steps.append((f, read))
        made.words.append(f"v{len(values)} = {name}{numbers or ''}({', '.join(f'v{i}' for i in read)})")
        values.append(value)
        if len(made.steps) == steps:
            break
    return made, inputs
