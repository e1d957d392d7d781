"""Joins torch's functional collectives with the parts that read their results: one program over ranks takes the place of both.

A part that reads wait_tensor(all_reduce(x)) becomes a program that reads x. On GPUs that reach each other's memory, an all_reduce with the
residual and the norm that follow is then one kernel; elsewhere NCCL does it between kernels. The ranks of a process group decide
the same: what one of them cannot join, none does; torch computes it.
"""

import copy
import hashlib
import json
import weakref

import torch
import torch.distributed as dist

from ... import exchange, ranks
from ..._native import Error
from ..import_ import operators
from ..measure.clock import exchanging
from .direct import PART
from .part import clone, laid_out, viewed

_FUNCTIONAL = torch.ops._c10d_functional
WAIT = _FUNCTIONAL.wait_tensor.default
# by torch's operator: the position of the group's name in its arguments, ours, and its attributes
_JOINED = {
    _FUNCTIONAL.all_reduce.default: (2, "all_reduce", {}),
    _FUNCTIONAL.all_gather_into_tensor.default: (2, "all_gather", {"dim": 0}),
    _FUNCTIONAL.reduce_scatter_tensor.default: (3, "reduce_scatter", {"dim": 0}),
}
_ranks = weakref.WeakKeyDictionary()  # by process group: this process's rank in it


def group_of(graph):
    """Returns the name of the process group of the first collective of a graph that can be joined; None if there is none."""
    for node in graph.nodes:
        if node.op == "call_function" and node.target in _JOINED:
            return node.args[_JOINED[node.target][0]]
    return None


def agreed(name, value) -> list:
    """Returns the values of all ranks of a process group, which all must call it."""
    group = dist.distributed_c10d._resolve_process_group(name)
    everyone = [None] * dist.get_world_size(group)
    with exchanging():
        dist.all_gather_object(everyone, value, group=group)
    return everyone


def join(module, report, way="cheapest") -> None:
    """Joins the collectives of a graph with the parts that follow them, where all ranks of the group can. Erases those from the graph.
    `way`: what computes them, as in ranks.compile. Raises ValueError, on all ranks, if it is another one on one of them."""
    name = group_of(module.graph)
    if name is None or not dist.is_initialized():
        return
    if len(ways := sorted(set(agreed(name, way)))) > 1:
        raise ValueError(f"zellige: options: collectives: expected the same on all ranks, found {' and '.join(map(repr, ways))}")
    if not all(agreed(name, report.kept)):
        return
    found = [(node, waits) for node in module.graph.nodes if PART in node.meta and (waits := _waits(node, name))]
    forms = [_form(node.meta[PART], waits, name) for node, waits in found]
    digest = hashlib.sha256(json.dumps(forms, sort_keys=True).encode()).hexdigest()
    if len(set(agreed(name, digest))) > 1:
        report.left["collectives"] = "are not joined: the ranks have made different parts around them"
        return
    for (node, waits), form in zip(found, forms):
        part, why = None, ""
        try:
            with exchanging():
                part = JoinedPart(node.meta[PART], form, _rank_of(name, node.meta[PART].device), way)
        except Error as error:
            why = str(error)
        reasons = [w for w in agreed(name, why) if w]
        if reasons:
            report.left[node.meta[PART].name] = f"does not take the collective before it: {reasons[0]}"
            continue
        _replace(module, node, waits, part)
        report.joined += [f"{part.name}: {note}" for note in part.program.notes]
        report.taken += 2 * len(waits)
    for target in {WAIT, *_JOINED} - {node.target for node in module.graph.nodes}:
        report.left.pop(str(target), None)


def _waits(node, name) -> dict:
    """Returns the collectives of a group that a part may take: by the index of its argument, the wait of one that nothing else reads."""
    part, found = node.meta[PART], {}
    if part.updates or part.markers or part.copied:
        return {}
    for i in part.read:
        wait = node.args[i] if i < len(node.args) else None
        if getattr(wait, "target", None) is not WAIT or set(wait.users) != {node} or node.args.count(wait) > 1:
            continue
        collective = wait.args[0]
        at = _JOINED.get(collective.target, (None,))[0]
        if at is None or collective.args[at] != name or set(collective.users) != {wait}:
            continue
        x, sums = collective.args[0].meta.get("val"), "reduce" in str(collective.target)
        if (not sums or collective.args[1] == "sum") and x.ndim > 0 and x.is_contiguous() and (not sums or x.dtype in _SUMMED):
            found[i] = wait
    return found


