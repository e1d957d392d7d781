"""A graph with numbers that are those of one value of its sizes, and that say what they are of the sizes.

    module = joined(twins, sizes)            one graph for all sizes, of the same graph at several
    numbers, copies = at_values(module, {s: 300})     the graph at other values, with ordinary numbers
    insert(module)                           nodes that compute the numbers from the graph's inputs

An integer in a node's arguments that depends on sizes is a SizedInt. What a tensor's shape and strides are of the sizes is in the
node's meta, as Extents.
"""

import operator
from dataclasses import dataclass

import sympy
import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

from .symbols import EXTENTS, OF_SIZES, OPEN, Sized, SizedFloat, SizedInt, Sizes, Unfit, declared, replaced, sized, solved, value_of


@dataclass(frozen=True)
class Extents:
    """What the shape and the strides of a tensor are of the sizes: integers, or expressions of sympy's."""

    sizes: Sizes
    shape: tuple
    strides: tuple

    def __str__(self) -> str:
        return f"{self.shape} {self.strides}"

    def expressions(self) -> list:
        return [e for e in (*self.shape, *self.strides) if not isinstance(e, int)]


def mark_numbers(twins) -> None:
    """Marks the nodes whose numbers differ between several modules of the same graph: `fold` leaves these where they are computed. Marks the
    dimensions whose extents do."""
    numbers = lambda n: repr(torch.fx.map_arg((n.args, n.kwargs), lambda m: None))  # noqa: E731
    for nodes in zip(*(t.graph.nodes for t in twins)):
        shapes = list(zip(*(n.meta["val"].shape if isinstance(n.meta.get("val"), torch.Tensor) else () for n in nodes)))
        found = {d for d, of in enumerate(shapes) if len({str(e) for e in of}) > 1}
        for n in nodes:
            n.meta |= ({OF_SIZES: True} if len(set(map(numbers, nodes))) > 1 else {}) | ({OPEN: found} if found else {})


def joined(twins, sizes):
    """Returns the first of several modules, which are of the same graph at `sizes.points`, with numbers that say what they are of the
    sizes. Raises Unfit if the graphs differ in more, because a rewrite that applies depends on sizes."""
    lists = [list(t.graph.nodes) for t in twins]
    shown = [", ".join(f"{s} = {n}" for s, n in p.items()) for p in sizes.points]
    if len({len(nodes) for nodes in lists}) > 1:
        raise Unfit(f"is rewritten in other ways at {shown[0]} than at {shown[-2]}")
    number = [{n: i for i, n in enumerate(nodes)} for nodes in lists]
    for nodes in zip(*lists):
        first = nodes[0]
        if any(n.op != first.op or n.target != first.target for n in nodes):
            raise Unfit(f"calls {first.target} at {shown[0]}, and other operators at others")
        if first.op == "get_attr" and not _equal([getattr(t, first.target) for t in twins]):
            raise Unfit(f"has the constant {first.target}, which depends on sizes")
        one = _Joined(sizes, number, f"an argument of {first.target}")
        args, kwargs = one.of([n.args for n in nodes]), one.of([n.kwargs for n in nodes])
        _set(first, args, kwargs)
        extents = _extents([n.meta.get("val") for n in nodes], sizes)
        if extents is not None:
            first.meta[EXTENTS] = extents
    return twins[0]


def _set(node, args, kwargs) -> None:
    if sized((args, kwargs)):
        node.args, node.kwargs = args, kwargs


def _equal(tensors) -> bool:
    first = tensors[0]
    with _disable_current_modes(), torch.no_grad():
        return all(t is first or t.shape == first.shape and t.dtype == first.dtype and torch.equal(t, first) for t in tensors[1:])


@dataclass
class _Joined:
    """Joins the arguments of the nodes of several graphs. number: the number of each node in its graph."""

    sizes: Sizes
    number: list
    what: str  # for messages

    def of(self, parts):
        one = parts[0]
        if isinstance(one, torch.fx.Node):
            same = all(isinstance(p, torch.fx.Node) and n[p] == self.number[0][one] for p, n in zip(parts, self.number))
            return one if same else self._differ(parts)
        if isinstance(one, dict) and all(isinstance(p, dict) and p.keys() == one.keys() for p in parts):
            return {k: self.of([p[k] for p in parts]) for k in one}
        if isinstance(one, (tuple, list)) and all(isinstance(p, (tuple, list)) and len(p) == len(one) for p in parts):
            made = [self.of(list(of)) for of in zip(*parts)]
            return tuple(made) if isinstance(one, tuple) else made
        if isinstance(one, slice) and all(isinstance(p, slice) for p in parts):
            return slice(*(self.of([getattr(p, end) for p in parts]) for end in ("start", "stop", "step")))
        if all(isinstance(p, int) and not isinstance(p, bool) for p in parts):
            found = self.sizes.expression(parts)
            if found is None:
                return self._differ(parts)
            return one if isinstance(found, int) else SizedInt(int(one), found)
        if all(isinstance(p, SizedFloat) and p.expr == one.expr for p in parts):
            return one
        same = all(type(p) is type(one) and (p == one or p != p and one != one) for p in parts)  # NaN, too
        return one if same else self._differ(parts)

    def _differ(self, parts):
        raise Unfit(f"has {self.what}, which is {parts[0]} and {parts[-1]} at two sizes: no polynomial of them")


