"""A program for all sizes, at one value of each: it runs the same kernels, and says what the arrays of that call are like."""

import copy
from dataclasses import replace

from .tracing import _row_major


def at_sizes(program, values, form):
    """Returns a Program for one value of each of `program`'s sizes, without a compilation. `values`: by name. `form`: the graph for these
    values, in JSON form."""
    made, given, outputs = copy.copy(program), [values[s.name] for s in program.sizes], []
    strides = [tuple(f.get("strides") or _row_major(f["shape"])) for f in form["inputs"]]
    made.inputs = tuple(replace(i, shape=tuple(f["shape"]), strides=s) for i, f, s in zip(program.inputs, form["inputs"], strides))
    for at, o in enumerate(program.outputs):
        shape, strides, size = program._native.output_at(at, len(o.shape), given)
        outputs.append(replace(o, shape=shape, strides=strides, bytes=size))
    made.outputs, made.sizes = tuple(outputs), ()
    return made
