#!/usr/bin/env python3
"""Mutates the kernels of include/zellige/kernels and runs each mutant on the emulator, which must object.

    tests/mutants/mutants.py [--build DIR] [--kinds LIST] [--only REGEX] [--sample N] [--list] [KERNEL...]

Every mutant is one change: a synchronising call or any other statement removed, such a call made by only one lane of a warp, a
comparison, a number or a number of groups to wait for off by one, two neighbours swapped, a swizzle changed. All mutants of a
kernel are compiled once, as switches, and each runs in a separate process; mutants that cannot be switched are in fixed.txt
and are compiled one by one. Prints a row of counts per kernel and each mutant that is neither found nor excused by
equivalent.txt; exits with 1 if there is one, or if an excuse is stale: its mutant no longer exists, or is found.
DIR/mutants/KERNEL.tsv has all verdicts. DIR holds libzellige_emulate.a, built from this checkout.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import sites

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KERNELS = {
    "gemm_sm90": ["kernels/gemm_sm90.hpp", "block/ring.hpp", "block/ring_stage.hpp", "block/roles.hpp", "block/fragment_wgmma.hpp",
                  "block/slab.hpp", "block/store_matrix.hpp", "block/tile_scheduler.hpp:TileOrder", "block/epilogue.hpp",
                  "block/apply_epilogue.hpp:apply_pairs", "kernels/descriptors.hpp:GemmTensors"],
    "attention_sm90": ["kernels/attention_sm90.hpp", "block/ring.hpp", "block/ring_stage.hpp", "block/roles.hpp",
                       "block/fragment_wgmma.hpp", "block/store_matrix.hpp", "block/online_softmax.hpp",
                       "block/tile_scheduler.hpp:HeadOrder", "kernels/descriptors.hpp:AttentionTensors"],
    "linear_sm90": ["kernels/linear_sm90.hpp", "block/ring.hpp", "block/ring_stage.hpp", "block/roles.hpp", "block/fragment_wgmma.hpp",
                    "block/store_matrix.hpp", "kernels/descriptors.hpp:LinearTensors"],
    "linear_rows_sm90": ["kernels/linear_rows_sm90.hpp", "block/ring.hpp", "block/ring_stage.hpp", "block/roles.hpp",
                         "block/fragment_wgmma.hpp", "block/slab.hpp", "block/store_matrix.hpp",
                         "block/apply_epilogue.hpp:apply_transposed", "kernels/descriptors.hpp:RowsTensors"],
    "decode_attention": ["kernels/decode_attention.hpp", "block/online_softmax.hpp", "block/reduce.hpp"],
    "gemm_sm80": ["kernels/gemm_sm80.hpp", "block/store_fragment.hpp", "block/multiply.hpp", "block/fragment.hpp", "block/tile.hpp"],
    "gemm_ragged": ["kernels/gemm_ragged.hpp", "block/ragged.hpp"],
    "norm": ["kernels/norm.hpp", "block/row.hpp"],
    "softmax": ["kernels/softmax.hpp", "block/row.hpp"],
    "transpose": ["kernels/transpose.hpp", "block/tile.hpp"],
}
ORDER = ["delete", "lane", "wait", "swap", "register", "swizzle", "compare", "fixed", "number", "compute"]
NUMBERS = ("number", "compute")  # of these wrong results are what is expected
FLAGS = ["-std=c++20", "-O1", "-g1", "-fno-omit-frame-pointer", "-ftrivial-auto-var-init=pattern", "-DZELLIGE_EMULATE", "-w", "-fpermissive",
         "-fsanitize-undefined-trap-on-error"]


def source_of(name):
    return ROOT / "include/zellige" / name


def include_as(folder, name):
    return folder / "zellige" / name


def generate(kernel, folder, swaps):
    """The kernel's headers with switches, under `folder`; returns the mutants."""
    program = sites.Program()
    shutil.rmtree(folder / "zellige", ignore_errors=True)  # of an earlier run, when other headers were changed
    # Only one half of the overlapping swaps goes into a program; the other half has no other mutants' numbers.
    for name in KERNELS[kernel]:
        name, _, part = name.partition(":")
        text = source_of(name).read_text()
        if part:
            struct = "struct " + part in text
            start = text.index("struct " + part) if struct else text.index(" " + part + "(")
            head, text = text[:start], text[start:]
            end = text.index("\n};" if struct else "\n}\n") + 3
            text = head + program.switch_part(text[:end], name, swaps, head.count("\n")) + text[end:]
        else:
            text = program.switch(text, name, swaps)
        text = text.replace("#pragma once\n", "#pragma once\n#include <mutant.hpp>\n#line %d\n" %
                            (text[:text.index("#pragma once")].count("\n") + 2), 1)
        path = include_as(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return program.mutants


def compile_program(kernel, folder, build, compiler, stop=True):
    out = folder / "run"
    version = subprocess.run(compiler + ["--version"], capture_output=True, text=True).stdout
    bounds = "-fsanitize=bounds" if "clang" in version else "-fsanitize=bounds-strict"
    command = compiler + FLAGS + [bounds, "-I", str(folder), "-I", str(HERE), "-I", str(ROOT / "include"), "-I", str(ROOT / "src"),
                                  str(HERE / ("trial_%s.cpp" % kernel)), str(HERE / "runner.cpp"), "-o", str(out),
                                  str(build / "libzellige_emulate.a"), "-lfmt", "-lboost_context", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and not stop:
        return None
    if done.returncode:
        sys.exit("%s does not compile:\n%s\n%s" % (kernel, " ".join(command), done.stderr[:6000]))
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kernels", nargs="*", default=list(KERNELS))
    p.add_argument("--build", default="build", type=pathlib.Path, help="where libzellige_emulate.a is")
    p.add_argument("--out", type=pathlib.Path, help="where programs and verdicts go; BUILD/mutants")
    p.add_argument("--only", default="", help="mutants whose description matches")
    p.add_argument("--suffix", default="", help="of the verdicts' file")
    p.add_argument("--kinds", default="delete,lane,wait,swap,register,swizzle,compare,fixed",
                   help="also number and compute, whose mutants mostly yield wrong numbers")
    p.add_argument("--sample", type=int, default=0, help="only N mutants of each kernel")
    p.add_argument("--schedules", type=int, default=0,
                   help="first the kernel as it is, in N orders of its threads: no finding, the same results")
    p.add_argument("--list", action="store_true", help="print the mutants and stop")
    p.add_argument("--compiler", default="g++")
    a = p.parse_args()
    out = a.out or a.build / "mutants"
    excused, bad = excuses((HERE / "equivalent.txt").read_text()), 0
    for kernel in a.kernels:
        folder = out / kernel
        mutants = generate(kernel, folder, 0)
        keys = keys_of(mutants.values())
        for key in sorted(excused[kernel].keys() - keys.values()):
            bad += 1
            print(f"equivalent.txt:{excused[kernel][key]}: {kernel} has no such mutant any more: {key}", flush=True)
        kinds = a.kinds.split(",")
        selected = [m for m in mutants.values() if m.kind in kinds and re.search(a.only, describe(m))]
        selected = sample(selected, a.sample)
        if a.list:
            for m in selected:
                print(f"{kernel} | {keys[m.id]}")
            continue
        run = compile_program(kernel, folder, a.build, a.compiler.split())
        if a.schedules:
            done = subprocess.run([str(run), "schedules", str(a.schedules)], capture_output=True, text=True)
            print(kernel, done.stdout.strip(), flush=True)
            bad += done.returncode != 0
        selected.sort(key=lambda m: ORDER.index(m.kind))
        verdicts = []
        process = subprocess.Popen([str(run)] + [str(m.id) for m in selected if m.kind not in NUMBERS] + ["few"] +
                                   [str(m.id) for m in selected if m.kind in NUMBERS], stdout=subprocess.PIPE, text=True)
        with open(out / (kernel + a.suffix + ".tsv"), "w", buffering=1) as f:
            for line in process.stdout:
                id_, what, trial, sentence = line.rstrip("\n").split("\t", 3)
                if id_ == "0":
                    print(kernel, what, trial, sentence, flush=True)
                    continue
                verdicts.append((mutants[int(id_)], what, trial, sentence))
                f.write("\t".join([what, describe(mutants[int(id_)]), trial, sentence]) + "\n")
            for v in run_fixed(kernel, out, a) if "fixed" in kinds and not a.only and not a.sample else ():
                verdicts.append(v)
                f.write("\t".join([v[1], describe(v[0]), v[2], v[3]]) + "\n")
        row, survivors, found = count(verdicts, {i for i, key in keys.items() if key in excused[kernel]})
        print(kernel, " ".join("%s %d" % (c, row[c]) for c in COLUMNS), flush=True)
        for m in survivors:
            print("  nothing found: " + describe(m))
        for m in found:
            print(f"  equivalent.txt:{excused[kernel][keys[m.id]]}: excused, but found: {describe(m)}")
        bad += len(survivors) + len(found) + (not verdicts)
    sys.exit(bad != 0)


def excuses(text):
    """equivalent.txt: {key: line} of each kernel."""
    found, reason = {kernel: {} for kernel in KERNELS}, ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("  "):
            reason = line.strip() if not line.startswith("#") else ""
            continue
        kernel, _, key = line.strip().partition(" | ")
        if not reason or kernel not in found or not key or key in found[kernel]:
            sys.exit(f"equivalent.txt:{number}: expected 'KERNEL | MUTANT' once, below a reason: {line.strip()}")
        found[kernel][key] = number
    return found


def keys_of(mutants):
    """Each mutant's description, without its line's number: the key of an excuse. Later mutants with the same description are numbered."""
    seen, keys = {}, {}
    for m in mutants:
        key = re.sub(r":\d+ ", " ", describe(m), count=1)
        seen[key] = seen.get(key, 0) + 1
        keys[m.id] = key if seen[key] == 1 else f"{key} #{seen[key]}"
    return keys


def sample(mutants, count):
    """A sample of them, evenly, over all kinds."""
    return mutants if not count else [mutants[i * len(mutants) // count] for i in range(min(count, len(mutants)))]


COLUMNS = ["mutants", "found", "numbers", "ended", "harmless", "SURVIVED"]


def count(verdicts, excused):
    """A row of the table, the mutants that nothing has found, and those that are found and yet excused; excused: numbers."""
    row, survivors, found = dict.fromkeys(COLUMNS, 0), [], []
    for m, what, trial, sentence in verdicts:
        if what in ("unreached", "compiler"):
            found += [m] if m.id in excused else []  # not in this kernel
            continue
        row["mutants"] += 1
        if what != "nothing":
            row[what] += 1
            found += [m] if m.id in excused else []
        elif m.id in excused:
            row["harmless"] += 1
        else:
            row["SURVIVED"] += 1
            survivors.append(m)
    return row, survivors, found


def fixed_mutants(kernel):
    """Mutants of compile-time values: (header, from, to) of the lines of fixed.txt for the kernel."""
    for line in (HERE / "fixed.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, header, old, new = [part.strip() for part in line.split("|")]
            if name == kernel:
                yield header, old, new


def run_fixed(kernel, out, a):
    """Compiles each separately, and compares it with the results of the unmodified kernel."""
    for n, (header, old, new) in enumerate(fixed_mutants(kernel)):
        folder = out / (kernel + "_fixed")
        text = source_of(header).read_text()
        if text.count(old) != 1:
            sys.exit("fixed.txt: %s has '%s' %d times, it must be there once" % (header, old, text.count(old)))
        shutil.rmtree(folder / "zellige", ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        expected = out / (kernel + ".right")
        if n == 0:
            subprocess.run([str(compile_program(kernel, folder, a.build, a.compiler.split())), "save", str(expected)],
                           stdout=subprocess.DEVNULL, check=True)
        path = include_as(folder, header)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new))
        line = text[:text.index(old)].count("\n") + 1
        m = sites.Mutant(0, "fixed", header, line, "%s for %s" % (new, old), text.splitlines()[line - 1].strip())
        run = compile_program(kernel, folder, a.build, a.compiler.split(), stop=False)
        verdict = "compiler", "", "it does not compile"
        if run:
            answer = subprocess.run([str(run), "against", str(expected)], capture_output=True, text=True).stdout
            verdict = tuple(answer.splitlines()[-1].split("\t", 3)[1:])
        path.write_text(text)
        yield (m,) + verdict


def describe(m):
    return "%s:%d %s: %s  [%s]" % (m.file.split("/")[1], m.line, m.kind, m.words, m.source)


if __name__ == "__main__":
    main()
