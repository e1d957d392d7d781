#!/usr/bin/env python3
"""Runs graphs over ranks on GPUs, one process per rank, by NCCL and by kernels of each kind, and has each process compare its rank with the reference.

  ranks.py ZELLIGE [--ranks 2] [--graphs 20] [--seed 1] [--time]

The graphs are an MLP with an all-reduce and random ones with all collectives, in bf16, f16 and f32. Then it checks that ranks with
different graphs, and a rank that does not come, end every process with one sentence. Exits 1 if anything is wrong. NCCL must be
where the loader finds libnccl.so.2, or ZELLIGE_NCCL must name it: with PyTorch's wheels it is
site-packages/nvidia/nccl/lib/libnccl.so.2.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile


def graph(name, ranks, inputs, operators, output):
    return {"zellige_graph": 1, "name": name, "ranks": ranks, "inputs": inputs, "operators": operators, "outputs": [output]}


def mlp(ranks, rows, dtype="bf16"):
    def tensor(name, *shape):
        return {"name": name, "dtype": dtype, "shape": list(shape)}

    return graph(
        f"mlp_{rows}", ranks, [tensor("x", rows, 1024), tensor("up", 1024, 2048), tensor("down", 2048, 1024)],
        [{"op": "matmul", "inputs": ["x", "up"], "outputs": ["h"]}, {"op": "silu", "inputs": ["h"], "outputs": ["a"]},
         {"op": "matmul", "inputs": ["a", "down"], "outputs": ["p"]}, {"op": "all_reduce", "inputs": ["p"], "outputs": ["s"]},
         {"op": "rms_norm", "inputs": ["s"], "outputs": ["y"], "eps": 1e-5}], "y")


def random_graph(ranks, number, rng):
    """A chain of elementwise operators, products and collectives on matrices."""
    dtype = rng.choice(["bf16", "f16", "f32"])
    shape = [ranks * rng.randint(1, 40), ranks * rng.randint(1, 40)]
    inputs, operators, last = [{"name": "x", "dtype": dtype, "shape": list(shape)}], [], "x"
    for i in range(rng.randint(4, 9)):
        made, dim = f"t{i}", rng.randint(0, 1)
        op = {"inputs": [last], "outputs": [made]}
        kind = rng.choice("relu all_reduce all_reduce_max all_gather reduce_scatter all_to_all broadcast matmul".split())
        if kind == "matmul":
            columns = ranks * rng.randint(1, 40)
            inputs.append({"name": f"w{i}", "dtype": dtype, "shape": [shape[1], columns]})
            op["inputs"].append(f"w{i}")
            shape[1] = columns
        elif kind in ("reduce_scatter", "all_to_all") and shape[dim] % ranks:
            continue
        elif kind in ("all_gather", "all_to_all") and max(shape) > 4096:
            continue
        elif kind == "all_gather":
            op["dim"], shape[dim] = dim, shape[dim] * ranks
        elif kind == "reduce_scatter":
            op["dim"], shape[dim] = dim, shape[dim] // ranks
        elif kind == "all_to_all":
            op["dims"], shape[dim], shape[1 - dim] = [dim, 1 - dim], shape[dim] // ranks, shape[1 - dim] * ranks
        elif kind == "broadcast":
            op["root"] = rng.randrange(ranks)
        operators.append(op | {"op": kind})
        last = made
    operators.append({"op": "mul_scalar", "scalar": 0.5, "inputs": [last], "outputs": ["y"]})
    return graph(f"random_{number}", ranks, inputs, operators, "y")


def free_port():
    """A port that is free, and the one after it, where rank 0 listens."""
    with socket.socket() as first:
        first.bind(("127.0.0.1", 0))
        return first.getsockname()[1]


def run(zellige, files, timeout=300, missing=(), environment=(), extra=()):
    """Runs one process per file. Returns (status, output) of each; of those in `missing`, none is started."""
    port, ranks = free_port(), len(files)
    processes = []
    for rank, file in enumerate(files):
        if rank in missing:
            continue
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(port), **dict(environment))
        command = [zellige, "run", file, "--on", "gpu", "--jobs", "1", *extra]
        processes.append(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    results = []
    for process in processes:
        try:
            output = process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = "HANGS: " + process.communicate()[0]
        results.append((process.returncode, output.strip()))
    return results


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("zellige")
    arguments.add_argument("--ranks", type=int, default=2)
    arguments.add_argument("--graphs", type=int, default=20)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--time", action="store_true", help="time them, too: us per evaluation, in a CUDA graph")
    given = arguments.parse_args()
    rng, wrong = random.Random(given.seed), 0
    with tempfile.TemporaryDirectory() as folder:

        def write(form):
            path = os.path.join(folder, f"{form['name']}_{len(os.listdir(folder))}.json")
            with open(path, "w") as file:
                json.dump(form, file)
            return path

        def expect(what, results, right):
            nonlocal wrong
            good = all(right(status, output) for status, output in results)
            wrong += not good
            print(f"{what}: {'right' if good else 'WRONG'}")
            for status, output in results:
                print(f"    {status}: {output}")

        forms = [mlp(given.ranks, rows) for rows in (1, 16, 512)]
        forms += [random_graph(given.ranks, i, rng) for i in range(given.graphs)]
        for form in forms:
            for way in ("cheapest", "one-shot", "two-shots", "fused"):
                extra = ["--collectives", way, *(["--time=hot"] if given.time else [])]
                results = run(given.zellige, [write(form)] * given.ranks, extra=extra)
                expect(f"{form['name']}, {way}", results, lambda status, output: status == 0 and " correct " in output)
        others = [write(mlp(given.ranks, 16))] * (given.ranks - 1) + [write(mlp(given.ranks, 32))]
        expect("different graphs", run(given.zellige, others), lambda status, output: status != 0 and "is not that of rank 0" in output)
        alone = run(given.zellige, [write(mlp(given.ranks, 16))] * given.ranks, 120, [given.ranks - 1], {"ZELLIGE_RANKS_TIMEOUT": "10"})
        expect("a rank that does not come", alone, lambda status, output: status != 0 and "did not come" in output)
        short = run(given.zellige, [write(mlp(given.ranks + 1, 16))] * given.ranks)
        expect("too few processes", short, lambda status, output: status != 0 and f"the job has {given.ranks} processes" in output)
    print(f"{wrong} wrong" if wrong else "all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
