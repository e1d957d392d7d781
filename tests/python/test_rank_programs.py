"""Programs over ranks: threads and processes of this machine, on the emulator."""

import threading

import numpy as np
import pytest

import zellige
from zellige import ranks

ROWS, HIDDEN, INNER = 4, 16, 24


def mlp(x, up, down):
    return ranks.all_reduce(zellige.relu(x @ up) @ down) + x


def whole():
    rng = np.random.default_rng(1)
    return [rng.standard_normal(s).astype(np.float32) for s in ((ROWS, HIDDEN), (HIDDEN, INNER), (INNER, HIDDEN))]


def parts(rank, count):
    x, up, down = whole()
    part = slice(rank * INNER // count, (rank + 1) * INNER // count)
    return x, np.ascontiguousarray(up[:, part]), np.ascontiguousarray(down[part])


def right():
    x, up, down = whole()
    return np.maximum(x @ up, 0) @ down + x


def in_threads(count, of_rank):
    """Calls of_rank(rank) in a thread per rank. Returns what each returned or raised."""
    results = [None] * count

    def call(mine):
        try:
            results[mine.rank] = of_rank(mine)
        except zellige.Error as why:
            results[mine.rank] = why

    threads = [threading.Thread(target=call, args=(mine,)) for mine in ranks.of_threads(count, "emulator")]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results


@pytest.mark.parametrize("count", [2, 3, 4])
def test_threads_have_the_result_of_the_whole(count):
    def of_rank(mine):
        arrays = parts(mine.rank, count)
        program = ranks.compile(ranks.graph(mlp, *arrays, ranks=count), mine, workers=1)
        assert program.notes[0].startswith(f"{count} ranks, each with ")
        return program(*arrays)

    made = in_threads(count, of_rank)
    for y in made:
        np.testing.assert_allclose(y, right(), rtol=1e-4, atol=1e-5)
        assert y.tobytes() == made[0].tobytes()


@pytest.mark.parametrize("way", ["symmetric", "one-shot", "two-shots", "fused"])
def test_every_way_of_collectives_is_taken_and_named(way):
    def of_rank(mine):
        arrays = parts(mine.rank, 2)
        program = ranks.compile(ranks.graph(mlp, *arrays, ranks=2), mine, collectives=way, workers=1)
        assert program.notes[0].endswith("kernels and 0 collectives")
        assert program.notes[1:] == ["ranks exchange tiles in 1 of the kernels, in place of a collective"]
        return program(*arrays)

    for y in in_threads(2, of_rank):
        np.testing.assert_allclose(y, right(), rtol=1e-4, atol=1e-5)


def test_ranks_that_ask_for_other_ways_are_told_so():
    def of_rank(mine):
        arrays = parts(mine.rank, 2)
        return ranks.compile(ranks.graph(mlp, *arrays, ranks=2), mine, collectives=("fused", "two-shots")[mine.rank])

    for rank, why in enumerate(in_threads(2, of_rank)):
        assert str(why) == f"rank {rank} of 2: the choice of collectives of rank 1 is not that of rank 0; all ranks must run the same"


def test_threads_that_trace_at_once_have_a_trace_each():
    both = threading.Barrier(2)

    def f(x):
        both.wait(60)  # until the other thread traces, too
        y = ranks.rank() + x
        both.wait(60)
        return y

    x, forms = np.zeros(1, np.int32), [None] * 2

    def trace(i):
        forms[i] = ranks.graph(f, x, ranks=2)

    threads = [threading.Thread(target=trace, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [[o["op"] for o in form["operators"]] for form in forms] == [["rank", "add"]] * 2


def test_every_collective_runs():
    def f(x):
        a, b = ranks.all_gather(x, -1), ranks.reduce_scatter(x, 0)
        return a, b, ranks.all_to_all(x, 0, 1), ranks.broadcast(x, 1), ranks.all_reduce(x, "max"), ranks.rank() + 0

    def x_of(rank):
        return np.arange(32, dtype=np.float32).reshape(4, 8) * (1 - 2 * rank)

    made = in_threads(2, lambda mine: ranks.compile(ranks.graph(f, x_of(0), ranks=2), mine, workers=1)(x_of(mine.rank)))
    for rank, (gathered, part, permuted, sent, largest, number) in enumerate(made):
        np.testing.assert_array_equal(gathered, np.concatenate([x_of(0), x_of(1)], 1))
        np.testing.assert_array_equal(part, (x_of(0) + x_of(1))[2 * rank : 2 * rank + 2])
        np.testing.assert_array_equal(permuted, np.concatenate([x_of(r)[2 * rank : 2 * rank + 2] for r in range(2)], 1))
        np.testing.assert_array_equal(sent, x_of(1))
        np.testing.assert_array_equal(largest, np.maximum(x_of(0), x_of(1)))
        assert number.tolist() == [rank]


def test_ranks_that_differ_are_told_so():
    def of_rank(mine):
        arrays = parts(mine.rank, 2)
        return ranks.compile(ranks.graph(mlp, *arrays, ranks=2), mine, fuse=True, target="sm_80" if mine.rank else "sm_90a")

    for rank, why in enumerate(in_threads(2, of_rank)):
        assert str(why) == f"rank {rank} of 2: the target of rank 1 is not that of rank 0; all ranks must run the same"


def test_wrong_numbers_shapes_and_places_are_refused(monkeypatch):
    monkeypatch.setenv("ZELLIGE_RANKS_TIMEOUT", "0.1")
    arrays = parts(0, 2)
    form = ranks.graph(mlp, *arrays, ranks=2)
    alone, both = ranks.of_threads(1, "emulator")[0], ranks.of_threads(2, "emulator")
    with pytest.raises(zellige.Error, match="^mlp: its graph is over 2 ranks, and the job has 1$"):
        ranks.compile(form, alone)
    with pytest.raises(zellige.Error, match="^rank 0 of 2: rank 1 did not come within 0.1 s; ZELLIGE_RANKS_TIMEOUT sets the seconds$"):
        ranks.compile(form, both[0])
    with pytest.raises(zellige.Error, match="^on: expected auto, gpu or emulator, found 'here'$"):
        ranks.of_threads(2, "here")
    with pytest.raises(zellige.Error, match="^count: expected 1 to 1024 ranks, found 0$"):
        ranks.of_threads(0)
    with pytest.raises(zellige.Error, match="^collectives: expected one of cheapest, nccl, symmetric, one-shot, two-shots, fused, found 'fast'$"):
        ranks.compile(form, alone, collectives="fast")
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with pytest.raises(zellige.Error, match="found no WORLD_SIZE"):
        ranks.of_environment("emulator")
    program = ranks.compile(ranks.graph(mlp, *parts(0, 1), ranks=1), alone, workers=1)
    x, up, down = parts(0, 1)
    np.testing.assert_allclose(program(x, up, down), right(), rtol=1e-4, atol=1e-5)
    with pytest.raises(zellige.Error, match=r"^program mlp, input up: expected f32 \(16, 24\), found f32 \(16, 23\)$"):
        program(x, up[:, 1:], down)
    with pytest.raises(zellige.Error, match=r"^program mlp, input x: expected strides \(16, 1\), found \(1, 4\)$"):
        program(np.asfortranarray(x), up, down)
    with pytest.raises(zellige.Error, match="^program mlp: expected 3 inputs, found 1$"):
        program(x)


def test_function_that_fails_is_the_error():
    def gather(mine):
        raise KeyError("no such rank")

    mine = ranks.of_gather(0, 2, gather, "emulator")
    with pytest.raises(KeyError, match="no such rank"):
        ranks.compile(ranks.graph(mlp, *parts(0, 2), ranks=2), mine)


WORKER = """
import sys; sys.path.insert(0, HERE)
import numpy as np, torch, torch.distributed as dist
from test_rank_programs import mlp, parts, right
from zellige import ranks
dist.init_process_group("gloo")
mine = ranks.of_group(on="emulator") if sys.argv[1] == "group" else ranks.of_environment("emulator")
arrays = [torch.from_numpy(x) for x in parts(mine.rank, mine.count)]
program = ranks.compile(ranks.graph(mlp, *arrays, ranks=mine.count), mine, workers=1)
np.testing.assert_allclose(program(*arrays).numpy(), right(), rtol=1e-4, atol=1e-5)
program.wait()
sys.stdout.write(f"{mine!r} is right\\n")
dist.destroy_process_group()
"""


@pytest.mark.parametrize("how", ["group", "environment"])
def test_torchrun_starts_the_ranks(how, tmp_path):
    pytest.importorskip("torch")
    import os
    import subprocess
    import sys

    script = tmp_path / "worker.py"
    script.write_text(WORKER.replace("HERE", repr(os.path.dirname(os.path.abspath(__file__)))))
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29640", str(script), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    for rank in range(2):
        assert f"<rank {rank} of 2 on the emulator> is right\n" in done.stdout
