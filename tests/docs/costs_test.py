#!/usr/bin/env python3
"""What costs.py must find: numbers of the cost model outside of src/target/costs.hpp; and what it must leave alone."""
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import costs  # noqa: E402


class Costs(unittest.TestCase):
    def errors(self, name, text):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(costs, "ALLOWED", {("src/cost/a.cpp", "1e-3"): "a unit"}):
            headers = [(header, (costs.ROOT / header).read_text()) for header in (costs.COSTS, costs.PAYS)]
            for path, content in (*headers, ("src/cost/a.cpp", "x * 1e-3;"), (name, text)):
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content)
            return list(costs.errors(pathlib.Path(folder)))

    def test_a_number_with_a_fraction_is_found(self):
        for line in ("x = 0.65 + y;", "return 1.3 * x;", "constexpr double slow = 100;", "x < 1e6"):
            self.assertEqual([e.split(": ")[0] for e in self.errors("src/selection/b.cpp", "\n" + line)], ["src/selection/b.cpp:2"], line)

    def test_a_constant_of_the_same_name_is_found_everywhere(self):
        for line in ("constexpr std::int64_t bytes_in_flight = 1;", "constexpr double few_stages = 5, stalled = 1;", "constexpr double gpu_bound = 2;"):
            self.assertEqual(len(self.errors("src/emit/b.cpp", line)), 1, line)

    def test_whole_numbers_comments_and_other_folders_are_not(self):
        for line in ("std::max(1.0, x / 4.0);", "// 0.3 of it", 'fmt::print("{:.1f} 0.5", x);', "double least_share = 0;"):
            self.assertEqual(self.errors("src/plan/b.cpp", line), [], line)
        self.assertEqual(self.errors("src/number/b.cpp", "x = 0.65;"), [])

    def test_a_comparison_of_times_is_found_in_torchs_backend(self):
        for line in ("if a.gpu < 0.9 * b.gpu:", "return CLEARLY * x >= made.price", "min(a, b) > cost.total()"):
            self.assertEqual(len(self.errors("python/zellige/torch/a.py", line)), 1, line)
        for line in ("def of(a) -> Cost:  # a.gpu < b.gpu", "a.gpu + b.gpu", "def gpu(cost) -> float: return cost.gpu"):
            self.assertEqual(self.errors("python/zellige/torch/a.py", line), [], line)

    def test_what_is_allowed_must_be_there(self):
        self.assertEqual(len(self.errors("src/cost/a.cpp", "x;")), 1)


if __name__ == "__main__":
    unittest.main()
