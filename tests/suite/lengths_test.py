#!/usr/bin/env python3
"""In src, no file has over 500 lines and no folder over 40 files but those of CROWDED, no class has over 200 lines or is defined in several .cpp, and no function
has over 60; what may is listed with the reason.

A function's lines are those from its first to its last brace; a class's are those of its definition. A row of LONG that is
needed no more is a mistake, too.
"""
import collections
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import braces  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES, FILE, CLASS, FUNCTION = 40, 500, 200, 60
# Folders with more files, how many at most, and why.
CROWDED = {
}
# What is longer, and why: (file, name).
LONG = {
}
# Classes whose members are defined in several .cpp, and why.
SEVERAL = {
}


def mistakes(root, long=None, several=None):
    """Returns what is too long or in too many files, one sentence each."""
    long, several = LONG if long is None else long, SEVERAL if several is None else several
    found, used, files = [], set(), collections.defaultdict(set)
    sources = sorted(p for p in (root / "src").rglob("*") if p.suffix in (".cpp", ".hpp"))
    for folder, count in collections.Counter(p.parent.relative_to(root) for p in sources).items():
        limit = CROWDED.get(str(folder), (FILES,))[0]
        if count > limit:
            found.append(f"{folder} has {count} files, at most {limit} are expected")
    for path in sources:
        file, text = str(path.relative_to(root)), path.read_text()
        if (lines := text.count("\n")) > FILE:
            found.append(f"{file} has {lines} lines, at most {FILE} are expected")
        for kind, name, first, last, _ in braces.blocks(text):
            if kind not in ("class", "function"):
                continue
            if kind == "function" and "::" in name and path.suffix == ".cpp":
                files[name.rsplit("::", 1)[0]].add(file)
            limit = CLASS if kind == "class" else FUNCTION
            if last - first + 1 > limit:
                used.add((file, name))
                if (file, name) not in long:
                    found.append(f"{file}:{first}: {kind} {name} has {last - first + 1} lines, at most {limit} are expected")
    for name, where in sorted(files.items()):
        if len(where) > 1 and name not in several:
            found.append(f"{name} has members in each of {', '.join(sorted(where))}")
    found += [f"{file}: {name} is listed, and is not too long" for file, name in long if (file, name) not in used]
    return found + [f"{name} is listed, and is in one file" for name in several if len(files[name]) < 2]


class Lengths(unittest.TestCase):
    def test_of_this_tree(self):
        self.assertEqual(mistakes(ROOT), [])

    def test_what_is_too_long_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src/cost").mkdir(parents=True)
            filler = "  int x = 0;\n"
            (root / "src/cost/a.hpp").write_text(
                "namespace zellige::cost {\nclass Long {\n  Long() : x_{1} {}\n" + filler * 198 + "};\n"
                "// { a comment\nint long_one(int a,\n             int b) {\n" + filler * 59 + "  if (a) { return b; }\n}\n"
                "int fits() {\n" + filler * 58 + "}\n}\n")
            (root / "src/cost/fits.hpp").write_text("namespace zellige::cost {\nclass Fits {\n" + filler * 198 + "};\n}\n" + "\n" * 298)
            (root / "src/cost/long.hpp").write_text("\n" * 501)
            self.assertEqual(mistakes(root, {("src/cost/a.hpp", "gone"): "no reason"}, {}), [
                "src/cost/a.hpp:2: class Long has 201 lines, at most 200 are expected",
                "src/cost/a.hpp:205: function long_one has 62 lines, at most 60 are expected",
                "src/cost/long.hpp has 501 lines, at most 500 are expected",
                "src/cost/a.hpp: gone is listed, and is not too long"])
            (root / "src/cost/long.hpp").unlink()
            long = {("src/cost/a.hpp", "Long"): "a table", ("src/cost/a.hpp", "long_one"): "a switch"}
            self.assertEqual(mistakes(root, long, {}), [])
            for file in ("b", "c"):
                (root / f"src/cost/{file}.cpp").write_text(f"namespace zellige::cost {{\nint Parted::{file}() {{ return 1; }}\n}}\n")
            self.assertEqual(mistakes(root, long, {"Whole": "no reason"}), [
                "Parted has members in each of src/cost/b.cpp, src/cost/c.cpp", "Whole is listed, and is in one file"])
            self.assertEqual(mistakes(root, long, {"Parted": "a reason"}), [])
            for number in range(37):
                (root / f"src/cost/n{number}.hpp").write_text("")
            self.assertEqual(mistakes(root, long, {"Parted": "a reason"}), ["src/cost has 41 files, at most 40 are expected"])


if __name__ == "__main__":
    sys.exit(unittest.main())
