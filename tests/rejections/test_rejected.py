"""Python's report of rejected plans, on a library whose verifier rejects those named by $ZELLIGE_INJECTED."""

import pathlib

import pytest
import zellige

GRAPH = pathlib.Path(__file__).parents[2] / "examples/attention.json"


def compiled():
    return zellige.compile(GRAPH, target="sm_90a", tiling="chosen", fuse=False)


def test_a_program_without_rejected_plans():
    assert compiled().rejected == []


def test_a_program_tells_of_the_plans_that_were_dropped(monkeypatch):
    monkeypatch.setenv("ZELLIGE_INJECTED", "1")
    assert compiled().rejected == ["attention_k0: a rejection was injected"]


def test_the_only_plan_is_our_fault(monkeypatch):
    monkeypatch.setenv("ZELLIGE_INJECTED", "all")
    with pytest.raises(zellige.Fault) as failed:
        compiled()
    assert str(failed.value) == "Zellige's own plan is wrong, rejected by the proof: attention_k0: a rejection was injected"


def test_torch_reports_them_and_keeps_the_part(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from zellige import torch_backend

    def model(x):
        return torch.exp(x) * x + 1

    x = torch.randn(8, 8)
    for which in ("1", "all"):
        monkeypatch.setenv("ZELLIGE_INJECTED", which)
        torch._dynamo.reset()
        torch_backend.reports.clear()
        # "cache": every run must plan, although an earlier one has kept what it decided
        compiled = torch.compile(model, backend=torch_backend.backend, options={"cache": False})
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x))
        report = torch_backend.reports[-1]
        reported, mark = (report.faults, "left") if which == "all" else (report.rejected, "rejected")
        assert reported and all("a rejection was injected" in sentence for sentence in reported)
        assert f"  {mark}: {reported[0]}" in str(report).splitlines()
        assert bool(report.parts) == (which != "all")
