"""Captures a call in a CUDA graph, and measures it by the GPU's clock.

  replay = cuda_graph.captured(call, calls=20)      runs it 20 times
  us = cuda_graph.gpu_us(replay) / 20
"""
import torch


def captured(call, calls=1):
    """Warms up on another stream, as torch requires, and captures that many calls."""
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph.replay


def gpu_us(run):
    """The microseconds of one run, which has ended when this returns."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record(), run(), end.record(), torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3
