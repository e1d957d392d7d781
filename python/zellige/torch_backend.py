"""Implements torch.compile(model, backend="zellige").

The traced graph is decomposed where the result consists of operators that Zellige supports. It is then partitioned: the
largest convex parts of supported operators become programs, and all other operators are unchanged. Symbolic sizes are
specialised, so that each size gets a program of its own. A graph that needs gradients is left to torch. `reports` lists
for every graph which operators became parts of programs and which did not, with the reasons.
"""

import collections
import math
import time
import warnings
from dataclasses import dataclass, field

import torch
from torch._functorch.aot_autograd import aot_module_simplified

from . import aten, aten_schema, aten_declared, torch_around, torch_attention, torch_call, torch_capturable, torch_constants, torch_costs, torch_counts, torch_cudagraphs, torch_decisions, torch_key, torch_layout, torch_masks, torch_own, torch_parts, torch_permuted, torch_pools, torch_ranges, torch_results, torch_sdpa, torch_short_sums, torch_sizes, torch_speculation, torch_spelled, torch_take, torch_words
from ._native import Error, Exhausted, Fault
from .aten_schema import Left
from .torch_decompositions import decompositions
from .torch_part import input_of
from .torch_numbers import in_our_numbers
from .tracing import Trace


@dataclass
class Report:
    """The report on one graph: which operators became programs, which did not, and why. print(report) shows it."""

    operators: int = 0  # operators in the graph
    taken: int = 0  # operators in parts that became programs
    parts: list = field(default_factory=list)  # the parts' programs
    kept: bool = False  # true if the graph runs as compiled here; false: as torch traced it
    left: dict = field(default_factory=dict)  # by operator or part: why it was left to torch
    # plans that the verifier rejected, with its reasons: internal errors of Zellige
    rejected: list = field(default_factory=list)
    # sentences about operators left to torch because of an internal error of Zellige
    faults: list = field(default_factory=list)
    # operators left to torch because the machine had no memory, files or threads left
    exhausted: list = field(default_factory=list)
    # seconds by phase: "tracing" (torch's and Zellige's), "programs" (planning and compilation); or "cache" (reading the
    # decisions), "programs" (loading them), and "tracing" if AOT's wrappers are needed
    seconds: dict = field(default_factory=dict)
    # "from the cache", "kept" there, or "not kept", with the reason: what was decided on this graph
    decisions: str = ""
    # sentences: the torch kernel for each attention left to torch, and measured times
    attention: list = field(default_factory=list)
    captured: int = 0  # number of CUDA graphs captured from calls
    uncaptured: str = ""  # why calls are not captured in CUDA graphs, although that was requested

    where: dict = field(default_factory=dict)  # by part: its operators and the user's lines

    def leave(self, name, why: Error, node=None) -> None:
        """Records why the operator or part (set of operators) `name` is left to torch. `node`: of an operator, its first node,
        for the user's line. Warns if the reason, `why`, is an internal error of Zellige."""
        self.left.setdefault(name, str(why) if node is None else torch_words.sentence(node, why))
        if isinstance(why, Exhausted):
            self.exhausted.append(self._shown(name))
        if isinstance(why, Fault):
            self.faults.append(f"{self._shown(name)}: {why}")
            warnings.warn(f"zellige leaves {self._shown(name)} to torch, by a fault of its own: {why}", RuntimeWarning, stacklevel=2)

    def _shown(self, name) -> str:
        """Returns the name of an operator or part as messages have it: a part's with its operators and lines."""
        return f"{name} ({self.where[name]})" if self.where.get(name) else name

    def __str__(self) -> str:
        lines = [f"{self.taken} of {self.operators} operators in {len(self.parts)} part(s)"]
        lines += [f"  part {p.name}: {len(p.manifest['kernels'])} kernel(s), {p.price:.1f} us expected" for p in self.parts]
        lines += [f"  note: {p.name}: {note}" for p in self.parts for note in p.notes]
        lines += [f"  rejected: {sentence}" for sentence in self.rejected]
        lines += [f"  left: {self._shown(name)}: {why}" for name, why in self.left.items()]
        lines += [f"  {sentence}" for sentence in self.attention]
        lines += [f"  captured: {self.captured} CUDA graph(s)"] if self.captured else []
        lines += [f"  not captured: {self.uncaptured}"] if self.uncaptured else []
        lines += [f"  decisions: {self.decisions}"] if self.decisions == "from the cache" else []
        if self.seconds:
            lines.append("  seconds: " + ", ".join(f"{phase} {s:.1f}" for phase, s in self.seconds.items()))
        return "\n".join(lines)


