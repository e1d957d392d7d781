"""Implements torch.compile(model, backend="zellige").

The traced graph is decomposed where the result consists of operators that Zellige supports. It is then partitioned: the
largest convex parts of supported operators become programs, and all other operators are unchanged. Symbolic sizes are
specialised, so that each size gets a program of its own. A graph that needs gradients is left to torch. `reports` lists
for every graph which operators became parts of programs and which did not, with the reasons.
"""

import time

import torch
from torch._functorch.aot_autograd import aot_module_simplified

from . import words
from .cache import graph_key
from .cache.decisions import Decisions, told
from .execute import capturable, cudagraphs, direct, wrappers
from .import_ import declared, operators, schema, symbols
from .import_.aot import KeptWhole
from .import_.decompositions import decompositions
from .measure import attention_kernels, estimates
from .options import Options
from .partition import convex, taking
from .partition.supported import Supported, device_of
from .report import Report, reports
from .rewrites import results
from .rewrites.rule import Level, Work, apply, settle
from .rewrites.table import row, rows


def _compiled(graph_module, constants, report, options, saved, captured):
    """Returns the function of a traced graph, with parts replaced by programs. `constants`: names of placeholders that
    do not change, such as weights. `report`: receives which operators became parts of programs and which did not.
    `saved`: the cost that previous passes have saved. `captured`: calls will be replayed from a CUDA graph."""
    known = Supported(report, device_of(graph_module.graph))
    parts = convex.parts(graph_module.graph, known)
    report.operators = sum(n.op == "call_function" and convex.AGAIN not in n.meta for n in graph_module.graph.nodes)
    cheaper = options.take == "cheaper" or (options.take is None and known.device.type == "cuda")
    for choice in attention_kernels.choose(graph_module.graph, captured):
        saved += choice.saves()
        report.attention += [str(choice)] if str(choice) not in report.attention else []
    work = taking.Taking(graph_module, constants, report, options, known.device, cheaper, saved, captured)
    begun = time.monotonic()
    work.take(parts)
    options.ended = work.out_of_time()
    report.seconds = {"tracing": begun - options.start, "programs": time.monotonic() - begun}
    for node in graph_module.graph.find_nodes(op="call_function", target=taking.UPDATE):
        why = "expected a new value that one part computes in the argument's memory, found one that torch copies there"
        report.left[str(taking.UPDATE)] = words.sentence(node.args[1], why)
    direct.straighten(graph_module)
    return wrappers.forward(graph_module)


def _not_for_programs(graph_module, example_inputs):
    """Returns why a graph is left to torch unchanged, as a predicate ("needs gradients; ..."); None if there is no such
    reason."""
    if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in example_inputs):
        return "needs gradients; run it under torch.no_grad() or torch.inference_mode()"
    if symbols.marked(graph_module):
        return "has sizes that mark_dynamic forbids to specialise, and programs are of fixed sizes; use maybe_mark_dynamic"
    if symbols.changes_shared(graph_module):
        return "changes tensors that share their memory and have symbolic sizes, and programs are of fixed sizes"
    return None


def rewritten(module, cudagraphs=False) -> tuple:
    """Applies the rewrites of the table to a traced graph, in place. `cudagraphs`: calls are to be replayed from CUDA
    graphs. Returns (names of the nodes of constants, the cost that is saved)."""
    graph = module.graph
    symbols.fix(graph, operators.OPERATORS)
    schema.bind(graph)
    declared.correct(graph)
    work = Work(module, cudagraphs)
    apply(rows(Level.layout), work, 1)
    before, work.strides = estimates.of_torch(graph.nodes), results.strides(graph)
    settle(rows(Level.spelling), work)
    apply(rows(Level.result), work, 1)
    return {n.name for n in work.attributes}, work.saved + before - estimates.of_torch(graph.nodes)


