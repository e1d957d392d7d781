"""Definitions of operations, by brute force on layouts of numbers: conditions for an answer to a rejected record."""

from notation import read


def leaves(v):
    return [x for item in v[1] for x in leaves(item)] if v[0] == "tuple" else [int(v[2])]


def flat(v):
    """(extents, strides) of a layout."""
    return leaves(v[1]), leaves(v[2])


def at(layout, i):
    extents, strides = layout
    total = 0
    for k, (s, d) in enumerate(zip(extents, strides)):
        last = k + 1 == len(extents)
        total += (i if last else i % s) * d
        i //= s
    return total


def size(layout):
    n = 1
    for s in layout[0]:
        n *= s
    return n


def values(layout):
    return [at(layout, i) for i in range(size(layout))]


def holds(op, args, result):
    if result is None or "@" in result or "Sw<" in result:
        return False
    r = flat(read(result))
    parsed = [read(a) for a in args]
    if any(p[0] not in ("layout", "number") for p in parsed):
        return False
    if op == "composition" and parsed[1][0] == "layout":
        a, b = flat(parsed[0]), flat(parsed[1])
        return values(r) == [at(a, at(b, i)) for i in range(size(b))]
    if op in ("zipped_divide", "tiled_divide", "flat_divide", "logical_divide") and parsed[1][0] == "layout":
        a, tile = flat(parsed[0]), flat(parsed[1])
        n = size(tile)
        # The tile is a o tile, and tile and tiles together are all of a.
        return values(r)[:n] == [at(a, at(tile, i)) for i in range(n)] and set(values(a)) <= set(values(r))
    if op in ("blocked_product", "logical_product", "zipped_product", "tiled_product", "flat_product", "raked_product"):
        # Copies of the block, none touching another, unless the operands repeat themselves.
        block, tiler = flat(parsed[0]), flat(parsed[1])
        return len(set(values(r))) == len(set(values(block))) * len(set(values(tiler)))
    return False
