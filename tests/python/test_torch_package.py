"""The package zellige/torch: what imports what, and the page that lists its modules and rewrites. With the argument --fix it writes the
table of rewrites into the page."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "python/zellige/torch"
PAGE = ROOT / "docs/explanation/torch-backend.md"
TABLE = re.compile(r"(?<=<!-- rewrites -->\n).*?(?=<!-- end -->)", re.S)
# of the folders and of the files beside them, which a module imports only from its own row and those before it
ROWS = [("words", "report", "applications"), ("import_",), ("measure",), ("rewrites",), ("execute",), ("partition",), ("cache",), ("options", "compilation", "backend", "explaining"), ("tensors",)]


def modules():
    return {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"}


def imported(name, path):
    """Returns the modules of the package that a module imports when it is loaded."""
    found, known = set(), modules()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = name.split(".")[: -node.level] if node.level <= name.count(".") + 1 else None
            if base is not None:
                base += node.module.split(".") if node.module else []
                found |= {".".join(base)} | {".".join([*base, n.name]) for n in node.names}
    return found & known.keys()


def row_of(module):
    return next(i for i, row in enumerate(ROWS) if module.split(".")[0] in row)


def test_modules_import_those_of_their_row_and_of_the_rows_before_it():
    above = [(m, of) for m, path in modules().items() for of in imported(m, path) if row_of(of) > row_of(m)]
    assert above == []
    assert sum(len(imported(m, path)) for m, path in modules().items()) > 100


def test_there_is_no_circle():
    left = {m: imported(m, path) for m, path in modules().items()}
    while loaded := {m for m, of in left.items() if not of & left.keys()}:
        left = {m: of for m, of in left.items() if m not in loaded}
    assert left == {}


def test_only_a_thin_module_is_beside_the_package():
    beside = {path.name for path in PACKAGE.parent.glob("*.py") if "torch" in path.name or path.name.startswith("aten")}
    assert beside == {"torch_backend.py"}
    assert len((PACKAGE.parent / "torch_backend.py").read_text().splitlines()) < 30


def test_functions_and_files_are_short():
    (backend,) = (n for n in ast.parse((PACKAGE / "backend.py").read_text()).body if isinstance(n, ast.FunctionDef) and n.name == "backend")
    assert backend.end_lineno - backend.lineno < 40
    assert all(len(path.read_text().splitlines()) <= 500 for path in modules().values())


def test_importing_the_package_does_not_import_torch():
    code = "import sys, zellige; zellige.torch; assert 'torch' not in sys.modules; assert sys.modules['zellige.torch'] is zellige.torch"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_torch_is_torch():
    torch = pytest.importorskip("torch")
    import zellige.torch_backend  # noqa: F401

    assert not any(str(PACKAGE.parent) in str(getattr(m, "__file__", "")) for name, m in sys.modules.items() if name.split(".")[0] == "torch")
    assert hasattr(torch, "Tensor")


def test_the_page_lists_each_module():
    shown = re.findall(r"^\| (?:`(\w+/)`)? *\| (.*) \|$", PAGE.read_text().split("## The rewrites")[0], re.M)
    listed = sorted(folder.replace("/", ".") + name for folder, cells in shown for name in re.findall(r"`(\w+)\.py`", cells))
    assert listed == sorted(modules())


def table():
    from zellige.torch.rewrites.table import TABLE as rows

    lines = "".join(f"| {row.level.name} | {row.name} | {row.condition} | {', '.join(f'`{t}`' for t in map(of, row.targets))} |\n" for row in rows)
    return f"| level | rewrite | condition | tried at |\n|---|---|---|---|\n{lines}"


def of(target):
    return str(target).removesuffix(".default")


def test_the_page_has_the_table_of_rewrites():
    pytest.importorskip("torch")
    assert TABLE.search(PAGE.read_text())[0] == table(), f"write it by: python {pathlib.Path(__file__).relative_to(ROOT)} --fix"


if __name__ == "__main__" and sys.argv[1:] == ["--fix"]:
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text()))
