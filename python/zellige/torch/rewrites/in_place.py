"""Lets torch change tensors in place that nothing else reads.

    index_put(empty_like(x), [rows], y)  ->  index_put_(empty_like(x), [rows], y)

The traced graph has no operators that change tensors, except its arguments at the end. torch runs such an operator as a
copy of the tensor and the operator in place. The copy is not needed if the graph has computed the tensor, and only this
operator reads it.
"""

import torch

aten = torch.ops.aten

# operators that torch runs as a copy of the first operand and the operator in place
IN_PLACE = {
    of: getattr(getattr(aten, of._schema.name.removeprefix("aten::") + "_"), of._overloadname)
    for of in (aten.index_put.default, aten.index_add.default, aten.index_copy.default, aten.index_fill.int_Scalar, aten.index_fill.int_Tensor,
               aten.scatter.src, aten.scatter.value, aten.scatter_add.default, aten.scatter_reduce.two, aten.masked_fill.Scalar,
               aten.masked_fill.Tensor, aten.masked_scatter.default, aten.put.default)
}  # fmt: skip


def update(work, n) -> bool:
    """Replaces an operator by the one in place, where nothing else reads the tensor."""
    if not _is_ours(n):
        return False
    n.target = IN_PLACE[n.target]
    return True


def _is_ours(n) -> bool:
    """Returns true if only n reads its first operand, and this is a new tensor that has the result's layout."""
    x, rest = n.args[0], (n.args[1:], n.kwargs)
    again = []
    torch.fx.map_arg(rest, lambda m: again.append(m) if m is x else None)
    if again or list(x.users) != [n] or not isinstance(x.target, torch._ops.OpOverload):
        return False
    schema = x.target._schema
    if x.target.namespace != "aten" or schema.is_mutable or len(schema.returns) != 1 or schema.returns[0].alias_info is not None:
        return False
    own, made = x.meta.get("val"), n.meta.get("val")
    if not isinstance(own, torch.Tensor) or not isinstance(made, torch.Tensor):
        return False
    return own.shape == made.shape and own.dtype == made.dtype and own.stride() == made.stride() and 0 not in own.stride()
