"""The options of torch.compile(..., backend="zellige", options=...)."""

import time
from dataclasses import dataclass

from ..rank_program import COLLECTIVES

CACHE = True  # the option "cache", where it is not given


@dataclass
class Options:
    """The checked options of a graph."""

    # limit of the planning time, after which the search for fusion groups ends; None: no limit
    seconds: float = None
    # "cheaper": only parts that cost less than torch's kernels; "all"; None: all on the CPU, cheaper on a GPU
    take: str = None
    cudagraphs: bool = False  # capture calls in CUDA graphs
    collectives: str = "cheapest"  # what computes those of a model that is divided over ranks: a key of rank_program.COLLECTIVES
    cache: bool = True  # look for the decisions on disk, and keep them there
    align_weights: bool = False  # products read copies of weights, made once, whose lines begin at multiples of 16 bytes
    start: float = 0.0  # time.monotonic() at the start
    ended: bool = False  # the planning time ended before everything was planned

    @staticmethod
    def of(given, mode):
        """Returns the options in the dict `given`; mode="reduce-overhead" sets the option cudagraphs to True. Raises
        ValueError for unknown keys and values."""
        given = dict(given or {})
        keys = ("seconds", "take", "cudagraphs", "cache", "collectives", "align_weights")
        wrong = [k for k in given if k not in keys]
        if wrong:
            raise ValueError(f"zellige: options: expected {', '.join(keys[:-1])} or {keys[-1]}, found {', '.join(map(repr, wrong))}")
        cache, collectives = given.get("cache", CACHE), given.get("collectives", "cheapest")
        align_weights = given.get("align_weights", False)
        seconds, take, cudagraphs = given.get("seconds"), given.get("take"), given.get("cudagraphs", mode == "reduce-overhead")
        if mode not in (None, "default", "reduce-overhead"):
            raise ValueError(f"zellige: mode: expected 'default' or 'reduce-overhead', found {mode!r}")
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0):
            raise ValueError(f"zellige: options: seconds: expected a number above 0, found {seconds!r}")
        if take not in (None, "cheaper", "all"):
            raise ValueError(f"zellige: options: take: expected 'cheaper' or 'all', found {take!r}")
        if not isinstance(cudagraphs, bool):
            raise ValueError(f"zellige: options: cudagraphs: expected True or False, found {cudagraphs!r}")
        if not isinstance(cache, bool):
            raise ValueError(f"zellige: options: cache: expected True or False, found {cache!r}")
        if not isinstance(collectives, str) or collectives not in COLLECTIVES:
            raise ValueError(f"zellige: options: collectives: expected one of {', '.join(COLLECTIVES)}, found {collectives!r}")
        if not isinstance(align_weights, bool):
            raise ValueError(f"zellige: options: align_weights: expected True or False, found {align_weights!r}")
        return Options(seconds, take, cudagraphs, collectives, cache, align_weights, time.monotonic())
