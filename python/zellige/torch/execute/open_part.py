"""A part of a torch graph whose sizes are known at a call only: one program for all of their values.

    part = OpenPart(name, module, constants, updates)
    part.plan()                      one program; raises the error of the operator that needs a size as a constant
    part.call(*tensors, *values)     values: of the sizes, as the graph around the part computes them (`markers`)

The part is traced at several values of its sizes. What differs between the traces must be polynomials of sizes, of which the
library proves the graph for all values. For the sizes of a call there is a Part with their numbers, which is kept.
"""

import math
import re
from collections import OrderedDict

import torch

from ... import _native, bound, call_site, sizes
from ..._native import Error
from ...program import Program
from .. import words
from ..import_ import open_graph
from ..import_.fit import Fit
from ..import_.schema import Left
from ..import_.symbols import SizedFloat, SizedInt, sized, value_of
from ..measure import estimates
from .part import Part
from .source import made, written
from .traced import traced

KEPT = 256  # sizes of which a part keeps its function
WORTH = 0.95  # torch's kernels run near sizes at which they take less than this share of the program's time
FAR = 8  # a part is measured at sizes that are this many times greater than those of the first call, too
_SAME = ("read", "order", "which", "single", "updates", "copied")  # of all traces


_OPTIONS = {"on": "auto", "target": None, "tiling": None, "tune": 0, "constants": [], "workers": 0, "fuse": True}


def part_of(name, module, constants, updates):
    """Returns the part of the operators of `module`, with the arguments of Part: an OpenPart if its tensors have open sizes. Raises
    Left or Error if an operator is not supported."""
    return (OpenPart if open_graph.generators_of(module.graph)[1] else Part)(name, module, constants, updates)


