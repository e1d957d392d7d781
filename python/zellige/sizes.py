"""Sizes that are known at launch: graphs and functions whose extents have names.

    T = zellige.Dim("T", min=1, max=8192)
    program = zellige.compile(layer, zellige.TensorSpec((T, 4096), "f16"), w)
    y = program(x, w)                        # x: any number of rows from 1 to 8192

A function is traced at several values of its sizes, with integers for them, so that it may compute with extents as it
likes. What differs between the traces must be extents that are sums of products of sizes; the library then proves the
graph of these expressions for all values.
"""

import ast
import functools
import itertools
import operator
from dataclasses import dataclass
from fractions import Fraction

from . import _native
from ._native import Error

_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_NODES = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
# The entries of a graph in JSON form that may depend on sizes (docs/reference/graph-json.md).
_SIZED = ("shape", "strides", "sizes", "normalized_shape", "start", "end", "tril", "triu", "length")
_DEGREE, _POWER = 3, 2  # of the products that a trace's integers may be, and of one size in them


class DimExpression:
    """An extent: a sum of products of sizes and integers. Dims and expressions have +, - and *, with integers, too."""

    def __init__(self, op, left, right):
        self.op, self.left, self.right = op, left, right

    @property
    def dims(self) -> list:
        """Returns the sizes that it depends on, each once. Raises Error if two of one name differ."""
        found = {}
        for part in (self.left, self.right):
            for dim in getattr(part, "dims", []):
                if found.setdefault(dim.name, dim) != dim:
                    raise Error(f"Dim {dim.name}: expected one size of that name, found {found[dim.name]!r} and {dim!r}")
        return list(found.values())

    def at(self, values) -> int:
        """Returns its value for values of the sizes, a dict."""
        left, right = (part.at(values) if isinstance(part, DimExpression) else part for part in (self.left, self.right))
        return _OPERATIONS[self.op](left, right)

    def __str__(self) -> str:
        left, right = (f"({part})" if type(part) is DimExpression else str(part) for part in (self.left, self.right))
        return f"{left} {self.op} {right}"

    def __repr__(self) -> str:
        return f"<zellige.Dim {self}>"

    def _with(self, op, other, reflected=False):
        if isinstance(other, bool) or not isinstance(other, (int, DimExpression)):
            return NotImplemented
        return DimExpression(op, other, self) if reflected else DimExpression(op, self, other)

    def __add__(self, other):
        return self._with("+", other)

    def __radd__(self, other):
        return self._with("+", other, True)

    def __sub__(self, other):
        return self._with("-", other)

    def __mul__(self, other):
        return self._with("*", other)

    def __rmul__(self, other):
        return self._with("*", other, True)


