"""Writes the function of a torch graph as source code, from which another process makes it again.

    entry = written(graph, index)                    a dict of strings for json
    function = made(entry, parts)                    the same function; parts: in the order that `index` gave

The entry has the Python source that torch.fx generates for the graph, with the name of each function that it calls: one
of torch's or of this package, or a part. Raises Unknown if a function has no such name, or a constant of the graph is large.
"""

import base64
import importlib
import types

import torch
from torch.fx.graph import _custom_builtins

from ..measure import attention_kernels

_MODULES = ("torch", "zellige", "_operator", "operator", "math", "builtins")
_MAX_BYTES = 1 << 16  # largest constant tensor of a graph, in bytes


class Unknown(Exception):
    """Raised for what cannot be described; the message says what that is."""


def written(graph, index) -> dict:
    """Returns the entry of a graph's function. `index`: a function that returns the number of the part that a function
    calls; None if it is no part's."""
    code = graph.python_code("self")
    names = {name: _name(x, index) for name, x in code.globals.items() if name not in _custom_builtins}
    own = {n.target: getattr(graph.owning_module, n.target) for n in graph.find_nodes(op="get_attr")}
    return {"source": code.src, "names": names, "own": sorted(own)}


def _name(x, index) -> str:
    """Returns the name of a function: "part 3", "attention cudnn" or "torch._C:TensorBase.view"."""
    part = index(x)
    if part is not None:
        return f"part {part}"
    if hasattr(x, attention_kernels.KERNEL):
        return f"attention {getattr(x, attention_kernels.KERNEL)}"
    owner = getattr(x, "__objclass__", None)
    module = getattr(owner or x, "__module__", None) or ""
    name = f"{module}:{owner.__qualname__ + '.' if owner else ''}{getattr(x, '__name__', '')}"
    if module.split(".")[0] not in _MODULES or _named(name) is not x:
        raise Unknown(f"a call of {x}")
    return name


def _named(name):
    """Returns the object with a name such as "torch._C:TensorBase.view"; None if there is none."""
    module, _, path = name.partition(":")
    if module.split(".")[0] not in _MODULES:
        return None
    found = importlib.import_module(module)
    for attribute in path.split("."):
        found = getattr(found, attribute, None)
    return found


def made(entry, parts, own=()):
    """Returns the function of an entry. `parts`: the functions of the parts, by number; `own`: by name, the constants
    that the function reads. Raises Unknown if the entry has a name that does not exist."""
    scope = {name: x for name, (_, x) in _custom_builtins.items()}
    for name, of in entry["names"].items():
        kind, _, which = of.partition(" ")
        x = parts[int(which)] if kind == "part" else attention_kernels.kernel(which) if kind == "attention" else _named(of)
        if x is None:
            raise Unknown(of)
        scope[name] = x
    exec(compile(entry["source"], "<zellige, from the cache>", "exec"), scope)
    return types.MethodType(scope["forward"], types.SimpleNamespace(**dict(own)))


def tensor_written(x) -> dict:
    """Returns a small tensor of the host as strings and numbers. Raises Unknown for other tensors."""
    if type(x) is not torch.Tensor or x.device.type != "cpu" or x.layout != torch.strided or x.nbytes > _MAX_BYTES:
        raise Unknown(f"a constant tensor of {x.numel()} elements")
    content = bytes(x.contiguous().flatten().view(torch.uint8).tolist()) if x.ndim else bytes(x.reshape(1).view(torch.uint8).tolist())
    return {"dtype": str(x.dtype).removeprefix("torch."), "shape": list(x.shape), "content": base64.b64encode(content).decode()}


def tensor_made(entry):
    """Returns the tensor of tensor_written."""
    content = bytearray(base64.b64decode(entry["content"]))
    dtype = getattr(torch, entry["dtype"])
    return (torch.frombuffer(content, dtype=dtype) if content else torch.empty(0, dtype=dtype)).reshape(entry["shape"])