def _extents(values, sizes):
    """Returns the Extents of a tensor, of which `values` are the declared ones of several graphs; for a list of tensors a list. None: it
    is none, or its extents are numbers."""
    one = values[0]
    if isinstance(one, (tuple, list)):
        found = tuple(_extents(list(of), sizes) for of in zip(*values))
        return found if any(f is not None for f in found) else None
    if not isinstance(one, torch.Tensor) or one.layout != torch.strided or any(not isinstance(n, int) for v in values for n in v.shape):
        return None
    made = []
    for of in (zip(*(v.shape for v in values)), zip(*(v.stride() for v in values))):
        found = tuple(sizes.expression(numbers) for numbers in of)
        if None in found:
            raise Unfit(f"has a tensor of shape {tuple(one.shape)} and {tuple(values[-1].shape)} at two sizes: no polynomials of them")
        made.append(found)
    extents = Extents(sizes, *made)
    return extents if extents.expressions() else None


# ---- A part of the graph ----


def each_extents(node) -> list:
    """Returns the Extents of a node's tensors."""
    found = node.meta.get(EXTENTS)
    return [f for f in (found if isinstance(found, tuple) else (found,)) if f is not None]


def open_inputs(graph) -> list:
    """Returns the indices of the inputs that are open sizes, or have some."""
    found = []
    for i, n in enumerate(graph.find_nodes(op="placeholder")):
        value = n.meta.get("val")
        symbolic = isinstance(value, torch.SymInt) or isinstance(value, torch.Tensor) and any(isinstance(s, torch.SymInt) for s in value.shape)
        found += [i] if symbolic or each_extents(n) else []
    return found


def generators_of(graph) -> tuple:
    """Returns (the Sizes of a graph, the expressions of which all its extents are polynomials, in order); (None, []) for a graph of
    numbers. They are symbols, and what is no polynomial of these, such as T // 2; and a product such as B * T, of which the inputs
    do not say what B and T are."""
    sizes, expressions = None, {}
    for node in graph.nodes:
        for extents in each_extents(node):
            sizes = extents.sizes
            expressions |= dict.fromkeys(extents.expressions())
        expressions |= dict.fromkeys(x.expr for x in sized((node.args, node.kwargs)) if isinstance(x, SizedInt))
    found = dict.fromkeys(a for e in expressions for a in _atoms(e))
    given = [e for n in graph.find_nodes(op="placeholder") for extents in each_extents(n) for e in extents.shape if not isinstance(e, int)]
    return sizes, sorted(_with_products(list(found), list(expressions), given), key=lambda e: (not e.is_Symbol, str(e)))


def _with_products(found, expressions, given) -> list:
    """Returns the generators `found` of expressions, of which some that are not known from the extents `given` of inputs are replaced by a
    product of them, if this is all that the expressions read."""
    known = _known_from(given)
    for product in dict.fromkeys(e.as_coeff_Mul()[1] for e in given):  # of 2 * B * T it is B * T
        atoms = _atoms(product)
        if not product.is_Mul or not all(e.is_Symbol for e in product.args) or known.issuperset(atoms):
            continue
        one = sympy.Dummy(integer=True, positive=True)
        without = [replaced(e, {product: one}) for e in expressions]
        if {a for e in without for a in _atoms(e)}.isdisjoint(atoms):
            found, expressions = [*(a for a in found if a not in atoms), product], without
    return found


def _known_from(given) -> set:
    """Returns the atoms that are known from the extents of inputs: those that are the only unknown one of an extent."""
    known, left = set(), [set(_atoms(e)) for e in given]
    while any(len(of - known) == 1 for of in left):
        known |= next(of - known for of in left if len(of - known) == 1)
    return known


