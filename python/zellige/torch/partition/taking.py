"""Decides which parts of a torch graph (sets of operators that Zellige supports) become programs. A program is planned
for each part; if torch's own kernels cost less, torch runs the part's operators. On a GPU the program and torch's
kernels are both measured. If torch's matmuls or attention, with programs for the operators between them, cost less than
the program, torch runs these (partition/mixtures.py). Equal parts are planned, compiled and measured once."""

import operator
import sys
import time
from dataclasses import dataclass

import torch
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from ..._native import Error, Exhausted, Fault
from .. import words
from ..execute import direct
from ..execute.open_part import part_of
from ..execute.programs import Programs
from ..import_ import open_graph
from ..import_.kinds import properties
from ..import_.schema import Left
from ..import_.views import VIEWS
from ..measure import attention_kernels, clock, estimates
from ..rewrites.expanded import restored
from ..rewrites.positions import as_inputs
from . import convex, mixtures

UPDATE = convex.UPDATE


class OfOperand(Left):
    """Raised if an operator is left because its operand is."""


def _hopeless(part, torchs: estimates.Cost) -> bool:
    """Returns true if the program of a part is expected to be so slow, compared with the cost `torchs` of torch's kernels, that
    compiling and measuring it is not worthwhile."""
    return not estimates.Cost(part.expected_us).worth_measuring(torchs)


@dataclass
class Planned:
    """A part of the graph that has a program, or will have one."""

    node: object  # the call of a submodule that has the part's operators
    module: object
    part: object = None  # a Part, or an OpenPart
    # by index of a result, the copy_ that the part replaces by updating the argument in place
    changes: dict = None
    like: "Planned" = None  # the first equal part, whose program this part shares
    future: object = None  # future of its program; None if planning was not started in time
    again: object = None  # a function that traces the part without in-place updates
    why: Error = None  # why the part has no program
    weights: set = None  # names of the module's placeholders that are constants
    # costs of the part as torch's kernels and as a program, by which it was taken
    torchs_cost: estimates.Cost = None
    own_cost: estimates.Cost = None

    def torchs(self) -> estimates.Cost:
        """Returns the estimated cost of torch's kernels for the part."""
        return estimates.of_torch([*self.module.graph.nodes, *self.changes.values()])

    def own(self) -> estimates.Cost:
        """Returns the estimated cost of the part's program, with those of the operands that it reads as copies."""
        values = self.values()
        copies = (estimates.of_copy(values[i]) for i in self.part.copied)
        return sum(copies, estimates.of_part(self.part, len(self.part.inputs) + len(self.part.program.outputs)))

    def values(self) -> list:
        """Returns the declared tensors of the part's inputs."""
        return [n.meta["val"] for n in self.module.graph.nodes if n.op == "placeholder"]


