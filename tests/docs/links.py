#!/usr/bin/env python3
"""Checks every relative link in the project's Markdown: the file is there, and so is the heading that an anchor names.

  tests/docs/links.py [FILE...]    all pages that git tracks, by default
"""
import os, re, subprocess, sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def prose(page):
    """The page without blocks of code and code spans, with as many lines."""
    return re.sub(r"```.*?```|`[^`\n]*`", lambda m: "\n" * m[0].count("\n"), page, flags=re.S)


def anchors(page):
    """What GitHub names the page's headings (lower case, punctuation left out, blanks as hyphens, repeats numbered), and `<a id>`."""
    found = set(re.findall(r'<a id="([^"]+)"></a>', page))
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", re.sub(r"```.*?```", "", page, flags=re.S), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number, unique = 0, name
        while unique in found:
            number += 1
            unique = f"{name}-{number}"
        found.add(unique)
    return found


def dead_links(path):
    with open(path) as f:
        page = prose(f.read())
    for m in re.finditer(r"\]\(([^)\s]+)\)", page):
        target, _, anchor = m[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        there = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        where = f"{os.path.relpath(path, ROOT)}:{page.count(chr(10), 0, m.start()) + 1}"
        if not os.path.exists(there):
            yield f"{where}: `{m[1]}` names a file that is not there"
        elif anchor and there.endswith(".md") and anchor not in anchors(open(there).read()):
            yield f"{where}: `{m[1]}` names no heading of {os.path.relpath(there, ROOT)}"


def main():
    pages = [os.path.abspath(p) for p in sys.argv[1:]]
    if not pages:
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True)
        pages = [os.path.join(ROOT, name) for name in listed.stdout.split() if os.path.exists(os.path.join(ROOT, name))]
    dead = [line for page in pages for line in dead_links(page)]
    print("\n".join(dead) if dead else f"{len(pages)} pages: every link leads somewhere")
    sys.exit(1 if dead or not pages else 0)


if __name__ == "__main__":
    main()
