#!/usr/bin/env python3
"""Compiles and runs the C++ programs of README.md and docs/, and compares their output with the page.

  tests/docs/snippets.py EMULATOR [PAGE...]      EMULATOR: build/libzellige_emulate.a; all pages, by default

A block "```cpp run" is a program on the headers alone, "```cpp emulate" one that runs a kernel on the emulator. The expected
output is its comments `// -> TEXT`, in order, or else the next block "```text" of the page.
"""
import os, re, subprocess, sys, tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FLAGS = ["-std=c++20", "-O1", "-g1", "-fno-omit-frame-pointer", "-I", "include"]
EMULATED = ["-DZELLIGE_EMULATE", "-I", "src"]
BLOCK = re.compile(r"```cpp (run|emulate)(?: (\w+))?\n(.*?)```\n", re.S)


def pages():
    found = ["README.md"]
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def programs(text):
    """For each program: how it is built, its file's name, its source, its expected output, and its line on the page."""
    for m in BLOCK.finditer(text):
        after = re.match(r"(?:(?!```cpp (?:run|emulate)).)*?```text\n(.*?)```", text[m.end():], re.S)
        shown = "".join(line + "\n" for line in re.findall(r"// -> (.*)", m[3])) or (after[1] if after else "")
        yield m[1], f"{m[2] or 'snippet'}.cpp", m[3], shown, text.count("\n", 0, m.start()) + 1


def run(kind, name, text, emulator, folder):
    """The program's output, or the compiler's errors."""
    source, program = os.path.join(folder, name), os.path.join(folder, "program")
    with open(source, "w") as f:
        f.write(text)
    link = [*EMULATED, source, emulator, "-lfmt", "-lboost_context", "-pthread"] if kind == "emulate" else [source]
    built = subprocess.run([os.environ.get("ZELLIGE_CXX", "g++"), *FLAGS, *link, "-o", program], cwd=ROOT, capture_output=True, text=True)
    if built.returncode:
        return "\n".join(line for line in built.stderr.splitlines() if "error" in line)[:2000]
    done = subprocess.run([program], cwd=folder, capture_output=True, text=True, timeout=120)
    return done.stdout + (f"exit status {done.returncode}: {done.stderr}" if done.returncode else "")


def main():
    emulator, wrong, count = os.path.abspath(sys.argv[1]), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for page in sys.argv[2:] or pages():
            with open(os.path.join(ROOT, page)) as f:
                found = list(programs(f.read()))
            for kind, name, text, shown, line in found:
                count += 1
                printed = run(kind, name, text, emulator, folder)
                if printed.rstrip() != shown.rstrip() or not shown.strip():
                    wrong.append(f"{page}:{line}: the program prints\n{printed}\nand the page shows\n{shown}")
    if not count:
        wrong.append("no program was found")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
