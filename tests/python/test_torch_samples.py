"""Samples of torch's own operator tests through the backend: right by float64, without errors that eager does not have.

24 fixed ones by default, 60 with ZELLIGE_ALL=1. On demand: ZELLIGE_SAMPLES=0.1 runs a tenth of all (1: all of them), ZELLIGE_SAMPLES_SEED draws others, and
ZELLIGE_SAMPLES_DEVICE=cuda runs them on a GPU.
"""

import os

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
import op_samples  # noqa: E402

SHARE = os.environ.get("ZELLIGE_SAMPLES")
SEED = int(os.environ.get("ZELLIGE_SAMPLES_SEED", "20261125"))
DEVICE = os.environ.get("ZELLIGE_SAMPLES_DEVICE", "cpu")
FLOAT64 = 40 if "ZELLIGE_ALL" in os.environ else 6
FEW = 60 if "ZELLIGE_ALL" in os.environ else 24
CASES = list(op_samples.share(float(SHARE), SEED, device=DEVICE) if SHARE else op_samples.few(FEW, SEED, DEVICE))
# torch's own failures, in a draw that has not been reviewed.
ACCEPTED = {"right", "refused by eager"} | ({"torch's error", "torch's wrong"} if SHARE else set())
programs = []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_sample_is_right(case):
    outcome = op_samples.run(case)
    programs.append(outcome.parts)
    assert outcome.kind in ACCEPTED and not outcome.faults, f"{case}: {outcome.kind}: {outcome.says} {outcome.faults}"


@pytest.mark.parametrize("case", op_samples.each(FLOAT64, SEED, ("float64",), DEVICE), ids=str)
def test_a_sample_of_float64_is_right(case):
    outcome = op_samples.run(case)
    assert outcome.kind in ACCEPTED | {"torch's error", "torch's wrong"} and not outcome.faults, f"{case}: {outcome.kind}: {outcome.says} {outcome.faults}"


def test_samples_have_programs():
    """Samples that are left to torch whole say nothing of programs."""
    if len(programs) == len(CASES):  # all of them ran
        lowest = 10 if SHARE else 4 if DEVICE == "cpu" else 6  # a GPU has other dtypes, so its 60 are others, and more of them views
        assert sum(n > 0 for n in programs) >= len(CASES) / lowest


def test_uncompared_operators_are_torchs():
    assert op_samples.UNCOMPARED.keys() <= op_samples.operators().keys()


def test_random_operators_draw_numbers():
    """Each of them makes other numbers of another seed, in a sample at least; it would be compared otherwise."""
    random = [n for n, why in op_samples.UNCOMPARED.items() if why is op_samples.RANDOM]
    random = [n for n in random if torch.float32 in op_samples.operators()[n].dtypes]
    random_names = {n for n in random if any(op_samples.draws(op_samples.Case(n, "float32", i)) for i in range(op_samples.samples(n, "float32")))}
    assert random_names == set(random)


# ---- What the judge takes for wrong ----

DTYPES = [torch.float16, torch.bfloat16, torch.float32]


def results(dtype):
    wide = torch.randn(64, 160, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    return wide.to(dtype), wide


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounding_is_right_and_eager_is_no_judge(dtype):
    eager, wide = results(dtype)
    assert op_samples.differs(eager, eager, wide) is None
    assert op_samples.differs(eager, eager * 1.5, wide) is None  # finer than eager
    assert op_samples.differs(eager * 1.5, eager, wide) is not None


def sign(x):
    x[3, 5] = -x[3, 5]


def flipped(x):
    x[::8] *= -1


def shifted(x):
    x[1:] = x[:-1].clone()


def scaled(x):
    x *= 1 + 2.0**-5


def nan(x):
    x[0, 0] = torch.nan


def infinite(x):
    x[0, 0] = torch.inf


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("plant", [sign, flipped, shifted, scaled, nan, infinite])
def test_an_injected_fault_is_wrong(plant, dtype):
    eager, wide = results(dtype)
    eager[3, 5] = wide[3, 5] = 2
    found = eager.clone()
    plant(found)
    assert op_samples.differs(found, eager, wide) is not None


def test_other_dtypes_shapes_and_integers_are_wrong():
    x = torch.arange(6.0)
    assert op_samples.differs(x.half(), x, x.double()) == "expected torch.float32 (6,), found torch.float16 (6,)"
    assert op_samples.differs(x.view(2, 3), x, None) == "expected torch.float32 (6,), found torch.float32 (2, 3)"
    assert op_samples.differs(x.long() + (x == 2), x.long(), x.long()) == "1 of 6 differ"
    assert op_samples.differs(x.long(), x.long(), x.long()) is None