def backend(graph_module, example_inputs, *, mode=None, options=None):
    """Compiles a graph for torch.compile, which calls this function; returns a function of the graph's inputs.

      compiled = torch.compile(model, backend="zellige", options={"seconds": 30})

    options: "seconds" limits the planning time; "take": "all" also takes parts that cost more than torch's
    kernels; "cudagraphs": True, equivalent to mode="reduce-overhead", replays calls from CUDA graphs; "cache": False
    decides again, where an earlier process has compiled an equal graph. Raises ValueError for other options.
    """
    options = Options.of(options, mode)
    report = Report()
    reports.append(report)
    why = _not_for_programs(graph_module, example_inputs)
    if why:
        report.left["the graph"] = why
        report.uncaptured = f"the graph {why}" if options.cudagraphs else ""
        return wrappers.forward(graph_module)
    symbols.specialize(graph_module)
    decisions = Decisions(graph_module, example_inputs, options)
    found = decisions.found(report)
    own = len(list(graph_module.parameters())) + len(list(graph_module.buffers()))
    weights = set(range(own)) | {own + i for i, x in enumerate(example_inputs) if isinstance(x, torch.nn.Parameter)}

    def compiler(module, inputs):
        graph_key.mark(module)
        placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        constants, saved = rewritten(module, options.cudagraphs)
        constants |= {n.name for i, n in enumerate(placeholders) if i in weights}
        return captured(module, lambda asked: _compiled(module, constants, report, options, saved, asked))

    def as_it_is(module, inputs):
        """Compiles a graph without programs: returns a function that runs torch's kernels only, and whose calls are
        replayed from CUDA graphs."""
        graph_key.mark(module)
        apply([row("constant computed while compiling"), row("copy of a constant output")], Work(module), 1)

        def made(asked):
            attention_kernels.choose(module.graph, asked)
            direct.straighten(module)
            return wrappers.forward(module)

        return captured(module, made)

    compiled = []  # the latest function, with its graph and AOT's metadata

    def captured(module, made):
        """Returns the function of a graph. `made(replay)` generates it; `replay`: its calls will be replayed from CUDA
        graphs. This is the case if the option cudagraphs is set and the graph can be captured."""
        static = weights | set(torch._guards.TracingContext.get().fw_metadata.static_input_indices)
        return recorded(module, _captured(module, made, static) if options.cudagraphs else made(False))

    def recorded(module, function):
        compiled[:] = function, module, torch._guards.TracingContext.get().fw_metadata
        return function

    def _captured(module, made, static):
        report.uncaptured = capturable.why_not(module.graph, static, _names(graph_module, module, own)) or ""
        return made(False) if report.uncaptured else cudagraphs.Replayed(made(True), module.graph, static, report)

    def traced(compiler, decomposed, keep=True):
        """Traces the graph by AOT, and returns what dynamo calls: the function that `compiler` makes of the graph, or
        AOT's wrapper around it. `decomposed`: operators are decomposed. `keep`: the function may be kept on disk."""
        guards = wrappers.guards()
        with KeptWhole():
            table = decompositions() if decomposed else {}
            made = aot_module_simplified(graph_module, example_inputs, fw_compiler=compiler, decompositions=table, keep_inference_input_mutations=True)
        function, module, metadata = compiled
        alone = wrappers.is_alone(module, metadata, example_inputs)
        if keep and (report.kept or not decomposed):
            # guards of AOT's are made by AOT, in each process
            decisions.keep(report, alone and wrappers.guards() == guards, decomposed, function, module)
        return wrappers.alone(function) if alone else made

    def again(module, inputs):
        """Returns the function that was found, if AOT has traced the graph of which it was made."""
        graph_key.mark(module)
        found.same = module.meta[graph_key.TRACED] == found.traced
        return recorded(module, found.function)

    if found is not None and (found.function is None or found.alone):
        told(report, found, options.start)
        return wrappers.forward(graph_module) if found.function is None else wrappers.alone(found.function)
    if found is not None:
        begun = time.monotonic()
        made = traced(again, found.decomposed, keep=False)
        if found.same:
            told(report, found, options.start + time.monotonic() - begun)
            report.seconds["tracing"] = time.monotonic() - begun
            return made
    made = traced(compiler, True)
    if report.kept:
        return made
    if options.cudagraphs and not report.uncaptured:
        return traced(as_it_is, False)
    decisions.keep(report, True, False)
    return wrappers.forward(graph_module)  # torch's own operators, not decomposed


def _names(graph_module, module, own) -> list:
    """Returns the names that the inputs of a traced graph have in the user's program. `own`: number of parameters and
    buffers, which are the first inputs."""
    names = [n.name for n in module.graph.find_nodes(op="placeholder")]
    given = [getattr(n, "_dynamo_source", None) for n in graph_module.graph.find_nodes(op="placeholder")]
    if len(names) != own + len(given):
        return names
    return names[:own] + [name if source is None else source.name for name, source in zip(names[own:], given)]
