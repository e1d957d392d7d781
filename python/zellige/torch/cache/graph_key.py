"""Describes a graph that dynamo traced in a string: the key of what the backend decided on it (cache/decisions.py).

    key, sure = of(graph_module, inputs, take="cheaper", cudagraphs=False)

Graphs with equal keys are compiled in the same way: the key has each operator with its arguments, the inputs' dtypes,
shapes, strides and devices, which inputs share memory, torch's settings, the GPU, and the versions of torch and of this
package. It has no names, so that it is the same in each process. Raises Unknown for a graph of which something cannot be
described, such as a function of the user's. An operator of another library has a name, but may have changed since. Then
`sure` is false, and AOT's graph has to be compared, too:

    mark(module)      module.meta[TRACED] = a hash of the graph, with the declared result of each node
"""

import functools
import hashlib
import pathlib
import sys
import types

import sympy
import torch

from ... import _native
from ..execute.source import Unknown
from ..import_ import custom, symbols
from ..import_.kinds import properties
from ..import_.products import allows_tf32

# modules whose functions are those of torch's version, or of Python's
_MODULES = ("torch", "_operator", "operator", "math", "builtins")
_NAMESPACES = ("aten", "prims", "prim", "zellige")
_OTHERS = "operator of another library: "
_BY_REPR = (int, float, bool, str, complex, type(None), type(Ellipsis), torch.dtype, torch.device, torch.layout, torch.memory_format)


TRACED = "zellige: the graph as traced"  # key in a module's meta


def mark(module) -> None:
    """Stores a hash of a module's graph, as AOT has traced it, in the module's meta."""
    number = {n: f"%{i}" for i, n in enumerate(module.graph.nodes)}
    content = hashlib.blake2b()
    for n in module.graph.nodes:
        args = torch.fx.map_arg((n.args, n.kwargs), number.__getitem__)
        content.update(f"{n.op} {'' if n.op == 'placeholder' else n.target} {args} {properties(n.meta.get('val'))}\n".encode())
    module.meta[TRACED] = content.hexdigest()


def of(graph_module, inputs, **options) -> tuple:
    """Returns (the description of a graph for its inputs and the backend's `options`, whether only equal graphs have
    it)."""
    lines, sure = [repr(sorted(options.items())), _versions(), _settings()], True
    number, memories, devices, sizes = {}, {}, set(), {}
    given = iter(inputs)
    for node in graph_module.graph.nodes:
        argument = lambda x: _argument(x, number)  # noqa: B023, E731
        if node.op == "placeholder":
            what = _input(node.meta.get("example_value"), next(given), memories, devices, sizes)
            # torch's mark of a tensor with a fixed address, which CUDA graphs read in place
            what += str((node.meta.get("tensor_dict") or {}).get("_dynamo_static_input_type", ""))
        elif node.op == "output":
            what = argument(node.args)
        elif node.op in ("call_function", "call_method"):
            target = node.target if node.op == "call_method" else function(node.target)
            sure = sure and not target.startswith(_OTHERS)
            what = f"{target}{argument(node.args)}{argument(node.kwargs)}"
        else:  # a constant of the graph, or a module
            raise Unknown(f"{node.op} {node.target}")
        number[node] = len(number)
        lines.append(f"{node.op} {what}")
    return "\n".join(lines + [_gpu(d) for d in sorted(devices)]), sure


def function(target) -> str:
    """Returns the name of a function of torch's or Python's, or of a registered operator, that a graph calls. Raises
    Unknown for other functions."""
    if isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return str(target) if str(target).split(".")[0] in _NAMESPACES else f"{_OTHERS}{target}"
    if isinstance(target, (types.FunctionType, types.BuiltinFunctionType, type)):
        module, name = getattr(target, "__module__", None) or "", target.__name__
        known = module.split(".")[0] in _MODULES
        # torch's C functions have no Python code of which another version could have the same name
        if known and (isinstance(target, types.BuiltinFunctionType) or getattr(sys.modules.get(module), name, None) is target):
            return f"{module}.{name}"
    raise Unknown(f"a call of {target}")


def _argument(x, number) -> str:
    """Returns the description of an argument. `number`: the number of each node before."""
    if isinstance(x, torch.fx.Node):
        return f"%{number[x]}"
    if type(x) in _BY_REPR:
        return repr(x)
    if isinstance(x, slice):
        return f"slice{_argument((x.start, x.stop, x.step), number)}"
    if isinstance(x, (tuple, list)):  # torch.Size, and the immutable lists of fx, too
        parts = ", ".join(_argument(v, number) for v in x)
        return f"[{parts}]" if isinstance(x, list) else f"({parts},)"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{k!r}: {_argument(v, number)}" for k, v in x.items()) + "}"
    if type(x).__module__.split(".")[0] == "torch" and hasattr(type(x), "__members__"):  # an enumeration
        return f"{type(x).__name__}.{x.name}"
    raise Unknown(f"an argument that is {type(x).__name__}")


