#!/usr/bin/env python3
"""What cuts.py must find: TileView::cuts and Cut outside of src/tile and src/lower; and what it must leave alone."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cuts  # noqa: E402


class Cuts(unittest.TestCase):
    def lines(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return [int(error.split(":")[1]) for error in cuts.errors(pathlib.Path(folder))]

    def test_a_reader_of_fields_is_found(self):
        for line in ("x = n.view.cuts[d].offset;", "for (auto& c : view->cuts) {", "std::ranges::any_of(all, &TileView::cuts);", "tile::Cut c;"):
            self.assertEqual(self.lines("src/emit/a.cpp", "\n" + line), [2], line)

    def test_the_type_is_found(self):
        self.assertEqual(self.lines("src/selection/a.hpp", "namespace zellige::selection {\nvoid f(const tile::Cut&);\n}"), [2])

    def test_other_structs_and_comments_are_not(self):
        self.assertEqual(self.lines("src/candidate/a.hpp", "namespace zellige::candidate {\nGridCut cut();\nbool cuts(OpKind);\n}"), [])
        self.assertEqual(self.lines("src/plan/a.cpp", "namespace zellige::plan {\n// reads a Cut\n}"), [])

    def test_tile_and_lower_may(self):
        for folder in ("tile", "lower"):
            self.assertEqual(self.lines(f"src/{folder}/a.cpp", "namespace zellige::plan {\nCut c = v.cuts[0];\n}"), [])

    def test_what_is_gone_does_not_come_back(self):
        for line in ("struct Place {", "  struct Order {", "std::int64_t stage_stride = 0;", "kernel.loop_begin();"):
            self.assertEqual(self.lines("src/plan/a.hpp", line), [1], line)
            self.assertEqual(self.lines("src/emulate/a.hpp", line), [], line)
        self.assertEqual(self.lines("src/plan/a.hpp", "struct Places {\nvoid declare_loop_beginning();"), [])

    def test_a_number_stands_in_few_places(self):
        text = "namespace zellige::kernel {\ntile::SymbolicNumber rows;  // a SymbolicNumber\n}"
        self.assertEqual(self.lines("src/kernel/a.hpp", text), [2])
        for name in ("src/tile/a.hpp", "src/lower/a.cpp", "src/ir/a.cpp", "src/verify/coverage.cpp"):
            self.assertEqual(self.lines(name, text), [], name)


if __name__ == "__main__":
    unittest.main()
