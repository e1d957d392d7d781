"""Sizes of a torch graph that are known at a call only: dynamo's symbols, and what other sizes are of them.

    bound(graph_module)                     gives each symbol without a greatest value one, by a guard
    sizes = Sizes.of(module.graph)          the sizes of AOT's graph that stay open; None if it has none
    twin = numbered(module, sizes, point)   the graph with numbers, as it is at one value of each size
    specialize(values)                      a guard on each symbol: each value gets a graph of its own

Passes work on graphs with numbers. `joined` (open_graph.py) then finds what the numbers of several twins are of the sizes.
Data-dependent sizes (nonzero, item) have no number; operators that read them are left to torch.
"""

import itertools
import math

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from .fit import Fit

NUMBERS = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
# keys in a node's meta
EXTENTS = "zellige: what a tensor's sizes are of the graph's"
OF_SIZES = "zellige: its numbers are others at other sizes"
OPEN = "zellige: the dimensions of a tensor that are others at other sizes"
# The greatest value of a symbol without one: of that with the greatest value at compile time, and of the others, so that tensors
# of all of them are not too large to number their elements.
LONGEST, LONG = 8192, 256
_FEW = 8  # up to which numbers such as those of a batch are next to a length by chance
POINTS = 3  # twins that are rewritten; a part is traced at one value more, which checks what these gave
_COMPUTED = ("FloorDiv", "CleanDiv", "PythonMod", "Mod", "Max", "Min", "ToFloat", "FloatPow", "FloatTrueDiv", "IntTrueDiv", "TruncToInt")
_TRIES, _SMALL, _FACTORS = 256, (5, 7, 11, 12), (5, 6, 11, 13, 14)  # how values that guards allow are looked for
_START = 11  # smallest value at which graphs are traced, where the range allows: smaller ones broadcast, and short sums differ


class Sized:
    """A number of a graph at one value of its sizes. `expr`: what it is of the sizes."""

    def __new__(cls, value, expr):
        made = super().__new__(cls, value)
        made.expr = expr
        return made

    def __getnewargs__(self):
        return type(self).__mro__[2](self), self.expr


class SizedInt(Sized, int):
    """An integer of a graph at one value of its sizes."""


class SizedFloat(Sized, float):
    """A fraction of a graph at one value of its sizes."""


def sized(arguments) -> list:
    """Returns the numbers of a node's arguments that differ from size to size."""
    found = []
    torch.fx.node.map_aggregate(arguments, lambda x: found.append(x) if isinstance(x, Sized) else None)
    return found


def number(x):
    """Returns the value of the symbolic number x, and adds a guard on it. Returns None for a data-dependent number."""
    return None if free_unbacked_symbols(x) else NUMBERS[type(x)](x)


def value_of(expr, values):
    """Returns the value of an expression, an integer or sympy's, for values of its symbols."""
    if isinstance(expr, (int, float)):
        return expr
    found = sympy.sympify(replaced(expr, values))
    return int(found) if found.is_integer else float(found)


def solved(expr):
    """Returns (symbol, factor, rest) of an extent factor * symbol + rest, with integers; None for another one."""
    if isinstance(expr, int) or len(expr.free_symbols) != 1:
        return None
    (symbol,) = expr.free_symbols
    expanded = sympy.expand(expr)
    factor, rest = expanded.coeff(symbol, 1), expanded.coeff(symbol, 0)
    linear = factor.is_Integer and rest.is_Integer and factor != 0 and sympy.expand(factor * symbol + rest - expanded) == 0
    return (symbol, int(factor), int(rest)) if linear else None


def replaced(expr, values):
    """Returns an expression with values in place of symbols and of other expressions, such as products of symbols."""
    products = [(e, x) for e, x in values.items() if e.is_Mul]
    return (expr.subs(products) if products else expr).xreplace({e: sympy.sympify(x) for e, x in values.items()})


