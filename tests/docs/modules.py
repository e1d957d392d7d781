#!/usr/bin/env python3
"""Checks the includes of src and include/zellige against the table of docs/explanation/architecture.md: a folder includes what its row lists, and what
the rows of those list, and a row lists only folders above it; every folder of src has a row.

  tests/docs/modules.py [ROOT]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASES = ("src", "include")


class Table:
    """Rows `| FOLDERS | purpose | NAMES |`. A name is the last part of a folder, or, where two folders have it, the whole of it."""

    def __init__(self, page):
        self.rows = {}  # folder -> the folders that it may include, in the order of the page
        self.errors = []
        for line in page.splitlines():
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            folders = re.findall(r"`((?:src|include/zellige)/\w+)/`", cells[0]) if len(cells) == 3 else []
            if not folders:
                continue
            allowed = set()
            for name in filter(None, (n.strip().strip("`") for n in cells[2].split(","))):
                found = [f for f in self.rows if f == name or ("/" not in name and f.endswith("/" + name))]
                found = [f for f in found if f == name] or found[:1]
                if not found:
                    self.errors.append(f"docs/explanation/architecture.md: {folders[0]} lists {name}, which is no folder of a row above it")
                for folder in found:
                    allowed |= {folder} | self.rows[folder]
            for folder in folders:
                self.rows[folder] = set(allowed)


def folder_of(path):
    """src/plan of src/plan/plan.cpp; None of include/zellige/layout.hpp, which is of no folder."""
    parts = path.parts
    depth = 2 if parts[0] == "src" else 3
    return "/".join(parts[:depth]) if len(parts) > depth else None


def errors(root):
    table = Table((root / "docs/explanation/architecture.md").read_text())
    yield from table.errors
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        if f"src/{folder.name}" not in table.rows:
            yield f"src/{folder.name} has no row in docs/explanation/architecture.md"
    for base in BASES:
        for file in sorted((root / base).rglob("*.[ch]pp")):
            path = file.relative_to(root)
            of = folder_of(path)
            if of not in table.rows:
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                m = re.match(r'\s*#\s*include\s*[<"]([^">]+)[">]', line)
                for included in (pathlib.Path(b, m[1]) for b in BASES if m and (root / b / m[1]).exists()):
                    to = folder_of(included)
                    if to and to != of and to not in table.rows[of]:
                        allowed = ", ".join(sorted(table.rows[of])) or "nothing"
                        yield f"{path}:{number}: {of} includes {included}; by docs/explanation/architecture.md it may include {allowed}"


def main(errors=errors):
    """Prints what errors(root) finds, and returns the exit status. The root is the first argument of the command, or this checkout."""
    found = list(errors(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
    for error in found:
        print(error)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