class Taking:
    """Decides on the parts of one graph, and replaces those that are taken by programs."""
    def __init__(self, graph_module, constants, report, options, device, cheaper, saved=estimates.Cost(), captured=False):
        """Prepares the decision on the parts of a graph. `constants`: names of read-only placeholders. `cheaper`:
        take only parts that cost less than torch's kernels. `saved`: the cost that previous passes have saved.
        `captured`: calls are replayed from a CUDA graph, so that the host's cost does not depend on the operators."""
        self.device, self.captured = device, captured
        self.module, self.constants, self.report, self.options, self.cheaper = graph_module, constants, report, options, cheaper
        self.progress = _Progress(report.operators)
        self.done = 0  # number of operators in planned parts
        self.saved, self.spent = saved, estimates.Cost()  # by the parts that were taken, and for them
        # cost of the graph with the parts that were taken; settled: it includes all parts of this Taking as programs
        self.graph, self.settled = estimates.Cost(), False
        self.prefix, self.cuts = "fused_", 0
        self.compiles = True  # programs are compiled as soon as they are planned
        self.divides, self.refused = False, []  # parts of what was refused, if refused parts are divided
        # made: parts by structure; measured: GPU microseconds of (torch's kernels, the program) by part
        self.made, self.measured = {}, {}

    def take(self, parts) -> None:
        """Decides which parts become programs. Where a part costs more as a program than torch's kernels, the part
        without its matmuls and attention is considered, too, because it may cost less. (partition/mixtures.py considers this
        for the other parts.)"""
        torchs = self.graph = estimates.of_torch(self.module.graph.nodes)
        self.divides = True
        lost = self.round(parts)
        while self.refused and not self.out_of_time():
            parts, self.refused = self.refused, []
            lost += self.round(parts)
        light = {n for n in lost if not estimates.heavy(n)}
        if 0 < len(light) < len(lost):
            self.round(convex.parts(self.module.graph, light.__contains__))
        self._decide_on_graph(torchs)
        self.progress.clear()

    def inside(self, p, module):
        """Returns a Taking for `module`, a copy of the module of the part `p`. It shares what was planned and measured."""
        made = Taking(module, p.weights, type(self.report)(), self.options, self.device, True, captured=self.captured)
        made.progress, made.made, made.measured = self.progress, self.made, self.measured
        made.graph, made.settled = self.graph if self.settled else self.graph - p.torchs_cost + p.own_cost, True
        made.prefix = f"{p.node.target}_inner_"
        return made

    def _decide_on_graph(self, torchs) -> None:
        """Decides whether the graph as a whole runs as compiled. If the savings of all parts do not outweigh the
        overhead of a compiled graph on the host, sets report.kept to false and drops the programs. `torchs`: the cost
        of the graph as torch's kernels."""
        gains = estimates.Cost().better(self.saved.of_gpu()) if self.captured else self.saved.worth(estimates.AROUND, torchs)
        self.report.kept = gains or (bool(self.report.parts) and not self.cheaper)
        if self.report.parts and not self.report.kept:
            costs = "" if self.captured else f", and costs the host {estimates.AROUND.host:.0f} us more"
            self.report.left["the graph"] = f"it saves {self.saved}{costs}"
            self.report.parts.clear()
            self.report.taken = 0

    def round(self, parts, may_pay=None):
        """Plans each part, and replaces the part by its program if that costs less. Returns the operators of the other
        parts, which torch runs. `may_pay(planned)` returns whether to go on after planning, before anything is compiled;
        if it returns false, round returns None. None: programs are compiled while others are planned."""
        parts = [part for part in parts if not self.cheaper or self._may_win(part)]
        prefix = self.prefix if self.cuts == 0 else f"{self.prefix}{self.cuts}_"
        self.cuts += 1
        fuse_by_partitions(self.module, [dict.fromkeys(part) for part in parts], prefix=prefix)
        nodes = [n for n in self.module.graph.nodes if n.op == "call_module" and n.target.startswith(prefix)]
        self.progress.parts = len(nodes)
        self.report.where |= {n.target: words.of_part(self.module.get_submodule(n.target).graph) for n in nodes}
        self.compiles = may_pay is None
        lost = []
        with Programs(self.device) as programs:
            begun = [self._begin(at, node, programs) for at, node in enumerate(nodes)]
            planned = [p for p in begun if self._planned(p, programs)]
            for p in begun if self.divides else ():
                if p.why is not None and not isinstance(p.why, (Fault, Exhausted)):
                    self.refused += self._divided(p)
            if may_pay is not None and not may_pay(planned):
                return None
            for p in planned if may_pay is not None else ():
                if not _hopeless(p.part, p.torchs()):
                    programs.compile(p.part.program)
            for done in programs.compiled():
                self.progress.show(done, self.done, ", compiled")
        for p in planned:
            why = self._why_not(p) if self.cheaper else None
            if why:
                self.report.left[p.node.target] = why
                lost += direct.inline(self.module, p.node)
                continue
            mixed = mixtures.cheaper(self, p) if self.cheaper else None
            if self.cheaper:
                self._spend(p.torchs_cost, mixed.cost if mixed else p.own_cost)
            self._mix(p, mixed) if mixed else self._accept(p)
        return lost

    def _divided(self, p) -> list:
        """Inlines a part that was refused, and returns smaller parts of its operators: those before and those after the operator
        that the error names, else two halves. So what one operator needs is refused for that operator alone. If tracing has named it,
        which takes little time, the others may stay one part."""
        inside = [n for n in (p.like or p).module.graph.nodes if n.op == "call_function"]
        nodes, node = direct.inline(self.module, p.node), getattr(p.why, "node", None)
        if node not in inside and len(convex.kernels(nodes)) < 2:
            return []
        if node in inside and (p.like or p).part is None:
            left = {*nodes} - {nodes[inside.index(node)]}
            return [part for part in convex.parts(self.module.graph, left.__contains__) if convex.kernels(part)]
        at, after = (inside.index(node), inside.index(node) + 1) if node in inside else (len(nodes) // 2,) * 2
        first, second = nodes[:at], nodes[after:]
        results = [n for n in second if n.target is operator.getitem and n.args[0] not in second]  # of an operator with several
        first += [n for n in results if n.args[0] in first]
        return [part for part in (first, [n for n in second if n not in results]) if convex.kernels(part)]

    def _may_win(self, part) -> bool:
        """Returns false for a part that is a single operator and cheap, such as an elementwise one, because a program
        cannot be faster than torch's kernel. The reason is then in the report."""
        kernels = convex.kernels(part)
        if len(kernels) > 1 or estimates.heavy(kernels[0]) or kernels[0].target in estimates.KINDS or convex.moves(kernels[0]):
            return True
        self.report.left.setdefault(str(kernels[0].target), words.sentence(kernels[0], "stays by itself, and torch's kernel costs no more"))
        return False

    def out_of_time(self) -> bool:
        return self.options.seconds is not None and time.monotonic() - self.options.start > self.options.seconds

    def _begin(self, at, node, programs) -> Planned:
        """Traces the part (set of operators) that `node` calls, and starts planning its program in a thread of
        `programs`. `at`: the part's number, for the progress line. Returns the record of the part. Starts nothing if an
        equal part has been begun before, or if the planning time is over."""
        module = self.module.get_submodule(node.target)
        inside = [n for n in module.graph.nodes if n.op == "placeholder"]
        weights = {i.name for i, outer in zip(inside, node.args) if outer.name in self.constants}
        changes = _changes(node)
        updates = {i: inside[node.args.index(c.args[0])] for i, c in changes.items()}
        own_values = any(n.op == "get_attr" for n in module.graph.nodes)
        key = node if own_values else _structure(module, weights, updates)
        p = Planned(node, module, changes=changes, like=self.made.get(key), weights=weights)
        self.progress.show(at + 1, self.done)
        if p.like is not None or self.out_of_time():
            return p
        p.again = lambda: part_of(node.target, module, weights, {})
        try:
            p.part = part_of(node.target, module, weights, updates)
        except Error as why:
            p.why = why
        self.made[key] = p
        self._plan(p, at, programs)
        return p

    def _plan(self, p, at, programs) -> None:
        if p.part is None:
            return
        operators, torchs = _operators(p.module), p.torchs()

        def watch(phase, done, of):
            self.progress.show(at + 1, self.done, f", {phase}: {done} of {of}")
            return not programs.ended and not self.out_of_time()

        def plan():
            made = None if programs.ended or self.out_of_time() else p.part.plan(watch, self.options.cache)
            self.done += operators
            return made

        p.future = programs.begin(plan, lambda program: self.compiles and not (self.cheaper and _hopeless(p.part, torchs)))

    def _planned(self, p, programs) -> bool:
        """Waits until the part `p` has been planned, and returns true if it has a program. Otherwise writes the reason
        to the report and returns false. `programs`: the threads, if planning is repeated without in-place updates."""
        first = p.like or p
        if first is p:
            self._result(p)
            # the planner may refuse only the in-place updates
            if p.why and p.changes and not isinstance(p.why, Fault):
                p.changes, p.why = {}, None
                try:
                    p.part = p.again()
                    self._plan(p, 0, programs)
                except Error as why:
                    p.why = why
                self._result(p)
        else:
            p.part, p.why, p.changes = first.part, first.why, p.changes if first.changes else {}
        if p.why:
            self.report.leave(p.node.target, p.why)
            return False
        if p.part is None or p.part.program is None:
            self.report.left[p.node.target] = f"not begun within {self.options.seconds:g} seconds"
            return False
        if first is p:
            self.report.rejected += [f"{p.node.target} ({p.part.words}): {sentence}" for sentence in p.part.program.rejected]
        return True

    def _result(self, p) -> None:
        """Waits until a part has been planned, and stores the error if planning failed."""
        if p.future is not None:
            try:
                p.future.result()
            except Error as why:
                p.why = why

    def _why_not(self, p):
        """Returns None if a part is to become a program because that makes the graph faster. Otherwise returns the
        reason, with both costs."""
        torchs, own, how = p.torchs(), p.own(), "estimated"
        if self.device.type == "cuda" and not _hopeless(p.part, torchs):
            found = self._measure(p, torchs.host)
            if None not in found:
                torchs, own, how = estimates.Cost(found[0], torchs.host), estimates.Cost(found[1], own.host), "measured"
        if not self.settled:
            self.graph += torchs - p.torchs()  # self.graph has the estimate
        if self.captured:
            torchs, own = torchs.of_gpu(), own.of_gpu()
        p.torchs_cost, p.own_cost = torchs, own
        if not self.pays(torchs, own):
            return f"as a program {own}, as torch's kernels {torchs} ({how})"
        return None

    def pays(self, before, after, now=None) -> bool:
        """Returns true if a cost `after` in place of `before` makes the graph faster (measure/cost.py). `now`: the cost of the
        same operators that self.graph includes; None: `before`."""
        if self.settled:
            graph = self.graph + (after - before) if now else self.graph
        else:
            graph = self.graph - (now or before) + after
        return estimates.Cost.pays(before, after, graph)

    def _spend(self, before, after) -> None:
        """Counts that the graph costs `after` in place of `before`."""
        self.saved += before - after
        self.spent += after
        if not self.settled:
            self.graph += after - before

    def _measure(self, p, host):
        """Returns the measured GPU times of a part in microseconds: (time of torch's kernels, time of the program). A
        time that cannot be measured is None. `host` is not used."""
        if p.part not in self.measured:
            kernels = sum(n.op == "call_function" and n.target not in VIEWS for n in p.module.graph.nodes)
            launches = kernels, len(p.part.program.manifest["kernels"])
            now = tuple(map(int, p.part.markers))
            self.measured[p.part] = _times(p.part, p.module, p.values(), now, launches)
            for module, values, sizes in p.part.others() if now else ():
                p.part.measured.append((sizes, _times(p.part, module, values, sizes, launches)))
            if now:
                p.part.measured.append((now, self.measured[p.part]))
        return self.measured[p.part]

    def _accept(self, p) -> None:
        """Replaces the part by its program in the graph, and counts its operators in the report."""
        for copy in p.changes.values():
            copy.replace_all_uses_with(copy.args[0])  # the graph may return what a copy returns, the argument
            self.module.graph.erase_node(copy)
        direct.call(self.module, p.node, p.part)
        sentence = p.part.branches() if p.part.markers else ""
        self.report.branches |= {p.node.target: sentence} if sentence else {}
        self.report.parts.append(p.part.program)
        self.report.taken += _operators(p.module) + len(p.changes)

    def _mix(self, p, mixed) -> None:
        """Replaces the part by its operators, of which some are programs."""
        setattr(self.module, p.node.target, mixed.module)
        direct.inline(self.module, p.node)
        self.report.left[p.node.target] = f"as a program {p.own_cost}, with torch's {mixed.what} {mixed.cost}"
        self.report.left |= mixed.report.left
        self.report.where |= mixed.report.where
        self.report.branches |= mixed.report.branches
        self.report.parts += mixed.report.parts
        self.report.taken += mixed.report.taken


def _times(part, module, values, sizes, launches) -> tuple:
    """Returns the measured GPU times of a part in microseconds: (time of torch's kernels, time of the program). `module`: its operators,
    and `values`: its arguments, at `sizes`."""
    torchs, own = launches
    module, given = as_inputs(restored(module), values)
    call = part.call if not sizes else lambda *given: part.call(*given, *sizes)
    return clock.gpu_time(attention_kernels.in_place_of_torchs(module), given, torchs), clock.gpu_time(call, values, own)


def _operators(module) -> int:
    return sum(n.op == "call_function" and convex.AGAIN not in n.meta for n in module.graph.nodes)


def _structure(module, weights, updates):
    """Returns a key of a part (a set of operators, as a module) that is equal for equal parts: it has everything on which
    the part's program depends. `weights`: names of the constant placeholders. `updates`: a dict from the index of a
    result to the placeholder that is updated in place with this result."""
    number = {n: i for i, n in enumerate(module.graph.nodes)}
    numbered = lambda args: torch.fx.map_arg(args, lambda n: f"%{number[n]}")  # noqa: E731

    nodes = tuple((n.op, n.name in weights, str(n.target) if n.op == "call_function" else "", open_graph.shown((numbered(n.args), numbered(n.kwargs))),
                   repr(properties(n.meta.get("val"))), str(list(map(str, open_graph.each_extents(n))))) for n in module.graph.nodes)  # fmt: skip
    return nodes, tuple((i, number[x]) for i, x in updates.items())


def _changes(part) -> dict:
    """Finds arguments that a part may update in place. `part`: the node that calls the part's submodule. Returns a dict
    from the index of a result to the node (aten.copy_) that copies this result to an argument, if only the part reads
    the argument."""
    changes, results = {}, {0: part}
    getters = [u for u in part.users if u.target is operator.getitem]
    if getters:
        results = {g.args[1]: g for g in getters}
    for i, result in results.items():
        copies = [u for u in result.users if u.target is UPDATE and u.args[1] is result]
        returned = any(u.op == "output" for u in result.users)
        if len(copies) == 1 and not returned and set(copies[0].args[0].users) == {part, copies[0]}:
            changes[i] = copies[0]
    return changes


class _Progress:
    """Shows the progress of compiling as a line on stderr, if that is a terminal, after two seconds."""

    def __init__(self, operators):
        self.start, self.parts, self.operators, self.shown = time.monotonic(), 0, operators, False

    def show(self, part, done, inside=""):
        """Writes the progress line. `part`: the number of the current part; `done`: how many operators have been
        planned; `inside`: the progress within the part, in words."""
        seconds = time.monotonic() - self.start
        if seconds < 2 or not sys.stderr.isatty():
            return
        self.shown = True
        line = f"zellige: part {part} of {self.parts}, {done} of {self.operators} operators{inside}, {seconds:.0f} s"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    def clear(self):
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
