"""What is said of a model, and which graphs on the CPU stay torch's because the emulator is slow."""

import html
import re

import pytest
import zellige.torch  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
from zellige import torch_backend  # noqa: E402


def test_explain_prints_what_is_taken_and_left_and_both_times(capsys):
    (report,) = zellige.torch.explain(lambda x: torch.special.bessel_j0(x * 2) + 1, torch.randn(4, 8), options={"take": "all"})
    printed = capsys.readouterr().out
    assert report.taken == 2 and printed.startswith("graph 1 of 1: 2 of ") and "left: aten.special_bessel_j0.default: is not known" in printed
    assert re.search(r"^a call: [\d.]+ (us|ms|s) by torch, [\d.]+ (us|ms|s) as compiled; the first one took [\d.]+ (us|ms|s)$", printed, re.M)


def test_explain_of_nothing_says_so(capsys):
    assert zellige.torch.explain(lambda x: x, torch.randn(4)) == []
    assert "no graph: torch.compile traced nothing of this function" in capsys.readouterr().out


def compiled(options=None):
    torch._dynamo.reset()
    weight = torch.nn.Linear(2048, 512).eval().requires_grad_(False)
    with torch.no_grad():
        return torch.compile(weight, backend="zellige", options=options), weight, torch.randn(512, 2048)


def test_a_graph_that_is_slow_on_the_emulator_stays_torchs():
    run, weight, x = compiled()
    with torch.no_grad():
        assert torch.equal(run(x), weight(x))
    (why,) = torch_backend.reports[-1].left.values()
    assert why == "on the CPU its programs run on the emulator, which is expected to take 7 s per call; options={'take': 'all'} asks for that"
    assert torch_backend.reports[-1].taken == 0 and not torch_backend.reports[-1].parts


def test_a_quick_graph_runs_on_the_emulator():
    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(lambda x: x * 2 + 1, backend="zellige")(torch.randn(64))
    assert torch_backend.reports[-1].taken == 2


def test_a_report_is_a_page_of_its_own(tmp_path):
    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(lambda x: x * 2 + 1, backend="zellige")(torch.randn(64))
    report = torch_backend.reports[-1]
    report.html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>") and "2 of 2 operators in 1 part(s)" in page
    (part,) = report.parts
    assert html.escape(part.page()) in page and "<h2>Launch 0: " in part.page()  # what `zellige explain` writes
    for other in ("http:", "https:", " src="):
        assert other not in page
    assert report._repr_html_() == f'<iframe title="zellige report" style="width:100%;height:48em;border:1px solid #888" srcdoc="{html.escape(report.page())}"></iframe>'
