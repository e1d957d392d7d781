"""torch.compile(model, backend="zellige").

What torch traced is decomposed into ATen's core operators and cut into the largest convex parts of those that are known here; each
part becomes a program, and all else stays as it is. Symbolic sizes are specialised, so that each size gets a program of its own. A
graph that needs gradients is left alone. `reports` tells of every graph what was taken and what was not, and why.
"""

import collections
import math
import operator
import sys
import time
import warnings
from dataclasses import dataclass, field

import torch
from torch._decomp import core_aten_decompositions
from torch._functorch.aot_autograd import aot_module_simplified
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from . import _native, aten, aten_schema, aten_stated, dtypes, torch_parts, torch_sizes
from . import operators as op
from ._native import Error, Fault
from .aten_rows import Rows
from .aten_schema import Left
from .program import Program
from .torch_numbers import in_our_numbers
from .tracing import Trace

_KEPT = [torch.ops.aten.silu.default]  # known here as one operator
_UPDATE = torch.ops.aten.copy_.default


@dataclass
class Report:
    """Of one graph."""

    operators: int = 0
    taken: int = 0
    parts: list = field(default_factory=list)  # the programs
    left: dict = field(default_factory=dict)  # by operator: why it was left
    rejected: list = field(default_factory=list)  # what the proof said of plans that it rejected: faults of Zellige's
    faults: list = field(default_factory=list)  # sentences: what was left because Zellige is at fault
    seconds: dict = field(default_factory=dict)  # by phase: "tracing" (torch's and ours), "programs" (planned and compiled)

    def leave(self, name, why: Error) -> None:
        """States why an operator or a part is left to torch. Warns of a fault of ours."""
        self.left.setdefault(name, str(why))
        if isinstance(why, Fault):
            self.faults.append(f"{name}: {why}")
            warnings.warn(f"zellige leaves {name} to torch, by a fault of its own: {why}", RuntimeWarning, stacklevel=2)

    def __str__(self) -> str:
        lines = [f"{self.taken} of {self.operators} operators in {len(self.parts)} part(s)"]
        lines += [f"  part {p.name}: {len(p.manifest['kernels'])} kernel(s), {p.price:.1f} us expected" for p in self.parts]
        lines += [f"  note: {p.name}: {note}" for p in self.parts for note in p.notes]
        lines += [f"  rejected: {sentence}" for sentence in self.rejected]
        lines += [f"  left: {name}: {why}" for name, why in self.left.items()]
        if self.seconds:
            lines.append("  seconds: " + ", ".join(f"{phase} {s:.1f}" for phase, s in self.seconds.items()))
        return "\n".join(lines)


reports: list[Report] = []


