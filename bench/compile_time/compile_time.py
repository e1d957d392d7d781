#!/usr/bin/env python3
"""Measures the compile time of the library: CPU seconds net of an empty file, and peak memory.

Generates its units (headers only, 200 distinct static expressions, 100 with run-time leaves, a tiled SGEMM kernel) and
compiles each with the available compilers (g++, clang++, nvcc). If the environment variable CUTLASS names a checkout of
CUTLASS, the corresponding CuTe units are measured in the same run.

--nvrtc instead compiles both GEMM examples and a Hopper tile of TMA and TiledMMA to cubins at run time, and reports the CPU
seconds of the compilation without loading the library and an empty unit.
"""
import argparse
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import units

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CUDA = os.environ.get("CUDA_HOME", "/usr/local/cuda")


def commands():
    flags = {"g++": ["-std=c++20", "-c"], "clang++": ["-std=c++20", "-c"], "nvcc": ["-std=c++20", "-arch=sm_90", "-c"]}
    return {name: [shutil.which(name), *flags[name]] for name in flags if shutil.which(name)}


def includes(library, compiler):
    if library == "ours":
        return ["-I", f"{ROOT}/include"]
    found = ["-I", f"{os.environ['CUTLASS']}/include"]
    if compiler != "nvcc":
        found += ["-isystem", f"{CUDA}/include"]
        extra = f"{CUDA}/targets/x86_64-linux/include/cccl"
        found += ["-isystem", extra] if os.path.isdir(extra) else []
    return found


def measure(command):
    """CPU seconds and the peak memory of the largest process in MiB, for a compilation and its child processes."""
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)\n"
        "sys.stderr.write(done.stderr[:2000])\n"
        "sys.exit(done.returncode)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compile_time: {' '.join(command)} failed:\n{done.stderr}")
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


class Bench:
    def __init__(self, folder, repeat):
        self.folder, self.repeat = folder, repeat

    def cost(self, compiler, command, name, library):
        suffix = ".cu" if compiler == "nvcc" else ".cpp"
        path = f"{self.folder}/{library}_{name.replace(' ', '_')}{suffix}"
        with open(path, "w") as f:
            f.write(units.unit(name, library))
        runs = [measure([*command, *includes(library, compiler), path, "-o", "/dev/null" if compiler != "nvcc" else f"{path}.o"])
                for _ in range(self.repeat)]
        return statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)

    def table(self, compilers, names, libraries):
        rows = []
        for compiler, command in compilers.items():
            empty, _ = self.cost(compiler, command, "empty", "ours")
            for name in names:
                if name in units.CUDA_ONLY and compiler != "nvcc":
                    continue
                row = {"compiler": compiler, "unit": name}
                for library in libraries:
                    seconds, memory = self.cost(compiler, command, name, library)
                    row[library] = {"cpu_s": round(max(seconds - empty, 0.0), 3), "peak_mib": round(memory, 1)}
                rows.append(row)
                print(line(row), flush=True)
        return rows


def nvrtc_table(repeat):
    """CPU seconds of each unit: the minimum and the median of several compilations, each in its own process."""
    rows = []
    for name, (architecture, text) in units.nvrtc_units().items():
        with tempfile.NamedTemporaryFile("w", suffix=".cu") as f:
            f.write(text)
            f.flush()
            command = [sys.executable, f"{HERE}/nvrtc.py", f.name, architecture, f"{ROOT}/include", f"{ROOT}/examples",
                       f"{CUDA}/include"]
            done = [subprocess.run(command, capture_output=True, text=True) for _ in range(repeat)]
        for d in done:
            if d.returncode != 0:
                sys.exit(f"compile_time: {name}: {d.stderr}")
        runs = [list(map(float, d.stdout.split())) for d in done]
        cpu = [r[0] for r in runs]
        row = {"compiler": "nvrtc", "unit": name, "least_s": round(min(cpu), 3), "samples_s": cpu,
               "ours": {"cpu_s": round(statistics.median(cpu), 3), "wall_s": round(statistics.median(r[1] for r in runs), 3)}}
        rows.append(row)
        print(f"nvrtc    {name:14} {row['ours']['cpu_s']:8.2f} s (least {row['least_s']:.2f}, wall {row['ours']['wall_s']:.2f})",
              flush=True)
    return rows