reports: list[Report] = []


class _Known:
    """Decides whether Zellige supports a node, by tracing the node on its own. The reasons against a node go to
    the report."""

    def __init__(self, report, device):
        self.report, self.device = report, device
        self.known = {}  # by node: true if it is supported

    def __call__(self, node) -> bool:
        # Taking (torch_take.py) handles in-place updates
        if node.op != "call_function" or node.target is torch_take.UPDATE:
            return False
        if node not in self.known:
            try:
                self._try(node)
                self.known[node] = True
            except Error as why:
                if not isinstance(why, torch_take.OfOperand):  # the operand is in the report
                    self.report.leave(torch_words.target(node), why, node)
                self.known[node] = False
        return self.known[node]

    def _try(self, node) -> None:
        if node.target not in aten.OPERATORS:
            raise Left("is not known")
        trace, arrays = Trace("node"), {}
        for n in node.all_input_nodes:
            value = n.meta.get("val")
            if isinstance(value, (list, tuple)):  # the results of a split
                if not (n.op == "call_function" and self(n)):
                    raise torch_take.OfOperand("its operand is left")
                arrays[n] = [input_of(trace, f"{n.name}_{i}", v) if i == node.args[1] else None for i, v in enumerate(value)]
            else:
                # strides depend on the part's inputs
                arrays[n] = input_of(trace, n.name, value, strides=False)
            self._is_kept(value if isinstance(value, torch.Tensor) else value[node.args[1]])
        aten.evaluate(node, arrays)

    def _is_kept(self, value) -> None:
        if value.device != self.device:
            raise Left(f"expected tensors on {self.device}, where most of the graph is, found {value.device}")


def _device(graph):
    """Returns the device of most tensors of a graph. Only operators on this device become parts of programs."""
    values = [n.meta.get("val") for n in graph.nodes]
    devices = collections.Counter(v.device for v in values if isinstance(v, torch.Tensor) and v.ndim > 0)
    return devices.most_common(1)[0][0] if devices else torch.device("cpu")


def _compiled(graph_module, constants, report, options, saved, captured):
    """Returns the function of a traced graph, with parts replaced by programs. `constants`: names of placeholders that
    do not change, such as weights. `report`: receives which operators became parts of programs and which did not.
    `saved`: the cost that previous passes have saved. `captured`: calls will be replayed from a CUDA graph."""
    known = _Known(report, _device(graph_module.graph))
    parts = torch_parts.parts(graph_module.graph, known)
    report.operators = sum(n.op == "call_function" and torch_parts.AGAIN not in n.meta for n in graph_module.graph.nodes)
    cheaper = options.take == "cheaper" or (options.take is None and known.device.type == "cuda")
    for choice in torch_sdpa.choose(graph_module.graph, captured):
        saved += choice.saves()
        report.attention += [str(choice)] if str(choice) not in report.attention else []
    work = torch_take.Taking(graph_module, constants, report, options, known.device, cheaper, saved, captured)
    begun = time.monotonic()
    work.take(parts)
    options.ended = work.out_of_time()
    report.seconds = {"tracing": begun - options.start, "programs": time.monotonic() - begun}
    for node in graph_module.graph.find_nodes(op="call_function", target=torch_take.UPDATE):
        why = "expected a new value that one part computes in the argument's memory, found one that torch copies there"
        report.left[str(torch_take.UPDATE)] = torch_words.sentence(node.args[1], why)
    torch_around.straighten(graph_module)
    return torch_call.forward(graph_module)