def _symbolic(value) -> list:
    """Returns the symbolic numbers in a value: in a list, or in the sizes, strides and offset of a tensor."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        value = (*value.shape, *value.stride(), value.storage_offset())
    found = value if isinstance(value, (tuple, list)) else (value,)
    return [n for n in found if type(n) in NUMBERS]


def _inputs(graph_module):
    return [n.meta.get("example_value") for n in graph_module.graph.nodes if n.op == "placeholder"]


def marked(graph_module) -> bool:
    """Returns true if the caller has marked the size of an input as dynamic (mark_dynamic), so that it must not be
    specialised."""
    env = next((s.node.shape_env for v in _inputs(graph_module) for s in _symbolic(v)), None)
    contexts = [t.symbolic_context for t in (env.tracked_fakes or [])] if env is not None else []
    constraints = [c for x in contexts for c in (*(getattr(x, "constraint_sizes", None) or ()), getattr(x, "constraint", None))]
    return any(c is not None and not c.warn_only for c in constraints)


def changes_shared(graph_module) -> bool:
    """Returns true if a graph mutates tensors, and some of its inputs have symbolic sizes and share memory, which torch's analysis of
    overlaps does not take once a backend adds guards."""
    tensors = [v for v in _inputs(graph_module) if isinstance(v, torch.Tensor) and v.layout == torch.strided]
    memories = [v.untyped_storage()._cdata for v in tensors]
    shared = any(_symbolic(v) and memories.count(m) > 1 for v, m in zip(tensors, memories))
    return shared and any(_changes(n) for n in graph_module.graph.nodes)


def _changes(node) -> bool:
    """Returns true if a node's name shows that it mutates a tensor."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return node.op in ("call_method", "call_function") and (
        name.split(".")[0].endswith("_") or name.startswith(("i", "set")) or "out" in node.kwargs
    )


def specialize(values) -> None:
    """Adds a guard on each symbolic number in the values: each gets a graph of its own."""
    for value in values:
        for symbol in _symbolic(value):
            number(symbol)


def specialize_attributes(graph_module) -> None:
    """Adds a guard on each fraction that is an attribute, such as the epsilon of a norm. Under dynamic=True dynamo passes them as tensors
    of the host, which parts on a GPU do not read; with the guards it traces once more, with numbers. A fraction that is an argument may
    differ from call to call, and has no guard."""
    for n in graph_module.graph.nodes:
        if isinstance(n.meta.get("example_value"), torch.SymFloat) and n.target == "item" and n.args[0].op == "placeholder":
            source = getattr(n.args[0], "_dynamo_source", None)
            if isinstance(source, torch._dynamo.source.AttrSource):
                float(n.meta["example_value"])


# ---- The sizes that stay open ----


def _integers(values) -> dict:
    """Returns the symbols of integers in values, with the number that each has now."""
    found = {}
    for x in (s for v in values for s in _symbolic(v) if isinstance(s, torch.SymInt) and not free_unbacked_symbols(s)):
        env = x.node.shape_env
        for symbol in x.node.expr.free_symbols if isinstance(x.node.expr, sympy.Expr) else ():
            if symbol.is_integer and symbol not in found and symbol in env.var_to_range:
                found[symbol] = env, int(env.size_hint(symbol))
    return {s: found[s] for s in sorted(found, key=str)}


def bound(graph_module) -> None:
    """Gives each symbol of the inputs that has no greatest value one, by a guard of torch's: another graph is for longer tensors. A size
    near the longest may be as long, if no tensor has both: keys of a cache, whose mask has one more."""
    symbols = _integers(_inputs(graph_module))
    hints = {s: hint for s, (_, hint) in symbols.items()}
    tensors, long = [_integers([v]).keys() for v in _inputs(graph_module)], set()
    for s in sorted(hints, key=hints.get, reverse=True):
        if _is_as_long(hints[s], max(hints.values()), len(hints)) and not any(s in of and long & of for of in tensors):
            long.add(s)
    for symbol, (env, hint) in symbols.items():
        if env.var_to_range[symbol].upper >= int_oo - 1 or env.var_to_range[symbol].upper > 1 << 31:
            range_end = LONGEST if symbol in long else LONG // 4 if len(long) > 1 else LONG
            bool(env.create_symintnode(symbol, hint=hint) <= max(range_end, 1 << math.ceil(math.log2(4 * max(hint, 1)))))


def _is_as_long(hint, longest, count) -> bool:
    """Returns true if a size may become as long as the longest of `count` sizes, of which these are the values at compile time."""
    return hint == longest or longest - hint == 1 and hint > _FEW or count == 2 and 2 * hint >= longest


def _ends(of: ValueRanges) -> tuple:
    """Returns the least and the greatest value of a symbol, -2^31 and 2^31 at the utmost."""
    end = 1 << 31
    return int(of.lower) if of.lower > -end else -end, int(of.upper) if of.upper < end else end


