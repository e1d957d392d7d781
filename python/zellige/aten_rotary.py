"""Recognises the usual torch forms of rotary position embeddings, each of which is one operator in Zellige.

On the left torch's form, on the right the operator. rotary(x, 0, 1) rotates x by 90 degrees: cos is 0 and sin is 1.

    cat((a cos - b sin, b cos + a sin), -1)           a, b the halves of x: rotary(x, cos, sin)
    cat((-b, a), -1)                                  x rotated by 90 degrees, used in x cos + rotated(x) sin: rotary(x, 0, 1)
    stack((a cos - b sin, b cos + a sin), -1)         a, b = x[..., ::2], x[..., 1::2]: rotary_interleaved(x, cos, sin)
    stack((-b, a), -1)                                rotary_interleaved(x, 0, 1)
    x cos + rotary(x, 0, 1) sin                       rotary(x, cos, sin), with an angle for each element; also interleaved
"""

from . import operators as op


def cat(parts, dim=0):
    """Returns the concatenation of `parts`: a rotary embedding if they have one of its usual forms, else
    op.concat."""
    if len(parts) == 2 and dim % parts[0].ndim == parts[0].ndim - 1:
        for known in (_rotation, _rotated):
            for pairs in (_halves, _side_by_side):
                made = known(parts, pairs)
                if made is not None:
                    return made
    return op.concat(parts, dim)


def added(x, y):
    """Rewrites x + y as a rotary embedding if one of x and y is z cos and the other one r sin, where r is z rotated by
    90 degrees. Returns None for other sums."""
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
                    return of[1](trace.arrays[of[0]], *angles)
    return None


def _of_quarter(trace, name):
    """Matches the tensor `name` if it is rotary(x, 0, 1), that is, x with its pairs rotated by 90 degrees, as recorded
    by `_rotated`; reshapes of it match, too. Returns (the name of x, op.rotary or op.rotary_interleaved); None for
    other tensors."""
    made = trace.producer(name)
    while made and made["op"] == "reshape":
        made = trace.producer(made["inputs"][0])
    known = {"rotary": op.rotary, "rotary_interleaved": op.rotary_interleaved}
    if not made or made["op"] not in known:
        return None
    cos, sin = (trace.producer(n) for n in made["inputs"][1:])
    zero = cos and cos["op"] == "lt" and len(set(cos["inputs"])) == 1
    one = sin and sin["op"] == "add" and sin.get("scalar") == 1 and (trace.producer(sin["inputs"][0]) or {}).get("op") == "lt"
    return (made["inputs"][0], known[made["op"]]) if zero and one else None


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
    """Matches the tensor `name` if it has every other element of a tensor x along the last dimension. Returns (x, 0 or
    1 for the even or odd elements, the number of pairs); None for other tensors."""
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


def _rotate(pairs, x, number, cos, sin):
    """Returns the rotary embedding of x. `pairs`: the function that matched the pairs of elements of x, _halves or
    _side_by_side. `number`: number of pairs."""
    if pairs is _halves:
        return op.rotary(x, cos, sin)
    if x.shape[-1] != 2 * number:
        x = op.reshape(x, (*x.shape[:-2], 2 * number))
    return op.reshape(op.rotary_interleaved(x, cos, sin), (*x.shape[:-1], number, 2))


def _ends(parts, pairs):
    """Returns (the trace, the names of the tensors to match). `parts`: tensors that are concatenated; `pairs`: the
    function that will match them. If `pairs` is _halves, the names are those of `parts`. If it is _side_by_side, they
    are the names of the tensors before torch's stack added a last dimension of extent 1 to each; None if a tensor of
    `parts` has no such dimension."""
    trace = parts[0]._trace
    if pairs is _halves:
        return trace, [p._name for p in parts]
    names = []
    for p in parts:
        made = trace.producer(p)
        if not made or made["op"] != "reshape" or p.shape[-1] != 1 or trace.arrays[made["inputs"][0]].shape != p.shape[:-1]:
            return trace, None
        names.append(made["inputs"][0])
    return trace, names


def _rotation(parts, pairs):
    """Matches the tensors `parts` if they are (a cos - b sin, b cos + a sin), where a and b are the elements of pairs
    of x. `pairs`: the function that recognises the pairs, _halves or _side_by_side. Returns rotary(x, cos, sin); None
    for other tensors."""
    trace, names = _ends(parts, pairs)
    made = [trace.producer(n) for n in names or ()]
    if [m and m["op"] for m in made] != ["sub", "add"]:
        return None

    def factors(name):
        """Matches the tensor `name` if it is a product, and one factor has the elements a, or the elements b, of the
        pairs (a, b) of a tensor x. Returns (name of x, 0 for a or 1 for b, name of the other factor, the number of
        pairs); None for other tensors."""
        product = trace.producer(name)
        for cut, by in (product["inputs"], product["inputs"][::-1]) if product and product["op"] == "mul" else ():
            of = pairs(trace, cut)
            if of:
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
    return _rotate(pairs, trace.arrays[x], n, trace.arrays[cos], trace.arrays[sin])


def _rotated(parts, pairs):
    """Matches the tensors `parts` if they are (-b, a), where a and b are the elements of pairs of x. `pairs`: the
    function that recognises the pairs, _halves or _side_by_side. Returns rotary(x, 0, 1); None for other tensors. The 0
    and 1 are computed from a row of x, because a trace has no constants."""
    trace, names = _ends(parts, pairs)
    negated = names and trace.producer(names[0])
    if not negated or negated["op"] != "neg":
        return None
    b, a = pairs(trace, negated["inputs"][0]), pairs(trace, names[1])
    if not a or not b or (a[1], b[1]) != (0, 1) or a[0]._name != b[0]._name or a[2] != b[2]:
        return None
    row = trace.arrays[names[1]]
    for d in range(row.ndim - 1):
        row = op.slice(row, d, 0, 1) if row.shape[d] > 1 else row
    return _rotate(pairs, a[0], a[2], op.lt(row, row), op.add(op.lt(row, row), 1))
