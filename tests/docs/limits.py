#!/usr/bin/env python3
"""Checks that README.md and the pages of docs/ are readable: no page over 250 lines, no line over 400 characters, no paragraph
over 120 words and no sentence over 35. Code, generated tables (between `<!-- NAME -->` and `<!-- end -->`) and docs/log.md are
not checked.

  tests/docs/limits.py [FILE...]    README.md and all pages of docs/, by default
"""
import os, re, sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LINES, CHARACTERS, PARAGRAPH, SENTENCE, README = 250, 400, 120, 35, 110
GENERATED = r"<!-- \w+ -->\n.*?<!-- end -->"
NOT_READ = {"docs/log.md"}
CHECKED_TABLE = {"docs/reference/refusals.md"}  # a table that tests/compile compares with the compiler, row by row: as long, and as wide, as it must be


def pages():
    found = ["README.md"]
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(set(found) - NOT_READ)


def blank(pattern, text):
    """The page with each match replaced by its line ends."""
    return re.sub(pattern, lambda m: "\n" * m[0].count("\n"), text, flags=re.S)


def pieces(prose):
    """Paragraphs, items of lists and cells of tables, each with its line."""
    block, start = "", 1
    for number, line in enumerate(prose.split("\n") + [""], 1):
        if line.lstrip().startswith("|"):
            yield from ((cell.strip(), number) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")))
            line = ""
        if not line.strip() or re.match(r"\s*([-*]|\d+\.|#+|<!--|!\[)\s?", line):
            yield block, start
            block = ""
        start = start if block else number
        block += (" " if block else "") + line.strip()
    yield block, start


def faults(name, text):
    """One sentence per limit that the page breaks."""
    written = blank(GENERATED, text)
    lines = len(re.sub(GENERATED, "", text, flags=re.S).rstrip("\n").split("\n"))
    if name == "README.md":
        lines = len(text.rstrip("\n").split("\n"))  # its table counts, too
    limit = README if name == "README.md" else LINES
    if lines > limit and name not in CHECKED_TABLE:
        yield f"{name}: {lines} lines, at most {limit}: split the page"
    prose = blank(r"```.*?```", written)
    for number, line in enumerate(prose.split("\n"), 1):
        if len(line) > CHARACTERS and name not in CHECKED_TABLE:
            yield f"{name}:{number}: a line of {len(line)} characters, at most {CHARACTERS}"
    for piece, number in pieces(prose):
        piece = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "x", piece))
        if len(piece.split()) > PARAGRAPH:
            yield f"{name}:{number}: a paragraph of {len(piece.split())} words, at most {PARAGRAPH}: `{piece[:60]}`"
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*(\[])", piece):
            if len(sentence.split()) > SENTENCE:
                yield f"{name}:{number}: a sentence of {len(sentence.split())} words, at most {SENTENCE}: `{sentence[:60]}`"


def main():
    wrong = []
    for page in [os.path.relpath(os.path.abspath(p), ROOT) for p in sys.argv[1:]] or pages():
        with open(os.path.join(ROOT, page)) as f:
            wrong += faults(page, f.read())
    print("\n".join(wrong) if wrong else "every page is within its limits")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