def line(row):
    text = f"{row['compiler']:8} {row['unit']:14} {row['ours']['cpu_s']:8.2f} s {row['ours']['peak_mib']:7.0f} MiB"
    if "cute" in row:
        c = row["cute"]
        ratio = row["ours"]["cpu_s"] / c["cpu_s"] if c["cpu_s"] else float("nan")
        text += f"   CuTe {c['cpu_s']:8.2f} s {c['peak_mib']:7.0f} MiB   ratio {ratio:5.2f}, memory {row['ours']['peak_mib'] / c['peak_mib']:4.2f}"
    return text


def broken_limits(rows, limits):
    """The rows whose cost is above the committed limit, as sentences."""
    for row in rows:
        allowed = limits.get(row["compiler"], {}).get(row["unit"])
        for key, unit in (("cpu_s", "CPU seconds"), ("peak_mib", "MiB")):
            # For NVRTC the minimum of the samples: other load on the machine only adds to it.
            spent = row.get("least_s", row["ours"]["cpu_s"]) if key == "cpu_s" else row["ours"].get(key)
            if allowed and key in allowed and spent > allowed[key]:
                yield f"{row['compiler']}, {row['unit']}: {spent} {unit}, more than the {allowed[key]} allowed"


def origin():
    """The origin of the numbers: the machine and its load, the commit, the compilers, and CUTLASS if it was compiled too."""
    first = lambda *command: subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    found = {"device": f"{len(cpu)} cores of {cpu[0]}", "load": os.getloadavg()[0], "date": datetime.date.today().isoformat(),
             "commit": first("git", "-C", ROOT, "describe", "--always", "--abbrev=12")[0],
             "compilers": {name: first(command[0], "--version")[-1 if name == "nvcc" else 0] for name, command in commands().items()}}
    if os.environ.get("CUTLASS"):
        with open(f"{os.environ['CUTLASS']}/include/cutlass/version.h") as f:
            numbers = [line.split()[2] for line in f if re.match(r"#define CUTLASS_(MAJOR|MINOR|PATCH) ", line)]
        found["cutlass"] = ".".join(numbers)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compiler", action="append", choices=("g++", "clang++", "nvcc"), help="only this one; may be repeated")
    p.add_argument("--unit", action="append", choices=units.UNITS, help="only this unit; may be repeated")
    p.add_argument("--repeat", type=int, default=3, help="compilations of each unit, of which the median counts (3)")
    p.add_argument("--json", help="where to write the figures")
    p.add_argument("--keep", help="a folder for the generated units, which then stay")
    p.add_argument("--nvrtc", action="store_true", help="what NVRTC needs for the GEMM examples and a Hopper tile")
    p.add_argument("--check", action="store_true", help="fail where a cost is above that in limits.json")
    a = p.parse_args()
    if a.nvrtc:
        rows = nvrtc_table(a.repeat)
    else:
        compilers = {k: v for k, v in commands().items() if not a.compiler or k in a.compiler}
        if not compilers:
            sys.exit("compile_time: none of the compilers asked for was found")
        libraries = ["ours"] + (["cute"] if os.environ.get("CUTLASS") else [])
        with tempfile.TemporaryDirectory() as scratch:
            folder = a.keep or scratch
            os.makedirs(folder, exist_ok=True)
            rows = Bench(folder, a.repeat).table(compilers, a.unit or units.UNITS, libraries)
    if a.json:
        with open(a.json, "w") as f:
            json.dump({**origin(), "rows": rows, "repeat": a.repeat}, f, indent=1)
            f.write("\n")
    if a.check:
        with open(f"{HERE}/limits.json") as f:
            broken = list(broken_limits(rows, json.load(f)))
        for sentence in broken:
            print(sentence, file=sys.stderr)
        sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
