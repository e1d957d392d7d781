#!/usr/bin/env python3
"""Runs the commands that docs/reference/cli.md shows on files of this project, and compares what they print with what the page shows; seconds are left out.

  tests/docs/consoles.py ZELLIGE
"""
import os, re, shlex, subprocess, sys, tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def blocks(page):
    """Each ```text block that is one command on examples/ and its output."""
    for m in re.finditer(r"```text\n\$ zellige (\S+ examples/[^\n]*)\n(.*?)```", page, re.S):
        yield m[1], m[2], page.count("\n", 0, m.start()) + 2


def without_seconds(text):
    return re.sub(r"  check \S+ s", "", re.sub(r"\d+\.\d+ s\b", "_ s", text)).rstrip()


def main():
    zellige, page, wrong, count = os.path.abspath(sys.argv[1]), "docs/reference/cli.md", [], 0
    with tempfile.TemporaryDirectory() as folder:
        for command, shown, line in blocks(open(os.path.join(ROOT, page)).read()):
            words = [os.path.join(ROOT, w) if w.startswith("examples/") else w for w in shlex.split(command)]
            done = subprocess.run([zellige, *words], cwd=folder, capture_output=True, text=True, env={**os.environ, "ZELLIGE_CACHE": folder})
            count += 1
            if done.returncode or without_seconds(done.stdout) != without_seconds(shown):
                wrong.append(f"{page}:{line}: zellige {command}\nshown:\n{shown}\nprinted (exit status {done.returncode}):\n{done.stdout}{done.stderr}")
    if count < 2:
        wrong.append(f"{page}: expected two commands on examples/ or more, found {count}")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
