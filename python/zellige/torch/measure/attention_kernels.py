"""Selects torch's kernel for an attention that is left to torch: cuDNN's, flash, memory-efficient, math, or torch's own
choice.

    choose(graph, captured)    measures the kernels for each zellige::attention in 16 bits on a GPU, once per shapes, strides and mask
    choice = of(node)          the choice for a node that calls zellige::attention
    choice.call(q, k, v, mask, causal, scale, grouped), choice.name, choice.costs

torch tries its kernels in a fixed order and uses the first that accepts the inputs. This module measures all kernels
that accept the inputs and agree with torch's own choice. It selects another kernel if this is clearly faster on the GPU, and
also takes less time in total, with the host's time. Calls of a selected kernel do not check the inputs again.
captured: calls are replayed from a CUDA graph, so that the host's time does not count.
"""
import copy
import functools
from dataclasses import dataclass, field

import torch
from torch.backends.cuda import SDPAParams, can_use_cudnn_attention, can_use_efficient_attention, can_use_flash_attention
from torch.utils._python_dispatch import _disable_current_modes

from ..import_ import custom
from . import clock, estimates

_torch = torch._C._VariableFunctions

DEVICE = "cuda"
DEFAULT = "torch's choice"
KERNEL = "zellige_kernel"  # attribute of the function that calls a kernel: its name in KERNELS
_CHOICE = "zellige: torch's kernel"  # key in the meta of a node that has a Choice
MAX_SCORES = 64 << 20  # limit in bytes of the float32 scores that the math kernel stores
STEPS = 4  # largest rms difference from torch's choice, in rounding steps of the dtype


# ---- The kernels: functions of (q, k, v, mask, causal, scale, grouped) ----


def _cudnn(q, k, v, mask, causal, scale, grouped):
    if (q.data_ptr() | k.data_ptr() | v.data_ptr() | (0 if mask is None else mask.data_ptr())) % 16:
        raise RuntimeError("its plans are for tensors that begin at a multiple of 16 bytes")
    if mask is not None and mask.ndim < 4:
        mask = mask[(None,) * (4 - mask.ndim)]
    return _torch._scaled_dot_product_cudnn_attention(q, k, v, mask, False, 0.0, causal, False, scale=scale)[0]


def _flash(q, k, v, mask, causal, scale, grouped):
    return _torch._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False, scale=scale)[0]


def _efficient(q, k, v, mask, causal, scale, grouped):
    if mask is not None:
        mask = lines(mask, k.shape[2]).expand(*q.shape[:3], k.shape[2])
    return _torch._scaled_dot_product_efficient_attention(q, k, v, mask, False, 0.0, causal, scale=scale)[0]


def _repeated(q, k, v, mask, causal, scale, grouped):
    """Runs torch's memory-efficient attention kernel, with keys and values repeated for each query head of a
    group."""
    k, v = _for_each_head(q, k, v)
    return _efficient(q, k, v, mask, causal, scale, False)


def _math(q, k, v, mask, causal, scale, grouped):
    return _torch._scaled_dot_product_attention_math(q, k, v, mask, 0.0, causal, None, scale=scale, enable_gqa=grouped)[0]


def lines(mask, keys):
    """Returns `mask` if its rows, of `keys` elements, are aligned to 16 bytes, as the memory-efficient kernel requires;
    otherwise a padded copy."""
    if mask.shape[-1] == keys and mask.stride(-1) == 1 and all(s % 8 == 0 for s in mask.stride()[:-1]):
        return mask
    return torch.nn.functional.pad(mask.expand(*mask.shape[:-1], keys), (0, 8 - keys % 8))[..., :keys]


def _for_each_head(q, k, v):
    shared = q.shape[1] // k.shape[1]
    return k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1)


# ---- Preconditions of the kernels ----


def _square(q, k, causal) -> bool:
    """Returns true if all kernels apply the same causal mask: there is none, or the numbers of queries and keys are equal.
    Otherwise the kernels place the mask's diagonal differently; torch's definition starts it at the first key."""
    return not causal or q.shape[2] == k.shape[2]


