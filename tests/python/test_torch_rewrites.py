"""Each rewrite of torch graphs has its condition in words, and is tested on random graphs: 40 on which the condition holds, and 40
on which it is broken (with ZELLIGE_ALL=1; by default, three and one)."""

import ast
import functools
import os
import pathlib

import pytest
import zellige

torch = pytest.importorskip("torch", reason="torch is not installed")
from rewrites import REWRITES, law  # noqa: E402

# files that change graphs without a rewrite of operators
UNCOUNTED = {
    "execute/direct.py": "replaces calls of submodules by their operators",
    "partition/convex.py": "recreates views where they are read",
    "partition/taking.py": "inlines what is not taken",
}
CHANGES = {"replace_all_uses_with", "update_arg", "replace_input_with"}  # methods by which a graph is changed
PACKAGE = pathlib.Path(zellige.__file__).parent / "torch"
ALL = "ZELLIGE_ALL" in os.environ
HOLDING, BROKEN, EMULATED = (40, 40, 3) if ALL else (3, 1, 0)


@pytest.mark.parametrize("rewrite", REWRITES, ids=str)
def test_a_rewrite_whose_condition_holds_is_applied_and_right(rewrite):
    for index in range(HOLDING):
        law.check(rewrite, index)
    for index in range(EMULATED):
        law.check(rewrite, index, emulated=True)


@pytest.mark.parametrize("rewrite", [r for r in REWRITES if r.broken is not None], ids=str)
def test_a_rewrite_whose_condition_is_broken_is_not_applied(rewrite):
    for index in range(BROKEN):
        law.check_broken(rewrite, index)


@functools.cache
def calls():
    """Returns (file, name of a method or function of a module, call) for the calls of such in the package."""
    walked = [(str(path.relative_to(PACKAGE)), call) for path in sorted(PACKAGE.rglob("*.py")) for call in ast.walk(ast.parse(path.read_text()))]
    found = [(file, call) for file, call in walked if isinstance(call, ast.Call) and isinstance(call.func, (ast.Attribute, ast.Name))]
    return [(file, call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id, call) for file, call in found]


def test_each_rewrite_of_the_package_is_in_the_table_once():
    assert sorted({call.args[0].value for _, name, call in calls() if name == "applied"}) == sorted(r.name for r in REWRITES)
    assert all(r.condition and r.holds for r in REWRITES)


def test_each_file_that_changes_graphs_counts_its_rewrites():
    changing = {file for file, name, _ in calls() if name in CHANGES}
    counting = {file for file, name, _ in calls() if name == "applied"}
    assert changing - counting <= UNCOUNTED.keys()
