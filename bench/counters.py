#!/usr/bin/env python3
"""Compares what the plan predicts, what the emulator counts and what the profiler counts on a GPU, program by program.

  bench/counters.py --count OUT [FILE...]     on a machine with a GPU: runs the programs under ncu, and writes OUT/PROGRAM.csv
  bench/counters.py --table OUT [FILE...]     on any machine: plans and emulates the same programs, and prints the table
  bench/counters.py OUT [FILE...]             both

A file is a graph (.json), which is planned for sm_90a, a CUDA program with its own main (.cu), of which nothing is predicted, or a list of CUDA programs
(.tsv: name, file, arguments, options of both compilers, of nvcc alone, of the emulator alone). Without files: each saved graph of ZELLIGE_MUGRAPHS (the first of a file), the examples, the layers
and parts of other models, and bench/counted.tsv. A file of a list lies in this repository or in --sources, which has other people's repositories as
OWNER/NAME; a program without it is skipped. A row is a program; a count is the sum over its kernels, in a CUDA program over all launches. Columns,
predicted / emulated / counted:

tensor       matrix instructions: of a warp (mma.sync), or of a warpgroup (wgmma)
wavefronts   passes of shared memory by loads, stores, ldmatrix and stmatrix; the profiler adds wgmma's reads and some of cp.async
conflicts    those beyond the fewest that the widths need
TMA          instructions that copy by TMA
barriers     warps that arrive at barriers of a block
sectors      sectors of 32 bytes that loads and stores of global memory and cp.async touch; a plan that predicts none has "-"
L2           sectors between the L2 and its readers and writers: of the plan the bytes that it expects the L2 to send, and those of the results
DRAM         bytes of DRAM, with a cold L2
us           time of the kernels, with a cold L2, without that of the launches

A count that the plan or the emulator does not have is "-". A count agrees if all that are there are equal, of the L2 if it is within 10%, DRAM within 5%, the time within 20%.
Exit status 1 if a program fails; rows that disagree are named at the end.
"""
import argparse
import collections
import concurrent.futures
import csv
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import fit_price