def _size(n, sizes):
    """Returns the description of a size: a number, or what it is of the open ones, each with its range. `sizes`: the number of each open
    size, in the order of the inputs, which is updated. So a decision is for the range, not for the sizes of one call."""
    if type(n) not in symbols.NUMBERS:
        return n
    if not isinstance(n, torch.SymInt) or not isinstance(n.node.expr, sympy.Basic):
        number = symbols.number(n)
        if number is None:
            raise Unknown("a size that depends on data")
        return number
    expr, env = n.node.expr, n.node.shape_env
    if torch.fx.experimental.symbolic_shapes.free_unbacked_symbols(n):
        raise Unknown("a size that depends on data")
    for s in sorted(expr.free_symbols, key=str):
        sizes.setdefault(s, f"size{len(sizes)}")
    ranges = [f"{sizes[s]} {env.var_to_range[s]}" for s in sorted(expr.free_symbols, key=str)]
    return f"{expr.xreplace({s: sympy.Symbol(sizes[s]) for s in expr.free_symbols})} of {ranges}" if ranges else int(expr)


def _input(declared, given, memories, devices, sizes) -> str:
    """Returns the description of an input. `memories`: a dict with a number for each memory; `devices`: the set of GPUs
    of the inputs; `sizes`: the number of each open size. They are updated."""
    if type(declared) in symbols.NUMBERS:
        return f"{type(declared).__name__} {_size(declared, sizes)!r}"
    if not isinstance(declared, torch.Tensor):
        if type(declared) in (int, float, bool, type(None)):
            return repr(declared)
        raise Unknown(f"an input that is {type(declared).__name__}")
    x = declared
    ours = all(type(t).__module__.split(".")[0] == "torch" and not torch.utils._python_dispatch.is_traceable_wrapper_subclass(t) for t in (x, given))
    if x.layout != torch.strided or not ours:
        raise Unknown(f"an input of layout {x.layout} or of a class of its own")
    if x.device.type == "cuda":
        devices.add(x.device.index or 0)
    memory = memories.setdefault(x.untyped_storage()._cdata, len(memories))
    extents = [tuple(_size(n, sizes) for n in of) for of in (x.shape, x.stride(), (x.storage_offset(),))]
    flags = isinstance(given, torch.nn.Parameter), x.requires_grad, x.is_conj(), x.is_neg(), x.is_inference()
    return f"{x.dtype} {x.device} {extents} {memory} {flags}"


def _settings() -> str:
    """Returns the settings of torch that change how a graph is traced, or what its kernels are. Raises Unknown within a
    mode of the user's that sees calls of operators, and within autocast of another device than CPU and GPU."""
    modes = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    modes = [type(m) for m in modes]
    if any(m.__module__.split(".")[0] != "torch" for m in modes):
        raise Unknown("a dispatch mode of another module than torch's")
    autocast = [(d, torch.get_autocast_dtype(d)) for d in ("cpu", "cuda") if torch.is_autocast_enabled(d)]
    if torch._C._is_any_autocast_enabled() and not autocast:
        raise Unknown("autocast of another device")
    cuda, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    return repr((torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled(),
                 allows_tf32(), cuda.allow_fp16_reduced_precision_reduction, cuda.allow_bf16_reduced_precision_reduction,
                 cudnn.enabled, cudnn.allow_tf32, cudnn.benchmark, cudnn.deterministic, custom.allowed_kernels(), [m.__name__ for m in modes], autocast))  # fmt: skip


@functools.cache
def _versions() -> str:
    """Returns the versions of torch, of CUDA's libraries and of Python, the GPU's target, and a hash of this package's
    sources. (The library adds its own version to each key.)"""
    sources = hashlib.blake2b()
    for file in sorted(pathlib.Path(_native.__file__).parent.rglob("*.py")):
        sources.update(file.read_bytes())
    versions = torch.__version__, torch.version.cuda, torch.backends.cudnn.version(), sys.version_info[:3]
    return repr((versions, _native.gpu()[0], sources.hexdigest()))


@functools.cache
def _gpu(index) -> str:
    """Returns the properties of a GPU by which measured times differ."""
    if not torch.cuda.is_available():
        return f"cuda:{index}"
    p = torch.cuda.get_device_properties(index)
    return f"cuda:{index} {p.name} {p.multi_processor_count} {p.total_memory}"
