"""Models that are divided over processes: parts between collectives become programs, which take the collectives before them."""

import datetime
import faulthandler
import gc
import re
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
import torch.distributed as dist  # noqa: E402
from torch._dispatch.python import enable_python_dispatcher  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.tensor import Shard  # noqa: E402
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module  # noqa: E402
import zellige  # noqa: E402
from zellige import ranks, torch_backend  # noqa: E402
from zellige.torch.execute import collectives  # noqa: E402

pytestmark = pytest.mark.skipif(not (dist.is_available() and dist.is_gloo_available()), reason="this torch has no gloo")
RANKS = 2
PATIENCE = 300  # seconds for which a rank waits for the other; a little earlier both report where they wait


class Block(nn.Module):
    """The norm and the MLP of a layer, with its residual."""

    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.RMSNorm(64), nn.Linear(64, 128, bias=False), nn.Linear(128, 64, bias=False)

    def forward(self, x):
        return x + self.down(nn.functional.silu(self.up(self.norm(x))))


TENSOR = {"up": ColwiseParallel(), "down": RowwiseParallel()}
SEQUENCE = {
    "norm": SequenceParallel(),
    "up": ColwiseParallel(input_layouts=Shard(1)),
    "down": RowwiseParallel(output_layouts=Shard(1), use_local_output=True),
}


def joined(rank, path):
    """Makes a process group of the ranks."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(0.9 * PATIENCE)
    patience = datetime.timedelta(seconds=PATIENCE)
    dist.init_process_group("gloo", init_method=f"file://{path}/meeting", rank=rank, world_size=RANKS, timeout=patience)


def left():
    dist.barrier()
    dist.destroy_process_group()
    faulthandler.cancel_dump_traceback_later()


def compared(rank, path):
    """Compiles both models on one rank. Rank 0 writes what was left, and each model's largest error and largest value."""
    joined(rank, path)
    mesh, lines = init_device_mesh("cpu", (RANKS,)), []
    for plan, divided in (TENSOR, False), (SEQUENCE, True):  # divided: each rank has its part of the rows
        torch._dynamo.reset()
        torch.manual_seed(7)
        model, x = Block().half().eval(), torch.randn(1, 6, 64).half()
        with torch.no_grad():
            expected = model(x)
            if divided:
                x, expected = x.chunk(RANKS, 1)[rank], expected.chunk(RANKS, 1)[rank]
            parallelize_module(model, mesh, plan)
            found = torch.compile(model, backend="zellige")(x)
        every = [torch.empty_like(found) for _ in range(RANKS)]
        dist.all_gather(every, found)
        alike = divided or all(torch.equal(y, found) for y in every)
        right = ((found - expected).abs().max() / expected.abs().max()).item() < 0.01
        report = torch_backend.reports[-1]
        lines.append(f"{right} {alike} {len(report.parts)} {len(report.joined)}")
        lines += [f"{name}: {why}" for name, why in sorted(report.left.items())] + [f"over ranks: {why}" for why in report.joined]
    if rank == 0:
        with open(f"{path}/lines", "w") as file:
            file.write("\n".join(lines))
    left()


def agreeing(rank, path):
    """Lets ranks agree while torch's Python dispatcher is on, as it is while a graph is traced, and ask for different collectives."""
    joined(rank, path)
    with enable_python_dispatcher():
        assert all(collectives.agreed("0", (rank, i)) == [(r, i) for r in range(RANKS)] for i in range(1000))
    graph = torch.fx.Graph()
    reduced = graph.call_function(torch.ops._c10d_functional.all_reduce.default, (graph.placeholder("x"), "sum", "0"))
    graph.output(graph.call_function(torch.ops._c10d_functional.wait_tensor.default, (reduced,)))
    with pytest.raises(ValueError, match="^zellige: options: collectives: expected the same on all ranks, found 'fused' and 'nccl'$"):
        collectives.join(torch.fx.GraphModule(nn.Module(), graph), None, ("nccl", "fused")[rank])
    left()


def test_ranks_agree_while_a_graph_is_traced(tmp_path):
    torch.multiprocessing.spawn(agreeing, args=(str(tmp_path),), nprocs=RANKS)


def test_a_group_that_is_destroyed_is_let_go_and_named(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    group, mine = weakref.ref(dist.group.WORLD), ranks.of_group(on="emulator")
    form = ranks.graph(lambda x: ranks.all_reduce(x), np.zeros(4, np.float32), ranks=1)
    assert ranks.compile(form, mine, workers=1)(np.ones(4, np.float32)).tolist() == [1] * 4
    dist.destroy_process_group()
    gc.collect()
    assert group() is None
    with pytest.raises(zellige.Error, match="^of_group: the process group has been destroyed$"):
        ranks.compile(form, mine)


def test_parts_take_the_collectives_before_them(tmp_path):
    torch.multiprocessing.spawn(compared, args=(str(tmp_path),), nprocs=RANKS)
    lines = (tmp_path / "lines").read_text().splitlines()
    heads = [line for line in lines if ": " not in line]
    assert [h.split()[:2] for h in heads] == [["True", "True"]] * 2, lines
    assert all(int(h.split()[2]) > 0 for h in heads), lines
    joined = [line for line in lines if line.startswith("over ranks: ")]
    assert len(joined) == 3 and all(re.search(r"2 ranks, each with \d kernels? and 1 collective$", j) for j in joined), lines
    assert not [line for line in lines if ": " in line and line not in joined], lines
