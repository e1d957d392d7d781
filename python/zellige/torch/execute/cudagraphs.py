"""Replays calls of a compiled graph from CUDA graphs, so that the host makes one launch per call and not one per
kernel.

    run = Replayed(call, graph, static, report)        call(*inputs) -> outputs
    run(inputs)                                        captured at the first call, replayed by later calls

A function with open sizes has a capture for each combination of them that is called, the last MAX_SIZES at most.
Inputs with fixed addresses (`static`: parameters and buffers) are read in place; others are copied into tensors that
belong to the capture. Calls from another thread, on another stream or with other parameters have captures of their own.
Outputs belong to the capture: the next call that replays it overwrites them. The number of captures, or the reason why
one failed, is written to `report`.
"""

import threading
import warnings
from collections import OrderedDict
from typing import NamedTuple

import torch

from ..import_ import custom, open_graph
from ..import_.kinds import tensors
from . import capturable, kept

MAX_CAPTURES = 128  # captures per function; further calls run without a capture
# Of a function with open sizes: captures, and the share of the GPU's memory that they have. The one that was replayed longest ago
# makes room for the next.
MAX_SIZES, MAX_SHARE = 64, 0.25


class Gpu:
    """Runs and captures calls on one GPU."""

    def __init__(self, device):
        self._device = device

    def is_capturing(self) -> bool:
        """Returns true if the caller of the function is itself capturing a CUDA graph on the current stream."""
        return kept.is_capturing()

    def stream(self) -> int:
        """Returns the current stream's handle as a number."""
        return torch._C._cuda_getCurrentRawStream(self._device.index)

    def new_stream(self):
        return torch.cuda.Stream(self._device)

    def reserved(self) -> int:
        """Returns the bytes of the GPU's memory that torch has, of which each capture has some for itself."""
        return torch.cuda.memory_reserved(self._device)

    def room(self) -> int:
        """Returns the bytes that captures of one function may have."""
        return int(torch.cuda.get_device_properties(self._device).total_memory * MAX_SHARE)

    def run(self, call, inputs, stream):
        """Runs a call on a stream, after the work that is on the current stream and before later work on it. Returns
        the call's outputs."""
        current = torch.cuda.current_stream(self._device)
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            made = call(*inputs)
        current.wait_stream(stream)
        for t in tensors(made):
            if t.is_cuda:
                t.record_stream(current)
        return made

    def capture(self, call, inputs, stream):
        """Captures a call as a CUDA graph, without running it. Returns (outputs, replay): replay() runs the captured
        call on the same inputs, and writes the same outputs."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(self._device)
        torch.cuda.empty_cache()  # frees memory now, because nothing can be freed during the capture
        with torch.cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                outputs = call(*inputs)
            finally:
                graph.capture_end()
        return outputs, graph.replay


class Declared(NamedTuple):
    """What a tensor is like, without its memory."""

    shape: tuple
    strides: tuple
    dtype: torch.dtype
    device: torch.device

    def stride(self) -> tuple:
        return self.strides


class Replayed:
    """A function of a list of inputs that replays captures of `call`. report.captured counts the captures;
    report.uncaptured is the reason if one failed, after which calls run without captures."""

    _boxed_call = True  # AOT's mark of a function that takes one list

    def __init__(self, call, graph, static, report):
        inputs = graph.find_nodes(op="placeholder")
        values = {i: n.meta["val"] for i, n in enumerate(inputs) if n.users and isinstance(n.meta["val"], torch.Tensor)}
        copied = [i for i in values if i in static and any(u.target in custom.ONCE for u in inputs[i].users)]
        self._begin(call, report, capturable.device(graph), [i for i in values if i in static], open_graph.open_inputs(graph), copied)
        self._values = {i: Declared(v.shape, v.stride(), v.dtype, v.device) for i, v in values.items() if i not in static}

    def _begin(self, call, report, device, static, sized, copied):
        self._call, self._own, self._report, self._captures, self._streams = call, kept.without(call), report, OrderedDict(), {}
        self._static, self._device, self._gpu, self._sized = static, device, Gpu(device), sized
        self._copied = copied  # inputs of which a capture reads copies, that are made again where they change

    def written(self) -> dict:
        """Returns how calls are captured, as strings, numbers, lists and dicts, for `again`."""
        values = {i: (list(v.shape), list(v.strides), str(v.dtype).removeprefix("torch."), str(v.device)) for i, v in self._values.items()}
        return {"static": self._static, "sized": self._sized, "copied": self._copied, "device": str(self._device), "values": list(values.items())}

    @classmethod
    def again(cls, call, entry, report):
        """Returns the function of which `written` returned `entry`, for a call of the same graph."""
        made = cls.__new__(cls)
        made._begin(call, report, torch.device(entry["device"]), entry["static"], entry["sized"], entry["copied"])
        made._values = {i: Declared(tuple(shape), tuple(strides), getattr(torch, dtype), torch.device(device)) for i, (shape, strides, dtype, device) in entry["values"]}
        return made

    def __call__(self, inputs):
        if self._gpu.is_capturing():
            return self._call(*inputs)
        key = threading.get_ident(), self._gpu.stream(), *(custom.version(inputs[i]) for i in self._copied)
        if self._sized:
            key += tuple([getattr(inputs[i], "shape", inputs[i]) for i in self._sized])
            if key in self._captures:
                self._captures.move_to_end(key)
        for capture in self._captures.get(key, ()):
            if torch._C._tensors_data_ptrs_at_indices_equal(inputs, capture.addresses, self._static):
                return capture(inputs)
        return self._first(key, inputs)

    def _first(self, key, inputs):
        """Runs the call once eagerly, so that kernels and libraries are initialised, and then captures it as the CUDA
        graph that later calls with the same `key` (thread and stream) replay. Only runs the call if too many calls have
        been captured, or if a capture has failed. Returns the call's outputs."""
        if self._report.uncaptured or not self._sized and sum(map(len, self._captures.values())) >= MAX_CAPTURES:
            return self._call(*inputs)
        if key[:2] not in self._streams:
            self._streams[key[:2]] = self._gpu.new_stream()
        made = self._gpu.run(self._own, inputs, self._streams[key[:2]])
        values = self._values
        if self._sized:
            values = {i: Declared(x.shape, x.stride(), x.dtype, x.device) for i, x in ((i, inputs[i]) for i in values)}
            self._make_room()
        try:
            capture = _Capture(self._gpu, self._own, values, self._static, inputs, self._streams[key[:2]])
        except Exception as why:  # out of memory, or a kernel that cannot be captured
            self._report.uncaptured = f"{type(why).__name__}: {(str(why).splitlines() or [''])[0]}"
            warnings.warn(f"zellige captures no CUDA graph: {self._report.uncaptured}", RuntimeWarning, stacklevel=2)
            return made
        self._captures.setdefault(key, []).append(capture)
        self._report.captured += 1
        return made

    def _make_room(self):
        """Drops the captures that were replayed longest ago, while there are too many, or while they have too much memory."""
        count, taken = (sum(of(c) for all_of in self._captures.values() for c in all_of) for of in (lambda c: 1, lambda c: c.bytes))
        while self._captures and (count >= MAX_SIZES or taken > self._gpu.room()):
            _, dropped = self._captures.popitem(last=False)
            count, taken = count - len(dropped), taken - sum(c.bytes for c in dropped)


