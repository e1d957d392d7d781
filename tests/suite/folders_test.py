#!/usr/bin/env python3
"""Each folder of src is once in the table of docs/explanation/testing.md, and the folder of tests there includes its headers."""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What is tested from outside: by its public header, or by the executable as a user runs it.
OUTSIDE = {"api": "#include <zellige/api.h>", "cli": '#include "command.hpp"'}
ROW = re.compile(r"^\| `src/([a-z_]+)` \| `tests/([a-z_]+)`", re.M)


def mistakes(root):
    """Returns what is wrong with the table, one sentence each."""
    found = []
    rows = ROW.findall((root / "docs/explanation/testing.md").read_text())
    sources = sorted(p.name for p in (root / "src").iterdir() if p.is_dir())
    named = [source for source, _ in rows]
    for source in sources:
        if named.count(source) != 1:
            found.append(f"src/{source}: expected one row of docs/explanation/testing.md, found {named.count(source)}")
    for source, tests in rows:
        if source not in sources:
            found.append(f"docs/explanation/testing.md: there is no folder src/{source}")
            continue
        files = [p for p in (root / "tests" / tests).glob("*") if p.suffix in (".cpp", ".hpp")]
        header = OUTSIDE.get(source, f'#include "{source}/')
        if not any(header in p.read_text() for p in files):
            found.append(f"src/{source}: no file of tests/{tests} includes one of its headers")
    return found


class Folders(unittest.TestCase):
    def test_of_this_tree(self):
        self.assertEqual(mistakes(ROOT), [])

    def test_what_is_missing_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path in ("src/lost", "src/bare", "src/found", "tests/found", "tests/bare", "docs/explanation"):
                (root / path).mkdir(parents=True)
            (root / "tests/found/a_test.cpp").write_text('#include "found/a.hpp"\n')
            (root / "docs/explanation/testing.md").write_text(
                "| `src/found` | `tests/found` |\n| `src/bare` | `tests/bare`; and more |\n| `src/gone` | `tests/found` |\n")
            self.assertEqual(mistakes(root), [
                "src/lost: expected one row of docs/explanation/testing.md, found 0",
                "src/bare: no file of tests/bare includes one of its headers",
                "docs/explanation/testing.md: there is no folder src/gone"])


if __name__ == "__main__":
    sys.exit(unittest.main())