def _input(trace, name, value, constant=False, strides=True):
    """`strides`: as torch has them, else a matter of whoever calls."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        raise Left(f"expected tensors with strides, found {value}")
    if any(not isinstance(n, int) for n in value.shape):
        raise Left(f"expected sizes that do not depend on data, found {tuple(value.shape)}")
    return trace.input(name, aten.dtype_of(value), aten.shape_of(value), (tuple(value.stride()) or (1,)) if strides else None, constant)


class _Known:
    """Whether a node by itself can be traced, found by tracing it."""

    def __init__(self, report, device):
        self.report, self.device = report, device
        self.known = {}  # by node: what it gives, of a trace of its own

    def __call__(self, node) -> bool:
        if node.op != "call_function" or node.target is _UPDATE:  # _changes finds the parts that take these
            return False
        if node not in self.known:
            try:
                self._try(node)
                self.known[node] = True
            except Error as why:
                self.report.leave(str(node.target), why)
                self.known[node] = False
        return self.known[node]

    def _try(self, node) -> None:
        if node.target not in aten.OPERATORS:
            raise Left("is not known")
        trace, arrays = Trace("node"), {}
        for n in node.all_input_nodes:
            value = n.meta.get("val")
            if isinstance(value, (list, tuple)):  # a split's parts
                if not (n.op == "call_function" and self(n)):
                    raise Left("its operand is left")
                arrays[n] = [_input(trace, f"{n.name}_{i}", v) for i, v in enumerate(value)]
            else:
                arrays[n] = _input(trace, n.name, value, strides=False)  # strides are a matter of the part's inputs
            self._stays(value)
        aten.evaluate(node, arrays)

    def _stays(self, value) -> None:
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v.device != self.device:
                raise Left(f"expected tensors on {self.device}, where most of the graph is, found {v.device}")


class Part(torch.nn.Module):
    """A part of a graph as a program. Its operators are kept beside it."""

    def __init__(self, name, module, constants, updates, watch):
        """`updates`: by a result's number, the placeholder whose tensor it becomes. `watch`: as of a program."""
        super().__init__()
        self.module, self.updates = module, {}
        trace, arrays, self.order = Trace(name), {}, []
        rows = Rows(module.graph)
        outputs = ()
        for node in module.graph.nodes:
            if node.op == "placeholder":
                arrays[node] = _input(trace, node.name, node.meta["val"], node.name in constants)
                self.order.append(arrays[node]._name)
            elif node.op == "output":
                outputs = node.args[0]
            else:
                arrays[node] = rows.evaluate(node, arrays)
        self.single = not isinstance(outputs, (tuple, list))
        nodes = [outputs] if self.single else list(outputs)
        for i, x in updates.items():
            op.in_place(arrays[nodes[i]], arrays[x])
            self.updates[i] = self.order.index(arrays[x]._name)
        made, strides, self.which = [], [], []  # the latter of each result: which output it is, or which argument (complemented)
        self.shapes = [tuple(n.meta["val"].shape) for n in nodes]
        for n in nodes:
            value, array = n.meta["val"], arrays[n]
            if array._name in self.order:
                self.which.append(~self.order.index(array._name))
                continue
            if value.is_contiguous():
                array = rows.matrices.get(array._name, array)
            if array._name not in made:
                made.append(array._name)
                strides.append(tuple(value.stride()) or (1,) if array is arrays[n] else (array.shape[1], 1))
            self.which.append(made.index(array._name))
        names = [trace.fresh(f"Y{i}") for i in range(len(made))]
        if not made:
            raise Left("computes nothing")
        form, read = trace.form([trace.arrays[m] for m in made], names, strides)
        native = _native.Program(
            _native.Graph(form, name), on="auto", target=None, tiling=None, tune=0, constants=[], workers=0, fuse=True, watch=watch
        )
        self.program = Program(native, name)
        self.read = [self.order.index(n) for n in read]
        self.inputs = [(i, info) for i, info in zip(self.read, self.program.inputs)]
        self.dtypes = [dtypes.torch_dtype(info.dtype) for info in self.program.inputs]

    def forward(self, *args):
        for (i, info), dtype in zip(self.inputs, self.dtypes):
            if args[i].dtype != dtype or aten.shape_of(args[i]) != info.shape:
                return self._torchs(args)
        given = [_laid_out(args[i], info) for i, info in self.inputs]
        device, outs = given[0].device, []
        for o in self.program.outputs:
            if o.memory is None:
                outs.append(torch.empty_strided(o.shape, o.strides, dtype=dtypes.torch_dtype(o.dtype), device=device))
        self.program(*given, out=outs)
        made, own = [], iter(outs)
        for o in self.program.outputs:
            made.append(next(own) if o.memory is None else args[self.read[o.memory]])
            if o.memory is not None and made[-1] is not given[o.memory]:
                made[-1].copy_(given[o.memory].view(made[-1].shape))
        results = [args[~i].clone() if i < 0 else made[i] for i in self.which]
        results = [r if r.shape == s else r.view(s) for r, s in zip(results, self.shapes)]
        return results[0] if self.single else tuple(results)

    def _torchs(self, args):
        """The same by torch's kernels, where an operator that was left made another dtype or shape than torch had stated."""
        made = self.module(*args)
        for i, x in self.updates.items():
            args[x].copy_(made if self.single else made[i])
        return made


def _laid_out(x, info):
    """A tensor in the strides and the alignment that the program was compiled for; a copy where it lies otherwise."""
    x = x if x.ndim else x.view(1)
    if x.data_ptr() % info.alignment == 0 and all(s == w for n, s, w in zip(info.shape, x.stride(), info.strides) if n > 1):
        return x
    return torch.empty_strided(info.shape, info.strides, dtype=x.dtype, device=x.device).copy_(x)


def _changes(part) -> dict:
    """By a result's number, the copy_ that puts it into an argument which nothing but the part reads: the part may change it where it
    lies."""
    changes, results = {}, {0: part}
    getters = [u for u in part.users if u.target is operator.getitem]
    if getters:
        results = {g.args[1]: g for g in getters}
    for i, result in results.items():
        copies = [u for u in result.users if u.target is _UPDATE and u.args[1] is result]
        returned = any(u.op == "output" for u in result.users)
        if len(copies) == 1 and not returned and set(copies[0].args[0].users) == {part, copies[0]}:
            changes[i] = copies[0]
    return changes


def _device(graph):
    """The device of most tensors of a graph: parts do not go across devices."""
    values = [n.meta.get("val") for n in graph.nodes]
    devices = collections.Counter(v.device for v in values if isinstance(v, torch.Tensor) and v.ndim > 0)
    return devices.most_common(1)[0][0] if devices else torch.device("cpu")


class _Progress:
    """A line on a terminal's stderr, from two seconds on."""

    def __init__(self, parts, operators):
        self.start, self.parts, self.operators, self.shown = time.monotonic(), parts, operators, False

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


