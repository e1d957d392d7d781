#!/usr/bin/env python3
"""No type of src and include has the name of another one, and each file of src/NAME opens the namespace zellige::NAME.

A type of a class or function is named with it, and is not looked at. What breaks the rule for a reason is in SAME_NAMES and
OTHER_NAMESPACES, with the reason; a row that is needed no more is a mistake, too.
"""
import collections
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import braces  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Names of several types, and why.
SAME_NAMES = {
    "Shape": "CuTe's name of a layout's shape in include, and a tensor's extents in graph, where the field says shape, too",
    "Step": "CuTe's name of a tile's step in include, and a line of a warp role in kernel, as .ir prints it",
    "DescriptorIterator": "CuTe's, in SM90::GMMA and in UMMA",
    "LayoutType": "CuTe's, in SM90::GMMA and in UMMA",
    "Sum": "CUB's name of an addition in include/zellige/cuda, and the reduction of a fragment in block",
    "Max": "CUB's name of a maximum in include/zellige/cuda, and the reduction of a fragment in block",
    "Mma": "CuTe's SM90::GMMA::Mma in include, and the step of that name in kernel, as .ir prints it",
}
# Namespaces beside that of the folder, by file, and why.
_TABLE = "the table of all rules declares each in the namespace that defines it"
OTHER_NAMESPACES = {
    ("src/graph/error.hpp", "zellige"): "Error and fail() are everybody's",
    ("src/strings/nearest.hpp", "zellige"): "the name nearest to a misspelled one is everybody's",
    ("src/ir/words.hpp", "zellige::kernel"): "name() of types of kernel, which only .ir names, is found by their namespace",
    **{("src/rules/table.hpp", f"zellige::{space}"): _TABLE for space in ("candidate", "emit", "rewrite", "target", "tile")},
}


def opened(text):
    """Returns what a source defines in namespaces: (namespaces of its own, types)."""
    spaces, types = [], []
    for b in braces.blocks(text):
        if b.kind == "namespace" and not b.around and b.name:
            spaces.append(b.name)
        if b.kind == "class" and set(b.around) <= {"namespace"} and not re.search("[:<]", b.name):
            types.append(b.name)
        if b.kind == "alias" and set(b.around) <= {"namespace"}:
            name, of = b.name.split(" = ", 1)
            if not re.search(rf"\b{name}$", of):  # an alias of the same name is the same type
                types.append(name)
    return spaces, types


def sources(root):
    for folder in ("src", "include"):
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in (".cpp", ".hpp"))


def mistakes(root, same=None, other=None):
    """Returns what breaks the rules, one sentence each."""
    same, other = SAME_NAMES if same is None else same, OTHER_NAMESPACES if other is None else other
    found, types, used = [], collections.defaultdict(set), set()
    for path in sources(root):
        name = path.relative_to(root)
        spaces, defined = opened(path.read_text())
        for type_name in defined:
            if type_name[0].isupper():
                types[type_name].add(str(name))
        if name.parts[0] != "src" or len(name.parts) != 3:
            continue
        for space in sorted(set(spaces)):
            if space != f"zellige::{name.parts[1]}" and not space.startswith(f"zellige::{name.parts[1]}::"):
                used.add((str(name), space))
                if (str(name), space) not in other:
                    found.append(f"{name}: expected namespace zellige::{name.parts[1]}, found {space}")
    for type_name, files in sorted(types.items()):
        if len(files) > 1 and type_name not in same:
            found.append(f"{type_name} is a type in each of {', '.join(sorted(files))}")
    found += [f"{name} is listed, and is no name of several types" for name in same if len(types[name]) < 2]
    found += [f"{file}: {space} is listed, and is not there" for file, space in other if (file, space) not in used]
    return found


class Names(unittest.TestCase):
    def test_of_this_tree(self):
        self.assertEqual(mistakes(ROOT), [])

    def test_what_breaks_a_rule_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {
                "src/cost/a.hpp": "namespace zellige::cost {\n// struct Comment {};\nstruct Cut { struct Inner {}; };\nstruct Later;\n"
                                  'const char* text = "struct Quoted {";\nusing Kind = Cut::Kind;\n}\n',
                "src/tile/b.cpp": "namespace zellige::tile {\nnamespace {\nenum class Cut : int { a };\nclass Kind { class Inner {}; };\n}\n}\n",
                "src/tile/c.cpp": "namespace zellige::plan {\nvoid f() { struct Later {}; }\n}\n",
                "include/zellige/d.hpp": "namespace zellige {\ntemplate <class T>\nstruct Later final : T {};\n}\n",
            }.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            self.assertEqual(mistakes(root, {"Gone": "no reason"}, {("src/tile/b.cpp", "zellige"): "no reason"}), [
                "src/tile/c.cpp: expected namespace zellige::tile, found zellige::plan",
                "Cut is a type in each of src/cost/a.hpp, src/tile/b.cpp",
                "Gone is listed, and is no name of several types",
                "src/tile/b.cpp: zellige is listed, and is not there"])
            self.assertEqual(mistakes(root, {"Cut": "a reason"}, {("src/tile/c.cpp", "zellige::plan"): "a reason"}), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
