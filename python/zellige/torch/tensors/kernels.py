"""Registers the hand-written kernels as torch operators torch.ops.zellige_kernels.NAME, each with a fake
implementation (shapes and dtypes only) for torch.compile."""

import torch

from ... import _native, dtypes, kernels
from ...kernel_table import KERNELS

_SCHEMAS = {
    "gemm": "(Tensor a, Tensor b) -> Tensor",
    "attention": "(Tensor q, Tensor k, Tensor v, *, bool causal=False, float? scale=None) -> Tensor",
    "decode_attention": "(Tensor q, Tensor k, Tensor v, *, float? scale=None) -> Tensor",
    "softmax": "(Tensor x) -> Tensor",
    "rms_norm": "(Tensor x, Tensor? weight=None, *, float eps=1e-5) -> Tensor",
    "layer_norm": "(Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=1e-5) -> Tensor",
    "transpose": "(Tensor x) -> Tensor",
    "rms_norm_linear": "(Tensor x, Tensor w) -> Tensor",
    "gated_mlp": "(Tensor x, Tensor w, Tensor v) -> Tensor",
}


def _target(x) -> str:
    """Returns the target (an architecture, such as "sm_90a") of the GPU of the tensor x, which may be a fake tensor.
    Without a GPU returns the newest target, so that shapes can be checked."""
    if x.is_cuda and torch.cuda.is_available():
        major, minor = torch.cuda.get_device_capability(x.device)
        named = {t["compute_capability"]: name for name, t in _native.targets().items()}
        return named.get(10 * major + minor, f"sm_{major}{minor}")
    return "sm_90a"


def _register(name):
    """Registers the kernel `name` as a torch operator. Its fake implementation, which torch.compile calls when it
    traces, checks the arguments and returns an empty tensor of the result's shape."""
    function, names = getattr(kernels, name), KERNELS[name][1]
    operator = torch.library.custom_op(f"zellige_kernels::{name}", function, mutates_args=(), schema=_SCHEMAS[name])

    @operator.register_fake
    def _(*tensors, **options):
        given = [(key, x) for key, x in zip(names, tensors) if x is not None]
        specs = [(key, kernels._spec(name, key, x)) for key, x in given]
        (made,) = kernels._launch(name, _target(given[0][1]), specs, options).outputs.values()
        return given[0][1].new_empty(made.shape, dtype=dtypes.torch_dtype(made.dtype))


for _name in KERNELS:
    _register(_name)
