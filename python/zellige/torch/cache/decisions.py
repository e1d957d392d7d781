"""Keeps on disk what the backend decided on a graph, so that the next process need not decide again.

    decisions = Decisions(graph_module, inputs, options)
    found = decisions.found(report)       a Found, or None: then the graph is compiled, and
    decisions.keep(report, ...)           stores the decision

What is kept is the function that was made of the graph: its Python source with the calls of torch's kernels and of
programs, the graph of each program, and how constants are computed. So neither torch's AOT nor a pass of this package runs
again, nothing is planned (the library keeps the programs themselves), and nothing is measured. AOT traces the graph again
only if its wrappers are needed, or if an operator of another library may have changed; its graph has to be the same. The entry's key is the
graph as dynamo traced it (cache/graph_key.py). An entry that is damaged or cannot be read counts as missing.

The folder, its size and its protection are those of the library's cache; `zellige cache` lists and clears it. Like a
compiled kernel, the function is code that runs with the user's rights, so a folder that others may write is not used.
"""

import json
import time
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ... import _native
from ..._native import Error
from ..execute import cudagraphs, kept, source
from ..execute.direct import PART
from ..execute.open_part import OpenPart
from ..execute.part import Part
from ..execute.programs import Programs
from ..execute.source import Unknown
from ..rewrites import constants
from . import graph_key

# what is reported of a graph that was compiled, besides its programs
_REPORTED = ("operators", "taken", "kept", "left", "where", "rejected", "attention", "uncaptured", "sizes", "specialised", "branches")


@dataclass
class Found:
    """A decision that was found on disk."""

    function: object  # the graph's function; None: the graph runs as torch traced it
    alone: bool  # dynamo may call the function; otherwise AOT's wrappers around it are needed
    decomposed: bool  # the graph was decomposed before; otherwise its operators are those that torch traced
    inputs: int  # number of the function's inputs
    report: dict  # fields of the report
    parts: list  # the programs, as in the report
    traced: str = ""  # the graph as AOT traced it, where AOT traces it again (graph_key.mark)
    same: bool = False  # AOT has traced an equal graph in this process
    dynamic: list = ()  # the results with open sizes (wrappers.dynamic_in)
    seconds: float = 0.0  # in which the programs were loaded


class Decisions:
    """The decision on one graph: found on disk, or kept there."""

    def __init__(self, graph_module, inputs, options):
        """Describes a graph. `options`: those of the backend."""
        self.why, self._key = "the option cache is False", None  # why: the reason why nothing is found or kept
        self._options = options
        if options.cache:
            try:
                self._key, self._sure = graph_key.of(graph_module, inputs, take=options.take, cudagraphs=options.cudagraphs,
                                                      align_weights=options.align_weights)  # fmt: skip
                self.why = ""
            except Unknown as why:
                self.why = f"it has {why}"

    def found(self, report):
        """Returns the decision on the graph; None if there is none, or if its programs cannot be made. `report`:
        receives the captures of the function."""
        try:
            text = _native.kept(self._key) if self._key else None
            return None if text is None else _made(json.loads(text), report)
        except Exception:  # an entry that cannot be read is none
            return None

    def keep(self, report, alone, decomposed, function=None, module=None, dynamic=()) -> None:
        """Stores a decision. `report`: the report on the graph. The other parameters are those of Found; `module`: the
        module of which `function` was made."""
        if report.faults or report.rejected:
            self.why = self.why or "a fault is reported in each process"
        elif report.specialised:
            self.why = self.why or "its sizes are specialised"
        elif report.exhausted:
            self.why = self.why or f"the machine had no memory, files or threads left for {report.exhausted[0]}"
        elif report.ranks:
            self.why = self.why or "ranks decide on it together"
        elif self._options.ended:
            self.why = self.why or "the planning time ended before everything was planned"
        if not self.why:
            try:
                _native.keep(self._key, json.dumps(_written(report, alone and self._sure, decomposed, function, module) | {"dynamic": list(dynamic)}))
            except (Unknown, Error) as why:
                self.why = f"it has {why}"
        report.decisions = f"not kept: {self.why}" if self.why else "kept"


def _written(report, alone, decomposed, function, module) -> dict:
    """Returns a decision as strings, numbers, lists and dicts."""
    entry = {"alone": alone, "decomposed": decomposed, "report": {name: getattr(report, name) for name in _REPORTED}}
    if function is None:
        return entry
    parts = {}  # by the function that calls the part
    for n in module.graph.nodes:
        if PART in n.meta and n.target is n.meta[PART].call:
            parts.setdefault(id(n.target), n.meta[PART])
    number = {at: i for i, at in enumerate(parts)}
    programs = {id(p.program): i for i, p in enumerate(parts.values())}
    computed, owner = module.meta.get(constants.MADE, (None, None))
    replayed = isinstance(function, cudagraphs.Replayed)
    return entry | {
        "traced": module.meta[graph_key.TRACED],
        "function": source.written(module.graph, lambda x: number.get(id(x))),
        "inputs": len(module.graph.find_nodes(op="placeholder")),
        "parts": [p.written() for p in parts.values()],
        "programs": [programs[id(p)] for p in report.parts],
        "constants": None if computed is None else source.written(computed, lambda x: None),
        "literals": {} if computed is None else {n.target: source.tensor_written(getattr(owner, n.target)) for n in computed.find_nodes(op="get_attr")},
        "replayed": function.written() if replayed else None,
    }


def _made(entry, report) -> Found:
    """Makes the function of a decision that was read, with its programs."""
    found = Found(None, entry["alone"], entry["decomposed"], entry.get("inputs", 0), entry["report"], [], dynamic=entry["dynamic"])
    if "function" not in entry:
        return found
    found.traced = entry["traced"]
    parts, begun_at = [(OpenPart if "names" in p else Part).again(p) for p in entry["parts"]], time.monotonic()
    for device in {p.device for p in parts}:
        with Programs(device) as programs:
            goes_on = lambda *_: not programs.ended  # noqa: B023, E731
            begun = [programs.begin(lambda p=p: p.plan(goes_on, keep=True), lambda program: True) for p in parts if p.device == device]  # noqa: B023
            for future in begun:
                future.result()
    found.seconds, own = time.monotonic() - begun_at, {}
    if entry["constants"] is not None:
        literals = {name: source.tensor_made(t) for name, t in entry["literals"].items()}
        with _disable_current_modes(), torch.no_grad(), torch._C._DisableAutocast():
            own = constants.named(source.made(entry["constants"], (), literals)())
    if set(entry["function"]["own"]) - own.keys():
        raise Unknown("a constant that is not computed")
    found.function = kept.keeping(source.made(entry["function"], [p.call for p in parts], own), own.values())
    if entry["replayed"] is not None:
        found.function = cudagraphs.Replayed.again(found.function, entry["replayed"], report)
    found.parts = [parts[i].program for i in entry["programs"]]
    return found


def told(report, found, start) -> None:
    """Writes to the report on a graph what was found. `start`: time.monotonic() when the backend began."""
    for name in _REPORTED:
        setattr(report, name, found.report[name])
    report.parts, report.decisions = found.parts, "from the cache"
    report.seconds = {"cache": time.monotonic() - start - found.seconds, "programs": found.seconds}
