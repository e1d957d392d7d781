"""The compilation of one graph that dynamo has traced, by AOT, the rewrites and the partition."""

import functools
import time

import torch
from torch._functorch.aot_autograd import aot_module_simplified

from . import words
from .cache import graph_key
from .cache.decisions import Decisions, told
from .execute import capturable, collectives, cudagraphs, direct, wrappers
from .import_ import custom, declared, open_graph, schema, symbols
from .import_.aot import KeptWhole
from .import_.decompositions import decompositions
from .measure import attention_kernels, clock, estimates
from .partition import convex, taking
from .partition.supported import Supported, device_of, is_nothing
from .rewrites import results, weights
from .rewrites.rule import Level, Work, apply, settle
from .rewrites.table import row, rows


MOST_EMULATED = 2.0  # seconds of a call that the emulator may take where nobody has asked for it


def rewritten(module, captured=False) -> tuple:
    """Applies the rewrites of the table to a traced graph, in place. `captured`: calls are to be replayed from CUDA
    graphs. Returns (names of the nodes of constants, the cost that is saved)."""
    return _with_results(_spelled(module, captured))


def _spelled(module, captured, opened=None) -> Work:
    """Applies the rewrites up to the level *expansion*, this excluded where the graph is `opened`: it has numbers for open sizes, which
    no rewrite may put into constants."""
    graph = module.graph
    schema.bind(graph)
    declared.correct(graph)
    work = Work(module, captured, opened)
    apply(rows(Level.layout), work, 1)
    work.before, work.strides = estimates.of_torch(graph.nodes), results.strides(graph)
    settle(rows(Level.spelling), work)
    if not opened:
        apply(rows(Level.expansion), work, 1)
    return work


def _with_results(work) -> tuple:
    """Applies the rewrites of the level *result*. Returns what `rewritten` does."""
    apply(rows(Level.result), work, 1)
    return {n.name for n in work.attributes}, work.saved + work.before - estimates.of_torch(work.graph.nodes)


def opened(module, sizes, captured):
    """Rewrites a traced graph with open sizes: at several values of these, which become one graph again. Returns (its module, names of
    the nodes of constants, the cost that is saved). Raises Unfit if they cannot stay open."""
    try:
        return _opened(module, sizes, captured, True)
    except symbols.Unfit:
        return _opened(module, sizes, captured, False)


def _opened(module, sizes, captured, expanded):
    twins = [symbols.numbered(module, sizes, point) for point in sizes.points[: symbols.POINTS]]
    works = [_spelled(twin, captured, opened=sizes) for twin in twins]
    open_graph.mark_numbers(twins)
    for work in works if expanded else ():
        work.marked = set(work.graph.nodes)
        apply([row("check of numbers in range"), *rows(Level.expansion)], work, 1)
    open_graph.mark_numbers(twins)
    found = [_with_results(work) for work in works]
    return open_graph.joined(twins, sizes), *found[0]


def partitioned(module, constants, report, options, saved, captured):
    """Returns the function of a rewritten graph, with parts replaced by programs. `constants`: names of placeholders that
    do not change, such as weights. `report`: receives which operators became parts of programs and which did not.
    `saved`: the cost that rewrites have saved. `captured`: calls will be replayed from a CUDA graph."""
    with clock.of_ranks(collectives.group_of(module.graph)) as report.ranks:
        return _partitioned(module, constants, report, options, saved, captured)


def _partitioned(module, constants, report, options, saved, captured):
    supported = Supported(report, device_of(module.graph))
    if options.align_weights:
        weights.in_lines(module.graph, constants)
    parts = convex.parts(module.graph, supported)
    report.operators = sum(n.op == "call_function" and convex.AGAIN not in n.meta and n.target not in custom.ONCE and not is_nothing(n) for n in module.graph.nodes)
    if why := _too_slow(module.graph, supported, options):
        report.left["the graph"], report.kept = why, False
        return direct.function_of(module)
    cheaper = options.take == "cheaper" or (options.take is None and supported.device.type == "cuda")
    for choice in attention_kernels.choose(module.graph, captured):
        saved += choice.saves()
        report.attention += [str(choice)] if str(choice) not in report.attention else []
    decision = taking.Taking(module, constants, report, options, supported.device, cheaper, saved, captured)
    begun = time.monotonic()
    decision.take(parts)
    collectives.join(module, report, options.collectives)
    options.ended = decision.out_of_time()
    report.seconds = {"tracing": begun - options.start, "programs": time.monotonic() - begun}
    for node in module.graph.find_nodes(op="call_function", target=taking.UPDATE):
        why = "expected a new value that one part computes in the argument's memory, found one that torch copies there"
        report.left[str(taking.UPDATE)] = words.sentence(node.args[1], why)
    return direct.function_of(module)


def _too_slow(graph, supported, options):
    """Returns why a graph on the CPU stays torch's, if nobody has asked for the emulator; None if its programs are emulated."""
    if supported.device.type == "cuda" or options.take is not None:
        return None
    seconds = estimates.emulated(n for n in graph.nodes if n.op == "call_function" and supported(n))
    if seconds <= MOST_EMULATED:
        return None
    return f"on the CPU its programs run on the emulator, which is expected to take {seconds:.0f} s per call; options={{'take': 'all'}} asks for that"


