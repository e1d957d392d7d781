"""The sample of pytest's parameterized tests that the default run takes: the rows of tests/suite/sampled.txt for `python`."""
import collections
import pathlib

LIST = pathlib.Path(__file__).resolve().parent / "sampled.txt"


def modules(text, program="python"):
    """Returns {module: OF} for the program's rows. A row is `PROGRAM | MODULE | OF`."""
    rows = [[word.strip() for word in line.split("|")] for line in text.splitlines() if line and not line.startswith("#")]
    return {module: int(of) for owner, module, of in rows if owner == program}


def omitted(tests, of):
    """Returns the indices of the cases that the sample omits. `tests`: the test of each case, a test's cases in succession.

    Of every `of` cases of a test in succession one is taken. Its place moves by one from each `of` cases to the next, so that a
    parameter that changes fastest does not keep its value, and from test to test. A test with fewer than `of` cases is taken whole.
    """
    count, number, seen, left = collections.Counter(tests), {}, collections.Counter(), []
    for index, test in enumerate(tests):
        first, case = number.setdefault(test, len(number)), seen[test]
        seen[test] += 1
        if count[test] >= of and case % of != (first + case // of) % of:
            left.append(index)
    return left
