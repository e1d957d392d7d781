"""The backend of torch.compile, and what else of this package is for torch. Importing this package does not import torch.

A module imports those of the rows above its own row:

report.py, words.py, applications.py   what is reported of a graph, in the user's words; how often each rewrite was applied
import_/     a graph of FX becomes one of Zellige: sizes, arguments, decompositions, and the meaning of each operator
measure/     times of torch's kernels and of programs, measured or estimated
rewrites/    rewrites of graphs
execute/     functions that call programs and torch's kernels; CUDA graphs
partition/   which operators become programs
cache/       decisions on graphs, on disk
options.py, compilation.py, backend.py, explaining.py  the options of torch.compile, the compilation of one graph, the backend itself, and what it
             says of a model
tensors/     torch's functions on traced arrays, Zellige's functions on tensors of torch, and hand-written kernels as torch operators
"""


def explain(model, *args, options=None, **kwargs) -> list:
    """Prints what the backend of torch.compile takes of a model, what it leaves and why, and the times of both; returns the reports.

      zellige.torch.explain(model, x)
    """
    from .explaining import explained

    return explained(model, *args, options=options, **kwargs)
