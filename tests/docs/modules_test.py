#!/usr/bin/env python3
"""What modules.py must refuse: an include that the table does not list, a row that lists a folder below it, a folder without a row."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import modules  # noqa: E402

TABLE = """
| folder | purpose | includes |
|---|---|---|
| `include/zellige/layout/` | layouts | |
| `src/graph/` | graphs | layout |
| `src/plan/` | plans | graph |
"""


class Modules(unittest.TestCase):
    def check(self, expected, table=TABLE, **files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            written = {"docs/explanation/architecture.md": table, "include/zellige/layout/a.hpp": "", "src/graph/a.hpp": "", "src/plan/a.hpp": "",
                       **{name.replace("__", "/") + ".hpp": text for name, text in files.items()}}
            for name, text in written.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            self.assertEqual(list(modules.errors(root)), expected)

    def test_what_the_table_lists_passes(self):
        self.check([], src__plan__b='#include "graph/a.hpp"\n#include <zellige/layout/a.hpp>\n#include <vector>\n')

    def test_an_include_of_a_folder_below_fails(self):
        self.check(["src/graph/b.hpp:2: src/graph includes src/plan/a.hpp; by docs/explanation/architecture.md it may include include/zellige/layout"],
                   src__graph__b='// see plan/a.hpp\n#include "plan/a.hpp"\n')

    def test_an_include_where_nothing_is_listed_fails(self):
        self.check(["include/zellige/layout/b.hpp:1: include/zellige/layout includes src/graph/a.hpp; "
                    "by docs/explanation/architecture.md it may include nothing"], include__zellige__layout__b='#include <graph/a.hpp>\n')

    def test_a_row_that_lists_a_folder_below_it_fails(self):
        self.check(["docs/explanation/architecture.md: src/graph lists plan, which is no folder of a row above it"],
                   TABLE.replace("graphs | layout", "graphs | layout, plan"))

    def test_a_folder_without_a_row_fails(self):
        self.check(["src/new has no row in docs/explanation/architecture.md"], src__new__a="")


if __name__ == "__main__":
    unittest.main()
