"""Calls of a compiled graph, replayed from CUDA graphs: the host makes one launch in place of all of theirs.

    run = Replayed(call, graph, static, report)        call(*inputs) -> outputs
    run(inputs)                                        captured at the first call, replayed by later ones

Inputs that keep their addresses (`static`: parameters and buffers) are read where they lie; others are copied into tensors of the capture.
A call by another thread, on another stream or with other parameters is captured by itself. Outputs are the capture's own: the next call that
replays it overwrites them.
"""

import threading
import warnings

import torch

from . import torch_capturable

MOST = 128  # captures of a function; calls beyond these run as they are


class Gpu:
    """What captures on one GPU."""

    def __init__(self, device):
        self._device = device

    def is_capturing(self) -> bool:
        """Whether the caller captures a CUDA graph of its own."""
        return torch._C._cuda_isCurrentStreamCapturing()

    def stream(self) -> int:
        """The current one, as a number."""
        return torch._C._cuda_getCurrentRawStream(self._device.index)

    def new_stream(self):
        return torch.cuda.Stream(self._device)

    def run(self, call, inputs, stream):
        """A call on a stream, in its place among the current stream's work."""
        current = torch.cuda.current_stream(self._device)
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            made = call(*inputs)
        current.wait_stream(stream)
        for t in torch_capturable.tensors(made):
            if t.is_cuda:
                t.record_stream(current)
        return made

    def capture(self, call, inputs, stream):
        """(outputs, replay): the call, which does not run yet, as a function that runs it on the same inputs and into the same outputs."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(self._device)
        torch.cuda.empty_cache()  # nothing can be freed while it captures
        with torch.cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                outputs = call(*inputs)
            finally:
                graph.capture_end()
        return outputs, graph.replay


class Replayed:
    """`report.captured` counts the captures, `report.uncaptured` says why one failed."""

    _boxed_call = True  # AOT's word for a function of one list

    def __init__(self, call, graph, static, report):
        self._call, self._report, self._captures, self._streams = call, report, {}, {}
        values = {i: n.meta["val"] for i, n in enumerate(graph.find_nodes(op="placeholder")) if n.users}
        self._static = [i for i in values if i in static]
        self._values = {i: v for i, v in values.items() if i not in static}
        self._gpu = Gpu(torch_capturable.device(graph))

    def __call__(self, inputs):
        if self._gpu.is_capturing():
            return self._call(*inputs)
        key = threading.get_ident(), self._gpu.stream()
        for capture in self._captures.get(key, ()):
            if torch._C._tensors_data_ptrs_at_indices_equal(inputs, capture.addresses, self._static):
                return capture(inputs)
        return self._first(key, inputs)

    def _first(self, key, inputs):
        """Runs by itself, which prepares what kernels and libraries keep, and is captured for the calls after it."""
        if self._report.uncaptured or sum(map(len, self._captures.values())) >= MOST:
            return self._call(*inputs)
        if key not in self._streams:
            self._streams[key] = self._gpu.new_stream()
        made = self._gpu.run(self._call, inputs, self._streams[key])
        try:
            capture = _Capture(self._gpu, self._call, self._values, self._static, inputs, self._streams[key])
        except Exception as why:  # memory, or a kernel that cannot be captured
            self._report.uncaptured = f"{type(why).__name__}: {(str(why).splitlines() or [''])[0]}"
            warnings.warn(f"zellige captures no CUDA graph: {self._report.uncaptured}", RuntimeWarning, stacklevel=2)
            return made
        self._captures.setdefault(key, []).append(capture)
        self._report.captured += 1
        return made


class _Capture:
    def __init__(self, gpu, call, values, static, inputs, stream):
        """`values`: what the inputs that are copied are like, by number. `static`: the numbers of those that are read where they lie."""
        with torch.inference_mode(False), torch.no_grad():  # tensors of that mode could not be copied into by calls outside of it
            self._inputs = _Inputs(values)
            self._inputs.copy(inputs)
            self._outputs, self._replay = gpu.capture(call, [self._inputs.own.get(i, x) for i, x in enumerate(inputs)], stream)
        self.addresses = [x.data_ptr() if i in static else None for i, x in enumerate(inputs)]  # torch looks them up by the same numbers

    def __call__(self, inputs) -> list:
        self._inputs.copy(inputs)
        self._replay()
        return [t.detach() if isinstance(t, torch.Tensor) else t for t in self._outputs]  # another object each: a caller may change its shape


class _Inputs:
    """Tensors into which the inputs of a call are copied, by one launch for each dtype."""

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
        """Its own elements, of a tensor that is expanded."""
        for d in self._expanded[i]:
            x = x.narrow(d, 0, 1)
        return x
