#!/usr/bin/env python3
"""Fits the constants of the cost model (src/target/costs.hpp) to measured times, and reports how well estimates rank
plans.

  bench/fit_price.py --zellige build/zellige --mugraphs DIR bench/results/tilings_h200.jsonl          # the table
  bench/fit_price.py --fit ...                                                                    # and better constants

Each line of the file has a graph of a saved file, the tiling with which it was timed (null: its own) and the median in
microseconds, with warm L2. Each graph is planned again; from the manifest's numbers for each kernel, src/cost/cost_estimate.cpp
(`settle`, reimplemented here in Python) estimates times. The fit changes one constant at a time to minimise mean
|log(predicted / measured)|, over files of equal weight.
"""
import argparse, json, math, os, pathlib, re, subprocess, sys, tempfile
from collections import defaultdict

NAMES = ["clock", "dram", "l2", "l2_cycle", "launch", "next", "load", "step", "barrier", "barrier_warp", "rest"]
SMS = 132
COSTS = pathlib.Path(__file__).resolve().parents[1] / "src/target/costs.hpp"


def constants(header=COSTS):
    """The constants of the header's structs by their names; of two structs with one name, the first's."""
    found = {}
    code = re.sub(r"//.*", "", header.read_text())
    for declaration in re.findall(r"\b(?:double|int|std::int64_t)\s+(\w+ =[^;(]+);", code):
        for name, value in re.findall(r"(\w+)\s*=\s*([^,]+)", declaration):
            found.setdefault(name, float(eval(value)))  # a number, or a product or shift of numbers
    return found


def features(zellige, path, index, tiling, folder):
    """The features of each kernel, from its manifest; None if the tiling is refused."""
    command = [zellige, "transpile", path, "--index", str(index), "--target", "sm_90a", "-o", folder, "--force"]
    command += ["--tiling", "given"]
    if tiling:
        with open(os.path.join(folder, "tiling.json"), "w") as f:
            json.dump(tiling, f)
        command[-1] = f.name
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{os.path.basename(path)}[{index}]: {done.stderr.strip()}", file=sys.stderr)
        return None
    with open(done.stdout.split("\n")[1]) as f:
        m = json.load(f)
    kernels = []
    for k in m["kernels"]:
        p = k["price"]
        p["launched"] = math.prod(k["grid"])
        kernels.append(p)
    return {"kernels": kernels, "bytes": sum(t["bytes"] for t in m["tensors"])}


def settle(c, k, first, missed):
    cycle = 1e-3 / c["clock"]
    busiest = -(-k["launched"] // SMS)
    waves = math.ceil(busiest / k["blocks_each"])
    l2 = max(k["l2_bytes"] / c["l2"] * 1e-3, busiest * k["l2_bytes"] / k["launched"] / c["l2_cycle"] * cycle)
    load_time = k["trips"] * c["load"] / k["in_flight"] if k["trips"] > 1 else 0
    latency = waves * (max(load_time, k["chain"] * c["step"]) + k["barriers"] * (c["barrier"] + (k["warps"] - 4) * c["barrier_warp"])) * cycle
    parts = [max(missed * k["dram_bytes"] / c["dram"] * 1e-3, l2), busiest * k["wavefronts"] * cycle,
             busiest * k["tensor_cycles"] * cycle, busiest * k["slots"] / 4 * cycle, latency]
    slowest, total = max(parts), sum(parts)
    exposed = c["rest"] + (1 - c["rest"]) / max(1.0, k["trips"] * min(busiest, k["blocks_each"]))
    return (c["launch"] if first else c["next"]) + c["load"] * cycle + slowest + exposed * (total - slowest)


def predicted(c, f):
    missed = max(0.0, 1 - c["l2_held"] * c["l2_bytes"] / f["bytes"])  # times are with warm L2
    return sum(settle(c, k, i == 0, missed) for i, k in enumerate(f["kernels"]))


def error(c, rows):
    by_file = defaultdict(list)
    for r in rows:
        by_file[r["file"]].append(abs(math.log(predicted(c, r["features"]) / r["us"])))
    return sum(sum(v) / len(v) for v in by_file.values()) / len(by_file)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            result[order[k]] = (i + j) / 2
        i = j + 1
    return result


def correlation(x, y):
    x, y = ranks(x), ranks(y)
    mx, my = sum(x) / len(x), sum(y) / len(y)
    xy = sum((a - mx) * (b - my) for a, b in zip(x, y))
    xx, yy = sum((a - mx) ** 2 for a in x), sum((b - my) ** 2 for b in y)
    return xy / math.sqrt(xx * yy) if xx and yy else float("nan")


def table(c, rows):
    print("| file | plans | rank correlation | median error | best by estimate, us | best measured, us |")
    print("|---|---|---|---|---|---|")
    groups = defaultdict(list)
    for r in rows:
        groups[r["file"]].append(r)
    groups["all"] = rows
    for name, group in groups.items():
        p, m = [predicted(c, r["features"]) for r in group], [r["us"] for r in group]
        off = sorted(abs(a / b - 1) for a, b in zip(p, m))
        best = m[min(range(len(p)), key=p.__getitem__)]
        last = f"{best:.1f} | {min(m):.1f}" if name != "all" else "- | -"
        print(f"| {name.removesuffix('.json')} | {len(group)} | {correlation(p, m):.2f} | {100 * off[len(off) // 2]:.0f}% | {last} |")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("results", nargs="+")
    a.add_argument("--zellige", default="build/zellige")
    a.add_argument("--mugraphs", default=os.environ.get("ZELLIGE_MUGRAPHS", "../shared/mugraphs"))
    a.add_argument("--fit", action="store_true", help="print constants that fit better")
    a.add_argument("--constants", default="{}", help="JSON of those to begin with, which replace those of the header")
    a = a.parse_args()
    c = constants()
    c.update(json.loads(a.constants))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in a.results:
            for line in open(path):
                r = json.loads(line)
                if "us" not in r:
                    continue
                r["features"] = features(a.zellige, os.path.join(a.mugraphs, r["file"]), r["index"], r["tiling"], folder)
                if r["features"]:
                    rows.append(r)
    if a.fit:
        lowest, step = error(c, rows), 1.3
        while step > 1.01:
            moved = False
            for name in NAMES[2:]:  # the clock and the DRAM bandwidth are known: a copy is measured with the kernels
                for factor in (step, 1 / step):
                    other = dict(c, **{name: c[name] * factor})
                    e = error(other, rows)
                    if e < lowest - 1e-6:
                        c, lowest, moved = other, e, True
            if not moved:
                step = math.sqrt(step)
        print(json.dumps({n: float(f"{c[n]:.3g}") for n in NAMES}))
    table(c, rows)


if __name__ == "__main__":
    main()
