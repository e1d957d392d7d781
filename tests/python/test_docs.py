"""The Python in README.md, docs/ and the docstrings prints what they show.

A block of `>>>` lines is a doctest. A block "```python run" is a program; the block "```text" that follows it is what it prints. Seconds may differ.
"""

import contextlib
import doctest
import io
import pathlib
import re

import pytest
from zellige import layout

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAM = re.compile(r"```python run\n(.*?)```\n\n?```text\n(.*?)```", re.S)
PROGRAMS = [(page, *found) for page in PAGES for found in PROGRAM.findall(page.read_text())]


def without_times(text):
    """Without seconds of compiling, and without the expected times of kernels, which are those of the GPU that is there."""
    return re.sub(r"\d+\.\d+(?= s\b)|(?<=tracing )\d+\.\d+|(?<=programs )\d+\.\d+|\d+\.\d+(?= us expected)", "_", text).rstrip()


def test_the_pages_console_blocks():
    attempted = 0
    for page in PAGES:
        blocks = "\n".join(block for block in page.read_text().split("```")[1::2] if ">>> " in block)
        test = doctest.DocTestParser().get_doctest(blocks, {}, page.name, str(page), 0)
        result = doctest.DocTestRunner().run(test)
        assert result.failed == 0
        attempted += result.attempted
    assert attempted >= 4


@pytest.mark.parametrize("page, program, shown", PROGRAMS, ids=[f"{page.stem}{i}" for i, (page, _, _) in enumerate(PROGRAMS)])
def test_the_pages_programs(page, program, shown, monkeypatch):
    if "import torch" in program:
        torch = pytest.importorskip("torch")
        from zellige import torch_backend

        torch.manual_seed(0)
        torch._dynamo.reset()
        if "zellige" not in torch._dynamo.list_backends(exclude_tags=()):
            torch._dynamo.register_backend(torch_backend.backend, name="zellige")  # an installed package has an entry point
    monkeypatch.chdir(ROOT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, str(page), "exec"), {"__name__": "__main__"})
    assert without_times(printed.getvalue()) == without_times(shown)


def test_programs_are_found():
    assert len(PROGRAMS) == sum(page.read_text().count("```python run") for page in PAGES) > 0


def test_the_docstrings():
    result = doctest.testmod(layout)
    assert result.attempted >= 3 and result.failed == 0
