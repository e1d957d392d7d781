#!/usr/bin/env python3
"""Counts the CPU time of a build from nothing, and which sources take most of it.

  bench/build_time.py                        # what demo.sh builds: the command
  bench/build_time.py --target zellige zellige_api    # what a wheel holds
  bench/build_time.py -D ZELLIGE_UNITY=OFF -D ZELLIGE_PRECOMPILE=OFF --most 6

Each build is in a folder of its own, without a cache of compiled sources, whether or not ccache is there. With --most the exit status is
1 if the build takes more minutes of CPU. The time of a source is that of its command on the clock, beside --jobs others. A source that is
compiled with others (ZELLIGE_UNITY) is named with them.
"""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compiled(log):
    """Returns the seconds of each object of a .ninja_log, by its path; of an object that was made twice, the last time."""
    times = {}
    for line in log.splitlines():
        parts = line.split("\t")
        if len(parts) == 5 and parts[3].endswith((".o", ".gch")):
            times[parts[3]] = (int(parts[1]) - int(parts[0])) / 1000
    return times


def name(build, path):
    """Returns what an object is made of: its source, or the sources that are compiled as one."""
    source = re.sub(r"^CMakeFiles/|^src/|^\S*?CMakeFiles/", "", path).removesuffix(".o").removesuffix(".gch")
    if match := re.search(r"(\w+)\.dir/Unity/(unity_\d+_cxx\.cxx)", path):
        file = next(build.rglob(f"{match[1]}.dir/Unity/{match[2]}"), None)
        if file:
            parts = [pathlib.Path(found).relative_to(ROOT / "src") for found in re.findall(r'#include "([^"]+)"', file.read_text())]
            return f"{match[1]}: {parts[0]} to {parts[-1]} ({len(parts)} sources)"
    return source.replace(".dir/", ": ", 1)


def report(times, cpu, clock, named):
    """Returns the lines that are printed: the sum, and the worst twenty."""
    lines = [f"{cpu / 60:.1f} minutes of CPU, {clock / 60:.1f} on the clock, {len(times)} objects", "", "| seconds | source |", "|---|---|"]
    return lines + [f"| {seconds:.1f} | {named(path)} |" for path, seconds in sorted(times.items(), key=lambda item: -item[1])[:20]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", nargs="+", default=["zellige"], help="what is built (zellige)")
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="an option of CMake")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="commands at a time (the number of cores)")
    parser.add_argument("--most", type=float, metavar="MINUTES", help="minutes of CPU that the build may take")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="zellige-build-") as folder:
        build = pathlib.Path(folder)
        options = ["-DZELLIGE_TESTS=OFF", "-DCCACHE=OFF", *(f"-D{option}" for option in given.D)]
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options], check=True, stdout=subprocess.DEVNULL)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(["ninja", "-C", build, "-j", str(given.jobs), *given.target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        clock, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{done.stdout}bench/build_time.py: the build failed")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print("\n".join(report(compiled((build / ".ninja_log").read_text()), cpu, clock, lambda path: name(build, path))))
    if given.most is not None and cpu > 60 * given.most:
        sys.exit(f"bench/build_time.py: {cpu / 60:.1f} minutes of CPU, at most {given.most} are expected")


if __name__ == "__main__":
    main()