class Sizes:
    """The open sizes of a graph. hints: by symbol, its value in the call that torch compiles for. ranges: its least and greatest
    value. points: values of all symbols at which the graph is looked at."""

    def __init__(self, env, hints):
        self.env, self.hints = env, hints
        self.ranges = {s: _ends(env.var_to_range[s]) for s in hints}
        self._bounds = {s: ValueRanges(*r) for s, r in self.ranges.items()}
        self.points = _points(env, hints, self.ranges, POINTS + 1)
        self._known, self._fit = {}, Fit(list(hints), self.points[:POINTS])

    @staticmethod
    def of(graph):
        """Returns the open sizes of AOT's graph; None if it has none. Raises Unfit if there are too few values to look at."""
        values = [n.meta.get("val") for n in graph.find_nodes(op="placeholder")]
        symbols = _integers(values)
        if not symbols:
            return None
        single = {x.node.expr for v in values for x in (v.shape if isinstance(v, torch.Tensor) else (v,)) if isinstance(x, torch.SymInt)}
        known = {of[0] for of in map(solved, single) if of}
        for s in symbols:
            if s not in known:
                raise Unfit(f"has no input that is {s}, or has a dimension from which it follows")
        return Sizes(next(iter(symbols.values()))[0], {s: hint for s, (_, hint) in symbols.items()})

    def has(self, expr) -> bool:
        """Returns true if an expression of sympy's is of open sizes alone."""
        return expr.free_symbols <= self.hints.keys()

    def range_of(self, expr) -> tuple:
        """Returns the least and the greatest value of an expression."""
        found = bound_sympy(expr, self._bounds)
        return int(found.lower), int(found.upper)

    def falls(self, expr) -> bool:
        """Returns true if an expression is not greatest where all sizes are, such as 64 - T. It is taken for greatest at an end of each range."""
        free = sorted(expr.free_symbols, key=str)
        values = [value_of(expr, dict(zip(free, ends))) for ends in itertools.product(*(self.ranges[s] for s in free))]
        return max(values) > values[-1]

    def know(self, expr) -> None:
        """Notes an expression of the graph, so that numbers of twins that have its values are known to be it. One such as max(0, T - 1)
        is known as T - 1, if this is its value at the ends of all ranges, too."""
        numbers = tuple(value_of(expr, p) for p in self.points[:POINTS])
        if numbers in self._known:
            return
        found = None if expr.is_polynomial(*expr.free_symbols) else self._fit.expression(numbers)
        if found is None or not found.free_symbols <= expr.free_symbols:
            self._known[numbers] = expr
            return
        free = sorted(expr.free_symbols, key=str)
        ends = itertools.product(*({*self.ranges[s], min(self.ranges[s][0] + 1, self.ranges[s][1])} for s in free))
        points = [dict(zip(free, map(sympy.Integer, v))) for v in ends]
        same = all(value_of(found, p) == value_of(expr, p) for p in points)
        self._known[numbers] = found if same else expr

    def expression(self, numbers):
        """Returns what integers of the twins are of the sizes: an integer, an expression, or None."""
        numbers = tuple(map(int, numbers))
        if numbers.count(numbers[0]) == len(numbers):
            return numbers[0]
        if numbers not in self._known:
            self._known[numbers] = self._fit.expression(numbers)
        return self._known[numbers]

    def shown(self) -> dict:
        """Returns by size where it is from and its range, in words."""
        return {str(s): f"{self._source(s) or 'a size'}, {low} to {high}" for s, (low, high) in self.ranges.items()}

    def _source(self, symbol) -> str:
        """Returns where a symbol is from in the user's program, such as "L['x'].size()[0]"; "" if torch does not say."""
        found = getattr(self.env, "var_to_sources", {}).get(symbol) or [None]
        name = getattr(found[0], "name", "")
        return name() if callable(name) else str(name)


class Unfit(Exception):
    """Raised where sizes cannot stay open. The message is the reason."""


