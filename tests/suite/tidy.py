#!/usr/bin/env python3
"""clang-tidy on the C++ files that a commit changes.

    tests/suite/tidy.py [--base REV] [--limit N] [--all] [--report FILE]

The files: those that differ from REV, by default HEAD~1 ($ZELLIGE_TIDY_BASE), and uncommitted ones; of more than N (40), a
uniform sample of N, which it reports; with --all every file that the build compiles, and every header. The checks:
.clang-tidy. Needs clang-tidy 14 (installed by test.sh) and build/compile_commands.json; if one of them is missing it reports a
skip, which test.sh counts.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("include/", "src/", "tests/", "examples/")
# Options of g++ that clang does not know; and it cannot read g++'s precompiled headers.
FOREIGN = re.compile(r"-f(no-)?lifetime-dse|-fsanitize\S*|-Winvalid-pch|-Werror")


def find_tool():
    """clang-tidy 14 as a command, and why there is none."""
    wheel = ROOT / "build/tools"
    places = [[shutil.which("clang-tidy-14")], [shutil.which("clang-tidy")], [wheel / "clang_tidy/data/bin/clang-tidy"]]
    for command in places:
        if command[0] and os.path.exists(command[0]):
            output = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout
            if re.search(r"version 14\.", output):
                return command[0], ""
    return None, "clang-tidy 14 is not here"


def changed(base):
    """The paths that differ from the revision, and why they are not known."""
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)

    if git("rev-parse", "--verify", "-q", base + "^{commit}").returncode:
        return [], f"git knows no {base}"
    output = git("diff", "--name-only", "--diff-filter=d", base), git("ls-files", "--others", "--exclude-standard")
    return sorted({line for one in output for line in one.stdout.splitlines()}), ""


def commands():
    """The compilation of each file, as clang can take it."""
    found = {}
    for entry in json.loads((ROOT / "build/compile_commands.json").read_text()):
        words, kept = shlex.split(entry["command"]), []
        words = words[1:] if words[0].endswith("ccache") else words
        skip = False
        for i, word in enumerate(words):
            pch = word == "-include" and "cmake_pch" in words[i + 1]
            if not (skip or pch or FOREIGN.fullmatch(word) or word in ("-c", "-o") or i and words[i - 1] == "-o"):
                kept.append(word)
            skip = pch
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        compiled = [path]
        if path.parent.name == "Unity":  # several sources that are compiled as one
            compiled = [pathlib.Path(source) for source in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)]
        for source in compiled:
            if source.is_relative_to(ROOT):
                found.setdefault(str(source.relative_to(ROOT)), [w for w in kept[1:] if w != entry["file"]])
    return found


def check(tool, path, flags):
    """clang-tidy's findings in one file. A header is included by a source file of its own: as a main file it would be read twice
    if one of its own includes includes it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [tool, "--quiet", path]
        if path.endswith(".hpp"):
            source = pathlib.Path(folder, "header.cpp")
            source.write_text(f'#include "{ROOT / path}"\n')
            command = [tool, "--quiet", f"--header-filter={re.escape(path)}$", source]
        done = subprocess.run([*command, "--", *flags], cwd=ROOT, capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode and not found:
        found = [f"{path}: clang-tidy ended with {done.returncode}: {done.stderr.strip()[-500:]}"]
    return done.returncode, found


def write_report(path, why):
    """A report with one skipped test, for tests/suite/skips.py."""
    suite = ElementTree.Element("testsuite", name="clang-tidy")
    case = ElementTree.SubElement(suite, "testcase", classname="clang-tidy", name="changed")
    if why:
        ElementTree.SubElement(case, "skipped", message=why)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--base", default=os.environ.get("ZELLIGE_TIDY_BASE") or "HEAD~1")
    p.add_argument("--limit", type=int, default=40)
    p.add_argument("--all", action="store_true")
    p.add_argument("--report", type=pathlib.Path, default=ROOT / "build/reports/tidy.xml")
    a = p.parse_args()
    tool, why = find_tool()
    if not (ROOT / "build/compile_commands.json").exists():
        why = why or "the build has no compile_commands.json"
    paths = []
    if not why and not a.all:
        paths, why = changed(a.base)
    write_report(a.report, why)
    if why:
        print(f"tidy: SKIPPED: {why}")
        return 0
    known = commands()
    if a.all:
        paths = sorted(known) + [str(h.relative_to(ROOT)) for f in FOLDERS for h in sorted((ROOT / f).rglob("*.hpp"))]
    header = ["-std=c++20", "-DZELLIGE_EMULATE", "-I", "include", "-I", "src", "-I", "tests"]
    work = [(path, known[path]) for path in paths if path in known]
    work += [(path, header) for path in paths if path.endswith(".hpp") and path.startswith(("include/", "src/"))]
    if len(work) > a.limit and not a.all:
        print(f"tidy: ONLY {a.limit} of {len(work)} changed files are looked at; --limit {len(work)} takes them all")
        work = [work[i * len(work) // a.limit] for i in range(a.limit)]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for status, found in pool.map(lambda one: check(tool, *one), work):
            bad += status != 0
            print(*found, sep="\n", end="\n" if found else "", flush=True)
    print(f"tidy: {len(work)} files, {bad} with findings")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
