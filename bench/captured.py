"""Loads graphs captured from torch, one per folder: model.py with a class GraphModule, weight_meta.py and input_meta.py with
one class per tensor (name, shape, dtype, mean, std; for integers the data or the range). The public repository
PaddlePaddle/GraphNet has thousands under samples/.

  model, arguments = captured.load(folder, "cuda", seed=1)
  model(*arguments)
"""
import ast, importlib.util, inspect, os, random, re, sys
import torch


def folders(root):
    """The folders of graphs under root, sorted."""
    return sorted(os.path.relpath(at, root) for at, _, files in os.walk(root) if "model.py" in files and "weight_meta.py" in files)


def draw(root, count, seed):
    """A random sample of the folders."""
    found = folders(root)
    if count > len(found):
        raise SystemExit(f"{root}: expected at least {count} folders with model.py and weight_meta.py, found {len(found)}")
    return random.Random(seed).sample(found, count)


_DEVICE = re.compile(r"""\b(?:torch\.)?device\(type=(['"])(?:cpu|cuda)\1(?:, index=\d+)?\)|(['"])(?:cpu|cuda(?::\d+)?)\2""")


class _Numbers(ast.NodeTransformer):
    """Replaces `x.item()` by a number, where x is an argument of forward, or another name of one. `numbers`: the values of
    arguments by name. Dynamo lifts Python numbers of a model, such as the epsilon of a norm, to tensors and calls item() on
    them; if it traces the captured graph again, it would break the graph at each item()."""

    def __init__(self, numbers):
        self.numbers = dict(numbers)

    def visit_Assign(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in self.numbers:
            self.numbers.update((t.id, self.numbers[node.value.id]) for t in node.targets if isinstance(t, ast.Name))
        return self.generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "item" and isinstance(called.value, ast.Name) and called.value.id in self.numbers:
            return ast.copy_location(ast.Constant(self.numbers[called.value.id]), node)
        return node


def _module(path, name, device=None, numbers=None):
    """Loads a file as a module, with the devices named in it replaced by the given one, and item() of the arguments `numbers`
    by their values."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with open(path) as f:
        text = f.read()
    if device:
        text = _DEVICE.sub(lambda found: f"torch.device('{device}')" if found[1] else f"'{device}'", text)
    tree = ast.parse(text, path)
    if numbers:
        tree = ast.fix_missing_locations(_Numbers(numbers).visit(tree))
    exec(compile(tree, path, "exec"), module.__dict__)
    return module


def _tensor(meta, device, generator):
    """A tensor as the class describes it; numbers have its mean and deviation, and stay in its range."""
    dtype, shape = getattr(torch, meta.dtype.removeprefix("torch.")), list(meta.shape)
    data = getattr(meta, "data", None)
    low, high = getattr(meta, "min_val", None), getattr(meta, "max_val", None)
    if data is not None:
        return torch.tensor(data, dtype=dtype).reshape(shape).to(device)
    if dtype == torch.bool:
        return (torch.rand(shape, generator=generator) < 0.5).to(device)
    if not dtype.is_floating_point:
        low, high = low or 0, high if high is not None else 1
        return torch.randint(int(low), int(high) + 1, shape, generator=generator, dtype=dtype).to(device)
    known = lambda value, otherwise: otherwise if value is None or value != value else value
    values = torch.randn(shape, generator=generator) * known(meta.std, 1.0) + known(meta.mean, 0.0)
    if low is not None or high is not None:
        values = values.clamp(low, high)
    return values.to(dtype).to(device)


def _number(meta):
    """The number that a tensor without dimensions was when the graph was captured; None for other tensors."""
    data = getattr(meta, "data", None)
    return data[0] if data and not list(meta.shape) else None


def load(folder, device, seed):
    """The module and its arguments, in the order of its parameters; weights are torch parameters, sizes are ints. Everything is
    on the device, except what a GPU graph keeps on the host."""
    metas = {}
    for file in ("weight_meta.py", "input_meta.py"):
        path = os.path.join(folder, file)
        if os.path.exists(path):
            for value in vars(_module(path, "captured_" + file[:-3])).values():
                if inspect.isclass(value) and hasattr(value, "name"):
                    metas[value.name] = value
    on_gpu = any("cuda" in getattr(m, "device", "cuda") for m in metas.values())
    moved = None if on_gpu and device == "cuda" else device
    numbers = {name: number for name, m in metas.items() if (number := _number(m)) is not None}
    made = _module(os.path.join(folder, "model.py"), "captured_model", moved, numbers).GraphModule()
    generator, arguments = torch.Generator().manual_seed(seed), []
    for name, parameter in inspect.signature(made.forward).parameters.items():
        if name not in metas:
            raise ValueError(f"{folder}: argument {name} of the model is in neither weight_meta.py nor input_meta.py")
        if parameter.annotation is torch.SymInt and name in numbers:
            arguments.append(int(numbers[name]))
            continue
        declared = getattr(metas[name], "device", device)
        tensor = _tensor(metas[name], moved or ("cpu" if declared == "cpu" else device), generator)
        is_weight = parameter.annotation is torch.nn.parameter.Parameter
        arguments.append(torch.nn.Parameter(tensor, requires_grad=False) if is_weight else tensor)
    return made.eval(), arguments