_ATTENTION = (torch.nn.functional.scaled_dot_product_attention, torch._C._nn.scaled_dot_product_attention)


class _KeptWhole(torch.overrides.TorchFunctionMode):
    """Keeps attention and interpolation as single operators while a graph is traced. Otherwise torch decomposes
    them before it considers the table of decompositions."""

    def __init__(self):
        super().__init__()
        self.kernels = torch_sdpa.allowed()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in _ATTENTION:
            return self._attention(function, *args, **(kwargs or {}))
        if function is torch.nn.functional.interpolate:
            return self._interpolate(function, *args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))

    @staticmethod
    def _interpolate(function, input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
        n = input.ndim - 2
        tuple_of = lambda x: None if x is None else tuple(x) if isinstance(x, (tuple, list)) else (x,) * n  # noqa: E731
        names = {"nearest": "upsample_nearest{}d", "nearest-exact": "_upsample_nearest_exact{}d", "linear": "upsample_linear{}d",
                 "bilinear": "upsample_bilinear{}d", "bicubic": "upsample_bicubic{}d", "trilinear": "upsample_trilinear{}d"}  # fmt: skip
        name = names.get(mode, "").format(n)
        operator = getattr(torch.ops.aten, f"_{name}_aa" if antialias else name, None) if name else None
        if operator is None or recompute_scale_factor or (size is None) == (scale_factor is None):
            return function(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
        scales, size = tuple_of(scale_factor), tuple_of(size)
        size = size or [int(i * s) for i, s in zip(input.shape[2:], scales)]
        aligned = () if "nearest" in mode else (bool(align_corners),)
        with torch._C._AutoDispatchBelowAutograd():  # torch's autograd kernels would decompose the operator
            return operator.default(input, size, *aligned, *(scales or [None] * n))

    def _attention(self, function, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if attn_mask is not None and is_causal:  # torch's kernels do not check this while tracing
            raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        # the model uses `with sdpa_kernel(...)`, which torch applies while tracing
        named = torch_sdpa.allowed() != self.kernels
        if named or dropout_p != 0 or not _is_simple(query, key, value, attn_mask, is_causal, enable_gqa):
            return function(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            attn_mask = torch.where(attn_mask, 0.0, -math.inf).to(query.dtype)
        return torch_own.ATTENTION(query, key, value, attn_mask, is_causal, scale, enable_gqa)


def _is_simple(query, key, value, mask, causal, grouped) -> bool:
    """Returns true if zellige::attention supports the operands: (batch, heads, tokens, size) of one dtype, without
    broadcasts except of the mask."""
    if not query.ndim == key.ndim == value.ndim == 4 or not query.dtype == key.dtype == value.dtype:
        return False
    if query.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        return False
    (b, heads, queries, size), (keys_b, keys_heads, keys, _) = query.shape, key.shape
    if key.shape[:3] != value.shape[:3] or keys_b != b or key.shape[3] != size:
        return False
    if heads != keys_heads and not (grouped and keys_heads > 0 and heads % keys_heads == 0):
        return False
    if mask is None:
        return True
    broadcasts = mask.ndim <= 4 and all(m in (1, n) for m, n in zip(mask.shape[::-1], (keys, queries, heads, b)))
    return not causal and broadcasts and mask.dtype in (torch.bool, query.dtype)


@dataclass
class _Options:
    """The checked options of torch.compile(..., backend="zellige", options=...)."""

    # limit of the planning time, after which the search for fusion groups ends; None: no limit
    seconds: float = None
    # "cheaper": only parts that cost less than torch's kernels; "all"; None: all on the CPU, cheaper on a GPU
    take: str = None
    cudagraphs: bool = False  # capture calls in CUDA graphs
    cache: bool = True  # look for the decisions on disk, and keep them there
    start: float = 0.0  # time.monotonic() at the start
    ended: bool = False  # the planning time ended before everything was planned

    @staticmethod
    def of(given, mode):
        """Returns the options in the dict `given`; mode="reduce-overhead" sets the option cudagraphs to True. Raises
        ValueError for unknown keys and values."""
        given = dict(given or {})
        wrong = [k for k in given if k not in ("seconds", "take", "cudagraphs", "cache")]
        if wrong:
            raise ValueError(f"zellige: options: expected seconds, take, cudagraphs or cache, found {', '.join(map(repr, wrong))}")
        cache = given.get("cache", torch_decisions.DEFAULT)
        seconds, take, cudagraphs = given.get("seconds"), given.get("take"), given.get("cudagraphs", mode == "reduce-overhead")
        if mode not in (None, "default", "reduce-overhead"):
            raise ValueError(f"zellige: mode: expected 'default' or 'reduce-overhead', found {mode!r}")
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0):
            raise ValueError(f"zellige: options: seconds: expected a number above 0, found {seconds!r}")
        if take not in (None, "cheaper", "all"):
            raise ValueError(f"zellige: options: take: expected 'cheaper' or 'all', found {take!r}")
        if not isinstance(cudagraphs, bool):
            raise ValueError(f"zellige: options: cudagraphs: expected True or False, found {cudagraphs!r}")
        if not isinstance(cache, bool):
            raise ValueError(f"zellige: options: cache: expected True or False, found {cache!r}")
        return _Options(seconds, take, cudagraphs, cache, time.monotonic())


def _not_for_programs(graph_module, example_inputs):
    """Returns why a graph is left to torch unchanged, as a predicate ("needs gradients; ..."); None if there is no such
    reason."""
    if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in example_inputs):
        return "needs gradients; run it under torch.no_grad() or torch.inference_mode()"
    if torch_sizes.marked(graph_module):
        return "has sizes that mark_dynamic forbids to specialise, and programs are of fixed sizes; use maybe_mark_dynamic"
    if torch_sizes.changes_shared(graph_module):
        return "changes tensors that share their memory and have symbolic sizes, and programs are of fixed sizes"
    return None


def rewritten(module, cudagraphs=False) -> tuple:
    """Applies the rewrites of this package to a traced graph, in place. `cudagraphs`: calls are to be replayed from CUDA
    graphs. Returns (names of the nodes of constants, the cost that is saved)."""
    graph = module.graph
    before = torch_costs.of_torch(graph.nodes)
    torch_sizes.fix(graph, aten.OPERATORS)
    aten_schema.bind(graph)
    aten_declared.correct(graph)
    saved = before - torch_costs.of_torch(graph.nodes) + torch_layout.last(graph, cudagraphs) + torch_pools.by_rows(graph)
    torch_speculation.rewrite(graph)
    before, layouts = torch_costs.of_torch(graph.nodes), torch_results.strides(graph)
    torch_spelled.respelled(graph)
    torch_ranges.decided(graph)
    torch_counts.positions(graph)
    torch_ranges.narrow(graph)
    torch_permuted.undone(graph)
    torch_short_sums.added(graph)
    torch_masks.positional(graph)
    torch_attention.whole(graph)
    in_our_numbers(module)
    torch_results.laid(graph, layouts)
    constants = torch_constants.fold(module)
    return constants, saved + before - torch_costs.of_torch(graph.nodes)


def backend(graph_module, example_inputs, *, mode=None, options=None):
    """Compiles a graph for torch.compile, which calls this function; returns a function of the graph's inputs.

      compiled = torch.compile(model, backend="zellige", options={"seconds": 30})

    options: "seconds" limits the planning time; "take": "all" also takes parts that cost more than torch's
    kernels; "cudagraphs": True, equivalent to mode="reduce-overhead", replays calls from CUDA graphs; "cache": False
    decides again, where an earlier process has compiled an equal graph. Raises ValueError for other options.
    """
    options = _Options.of(options, mode)
    report = Report()
    reports.append(report)
    why = _not_for_programs(graph_module, example_inputs)
    if why:
        report.left["the graph"] = why
        report.uncaptured = f"the graph {why}" if options.cudagraphs else ""
        return torch_call.forward(graph_module)
    torch_sizes.specialize(graph_module)
    decisions = torch_decisions.Decisions(graph_module, example_inputs, options)
    found = decisions.found(report)
    own = len(list(graph_module.parameters())) + len(list(graph_module.buffers()))
    weights = set(range(own)) | {own + i for i, x in enumerate(example_inputs) if isinstance(x, torch.nn.Parameter)}

    def compiler(module, inputs):
        torch_key.mark(module)
        placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        constants, saved = rewritten(module, options.cudagraphs)
        constants |= {n.name for i, n in enumerate(placeholders) if i in weights}
        return captured(module, lambda asked: _compiled(module, constants, report, options, saved, asked))

    def as_it_is(module, inputs):
        """Compiles a graph without programs: returns a function that runs torch's kernels only, and whose calls are
        replayed from CUDA graphs."""
        torch_key.mark(module)
        torch_constants.fold(module)

        def made(asked):
            torch_sdpa.choose(module.graph, asked)
            torch_around.straighten(module)
            return torch_call.forward(module)

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
        report.uncaptured = torch_capturable.why_not(module.graph, static, _names(graph_module, module, own)) or ""
        return made(False) if report.uncaptured else torch_cudagraphs.Replayed(made(True), module.graph, static, report)

    def traced(compiler, decomposed, keep=True):
        """Traces the graph by AOT, and returns what dynamo calls: the function that `compiler` makes of the graph, or
        AOT's wrapper around it. `decomposed`: operators are decomposed. `keep`: the function may be kept on disk."""
        guards = torch_call.guards()
        with _KeptWhole():
            table = decompositions() if decomposed else {}
            made = aot_module_simplified(graph_module, example_inputs, fw_compiler=compiler, decompositions=table, keep_inference_input_mutations=True)
        function, module, metadata = compiled
        alone = torch_call.is_alone(module, metadata, example_inputs)
        if keep and (report.kept or not decomposed):
            # guards of AOT's are made by AOT, in each process
            decisions.keep(report, alone and torch_call.guards() == guards, decomposed, function, module)
        return torch_call.alone(function) if alone else made

    def again(module, inputs):
        """Returns the function that was found, if AOT has traced the graph of which it was made."""
        torch_key.mark(module)
        found.same = module.meta[torch_key.TRACED] == found.traced
        return recorded(module, found.function)

    if found is not None and (found.function is None or found.alone):
        torch_decisions.told(report, found, options.start)
        return torch_call.forward(graph_module) if found.function is None else torch_call.alone(found.function)
    if found is not None:
        begun = time.monotonic()
        made = traced(again, found.decomposed, keep=False)
        if found.same:
            torch_decisions.told(report, found, options.start + time.monotonic() - begun)
            report.seconds["tracing"] = time.monotonic() - begun
            return made
    made = traced(compiler, True)
    if report.kept:
        return made
    if options.cudagraphs and not report.uncaptured:
        return traced(as_it_is, False)
    decisions.keep(report, True, False)
    return torch_call.forward(graph_module)  # torch's own operators, not decomposed


def _names(graph_module, module, own) -> list:
    """Returns the names that the inputs of a traced graph have in the user's program. `own`: number of parameters and
    buffers, which are the first inputs."""
    names = [n.name for n in module.graph.find_nodes(op="placeholder")]
    given = [getattr(n, "_dynamo_source", None) for n in graph_module.graph.find_nodes(op="placeholder")]
    if len(names) != own + len(given):
        return names
    return names[:own] + [name if source is None else source.name for name, source in zip(names[own:], given)]


# An installed package has the name by its entry point; from a source tree it is registered here.
if "zellige" not in torch._dynamo.list_backends(exclude_tags=()):
    torch._dynamo.register_backend(backend, name="zellige")
