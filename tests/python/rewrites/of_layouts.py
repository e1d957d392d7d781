"""Rewrites of convolutions and pools, of which some are for tensors on a GPU alone. Here the CPU is used instead: the rewrites ask
for the device type, and nothing is measured."""

import contextlib
import unittest.mock

import torch
from zellige.torch.measure import convolution_kernels
from zellige.torch.rewrites import pools

from .law import Rewrite

F = torch.nn.functional
LAST = torch.channels_last


@contextlib.contextmanager
def as_on_a_gpu():
    """As on a GPU whose kernels cannot be measured."""
    with unittest.mock.patch.object(convolution_kernels, "DEVICE", "cpu"), unittest.mock.patch.object(pools, "_us", lambda node: None):
        yield


@contextlib.contextmanager
def where_it_saves_time():
    """As if convolutions had been measured: channels-last is faster by more than copies cost."""
    with as_on_a_gpu(), unittest.mock.patch.object(convolution_kernels, "us", lambda node, deadline: (100.0, 1.0)):
        yield


@contextlib.contextmanager
def where_biases_are_added():
    """As with cuDNN, which adds no bias."""
    with unittest.mock.patch.object(convolution_kernels, "adds_bias", lambda node: node.args[2] is not None):
        yield


def images(draw, channels=None, size=None, special=None):
    rows = size or draw.extent(4, 7)
    made = draw.tensor(draw.number(1, 2), channels or draw.extent(4, 6), rows, size or draw.extent(4, 7), special=special)
    return made.to(memory_format=LAST) if draw.chance() else made


def convolved(draw, after=lambda y: torch.relu(y) + 1, few=False):
    x = images(draw, special=False)
    outer, kernel = draw.number(1, 3) if few else draw.extent(4, 6), draw.choice([1, 3])
    weight = draw.tensor(outer, x.shape[1], kernel, kernel, special=False)
    bias, stride = draw.tensor(outer, special=False) if draw.chance() else None, draw.number(1, 2)
    return lambda x, w, b: after(F.conv2d(x, w, b, stride, 1)), (x, weight, bias)


def in_channels_last(draw):
    """What reads the convolution needs one of several layouts, and is returned."""
    return convolved(draw, draw.choice([
        lambda y: torch.relu(y) + 1,
        lambda y: (y, y.flatten(1)),
        lambda y: y.permute(0, 2, 3, 1).contiguous() * 2,
        lambda y: (F.avg_pool2d(y, 2), y.reshape(y.shape[0], -1).softmax(-1)),
        lambda y: y - y.mean((2, 3), keepdim=True),
        lambda y: torch.cat((y, y * 2), 1),
    ]))  # fmt: skip


def in_nchw(draw):
    """Few channels; three dimensions."""
    if draw.chance():
        return convolved(draw, few=True)
    x, weight = draw.tensor(2, 4, 6, special=False), draw.tensor(5, 4, 3, special=False)
    return lambda x, w: F.conv1d(x, w) + 1, (x, weight)


def pooled(draw, layout=LAST, indices=False):
    x = draw.tensor(draw.number(1, 2), draw.extent(2, 6), draw.extent(4, 8), draw.extent(4, 8)).to(memory_format=layout)
    kernel, stride, padding, ceil = draw.choice([2, 3, (2, 3)]), draw.choice([1, 2, None]), draw.number(0, 1), draw.chance()
    return lambda x: F.max_pool2d(x, kernel, stride, padding, 1, ceil, indices), (x,)


def pooled_otherwise(draw):
    return pooled(draw, torch.contiguous_format) if draw.chance() else pooled(draw, indices=True)


def with_bias(draw, biased=True, read=torch.relu):
    x = images(draw, special=False)
    weight, bias = draw.tensor(5, x.shape[1], 3, 3, special=False), draw.tensor(5, special=False)
    return lambda x, w, b: read(F.conv2d(x, w, b if biased else None, 1, 1)), (x, weight, bias)


def average(draw, divides=True):
    rows, columns, more = draw.number(2, 3), draw.number(1, 3), 0 if divides else 1
    x = draw.tensor(draw.number(1, 2), draw.extent(1, 4), rows * draw.number(2, 3) + more, columns * draw.number(2, 3) + more)
    size = (rows, columns) if divides else (2 if x.shape[2] % 2 else 3, 2 if x.shape[3] % 2 else 3)
    return lambda x: torch.relu(F.adaptive_avg_pool2d(x, size)), (x,)


REWRITES = [
    Rewrite("convolution in channels-last", in_channels_last, in_nchw, around=where_it_saves_time, steps=16),
    Rewrite("max pool by rows", pooled, pooled_otherwise, exact=True, around=as_on_a_gpu),
    Rewrite("bias of a convolution", with_bias, lambda draw: with_bias(draw, False), around=where_biases_are_added, steps=16),
    Rewrite("average pool as a mean", average, lambda draw: average(draw, False), steps=8),
]  # fmt: skip