def _takes_cudnn(q, k, v, mask, causal, grouped):
    return _square(q, k, causal) and can_use_cudnn_attention(SDPAParams(q, k, v, mask, 0.0, causal, grouped))


def _takes_flash(q, k, v, mask, causal, grouped):
    as_it_is = q.shape[3] == v.shape[3] and q.shape[3] % 8 == 0  # torch pads other sizes
    return as_it_is and _square(q, k, causal) and can_use_flash_attention(SDPAParams(q, k, v, mask, 0.0, causal, grouped))


def _takes_efficient(q, k, v, mask, causal, grouped):
    return q.shape[1] == k.shape[1] and can_use_efficient_attention(SDPAParams(q, k, v, mask, 0.0, causal, False))


def _takes_repeated(q, k, v, mask, causal, grouped):
    return q.shape[1] != k.shape[1] and can_use_efficient_attention(SDPAParams(q, *_for_each_head(q, k, v), mask, 0.0, causal, False))


def _takes_math(q, k, v, mask, causal, grouped):
    return torch.backends.cuda.math_sdp_enabled() and 4 * q.shape[:3].numel() * k.shape[2] <= MAX_SCORES


KERNELS = {
    "cudnn": (_cudnn, _takes_cudnn),
    "flash": (_flash, _takes_flash),
    "efficient": (_efficient, _takes_efficient),
    "efficient, keys repeated": (_repeated, _takes_repeated),
    "math": (_math, _takes_math),
}


# ---- The choice ----


@dataclass(frozen=True)
class Choice:
    """A kernel for one attention, with the measured costs of all kernels."""
    name: str
    call: object
    costs: dict = field(default_factory=dict)  # Cost by kernel; None: the kernel does not accept these inputs
    what: str = ""  # the attention in words

    def saves(self) -> estimates.Cost:
        """Returns the cost that this kernel saves compared with torch's own choice."""
        return self.costs[DEFAULT] - self.costs[self.name] if self.costs else estimates.Cost()

    def __str__(self) -> str:
        others = [f"{name} " + ("not" if cost is None else f"{cost.gpu:.1f} and {cost.host:.1f}") for name, cost in self.costs.items() if name != self.name]
        return f"{self.what}: {self.name} {self.costs[self.name]} ({', '.join(others)})"


def of(node) -> Choice:
    """Returns the Choice for a node that calls zellige::attention: the measured one, or torch's own choice if nothing
    was measured."""
    return node.meta.get(_CHOICE) or Choice(DEFAULT, custom.FUNCTIONS[custom.ATTENTION])


def choose(graph, captured) -> list:
    """Measures the kernels for each attention of a graph and stores the choice in its node. Returns the choices
    that were measured. `captured`: calls are replayed from a CUDA graph, so that the host's time does not count."""
    found = []
    for n in graph.find_nodes(op="call_function", target=custom.ATTENTION):
        values = [x.meta["val"] for x in n.args[:4] if x is not None]
        if values[0].device.type == DEVICE and values[0].dtype in (torch.float16, torch.bfloat16):
            n.meta[_CHOICE] = _selected(values, n.args[4], n.args[6], captured)
            found += [n.meta[_CHOICE]] if n.meta[_CHOICE].costs else []
    return found


def in_place_of_torchs(module):
    """Returns a copy of a module that calls the selected kernels; the module itself if torch's choice is kept
    everywhere."""
    if all(of(n).name == DEFAULT for n in module.graph.find_nodes(op="call_function", target=custom.ATTENTION)):
        return module
    made = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    for n in made.graph.find_nodes(op="call_function", target=custom.ATTENTION):
        n.target = of(n).call
    made.recompile()
    return made