class _Capture:
    """A CUDA graph of one call, with the inputs and outputs that it uses."""
    def __init__(self, gpu, call, values, static, inputs, stream):
        """Captures a call. `values`: a dict from the index of each input that must be copied to a tensor with the
        input's shape, strides, dtype and device. `static`: the indices of the inputs that are read in place."""
        before = gpu.reserved()
        # calls outside of inference mode could not write to inference-mode tensors
        with torch.inference_mode(False), torch.no_grad():
            self._inputs = _Inputs(values)
            self._inputs.copy(inputs)
            self._outputs, self._replay = gpu.capture(call, [self._inputs.own.get(i, x) for i, x in enumerate(inputs)], stream)
        self.bytes = max(0, gpu.reserved() - before)
        # by index of the input, as torch's comparison of addresses expects
        self.addresses = [x.data_ptr() if i in static else None for i, x in enumerate(inputs)]

    def __call__(self, inputs) -> list:
        self._inputs.copy(inputs)
        self._replay()
        # new objects, because a caller may change a tensor's shape
        return [t.detach() if isinstance(t, torch.Tensor) else t for t in self._outputs]


class _Inputs:
    """The tensors into which a call's inputs are copied, with one launch per dtype."""

    def __init__(self, values):
        self.own, groups = {}, {}
        self._expanded = {i: [d for d, stride in enumerate(v.stride()) if stride == 0 and v.shape[d] > 1] for i, v in values.items()}
        for i, v in values.items():
            sizes = [1 if d in self._expanded[i] else n for d, n in enumerate(v.shape)]
            made = torch.empty_strided(sizes, v.stride(), dtype=v.dtype, device=v.device)
            self.own[i] = made.expand(v.shape)
            groups.setdefault(v.dtype, []).append((i, made))
        self._groups = [tuple(zip(*group)) for group in groups.values()]

    def copy(self, inputs) -> None:
        for numbers, own in self._groups:
            given = [self._narrow(i, inputs[i]) if self._expanded[i] else inputs[i] for i in numbers]
            if len(own) == 1:
                own[0].copy_(given[0])
            else:
                torch._foreach_copy_(own, given)

    def _narrow(self, i, x):
        """Returns x, the input with index i, without the repeated elements of its expanded dimensions."""
        for d in self._expanded[i]:
            x = x.narrow(d, 0, 1)
        return x
