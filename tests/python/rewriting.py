"""Applies rows of the table of rewrites to a graph of a test."""

import types

from zellige.torch.rewrites.rule import Work, apply
from zellige.torch.rewrites.table import row


def rewrite(graph, *names, captured=False) -> Work:
    """Applies the rewrites of these names to a graph, once each, and returns the work."""
    work = Work(types.SimpleNamespace(graph=graph), captured)
    apply([row(name) for name in names], work, 1)
    work.graph.eliminate_dead_code()
    return work
