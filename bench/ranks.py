#!/usr/bin/env python3
"""Times graphs over ranks on the GPUs of a machine, one process per rank: collectives by NCCL beside kernels in which ranks exchange tiles.

  ranks.py ZELLIGE [--ranks 2] [--rounds 2] [--only TEXT] [--torch] [--out FILE.json]

Times are us of an evaluation in a CUDA graph, with a warm L2; the slowest rank counts, and of several rounds, which are interleaved,
the least. Every run is checked, too. With --torch, PyTorch's all-reduce by NCCL and by symmetric memory are timed in the same call.
NCCL is found as docs/explanation/ranks.md says.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile

ALL_REDUCE = [2 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]
ROWS = [1, 16, 64, 512]


def all_reduce(ranks, size):
    """An all-reduce of `size` bytes of bf16."""
    return {"zellige_graph": 1, "name": f"all_reduce_{size}", "ranks": ranks,
            "inputs": [{"name": "x", "dtype": "bf16", "shape": [size // 2048, 1024]}],
            "operators": [{"op": "all_reduce", "inputs": ["x"], "outputs": ["y"]}], "outputs": ["y"]}


def mlp(ranks, rows, hidden=4096, inner=14336):
    """The MLP of Llama 3 8B, with its residual and the norm that follows."""
    part = inner // ranks
    shapes = {"x": [rows, hidden], "gate": [hidden, part], "up": [hidden, part], "down": [part, hidden], "residual": [rows, hidden]}
    return {"zellige_graph": 1, "name": f"mlp_{rows}", "ranks": ranks,
            "inputs": [{"name": n, "dtype": "bf16", "shape": s, **({"constant": True} if n in ("gate", "up", "down") else {})}
                       for n, s in shapes.items()],
            "operators": [{"op": "matmul", "inputs": ["x", "gate"], "outputs": ["g"]},
                          {"op": "matmul", "inputs": ["x", "up"], "outputs": ["u"]},
                          {"op": "silu", "inputs": ["g"], "outputs": ["s"]}, {"op": "mul", "inputs": ["s", "u"], "outputs": ["h"]},
                          {"op": "matmul", "inputs": ["h", "down"], "outputs": ["p"]},
                          {"op": "all_reduce", "inputs": ["p"], "outputs": ["a"]},
                          {"op": "add", "inputs": ["a", "residual"], "outputs": ["r"]},
                          {"op": "rms_norm", "inputs": ["r"], "outputs": ["y"], "eps": 1e-5}], "outputs": ["r", "y"]}


def free_port():
    with socket.socket() as first:
        first.bind(("127.0.0.1", 0))
        return first.getsockname()[1]


def processes(ranks, command):
    """Runs a command per rank. Returns its output by rank; throws RuntimeError if one fails."""
    port, started = free_port(), []
    for rank in range(ranks):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        started.append(subprocess.Popen(command(rank), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    outputs = [p.communicate(timeout=240)[0] for p in started]
    for p, text in zip(started, outputs):
        if p.returncode:
            raise RuntimeError(text.strip())
    return outputs


def time_of(zellige, graph, ranks, how, folder):
    """us of one evaluation of a graph, on the slowest rank."""
    path = os.path.join(folder, graph["name"] + ".json")
    with open(path, "w") as file:
        json.dump(graph, file)

    def out(rank):
        return os.path.join(folder, f"{graph['name']}.{how}.{rank}.jsonl")

    processes(ranks, lambda rank: [zellige, "run", path, "--on", "gpu", "--jobs", "1", "--time=hot", "--force", "--json", out(rank),
                                   "--collectives", how])
    results = [json.loads(open(out(r)).read()) for r in range(ranks)]
    for r in results:
        if r["status"] != "correct":
            raise RuntimeError(f"{graph['name']}, {how}: {r['status']}: {r['reason']}")
    return {"us": max(r["time_us"]["median"] for r in results), "notes": results[0]["notes"]}


TORCH = r"""
import json, os, statistics, sys, torch, torch.distributed as dist
rank = int(os.environ["RANK"]); torch.cuda.set_device(rank); dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
import torch.distributed._symmetric_memory as symmetric
group, result = dist.group.WORLD.group_name, {}

def us(f):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        f(); f()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(10): f()
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(31)]
        for _ in range(3): graph.replay()
        for i, mark in enumerate(marks):
            mark.record(stream)
            if i < 30: graph.replay()
        torch.cuda.synchronize()
    t = torch.tensor(statistics.median(100 * a.elapsed_time(b) for a, b in zip(marks, marks[1:])), device="cuda")
    dist.all_reduce(t, dist.ReduceOp.MAX)
    return t.item()

for size in json.loads(sys.argv[1]):
    x = torch.ones(size // 2, dtype=torch.bfloat16, device="cuda")
    row = {"torch_nccl": us(lambda: dist.all_reduce(x))}
    t = symmetric.empty(size // 2, dtype=torch.bfloat16, device="cuda").fill_(1)
    symmetric.rendezvous(t, group)
    for name in ("one_shot_all_reduce", "two_shot_all_reduce_"):
        try: row["torch_" + name] = us(lambda: getattr(torch.ops.symm_mem, name)(t, "sum", group))
        except Exception as e: row["torch_" + name + "_error"] = str(e)[:100]
    result[f"all_reduce_{size}"] = row
if rank == 0: print("RESULT " + json.dumps(result))
dist.destroy_process_group()
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("zellige")
    arguments.add_argument("--ranks", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument("--only", default="", help="graphs whose names contain this text")
    arguments.add_argument("--torch", action="store_true", help="time PyTorch's all-reduce, too")
    arguments.add_argument("--out", help="a file for the times, as JSON")
    given = arguments.parse_args()
    graphs = [all_reduce(given.ranks, size) for size in ALL_REDUCE] + [mlp(given.ranks, rows) for rows in ROWS]
    graphs = [g for g in graphs if given.only in g["name"]]
    table, failed = {g["name"]: {} for g in graphs}, 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.rounds):
            for g in graphs:
                for how in ("nccl", "symmetric"):
                    try:
                        found = time_of(given.zellige, g, given.ranks, how, folder)
                    except (RuntimeError, subprocess.TimeoutExpired) as e:
                        table[g["name"]][how + "_error"], failed = str(e), failed + 1
                        continue
                    table[g["name"]][how] = min(found["us"], table[g["name"]].get(how, 1e9))
                    table[g["name"]]["notes_" + how] = found["notes"]
    if given.torch:
        sizes = json.dumps([s for s in ALL_REDUCE if given.only in f"all_reduce_{s}"])
        try:
            for text in processes(given.ranks, lambda rank: [sys.executable, "-c", TORCH, sizes]):
                for line in text.splitlines():
                    for name, row in json.loads(line[7:]).items() if line.startswith("RESULT ") else ():
                        table[name].update(row)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            print("torch:", str(e)[-2000:])
    columns = ["nccl", "symmetric", "torch_nccl", "torch_one_shot_all_reduce", "torch_two_shot_all_reduce_"]
    print(f"{'us':20}" + "".join(f"{c[:22]:>24}" for c in columns))
    for name, row in table.items():
        print(f"{name:20}" + "".join(f"{row[c]:24.2f}" if c in row else f"{'':24}" for c in columns))
        for how in ("nccl", "symmetric"):
            if how + "_error" in row:
                print(f"  {how}: {row[how + '_error'][-1500:]}")
    if given.out:
        with open(given.out, "w") as file:
            json.dump({"ranks": given.ranks, "times": table}, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
