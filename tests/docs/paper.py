#!/usr/bin/env python3
"""Checks docs/explanation/what-a-feature-touches.md: every file that it names exists, or is called new and does not; no table on paper has a file twice
or more files than MAX_FILES; and the numbers of files in the first table are those of the files.

  tests/docs/paper.py [ROOT]
"""
import re
import sys

from modules import main

PAGE = "docs/explanation/what-a-feature-touches.md"
MAX_FILES = {"Sizes at launch": 12, "Weights of 4 bits": 10, "tcgen05": 14}
FILE = re.compile(r"`((?:src|include)/[\w/.]+)`( \(new\))?")


def errors(root):
    page = (root / PAGE).read_text()
    for name, new in FILE.findall(page):
        if (root / name).exists() == bool(new):
            yield f"{PAGE}: {name} is {'there' if new else 'not there'}"
    for section in page.split("\n## ")[1:]:
        title, text = section.split("\n", 1)
        rows = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")][1:]
        if title == "Added":
            for what, count, files in rows:
                if len(set(FILE.findall(files))) != int(count):
                    yield f"{PAGE}: {what}: {count} files, {len(set(FILE.findall(files)))} are named"
            continue
        files = [FILE.match(row[0])[1] for row in rows]
        if len(files) != len(set(files)) or not 0 < len(files) <= MAX_FILES[title]:
            yield f"{PAGE}: {title}: {len(files)} files, {MAX_FILES[title]} at most"


if __name__ == "__main__":
    sys.exit(main(errors))
