#!/usr/bin/env python3
"""Draws the pictures of docs/ again whose commands the pages show, and compares them with the files.

A block "```shell" has commands `zellige layout ... --svg docs/NAME.svg` or `zellige banks ...`, one a line.

  tests/docs/pictures.py ZELLIGE [--update]      --update writes the files
"""
import pathlib, re, shlex, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```shell\n(.*?)```", re.S)


def commands():
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for block in BLOCK.findall(page.read_text()):
            for line in block.splitlines():
                words = shlex.split(line)
                if words[:1] == ["zellige"] and "--svg" in words:
                    yield page.relative_to(ROOT), words


def main():
    zellige, update = sys.argv[1], "--update" in sys.argv
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for page, words in commands():
            count += 1
            at = words.index("--svg") + 1
            file = ROOT / words[at]
            drawn = pathlib.Path(folder) / f"{count}.svg"
            done = subprocess.run([zellige, *words[1:at], str(drawn), *words[at + 1:]], capture_output=True, text=True)
            if done.returncode:
                wrong.append(f"{page}: {shlex.join(words)}: {done.stdout}{done.stderr}")
            elif update:
                file.write_bytes(drawn.read_bytes())
            elif not file.exists() or file.read_bytes() != drawn.read_bytes():
                wrong.append(f"{page}: {words[at]} is not what its command draws; tests/docs/pictures.py ZELLIGE --update writes it")
    if count < 20:
        wrong.append(f"docs/: expected 20 pictures by commands or more, found {count}")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
