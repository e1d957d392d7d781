#!/usr/bin/env python3
"""Counts the skipped tests, and fails above the limits of skips.txt.

    tests/suite/skips.py REPORTS [--list FILE]

REPORTS: a folder of JUnit reports, as written by ctest --output-junit, GTEST_OUTPUT=xml: and pytest --junitxml. Prints each
kind of skip with its count; exits with 1 if a skip is not in the list, or if there are more than the list allows.
"""
import argparse
import collections
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def has_gpu():
    tool = shutil.which("nvidia-smi")
    return bool(tool) and subprocess.run([tool, "-L"], capture_output=True, check=False).returncode == 0


def has_shared():
    return all((ROOT.parent / "shared" / folder).is_dir() for folder in ("mugraphs", "conformance"))


# What a machine may lack, by its name in the list.
THINGS = {
    "GPU": has_gpu,
    "shared": has_shared,
    "nvcc": lambda: bool(shutil.which("nvcc")) or os.path.exists("/usr/local/cuda/bin/nvcc"),
}


@dataclasses.dataclass
class Allowed:
    line: int
    when: str  # always, "without THING" or "with THING"
    limit: int
    name: str  # of the tests, as fnmatch has it
    reason: str  # a part of what the test says
    holds: bool = True


def read_list(path, has):
    """The list's lines: WHEN | AT MOST | TEST | REASON."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [c.strip() for c in line.split(" | ")]
        if len(columns) != 4 or not columns[1].isdigit():
            sys.exit(f"{path}:{number}: expected WHEN | AT MOST | TEST | REASON, found: {line}")
        when, _, thing = columns[0].partition(" ")
        if columns[0] != "always" and (when not in ("with", "without") or thing not in has):
            names = ", ".join(f"'with {t}', 'without {t}'" for t in has)
            sys.exit(f"{path}:{number}: WHEN is 'always', {names}; found: '{columns[0]}'")
        found.append(Allowed(number, columns[0], int(columns[1]), *columns[2:],
                             holds=when == "always" or has[thing] == (when == "with")))
    return found


@dataclasses.dataclass
class Skip:
    name: str
    reason: str


def read_reports(folder):
    """The number of tests that ran, and the skips of all reports."""
    ran, skips, reports = 0, [], sorted(folder.rglob("*.xml"))
    for path in reports:
        try:
            root = xml.etree.ElementTree.parse(path).getroot()
        except xml.etree.ElementTree.ParseError as e:
            sys.exit(f"{path} is no JUnit report: {e}")
        for case in root.iter("testcase"):
            skipped, status = case.find("skipped"), case.get("status", "")
            unrun = status in ("notrun", "disabled") and case.get("result") != "completed"
            if skipped is None and not unrun:
                ran += 1
                continue
            if case.get("classname") == case.get("name"):  # ctest's
                name = f"ctest: {case.get('name')}"
            else:
                name = f"{path.name.partition('.')[0]}: {case.get('classname')}.{case.get('name')}"
            skips.append(Skip(name, reason_of(case, skipped)))
    return ran, skips, len(reports)


def reason_of(case, skipped):
    """In one line; a program that ctest takes for skipped says why in the line that begins with `skipped: `."""
    reason = re.search(r"^skipped: (.*)$", case.findtext("system-out") or "", re.M)
    if reason:
        return reason[1]
    text = "" if skipped is None else (skipped.text or skipped.get("message") or "")
    lines = [line for line in text.strip().splitlines() if not re.fullmatch(r"\S+\.(cpp|hpp):\d+", line)]
    return " ".join(" ".join(lines).split()) or "no reason"


def judge(skips, allowed):
    """The counts of each line of the list, and the skips that none of them has."""
    counts, unlisted = collections.Counter(), []
    for skip in skips:
        for line in allowed:
            if line.holds and fnmatch.fnmatchcase(skip.name, line.name) and line.reason in skip.reason:
                counts[line.line] += 1
                break
        else:
            unlisted.append(skip)
    return counts, unlisted


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("reports", type=pathlib.Path)
    p.add_argument("--list", type=pathlib.Path, default=HERE / "skips.txt")
    a = p.parse_args()
    has = {thing: here() for thing, here in THINGS.items()}
    allowed = read_list(a.list, has)
    ran, skips, reports = read_reports(a.reports)
    if ran + len(skips) == 0:
        sys.exit(f"skips: {a.reports} has {reports} reports and no test in them")
    counts, unlisted = judge(skips, allowed)
    bad = len(unlisted)
    for line in allowed:
        if counts[line.line]:
            over = counts[line.line] > line.limit
            bad += over
            print(f"{counts[line.line]:5} of at most {line.limit} skipped {line.when}: {line.name}: {line.reason}" +
                  ("  TOO MANY" if over else ""))
    for skip in unlisted:
        print(f"    1 skipped, NOT LISTED: {skip.name}: {skip.reason}")
    for thing, here in has.items():
        count = sum(counts[line.line] for line in allowed if line.when == f"without {thing}")
        if not here:
            print(f"skips: this machine has no {thing}, for want of which {count} tests were skipped")
    print(f"skips: {ran} tests ran, {len(skips)} were skipped in {reports} reports; {a.list.name} allows "
          f"{sum(line.limit for line in allowed if line.holds)} here")
    if bad:
        print(f"skips: {len(unlisted)} skips are not in {a.list.name}, {bad - len(unlisted)} of its numbers are exceeded: "
              "make the tests run, or list them with the reason")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
