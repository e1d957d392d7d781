"""Counts how often each rewrite of torch graphs is applied, by the rewrite's name.

    applied("embedding of 32-bit indices")      at the place where the rewrite changes a graph
    applications.COUNTS["embedding of 32-bit indices"]       how often it has done so in this process

A rewrite is code that replaces operators by others, or gives an operator of torch another meaning in Zellige. It is
applied only where its condition holds. tests/python/rewrites states the condition of each name, draws random graphs on
which it holds, and graphs on which it is broken.
"""

import collections
import contextlib

COUNTS = collections.Counter()


def applied(name: str, times: int = 1) -> None:
    """Counts applications of the rewrite `name`."""
    COUNTS[name] += times


@contextlib.contextmanager
def uncounted():
    """Counts nothing within it; for trials."""
    before = collections.Counter(COUNTS)
    try:
        yield
    finally:
        COUNTS.clear()
        COUNTS.update(before)
