#!/usr/bin/env python3
"""Compares two --dump folders array by array: compare_dumps.py DIR_A DIR_B [--norm 2e-4]

Prints the largest relative distance in norm of a file's outputs and intermediates, graph by graph file; exits 1 above the bound.
"""
import argparse, collections, os, sys
import numpy as np


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("a"), p.add_argument("b"), p.add_argument("--norm", type=float, default=2e-4)
    o = p.parse_args()
    worst, count, missing = collections.defaultdict(float), collections.Counter(), 0
    for folder, _, files in os.walk(o.a):
        for name in files:
            if not name.endswith(".npy") or ".reference." in name or name.startswith("input_"):
                continue
            path = os.path.join(folder, name)
            other = os.path.join(o.b, os.path.relpath(path, o.a))
            if not os.path.exists(other):
                missing += 1
                continue
            x, y = (np.load(f).astype(np.float64) for f in (path, other))
            graph = os.path.relpath(path, o.a).split(os.sep)[0].split("[")[0]
            norm = np.linalg.norm(y)
            distance = np.linalg.norm(x - y) / norm if norm > 0 else np.linalg.norm(x)
            worst[graph] = max(worst[graph], distance if distance == distance else np.inf)
            count[graph] += 1
    for folder, _, files in os.walk(o.b):  # and the other way: what B has and A lacks
        place = os.path.relpath(folder, o.b)
        missing += sum(name.endswith(".npy") and ".reference." not in name and not name.startswith("input_") and
                       not os.path.exists(os.path.join(o.a, place, name)) for name in files)
    for graph in sorted(worst):
        print(f"{graph:24s} {count[graph]:5d} arrays, largest distance {worst[graph]:.2e}")
    if missing:
        print(f"{missing} arrays of {o.a} and {o.b} are in one of them only")
    sys.exit(1 if missing or not worst or max(worst.values()) > o.norm else 0)


main()
