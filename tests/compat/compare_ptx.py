#!/usr/bin/env python3
"""Compiles CuTe's GPU unit tests with CuTe's headers and with ours, and compares the PTX. On demand, with nvcc and gtest:

    tests/compat/compare_ptx.py CUTLASS --work DIR [--units hopper/stsm ampere/ldsm ...] [--arch 90a]
    tests/compat/compare_ptx.py --built NAME CUTE OURS [--built ...]

The second form compares what was built elsewhere: folders with the PTX (nvcc -keep), `log` (what ptxas -v says) and
`time` (user and system seconds, peak KiB). CUTLASS is a checkout with include/, tools/ and test/unit. Per unit: how
often each kind of instruction is in the PTX, with CuTe and ours where they differ; the registers and spilled bytes of
all kernels together, and of how many kernels they differ by more than 2%; CPU seconds and peak memory of nvcc, for host
and device. What DIR already has is not compiled again.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {
    "mma": r"mma\.sync", "wgmma": r"wgmma\.mma_async", "ldmatrix": r"ldmatrix", "stmatrix": r"stmatrix",
    "bulk": r"cp\.(reduce\.)?async\.bulk(?!\.(commit|wait))", "cp.async": r"cp\.async\.c[ag]",
    "ld": r"ld\.(?!param)", "st": r"st\.(?!param|async)",
}


def compile_unit(cutlass, unit, which, arch, folder):
    """Compiles a unit with the headers of `which`, unless it was; returns False if it does not build."""
    folder.mkdir(parents=True, exist_ok=True)
    cost = folder / "time"
    if not cost.exists():
        ours = [ROOT / "compat", ROOT / "include"] if which == "ours" else []
        paths = ours + [cutlass / p for p in ("include", "tools/util/include", "test/unit/common", "test/unit/cute")]
        command = ["nvcc", "-std=c++20", "-gencode", f"arch=compute_{arch},code=sm_{arch}", "--expt-relaxed-constexpr",
                   "-w", "-keep", "-keep-dir", str(folder), "-Xptxas", "-v", *(f"-I{p}" for p in paths),
                   "-c", str(cutlass / "test/unit/cute" / (unit + ".cu")), "-o", str(folder / "unit.o")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = subprocess.run(["/usr/bin/time", "-f", "%M", "-o", str(folder / "peak"), *command],
                                capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        (folder / "log").write_text(result.stdout + result.stderr)
        if result.returncode:
            return False
        cost.write_text(f"{after.ru_utime - before.ru_utime:.2f} {after.ru_stime - before.ru_stime:.2f} "
                        + (folder / "peak").read_text().strip())
    return True


def counts(folder, arch):
    files = list(folder.glob(f"*.compute_{arch}.ptx")) or list(folder.glob("*.ptx"))  # one target: no suffix
    text = "".join(p.read_text() for p in files)
    if not text:
        sys.exit(f"{folder}: no PTX")
    return {kind: len(re.findall(rf"^\s*(?:@!?%\w+\s+)?{pattern}", text, flags=re.M)) for kind, pattern in KINDS.items()}


def kernels(folder):
    """Registers and spilled bytes of each kernel, in the order of the numbers: names differ in the namespace."""
    log = (folder / "log").read_text()
    spills = [int(a) + int(b) for a, b in re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", log)]
    return sorted(map(int, re.findall(r"Used (\d+) registers", log))), sum(spills)


def both(a, b):
    return str(a) if a == b else f"{a} / {b}"


def row(unit, folders, arch):
    """The table's row of a unit that was built into two folders, with CuTe's headers and with ours."""
    theirs, mine = (counts(f, arch) for f in folders)
    (registers, spills), (our_registers, our_spills) = (kernels(f) for f in folders)
    differing = sum(abs(x - y) > 0.02 * x for x, y in zip(registers, our_registers)) if len(registers) == len(our_registers) \
        else f"{len(registers)} and {len(our_registers)} kernels"
    cost = [list(map(float, (f / "time").read_text().split())) for f in folders]
    cells = [both(theirs[k], mine[k]) for k in KINDS]
    cells += [both(sum(registers), sum(our_registers)), f"{differing} of {len(registers)}", both(spills, our_spills)]
    cells += [f"{cost[0][0] + cost[0][1]:.1f} / {cost[1][0] + cost[1][1]:.1f}",
              f"{cost[0][2] / 1e3:.0f} / {cost[1][2] / 1e3:.0f}"]
    return f"| `{unit}` | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cutlass", type=pathlib.Path, nargs="?")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--units", nargs="*")
    parser.add_argument("--arch", default="90a")
    parser.add_argument("--built", nargs=3, action="append", default=[], metavar=("NAME", "CUTE", "OURS"))
    a = parser.parse_args()
    if not a.built and not (a.cutlass and a.work):
        parser.error("name a checkout of CUTLASS and --work, or --built")
    print(f"| unit | {' | '.join(KINDS)} | registers | kernels that differ | spilled | seconds | MB |")
    print("|---" * (len(KINDS) + 6) + "|")
    for name, *folders in a.built:
        print(row(name, [pathlib.Path(f) for f in folders], a.arch), flush=True)
    if not a.cutlass:
        return
    tests = a.cutlass / "test/unit/cute"
    units = a.units or sorted(str(p.relative_to(tests).with_suffix("")) for p in tests.rglob("*.cu"))
    for unit in units:
        folders = [a.work / f"{unit.replace('/', '_')}_{which}" for which in ("cute", "ours")]
        built = [compile_unit(a.cutlass, unit, which, a.arch, f) for which, f in zip(("cute", "ours"), folders)]
        if all(built):
            print(row(unit, folders, a.arch), flush=True)
        else:
            print(f"| `{unit}` | does not build with {' and '.join(w for w, b in zip(('CuTe', 'ours'), built) if not b)} |")


if __name__ == "__main__":
    main()
