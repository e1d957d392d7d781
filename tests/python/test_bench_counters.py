"""bench/counters.py: what it reads from the profiler's page and from a printed plan, and which counts it says agree."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import counters  # noqa: E402

NAMES = ["ID", "Kernel Name", *(m for group in counters.METRICS.values() for m in group), counters.OPCODES]


def page(tmp_path, *rows):
    units = ["", "", "", "", "sector", "sector", "sector", "sector", "Kbyte", "byte", "nsecond", "inst"]
    lines = ["==PROF== Connected to process 7", *(",".join(f'"{field}"' for field in row) for row in (NAMES, units, *rows))]
    path = tmp_path / "program.csv"
    path.write_text("\n".join(lines))
    return path


def test_counts_of_launches_are_added_in_one_unit(tmp_path):
    launch = ["7,680", "8", "100", "20", "300,000", "7,584", "1.5", "500", "3000", "99 (BAR.SYNC: 1,248; HGMMA.64x8x16: 4; HGMMA.64x16x16: 8; HMMA: 5; UTMALDG.2D: 2)"]
    found = counters.counted(page(tmp_path, ["0", "a_k0", *launch], ["1", "a_k1", *launch], ["2", "poison", *launch], ["3", "a_k1", *launch]))
    assert dict(found) == {"wavefronts": 15360, "conflicts": 16, "sectors": 240, "L2": 615168, "DRAM": 4000, "us": 6,
                           "tensor": 16, "TMA": 4, "barriers": 2496}


def test_a_page_without_a_table_is_refused_with_its_last_lines(tmp_path):
    path = tmp_path / "program.csv"
    path.write_text("==ERROR== ERR_NVGPUCTRPERM\n")
    with pytest.raises(ValueError) as refused:
        counters.counted(path)
    assert str(refused.value) == f"{path}: the profiler's output has no table: ==ERROR== ERR_NVGPUCTRPERM"


@pytest.mark.parametrize("barriers, completed, arrived", [
    ("    barrier 0\n", 10, 10 * 9),
    ("    barrier 0\n    barrier 1 threads 256\n", 10, 4 * 9 + 6 * 8),
    ("    barrier 1 threads 256\n    barrier 2 threads 128\n", 10, None),
])
def test_warps_at_barriers(barriers, completed, arrived):
    kernel = "a_k0 grid (2,2,1) block (256,1,1) loop 1 threads 288 programmatic\n  setup\n" + barriers
    assert counters.warps_at_barriers(kernel, completed) == arrived


@pytest.mark.parametrize("column, values, agree", [
    ("tensor", (5, 5, 5), True), ("tensor", (5, 5, 6), False), ("tensor", (None, None, 6), True), ("tensor", (None, 5, 6), False),
    ("DRAM", (104, None, 100), True), ("DRAM", (106, None, 100), False), ("us", (8.1, None, 10), True), ("us", (7.9, None, 10), False),
])
def test_what_agrees(column, values, agree):
    assert counters.agrees(column, values) == agree
