"""Arrays in nested tuples, lists and dicts: the arguments and results of functions."""


def leaves_of(tree, name: str) -> list:
    """Returns (name, array) of each leaf of nested tuples, lists and dicts, in order."""
    if isinstance(tree, (tuple, list)):
        return [leaf for i, part in enumerate(tree) for leaf in leaves_of(part, f"{name}.{i}")]
    if isinstance(tree, dict):
        return [leaf for key, part in tree.items() for leaf in leaves_of(part, f"{name}.{key}")]
    return [(name, tree)]


def like(tree, items):
    """Returns a tree with the nested tuples, lists and dicts of `tree`, and with the items of the iterator `items` as its leaves."""
    if isinstance(tree, dict):
        return {key: like(part, items) for key, part in tree.items()}
    if isinstance(tree, (tuple, list)):
        parts = [like(part, items) for part in tree]
        # a named tuple takes its fields as arguments
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return next(items)
