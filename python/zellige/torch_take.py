"""Which parts of a graph become programs: each is planned, and where torch's own kernels cost less, its operators stay torch's."""

import concurrent.futures
import contextlib
import operator
import os
import sys
import time

import torch
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from . import aten, torch_around, torch_costs, torch_parts
from ._native import Error, Fault
from .torch_part import Part

UPDATE = torch.ops.aten.copy_.default


class Taking:
    def __init__(self, graph_module, constants, report, options, device, cheaper):
        """`constants`: names of placeholders that nobody writes. `cheaper`: only what costs less than torch's kernels."""
        self.device = device
        self.module, self.constants, self.report, self.options, self.cheaper = graph_module, constants, report, options, cheaper
        self.progress = _Progress(report.operators)
        self.done = 0  # operators
        self.saved = 0.0  # microseconds
        self.cuts = 0

    def take(self, parts) -> None:
        """Of those that cost more than torch's kernels, what is left without their products may cost less."""
        lost = self._round(parts)
        light = {n for n in lost if not torch_costs.heavy(n)}
        if 0 < len(light) < len(lost):
            self._round(torch_parts.parts(self.module.graph, light.__contains__))
        if self.cheaper and self.report.parts and self.saved < torch_costs.AROUND:
            self.report.left["the graph"] = f"its parts save {self.saved:.1f} us, and a graph with parts costs {torch_costs.AROUND:.0f} us more"
            self.report.parts.clear()
            self.report.taken = 0
        if self.device.type == "cuda":
            self._compile()
        self.progress.clear()

    def _compile(self) -> None:
        """All programs side by side; what fails here says so when it is called."""

        def one(program):
            torch.cuda.set_device(self.device)
            with contextlib.suppress(Error):
                program.compile()

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            for done, _ in enumerate(threads.map(one, self.report.parts)):
                self.progress.show(done + 1, self.done, ", compiled")

    def _round(self, parts) -> list:
        """The nodes of parts that cost more than torch's kernels, back in the graph."""
        parts = [part for part in parts if not self.cheaper or self._may_win(part)]
        prefix = "fused_" if self.cuts == 0 else f"fused_{self.cuts}_"
        self.cuts += 1
        fuse_by_partitions(self.module, [dict.fromkeys(part) for part in parts], prefix=prefix)
        nodes = [n for n in self.module.graph.nodes if n.op == "call_module" and n.target.startswith(prefix)]
        self.progress.parts = len(nodes)
        lost = []
        for at, node in enumerate(nodes):
            if self.options.seconds is not None and time.monotonic() - self.options.start > self.options.seconds:
                self.report.left[node.target] = f"not begun within {self.options.seconds:g} seconds"
                continue
            why = self._try(at, node)
            if why:
                self.report.left[node.target] = why
                lost += torch_around.inline(self.module, node)
        return lost

    def _may_win(self, part) -> bool:
        """One operator's kernel has nothing to save."""
        kernels = [n for n in part if n.target not in aten.VIEWS]
        if len(kernels) > 1 or any(map(torch_costs.heavy, kernels)):
            return True
        self.report.left.setdefault(str(kernels[0].target), "stays by itself, and torch's kernel costs no more")
        return False

    def _try(self, at, node):
        """Takes a part; or says what torch's kernels cost, where that is less."""
        module = self.module.get_submodule(node.target)
        inside = [n for n in module.graph.nodes if n.op == "placeholder"]
        operators = sum(n.op == "call_function" and torch_parts.AGAIN not in n.meta for n in module.graph.nodes)
        self.progress.show(at + 1, self.done)
        before = self.done
        self.done += operators

        def watch(phase, done, of):
            self.progress.show(at + 1, before, f", {phase}: {done} of {of}")
            return self.options.seconds is None or time.monotonic() - self.options.start <= self.options.seconds

        weights = {i.name for i, outer in zip(inside, node.args) if outer.name in self.constants}
        changes = _changes(node)
        updates = {i: inside[node.args.index(c.args[0])] for i, c in changes.items()}
        try:
            try:
                part = Part(node.target, module, weights, updates, watch)
            except Error as why:
                if not updates or isinstance(why, Fault):
                    raise
                part, changes = Part(node.target, module, weights, {}, watch), {}
        except Error as why:
            self.report.leave(node.target, why)
            return None
        self.report.rejected += [f"{node.target}: {sentence}" for sentence in part.program.rejected]
        if self.cheaper:
            torchs = torch_costs.of_torch([*module.graph.nodes, *changes.values()])
            own = torch_costs.of_part(part.program, len(part.inputs) + len(part.program.outputs))
            if own.total() >= torchs.total():
                return f"as a program {own}, as torch's kernels {torchs}"
            self.saved += torchs.total() - own.total()
        for copy in changes.values():
            self.module.graph.erase_node(copy)
        torch_around.call(self.module, node, part)
        self.report.parts.append(part.program)
        self.report.taken += operators + len(changes)
        return None


def _changes(part) -> dict:
    """By a result's number, the copy_ that puts it into an argument which nothing but the part reads: the part may change it where it
    lies."""
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
    """A line on a terminal's stderr, from two seconds on."""

    def __init__(self, operators):
        self.start, self.parts, self.operators, self.shown = time.monotonic(), 0, operators, False

    def show(self, part, done, inside=""):
        """`inside`: how far the part is."""
        seconds = time.monotonic() - self.start
        if seconds < 2 or not sys.stderr.isatty():
            return
        self.shown = True
        text = f"zellige: part {part} of {self.parts}, {done} of {self.operators} operators{inside}, {seconds:.0f} s"
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    def clear(self):
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
