"""One rank of a job, and the programs that it runs together with the others.

    from zellige import ranks

    mine = ranks.of_environment()                      # torchrun's or mpirun's; or of_group(torch's), of_threads(4)
    program = ranks.compile(form, mine)                # form: of ranks.graph
    y = program(x, up, down)                           # this rank's tensors

docs/how-to/run-on-several-gpus.md says how to start the processes, and what happens when one dies.
"""

import ctypes
import weakref
from typing import Any

from . import _abi, _native, exchange
from ._native import Error
from .program import TensorInfo


class Ranks:
    """One rank of a job, connected to the others: its number `rank`, their number `count`, and `device`, the index of its GPU; None on
    the emulator. Made by of_environment, of_group, of_gather and of_threads."""

    def __init__(self, handle, kept=None):
        self._handle, self._kept = handle, kept  # kept: what the library calls
        library = _abi.library()
        self.rank = _abi.counted(library.zellige_ranks_rank(handle))
        self.count = _abi.counted(library.zellige_ranks_count(handle))
        device = library.zellige_ranks_device(handle)
        self.device = device if device >= 0 else None

    def __del__(self):
        _abi.release(self, "zellige_ranks_free")

    def __repr__(self) -> str:
        return f"<rank {self.rank} of {self.count} on {'the emulator' if self.device is None else f'GPU {self.device}'}>"

    @property
    def handle(self):
        return self._handle


class _Gather:
    """Adapts a function of bytes, which returns those of all ranks, to the C ABI."""

    def __init__(self, function):
        self._function, self.raised = function, None
        self.c = _abi.GATHER(self._call)

    def _call(self, _, mine, everyone, size):
        try:
            made = b"".join(self._function(ctypes.string_at(mine, size)))
            ctypes.memmove(everyone, made, len(made))
            return 0
        except BaseException as why:  # an exception must not cross the ABI
            self.raised = why
            return 1


def of_environment(on: str = "auto") -> Ranks:
    """Returns the rank of this process in the job that torchrun or mpirun has started: ranks.of_environment(). Waits for the others."""
    handle = ctypes.c_void_p()
    _abi.checked(_abi.library().zellige_ranks_of_environment(_native.ON[_on(on)], ctypes.byref(handle)))
    return Ranks(handle)


def of_threads(count: int, on: str = "auto") -> list:
    """Returns `count` ranks of this process, for a thread each: ranks.of_threads(4)."""
    handles = (ctypes.c_void_p * max(count, 1))()
    _abi.checked(_abi.library().zellige_ranks_of_threads(_native.ON[_on(on)], count, handles))
    return [Ranks(ctypes.c_void_p(h)) for h in handles]


def of_gather(rank: int, count: int, gather, on: str = "auto") -> Ranks:
    """Returns rank `rank` of `count`, which pass each other bytes by a function: it gets those of this rank, and returns a list of
    those of all, as long each: ranks.of_gather(comm.rank, comm.size, comm.allgather) with mpi4py."""
    handle, adapted = ctypes.c_void_p(), _Gather(gather)
    _abi.checked(_abi.library().zellige_ranks_of_gather(_native.ON[_on(on)], rank, count, adapted.c, None, ctypes.byref(handle)))
    return Ranks(handle, adapted)


def of_group(group: Any = None, on: str = "auto") -> Ranks:
    """Returns this process's rank in one of torch's process groups, or in all: ranks.of_group(mesh.get_group()). The group tells the ranks
    of each other until it is destroyed; what they compute goes by a communicator of its own, on the current GPU."""
    import torch
    import torch.distributed as dist

    if not dist.is_initialized():
        raise Error("of_group: expected a process group, found none; call torch.distributed.init_process_group first")
    count, held = dist.get_world_size(group), weakref.ref(dist.group.WORLD if group is None else group)
    device = "cuda" if dist.get_backend(group) == "nccl" else "cpu"

    def gather(mine):
        if not mine:
            return [b""] * count
        x = torch.frombuffer(bytearray(mine), dtype=torch.uint8).to(device)
        everyone, alive = [torch.empty_like(x) for _ in range(count)], held()
        if alive is None:
            raise Error("of_group: the process group has been destroyed")
        dist.all_gather(everyone, x, group=alive)
        return [y.cpu().numpy().tobytes() for y in everyone]

    if device == "cuda":
        torch.empty(1, device="cuda")  # which makes the GPU's context the current one
    return of_gather(dist.get_rank(group), count, gather, on)


def _on(on):
    if on not in ("auto", "gpu", "emulator"):
        raise Error(f"on: expected auto, gpu or emulator, found {on!r}")
    return on


COLLECTIVES = {"cheapest": 0, "nccl": 1, "symmetric": 2, "one-shot": 3, "two-shots": 4, "fused": 5}