def _selected(values, causal, grouped, captured) -> Choice:
    """Returns the Choice for operands like `values` (q, k, v and the mask, if there is one): the cheapest kernel, if it
    is clearly faster than torch's own choice; otherwise torch's own choice. `captured`: the host's time does not
    count."""
    default = custom.FUNCTIONS[custom.ATTENTION]
    calls = {name: kernel(name) for name in KERNELS}
    costs = _costs(default, calls, values, causal, grouped)
    if costs[DEFAULT] is None:
        return Choice(DEFAULT, default)
    counted = {name: cost.of_gpu() if captured else cost for name, cost in costs.items() if cost is not None}
    may = [name for name, cost in counted.items() if cost.clearly_faster(counted[DEFAULT]) and cost.faster(counted[DEFAULT])]
    best = min(may, key=lambda name: counted[name].total(), default=DEFAULT)
    q, k = values[:2]
    kind = (", causal" if causal else "") + (", masked" if len(values) > 3 else "") + f", {str(q.dtype).removeprefix('torch.')}"
    return Choice(best, calls.get(best, default), costs, f"attention {tuple(q.shape)} of {k.shape[2]} keys in {k.shape[1]} heads{kind}")


_COSTS = {}


def _costs(default, calls, values, causal, grouped) -> dict:
    """Returns a dict of measured costs, by name: of torch's own choice, called by `default`, and of the kernels in
    `calls`; None for a kernel that does not accept operands like `values` (q, k, v and the mask, if there is one)."""
    key = (*((tuple(t.shape), t.stride(), t.dtype, t.device) for t in values), causal, grouped, custom.allowed_kernels())
    if key not in _COSTS:
        cost = lambda kernel: clock.cost(lambda q, k, v, mask=None: kernel(q, k, v, mask, causal, None, grouped), values, 1)  # noqa: E731
        found = {DEFAULT: cost(default), **dict.fromkeys(KERNELS)}
        for name in _accepted(default, values, causal, grouped) if found[DEFAULT] else ():
            found[name] = cost(calls[name])
        _COSTS[key] = found
    return _COSTS[key]


def kernel(name):
    """Returns the function that calls one of KERNELS as _laid_out does; None if there is none of this name."""
    if name not in KERNELS:
        return None
    call = _laid_out(KERNELS[name][0])
    setattr(call, KERNEL, name)
    return call


@functools.cache
def _laid_out(kernel):
    """Returns a function that calls a kernel and returns its result in q's memory layout, for which later operators
    were traced. If the kernel raises an error, the function calls torch's own choice."""

    def call(q, k, v, mask, causal, scale, grouped, *ends, safe=True, **limits):
        if limits or causal and mask is not None or any(x is not None for x in ends):
            return custom.attention(q, k, v, mask, causal, scale, grouped, *ends, **limits)
        try:
            made = kernel(q, k, v, mask, causal, scale, grouped)
        except RuntimeError:
            return custom.attention(q, k, v, mask, causal, scale, grouped)
        return custom.as_q(made, q, v)

    return call


def _accepted(default, values, causal, grouped) -> list:
    """Returns the names of the kernels that accept operands like `values` (q, k, v and the mask, if there is one), and
    whose results agree with those of `default`, torch's own choice, also on fully masked rows."""
    found = []
    try:
        with _disable_current_modes(), torch.no_grad():
            q, k, v, *mask = map(clock.like, values)
            mask = _some_masked(mask[0]) if mask else None
            expected = default(q, k, v, mask, causal, None, grouped)
            for name, (kernel, takes) in KERNELS.items():
                try:
                    if takes(q, k, v, mask, causal, grouped) and _agrees(kernel(q, k, v, mask, causal, None, grouped), expected):
                        found.append(name)
                # the kernel refuses although it declared support, or memory is exhausted
                except RuntimeError:
                    continue
    except RuntimeError:  # out of memory
        return []
    return found


def _some_masked(mask):
    """Fills a mask for the comparison of kernels, and returns it: masks every other column, and the whole first row."""
    if 0 in mask.stride():
        mask = mask.contiguous()
    mask[..., ::2] = -torch.inf
    if mask.ndim > 1:
        mask[..., 0, :] = -torch.inf
    return mask


def _agrees(found, expected) -> bool:
    """Returns true if two results agree within STEPS rounding steps, in the root mean square."""
    if found.shape != expected.shape or found.dtype != expected.dtype or not torch.equal(found.isnan(), expected.isnan()):
        return False
    exact = expected.float().nan_to_num()
    difference = (found.float().nan_to_num() - exact).square().mean().sqrt()
    return bool(difference <= STEPS * torch.finfo(expected.dtype).eps * exact.square().mean().sqrt())
