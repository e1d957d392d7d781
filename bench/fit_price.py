#!/usr/bin/env python3
"""Fits the constants of the cost model (src/target/costs.hpp) to measured times, and reports how well estimates rank
plans.

  bench/fit_price.py --mugraphs DIR bench/results/tilings_h200.jsonl       # the table of saved graphs
  bench/fit_price.py --tiles bench/results/tiles_h100.jsonl                # the table of tiles of matmuls
  bench/fit_price.py --fit ...                                             # and better constants

A line of the first file has a graph of a saved file, the tiling with which it was timed (null: its own) and the median in
microseconds, with warm L2. The fit changes one constant at a time to minimise mean |log(predicted / measured)|, over files
of equal weight. A line of the second (bench/tiles.py) has a matmul and the times of its tiles, with cold L2. Its fit
minimises how much slower the tile of least expected time is than the fastest.

Each graph is planned again. settle() computes the time of a kernel from the manifest's numbers, as time_of() of
src/cost/kernel_cost.cpp does. If it differs from the manifest's by more than 0.1%, the script stops: one of the two was
changed without the other.
"""
import argparse, json, math, os, pathlib, re, subprocess, sys, tempfile
from collections import defaultdict
import tiles

NAMES = ["clock", "dram", "l2", "l2_cycle", "launch", "next", "load", "step", "barrier", "barrier_warp", "rest"]
TILE_NAMES = ["tile", "tile_value", "power", "l2_bulk", "run_bytes"]  # fitted to the times of tiles
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
        return checked(json.load(f))


def checked(manifest):
    """The features of a manifest's kernels; exits if settle() and the manifest have different times of one."""
    c = constants()
    for k in manifest["kernels"]:
        here, there = settle(c, k["price"]), k["price"]["us"]
        if not abs(here - there) <= 1e-3 * there:
            sys.exit(f"bench/fit_price.py: kernel {k['name']}: settle() expects {here:.4f} us, its manifest {there:.4f} us: settle() and time_of() of "
                     "src/cost/kernel_cost.cpp differ, or zellige was built with other constants")
    return {"kernels": [k["price"] for k in manifest["kernels"]], "bytes": sum(t["bytes"] for t in manifest["tensors"])}


def settle(c, k, missed=1):
    """time_of() of src/cost/kernel_cost.cpp. `k`: a kernel's "price" of the manifest; `missed`: fraction of the bytes of DRAM that the L2 does not have."""
    cycle = 1e-3 / c["clock"]
    busiest = math.ceil(k["launched"] / SMS)
    waves = math.ceil(busiest / k["blocks_each"])
    rate, each, rest = ("l2_bulk", "bulk_cycle", "rest_warp_specialized") if k["warp_specialized"] else ("l2", "l2_cycle", "rest")
    l2, l2_alone = (max(k[served] / c[rate] * 1e-3, busiest * k["received_bytes"] / c[each] * cycle) for served in ("served_bytes", "l2_bytes"))
    dram = missed * (k["dram_bytes"] + k["dram_runs"] * c["run_bytes"]) / c["dram"] * 1e-3
    stalled = 1 if not k["stalls"] or k["in_flight"] >= c["few_stages"] else c["starved" if k["in_flight"] <= 2 else "stalled"]
    tensor = busiest * k["tensor_cycles"] * cycle * stalled * (c["multicast"] if k["multicasts"] else 1)
    shared = max(k["wavefronts"] + k["narrow_copies"] * c["narrow_copy"] + k["anywhere"] * c["anywhere"], k["requests"] * c["request"])
    loads = k["trips"] * c["load"] if k["warp_specialized"] else k["trips"] * c["stage"] + k["received_bytes"] / c["stage_rate"]
    arrives = c["arrives"] * k["received_bytes"] / c["stage_rate"] if k["matmuls"] == 1 else 0
    chain = max(k["chain"] * c["step"], k["trips"] * c["ring"] if k["warp_specialized"] else 0)
    loop = max(loads / k["in_flight"], chain) if k["trips"] > 1 else arrives + chain
    waits = k["barriers"] * (c["barrier"] + (k["warps"] - 4) * c["barrier_warp"]) + k["rounds"] * c["load"]
    latency = waves * (loop + waits) * cycle
    parts = [max(dram, l2), busiest * shared * cycle, tensor, busiest * k["slots"] / 4 * cycle, latency]
    slowest, total = max(parts), sum(parts)
    resident = min(busiest, k["blocks_each"])
    narrow = c["rest_narrow"] / resident if k["matmuls"] and k["narrow_copies"] and not k["warp_specialized"] else 0
    exposed = (c[rest] + narrow) + (1 - c[rest] - narrow) / max(1.0, k["trips"] * resident + (c["overlap"] if k["matmuls"] else 0))
    ends = waves * (k["trips"] * c["chain_iteration"] if k["chained"] else k["tiles"] * (c["tile"] + c["tile_value"] * k["values"]))
    exchange = c["exchange"] + k["exchanged_bytes"] / c["exchange_cycle"] if k["exchanged_bytes"] else c["cluster"] if k["multicasts"] else 0
    power = c["power"] * l2_alone if k["tiles"] > 0 else 0
    begins = busiest * c["block"]
    work = (slowest + exposed * (total - slowest)) * (c["spilled"] if k["spills"] else 1)
    return (c["launch"] if k["first_kernel"] else c["next"]) + c["load"] * cycle + work + power + (begins + ends + exchange) * cycle


