#!/usr/bin/env python3
"""Runs a stack of layers, divided by parallelize_module, under torch.compile with Zellige's backend on the GPUs of a machine, one process
per rank, and compares it with torch's.

  torch_ranks.py [--ranks 2] [--layers 4] [--hidden 4096] [--inner 14336] [--rows 1,16] [--llama]

Each layer is a norm and a gated MLP with its residual. It prints which parts took a collective, and us of a call as torch runs it and
compiled, both replayed from CUDA graphs. With --llama it then divides a small Llama of transformers by tp_plan="auto", and compares logits
and what it generates. Exits 1 if results are wrong, or differ between ranks.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile


def layers(torch, given):
    nn = torch.nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.RMSNorm(given.hidden)
            self.gate, self.up = (nn.Linear(given.hidden, given.inner, bias=False) for _ in range(2))
            self.down = nn.Linear(given.inner, given.hidden, bias=False)

        def forward(self, x):
            y = self.norm(x)
            return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers, self.norm = nn.ModuleList(Layer() for _ in range(given.layers)), nn.RMSNorm(given.hidden)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.norm(x)

    return Stack()


def us_of(torch, f, x):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            f(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            f(x)
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        graph.replay()
        marks[0].record(stream)
        for _ in range(50):
            graph.replay()
        marks[1].record(stream)
        torch.cuda.synchronize()
    return 1e3 * marks[0].elapsed_time(marks[1]) / 50


def llama(torch, dist, rank, folder):
    """Compares a Llama that transformers divides with torch's run of it. Returns how many results are wrong."""
    from transformers import LlamaConfig, LlamaForCausalLM
    from zellige import torch_backend

    config = LlamaConfig(
        vocab_size=512, hidden_size=1024, intermediate_size=2816, num_hidden_layers=4, num_attention_heads=16, num_key_value_heads=8, max_position_embeddings=256
    )
    if rank == 0:
        torch.manual_seed(1)
        LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    dist.barrier()
    model = LlamaForCausalLM.from_pretrained(folder, tp_plan="auto", dtype=torch.bfloat16).eval()
    ids = (torch.arange(24, device="cuda") * 7 % 512).reshape(1, 24)
    with torch.no_grad():
        right, tokens = model(ids).logits.float(), model.generate(ids, max_new_tokens=8, do_sample=False)
        torch_backend.reports.clear()
        model.forward = torch.compile(model.forward, backend="zellige")
        found, others = model(ids).logits.float(), model.generate(ids, max_new_tokens=8, do_sample=False)
    error = ((found - right).abs().max() / right.abs().max()).item()
    if rank == 0:
        joined = sum(len(r.joined) for r in torch_backend.reports)
        print(f"llama: error {error:.4f}, {(tokens == others).sum().item()} of {tokens.numel()} tokens equal; {joined} notes of joined parts", flush=True)
        print(*torch_backend.reports, sep="\n", flush=True)
    return int(error > 0.05)


def of_rank(given):
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    from zellige import torch_backend

    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    mesh, wrong = init_device_mesh("cuda", (ranks,)), 0
    torch.manual_seed(7)
    with torch.device("cuda"), torch.no_grad():
        model = layers(torch, given).to(torch.bfloat16).eval()
        plan = {"gate": ColwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel()}
        for layer in model.layers:
            parallelize_module(layer, mesh, plan)
        compiled = torch.compile(model, backend="zellige", dynamic=False)
        for rows in map(int, given.rows.split(",")):
            torch.manual_seed(rows)
            x = torch.randn(1, rows, given.hidden, dtype=torch.bfloat16)
            expected, found = model(x).float(), compiled(x)
            everyone = [torch.empty_like(found) for _ in range(ranks)]
            dist.all_gather(everyone, found.contiguous())
            error = ((found.float() - expected).abs().max() / expected.abs().max()).item()
            same = all(torch.equal(everyone[0], y) for y in everyone)
            report = torch_backend.reports[-1]
            wrong += not same or error > 0.05
            times = us_of(torch, model, x), us_of(torch, compiled, x)
            if rank == 0:
                print(f"{rows} rows: error {error:.4f}, {'the same' if same else 'OTHER'} bits; torch {times[0]:.1f} us, compiled {times[1]:.1f} us; {len(report.joined)} notes of joined parts", flush=True)
                print(report, flush=True)
    if given.llama:
        wrong += llama(torch, dist, rank, os.environ["LLAMA_FOLDER"])
    dist.destroy_process_group()
    return 1 if wrong else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("ranks", 2), ("layers", 4), ("hidden", 4096), ("inner", 14336), ("rows", "1,16")):
        arguments.add_argument(f"--{name}", type=type(value), default=value)
    arguments.add_argument("--llama", action="store_true")
    given = arguments.parse_args()
    if "RANK" in os.environ:
        return of_rank(given)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started, folder = [], tempfile.TemporaryDirectory()
    for rank in range(given.ranks):
        place = {"RANK": str(rank), "WORLD_SIZE": str(given.ranks), "LOCAL_RANK": str(rank), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "LLAMA_FOLDER": folder.name}
        started.append(subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, **place}))
    return max(p.wait() for p in started)


if __name__ == "__main__":
    sys.exit(main())
