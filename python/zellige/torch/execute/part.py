"""Compiles a part of a torch graph into a program, and into a function that calls the program with little Python
overhead."""

import sys
from ctypes import c_int, c_void_p

import torch

from ... import _native, call_site, dtypes, exchange
from ..._native import Error
from ...program import Program
from .. import words
from ..import_ import operators
from .source import made, written
from .traced import traced


class Part:
    """A part of a torch graph, which `plan` compiles into a program. `module` has its torch operators."""

    # all that the part's function depends on, besides the program
    _WRITTEN = ("name", "words", "order", "single", "which", "shapes", "strides", "form", "read")
    markers = ()  # numbers that the function takes after its tensors: the sizes (open_part.py)

    def __init__(self, name, module, constants, updates):
        """Traces the operators of `module`. `constants`: names of read-only placeholders. `updates`: a dict from the
        index of a result to the placeholder that is updated in place with this result. Raises Left or Error if an
        operator is not supported."""
        self.name, self.module, self.program = name, module, None
        self.words = words.of_part(module.graph)
        self.take(traced(name, module, constants, updates))
        self.device = next((n.meta["val"].device for n in module.graph.nodes if n.op == "placeholder"), torch.device("cpu"))

    def take(self, t) -> None:
        """Takes over what was traced."""
        self.form, self.read, self.order, self.which, self.single = t.form, t.read, t.order, t.which, t.single
        self.shapes, self.strides, self.updates, self.copied, self.owners = t.shapes, t.strides, t.updates, t.copied, t.owners

    @property
    def expected_us(self) -> float:
        """The expected time of the program, in microseconds."""
        return self.program.price

    def written(self) -> dict:
        """Returns the part as strings, numbers, lists and dicts, of which `again` makes it. Raises graph_key.Unknown if
        an operator of the part has no name."""
        text = {name: getattr(self, name) for name in self._WRITTEN}
        return text | {"updates": list(self.updates.items()), "device": str(self.device), "module": written(self.module.graph, lambda x: None)}

    @classmethod
    def again(cls, entry):
        """Returns the part of which `written` returned `entry`, without its program."""
        part = cls.__new__(cls)
        for name in cls._WRITTEN:
            setattr(part, name, entry[name])
        part.shapes, part.strides = [tuple(s) for s in entry["shapes"]], [tuple(s) for s in entry["strides"]]
        part.updates, part.device, part.program, part.copied = dict(entry["updates"]), torch.device(entry["device"]), None, set()
        part.module = lambda *args: made(entry["module"], ())(*args)  # rarely called
        return part

    def plan(self, watch=None, keep=False):
        """Plans the program, or takes it from the user's cache, and returns it. May be called in any thread. `watch`: a
        progress function, and `keep`: whether the cache is used, as in _native.Program."""
        try:
            graph = _native.Graph(self.form, self.name)
            native = _native.Program(graph, on="auto", target=None, tiling=None, tune=0, constants=[], workers=0, fuse=True, watch=watch, keep=keep)
        except Error as why:
            raise call_site.translated(why, self.form, self.owners, f"the part {self.words}") from None
        return self.runs(Program(native, self.name))

    def runs(self, program):
        """Makes the part's function, which calls `program`. Returns the program."""
        self.program = program
        self.inputs = [(i, exchange.in_bytes(info)) for i, info in zip(self.read, self.program.inputs)]
        self.dtypes = [dtypes.torch_dtype(info.dtype) for _, info in self.inputs]
        self.call = self.direct(self.device) if self.device.type == "cuda" and self.inputs else self.checked
        return self.program

    def checked(self, *args):
        """Runs the part (a set of torch operators) by calling its Program, and returns the results. Copies arguments that
        have another layout than the program's inputs. If an argument has another dtype or shape than torch declared,
        runs the original torch operators."""
        if not all(_is_of(args[i], info, dtype) for (i, info), dtype in zip(self.inputs, self.dtypes)):
            return self._torchs(args)
        given = [laid_out(args[i], info) for i, info in self.inputs]
        device, outs = given[0].device, []
        for at, o in enumerate(self.program.outputs):
            if o.memory is None:
                outs.append(exchange.empty_strided(o, self._strides_of(at), device))
        try:
            self.program(*given, out=outs)
        except Error as why:
            raise type(why)(str(why).replace(f"program {self.name}", f"the part {self.words}", 1)) from None
        made, own = [], iter(outs)
        for o in self.program.outputs:
            made.append(next(own) if o.memory is None else args[self.read[o.memory]])
            if o.memory is not None and made[-1] is not given[o.memory]:
                made[-1].copy_(given[o.memory].view(made[-1].shape))
        results = [clone(args[~i], strides) if i < 0 else made[i] for i, strides in zip(self.which, self.strides)]
        results = [r if r.shape == s else viewed(r, s, strides) for r, s, strides in zip(results, self.shapes, self.strides)]
        return results[0] if self.single else tuple(results)

    def _strides_of(self, at):
        """Returns the strides with which to allocate the output with index `at`. In dimensions of one element they are
        those that torch declared, because torch's kernels consider these when they choose a result's layout."""
        o = self.program.outputs[at]
        declared = next((s for which, shape, s in zip(self.which, self.shapes, self.strides) if which == at and shape == o.shape), o.strides)
        return tuple(s if n == 1 else own for n, s, own in zip(o.shape, declared, o.strides))

    def _torchs(self, args):
        """Runs the part's original torch operators on the arguments, copies results to the arguments that the part
        updates in place, and returns the results."""
        made = self.module(*args)
        for i, x in self.updates.items():
            args[x].copy_(made if self.single else made[i])
        return made

    def direct(self, device):
        """Returns a function that calls the program without checking the arguments. If the program refuses them, the
        function calls `checked`, which copies arguments that have another layout. From then on the function copies
        these arguments in every call."""
        table = exchange.exchange_table(torch.Tensor)
        if table is None or sys.implementation.name != "cpython":
            return self.checked
        copied = set(self.copied)
        run, handle = self.program._native.objects()
        scope = {"__name__": __name__, "run": run, "handle": c_void_p(handle), "table": c_void_p(table), "laid_out": laid_out, "clone": clone, "viewed": viewed}
        if device.type == "cuda":
            # allocates on the current device; the program refuses tensors of other devices
            scope["empty"] = torch._C._dynamo.guards._empty_strided_cuda
        else:
            scope["empty"] = lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype)
        function = self._function(scope, copied)

        def refused(*args):
            before = len(copied)
            for (i, info), dtype in zip(self.inputs, self.dtypes):
                if _is_of(args[i], info, dtype) and not (args[i].ndim and _lies_as(args[i], info)):
                    copied.add(i)
            if len(copied) > before:
                function.__code__ = self._function(scope, copied).__code__
            return self.checked(*args)

        scope["refused"] = refused
        return function

    def _function(self, scope, copied):
        """Generates and compiles the Python source of the function that `direct` returns. `scope`: its global variables,
        a dict, which this method completes. `copied`: indices of the arguments that the function copies to the layout
        of the program's inputs."""
        names = [f"a{i}" for i in range(len(self.order))]
        given, lines = [], []
        changed = {o.memory for o in self.program.outputs if o.memory is not None}
        for at, (i, info) in enumerate(self.inputs):
            if i in copied and at in changed:  # an argument that is updated in place must be copied back
                lines.append(f"return refused({', '.join(names)})")
            scope[f"info{at}"] = info
            given.append(f"laid_out({names[i]}, info{at})" if i in copied else names[i])
        outs = []
        for at, o in enumerate(self.program.outputs):
            if o.memory is not None:
                outs.append(names[self.read[o.memory]])
                continue
            scope[f"dtype{at}"] = dtypes.torch_dtype(o.dtype)
            line, shape = exchange.padding_of(o)
            narrowed = "" if line is None else f".narrow({line}, 0, {o.shape[line]})"
            lines.append(f"o{at} = empty({shape}, {self._strides_of(at)}, dtype{at}){narrowed}")
            outs.append(f"o{at}")
        lines.append(f"ins, outs = ({', '.join(given)},), ({', '.join(outs)},)")
        # address where CPython stores a tuple's objects
        ins, outs_at = (f"id({t}) + {tuple.__basicsize__}" for t in ("ins", "outs"))
        # created once, like the handle and the table
        scope["in_count"], scope["out_count"] = c_int(len(given)), c_int(len(outs))
        lines.append(f"if run(handle, table, {ins}, in_count, {outs_at}, out_count, None):")
        lines.append(f"    return refused({', '.join(names)})")
        results = []
        for which, shape, strides in zip(self.which, self.shapes, self.strides):
            if which < 0:
                results.append(f"clone({names[~which]}, {strides})")
                continue
            o = self.program.outputs[which]
            as_made = o.shape == shape or o.memory is not None and self.program.inputs[o.memory].shape == shape
            has_strides = as_made or o.memory is not None or torch.empty_strided(o.shape, o.strides, device="meta").view(shape).stride() == strides
            results.append(outs[which] if as_made else f"{outs[which]}.view({shape})" if has_strides else f"viewed({outs[which]}, {shape}, {strides})")
        lines.append("return " + (results[0] if self.single else f"({', '.join(results)},)"))
        text = f"def {self.name}({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in lines)
        made = {}
        exec(compile(text, f"<zellige {self.name}>", "exec"), scope, made)
        return made[self.name]


