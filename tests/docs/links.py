#!/usr/bin/env python3
"""Checks every relative link in the project's Markdown: the file exists, and so does the heading of an anchor. Without files,
also checks that links from docs/index.md reach each page of docs/.

  tests/docs/links.py [FILE...]    all pages that git tracks, by default
"""
import os, re, subprocess, sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def prose(page):
    """The page without code blocks and code spans, with the same number of lines."""
    return re.sub(r"```.*?```|`[^`\n]*`", lambda m: "\n" * m[0].count("\n"), page, flags=re.S)


def anchors(page):
    """GitHub's anchors of the page's headings (lower case, no punctuation, blanks as hyphens, repeats numbered), and `<a id>`."""
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


def links(path):
    """The files that a page links."""
    with open(path) as f:
        targets = re.findall(r"\]\(([^)#\s]+)", prose(f.read()))
    return {os.path.normpath(os.path.join(os.path.dirname(path), t)) for t in targets if not re.match(r"[a-z]+:", t)}


def unreached(pages):
    """The pages of docs/ to which no links lead from docs/index.md."""
    docs = {page for page in pages if os.path.relpath(page, ROOT).startswith("docs" + os.sep)}
    seen, open_ = set(), [os.path.join(ROOT, "docs", "index.md")]
    while open_:
        page = open_.pop()
        if page not in seen and page.endswith(".md") and os.path.exists(page):
            seen.add(page)
            open_ += links(page)
    return [f"{os.path.relpath(page, ROOT)}: no links lead here from docs/index.md" for page in sorted(docs - seen)]


def main():
    pages = [os.path.abspath(p) for p in sys.argv[1:]]
    if not pages:
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True)
        pages = [os.path.join(ROOT, name) for name in listed.stdout.split() if os.path.exists(os.path.join(ROOT, name))]
    dead = [line for page in pages for line in dead_links(page)] + ([] if sys.argv[1:] else unreached(pages))
    print("\n".join(dead) if dead else f"{len(pages)} pages: every link leads somewhere")
    sys.exit(1 if dead or not pages else 0)


if __name__ == "__main__":
    main()
