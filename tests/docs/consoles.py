#!/usr/bin/env python3
"""Runs the commands shown in docs/, and compares their output with the page; seconds may differ.

A block "```text" that begins with `$ zellige COMMAND ... examples/` is one command on files of this project; a block "```console" is any number of commands
of the shell, each with its output.

  tests/docs/consoles.py ZELLIGE [--update]      --update writes what is printed into the pages
"""
import os, re, shlex, subprocess, sys, tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
TEXT = re.compile(r"(```text\n\$ zellige (\S+ examples/[^\n]*)\n)(.*?)(?=```)", re.S)
CONSOLE = re.compile(r"```console\n(.*?)```", re.S)
COMMAND = re.compile(r"^(\$ ([^\n]*)\n)((?:(?!\$ )[^\n]*\n)*)", re.M)


def pages():
    found = []
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def without_seconds(text):
    text = re.sub(r"^\[\d+/\d+\] \d+:\d\d .*\n", "", text, flags=re.M)  # progress, of what takes longer than two seconds
    return re.sub(r"  check \S+ s", "", re.sub(r"\d+\.\d+ s\b", "_ s", text)).rstrip()


class Commands:
    def __init__(self, zellige, folder):
        self.zellige, self.folder, self.wrong, self.count = zellige, folder, [], 0
        self.environment = {**os.environ, "ZELLIGE_CACHE": os.path.join(folder, "cache"), "PATH": os.path.dirname(zellige) + ":" + os.environ["PATH"]}

    def compare(self, where, command, shown, done):
        """What the page should show."""
        self.count += 1
        if without_seconds(done.stdout) == without_seconds(shown):
            return shown
        self.wrong.append(f"{where}: {command}\nshown:\n{shown}\nprinted (exit status {done.returncode}):\n{done.stdout}{done.stderr or ''}")
        return re.sub(r"^\[\d+/\d+\] \d+:\d\d .*\n", "", done.stdout, flags=re.M).rstrip("\n") + "\n"

    def text(self, where, command, shown):
        words = [os.path.join(ROOT, w) if w.startswith("examples/") else w for w in shlex.split(command)]
        done = subprocess.run([self.zellige, *words], cwd=self.folder, capture_output=True, text=True, env=self.environment)
        if done.returncode:
            done.stdout += f"exit status {done.returncode}\n"
        return self.compare(where, "zellige " + command, shown, done)

    def console(self, where, block):
        def one(m):
            done = subprocess.run(["sh", "-c", m[2]], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
            return m[1] + self.compare(where, m[2], m[3], done)
        return COMMAND.sub(one, block)

    def page(self, name, page):
        where = lambda m: f"{name}:{page.count(chr(10), 0, m.start()) + 1}"
        after = TEXT.sub(lambda m: m[1] + self.text(where(m), m[2], m[3]), page)
        return CONSOLE.sub(lambda m: "```console\n" + self.console(where(m), m[1]) + "```", after)


def main():
    update = "--update" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(os.path.abspath(sys.argv[1]), folder)
        for name in pages():
            path = os.path.join(ROOT, name)
            with open(path) as f:
                page = f.read()
            after = commands.page(name, page)
            if update and after != page:
                with open(path, "w") as f:
                    f.write(after)
    if commands.count < 20:
        sys.exit(f"docs/: expected 20 commands or more, found {commands.count}")
    sys.exit("\n".join(commands.wrong) if commands.wrong and not update else 0)


if __name__ == "__main__":
    main()
