"""Programs: compiled functions and graphs, which are called with arrays."""

import json
import os
from dataclasses import dataclass, replace

from . import _native, exchange
from ._native import Error
from .trees import leaves_of, like


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a program: what an array must be like."""

    name: str
    dtype: str
    shape: tuple
    strides: tuple  # in elements
    bytes: int  # size, from the first element through the last
    alignment: int  # in bytes; the tensor's address must be a multiple of it
    memory: int | None  # of an output: index of the input whose memory it shares, or None
    constant: bool  # of an input: no earlier work on the stream writes it


_KEPT_SHAPES = 256


@dataclass(frozen=True)
class SizeInfo:
    """A size of a program that is known at a call only: a multiple of `multiple` from `min` to `max`."""

    name: str
    min: int
    max: int
    multiple: int


class Program:
    """A compiled program. Called with arrays like the examples, it returns arrays like the function's results.

        program = zellige.compile(layer, x, w)
        y = program(x, w)

    NumPy arrays and other host arrays run on the emulator, synchronously. GPU arrays run on their framework's current stream,
    without a copy and without waiting. Every argument's dtype, shape, strides, device and alignment are compared with those
    that the program expects; a difference raises `Error` with both values.

    inputs, outputs: a TensorInfo for each, in order. An extent that is known at a call only is -1.
    sizes: a SizeInfo for each size that is known at a call only; calls take it from the arrays' shapes.
    source: the CUDA source code.  standalone: the source code with Zellige's headers inlined.  manifest: the description of
        the program for its caller, as a dict (docs/reference/manifest.md).
    plan: the decisions of each planner pass, in words.  price: the estimated time in microseconds.
    notes: limits that the search for fusion groups has reached, and measures of the GPU compilation that do not change
        results (such as compiling again without cache hints).
    rejected: plans that the verifier rejected during the search, with its reasons. They are internal errors of Zellige that
        do not affect the program.
    graph: the graph that the kernels compute, as a dict.  target: the architecture, such as sm_80.  workspace: bytes of device
        memory in addition to the tensors.
    """

    def __init__(self, native: _native.Program, name: str, results=None, arguments=None, captured=(), signature=None):
        self._native, self.name = native, name
        self.inputs = tuple(TensorInfo(**i) for i in native.inputs())
        self.outputs = tuple(TensorInfo(**o) for o in native.outputs())
        self.sizes = tuple(SizeInfo(**s) for s in native.sizes())
        self._kept = {}  # the outputs of a program with sizes, by the shapes of its inputs
        # per input: index of its leaf among the arguments; None: the inputs are the arguments
        self._arguments = arguments
        self._captured = dict(captured)  # captured arrays, by index of the input
        # (form, per leaf: index of an output, or complemented index of a leaf of the arguments)
        self._results = results
        self._signature = signature
        # True if the arguments are the inputs, one to one, and no output shares an input's memory.
        self._is_direct = (
            bool(self.inputs)
            and not self._captured
            and list(self._order()) == list(range(len(self.inputs)))
            and (signature is None or signature[1] == list(signature[0].parameters)[: len(self.inputs)])
            and all(o.memory is None for o in self.outputs)
        )
        single = results is None or (not isinstance(results[0], (tuple, list, dict)) and results[1] == [0])
        self._count, self._single = len(self.inputs), single and len(self.outputs) == 1

    def __repr__(self) -> str:
        def shown(tensors):
            return ", ".join(f"{t.name} {t.dtype} {t.shape}" for t in tensors)

        return f"<zellige.Program {self.name} for {self.target}: {shown(self.inputs)} -> {shown(self.outputs)}>"

    @property
    def source(self) -> str:
        return self._native.text("source")

    @property
    def standalone(self) -> str:
        return self._native.text("standalone")

    def page(self) -> str:
        """Returns a page of HTML, of one file, that says why the kernels are as they are (`zellige explain`). Plans the graph again."""
        return self._native.text("page")

    @property
    def manifest(self) -> dict:
        return json.loads(self._native.text("manifest"))

    @property
    def plan(self) -> str:
        return self._native.text("plan")

    @property
    def graph(self) -> dict:
        return json.loads(self._native.text("graph"))

    @property
    def target(self) -> str:
        return self._native.text("target")

    @property
    def notes(self) -> list:
        return self._native.text("notes").splitlines()

    @property
    def rejected(self) -> list:
        return self._native.text("rejected").splitlines()

    @property
    def price(self) -> float:
        return self._native.price()

    @property
    def workspace(self) -> int:
        return self._native.workspace()

    def explain(self) -> str:
        """Returns the kernel IR (NAME.ir), which shows the planner's decisions, and the estimated time of each kernel."""
        return self._native.text("plan") + self._native.text("price")

    def compile(self) -> None:
        """Compiles for the GPU now, not at the first call. Different programs may be compiled in parallel threads.
        Raises Error if there is no GPU or no NVRTC."""
        self._native.compile()

    def time(self) -> float:
        """Measures one evaluation on the GPU; returns microseconds. Inputs are random, the L2 is cold (buffers
        rotate), and the result is the median of 15 rounds. Raises Error if there is no GPU."""
        return self._native.time()

    def __call__(self, *args, out=None, stream=None, **kwargs):
        """Runs the program on arrays and returns its outputs in the form that the function returned.

          y = program(x, w)
          program(x, w, out=y, stream=stream.cuda_stream)

        out: the outputs' memory, an array or a list of arrays in the order of `outputs` (without those that share
        an input's memory). stream: the address of a CUDA stream to use in place of the current one. Raises Error,
        with the expected and the found value, if an argument is not like its example.
        """
        if self._is_direct and not kwargs and len(args) == self._count:
            table = exchange.exchange_table(type(args[0]))
            if table is not None and getattr(args[0], "is_cuda", False) and not exchange.is_negated(args):
                if out is None:
                    outs = exchange.new_outputs(args[0], self._outputs_of(args))
                else:
                    outs = out if isinstance(out, list) else [out]
                if len(outs) == len(self.outputs):
                    self._native.call_objects(table, args, outs, stream)
                    return outs[0] if self._single else self._given_back(args, outs)
        leaves = self._bound(args, kwargs)
        given = [self._captured[i] if i in self._captured else leaves[at] for i, at in enumerate(self._order())]
        inputs = exchange.Tensors(given)
        outs = self._outs(out, given, self._outputs_of(given, inputs))
        outputs = exchange.Tensors(outs)
        kind, number = inputs.device()
        if kind == exchange.CUDA and stream is None:
            stream = exchange.current_stream(given[0], number)
        self._native.call(inputs.c, inputs.count, outputs.c, outputs.count, stream)
        return self._given_back(leaves, outs)

    def _outputs_of(self, given, inputs=None) -> tuple:
        """Returns the outputs of a call with the arrays `given`: their shapes, where sizes decide them, are those of the call. They are
        kept by the arrays' shapes. inputs: the arrays as exchange.Tensors."""
        if not self.sizes:
            return self.outputs
        shapes = tuple([x.shape for x in given])
        if shapes in self._kept:
            return self._kept[shapes]
        inputs = inputs or exchange.Tensors(given)
        sizes = self._native.find_sizes(inputs.c, inputs.count, len(self.sizes))
        found = []
        for i, o in enumerate(self.outputs):
            shape, strides, size = self._native.output_at(i, len(o.shape), sizes)
            found.append(replace(o, shape=shape, strides=strides, bytes=size))
        if len(self._kept) >= _KEPT_SHAPES:
            self._kept.clear()
        return self._kept.setdefault(shapes, tuple(found))

    def _given_back(self, leaves, outs):
        """Returns the result of a call: the arrays `outs` in the nested tuples, lists and dicts that the traced function
        returned. Where the function returned an argument unchanged, the result has the argument's array, from
        `leaves`."""
        if self._results is None:
            return outs[0] if len(outs) == 1 else tuple(outs)
        form, which = self._results
        return like(form, iter([leaves[~i] if i < 0 else outs[i] for i in which]))

    def _order(self):
        """Returns for each input of the program the index of its array among the leaves of the arguments (the arrays in
        nested tuples, lists and dicts)."""
        return range(len(self.inputs)) if self._arguments is None else self._arguments

    def _bound(self, args, kwargs) -> list:
        """Returns the leaves of the arguments (the arrays in nested tuples, lists and dicts), in order. Raises Error if
        the nesting differs from that of the examples."""
        if self._signature is None:
            names = [i.name for i in self.inputs]
            unknown = [k for k in kwargs if k not in names]
            if unknown:
                raise Error(f"program {self.name}: has no input {unknown[0]}; its inputs are {', '.join(names)}")
            args = [*args, *(kwargs[n] for n in names[len(args) :] if n in kwargs)]
            if len(args) != len(names):
                raise Error(f"program {self.name}: expected {len(names)} inputs ({', '.join(names)}), found {len(args)}")
            return list(args)
        signature, names = self._signature
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as why:
            raise Error(f"program {self.name}: {why}") from None
        found = [leaf for name, value in bound.arguments.items() for leaf in leaves_of(value, name)]
        if [name for name, _ in found] != names:
            raise Error(f"program {self.name}: expected arguments {', '.join(names)}, found {', '.join(n for n, _ in found)}")
        return [array for _, array in found]

    def _outs(self, out, given, outputs) -> list:
        """Returns an array for each of `outputs`. If the output shares an input's memory, this is the input's array, from
        `given`; else it is the array in `out`, or a new one if `out` is None."""
        own = [o for o in outputs if o.memory is None]
        outs = [] if out is None else list(out) if isinstance(out, (tuple, list)) else [out]
        if out is None:
            if own and not given:
                raise Error(f"program {self.name}: takes no inputs whose framework could allocate; pass out=")
            outs = [exchange.empty_like(given[0], o) for o in own]
        elif len(outs) != len(own):
            raise Error(f"program {self.name}: expected {len(own)} arrays in out, found {len(outs)}")
        for array, o in zip(outs, own):
            if exchange.is_numpy(array) and not array.flags.writeable:
                raise Error(f"program {self.name}, output {o.name}: expected memory that can be written, found a read-only array")
        rest = iter(outs)
        return [next(rest) if o.memory is None else given[o.memory] for o in outputs]


def load(manifest) -> Program:
    """Loads a compiled program, which runs on GPUs only, without compiling anything.

      program = zellige.load("mlp.manifest.json")

    manifest: the path of a file NAME.manifest.json, with NAME.cubin in the same folder; `zellige transpile --emit
    cubin` writes both. Raises Error if a file cannot be read, or if the two do not belong together.
    """
    path = os.fspath(manifest)
    if not path.endswith(".manifest.json"):
        raise Error(f"{path}: expected a manifest, NAME.manifest.json, with NAME.cubin next to it")
    found = []
    for file in (path, path.removesuffix(".manifest.json") + ".cubin"):
        try:
            with open(file, "rb") as opened:
                found.append(opened.read())
        except OSError as why:
            raise Error(f"{file}: cannot be read: {why.strerror}") from None
    text = found[0].decode(errors="replace")
    native = _native.loaded(text, path, found[1])
    return Program(native, json.loads(text)["name"])
