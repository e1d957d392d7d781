"""Each rewrite of torch graphs has its condition in words, and is tested on random graphs: 40 on which the condition holds, and 40
on which it is broken (with ZELLIGE_ALL=1; by default, three and one)."""

import ast
import functools
import operator
import os
import pathlib

import pytest
import zellige

torch = pytest.importorskip("torch", reason="torch is not installed")
from rewrites import REWRITES, law  # noqa: E402
from zellige.torch.applications import uncounted  # noqa: E402
from zellige.torch.rewrites.rule import ROUNDS, Level, Rewrite, Work, settle  # noqa: E402
from zellige.torch.rewrites.table import TABLE  # noqa: E402

# files that change graphs, and have no rewrites of their own
UNCOUNTED = {
    "execute/collectives.py": "takes collectives into the parts that read their results",
    "execute/direct.py": "replaces calls of submodules by their operators",
    "partition/convex.py": "recreates views where they are read",
    "partition/taking.py": "inlines what is not taken",
    "rewrites/expanded.py": "replaces nodes for the rows of expansions, and puts them back",
    "rewrites/rule.py": "replaces nodes for the rows",
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


def test_each_row_of_the_table_is_tested_and_counted_once():
    names = [row.name for row in TABLE]
    assert sorted(names) == sorted({*names}) == sorted(r.name for r in REWRITES)
    assert all(row.condition for row in TABLE) and all(r.holds for r in REWRITES)
    literal = {call.args[0].value for _, name, call in calls() if name == "applied" and isinstance(call.args[0], ast.Constant)}
    assert sorted(literal) == sorted(row.name for row in TABLE if row.function is None)
    assert all(row.targets for row in TABLE if row.function is not None)


def test_the_levels_are_in_their_order():
    levels = [row.level for row in TABLE if row.function is not None]
    assert levels == sorted(levels, key=list(Level).index)


def test_each_file_that_changes_graphs_has_rewrites_of_the_table():
    changing = {file for file, name, _ in calls() if name in CHANGES}
    of_rows = {f"rewrites/{row.function.__module__.rpartition('.')[2]}.py" for row in TABLE if row.function is not None}
    assert changing - of_rows <= UNCOUNTED.keys()


def test_rewrites_that_undo_each_other_end_with_a_warning():
    graph = torch.fx.symbolic_trace(lambda x: torch.ops.aten.exp.default(x)).graph
    exp, log = torch.ops.aten.exp.default, torch.ops.aten.log.default

    def turned(work, node):
        node.target = log if node.target is exp else exp
        return True

    work, rows = Work(graph.owning_module), [Rewrite(Level.spelling, name, "always", (of,), turned) for name, of in (("there", exp), ("back", log))]
    with uncounted(), pytest.warns(RuntimeWarning, match=rf"^zellige: rewrites of a torch graph undo each other; applied {ROUNDS} times: back, there$"):
        settle(rows, work)
    assert work.applied == {"there": ROUNDS, "back": ROUNDS}


def test_rewrites_are_applied_until_none_applies():
    graph = torch.fx.symbolic_trace(lambda x: x * 8).graph
    (node,) = graph.find_nodes(op="call_function", target=operator.mul)

    def halved(work, node):
        node.args = (node.args[0], node.args[1] // 2)
        return node.args[1] >= 1

    with uncounted():
        settle([Rewrite(Level.spelling, "half", "above 0", (operator.mul,), halved)], work := Work(graph.owning_module))
    assert node.args[1] == 0 and work.applied == {"half": 3}
