#!/usr/bin/env python3
"""Measures how fast the emulator runs: emulated instructions a second of CPU time, of one command or of two that alternate.

  bench/emulator_speed.py build/zellige
  bench/emulator_speed.py build/zellige --against OLD/zellige      # the same programs by another build, alternately
  bench/emulator_speed.py build/zellige --graphs ../shared/mugraphs/*.json examples/*.json --rounds 5

Each program runs from the cache of compiled kernels. The time is that of the processor, because others may use the machine; planning,
random inputs and emulation share it as they share the time on the clock, which the command states of each. Instructions are those that the emulator
counts: loads, stores and copies by thread, matrix and warp instructions by warp, barriers by block. Two builds may plan a graph
differently, so what is compared is instructions a second. With --least the exit status is 1 if a program gains less.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COSTS = ("wavefronts", "sectors", "_bytes", "_ideal")  # counters of what instructions cost


def product(size):
    """Returns a graph: the product of two square matrices of float16."""
    inputs = [{"name": name, "dtype": "f16", "shape": [size, size]} for name in "AB"]
    operators = [{"op": "matmul", "inputs": ["A", "B"], "outputs": ["C"]}]
    return {"zellige_graph": 1, "name": f"product_{size}", "inputs": inputs, "operators": operators, "outputs": ["C"]}


def cpu_of(command, environment):
    """Runs a command; returns the CPU time that it and its children took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


class Program:
    """A graph for a target, by one command."""

    def __init__(self, command, graph, target, folder):
        self.result = folder / "result.json"
        self.environment = {**os.environ, "ZELLIGE_CACHE": str(folder / "cache")}
        self.run = [command, "run", str(graph), "--on", "emulator", "--target", target, "--check", "none", "--jobs", "1"]
        self.run += ["--force", "--json", str(self.result)]
        self.first = cpu_of(self.run, self.environment)  # with the compiler's time
        counters = json.loads(self.result.read_text().splitlines()[0])["counters"]
        self.instructions = sum(n for name, n in counters.items() if not any(c in name for c in COSTS))
        self.runs, self.planning, self.emulating = [], [], []

    def measure(self):
        cpu = cpu_of(self.run, self.environment)
        told = json.loads(self.result.read_text().splitlines()[0])
        parts = {name: told.get(f"{name}_ms", 0) for name in ("inputs", "plan", "run")}
        self.runs.append(cpu)
        self.planning.append(cpu * parts["plan"] / sum(parts.values()))
        self.emulating.append(cpu * parts["run"] / sum(parts.values()))

    def emulation(self):
        return min(self.emulating)

    def rate(self):
        return self.instructions / self.emulation()

    def compiling(self):
        return max(self.first - min(self.runs), 0)


def measured(commands, path, target, folder, rounds):
    """Returns the program by each of the commands, measured alternately."""
    both = []
    for i, command in enumerate(commands):
        (place := folder / f"{path.stem}_{target}_{i}").mkdir()
        both.append(Program(command, path, target, place))
    for _ in range(rounds):
        for program in both:
            program.measure()
    return both


def row(name, target, both):
    """Returns a program's row of the table."""
    mine = both[0]
    cells = [name, target, f"{mine.instructions:,}"]
    cells += [f"{seconds:.2f}" for seconds in (min(mine.planning), mine.compiling(), mine.emulation())] + [f"{mine.rate() / 1e6:.2f}"]
    if len(both) > 1:
        cells += [f"{both[1].rate() / 1e6:.2f}", f"{mine.rate() / both[1].rate():.2f}"]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zellige", help="the command that is measured")
    parser.add_argument("--against", metavar="ZELLIGE", help="another build of it")
    parser.add_argument("--graphs", nargs="*", default=[str(p) for p in sorted((ROOT / "examples").glob("*.json"))])
    parser.add_argument("--targets", nargs="*", default=["sm_80", "sm_90a"])
    parser.add_argument("--product", type=int, default=1024, help="rows of the square matrices of a product (1024)")
    parser.add_argument("--rounds", type=int, default=3, help="the least time of so many runs counts (3)")
    parser.add_argument("--least", type=float, metavar="TIMES", help="how many times as fast as --against each program must be")
    given = parser.parse_args()
    commands = [os.path.abspath(c) for c in (given.zellige, given.against) if c]
    ratios = []
    with tempfile.TemporaryDirectory(prefix="zellige-speed-") as folder:
        graph = pathlib.Path(folder) / f"product_{given.product}.json"
        graph.write_text(json.dumps(product(given.product)))
        columns = ["program", "target", "instructions", "planning s", "compiling s", "emulation s", "million a second"]
        columns += ["before", "times"] if given.against else []
        print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        for path in [graph, *map(pathlib.Path, given.graphs)]:
            for target in given.targets:
                both = measured(commands, path, target, pathlib.Path(folder), given.rounds)
                print(row(path.stem, target, both), flush=True)
                if given.against:
                    ratios.append(both[0].rate() / both[1].rate())
    if ratios:
        print(f"\n{len(ratios)} programs: {min(ratios):.2f} to {max(ratios):.2f} times as many instructions a second")
        return given.least is not None and min(ratios) < given.least
    return 0


if __name__ == "__main__":
    sys.exit(main())