class OpenPart:
    """A part for all values of its sizes. names: of the sizes, in the graph. markers: their values while torch compiles."""

    _WRITTEN = ("name", "words", "names", "order", "single", "which", "shapes", "strides", "form", "read", "measured")

    def __init__(self, name, module, constants, updates):
        self.name, self.words = name, words.of_part(module.graph)
        self.device = next((n.meta["val"].device for n in module.graph.nodes if n.op == "placeholder"), torch.device("cpu"))
        self._torchs_graph, self.measured = module, []  # measured: sizes with the times of torch's kernels and of the program
        self._begin()
        of, generators = open_graph.generators_of(module.graph)
        self.names = {g: str(g) if g.is_Symbol else f"n{i}" for i, g in enumerate(generators)}
        self.ranges = {g: of.range_of(g) for g in generators}
        hints = {g: value_of(g, of.hints) for g in generators}
        self.markers = tuple(SizedInt(value_of(g, of.points[0]), g) for g in generators)
        points = [{g: value_of(g, p) for g in generators} for p in of.points]
        _refuse_fractions(module.graph)
        _refuse_falling(module.graph)
        self._given = constants, updates, points, Fit.named(self.names, points, self.ranges, hints)
        self._trace()
        self.names = list(self.names.values())

    def _begin(self):
        self.program, self._kept, self.module = None, OrderedDict(), self._with_sizes
        self.call = self._call  # one object, by which the graph's function is written to disk

    def _trace(self, rows=()):
        """Traces the part at each of the points, and finds what differs of the sizes. `rows`: names of the inputs that it reads as
        row-major copies."""
        (constants, updates, points, fit), traces, back = self._given, [], {}
        for point in points:
            numbers, copies = open_graph.at_values(self._torchs_graph, point)
            try:
                traces.append(traced(self.name, numbers, constants, {i: copies[x] for i, x in updates.items()}, rows))
            except Error as why:
                back |= {copy: n for n, copy in copies.items()}
                why.node = back.get(getattr(why, "node", None))
                raise
            back |= {copy: n for n, copy in copies.items()}
        first = traces[0]
        for name in _SAME:
            if any(getattr(t, name) != getattr(first, name) for t in traces):
                raise Left("expected a part that lies in the same way at all sizes, found one whose results do not")
        self.read, self.order, self.which, self.single = first.read, first.order, first.which, first.single
        self.updates, self.copied, self.owners = first.updates, first.copied, first.owners
        self.nodes = {name: back[n] for name, n in first.nodes.items()}
        self._check([t.form for t in traces], fit)
        self.form = sizes.joined([t.form for t in traces], fit, self.name)
        self._check_known()
        self.shapes, self.strides = ([_texts(of, fit) for of in zip(*(getattr(t, what) for t in traces))] for what in ("shapes", "strides"))

    def _check(self, forms, fit):
        """Raises the error of the operator that differs between sizes in more than its extents, with its node."""
        if len({len(f["operators"]) for f in forms}) > 1:
            raise Left("expected the same operators for all sizes, found others at some")
        for operators in zip(*(f["operators"] for f in forms)):
            try:
                sizes.joined([{"name": self.name, "inputs": [], "operators": [o], "outputs": []} for o in operators], fit, self.name)
            except Error as why:
                raise self._at(operators[0], re.sub(rf"^compile {re.escape(self.name)}: operator \w+: ", "", str(why)), type(why)) from None

    def _check_known(self):
        """Raises Left if a size is not known from the shapes of a call's tensors."""
        known, left = set(), [set(sizes.names_of(e)) for i in self.form["inputs"] for e in i["shape"]]
        while any(len(of - known) == 1 for of in left):
            known |= next(of - known for of in left if len(of - known) == 1)
        for name in [d.name for d in self._given[-1].dims]:
            if name not in known:
                raise Left(f"expected a dimension of an input from which {name} is known, found none")

    def _at(self, operator, sentence, kind):
        """Returns an error of an operator of the graph, with its node."""
        output = operator["outputs"][0]
        node = self.nodes.get(output["name"] if isinstance(output, dict) else output)
        return kind(sentence) if node is None else words.at(node, kind(sentence))

    # ---- Programs ----

    def plan(self, watch=None, keep=False):
        """Plans the program for all sizes, and returns it. If kernels need one as a constant, raises the error, with the node of the
        operator that needs it. The parameters are those of Part.plan."""
        rows = set()
        while True:
            try:
                native = _native.Program(_native.Graph(self.form, self.name), watch=watch, keep=keep, **_OPTIONS)
            except Error as why:
                strided = re.search(r"the stride of dimension \d+ of (\S+) is ", str(why))
                if strided and strided[1] in set(self.order) - rows - {self.order[i] for i in self.updates.values()}:
                    rows.add(strided[1])  # a copy is all that it takes
                    self._trace(rows)
                    continue
                error = call_site.translated(why, self.form, self.owners, f"the part {self.words}")
                error.node = self._node_of(str(why))
                raise error from None
            self.program = Program(native, self.name)
            self.inputs = list(zip(self.read, self.program.inputs))
            return self.program

    def _node_of(self, message):
        """Returns the node that a message of the library names, by the number of its operator or a tensor; None if it names none."""
        operator = re.search(r"operator (\d+) \(", message)
        if operator:
            output = self.form["operators"][int(operator[1])]["outputs"][0]
            return self.nodes.get(output["name"] if isinstance(output, dict) else output)
        return next((self.nodes[word] for word in re.findall(r"\w+", message) if word in self.nodes), None)

    @property
    def expected_us(self) -> float:
        """The expected time at the sizes of `markers`: the program's is for the greatest, and falls as that of torch's kernels does."""
        if not hasattr(self, "ranges"):
            return self.program.price
        if not hasattr(self, "_expected"):
            greatest, _ = open_graph.at_values(self._torchs_graph, {g: high for g, (_, high) in self.ranges.items()})
            here, there = (estimates.of_torch(m.graph.nodes).gpu for m in (self._torchs_graph, greatest))
            self._expected = self.program.price * here / max(there, here, 1e-9)
        return self._expected

    # ---- Where torch's kernels are faster ----

    def others(self):
        """Yields (the module of torch's operators, the declared arguments, the sizes) at other sizes than those of the first call, at
        which the part is measured, too: the smallest, and greater ones."""
        generators = [m.expr for m in self.markers]
        smallest = {g: self.ranges[g][0] for g in generators}
        for values in (smallest, {g: min(int(m) * FAR, self.ranges[g][1]) for g, m in zip(generators, self.markers)}):
            module, _ = open_graph.at_values(self._torchs_graph, values)
            declared = [n.meta["val"] for n in module.graph.find_nodes(op="placeholder")]
            yield module, declared, tuple(values[g] for g in generators)

    def _is_slower(self, values) -> bool:
        """Returns true if torch's kernels took clearly less time than the program at the nearest sizes that were measured."""
        known = [(sum(abs(math.log(max(v, 1) / max(w, 1))) for v, w in zip(values, at)), i) for i, (at, times) in enumerate(self.measured) if None not in times]
        return bool(known) and _is_worse(self.measured[min(known)[1]][1])

    def branches(self) -> str:
        """Returns near which sizes torch's kernels run, in words; "" if near none."""
        slow = [(at, times) for at, times in self.measured if None not in times and _is_worse(times)]
        near = [f"{', '.join(f'{n} = {v}' for n, v in zip(self.names, at))} ({t:.1f} us, the program {own:.1f})" for at, (t, own) in slow]
        return f"torch's kernels run near {' and '.join(near)}" if near else ""

    # ---- Calls ----

    def _call(self, *args):
        """Runs the part on its tensors, followed by the values of its sizes."""
        count = len(self.order)
        found = self._kept.get(args[count:])
        return (self._first(args[count:]) if found is None else found)(*args[:count])

    def _first(self, values):
        """Makes the function for the sizes of a call, and keeps it."""
        now = tuple(map(int, values))
        slower = self._is_slower(now)
        call = self._kept[values] = (lambda *given: self._with_sizes(*given, *now)) if slower else self._bound(now).call
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return call

    def _bound(self, values) -> Part:
        """Returns the part for these values of its sizes, which calls the program for all."""
        named = dict(zip(self.names, values))
        part = Part.__new__(Part)
        part.name, part.words, part.device, part.program = self.name, self.words, self.device, None
        part.order, part.read, part.which, part.single = self.order, self.read, self.which, self.single
        part.updates, part.copied, part.owners = self.updates, set(self.copied), getattr(self, "owners", {})
        part.shapes, part.strides = ([tuple(sizes.evaluate(e, named) for e in of) for of in all_of] for all_of in (self.shapes, self.strides))
        part.form = sizes.at(self.form, named)
        part.module = lambda *args: self._with_sizes(*args, *values)
        part.runs(bound.at_sizes(self.program, named, part.form))
        return part

    def _with_sizes(self, *args):
        """Runs torch's operators of the part on its tensors and the values of its sizes. Rarely called."""
        if not hasattr(self, "_torchs"):
            self._torchs = _taking_sizes(self._torchs_graph, [m.expr for m in self.markers])
        return self._torchs(*args)

    # ---- On disk ----

    def written(self) -> dict:
        """Returns the part as strings, numbers, lists and dicts, of which `again` makes it. Raises Unknown if an operator of the part
        has no name."""
        module = _taking_sizes(self._torchs_graph, [m.expr for m in self.markers])
        text = {name: getattr(self, name) for name in self._WRITTEN}
        text |= {"updates": list(self.updates.items()), "copied": sorted(self.copied), "device": str(self.device)}
        return text | {"now": [int(m) for m in self.markers], "module": written(module.graph, lambda x: None)}

    @classmethod
    def again(cls, entry):
        """Returns the part of which `written` returned `entry`, without its program."""
        part = cls.__new__(cls)
        part._begin()
        for name in cls._WRITTEN:
            setattr(part, name, entry[name])
        part.updates, part.device, part.copied = dict(entry["updates"]), torch.device(entry["device"]), set(entry["copied"])
        part.markers, part.owners, part.nodes = tuple(entry["now"]), {}, {}
        part.measured = [(tuple(at), tuple(times)) for at, times in entry["measured"]]
        part._torchs_graph, part._torchs = torch.fx.GraphModule({}, torch.fx.Graph()), lambda *args: made(entry["module"], ())(*args)
        return part


