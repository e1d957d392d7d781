"""How rewrites of torch graphs are applied: the rows of a level (table.py) one after the other, again and again until none applies.

    work = Work(module)
    apply(rows, work)      true if none applies any more

A row's function gets the work and a node that calls one of its targets; it changes the graph and returns how often, or returns
false. A row with the target "output" gets the output, for what is decided for the graph as a whole.
"""

import collections
import enum
import warnings
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..applications import applied
from ..import_.symbols import OPEN
from ..measure.estimates import Cost
from .constants import Constants

ROUNDS = 16  # bound of how often the rows of a level are applied; two or three rounds are usual
OUTPUT = ("output",)


class Level(enum.Enum):
    """When rewrites are applied, in this order."""

    decomposition = "while AOT traces the graph"
    layout = "once, to the traced graph: layouts of convolutions and pools"
    spelling = "until none applies"
    expansion = "once, to operators that the spelling leaves: by others that programs have"
    result = "once, to the result of the other rewrites"
    meaning = "while a part becomes a graph of Zellige"
    call = "once, to the graph around the parts"


@dataclass(frozen=True)
class Rewrite:
    """A row of the table. A row without a function is counted where an operator gets its meaning."""

    level: Level
    name: str
    condition: str  # when it may be applied, in words
    targets: tuple = ()
    function: object = None
    open: bool = False  # an expansion that is also tried where extents are open


class Work:
    """A graph of ATen operators that is being rewritten, and what the rewrites share."""

    def __init__(self, module, captured=False, opened=None):
        """`captured`: calls will be replayed from CUDA graphs, so that only the GPU's time counts. `opened`: the sizes for which the graph
        has numbers, which stay open; None if it has none."""
        self.module, self.graph, self.captured, self.opened = module, module.graph, captured, opened
        self.saved = Cost()  # what measurements have saved
        self.before = Cost()  # of the graph, before its operators are spelled in other ways
        self.applied = collections.Counter()
        self.strides = ()  # of the graph's results, before rewrites change them
        self.attributes = []  # nodes of the constants that were computed
        self.bands = {}  # of masks, by their constant and shape
        self.limits = {}  # of integers, by their node
        self.ends = {}  # of positions, by expression: its number
        self.marked = set()  # the nodes of a graph with open sizes that say which of their numbers and extents these are
        self._constants, self._calls = None, {}

    @property
    def constants(self) -> Constants:
        """The constant nodes of the graph, with their values on the CPU."""
        self._constants = self._constants or Constants(self.graph)
        return self._constants

    def nodes(self, targets) -> list:
        return [n for n in self.graph.nodes if n.op in ("call_function", "output") and n.target in targets]

    def is_open(self, node, dim=None) -> bool:
        """Returns true if the extent of a tensor along `dim` may be another at other sizes; without a dimension, if one is."""
        if not self.opened or node.op == "call_function" and node not in self.marked:
            return bool(self.opened)
        found = node.meta.get(OPEN, ())
        return bool(found) if dim is None else dim % max(node.meta["val"].ndim, 1) in found

    def call(self, before, target, *args, value=None, **options):
        """Returns a new node that calls `target`, before the node `before`. `value`: what torch declares as its result; None: what
        it declares for the arguments."""
        with self.graph.inserting_before(before):
            made = self.graph.call_function(target, args, options)
        made.meta["val"] = target(*torch.fx.map_arg(args, lambda n: n.meta["val"]), **options) if value is None else value
        return made

    def once(self, before, target, *args, **options):
        """Returns a node as `call` does, or one before the node `before` that an equal call has made."""
        key = target, repr((args, {k: v for k, v in options.items() if k != "value"}))  # distinguishes 0.0 from -0.0
        found = self._calls.get(key)
        if found is None or found._erased or not found < before:
            self._calls[key] = self.call(before, target, *args, **options)
        return self._calls[key]

    def replace(self, node, target, *args, **options) -> bool:
        """Replaces a node by a call of `target` with the node's value."""
        node.replace_all_uses_with(self.call(node, target, *args, value=node.meta["val"], **options))
        return True


def apply(rows, work, rounds=ROUNDS) -> bool:
    """Applies rows to a graph until none applies, or `rounds` times. Returns true if none applies any more."""
    with _disable_current_modes(), torch.no_grad():  # torch's results are values here, not parts of the graph
        for _ in range(rounds):
            before = work.applied.total()
            for row in rows:
                count = sum(int(row.function(work, n)) for n in work.nodes(row.targets) if not n._erased and (row.level is not Level.expansion or _is_tried(row, work, n)))
                if count:
                    work.applied[row.name] += count
                    applied(row.name, count)
                    if row.level is not Level.call:  # the call of a part may be there for what it changes in place
                        work.graph.eliminate_dead_code()
            if work.applied.total() == before:
                return True
    return False


def _is_tried(row, work, node) -> bool:
    return not work.opened or row.open or not any(map(work.is_open, [node, *node.all_input_nodes]))


def settle(rows, work) -> None:
    """Applies rows to a graph until none applies. Warns if they undo each other, which leaves a graph that is right."""
    work.graph.eliminate_dead_code()
    if not apply(rows, work):
        names = ", ".join(sorted(work.applied))
        warnings.warn(f"zellige: rewrites of a torch graph undo each other; applied {ROUNDS} times: {names}", RuntimeWarning, stacklevel=2)
