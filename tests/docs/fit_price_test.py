#!/usr/bin/env python3
"""bench/fit_price.py computes the time of each kernel as the planner does: for the examples, and for lines of the measured tiles.

  tests/docs/fit_price_test.py ZELLIGE
"""
import contextlib, io, json, pathlib, subprocess, sys, tempfile, unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import fit_price  # noqa: E402

ZELLIGE = str(ROOT / "build/zellige")


class FitPrice(unittest.TestCase):
    def manifest(self, file):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([ZELLIGE, "transpile", file, "--target", "sm_90a", "-o", folder], capture_output=True, text=True, check=True)
            return json.loads(pathlib.Path(done.stdout.split("\n")[1]).read_text())

    def test_examples_have_the_time_of_their_manifest(self):
        for file in sorted((ROOT / "examples").glob("*.json")):
            self.assertGreater(len(fit_price.checked(self.manifest(file))["kernels"]), 0, file)

    def test_tiles_on_warps_and_warpgroups_have_the_time_of_their_manifest(self):
        lines = [json.loads(line) for line in (ROOT / "bench/results/tiles_h100.jsonl").read_text().splitlines()]
        matmuls = [p for p in lines if p.get("product") in ("llama_1b_o_512", "f32_8") and p["run"] == 2]
        rows = fit_price.timed_tiles(ZELLIGE, matmuls)
        self.assertEqual(len(rows), 2)
        features = [k for _, _, found in rows for kernels, _, _ in found for k in kernels]
        self.assertEqual({k["warp_specialized"] for k in features}, {False, True})
        with contextlib.redirect_stdout(io.StringIO()) as out:
            fit_price.table_of_tiles(fit_price.constants(), rows)
        self.assertIn("| llama | 1 |", out.getvalue())

    def test_another_constant_is_noticed_with_the_kernel_and_both_times(self):
        manifest = self.manifest(ROOT / "examples/gemm.json")
        other = dict(fit_price.constants(), load=2000.0)
        with mock.patch.object(fit_price, "constants", lambda: other), self.assertRaises(SystemExit) as stopped:
            fit_price.checked(manifest)
        kernel = manifest["kernels"][0]
        for text in (kernel["name"], f"{kernel['price']['us']:.4f}", f"{fit_price.settle(other, kernel['price']):.4f}"):
            self.assertIn(text, str(stopped.exception))


if __name__ == "__main__":
    ZELLIGE = sys.argv.pop(1) if len(sys.argv) > 1 else ZELLIGE
    unittest.main()
