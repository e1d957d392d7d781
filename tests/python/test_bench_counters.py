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


def fake(path, text):
    path.write_text(f"#!{sys.executable}\nimport json, os, pathlib, sys\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_list_of_programs_is_compiled_counted_and_compared(tmp_path, monkeypatch, capsys):
    """The compiler, the profiler and the emulator are fakes, which record how they were called."""
    sources, out, tools = (tmp_path / name for name in ("sources", "out", "tools"))
    for folder in (sources / "a/b", tools):
        folder.mkdir(parents=True)
    (sources / "a/b/k.cu").write_text("")
    calls = tmp_path / "calls"
    log = f"open({str(calls)!r}, 'a').write(' '.join([pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]) + '\\n')"
    fake(tools / "nvcc", f"{log}\npathlib.Path(sys.argv[-1]).write_text('')")
    launch = ["7", "0", "4", "6", "30", "7", "1.5", "500", "3000", "9 (BAR.SYNC: 8; HMMA: 5)"]
    ncu = fake(tools / "ncu", f"{log}\nprint(pathlib.Path({str(page(tmp_path, ['0', 'k', *launch]))!r}).read_text())")
    emulator = fake(tools / "zellige", f"{log}\nprint(json.dumps({{'counters': {{'mma': 5, 'shared_load_wavefronts': 7, 'shared_load_wavefronts_ideal': 7, 'global_load_sectors': 11}}}}))")
    programs = tmp_path / "programs.tsv"
    programs.write_text("# a comment\nmine\ta/b/k.cu\t-n 4\t-Ia/b\t-extra\t-Icompat\nnot_there\ta/b/other.cu\n")
    monkeypatch.setenv("PATH", f"{tools}:{counters.os.environ['PATH']}")
    monkeypatch.setattr(sys, "argv", ["counters.py", str(out), str(programs), "--sources", str(sources), "--ncu", ncu, "--zellige", emulator])
    assert counters.main() == 0
    printed = capsys.readouterr()
    assert printed.err == "bench/counters.py: skipped, their files are not there: not_there\n"
    assert "| mine | - / 5 / 5 | - / 7 / 7 | - / 0 / 0 | - / 0 / 0 | - / - / 8 | - / 11 / 10 | - / - / 37 | - / - / 2000 | - / - / 3 |" in printed.out
    assert "sectors: 0 of 1 agree: not mine" in printed.out and "tensor: 1 of 1 agree\n" in printed.out
    compiled, profiled, emulated = calls.read_text().splitlines()
    assert f"-I{sources}/a/b -extra {sources}/a/b/k.cu -lcublas" in compiled and profiled.endswith("mine -n 4")
    assert emulated == f"zellige emulate {sources}/a/b/k.cu -I{sources}/a/b -I{counters.ROOT}/compat --json -- -n 4"


def test_without_the_profilers_page_two_columns_remain(tmp_path, monkeypatch, capsys):
    emulator = fake(tmp_path / "zellige", "print(json.dumps({'counters': {'mma': 5}}))")
    (tmp_path / "k.cu").write_text("")
    monkeypatch.setattr(sys, "argv", ["counters.py", str(tmp_path), str(tmp_path / "k.cu"), "--table", "--zellige", emulator])
    assert counters.main() == 0
    printed = capsys.readouterr().out
    assert "| k | - / 5 / - |" in printed and "1 programs; the profiler has counted 0 of them" in printed


def test_two_programs_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "k.cu").write_text("")
    with pytest.raises(SystemExit, match="two programs have the name k: their counts could not be distinguished"):
        counters.programs([tmp_path / "a/k.cu", tmp_path / "b/k.cu"], tmp_path)
