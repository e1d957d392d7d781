#!/usr/bin/env python3
"""The test suite fails on an unlisted skip, a filter that matches no test, and hazards in numbers ending in 0."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/mutants"))
sys.path.insert(0, str(ROOT / "tests/gpu"))
sys.path.insert(0, str(HERE))
import hardware_table  # noqa: E402
import mutants  # noqa: E402
import sampled  # noqa: E402
import sites  # noqa: E402

REPORT = """<testsuites><testsuite name="S"><testcase name="Runs" classname="S" status="run" result="completed"/>{}</testsuite></testsuites>"""
SKIPPED = """<testcase name="{}" classname="S" status="run" result="skipped"><skipped message="/x/y_test.cpp:7&#x0A;{}"/></testcase>"""


class Folder(unittest.TestCase):
    def setUp(self):
        own = tempfile.TemporaryDirectory()
        self.addCleanup(own.cleanup)
        self.work = pathlib.Path(own.name)

    def write(self, name, text, mode=0o644):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def run_in(self, *command, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("ZELLIGE_", "GTEST_", "CTEST_", "CI"))}
        return subprocess.run([str(c) for c in command], cwd=self.work, env=clean | environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)


class Skips(Folder):
    def count(self, listed, *skips):
        self.write("reports/test_s.xml", REPORT.format("".join(SKIPPED.format(*s) for s in skips)))
        return self.run_in(sys.executable, HERE / "skips.py", "reports", "--list", self.write("list.txt", listed))

    def test_a_listed_skip_passes(self):
        done = self.count("always | 1 | test_s: S.A | no oracle\n", ("A", "there is no oracle here"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 of at most 1 skipped always: test_s: S.A: no oracle\n", done.stdout)
        self.assertIn("skips: 1 tests ran, 1 were skipped in 1 reports; list.txt allows 1 here", done.stdout)

    def test_an_unlisted_skip_fails(self):
        done = self.count("always | 1 | test_s: S.A | no oracle\n", ("A", "no oracle"), ("Injected", "no oracle"))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("1 skipped, NOT LISTED: test_s: S.Injected: no oracle\n", done.stdout)

    def test_another_reason_fails(self):
        done = self.count("always | 1 | test_s: S.A | no oracle\n", ("A", "it is late"))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("NOT LISTED: test_s: S.A: it is late", done.stdout)

    def test_one_more_than_listed_fails(self):
        done = self.count("always | 1 | test_s: S.* | no oracle\n", ("A", "no oracle"), ("B", "no oracle"))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("2 of at most 1 skipped always: test_s: S.*: no oracle  TOO MANY", done.stdout)

    def test_what_the_machine_has_excuses_nothing(self):
        # A copy, next to which there is a folder shared or none.
        skip = ("A", "lora.json is not here")
        for name in ("skips.py",):
            self.write(f"main/tests/suite/{name}", (HERE / name).read_text())
        self.write("reports/test_s.xml", REPORT.format(SKIPPED.format(*skip)))
        listed = self.write("list.txt", "without shared | 1 | test_s: S.A | is not here\n")
        command = sys.executable, "main/tests/suite/skips.py", "reports", "--list", listed
        without = self.run_in(*command)
        self.assertEqual(without.returncode, 0, without.stdout)
        self.assertIn("this machine has no shared, for want of which 1 tests were skipped", without.stdout)
        for folder in ("mugraphs", "conformance"):
            (self.work / "shared" / folder).mkdir(parents=True)
        there = self.run_in(*command)
        self.assertEqual(there.returncode, 1, there.stdout)
        self.assertIn("NOT LISTED: test_s: S.A", there.stdout)

    def test_reports_of_several_runs_are_added(self):
        for run in ("7", "8"):
            self.write(f"reports/python.{run}.xml", REPORT.format(SKIPPED.format("A", "no oracle")))
        listed = self.write("list.txt", "always | 1 | python: S.A | no oracle\n")
        done = self.run_in(sys.executable, HERE / "skips.py", "reports", "--list", listed)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("2 of at most 1 skipped always: python: S.A: no oracle  TOO MANY", done.stdout)

    def test_a_bad_list_is_refused(self):
        for line, message in (("always | S.A | reason", "list.txt:1: expected WHEN | AT MOST | TEST | REASON, found: always | S.A | reason"),
                           ("at night | 1 | S.A | reason", "found: 'at night'")):
            done = self.count(line + "\n")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(message, done.stdout)

    def test_no_test_at_all_fails(self):
        (self.work / "reports").mkdir()
        done = self.run_in(sys.executable, HERE / "skips.py", "reports")
        self.assertEqual((done.returncode, done.stdout), (1, "skips: reports has 0 reports and no test in them\n"))

    def test_the_list_can_be_read(self):
        self.write("reports/test_s.xml", REPORT.format(""))
        done = self.run_in(sys.executable, HERE / "skips.py", "reports")
        self.assertEqual(done.returncode, 0, done.stdout)


    def test_no_clang_tidy_is_a_skip(self):
        self.write("main/tests/suite/tidy.py", (HERE / "tidy.py").read_text())
        done = self.run_in(sys.executable, "main/tests/suite/tidy.py", "--report", "reports/tidy.xml", PATH=f"{self.work}")
        self.assertEqual((done.returncode, done.stdout), (0, "tidy: SKIPPED: clang-tidy 14 is not here\n"))
        counted = self.run_in(sys.executable, HERE / "skips.py", "reports")
        self.assertEqual(counted.returncode, 1, counted.stdout)
        self.assertIn("NOT LISTED: tidy: clang-tidy.changed: clang-tidy 14 is not here\n", counted.stdout)


class SampleOfPytest(unittest.TestCase):
    def taken(self, tests, of):
        left = set(sampled.omitted(tests, of))
        return [i for i in range(len(tests)) if i not in left]

    def test_each_test_has_a_case_and_as_many_tests_as_of_have_all(self):
        for of in range(2, 6):
            for cases in range(1, 20):
                tests = [t for t in range(of) for _ in range(cases)]
                taken = self.taken(tests, of)
                self.assertEqual({i // cases for i in taken}, set(range(of)))
                self.assertEqual({i % cases for i in taken}, set(range(cases)))

    def test_a_parameter_that_changes_fastest_keeps_no_value(self):
        self.assertEqual(self.taken(["a"] * 9, 3), [0, 4, 8])

    def test_a_test_of_fewer_cases_is_taken_whole(self):
        self.assertEqual(self.taken(["a"] * 2 + ["b"] * 3, 3), [0, 1, 3])

    def test_rows_of_other_programs_are_no_modules(self):
        text = "# a comment\n\ntest_a | DTypes/Suite | 3\npython | test_b | 4\n"
        self.assertEqual(sampled.modules(text), {"test_b": 4})

    def test_every_module_of_the_list_is_there(self):
        modules = sampled.modules(sampled.LIST.read_text())
        self.assertTrue(modules)
        for module in modules:
            self.assertTrue((ROOT / f"tests/python/{module}.py").exists(), module)


class TestScript(Folder):
    """test.sh on an existing build: two tests, one of which skips."""

    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "test.sh", self.work / "test.sh")
        for name in ("skips.py", "requirements.txt", "tools.txt"):
            self.write(f"tests/suite/{name}", (HERE / name).read_text())
        self.write("tests/suite/skips.txt", "")
        self.write("setup.sh", "#!/bin/sh\n", 0o755)
        self.write("tools/cmake", "#!/bin/sh\n", 0o755)
        for folder, listed in (("python-venv", "requirements.txt"), ("tools", "tools.txt")):
            self.write(f"build/{folder}/installed.txt", (HERE / listed).read_text())
        self.write("build/CTestTestfile.cmake", """add_test(runs "true")
