"""Recognises the usual torch forms of rotary position embeddings, each of which is one operator in Zellige.

On the left torch's form, on the right the operator; a and b are the elements of pairs of x.

    cat((a cos - b sin, b cos + a sin), -1)           a, b the halves of x: rotary(x, cos, sin)
    stack((a cos - b sin, b cos + a sin), -1)         a, b = x[..., ::2], x[..., 1::2]: rotary_interleaved(x, cos, sin)
    x cos + cat((-b, a), -1) sin                      rotary(x, cos, sin), with an angle for each element; also interleaved

cat((-b, a), -1) alone moves elements, and stays a concatenation: as a product with cos = 0 and sin = 1 an infinity of one half
would make NaN of the other one.
"""

from ... import operators as op
from ..applications import applied


def cat(parts, dim=0):
    """Returns the concatenation of `parts`: a rotary embedding if they have one of its usual forms, else
    op.concat."""
    if len(parts) == 2 and dim % parts[0].ndim == parts[0].ndim - 1:
        for pairs in (_halves, _side_by_side):
            made = _rotation(parts, pairs)
            if made is not None:
                applied("rotary embedding of pairs")
                return made
    return op.concat(parts, dim)


def added(x, y):
    """Rewrites x + y as a rotary embedding if one of x and y is z cos and the other one r sin, where r is (-b, a) for the
    pairs (a, b) of z. Returns None for another x + y."""
    trace = x._trace
    for straight, quarter in ((x, y), (y, x)):
        s, q = trace.producer(straight), trace.producer(quarter)
        if not s or not q or (s["op"], q["op"]) != ("mul", "mul"):
            return None
        for rotated, sin in (q["inputs"], q["inputs"][::-1]):
            of = _of_quarter(trace, rotated)
            if of and of[0] in s["inputs"] and trace.arrays[of[0]].shape == x.shape == y.shape:
                cos = s["inputs"][1 - s["inputs"].index(of[0])]
                angles = [trace.arrays[n] for n in (cos, sin)]
                if all(a.shape[-1] == x.shape[-1] and a._dtype == x._dtype == trace.arrays[of[0]]._dtype for a in angles):
                    applied("rotary embedding of rotated pairs")
                    return of[1](trace.arrays[of[0]], *angles)
    return None


def _of_quarter(trace, name):
    """Matches the tensor `name` if it is (-b, a) for the pairs (a, b) of a tensor x, in x's shape; reshapes of it match, too.
    Returns (the name of x, op.rotary or op.rotary_interleaved); None for other tensors."""
    made = trace.producer(name)
    while made and made["op"] == "reshape":
        made = trace.producer(made["inputs"][0])
    if not made or made["op"] != "concat" or len(made["inputs"]) != 2 or made["dim"] != trace.arrays[made["inputs"][0]].ndim - 1:
        return None
    parts = [trace.arrays[n] for n in made["inputs"]]
    for pairs, rotary in ((_halves, op.rotary), (_side_by_side, op.rotary_interleaved)):
        names = _ends(parts, pairs)
        negated = names and trace.producer(names[0])
        if not negated or negated["op"] != "neg":
            continue
        b, a = pairs(trace, negated["inputs"][0]), pairs(trace, names[1])
        if a and b and (a[1], b[1]) == (0, 1) and a[0]._name == b[0]._name and a[2] == b[2] and a[0].shape == trace.arrays[name].shape:
            return a[0]._name, rotary
    return None


def _halves(trace, name):
    """Matches the tensor `name` if it is a half of a tensor x along the last dimension. Returns (x, 0 or 1 for the
    first or second half, the number of pairs); None for other tensors."""
    made = trace.producer(name)
    if not made or made["op"] != "slice":
        return None
    x = trace.arrays[made["inputs"][0]]
    half, start = x.shape[-1] // 2, made.get("start", 0)
    if x.shape[-1] % 2 or made["dim"] != x.ndim - 1 or start not in (0, half) or made["end"] != start + half:
        return None
    return x, int(start > 0), half


def _side_by_side(trace, name):
    """Matches the tensor `name` if it has every other element of a tensor x along the last dimension, or, if x has the shape
    (..., pairs, 2), along the last two. Returns (x, 0 or 1 for the even or odd elements, the number of pairs); None for other
    tensors."""
    made = trace.producer(name)
    if not made or made["op"] != "reshape":
        return None
    made = trace.producer(made["inputs"][0])
    if not made or made["op"] != "slice":
        return None
    x = trace.arrays[made["inputs"][0]]
    if x.ndim < 2 or x.shape[-1] != 2 or made["dim"] != x.ndim - 1 or trace.arrays[name].shape != x.shape[:-1]:
        return None
    seen, start, number = trace.producer(x), made.get("start", 0), x.shape[-2]
    if seen and seen["op"] == "reshape":
        flat = trace.arrays[seen["inputs"][0]]
        x = flat if flat.shape == (*x.shape[:-2], 2 * number) else x
    return x, start, number


def _ends(parts, pairs):
    """Returns the names of the tensors to match; None if there are none. `parts`: tensors that are concatenated; `pairs`: the
    function that will match them. If `pairs` is _halves, the names are those of `parts`. If it is _side_by_side, they
    are the names of the tensors before torch's stack added a last dimension of extent 1 to each."""
    trace = parts[0]._trace
    if pairs is _halves:
        return [p._name for p in parts]
    names = []
    for p in parts:
        made = trace.producer(p)
        if not made or made["op"] != "reshape" or p.shape[-1] != 1 or trace.arrays[made["inputs"][0]].shape != p.shape[:-1]:
            return None
        names.append(made["inputs"][0])
    return names


def _rotation(parts, pairs):
    """Matches the tensors `parts` if they are (a cos - b sin, b cos + a sin), where a and b are the elements of pairs
    of x. `pairs`: the function that recognises the pairs, _halves or _side_by_side. Returns rotary(x, cos, sin); None
    for other tensors."""
    trace, names = parts[0]._trace, _ends(parts, pairs)
    made = [trace.producer(n) for n in names or ()]
    if [m and m["op"] for m in made] != ["sub", "add"]:
        return None
    whole = trace.arrays[names[0]].shape

    def factors(name):
        """Matches the tensor `name` if it is a product, and one factor has the elements a, or the elements b, of the
        pairs (a, b) of a tensor x, and the product's shape. Returns (name of x, 0 for a or 1 for b, name of the other
        factor, the number of pairs); None for other tensors."""
        product = trace.producer(name)
        for cut, by in (product["inputs"], product["inputs"][::-1]) if product and product["op"] == "mul" else ():
            of = pairs(trace, cut)
            if of and trace.arrays[cut].shape == whole:
                return of[0]._name, of[1], by, of[2]
        return None

    terms = [factors(name) for m in made for name in m["inputs"]]
    if None in terms or len(terms) != 4:
        return None
    (x, _, cos, n), (_, _, sin, _) = terms[:2]
    if terms[:2] != [(x, 0, cos, n), (x, 1, sin, n)] or sorted(terms[2:]) != [(x, 0, sin, n), (x, 1, cos, n)]:
        return None
    if {trace.arrays[t].shape[-1] for t in (cos, sin)} != {n}:
        return None
    x, cos, sin = (trace.arrays[t] for t in (x, cos, sin))
    if pairs is _halves:
        return op.rotary(x, cos, sin)
    flat = op.reshape(x, (*whole[:-1], 2 * n)) if x.ndim > len(whole) else x
    return op.reshape(op.rotary_interleaved(flat, cos, sin), (*whole, 2))
