#!/usr/bin/env python3
"""Runs graphs on the emulator for several targets, the smallest first, and compares what was counted with what is predicted.

  tests/predict/run_graphs.py --zellige build/zellige --target sm_100a --target sm_120a --out runs.jsonl FILE...
  tests/predict/run_graphs.py --table runs.jsonl

Every graph of each file is planned first, for the targets and for --reference (sm_90a): a graph that only the reference has a plan of is
a fault. Then they run, ordered by the multiplications and bytes that are predicted, each with at most --seconds of a core's time;
with --in-order each runs when it is planned. --until HH:MM ends the runs. A line of OUT is what became of one graph on one target, and a second call goes on where the first ended.
A counter that a kernel's prediction leaves out is not compared. --table prints the number of each verdict per file, for docs/reference/blackwell.md.
Exit status 0: nothing is wrong, differs from its prediction, or is refused where the reference has a plan.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

EXECUTES = re.compile(r"^# \S+: a launch executes: (.*)$", re.M)
WORK_OF = {"mma": 4096, "wgmma": 2**21, "tcgen05_mma": 2**21}  # multiplications of one instruction, about


def predicted(explained):
    """Returns the counters of each kernel that --explain prints, as [{counter: n}]."""
    return [{name: int(n) for name, n in re.findall(r"(\w+) (\d+)", line)} for line in EXECUTES.findall(explained)]


def size(kernels):
    """Returns a number that grows with the time that the emulator takes."""
    total = 0
    for counts in kernels:
        for name, n in counts.items():
            total += n * next((work for prefix, work in WORK_OF.items() if name.startswith(prefix)), 0 if "wavefronts" in name else 64)
    return total


def differences(kernels, counted):
    """Returns the counters that differ, as strings. One that some kernel does not list is a lower bound of the program's."""
    found = []
    for name in sorted({name for counts in kernels for name in counts}):
        expected, known = sum(counts.get(name, 0) for counts in kernels), all(name in counts for counts in kernels)
        if counted.get(name, 0) < expected or known and counted.get(name, 0) != expected:
            found.append(f"{name}: {expected} predicted, {counted.get(name, 0)} counted")
    return found


class Runner:
    def __init__(self, args):
        self.args, self.folder = args, tempfile.mkdtemp()

    def command(self, *words, seconds=None):
        limit = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))) if seconds else None
        return subprocess.run([self.args.zellige, *words], capture_output=True, text=True, preexec_fn=limit)

    def plan(self, file, index, target):
        """Returns what is predicted of the kernels, or the sentence of the refusal."""
        done = self.command("transpile", file, "--index", str(index), "--target", target, "--explain", "-o", self.folder, "--force")
        if done.returncode:
            return (done.stderr or done.stdout).strip().splitlines()[-1]
        return predicted(done.stdout)

    def run(self, file, index, target, kernels):
        """Returns the row of one run."""
        out = os.path.join(self.folder, "run.jsonl")
        words = ["run", file, "--index", str(index), "--on", "emulator", "--target", target, "--jobs", "1", "--json", out, "--force"]
        if size(kernels) > 4e9:
            words += ["--check", "sampled"]
        pathlib.Path(out).unlink(missing_ok=True)
        done = self.command(*words, seconds=self.args.seconds)
        lines = pathlib.Path(out).read_text().splitlines() if os.path.exists(out) else []
        if not lines:
            return {"verdict": "too long" if done.returncode < 0 or "killed" in done.stderr + done.stdout else "failed", "why": (done.stderr + done.stdout)[-400:]}
        result = json.loads(lines[-1])
        found = differences(kernels, result["counters"]) if "counters" in result else []
        verdict = "differs" if found else result["status"]
        return {"verdict": verdict, "why": "; ".join(found) or result["reason"] or str(result.get("findings") or ""), "check": result["check"],
                "seconds": round(result.get("run_ms", 0) / 1000, 2)}


def graphs_of(file):
    graphs = json.loads(pathlib.Path(file).read_text())
    return range(len(graphs)) if isinstance(graphs, list) else range(1)


def until(text):
    hour, minute = text.split(":")
    return datetime.datetime.now().replace(hour=int(hour), minute=int(minute), second=0)


def measure(args):
    runner, done = Runner(args), set()
    if os.path.exists(args.out):
        done = {(row["file"], row["index"], row["target"]) for row in map(json.loads, open(args.out))}
    work = []
    with open(args.out, "a") as out:
        def put(row):
            print(json.dumps(row), file=out, flush=True)

        def run(amount, name, file, kernels):
            if args.until and datetime.datetime.now() > until(args.until):
                print("left:", name)
            else:
                put({**name, "size": amount, **runner.run(file, name["index"], name["target"], kernels)})

        for file, index, target in ((f, i, t) for f in args.files for i in graphs_of(f) for t in args.target):
            name = {"file": pathlib.Path(file).name, "folder": pathlib.Path(file).parent.name, "index": index, "target": target}
            if (name["file"], index, target) in done:
                continue
            kernels = runner.plan(file, index, target)
            if isinstance(kernels, str):
                both = isinstance(runner.plan(file, index, args.reference), str)
                put({**name, "verdict": "refused by both" if both else "refused", "why": kernels})
            elif args.in_order:
                run(size(kernels), name, file, kernels)
            else:
                work.append((size(kernels), name, file, kernels))
        for item in sorted(work, key=lambda item: item[0]):
            run(*item)


def table(path):
    rows, verdicts = collections.defaultdict(collections.Counter), []
    for row in map(json.loads, open(path)):
        rows[(row["target"], row["folder"], row["file"])][row["verdict"]] += 1
        if row["verdict"] not in verdicts:
            verdicts.append(row["verdict"])
    print("| target | file |", " | ".join(verdicts), "|\n|---|---|" + "---|" * len(verdicts))
    for (target, folder, file), counts in sorted(rows.items()):
        print(f"| {target} | {folder}/{file} |", " | ".join(str(counts[v]) for v in verdicts), "|")
    return any(counts[v] for counts in rows.values() for v in ("wrong", "failed", "differs", "refused"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zellige", default="build/zellige")
    parser.add_argument("--target", action="append")
    parser.add_argument("--reference", default="sm_90a")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--until", metavar="HH:MM")
    parser.add_argument("--in-order", action="store_true")
    parser.add_argument("--out", default="runs.jsonl")
    parser.add_argument("--table", metavar="RUNS")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    args.target = args.target or ["sm_100a", "sm_120a"]
    if not args.table:
        measure(args)
    return table(args.table or args.out)


if __name__ == "__main__":
    sys.exit(main())
