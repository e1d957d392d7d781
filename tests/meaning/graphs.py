"""A case as operators of a graph, at either level."""

THREADS = 64


def kernel_operator(case, operands, results, attributes):
    return {"op": case.op, "inputs": operands, "outputs": results, **attributes}


def block_operator(case, operands, results, attributes):
    """A custom operator of the one operator; the grid splits the case's batch where it has one."""
    batch = case.batch
    grid = list(case.grid or (batch, 1, 1))
    rank = max(len(o.shape) for o in case.operands)
    body = []
    for i, (o, name) in enumerate(zip(case.operands, operands)):
        batched = batch > 1 and len(o.shape) == rank and o.shape[0] == batch
        cut = o.map if o.map is not None else {"x": 0} if batched else {}
        body.append({"op": "input", "from": name, "map": cut, "loop_dim": o.loop_dim, "outputs": [f"x{i}"]})
    tiles = [f"x{i}" for i in range(len(operands))]
    made = [f"r{i}" for i in range(len(results))]
    steps = case.body(tiles, attributes) if case.body else [(case.op, tiles, made, tile_attributes(case, attributes))]
    body += [{"op": op, "inputs": inputs, "outputs": outputs, **a} for op, inputs, outputs, a in steps]
    for i, name in enumerate(results):
        cut = case.maps[i] if case.maps else {"x": 0} if batch > 1 else {}
        body.append({"op": "output", "inputs": [f"r{i}"], "map": cut, "to": name})
    return {"op": "custom", "inputs": list(dict.fromkeys(operands)), "outputs": results, "grid": grid, "block": [THREADS, 1, 1], "loop": case.loop, "body": body}


def tile_attributes(case, attributes):
    """A shape is the tile's inside a block."""
    a = dict(attributes)
    if "shape" in a and case.batch > 1:
        a["shape"] = [1, *a["shape"][1:]]
    if case.op == "mask" and case.batch > 1:
        a["map"] = {"x": 0}
    return a


def strides(shape, way):
    """Row-major; the dimensions in the other order; rows of 3 elements more than there are."""
    order = range(len(shape)) if way == 1 else range(len(shape) - 1, -1, -1)
    made, step = [0] * len(shape), 1
    for at, d in enumerate(order):
        made[d] = step
        step *= shape[d] + (3 if way == 2 and at == 0 and len(shape) > 1 else 0)
    return made
