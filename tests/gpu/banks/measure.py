#!/usr/bin/env python3
"""Compares the wavefronts that zellige banks predicts with those that the profiler counts on a GPU.

    nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -cudart static tests/gpu/banks/banks.cu -o banks
    python3 tests/gpu/banks/measure.py build/zellige ./banks --write docs/reference/banks.md

If the GPU's machine has no Zellige, count there and compare here:

    ncu --csv --log-file counts.csv --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared.sum ./banks
    python3 tests/gpu/banks/measure.py build/zellige ./banks --counts counts.csv --write docs/reference/banks.md

Every prediction is the tool's own, of the layout and access that ./banks --list names; the addresses that the kernel uses
must be those that the tool derives. Ends with "N of M patterns agree"; status 1 if one does not.
"""
import argparse
import csv
import json
import subprocess
import sys

METRIC = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def predicted(zellige, pattern):
    """Wavefronts of one instruction, by zellige banks."""
    command = [zellige, "banks", pattern["layout"], "--type", pattern["type"], "--access", pattern["access"], "--json"]
    access = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["accesses"][0]
    given = [a for a in access["addresses"] if a >= 0]
    lanes = 8 * int(pattern["access"].split(".x")[1][0]) if "matrix" in pattern["access"] else 32
    if given != pattern["addresses"][:lanes]:
        sys.exit(f"{pattern['name']}: the tool's addresses {given} are not the kernel's {pattern['addresses']}")
    return access["wavefronts"]


def counts(text):
    """The metric of each launch, in order, from ncu's CSV: a row a metric (details page) or a column a metric (raw page)."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        sys.exit("the profiler's output has no table:\n" + "\n".join(lines[-5:]))
    values = {}
    for row in csv.DictReader(lines[head:]):
        if row.get("Metric Name") == METRIC:
            values[int(row["ID"])] = float(row["Metric Value"].replace(",", ""))
        elif METRIC in row and row["ID"]:
            values[int(row["ID"])] = float(row[METRIC].replace(",", ""))
    return [values[i] for i in sorted(values)]


def profile(ncu, banks):
    done = subprocess.run([ncu, "--csv", "--metrics", METRIC, banks], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{ncu} failed: {(done.stdout + done.stderr).strip()[-500:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zellige")
    parser.add_argument("banks")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--counts", help="the profiler's CSV, instead of running it")
    parser.add_argument("--predictions", action="store_true", help="print the predictions only")
    parser.add_argument("--write", help="the page whose table is replaced")
    args = parser.parse_args()
    listed = subprocess.run([args.banks, "--list"], capture_output=True, text=True, check=True).stdout
    patterns = [json.loads(line) for line in listed.splitlines()]
    expected = [predicted(args.zellige, p) for p in patterns]
    if args.predictions:
        for p, e in zip(patterns, expected):
            print(f"{e:4} {p['name']}")
        return 0
    measured = counts(open(args.counts).read() if args.counts else profile(args.ncu, args.banks))
    if len(measured) != 2 * len(patterns):
        sys.exit(f"{len(measured)} launches were counted; {2 * len(patterns)} are expected")
    each = [(twice - once) / p["repeats"] for once, twice, p in zip(measured[::2], measured[1::2], patterns)]
    table = ["| pattern | predicted | counted |", "|---|--:|--:|"]
    agree = 0
    for p, e, m in zip(patterns, expected, each):
        agree += e == m
        table.append(f"| {p['name']} | {e} | {m:g}{'' if e == m else ' (differs)'} |")
    rows = "\n".join(table)
    print(rows)
    if args.write:
        page = open(args.write).read()
        before, rest = page.split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        with open(args.write, "w") as f:
            f.write(f"{before}{BEGIN}\n{rows}\n{END}{after}")
    print(f"{agree} of {len(patterns)} patterns agree")
    return agree != len(patterns)


if __name__ == "__main__":
    sys.exit(main())
