#!/usr/bin/env python3
"""What laws.py must find: a case of OpKind outside of the folders of graphs, lowering and equality; and what it must leave alone."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import laws  # noqa: E402


class Laws(unittest.TestCase):
    def files(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return [error.split(":")[0] for error in laws.errors(pathlib.Path(folder))]

    def test_a_case_is_found_in_every_spelling(self):
        for line in ("case OpKind::exp:", "    case graph::OpKind::exp: return 1;", "case zellige::graph::OpKind::add:", "using enum OpKind;"):
            self.assertEqual(self.files("src/emit/a.cpp", line), ["src/emit/a.cpp"], line)

    def test_graph_lowering_equality_comments_and_other_enums_are_not(self):
        for folder in ("graph", "lower", "search"):
            self.assertEqual(self.files(f"src/{folder}/a.cpp", "case OpKind::exp:"), [])
        for line in ("// case OpKind::exp:", "case NodeKind::matmul:", "if (kind == OpKind::exp)"):
            self.assertEqual(self.files("src/emit/a.cpp", line), [], line)

    def test_tables_and_chains_are_found_and_patterns_of_rules_are_not(self):
        chain = "return kind == OpKind::exp || kind == OpKind::log || kind == graph::OpKind::sin;"
        for line in (chain, "constexpr std::pair<OpKind, int> table[] = {{OpKind::exp, 1}};", "std::map<graph::OpKind, int> laws;"):
            self.assertEqual(self.files("src/emit/a.cpp", line), ["src/emit/a.cpp"], line)
        self.assertEqual(self.files("src/rewrite/a.cpp", chain), [])
        self.assertEqual(self.files("src/emit/a.cpp", "return kind == OpKind::exp || kind == OpKind::log; kind == OpKind::sin;"), [])

    def test_what_is_allowed_and_not_there_is_found(self):
        self.assertEqual(self.files("src/reference/cut.cpp", "case OpKind::permute:"), ["tests/docs/laws.py"])

    def test_a_file_may_have_as_many_as_are_named(self):
        four = "case OpKind::permute:\ncase OpKind::expand:\ncase OpKind::slice:\ncase OpKind::unfold:\n"
        self.assertEqual(self.files("src/reference/cut.cpp", four), [])
        self.assertEqual(self.files("src/reference/cut.cpp", four + "case OpKind::exp:"), ["src/reference/cut.cpp"])


if __name__ == "__main__":
    unittest.main()