def clone(x, strides):
    """Returns a copy of x with the strides `strides`, for a result of the part that is one of its arguments, x."""
    return x.clone() if x.stride() == strides else torch.empty_strided(x.shape, strides, dtype=x.dtype, device=x.device).copy_(x)


def viewed(x, shape, strides):
    """Returns x viewed in the shape `shape`. If the view's strides differ from `strides`, which torch declared, only in
    dimensions of one element, the result has the declared strides."""
    made = x.view(shape)
    same = made.stride() == strides or any(a != b for n, a, b in zip(shape, made.stride(), strides) if n > 1)
    return made if same else made.as_strided(shape, strides)


def _is_of(x, info, dtype) -> bool:
    """Returns true if a tensor has the dtype and shape of a program's input."""
    return x.dtype == dtype and operators.shape_of(x) == info.shape


def _lies_as(x, info) -> bool:
    """Returns true if a tensor has the strides and the alignment for which the program was compiled."""
    return x.data_ptr() % info.alignment == 0 and all(s == w for n, s, w in zip(info.shape, x.stride(), info.strides) if n > 1)


def laid_out(x, info):
    """Returns x in the strides and alignment of a program's input: x itself if it has them, else a copy."""
    x = x if x.ndim else x.view(1)
    if _lies_as(x, info):
        return x
    return torch.empty_strided(info.shape, info.strides, dtype=x.dtype, device=x.device).copy_(x)