class RankProgram:
    """What one rank runs: kernels, and collectives between them or in them. Called with this rank's arrays of NumPy or torch, it returns
    new ones; out= gives those that it writes. On a GPU the work is only enqueued, and may be captured; wait() waits for it."""

    def __init__(self, graph: _native.Graph, ranks: Ranks, options):
        self.ranks, self._handle = ranks, ctypes.c_void_p()
        self.name = graph.form().get("name", "graph")
        self.inputs, self.outputs = ([_told(i) for i in infos] for infos in (graph.inputs(), graph.outputs()))
        self._launch = _abi.library().zellige_rank_program_launch
        _native.find_nvrtc()
        self._checked(_abi.library().zellige_rank_program_new(graph.handle, ranks.handle, ctypes.byref(options), ctypes.byref(self._handle)))

    def __del__(self):
        _abi.release(self, "zellige_rank_program_free")

    def __repr__(self) -> str:
        return f"<program {self.name} of {self.ranks!r}>"

    def _checked(self, status):
        kept = self.ranks._kept
        if status and kept is not None and kept.raised is not None:
            raised, kept.raised = kept.raised, None
            raise raised
        _abi.checked(status)

    def __call__(self, *arrays, out=None, stream=None):
        outs = [out] if exchange.is_array(out) else list(out) if out is not None else None
        if outs is None:
            if not arrays:
                raise Error(f"program {self.name}: takes no inputs whose framework could allocate; pass out=")
            outs = exchange.new_outputs(arrays[0], self.outputs)
        for what, given, expected in (("input", arrays, self.inputs), ("output", outs, self.outputs)):
            if len(given) != len(expected):
                raise Error(f"program {self.name}: expected {len(expected)} {what}s, found {len(given)}")
            for x, info in zip(given, expected):
                self._require(what, x, info)
        ins, to = exchange.Tensors(arrays), exchange.Tensors(outs)
        if stream is None and ins.device()[0] == exchange.CUDA:
            stream = exchange.current_stream(arrays[0], ins.device()[1])
        self.launch(self._addresses(ins), self._addresses(to), stream)
        return outs[0] if len(outs) == 1 else tuple(outs)

    def launch(self, inputs, outputs, stream=None) -> None:
        """Runs the program on addresses, in lists, of arrays that are as the program expects them."""
        ins, to = (ctypes.c_void_p * len(inputs))(*inputs), (ctypes.c_void_p * len(outputs))(*outputs)
        if status := self._launch(self._handle, ins, to, stream):
            self._checked(status)

    def _require(self, what, x, info):
        spec = exchange.spec_of(x)
        strides = spec.strides or _row_major(spec.shape)
        if (spec.dtype, tuple(spec.shape)) != (info.dtype, info.shape):
            raise Error(
                f"program {self.name}, {what} {info.name}: expected {info.dtype} {info.shape}, found {spec.dtype} {tuple(spec.shape)}"
            )
        if any(n > 1 and a != b for n, a, b in zip(info.shape, strides, info.strides)):
            raise Error(f"program {self.name}, {what} {info.name}: expected strides {info.strides}, found {tuple(strides)}")

    def _addresses(self, tensors):
        expected = None if self.ranks.device is None else (exchange.CUDA, self.ranks.device)
        addresses = []
        for i in range(tensors.count):
            t = tensors.c[i]
            if (expected is None and t.device_type != exchange.HOST) or (expected and (t.device_type, t.device_id) != expected):
                where = "the host" if expected is None else f"GPU {expected[1]}"
                raise Error(f"program {self.name}: expected arrays of {where}, where rank {self.ranks.rank} runs, found one elsewhere")
            addresses.append((t.data or 0) + t.byte_offset)
        return addresses

    def wait(self, stream=None) -> None:
        """Waits for the work on a stream: torch's current one. Raises Error if another rank dies, or if the time is up."""
        if stream is None and self.ranks.device is not None:
            import torch

            stream = torch.cuda.current_stream(self.ranks.device).cuda_stream or None
        self._checked(_abi.library().zellige_rank_program_wait(self._handle, stream))

    def _text(self, which):
        return _abi.text_of(_abi.library().zellige_rank_program_text, self._handle, _native.TEXTS[which])

    @property
    def notes(self) -> list:
        """Returns how many collectives there are, what computes them, and why."""
        return self._text("notes").splitlines()

    @property
    def source(self) -> str:
        """Returns the CUDA source code of all steps."""
        return self._text("source")


def _row_major(shape) -> tuple:
    strides, step = [], 1
    for n in reversed(shape):
        strides.insert(0, step)
        step *= n
    return tuple(strides)


def _told(info) -> TensorInfo:
    """Returns the description of an input or output, which is row-major unless the graph says otherwise."""
    return TensorInfo(**(info | {"strides": info["strides"] or _row_major(info["shape"])}))


def compile(graph: Any, ranks: Ranks, *, collectives="cheapest", target=None, constant=(), fuse=True, workers=0) -> RankProgram:
    """Returns what this rank runs of a graph over ranks. All ranks must call it, with equal graphs and options.

      program = ranks.compile(form, mine)

    graph: JSON, or a dict in that form.  collectives: "nccl", "symmetric" (kernels that access the memory of other GPUs), "one-shot",
    "two-shots" or "fused" (which kernels), or "cheapest". The other parameters are those of zellige.compile. Raises Error, on every
    rank, if ranks differ or one does not come.
    """
    if collectives not in COLLECTIVES:
        raise Error(f"collectives: expected one of {', '.join(COLLECTIVES)}, found {collectives!r}")
    names = [c.encode() for c in constant]
    options = _abi.Options(
        ctypes.sizeof(_abi.Options),
        target=target.encode() if target else None,
        constants=(ctypes.c_char_p * max(1, len(names)))(*names),
        constant_count=len(names),
        workers=workers,
        as_given=not fuse,
        collectives=COLLECTIVES[collectives],
    )
    return RankProgram(_native.Graph(graph), ranks, options)