def _atoms(e) -> list:
    if e.is_Symbol:
        return [e]
    if e.is_Integer:
        return []
    if isinstance(e, (sympy.Add, sympy.Mul)) and not any(a.is_Rational and not a.is_Integer for a in e.args):
        found = [a for of in e.args for a in _atoms(of)]
        return found if e.is_Mul or all(a.is_Symbol for a in found) else [e]  # T // 2 + 1 is one size
    if isinstance(e, sympy.Pow) and e.exp.is_Integer and e.exp > 0:
        return _atoms(e.base)
    return [e]


def shown(arguments) -> str:
    """Returns arguments as a string that is equal for equal ones: numbers by what they are of the sizes."""
    return repr(torch.fx.node.map_aggregate(arguments, lambda x: str(x.expr) if isinstance(x, Sized) else x))


def at_values(module, values) -> tuple:
    """Returns (a copy of a module whose numbers are those at `values`, by expression; the copies of its nodes)."""
    graph, copies = torch.fx.Graph(), {}
    graph.output(graph.graph_copy(module.graph, copies))
    made = torch.fx.GraphModule(module, graph)
    for node, copy in copies.items():
        if sized((node.args, node.kwargs)):
            one = lambda x: value_of(x.expr, values) if isinstance(x, Sized) else x  # noqa: E731
            copy.args, copy.kwargs = torch.fx.node.map_aggregate((copy.args, copy.kwargs), one)
        extents, value = copy.meta.pop(EXTENTS, None), copy.meta.get("val")
        if isinstance(extents, tuple):
            copy.meta["val"] = type(value)(_at(v, e, values) for v, e in zip(value, extents))
        elif extents is not None:
            copy.meta["val"] = _at(value, extents, values)
    return made, copies


def _at(value, extents, values):
    if extents is None:
        return value
    return declared(value, [value_of(e, values) for e in extents.shape], [value_of(e, values) for e in extents.strides])


# ---- The numbers at a call ----


def insert(module, given=None) -> None:
    """Replaces numbers that say what they are of sizes by nodes that compute them. `given`: by expression, the node that has its value;
    None: by symbol, what the graph's inputs have."""
    graph = module.graph
    known = dict(_given(graph) if given is None else given)
    dummies = {e: sympy.Dummy(integer=True) for e in known if not e.is_Symbol}
    inputs = graph.find_nodes(op="placeholder")

    def node_of(expr):
        if expr not in known:
            with graph.inserting_before(max([*known.values(), *inputs[-1:]]).next):
                known[expr] = _computed(graph, replaced(expr, dummies), {dummies.get(e, e): n for e, n in known.items()})
        return known[expr]

    for node in list(graph.nodes):
        if node.op in ("call_function", "output") and sized((node.args, node.kwargs)):
            one = lambda x: node_of(x.expr) if isinstance(x, Sized) else x  # noqa: E731
            node.args, node.kwargs = torch.fx.node.map_aggregate((node.args, node.kwargs), one)


def _given(graph) -> dict:
    """Returns for each symbol the input of the graph that is it, or a node with what it is by the extent of an input."""
    known, inputs = {}, graph.find_nodes(op="placeholder")
    for n in inputs:
        value = n.meta.get("val")
        if isinstance(value, torch.SymInt) and isinstance(value.node.expr, sympy.Symbol):
            known[value.node.expr] = n
    missing = {}
    for n in inputs:
        for extents in each_extents(n):
            for d, e in enumerate(extents.shape):
                of = solved(e)
                if of is not None and of[0] not in known and (of[0] not in missing or e.is_Symbol and missing[of[0]][2:] != (1, 0)):
                    missing[of[0]] = n, d, *of[1:]
    for symbol, (n, d, factor, rest) in missing.items():
        with graph.inserting_before(inputs[-1].next):
            extent = graph.call_function(torch.ops.aten.sym_size.int, (n, d))
            if rest != 0:
                extent = graph.call_function(operator.sub, (extent, rest))
            known[symbol] = extent if factor == 1 else graph.call_function(operator.floordiv, (extent, factor))
    return known


class _Python(PythonReferenceAnalysis):
    """The functions of expressions as Python's operators, also those that torch has for sympy's expressions only."""

    @staticmethod
    def int_truediv(a, b):
        return a / b

    truediv = int_truediv

    @staticmethod
    def trunc_to_int(x, dtype):
        return torch.sym_int(x)


def _computed(graph, expr, known):
    """Returns a node with the value of an expression, computed from the nodes `known` of its symbols."""
    tracer = torch.fx.proxy.GraphAppendingTracer(graph)
    if any(s not in known for s in expr.free_symbols):
        raise Unfit(f"reads {expr}, which no input has")
    return sympy_interp(_Python, {s: torch.fx.Proxy(known[s], tracer) for s in expr.free_symbols}, expr).node
