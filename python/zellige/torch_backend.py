"""The backend of torch.compile by its name: `backend="zellige"`, and `reports` on compiled graphs (torch/backend.py).

    import torch, zellige.torch_backend
    compiled = torch.compile(model, backend="zellige")
    compiled(x)
    print(zellige.torch_backend.reports[-1])
"""

import torch

from .torch.backend import backend
from .torch.report import reports

__all__ = ["backend", "reports"]

# An installed package has the name by its entry point; from a source tree it is registered here.
if "zellige" not in torch._dynamo.list_backends(exclude_tags=()):
    torch._dynamo.register_backend(backend, name="zellige")