add_test(late "sh" "-c" "echo skipped: it is late; exit 77")
set_tests_properties(late PROPERTIES SKIP_RETURN_CODE 77)
""")

    def run_test_sh(self, *arguments):
        return self.run_in("bash", "test.sh", *arguments, PATH=f"{self.work}/tools:{os.environ['PATH']}")

    def test_a_filter_that_matches_passes(self):
        done = self.run_test_sh("-R", "^runs$")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"test.sh: the parts\n(.* min  .*\n)+ +\d+\.\d min  together\n$")

    def test_a_filter_that_matches_nothing_fails(self):
        done = self.run_test_sh("-R", "typo")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("No tests were found", done.stdout)
        self.assertIn("test.sh: failed: tests\n", done.stdout)

    def test_an_injected_skip_fails(self):
        done = self.run_test_sh("-R", "late")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("NOT LISTED: ctest: late: it is late\n", done.stdout)
        self.assertIn("test.sh: failed: skips\n", done.stdout)


class Sanitizer(Folder):
    def verdict(self, printed, status=0):
        self.write("tools/compute-sanitizer", f"#!/bin/sh\necho '========= {printed}'\nexit {status}\n", 0o755)
        return self.run_in("bash", "-c", f". {ROOT}/tests/gpu/sanitize.sh; sanitize racecheck lora run",
                           PATH=f"{self.work}/tools:{os.environ['PATH']}").returncode

    def test_only_0_is_clean(self):
        self.assertEqual(self.verdict("RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"), 0)
        self.assertEqual(self.verdict("ERROR SUMMARY: 0 errors"), 0)
        for printed in ("RACECHECK SUMMARY: 10 hazards displayed (0 errors, 10 warnings)", "ERROR SUMMARY: 10 errors",
                        "ERROR SUMMARY: 1 error", "no summary", "ERROR SUMMARY: 0 errors ERROR SUMMARY: 2 errors"):
            self.assertNotEqual(self.verdict(printed), 0, printed)

    def test_a_command_that_fails_is_not_clean(self):
        self.assertNotEqual(self.verdict("ERROR SUMMARY: 0 errors", status=1), 0)


class Verdicts(unittest.TestCase):
    def test_are_kept_where_only_the_emulators_branches_change(self):
        text = "a\n#if defined(ZELLIGE_EMULATE)\n  {}\n#  if X\n  e\n#  else\n  e\n#  endif\n#elif Y\nb\n#else\nc\n#endif\n" \
               "# if !defined(ZELLIGE_EMULATE)\nd\n#else\n  {}\n#endif\n#if Z\nf\n#else\ng\n#endif\n"
        kept = hardware_table.compiled(text.format("e", "e"))
        self.assertEqual([line for line in kept.splitlines() if "#" not in line], list("abcdfg"))
        self.assertEqual(kept, hardware_table.compiled(text.format("other", "words")))
        self.assertNotEqual(kept, hardware_table.compiled(text.format("e", "e").replace("\nb\n", "\nB\n")))


class Mutants(unittest.TestCase):
    def test_excuses_are_keyed_by_the_mutated_text(self):
        def one(number, line, source):
            return sites.Mutant(number, "delete", "block/ring.hpp", line, "without wait(s)", source)

        ms = [one(1, 10, "wait(s);"), one(2, 20, "wait(s);"), one(3, 30, "if (x) wait(s);")]
        keys = mutants.keys_of(ms)
        first = "ring.hpp delete: without wait(s)  [wait(s);]"
        self.assertEqual([keys[1], keys[2]], [first, first + " #2"])
        excused = mutants.excuses(f"it waits twice\n  norm | {first}\n")
        self.assertEqual(excused["norm"], {first: 2})
        verdicts = [(m, what, "", "") for m, what in zip(ms, ("nothing", "nothing", "found"))]
        row, survivors, found = mutants.count(verdicts, {1})
        self.assertEqual((row["harmless"], survivors, found), (1, [ms[1]], []))
        self.assertEqual(mutants.count(verdicts, {3})[2], [ms[2]], "excused, and yet found")

    def test_no_excuse_without_a_reason_or_a_kernel(self):
        for text in ("  norm | ring.hpp delete: x\n", "why\n  ring.hpp delete: x\n", "why\n  norm | a\n  norm | a\n"):
            with self.assertRaises(SystemExit):
                mutants.excuses(text)


if __name__ == "__main__":
    unittest.main()