def predicted(c, f):
    missed = max(0.0, 1 - c["l2_held"] * c["l2_bytes"] / f["bytes"])  # times are with warm L2
    return sum(settle(c, k, missed) for k in f["kernels"])


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


def timed_tiles(zellige, lines):
    """The matmuls of a file of bench/tiles.py with at least two tiles that can be planned: family, name, and their (kernels, us, tile)."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for p in lines:
            found = []
            for shape, threads, swapped, us in p["tiles"]:
                if planned := tiles.transpiled(zellige, tiles.graph_of(p), (*shape, threads, swapped), folder):
                    found.append((checked(planned[1])["kernels"], us, (*shape, threads, swapped)))
            if len(found) > 1:
                rows.append((p["product"].split("_")[0], p["product"], found))
    return rows


def expected(c, found):
    return [sum(settle(c, k) for k in kernels) for kernels, _, _ in found]


def loss_of_tiles(c, rows):
    """How much slower the tile of least expected time is than the fastest, in logarithms. Half of it is of that tile, and half a
    mean over tiles that are expected to take hardly longer. A little of the error of the times among tiles is added."""
    total = weights = 0
    for family, _, found in rows:
        weight = 2 if family in ("llama", "gemm", "odd") else 1
        estimates, us = expected(c, found), [u for _, u, _ in found]
        lowest, fastest = min(estimates), min(us)
        near = [(lowest / p) ** 50 for p in estimates]
        soft = sum(w * math.log(u / fastest) for w, u in zip(near, us)) / sum(near)
        errors = [math.log(p / u) for p, u in zip(estimates, us)]
        mean = sum(errors) / len(errors)
        taken = math.log(us[estimates.index(lowest)] / fastest)
        total += weight * (0.5 * taken + 0.5 * soft + 0.12 * sum(abs(e - mean) for e in errors) / len(errors))
        weights += weight
    return total / weights


def table_of_tiles(c, rows):
    print("| family | matmuls | tiles | slower than the fastest | the three that lose most |")
    print("|---|---|---|---|---|")
    groups = defaultdict(list)
    for family, name, found in rows:
        estimates = expected(c, found)
        us = [u for _, u, _ in found]
        entry = math.log(us[estimates.index(min(estimates))] / min(us)), name, len(us)
        groups[family].append(entry), groups["all"].append(entry)
    for family in sorted(groups, key=lambda f: (f == "all", f)):
        group = sorted(groups[family], reverse=True)
        losses = {name: loss for loss, name, _ in reversed(group)}  # of a matmul of two runs, the greater
        three = sorted(losses, key=losses.get, reverse=True)[:3]
        worst = ", ".join(f"{name} {100 * math.expm1(losses[name]):.0f}%" for name in three) if family != "all" else "-"
        mean = math.expm1(sum(loss for loss, _, _ in group) / len(group))
        print(f"| {family} | {len(losses)} | {sum(n for _, _, n in group)} | {100 * mean:.1f}% | {worst} |")


def descended(c, names, objective):
    """Constants that make the objective less: one at a time is multiplied or divided by a step, which becomes smaller."""
    lowest, step = objective(c), 1.3
    while step > 1.01:
        moved = False
        for name in names:
            for factor in (step, 1 / step):
                other = dict(c, **{name: c[name] * factor})
                e = objective(other)
                if e < lowest - 1e-6:
                    c, lowest, moved = other, e, True
        if not moved:
            step = math.sqrt(step)
    print(json.dumps({n: float(f"{c[n]:.3g}") for n in names}))
    return c


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("results", nargs="*", help="times of saved graphs")
    a.add_argument("--tiles", metavar="FILE", help="times of tiles of matmuls")
    a.add_argument("--zellige", default="build/zellige")
    a.add_argument("--mugraphs", default=os.environ.get("ZELLIGE_MUGRAPHS", "../shared/mugraphs"))
    a.add_argument("--fit", action="store_true", help="print constants that fit better")
    a.add_argument("--constants", default="{}", help="JSON of those to begin with, which replace those of the header")
    a = a.parse_args()
    if not a.results and not a.tiles:
        sys.exit("bench/fit_price.py: expected a file of results, or --tiles FILE")
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
    if rows:
        # The clock and the DRAM bandwidth are known: a copy is measured with the kernels.
        table(descended(c, NAMES[2:], lambda c: error(c, rows)) if a.fit else c, rows)
    if a.tiles:
        lines = [json.loads(line) for line in open(a.tiles)]
        rows = timed_tiles(a.zellige, [p for p in lines if "tiles" in p])
        if a.fit:
            print(f"{loss_of_tiles(c, rows):.4f}")
            c = descended(c, TILE_NAMES, lambda c: loss_of_tiles(c, rows))
            print(f"{loss_of_tiles(c, rows):.4f}")
        table_of_tiles(c, rows)


if __name__ == "__main__":
    main()