def _compiled(graph_module, constants, report, start, bound):
    """The graph with its parts in their places. `bound` seconds (None: any) from the start on, the part that is planned takes what has
    been planned of it, and those that are not begun stay torch's."""
    known = _Known(report, _device(graph_module.graph))
    nodes = [n for n in graph_module.graph.nodes if n.op == "call_function"]
    report.operators = len(nodes)
    fused = fuse_by_partitions(graph_module, [dict.fromkeys(part) for part in torch_parts.parts(graph_module.graph, known)])
    begun, done = time.monotonic(), 0
    modules = [n for n in fused.graph.nodes if n.op == "call_module"]
    progress = _Progress(len(modules), len(nodes))
    for i, node in enumerate(modules):
        module = fused.get_submodule(node.target)
        if bound is not None and time.monotonic() - start > bound:
            report.left[node.target] = f"not begun within {bound:g} seconds"
            continue
        progress.show(i + 1, done)

        def watch(phase, part_done, part_of, part=i + 1, before=done):
            progress.show(part, before, f", {phase}: {part_done} of {part_of}")
            return bound is None or time.monotonic() - start <= bound

        operators = sum(n.op == "call_function" for n in module.graph.nodes)
        done += operators
        inside = [n for n in module.graph.nodes if n.op == "placeholder"]
        weights = {i.name for i, outer in zip(inside, node.args) if outer.name in constants}
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
            report.leave(node.target, why)
            continue
        report.rejected += [f"{node.target}: {sentence}" for sentence in part.program.rejected]
        for copy in changes.values():
            fused.graph.erase_node(copy)
        report.taken += len(changes)
        fused.set_submodule(node.target, part)
        report.parts.append(part.program)
        report.taken += operators
    progress.clear()
    report.seconds = {"tracing": begun - start, "programs": time.monotonic() - begun}
    for node in fused.graph.find_nodes(op="call_function", target=_UPDATE):
        report.left[str(_UPDATE)] = f"{node.args[1]} does not become {node.args[0]} in the part that makes it"
    fused.recompile()
    return fused


_ATTENTION = (torch.nn.functional.scaled_dot_product_attention, torch._C._nn.scaled_dot_product_attention)


class _KeptAttention(torch.overrides.TorchFunctionMode):
    """torch's attention as one operator, wherever it is called while a graph is traced; torch would take it apart."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in _ATTENTION:
            return self._attention(function, *args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))

    @staticmethod
    def _attention(function, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if dropout_p != 0 or not _plain(query, key, value, attn_mask, is_causal, enable_gqa):
            return function(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            attn_mask = torch.where(attn_mask, 0.0, -math.inf).to(query.dtype)
        return torch.ops.zellige.attention(query, key, value, attn_mask, is_causal, scale, enable_gqa)


def _plain(query, key, value, mask, causal, grouped) -> bool:
    """Whether zellige::attention takes them: (batch, heads, tokens, size) of one dtype, without broadcasts but the mask's."""
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


def _bound(options):
    """The seconds of `options`, or none."""
    wrong = [k for k in options or {} if k != "seconds"]
    if wrong:
        raise ValueError(f"zellige: options: expected seconds, found {', '.join(map(repr, wrong))}")
    seconds = (options or {}).get("seconds")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0):
        raise ValueError(f"zellige: options: seconds: expected a number above 0, found {seconds!r}")
    return seconds


def backend(graph_module, example_inputs, *, options=None):
    """The entry point of torch.compile. options={"seconds": 30}: what is planned by then is taken."""
    start, bound = time.monotonic(), _bound(options)
    report = Report()
    reports.append(report)
    if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in example_inputs):
        report.left["the graph"] = "needs gradients; run it under torch.no_grad() or torch.inference_mode()"
        return graph_module
    if torch_sizes.marked(graph_module):
        report.left["the graph"] = "has sizes that mark_dynamic forbids to specialise, and programs are of fixed sizes; use maybe_mark_dynamic"
        return graph_module
    if torch_sizes.changes_shared(graph_module):
        report.left["the graph"] = "changes tensors that share their memory and have symbolic sizes, and programs are of fixed sizes"
        return graph_module
    torch_sizes.specialize(graph_module)
    own = len(list(graph_module.parameters())) + len(list(graph_module.buffers()))
    weights = set(range(own)) | {own + i for i, x in enumerate(example_inputs) if isinstance(x, torch.nn.Parameter)}

    def compiler(module, inputs):
        placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        torch_sizes.fix(module.graph, aten.OPERATORS)
        aten_schema.bind(module.graph)
        aten_stated.correct(module.graph)
        in_our_numbers(module)
        constants = {n.name for i, n in enumerate(placeholders) if i in weights}
        return _compiled(module, constants, report, start, bound)

    decompositions = {k: v for k, v in core_aten_decompositions().items() if k not in _KEPT}
    with _KeptAttention():
        return aot_module_simplified(
            graph_module, example_inputs, fw_compiler=compiler, decompositions=decompositions, keep_inference_input_mutations=True
        )