def _is_worse(times) -> bool:
    torchs, own = times
    return torchs < own * WORTH


def _refuse_fractions(graph) -> None:
    """Raises the error of the first operator that reads a fraction that differs from size to size."""
    for n in graph.nodes:
        for x in sized((n.args, n.kwargs)):
            if isinstance(x, SizedFloat):
                raise words.at(n, Left(f"expected numbers that are the same for all sizes, found {x.expr}"))


def _refuse_falling(graph) -> None:
    """Raises the error of the first operator whose result has an extent that is less at greater sizes: plans are of the greatest ones."""
    for n in graph.nodes:
        for extents in open_graph.each_extents(n):
            for e in extents.shape:
                if not isinstance(e, int) and extents.sizes.falls(e):
                    raise words.at(n, Left(f"expected extents that are greatest at the greatest sizes, found {e}"))


def _texts(extents, fit) -> list:
    """Returns an entry of a graph in JSON form for each extent of a tensor, which has the `extents` at several sizes."""
    found = [of[0] if len(set(of)) == 1 else fit.text(of) for of in zip(*extents)]
    if None in found:
        raise Left(f"expected results whose extents are polynomials of sizes, found {extents[0]} and {extents[-1]} at two sizes")
    return found


def _taking_sizes(module, generators):
    """Returns a copy of a module of torch's operators that takes the values of its sizes after its tensors."""
    graph, copies = torch.fx.Graph(), {}
    result, given = graph.graph_copy(module.graph, copies), {}
    graph.output(result)
    inputs = graph.find_nodes(op="placeholder")
    with graph.inserting_before(inputs[-1].next if inputs else next(iter(graph.nodes))):
        for i, g in enumerate(generators):
            given[g] = graph.placeholder(f"size_{i}")
    made_of = torch.fx.GraphModule(module, graph)
    open_graph.insert(made_of, given)
    made_of.recompile()
    return made_of
