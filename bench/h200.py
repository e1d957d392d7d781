#!/usr/bin/env python3
"""Times the saved muGraphs on this machine's GPU, and what a user would run instead, in one call.

  bench/h200.py --zellige build/zellige --mugraphs DIR [--peers peers.py] --out bench/results/h200.json

Ours: `zellige run --time=hot`, hot (one set of buffers), 20 launches to warm up and 200 timed by events, raw samples kept.
Peers: peers.py (PyTorch eager, torch.compile, SDPA), which prints its own medians; left out where it is missing.
Inputs are random and every result is compared with the reference in the same run. Only ratios within one file compare.
"""
import argparse, datetime, json, os, subprocess, sys, tempfile

# file, index, what it computes, bytes read once and written once, products * 2, Mirage's own kernel (us), peers.py's row
ROWS = [
    ("rmsnorm_bs1", 0, "RMSNorm+Linear 2x4096x6144", 2 * (2 * 4096 + 4096 * 6144 + 2 * 6144), 2 * 2 * 4096 * 6144, 34.1, "rmsnorm_linear_bs1"),
    ("gated_mlp", 0, "GatedMLP 8x4096x4096", 2 * (8 * 4096 + 2 * 4096 * 4096 + 8 * 4096), 4 * 8 * 4096 * 4096, 47.0, "gated_mlp_m8"),
    ("lora", 0, "LoRA 16x256x4096, rank 16", 2 * (16 * 256 + 256 * 4096 + 256 * 16 + 16 * 4096 + 16 * 4096), 2 * 16 * 256 * 4096 + 2 * 16 * 256 * 16 + 2 * 16 * 16 * 4096, 6.8, "lora_m16"),
    ("gqa_bs1", 0, "GQA 2x256x64, 4096 keys", 2 * (2 * 256 * 64 * 2 + 2 * 2 * 4096 * 64), 4 * 2 * 256 * 64 * 4096, 73.7, "gqa_bs1"),
    ("mqa_bs1", 6, "MQA 1024x64, 4096 keys", 2 * (1024 * 64 * 2 + 2 * 4096 * 64), 4 * 1024 * 64 * 4096, 32.6, "mqa_bs1"),
    ("mha_bs1", 0, "MHA 32x16x64, 4096 keys", 2 * (32 * 16 * 64 * 2 + 2 * 32 * 4096 * 64), 4 * 32 * 16 * 64 * 4096, None, "mha_bs1"),
    ("qknorm_gqa_bs1", 0, "QKNorm+GQA candidate", 2 * (2 * 256 * 64 * 2 + 2 * 2 * 4096 * 64), 4 * 2 * 256 * 64 * 4096, None, "qknorm_gqa_bs1"),
    ("ntrans_bs1", 0, "nTrans 8x4096", 2 * 4 * 8 * 4096, 0, 60.0, "ntrans_bs1"),
]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def ours(zellige, mugraphs, name, index):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "run.jsonl")
        done = subprocess.run([zellige, "run", f"{mugraphs}/{name}.json", "--index", str(index), "--on", "gpu", "--time=hot",
                               "--json", report], capture_output=True, text=True)
        if not os.path.exists(report):
            sys.exit(f"{name}[{index}]: {done.stderr.strip() or done.stdout.strip()}")
        return json.loads(open(report).readline())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--zellige", default="build/zellige")
    p.add_argument("--mugraphs", default=os.environ.get("ZELLIGE_MUGRAPHS", "../shared/mugraphs"))
    p.add_argument("--peers")
    p.add_argument("--out", default="bench/results/h200.json")
    a = p.parse_args()
    smi = "--query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.draw,temperature.gpu"
    result = {"date": datetime.date.today().isoformat(), "gpu": output("nvidia-smi", smi, "--format=csv,noheader"),
              "zellige": output(a.zellige, "--version"), "rows": []}
    for name, index, what, size, flops, mirage, peer in ROWS:
        r = ours(a.zellige, a.mugraphs, name, index)
        r["file"], r["kernel"] = f"{name}.json", ""  # no paths of this machine
        result["rows"].append({"file": name, "index": index, "what": what, "bytes": size, "flops": flops, "mirage_us": mirage,
                               "peer_row": peer, "run": r})
        print(f"{name}[{index}]: {r['status']}", file=sys.stderr)
    result["gpu_after"] = output("nvidia-smi", smi, "--format=csv,noheader")
    if a.peers:
        with tempfile.TemporaryDirectory() as folder:
            peers = os.path.join(folder, "peers.json")
            subprocess.run([sys.executable, a.peers, "--only", ",".join(r[6] for r in ROWS), "--json", peers], stdout=sys.stderr)
            if os.path.exists(peers):
                result["peers"] = json.load(open(peers))
    with open(a.out + ".part", "w") as f:
        json.dump(result, f, indent=1)
    os.replace(a.out + ".part", a.out)


main()
