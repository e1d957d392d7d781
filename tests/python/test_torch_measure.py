"""Measurements on a fake GPU: calls that are too large, or that fail, are not measured."""

import time
import types

import pytest

torch = pytest.importorskip("torch")
from zellige.torch.measure import clock  # noqa: E402


class Event:
    def __init__(self, enable_timing):
        pass

    def record(self):
        pass

    def elapsed_time(self, other):
        return 0.01  # ms


@pytest.fixture
def gpu(monkeypatch):
    emptied, generator = [], torch.Generator
    made_up = {
        "mem_get_info": lambda: (1 << 30, 1 << 30), "synchronize": lambda: None, "Event": Event, "_sleep": lambda clocks: None,
        "empty_cache": lambda: emptied.append(1), "current_device": lambda: 0, "get_device_properties": lambda i: types.SimpleNamespace(uuid="made-up"),
    }  # fmt: skip
    for name, function in made_up.items():
        monkeypatch.setattr(torch.cuda, name, function)
    monkeypatch.setattr(torch, "Generator", lambda device: generator())
    return emptied


def test_microseconds_a_call(gpu):
    calls = []
    assert clock.gpu_time(lambda x, at: calls.append((x, at)), [torch.empty(4, 3).t(), torch.empty(2, dtype=torch.int64)], 1) == 10.0 / ((len(calls) - 2) / 5)
    x, at = calls[0]
    assert x.stride() == (1, 3) and x.std() > 0 and at.tolist() == [0, 0] and gpu == []


def test_what_takes_half_of_the_memory_is_not_measured(gpu):
    never = lambda x: pytest.fail("called")  # noqa: E731
    assert clock.gpu_time(never, [torch.empty(1 << 28, device="meta")], 1) is None


def test_large_memory_is_given_back(gpu, monkeypatch):
    monkeypatch.setattr(clock, "LARGE", 10)
    assert clock.gpu_time(lambda x: x, [torch.empty(4)], 1) is not None and gpu == [1]


def test_what_fails_is_not_measured(gpu):
    def fails(x):
        raise RuntimeError("no kernel")

    assert clock.gpu_time(fails, [torch.empty(4)], 1) is None


def test_what_the_host_takes(gpu):
    found = clock.cost(lambda x: time.sleep(0.002), [torch.empty(4)], 1)
    assert 2000 <= found.host < 20000 and found.gpu > 0
