"""bench/models.py and bench/captured.py on small graphs in folders, without a GPU: comparison, report and sampling."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
import zellige

torch = pytest.importorskip("torch")
BENCH = os.path.join(os.path.dirname(__file__), "..", "..", "bench")


def bench(name):
    """By its path: tests/python has a models.py, too."""
    spec = importlib.util.spec_from_file_location("bench_" + name, os.path.join(BENCH, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


captured, models = bench("captured"), bench("models")

MODEL = """
import torch
from torch import device

class GraphModule(torch.nn.Module):
    def forward(self, L_weight_: torch.nn.parameter.Parameter, L_x_: torch.Tensor, L_rows_: torch.Tensor):
        ones = torch.ones(8, device=device(type='cuda', index=0))
        y = torch.nn.functional.layer_norm(torch.nn.functional.linear(L_x_, L_weight_), (8,)) * ones
        return (torch.relu(y) + 1, L_rows_ + 1)
"""
WEIGHTS = """
class a:
    name = "L_weight_"
    shape = [8, 16]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.5
    std = 0.1
    data = None
    max_val = 0.6

class b:
    name = "L_x_"
    shape = [4, 16]
    dtype = "torch.float32"
    mean = None
    std = None
    data = None

class c:
    name = "L_rows_"
    shape = [3]
    dtype = "torch.int64"
    mean = None
    std = None
    data = [4, 5, 6]
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("first", "second/inner", "third"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "model.py").write_text(MODEL)
        (tmp_path / name / "weight_meta.py").write_text(WEIGHTS)
    return str(tmp_path)


def test_a_captured_graph_is_loaded(folder):
    model, (weight, x, rows) = captured.load(os.path.join(folder, "first"), "cpu", 1)
    assert isinstance(weight, torch.nn.Parameter) and not isinstance(x, torch.nn.Parameter)
    assert weight.shape == (8, 16) and weight.max() <= 0.6 and 0.4 < weight.mean() < 0.6
    assert rows.tolist() == [4, 5, 6]
    again = captured.load(os.path.join(folder, "first"), "cpu", 1)[1]
    assert torch.equal(x, again[1]) and not torch.equal(x, captured.load(os.path.join(folder, "first"), "cpu", 2)[1][1])
    y, more = model(weight, x, rows)
    assert y.device.type == "cpu" and more.tolist() == [5, 6, 7]


def test_draws_are_of_their_seed(folder):
    assert captured.folders(folder) == ["first", "second/inner", "third"]
    assert captured.draw(folder, 2, 7) == captured.draw(folder, 2, 7)
    with pytest.raises(SystemExit, match="expected at least 4 folders with model.py and weight_meta.py, found 3"):
        captured.draw(folder, 4, 7)


def test_an_argument_without_a_meta_is_named(folder):
    path = os.path.join(folder, "first", "weight_meta.py")
    with open(path, "w") as f:
        f.write(WEIGHTS.replace('"L_rows_"', '"L_other_"'))
    with pytest.raises(ValueError, match="argument L_rows_ of the model is in neither weight_meta.py nor input_meta.py"):
        captured.load(os.path.join(folder, "first"), "cpu", 1)


def test_numbers_of_a_captured_model_break_no_graph(tmp_path):
    """Dynamo lifts Python numbers to tensors, and sizes to torch.SymInt; at an item() of one it would break the graph."""
    (tmp_path / "model.py").write_text("""
import torch

class GraphModule(torch.nn.Module):
    def forward(self, s1: torch.SymInt, L_eps_: torch.Tensor, L_x_: torch.Tensor, L_n_: torch.Tensor):
        l_eps_ = L_eps_
        item = l_eps_.item()
        l_eps_ = None
        return torch.nn.functional.layer_norm(L_x_.view(s1, -1), (8,), eps=item) + L_n_
""")
    tensor = 'class {0}:\n    name = "{0}"\n    shape = {1}\n    dtype = "torch.{2}"\n    device = "cpu"\n    mean = None\n    std = None\n    data = {3}\n'
    metas = ("s1", [], "int64", [4]), ("L_eps_", [], "float64", [0.5]), ("L_x_", [4, 8], "float32", None), ("L_n_", [], "float32", [2.0])
    (tmp_path / "weight_meta.py").write_text("\n".join(tensor.format(*m) for m in metas))
    model, (rows, eps, x, n) = captured.load(str(tmp_path), "cpu", 1)
    assert rows == 4 and type(rows) is int and eps.item() == 0.5
    found = torch.compile(model, backend="eager", fullgraph=True)(rows, eps, x, n)
    torch.testing.assert_close(found, torch.nn.functional.layer_norm(x, (8,), eps=0.5) + 2)


def run(*arguments):
    environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(zellige.__file__))}
    command = [sys.executable, os.path.join(BENCH, "models.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)


def test_rows_and_a_table(folder, tmp_path):
    done = run("--captured", folder, "--device", "cpu", "--only", "first,third", "--json", str(tmp_path / "rows.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert {r["model"] for r in rows} == {"first", "third"}
    for r in rows:
        assert r["right"] and r["parts"] == 1 and r["kernels"] >= 1 and r["error"]["zellige"] < 1e-5 and not r["faults"]
    assert "2 models; geometric means:" in done.stdout and "compiled in" in done.stdout


def test_a_model_with_a_dtype_of_its_own_is_compared_with_eager(folder, tmp_path):
    first = os.path.join(folder, "first")
    with open(os.path.join(first, "model.py"), "w") as f:
        f.write(MODEL.replace("linear(L_x_,", "linear(L_x_.to(torch.float16),"))
    with open(os.path.join(first, "weight_meta.py"), "w") as f:
        f.write(WEIGHTS.replace("torch.float32", "torch.float16", 1))
    done = run("--captured", folder, "--device", "cpu", "--only", "first", "--json", str(tmp_path / "rows.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert row["right"] and "dtype" in row["exact"] and row["error"]["eager"] == 0 and row["error"]["zellige"] < 1e-2


def test_a_model_that_cannot_run_fails(folder):
    with open(os.path.join(folder, "first", "model.py"), "w") as f:
        f.write(MODEL.replace("        y =", "        raise ValueError('no model')\n        y ="))
    done = run("--captured", folder, "--device", "cpu", "--only", "first")
    assert done.returncode == 1 and "no model" in done.stdout


def test_wrong_calls():
    assert "expected --captured DIR or --zoo FILE" in run().stderr


def test_the_table():
    row = {"model": "m", "seconds_zellige": 2.0, "taken": 3, "operators": 4, "parts": 1, "kernels": 2, "right": True, "us": {"eager": 30.0, "guards": 40.0, "inductor": 20.0, "zellige": 20.0}}
    line = models.table([row]).splitlines()[2]
    assert line == "| m | 2.0 | 3 of 4 | 1 | 2 | yes | 1.50 | 1.00 | - | 2.00 |"