def _points(env, hints, ranges, count) -> list:
    """Returns values of the symbols near their hints at which all guards hold: primes where possible, all different, so that no number
    of the graph is one of them by chance."""
    guards = [g.expr for g in env.guards if g.expr.free_symbols and g.expr.free_symbols <= hints.keys()]
    holds = lambda values, of: all(e.xreplace(values) == sympy.true for e in of)  # noqa: E731
    lists = {}
    for s, hint in hints.items():
        (low, high), own = ranges[s], [e for e in guards if e.free_symbols == {s}]
        start = min(max(hint, _START), high)
        near = [n for n in (*range(start, min(high, start + 997) + 1), *range(start - 1, max(low, start - 500, 0) - 1, -1))]
        # primes and their doubles, so that some are odd and some even
        prime = sorted(near, key=lambda n: n < _START or not sympy.isprime(n if n % 2 else n // 2))
        kinds = [[n for n in prime if n % 2 == odd and holds({s: sympy.Integer(n)}, own)] for odd in (1, 0)]
        lists[s] = [n for pair in itertools.zip_longest(*kinds) for n in pair if n is not None]
    found, used = [], set()
    for values in _assignments(lists, ranges) if all(lists.values()) else ():
        point = {s: sympy.Integer(n) for s, n in values.items()}
        if len(set(values.values())) == len(values) and used.isdisjoint(values.items()) and holds(point, guards):
            found.append(point)
            used |= set(values.items())
            if len(found) == count:
                break
    if len(found) < count:
        raise Unfit(f"has too few values for {', '.join(map(str, hints))}: expected {count} at which torch's guards hold, found {len(found)}")
    return found


def _assignments(lists, ranges):
    """Yields values of the symbols: first those of `lists`, one after the other, then such that one is a multiple of another, for guards that ask for
    that."""
    cycled = [{s: of[(at + 5 * i) % len(of)] for i, (s, of) in enumerate(lists.items())} for at in range(_TRIES)]
    yield from cycled
    for values in cycled[: _TRIES // 32]:
        for s, t in itertools.permutations(values, 2):
            for small in _SMALL:
                if ranges[t][0] <= small <= ranges[t][1]:
                    yield from (values | {t: small, s: n} for n in (small * k for k in _FACTORS) if ranges[s][0] <= n <= ranges[s][1])


# ---- The graph at one value of each size ----


def numbered(module, sizes=None, point=None):
    """Returns a copy of AOT's graph with numbers in place of symbols: of open sizes those at `point`, which say what they are of the sizes,
    and others as torch guards them. A symbolic fraction is replaced only where an operator that programs may have reads it."""
    from .operators import OPERATORS

    graph, copies = torch.fx.Graph(), {}
    graph.output(graph.graph_copy(module.graph, copies))
    twin = torch.fx.GraphModule(module, graph)
    twin.meta.update(module.meta)
    is_open = lambda x: sizes is not None and isinstance(x.node.expr, sympy.Basic) and x.node.expr.free_symbols and sizes.has(x.node.expr)  # noqa: E731
    for node in graph.nodes:
        value = node.meta.get("val")
        if type(value) not in NUMBERS:
            node.meta["val"] = _in_numbers(node, value, sizes, point)
            continue
        if is_open(value) and not isinstance(value, torch.SymBool):
            if not _is_computed(value.node.expr):
                raise Unfit(f"reads {value.node.expr}, which the graph around the programs does not compute")
            kind, expr = SizedInt if isinstance(value, torch.SymInt) else SizedFloat, value.node.expr
            if isinstance(value, torch.SymInt):
                sizes.know(expr)
            users, fixed = list(node.users), kind(value_of(expr, point), expr)
        else:
            users = [u for u in node.users if u.target in OPERATORS or isinstance(value, torch.SymInt)]
            fixed = number(value) if users else None
        for user in users if fixed is not None else ():
            user.args, user.kwargs = torch.fx.map_arg((user.args, user.kwargs), lambda n: fixed if n is node else n)  # noqa: B023
    graph.eliminate_dead_code()
    return twin


def _is_computed(expr) -> bool:
    """Returns true if an expression is made of functions that Python has for integers and fractions."""
    return all(e.is_Symbol or e.is_Number or e.is_Add or e.is_Mul or e.is_Pow or type(e).__name__ in _COMPUTED for e in sympy.preorder_traversal(expr))


def _in_numbers(node, value, sizes, point):
    """Returns a node's declared value with numbers for symbols."""
    if isinstance(value, (tuple, list)):
        return type(value)(_in_numbers(node, v, sizes, point) for v in value)
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided or not any(type(n) in NUMBERS for n in (*value.shape, *value.stride())):
        return value
    if free_unbacked_symbols(value):
        return value

    def one(n):
        if type(n) not in NUMBERS:
            return n
        if sizes is None or not sizes.has(n.node.expr):
            return number(n)
        sizes.know(n.node.expr)
        return value_of(n.node.expr, point)

    return declared(value, [one(n) for n in value.shape], [one(n) for n in value.stride()])


def declared(value, shape, strides):
    """Returns a fake tensor like `value` in another shape."""
    with value.fake_mode:
        return torch.empty_strided(shape, strides, dtype=value.dtype, device=value.device)
