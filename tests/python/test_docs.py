"""What docs/reference/python.md and the docstrings show is what is printed."""

import doctest
import pathlib

from zellige import layout

PAGE = pathlib.Path(__file__).parents[2] / "docs/reference/python.md"


def test_the_pages_console_blocks():
    blocks = "\n".join(PAGE.read_text().split("```")[1::2])  # without the fences
    test = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted >= 4 and result.failed == 0


def test_the_docstrings():
    result = doctest.testmod(layout)
    assert result.attempted >= 3 and result.failed == 0