class Dim(DimExpression):
    """A size that is known at launch: a multiple of `multiple` from `min` to `max`. typical: values at which programs should be
    fast. Raises Error if it has no values."""

    def __init__(self, name, min=1, max=None, multiple=1, typical=()):
        for what, value in (("min", min), ("max", max), ("multiple", multiple), *(("typical", v) for v in typical)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise Error(f"Dim {name}: expected {what} to be an integer, found {value!r}")
        self.name, self.min, self.max, self.multiple, self.typical = name, min, max, multiple, tuple(typical)
        sizes = {name: self.form()} if isinstance(name, str) else None
        if sizes is None:
            raise Error(f"Dim: expected a name, found {name!r}")
        probe = {"op": "exp", "inputs": ["x"], "outputs": ["y"]}
        inputs = [{"name": "x", "dtype": "f32", "shape": [1]}]
        try:
            _native.Graph({"zellige_graph": 1, "name": "g", "sizes": sizes, "inputs": inputs, "operators": [probe], "outputs": ["y"]})
        except Error as why:
            raise Error(f"Dim {name}: {str(why).removeprefix('graph g').removeprefix(': ').removeprefix(', ')}") from None

    @property
    def dims(self) -> list:
        return [self]

    def at(self, values) -> int:
        return values[self.name]

    def form(self) -> dict:
        """Returns it as an entry of "sizes" in a graph's JSON form."""
        form = {"min": self.min, "max": self.max}
        return form | ({"multiple": self.multiple} if self.multiple != 1 else {}) | ({"typical": list(self.typical)} if self.typical else {})

    def __eq__(self, other):
        return isinstance(other, Dim) and self.name == other.name and self.form() == other.form()

    def __hash__(self):
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<zellige.Dim {self.name}: {self.min} to {self.max}{f' by {self.multiple}' if self.multiple > 1 else ''}>"

    @property
    def minimum(self) -> int:
        return -(-self.min // self.multiple) * self.multiple

    @property
    def greatest(self) -> int:
        return self.max // self.multiple * self.multiple

    def check(self, value, where):
        """Raises Error unless `value` is one of its values. `where`: where it was found, for the message."""
        if not self.min <= value <= self.max:
            raise Error(f"{where}: expected {self.name} from {self.min} to {self.max}, found {value}")
        if value % self.multiple:
            raise Error(f"{where}: expected {self.name} to be a multiple of {self.multiple}, found {value}")


def dims_of_form(form) -> list:
    """Returns the sizes that a graph in JSON form declares."""
    return [Dim(name, **size) for name, size in form.get("sizes", {}).items()]


@functools.lru_cache(maxsize=4096)
def _parsed(text):
    return ast.parse(text, mode="eval").body


def evaluate(text, values) -> int:
    """Returns the value of an entry of a graph in JSON form, an integer or an expression of names, integers, +, - and *."""

    def value(node):
        if isinstance(node, ast.BinOp):
            return _NODES[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        return values[node.id] if isinstance(node, ast.Name) else node.value

    return value(_parsed(text)) if isinstance(text, str) else text


def names_of(text) -> list:
    """Returns the names in an entry of a graph in JSON form."""
    return [] if isinstance(text, int) else sorted({n.id for n in ast.walk(_parsed(text)) if isinstance(n, ast.Name)})


def at(form, values) -> dict:
    """Returns a graph in JSON form with numbers for the names of its sizes."""

    def part(j, key=None):
        if isinstance(j, dict):
            return {k: part(v, k) for k, v in j.items() if k != "sizes" or not isinstance(v, dict)}
        if isinstance(j, list):
            return [part(entry, key) for entry in j]
        return evaluate(j, values) if key in _SIZED else j

    return part(form)


# ---- Several traces become one graph ----


def _exponents(dims) -> list:
    """Returns the products of sizes that are tried, as a power for each size."""
    count = [(d.greatest - d.minimum) // d.multiple + 1 for d in dims]
    powers = itertools.product(*(range(min(_POWER + 1, n)) for n in count))
    return [p for p in powers if sum(p) <= _DEGREE]


def _samples(dim) -> list:
    """Returns up to three values of a size: the greatest, and others that are not 1 if that is possible, since an extent of 1
    broadcasts."""
    count = (dim.greatest - dim.minimum) // dim.multiple + 1
    start = 1 if dim.minimum <= 1 and count > _POWER + 1 else 0
    return [dim.greatest, *(dim.minimum + (start + i) * dim.multiple for i in range(min(_POWER, count - 1 - start)))]


class Fit:
    """The polynomials that integers of several traces are. `points`: the values of the sizes at which to trace."""

    def __init__(self, dims):
        self.dims, self.exponents = dims, _exponents(dims)
        samples = [_samples(d) for d in dims]
        self.points = [{d.name: samples[i][p[i]] for i, d in enumerate(dims)} for p in self.exponents]
        rows = [[self._product(p, values) for p in self.exponents] for values in self.points]
        self._inverse = _inverse(rows)

    def _product(self, powers, values):
        product = 1
        for power, d in zip(powers, self.dims):
            product *= values[d.name] ** power
        return product

    def text(self, numbers):
        """Returns the expression that has these values at the points; None if it has factors that are no integers."""
        factors = [sum(a * n for a, n in zip(row, numbers)) for row in self._inverse]
        if any(f.denominator != 1 for f in factors):
            return None
        text = ""
        for powers, f in zip(self.exponents, factors):
            names = [d.name for power, d in zip(powers, self.dims) for _ in range(power)]
            number = abs(int(f))
            if number:
                term = " * ".join([str(number)] * (number != 1 or not names) + names)
                text += (f" {'-' if f < 0 else '+'} " if text else "-" if f < 0 else "") + term
        return text or "0"


def _inverse(rows) -> list:
    """Returns the inverse of a regular matrix, exactly."""
    n = len(rows)
    m = [[Fraction(x) for x in row] + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(rows)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if m[r][i])
        m[i], m[pivot] = m[pivot], m[i]
        m[i] = [x / m[i][i] for x in m[i]]
        for r in range(n):
            if r != i and m[r][i]:
                m[r] = [x - m[r][i] * y for x, y in zip(m[r], m[i])]
    return [row[n:] for row in m]


def joined(forms, fit, name) -> dict:
    """Returns the graph with sizes that has these forms at the points of `fit`. Raises Error if they differ in more than extents,
    or if these are no additions of products of sizes. `name`: the function's, for messages."""
    first, second = (_shown(values) for values in (fit.points[0], fit.points[-1]))

    def part(parts, key, where):
        one = parts[0]
        if all(p == one and type(p) is type(one) for p in parts):
            return one
        if all(isinstance(p, dict) and list(p) == list(one) for p in parts):
            here = f"operator {one['op']}" if "op" in one else f"input {one['name']}" if "name" in one else where
            return {k: part([p[k] for p in parts], k, here) for k in one}
        if all(isinstance(p, list) and len(p) == len(one) for p in parts):
            return [part([p[i] for p in parts], key, where) for i in range(len(one))]
        if key in _SIZED and all(isinstance(p, int) for p in parts):
            text = fit.text(parts)
            if text is None:
                raise Error(f"compile {name}: {where}: expected {key} to be a sum of products of sizes, found {one} at {first} and {parts[-1]} at {second}")
            return text
        raise Error(f"compile {name}: {where}: expected {key} to be the same for all sizes, found {_short(one)} at {first} and {_short(parts[-1])} at {second}")

    return {"zellige_graph": 1, "name": forms[0]["name"], "sizes": {d.name: d.form() for d in fit.dims}} | {
        k: part([f[k] for f in forms], k, "the graph") for k in ("inputs", "operators", "outputs")
    }


def _shown(values) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _short(j) -> str:
    return f"{len(j)} of them" if isinstance(j, (list, dict)) else str(j)


# ---- Programs ----


@dataclass(frozen=True)
class SizedInput:
    """An input of a program with sizes. shape: an integer or a text such as "4 * T" for each dimension."""

    name: str
    dtype: str
    shape: tuple


class SizedProgram:
    """A program whose extents have names. Called with arrays of any sizes in the ranges, it returns arrays.

    sizes: the Dims.  inputs: a SizedInput for each.  graph: the graph for all sizes, as a dict.
    whole: the Program for all sizes, which is called then; None if kernels need a size as a constant.  why_not: the reason.
    """

    def __init__(self, form, make, arguments=None, signature=None):
        """`make(form)`: returns the Program of a graph in JSON form without sizes. `arguments`, `signature`: as of Program."""
        self.graph, self.name, self.sizes = form, form.get("name", "graph"), tuple(dims_of_form(form))
        self.inputs = tuple(SizedInput(i["name"], i["dtype"], tuple(i["shape"])) for i in form["inputs"])
        self._make, self._arguments, self._signature = make, arguments, signature
        self._programs = {}
        self.why_not = ""

    @functools.cached_property
    def whole(self):
        try:
            return self._make(self.graph)
        except Error as why:
            self.why_not = str(why)
            return None

    def __repr__(self) -> str:
        return f"<zellige.SizedProgram {self.name} of {', '.join(map(repr, self.sizes))}>"

    def at(self, **values):
        """Returns the Program for one value of each size: program.at(T=300). Programs are kept. Raises Error for an unknown name, a
        missing one, or a value out of range."""
        names = [d.name for d in self.sizes]
        for name in values:
            if name not in names:
                raise Error(f"program {self.name}: expected values of {', '.join(names)}, found {name}")
        for d in self.sizes:
            if d.name not in values:
                raise Error(f"program {self.name}: expected a value of {d.name}, found none")
            d.check(values[d.name], f"program {self.name}")
        key = tuple(values[name] for name in names)
        if key not in self._programs:
            self._programs[key] = self._make(at(self.graph, values))
        return self._programs[key]

    @functools.cached_property
    def _read(self):
        return _native.Graph(self.graph, self.name)

    def values_of(self, shapes) -> dict:
        """Returns the values of the sizes at which inputs have these shapes; a shape is None where it is not known. Raises Error,
        with both values and where each is from, if they contradict each other, and if a value is out of range."""
        return dict(zip([d.name for d in self.sizes], self._read.find_sizes(shapes, len(self.sizes))))

    def __call__(self, *args, **kwargs):
        """Runs the program on arrays, at the sizes that their shapes have; arguments are those of Program."""
        from . import exchange
        from .program import Program

        if self.whole is not None:
            return self.whole(*args, **kwargs)
        inside = {k: kwargs.pop(k) for k in ("out", "stream") if k in kwargs}
        leaves = Program._bound(self, args, kwargs)
        order = Program._order(self)
        shapes = [None if at is None else tuple(exchange.spec_of(leaves[at]).shape) for at in order]
        return self.at(**self.values_of(shapes))(*args, **kwargs, **inside)
