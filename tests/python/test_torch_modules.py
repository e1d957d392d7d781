"""Modules of torch.nn: results are eager's, and the page lists what is left of each. Four modules by default; all with ZELLIGE_ALL=1."""

import os

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
import nn_modules  # noqa: E402

ALL = "ZELLIGE_ALL" in os.environ
SAMPLE = nn_modules.names() if ALL else ["AdaptiveMaxPool2d", "Bilinear", "ConvTranspose2d", "EmbeddingBag"]


def test_every_module_is_drawn():
    assert set(nn_modules.names()) == set(nn_modules.MODULES)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_module_has_eagers_results(name):
    (outcome,) = nn_modules.survey([name]).values()
    assert not outcome.says and not outcome.faults, outcome
    (table,) = nn_modules.TABLE.findall(nn_modules.PAGE.read_text())
    listed = {n for row in table.splitlines() if row.startswith("| `") for n in row.split("|")[2].strip().split(", ")}
    assert bool(outcome.left) == (name in listed), outcome.left
