"""The raw samples in bench/results: the required origin of a file, and the medians shown in tables."""
import json, math, os, sys

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
ORIGIN = ("device", "date", "commit")  # every file
GPU_ORIGIN = ("driver", "clocks", "torch", "copy_bandwidth", "matrix_rate", "workloads")  # files made on a GPU


def read(name, fields=ORIGIN + GPU_ORIGIN):
    """The file's contents; exits with a message if its origin is missing."""
    path = os.path.join(RESULTS, name)
    with open(path) as f:
        found = json.load(f)
    missing = [field for field in fields if not found.get(field)]
    if missing:
        sys.exit(f"bench/results/{name}: {', '.join(missing)} missing: measure again with the bench that wrote it")
    return found


def median(samples):
    s = sorted(samples)
    return s[len(s) // 2] if len(s) % 2 else (s[len(s) // 2 - 1] + s[len(s) // 2]) / 2


def origin(d):
    """One line on the origin of a file's numbers."""
    rounds = {len(samples) for w in d["workloads"].values() for samples in w["microseconds"].values()}
    clock = d["clocks"]
    return (f"{d['device']}, driver {d['driver']}, SM clock {clock['before']['clocks.sm']} MHz at the start and {clock['after']['clocks.sm']} at the end "
            f"(at most {clock['after']['clocks.max.sm']}), torch {d['torch']}; {d['date']}, commit {d['commit']}. In the same run a copy reached {d['copy_bandwidth'] / 1e12:.2f} TB/s and cuBLAS "
            f"bf16 8192^3 {d['matrix_rate'] / 1e12:.0f} TFLOP/s; {'/'.join(map(str, sorted(rounds)))} interleaved rounds.")

NO_OVERLAP = "/apart"  # ends the name of a contestant that is timed without PDL overlap


class Row:
    """One workload: medians in microseconds by contestant. A name that ends in NO_OVERLAP is timed without PDL overlap."""

    def __init__(self, name, w):
        self.name, self.roofline, self.samples = name, w["floor"], w["microseconds"]
        self.us = {who: median(samples) for who, samples in self.samples.items()}
        ours = w.get("ours", ["ours"])
        self.ours = ours[0]
        self.baselines = sorted((who for who in self.us if who.partition("/")[0] not in ours + ["hand"]), key=self.us.get)
        self.best = self.baselines[0]

    def speed(self, column="", baseline=None):
        """The speedup over the baseline, by default over the best one."""
        return self.us[baseline or self.best] / self.us[self.ours + column]

    def shown(self, who, digits=2):
        return f"{self.us[who]:.{digits}f}" if who in self.us else "-"


def rows(d, beginning=""):
    return [Row(name, w) for name, w in d["workloads"].items() if name.startswith(beginning)]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


class Speedups:
    """The speedups of several rows: their geometric mean, the minimum, and those below 1, slowest first."""

    def __init__(self, found, column="", baseline=None):
        self.ratios = sorted((row.speed(column, baseline), row.name) for row in found)
        self.mean, self.count = mean([r for r, _ in self.ratios]), len(self.ratios)
        self.lowest, self.worst = self.ratios[0]
        self.slower = [(r, name) for r, name in self.ratios if r < 0.995]

    def sentence(self):
        shown = f"geometric mean {self.mean:.3f}, least {self.lowest:.3f} ({self.worst})"
        return f"{shown}; {len(self.slower) or 'none'} of {self.count} below 0.995"

    def slower_rows(self):
        """The rows that are slower than their baseline, as a list in prose."""
        return ", ".join(f"{name} {r:.2f}" for r, name in self.slower)
