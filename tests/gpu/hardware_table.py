#!/usr/bin/env python3
"""The results of a GPU for the instruction tables, and the sources that they tested: tests/atom/data/h200.tsv and judged.tsv.

    tests/gpu/hardware_table.py --check PROGRAM    0: the verdicts are of the current sources; 77: of others, or missing
    tests/gpu/hardware_table.py --run [PROGRAM...] builds and runs tests/atom/PROGRAM.cu on the GPU here (nvcc), and writes both files

A program's verdicts are keyed by a hash of its sources without comments, blanks, continued lines and what only the emulator
compiles, so that these may change while the verdicts hold: the program, and its includes from tests/atom,
include/zellige/atom (the instructions and their reference bodies) and src/emulate.
"""
import argparse
import concurrent.futures
import datetime
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/atom/data"
SEARCHED = ("tests/atom", "include", "src")
HASHED = ("tests/atom/", "include/zellige/atom", "src/emulate/")
SM80, SM90 = (["-gencode", f"arch=compute_{a},code=sm_{a}"] for a in ("80", "90a"))
PROGRAMS = {  # nvcc's options of each binary
    "hardware": [["-O2", *SM80, *SM90]],
    "hardware_warp": [["-O1", *SM90]],
    "hardware_bulk": [["-O1", *SM90]],
    "hardware_tma": [["-O1", *SM90]],
    "hardware_gmma": [["-O1", *SM90, f"-DPART={part}"] for part in range(7)],
}
JUDGED = "program\tsources\tdevice\tdate\n"


def sources(program, root=ROOT):
    """The program's files that are hashed, in the order of their names."""
    found, pending = set(), [root / f"tests/atom/{program}.cu"]
    while pending:
        path = pending.pop()
        if path in found:
            continue
        found.add(path)
        for name in re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', path.read_text(), re.M):
            for folder in (path.parent, *(root / s for s in SEARCHED)):
                header = pathlib.Path(os.path.normpath(folder / name))
                if header.is_file() and str(header.relative_to(root)).startswith(HASHED):
                    pending.append(header)
                    break
    return sorted(found)


def compiled(text):
    """The lines of a source that are compiled where ZELLIGE_EMULATE, which is the emulator's, is not defined."""
    branches = {"#ifdefined(ZELLIGE_EMULATE)": (False, True), "#if!defined(ZELLIGE_EMULATE)": (True, False)}
    kept, inside = [], []  # inside: by open #if, whether this branch is compiled, and whether the others are
    for line in text.splitlines():
        word = "".join(line.split())
        if word.startswith("#if"):
            inside.append(branches.get(word, (True, True)))
        elif word.startswith("#el") and inside:
            inside[-1] = inside[-1][1:] * 2
        if all(branch for branch, _ in inside):
            kept.append(line)
        if word.startswith("#endif") and inside:
            inside.pop()
    return "\n".join(kept)


def digest(program, root=ROOT):
    sha = hashlib.sha256()
    for path in sources(program, root):
        code = re.sub(r"/\*.*?\*/|//[^\n]*|\\$", "", compiled(path.read_text()), flags=re.S | re.M)
        sha.update(f"{path.relative_to(root)}:{''.join(code.split())}\n".encode())
    return sha.hexdigest()[:16]


def judged():
    lines = (DATA / "judged.tsv").read_text().splitlines()[1:]
    return {program: rest for program, *rest in (line.split("\t") for line in lines)}


def check(program):
    known, now = judged().get(program), digest(program)
    if not known:
        print(f"skipped: no GPU has judged tests/atom/{program}.cu: run tests/gpu/hardware_table.py --run {program}")
    elif known[0] != now:
        print(f"skipped: the verdicts of {program}.cu are of other sources ({known[0]}, {known[1]}, {known[2]}; today's are {now}): "
              f"run tests/gpu/hardware_table.py --run {program}")
    else:
        print(f"{program}: {known[1]} has judged these sources ({now}) on {known[2]}")
        return 0
    return 77


def judge(program, work):
    """The output of its binaries: the device, the rows; exits if one does not build, or a row fails."""
    def binary(number, options):
        out = f"{work}/{program}_{number}"
        subprocess.run(["nvcc", "-std=c++20", "-I", ROOT / "include", "-I", ROOT / "src", "-diag-suppress", "177", *options,
                        ROOT / f"tests/atom/{program}.cu", "-o", out], check=True)
        return out

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        binaries = list(pool.map(binary, range(len(PROGRAMS[program])), PROGRAMS[program]))
    device, rows = "", []
    for one in binaries:
        done = subprocess.run([one], capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            sys.exit(f"{one} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        device = lines[0].split(",")[0]
        rows += [line for line in lines if line.startswith(program + "\t")]
    return device, rows


def run(programs):
    with tempfile.TemporaryDirectory() as work:
        for program in programs:
            before = digest(program)
            device, rows = judge(program, work)
            if digest(program) != before:
                sys.exit(f"{program}: its sources changed while it ran")
            table = DATA / "h200.tsv"
            head, *kept = table.read_text().splitlines()
            others = {p: [r for r in kept if r.split("\t")[0] == p] for p in PROGRAMS}
            others[program] = rows
            table.write_text("\n".join([head] + [row for p in PROGRAMS for row in others[p]]) + "\n")
            known = judged() | {program: [before, device, f"{datetime.date.today()}"]}
            (DATA / "judged.tsv").write_text(JUDGED + "".join("\t".join([p, *known[p]]) + "\n" for p in PROGRAMS if p in known))
            print(f"{program}: {len(rows)} rows on {device}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", choices=PROGRAMS)
    p.add_argument("--run", nargs="*", choices=PROGRAMS)
    a = p.parse_args()
    if a.check:
        return check(a.check)
    if a.run is None:
        p.error("expected --check PROGRAM or --run [PROGRAM...]")
    return run(a.run or PROGRAMS)


if __name__ == "__main__":
    sys.exit(main())