class Compilation:
    """The compilation of one graph. Each of the methods without an underscore returns a function of the graph's inputs; None if
    this way is not taken."""

    def __init__(self, graph_module, inputs, options, report):
        self.graph_module, self.inputs, self.options, self.report = graph_module, inputs, options, report
        self.decisions = Decisions(graph_module, inputs, options)
        self._own = len(list(graph_module.parameters())) + len(list(graph_module.buffers()))
        # indices of the inputs that do not change
        self._weights = set(range(self._own)) | {self._own + i for i, x in enumerate(inputs) if isinstance(x, torch.nn.Parameter)}
        self._compiled = None  # the latest function, with its graph and AOT's metadata

    def found(self):
        """Returns the function that an earlier process has decided on."""
        found = self.decisions.found(self.report)
        if found is None:
            return None
        if found.function is None or found.alone:
            told(self.report, found, self.options.start)
            return wrappers.forward(self.graph_module) if found.function is None else wrappers.alone(found.function, found.dynamic)
        begun = time.monotonic()
        made = self._traced(functools.partial(self._again, found), found.decomposed, keep=False)
        if not found.same:
            return None
        told(self.report, found, self.options.start + time.monotonic() - begun)
        self.report.seconds["tracing"] = time.monotonic() - begun
        return made

    def programs(self):
        """Returns a function that calls programs, if it saves time."""
        made = self._traced(self._rewrite, True)
        return made if self.report.kept else None

    def replayed(self):
        """Returns a function that runs torch's kernels only, and whose calls are replayed from CUDA graphs."""
        return self._traced(self._keep_operators, False) if self.options.cudagraphs and not self.report.uncaptured else None

    def as_traced(self):
        """Returns a function that runs torch's own operators, not decomposed."""
        self.decisions.keep(self.report, True, False)
        return wrappers.forward(self.graph_module)

    def _traced(self, compiler, decomposed, keep=True):
        """Traces the graph by AOT, and returns what dynamo calls: the function that `compiler` makes of the graph, or
        AOT's wrapper around it. `decomposed`: operators are decomposed. `keep`: the function may be kept on disk."""
        guards = wrappers.guards()
        with KeptWhole():
            table = decompositions() if decomposed else {}
            made = aot_module_simplified(
                self.graph_module, self.inputs, fw_compiler=compiler, decompositions=table, keep_inference_input_mutations=True
            )
        function, module, metadata = self._compiled
        alone = wrappers.is_alone(module, metadata, self.inputs)
        if keep and (self.report.kept or not decomposed):
            # guards of AOT's are made by AOT, in each process
            self.decisions.keep(self.report, alone and wrappers.guards() == guards, decomposed, function, module, wrappers.dynamic_in(metadata))
        return wrappers.alone(function, wrappers.dynamic_in(metadata)) if alone else made

    def _again(self, found, module, _):
        """Returns the function that was found, and notes whether AOT has traced the graph of which it was made."""
        graph_key.mark(module)
        found.same = module.meta[graph_key.TRACED] == found.traced
        return self._recorded(module, found.function)

    def _rewrite(self, module, _):
        """Returns the function of a graph of AOT's, with programs."""
        graph_key.mark(module)
        given = {n.name for i, n in enumerate(module.graph.find_nodes(op="placeholder")) if i in self._weights}
        try:
            sizes = symbols.Sizes.of(module.graph)
            module, constants, saved = self._specialised(module) if sizes is None else opened(module, sizes, self.options.cudagraphs)
            self.report.sizes = {} if sizes is None else sizes.shown()
        except symbols.Unfit as why:
            if symbols.marked(self.graph_module):
                self.report.left["the graph"] = f"{why}, and mark_dynamic forbids to specialise its sizes"
                return self._recorded(module, wrappers.forward(module))
            self.report.specialised = f"the graph {why}"
            symbols.specialize([n.meta.get("val") for n in module.graph.find_nodes(op="placeholder")])
            module, constants, saved = self._specialised(module)
        return self._captured(module, lambda captured: partitioned(module, constants | given, self.report, self.options, saved, captured))

    def _specialised(self, module):
        """Rewrites a traced graph with the numbers that its symbols have. Returns what `opened` does."""
        module = symbols.numbered(module)
        return module, *rewritten(module, self.options.cudagraphs)

    def _keep_operators(self, module, _):
        """Returns the function of a graph of AOT's without programs."""
        graph_key.mark(module)
        apply([row("constant computed while compiling"), row("copy of a constant output")], Work(module), 1)

        def made(captured):
            attention_kernels.choose(module.graph, captured)
            return direct.function_of(module)

        return self._captured(module, made)

    def _captured(self, module, made):
        """Returns the function of a graph. `made(captured)` generates it; `captured`: its calls will be replayed from CUDA
        graphs. This is the case if the option cudagraphs is set and the graph can be captured."""
        if not self.options.cudagraphs:
            return self._recorded(module, made(False))
        static = self._weights | set(torch._guards.TracingContext.get().fw_metadata.static_input_indices)
        self.report.uncaptured = capturable.why_not(module.graph, static, self._names(module)) or ""
        if self.report.uncaptured:
            return self._recorded(module, made(False))
        return self._recorded(module, cudagraphs.Replayed(made(True), module.graph, static, self.report))

    def _recorded(self, module, function):
        self._compiled = function, module, torch._guards.TracingContext.get().fw_metadata
        return function

    def _names(self, module) -> list:
        """Returns the names that the inputs of a graph of AOT's have in the user's program."""
        names = [n.name for n in module.graph.find_nodes(op="placeholder")]
        given = [getattr(n, "_dynamo_source", None) for n in self.graph_module.graph.find_nodes(op="placeholder")]
        if len(names) != self._own + len(given):
            return names
        return names[: self._own] + [name if source is None else source.name for name, source in zip(names[self._own :], given)]