ROOT = pathlib.Path(__file__).resolve().parent.parent
METRICS = {  # of ncu, by the name of a column
    "wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"],
    "conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"],
    "sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "L2": ["lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"],
    "DRAM": ["dram__bytes_read.sum", "dram__bytes_write.sum"],
    "us": ["gpu__time_duration.sum"],
}
OPCODES = "sass__inst_executed_per_opcode"  # of ncu: warps that executed each SASS instruction
TMA = ("UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED")
TENSOR, TENSOR_WARPGROUP = ("HMMA", "IMMA", "QMMA", "DMMA", "BMMA"), ("HGMMA", "IGMMA", "QGMMA", "BGMMA")
COLUMNS = ("tensor", "wavefronts", "conflicts", "TMA", "barriers", "sectors", "L2", "DRAM", "us")
LONGEST = 120  # seconds on the emulator, after which a program is compared without it
TOLERANCE = {"L2": 0.1, "DRAM": 0.05, "us": 0.2}
UNITS = {"nsecond": 1e-3, "ns": 1e-3, "usecond": 1, "us": 1, "msecond": 1e3, "ms": 1e3, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


@dataclasses.dataclass(frozen=True)
class CudaProgram:
    """A CUDA program with its own main."""

    name: str
    file: pathlib.Path
    arguments: tuple = ()
    options: tuple = ()  # -I and -D, of nvcc and of zellige emulate
    of_nvcc: tuple = ()
    of_emulator: tuple = ()

    def emulate(self, zellige):
        return [zellige, "emulate", self.file, *self.options, *self.of_emulator, "--json", *(["--", *self.arguments] if self.arguments else [])]

    def compile(self, binary):
        return ["nvcc", "-O3", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", *self.options, *self.of_nvcc, self.file, "-lcublas", "-lcurand", "-lcuda", "-o", binary]


@dataclasses.dataclass(frozen=True)
class GraphProgram:
    """A file with one graph."""

    name: str
    file: pathlib.Path


def listed(path, sources):
    """The CUDA programs of a list whose files are there."""
    def place(word):  # a path of this repository, or of --sources; other words are what they are
        prefix, rest = re.match(r"(-I)?(.*)", word).groups()
        found = [folder / rest for folder in (ROOT, sources) if folder and (folder / rest).exists()]
        return f"{prefix or ''}{found[0]}" if found else word

    made, missing = [], []
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, file, *words = line.split("\t")
        program = CudaProgram(name, pathlib.Path(place(file)), *(tuple(map(place, field.split())) for field in words))
        (made if program.file.exists() else missing).append(program)
    if missing:
        print(f"bench/counters.py: skipped, their files are not there: {', '.join(p.name for p in missing)}", file=sys.stderr)
    return made


def programs(files, folder, sources=None):
    """The programs of the files. A graph gets a file of its own and a name that no other has: so kernels of two programs have different names."""
    graphs = pathlib.Path(os.environ.get("ZELLIGE_MUGRAPHS", ROOT / "../shared/mugraphs"))
    if not files:
        files = [*sorted(graphs.glob("*.json")), *(ROOT / "examples" / f"{name}.json" for name in ("gemm", "mlp", "attention"))]
        files += [*sorted((ROOT / "examples/layers").glob("*.json")), *sorted((ROOT / "examples/parts").glob("*.json")), ROOT / "bench/counted.tsv"]
    made = []
    for path in files:
        if str(path).endswith(".tsv"):
            made += listed(pathlib.Path(path), sources)
            continue
        if str(path).endswith(".cu"):
            made.append(CudaProgram(pathlib.Path(path).stem, pathlib.Path(path)))
            continue
        content = json.loads(pathlib.Path(path).read_text())
        several = isinstance(content, list) and all(isinstance(g, dict) and "zellige_graph" in g for g in content)
        for index, graph in enumerate(content if several else [content]):
            named = isinstance(graph, dict) and "name" in graph  # one of Mirage's has the name of its file
            name = re.sub(r"\W", "_", graph["name"] if named else "saved_" + pathlib.Path(path).stem.removeprefix("saved_"))
            target = pathlib.Path(folder) / f"{name}.json"
            if target.exists():
                sys.exit(f"bench/counters.py: two graphs have the name {name}: their kernels could not be distinguished")
            target.write_text(json.dumps(graph))
            made.append(GraphProgram(name, target))
    names = collections.Counter(program.name for program in made)
    if twice := [name for name, count in names.items() if count > 1]:
        sys.exit(f"bench/counters.py: two programs have the name {twice[0]}: their counts could not be distinguished")
    return made


def count(zellige, all_programs, out, ncu, folder):
    """Runs each program under ncu, with hardware counters and instructions by opcode in separate passes."""
    out.mkdir(parents=True, exist_ok=True)
    metrics = ",".join([m for group in METRICS.values() for m in group] + [OPCODES])
    commands = {}
    for p in all_programs:
        own = [os.path.join(folder, p.name), *p.arguments] if isinstance(p, CudaProgram) else None
        commands[p] = own or [zellige, "run", p.file, "--on", "gpu", "--target", "sm_90a", "--check", "none", "--jobs", "1", "--force"]

    def compiled(p):  # a graph's kernels are in the cache after a run
        command = p.compile(commands[p][0]) if isinstance(p, CudaProgram) else commands[p]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for p, done in zip(all_programs, pool.map(compiled, all_programs)):
            if done.returncode:
                print(f"bench/counters.py: {p.name}: {done.stderr.strip()[-400:]}", file=sys.stderr)
    for p, run in commands.items():
        command = [ncu, "--csv", "--page", "raw", "--print-metric-instances", "details", "--clock-control", "none", "--metrics", metrics, *run]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        (out / f"{p.name}.csv").write_text(done.stdout)
        if done.returncode:
            print(f"bench/counters.py: {p.name}: {ncu} ended with {done.returncode}: {done.stderr.strip()[-400:]} {done.stdout[-400:]}", file=sys.stderr)


def launches(path):
    """The rows of ncu's raw page, each a dictionary of one launch, numbers in bytes and us where the page has units."""
    lines = path.read_text().splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        raise ValueError(f"{path}: the profiler's output has no table: " + "\n".join(lines[-3:]))
    units, *rows = csv.DictReader(lines[head:])
    for row in rows:
        for name, unit in units.items():
            if unit in UNITS and name in METRICS["DRAM"] + METRICS["us"]:
                row[name] = str(number(row[name]) * UNITS[unit])
    return [row for row in rows if row["Kernel Name"] != "poison"]  # which fills the tensors before a program runs


def number(field):
    return float(field.split()[0].replace(",", "").rstrip(";"))


def opcodes(field):
    """{"BAR": 320, ...} of "1,234 (BAR: 320; HGMMA: 12)", as ncu prints the instances of a metric."""
    found = collections.Counter()
    for name, value in re.findall(r"([A-Z][\w.]*): ([\d.,]+)", field):
        found[name.split(".")[0]] += float(value.replace(",", ""))
    return found


def counted(path, every=False):
    """The columns: of the last launch of each kernel, as a graph runs several times, or of every launch."""
    rows = launches(path)
    total, found = collections.Counter(), collections.Counter()
    for row in rows if every else {row["Kernel Name"]: row for row in rows}.values():
        total.update({column: sum(number(row[m]) for m in metrics) for column, metrics in METRICS.items()})
        found.update(opcodes(row[OPCODES]))
    total["tensor"] = sum(found[o] for o in TENSOR) + sum(found[o] for o in TENSOR_WARPGROUP) / 4
    total["TMA"] = sum(found[o] for o in TMA)
    total["barriers"] = found["BAR"]
    return total


def columns(counts):
    """The columns of the emulator's counters, by its names; those that are 0 are absent."""
    wavefronts = [n for n in counts if n.endswith("_wavefronts") and not n.startswith("cp_async")]
    total = sum(counts[n] for n in wavefronts)
    sectors = sum(counts.get(f"{access}_sectors", 0) for access in ("global_load", "global_store", "cp_async"))
    return {"sectors": sectors, "tensor": counts.get("mma", 0) + counts.get("wgmma", 0), "TMA": counts.get("tma_load", 0) + counts.get("tma_store", 0), "wavefronts": total,
            "conflicts": total - sum(counts[n + "_ideal"] for n in wavefronts)}


def warps_at_barriers(text, completed):
    """How many warps arrive at the barriers of a kernel, of which `completed` are completed, by its printed plan; None if they have several sizes."""
    head = re.search(r"grid \((\d+),(\d+),(\d+)\).*? threads (\d+)", text)
    blocks, all_warps = int(head[1]) * int(head[2]) * int(head[3]), int(head[4]) // 32
    found = re.findall(r"^\s+barrier \d+(?: threads (\d+))?$", text, re.M)
    sizes = {int(threads) // 32 for threads in found if threads} or {all_warps}
    if len(sizes) > 1:
        return None
    first = blocks if "" in found else 0  # the setup's, of all warps
    return first * all_warps + (completed - first) * sizes.pop()


def planned(zellige, file, folder):
    """The columns that follow from the plan's costs, and the counters that it predicts, by name."""
    done = subprocess.run([zellige, "transpile", file, "--target", "sm_90a", "--explain", "-o", folder, "--force"], capture_output=True, text=True, check=True)
    manifest = json.loads(next(pathlib.Path(folder).glob("*.manifest.json")).read_text())
    total, barriers = collections.Counter(), 0
    texts = re.split(r"^kernel ", done.stdout, flags=re.M)[1:]
    for text, line in zip(texts, re.findall(r"^# \S+: a launch executes: (.*)$", done.stdout, re.M), strict=True):
        counts = {name: int(value) for name, value in (item.split() for item in line.split(", ") if item)}
        total.update(counts)
        arrived = warps_at_barriers(text, counts.get("barrier", 0))
        barriers = None if barriers is None or arrived is None else barriers + arrived
    price = [k["price"] for k in manifest["kernels"]]
    bare = sum(p["us"] for p in price) - fit_price.constants()["launch"]
    costs = {"DRAM": sum(p["dram_bytes"] for p in price), "L2": sum(p["l2_bytes"] for p in price) / 32, "us": bare, "barriers": barriers}
    return costs, total


def emulated(zellige, program, folder):
    """The emulator's columns, and its counters by name; None if the result is wrong, none where it takes too long."""
    try:
        if isinstance(program, CudaProgram):
            done = subprocess.run(program.emulate(zellige), capture_output=True, text=True, check=False, timeout=LONGEST)
            if not done.stdout.startswith("{"):
                raise ValueError(f"the emulator ended with {done.returncode}: {done.stderr.strip()[-200:]}")
            return columns(json.loads(done.stdout)["counters"]), {}
        out = os.path.join(folder, "emulated.json")
        command = [zellige, "run", program.file, "--on", "emulator", "--target", "sm_90a", "--check", "sampled", "--json", out, "--force"]
        subprocess.run(command, capture_output=True, check=False, timeout=LONGEST)
        row = json.loads(open(out).read().splitlines()[-1])
        return (columns(row["counters"]), row["counters"]) if row["status"] == "correct" else None
    except subprocess.TimeoutExpired:
        return {}, {}


def agrees(column, values):
    """Whether those that are there are equal, within the column's tolerance."""
    there = [v for v in values if v is not None]
    return len(there) < 2 or max(there) - min(there) <= TOLERANCE.get(column, 0) * there[-1]


def shown(values):
    return " / ".join("-" if v is None else f"{v:.1f}" if v < 100 and v != int(v) else f"{v:.0f}" for v in values)


def row_of(zellige, program, out, emulate):
    """(predicted, emulated, counted) by column; without a profiler's page nothing is counted. Throws ValueError with a reason."""
    own, page = isinstance(program, CudaProgram), out / f"{program.name}.csv"
    gpu = counted(page, every=own) if page.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        plan, counters = ({}, {}) if own else planned(zellige, program.file, folder)
        found = emulated(zellige, program, folder) if emulate else ({}, {})
    if found is None:
        raise ValueError("the emulator's result is not right")
    cpu, by_name = found
    if counters and all(n in counters for n in by_name if n.endswith("_wavefronts")):  # what a plan does not determine exactly it does not have
        plan = {c: n for c, n in columns(counters).items() if c != "sectors"} | plan
    return {c: (plan.get(c), cpu.get(c), gpu.get(c)) for c in COLUMNS}


def table(zellige, all_programs, out, emulate):
    rows, failed = [], []
    print("| program | " + " | ".join(COLUMNS) + " |\n|---|" + "--:|" * len(COLUMNS))
    for p in all_programs:
        try:
            rows.append((p.name, row_of(zellige, p, out, emulate)))
        except (ValueError, OSError, subprocess.CalledProcessError) as reason:
            failed.append(f"{p.name}: {getattr(reason, 'stderr', None) or reason}")
            continue
        print(f"| {p.name} | " + " | ".join(shown(rows[-1][1][c]) for c in COLUMNS) + " |", flush=True)
    print()
    if uncounted := [name for name, row in rows if row["us"][2] is None]:
        print(f"{len(rows)} programs; the profiler has counted {len(rows) - len(uncounted)} of them")
    for c in COLUMNS:
        compared = [(name, values[c]) for name, values in rows if sum(v is not None for v in values[c]) > 1]
        differ = [name for name, values in compared if not agrees(c, values)]
        print(f"{c}: {len(compared) - len(differ)} of {len(compared)} agree" + (": not " + ", ".join(differ) if differ else ""))
    for line in failed:
        print(f"bench/counters.py: {line}", file=sys.stderr)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--count", action="store_true", help="only run the programs under the profiler")
    parser.add_argument("--table", action="store_true", help="only print the table, of counts that are there")
    parser.add_argument("--no-emulator", action="store_true", help="do not emulate: two columns")
    parser.add_argument("--sources", type=pathlib.Path, metavar="FOLDER", help="other people's repositories, as OWNER/NAME")
    parser.add_argument("--zellige", default="build/zellige")
    parser.add_argument("--ncu", default="ncu")
    args = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        found = programs(args.files, folder, args.sources)
        if not args.table:
            count(args.zellige, found, args.out, args.ncu, folder)
        return 0 if args.count else table(args.zellige, found, args.out, not args.no_emulator)


if __name__ == "__main__":
    sys.exit(main())
