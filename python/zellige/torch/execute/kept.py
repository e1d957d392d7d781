"""Keeps the constants of a graph's function for CUDA graphs that its caller captures.

    keeping(function, tensors)      a function that calls `function`; a call while the current stream is captured keeps `tensors`

A CUDA graph has the addresses of what it reads, and no references. A caller may replay a graph after the function is gone, by
torch._dynamo.reset() or because torch evicts it. The constants that the function read while it was captured are therefore
kept until the process ends; they are the only memory of a function that a graph reads. (Results lie in the graph's own pool,
and the library keeps workspaces and kernels that were launched under capture.)
"""

import torch

DEVICE = "cuda"
_WITHOUT = "zellige_without"  # attribute of a function that keeps constants
KEPT = {}  # by identity: the constants of functions that were captured


def is_capturing() -> bool:
    """Returns true if a CUDA graph is being captured on the current stream."""
    return torch._C._cuda_isCurrentStreamCapturing()


def keep(tensors) -> None:
    """Keeps tensors until the process ends."""
    KEPT.update((id(t), t) for t in tensors)


def keeping(function, tensors):
    """Returns a function like `function`, which reads `tensors`: a call under capture keeps those that lie on a GPU. Returns
    `function` itself if there are none. Parameters are not kept: they belong to the model, which its user keeps."""
    own = [t for t in tensors if isinstance(t, torch.Tensor) and t.device.type == DEVICE and not isinstance(t, torch.nn.Parameter)]
    if not own:
        return function

    def call(*given):
        if is_capturing():
            keep(own)
        return function(*given)

    setattr(call, _WITHOUT, function)
    return call


def without(function):
    """Returns the function of which `keeping` made `function`; for callers that outlive the CUDA graphs that they capture."""
    return getattr(function, _WITHOUT, function)


def read_by(module) -> list:
    """Returns the tensors that a graph module has as attributes and reads."""
    found = []
    for n in module.graph.find_nodes(op="get_attr"):
        x = module
        for name in n.target.split("."):
            x = getattr(x, name, None)
        found.append(x)
    return found