_SUMMED = torch.float16, torch.bfloat16, torch.float32


def _form(part, waits, name) -> dict:
    """Returns the graph of a part, in JSON form, with the collectives before it."""
    form = copy.deepcopy(part.form)
    form["ranks"] = dist.get_world_size(dist.distributed_c10d._resolve_process_group(name))
    taken = {i["name"] for i in form["inputs"]} | {str(o) for of in form["operators"] for o in of["outputs"]}
    before = []
    for i, wait in waits.items():
        given = form["inputs"][part.read.index(i)]
        collective = wait.args[0]
        _, op, attributes = _JOINED[collective.target]
        result, x = given["name"], collective.args[0].meta["val"]
        given["name"] = next(n for n in (f"{result}_of_rank{'_' * k}" for k in range(len(taken) + 1)) if n not in taken)
        given["shape"], given["dtype"] = list(operators.shape_of(x)), operators.dtype_of(x)
        given.pop("strides", None)
        readers = [o for o in form["operators"] if result in o["inputs"]]
        if op == "all_reduce" and len(readers) == 1 and readers[0]["op"] == "reshape" and result not in form["outputs"]:
            # The sum is one of the reshaped operand, so that what follows may be in the same kernel.
            form["operators"].remove(readers[0])
            given["shape"], result = list(readers[0]["shape"]), readers[0]["outputs"][0]
        before.append({"op": op, "inputs": [given["name"]], "outputs": [result], **attributes})
    form["operators"] = before + form["operators"]
    return form


def _rank_of(name, device):
    group = dist.distributed_c10d._resolve_process_group(name)
    if group not in _ranks:
        _ranks[group] = ranks.of_group(group, "gpu" if device.type == "cuda" else "emulator")
    return _ranks[group]


class JoinedPart:
    """A part whose program begins with collectives: its function takes their operands."""

    updates, copied, markers = {}, set(), ()

    def __init__(self, part, form, mine, way):
        self.name, self.form, self.device = part.name, form, part.device
        self.program = ranks.compile(form, mine, collectives=way)
        self._inputs = list(zip(part.read, self.program.inputs))
        inner = copy.copy(part)
        inner.program = self.program
        self._outputs = [(o, inner._strides_of(at)) for at, o in enumerate(self.program.outputs)]
        self._results = list(zip(part.which, part.shapes, part.strides))
        self._single = part.single

    def call(self, *args):
        """Runs the part on the current stream. Its arguments are those for which dynamo's guards hold."""
        given = [args[i] if args[i].shape == info.shape else args[i].reshape(info.shape) for i, info in self._inputs]
        given = [laid_out(x, info) for x, (_, info) in zip(given, self._inputs)]
        made = [exchange.empty_strided(o, strides, self.device) for o, strides in self._outputs]
        stream = torch._C._cuda_getCurrentRawStream(self.device.index) or None if self.device.type == "cuda" else None
        self.program.launch([x.data_ptr() for x in given], [y.data_ptr() for y in made], stream)
        results = [clone(args[~i], strides) if i < 0 else made[i] for i, _, strides in self._results]
        results = [r if r.shape == s else viewed(r, s, strides) for r, (_, s, strides) in zip(results, self._results)]
        return results[0] if self._single else tuple(results)


def _replace(module, node, waits, part) -> None:
    args = [wait.args[0].args[0] if (wait := waits.get(i)) is not None else a for i, a in enumerate(node.args)]
    with module.graph.inserting_before(node):
        made = module.graph.call_function(part.call, tuple(args))
    made.meta = {**node.meta, PART: part}
    node.replace_all_uses_with(made)
    module.graph.erase_node(node)
    for wait in waits.values():
        collective = wait.args[0]
        module.graph.erase_node(wait)
        module.graph.erase_node(collective)
