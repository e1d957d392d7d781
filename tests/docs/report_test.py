#!/usr/bin/env python3
"""bench/report.py --check, links.py and limits.py notice what is injected: a number that the samples do not give, one typed in, samples of nowhere, a dead link, long prose."""
import json, os, shutil, subprocess, sys, tempfile, unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


class InjectedFaults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        for name in ("bench", "docs"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(self.folder, name))
        shutil.copy(os.path.join(ROOT, "README.md"), self.folder)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def check(self):
        done = subprocess.run([sys.executable, os.path.join(self.folder, "bench", "report.py"), "--check"], capture_output=True, text=True)
        return done.returncode, done.stderr.strip()

    def edit(self, name, old, new):
        path = os.path.join(self.folder, name)
        with open(path) as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, "w") as f:
            f.write(text.replace(old, new, 1))

    def test_the_pages_follow_from_the_samples(self):
        self.assertEqual(self.check(), (0, ""))

    def test_an_edited_table_is_noticed(self):
        self.edit("docs/performance/tables-h200.md", "geometric mean 1", "geometric mean 2")
        self.assertEqual(self.check(), (1, "docs/performance/tables-h200.md does not follow from bench/results: run bench/report.py"))

    def test_a_number_typed_into_prose_is_noticed(self):
        self.edit("README.md", "## Install", "Products run at 1.47 of cuBLAS.\n\n## Install")
        status, message = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(message, r"^README.md:\d+: the number `1.47` is typed in; let bench/tables.py write it from bench/results, or leave it out$")

    def test_other_samples_make_other_pages(self):
        path = os.path.join(self.folder, "bench", "results", "layers_h200.json")
        with open(path) as f:
            raw = json.load(f)
        row = raw["workloads"]["llama_decode"]["microseconds"]
        row["emitted"] = [2 * us for us in row["emitted"]]
        with open(path, "w") as f:
            json.dump(raw, f)
        self.assertEqual(self.check(), (1, "README.md does not follow from bench/results: run bench/report.py\n"
                                           "docs/tutorials/torch-compile.md does not follow from bench/results: run bench/report.py\n"
                                           "docs/performance/index.md does not follow from bench/results: run bench/report.py\n"
                                           "docs/performance/tables-h200.md does not follow from bench/results: run bench/report.py\n"
                                           "docs/pictures/layers_h200.svg does not follow from bench/results: run bench/report.py"))

    def test_samples_that_do_not_say_where_they_come_from_are_refused(self):
        path = os.path.join(self.folder, "bench", "results", "products_h200.json")
        with open(path) as f:
            raw = json.load(f)
        del raw["commit"], raw["clocks"]
        with open(path, "w") as f:
            json.dump(raw, f)
        self.assertEqual(self.check(), (1, "bench/results/products_h200.json: commit, clocks missing: measure again with the bench that wrote it"))

    def test_dead_links_are_noticed(self):
        page = os.path.join(self.folder, "page.md")
        with open(page, "w") as f:
            f.write("# One\n[here](#one) [there](docs/nowhere.md)\n\n[not](#two) `[code](#x)`\n")
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "docs", "links.py"), page], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        where = os.path.relpath(page, ROOT)
        self.assertEqual(done.stdout.splitlines(), [f"{where}:2: `docs/nowhere.md` names a file that is not there", f"{where}:4: `#two` names no heading of {where}"])

    def test_pages_that_are_too_long_are_noticed(self):
        page = os.path.join(self.folder, "page.md")
        words = lambda n: " ".join(["Word"] * n)
        with open(page, "w") as f:
            f.write(f"# Title\n\n{words(36)}.\n\n" + "\n".join(f"{words(24)}." for _ in range(6)) + f"\n\n{'w' * 401}\n" + "\n" * 250 + "end\n"
                    f"<!-- made -->\n{words(500)}\n<!-- end -->\n```\n{words(500)}\n```\n")
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "docs", "limits.py"), page], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        where = os.path.relpath(page, ROOT)
        self.assertEqual([line.partition(": `")[0] for line in done.stdout.splitlines()],
                         [f"{where}: 267 lines, at most 250: split the page", f"{where}:12: a line of 401 characters, at most 400",
                          f"{where}:3: a sentence of 36 words, at most 35", f"{where}:5: a paragraph of 144 words, at most 120"])


if __name__ == "__main__":
    unittest.main()
