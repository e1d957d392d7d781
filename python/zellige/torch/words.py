"""Says in the user's words what the torch backend reports: the operator as the user wrote it, and its line.

    sentence(node, why)         # "logsumexp: expected ..., found ... (model.py:12: return h.logsumexp(-1))"
    of_part(graph)              # "linear to logsumexp, model.py:11 to model.py:12"

This is the one place where names of nodes, parts and traced tensors become those of the user. torch keeps the line and the
function of each operator in its node's meta; a node that a rewrite has made has those of its operands.
"""

import collections
import os
import re

import torch

from .. import _native
from .._native import Error
from ..call_site import reason

_LIBRARIES = tuple(os.path.dirname(os.path.abspath(f)) + os.sep for f in (torch.__file__, _native.__file__))
_FRAME = re.compile(r'File "(.+?)", line (\d+), in .*\n\s*(.*)')
_FAR = 64  # limit of the nodes that are searched for a line


def _traced(node):
    """Returns the nearest node that torch has traced from the user's code: the node itself, or one of which it is made; None if
    there is none."""
    waiting, seen = collections.deque([node]), set()
    while waiting and len(seen) < _FAR:
        n = waiting.popleft()
        if n.meta.get("stack_trace"):
            return n
        seen.add(n)
        waiting.extend(m for m in (*n.all_input_nodes, *(n.users if n is node else ())) if m not in seen)
    return None


def place(node, code=True) -> str:
    """Returns the line of the user's code that made a node, as "model.py:12: return h.logsumexp(-1)"; "" if torch has not kept
    it. `code`: with the line's source."""
    of = _traced(node)
    frames = _FRAME.findall(of.meta["stack_trace"]) if of is not None else []
    own = [f for f in frames if not f[0].startswith(_LIBRARIES)] or frames
    if not own:
        return ""
    file, line, source = own[-1]
    return f"{file}:{line}" + (f": {source.strip()}" if code and source.strip() else "")


def operator(node) -> str:
    """Returns the name of the function or module that the user called and that made a node, such as "linear"."""
    of = _traced(node)
    stack = of.meta.get("source_fn_stack") if of is not None else None
    if stack:
        function = stack[-1][1]
        return function if isinstance(function, str) else getattr(function, "__name__", str(function))
    target = str(node.target)
    return target.split(".")[1] if target.startswith("aten.") else getattr(node.target, "__name__", target)


def target(node) -> str:
    """Returns the name of a node's operator in reports: torch's, such as "aten.cumsum.default", or for one without a name there
    the user's, as for those that Zellige makes."""
    known = isinstance(node.target, torch._ops.OpOverload) and node.target.namespace != "zellige"
    return str(node.target) if known else operator(node)


def sentence(node, why) -> str:
    """Returns why an operator is left to torch: the error's reason with the user's line."""
    at, text = place(node), reason(why) if isinstance(why, Error) else why
    return operands(text, [n.name for n in node.all_input_nodes]) + (f" ({at})" if at else "")


def operands(text: str, names) -> str:
    """Returns a message of the library about a graph's inputs without the graph's name and without theirs, `names`."""
    text = re.sub(r"^graph [^:,]+: ", "", text)
    for name in names:
        text = re.sub(rf"\b(input|tensor) {re.escape(name)}(?:_\d+)?(?!\w)", "an operand", text)
    return text


def at(node, why: Error) -> Error:
    """Returns an error in the user's words for one that an operator of a part raised, with the operator's node as attribute."""
    told = type(why)(f"{operator(node)}: {sentence(node, why)}")
    told.node = node
    return told


def owner(node) -> str:
    """Returns the operator and the line of a node, as messages have it in place of the node's name."""
    at = place(node)
    return f"{operator(node)} ({at})" if at else operator(node)


def of_part(graph) -> str:
    """Returns what a part computes: its first and last operator with their lines."""
    nodes = [n for n in graph.nodes if n.op == "call_function"]
    if not nodes:
        return ""
    names, places = [operator(n) for n in (nodes[0], nodes[-1])], [place(n, code=False) for n in (nodes[0], nodes[-1])]
    ends = [" to ".join(dict.fromkeys(filter(None, both))) for both in (names, places)]
    return ", ".join(filter(None, ends))
