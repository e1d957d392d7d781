"""The orders in which torch packs weights of 4 bits for torch._weight_int4pack_mm, and their numbers in rows, as programs read them.

    rows(packed)                 uint8 (n, k / 2): two's complement of q - 8, element 2 j of a row in the lower half of byte j
    rows(weight, inner)          of what torch packs, an argument of _convert_weight_to_int4pack with `inner` inner tiles of K

order                          dtype, shape                             who packs it
mma                            int32 (n / 8, k / (16 I), 32, I / 2)     CUDA, of `bytes`: the fragments of B of m16n8k16, I tiles of K
cpu                            uint8 (n, k / 2)                         the CPU, of `numbers`: blocks of rows, by its vector instructions
bytes                          uint8 (n, k / 2)                         the user: the first of two numbers in the upper half
numbers                        int32 (n, k)                             the user: a number from 0 to 15 in each
"""

import functools

import torch


def shape(weight, inner: int = 0) -> tuple:
    """Returns (n, k) of a weight in one of the orders."""
    if weight.ndim == 4:
        return 8 * weight.shape[0], weight.shape[1] * weight.shape[3] * 32
    return weight.shape[0], weight.shape[1] * (2 if weight.dtype == torch.uint8 else 1)


def order(weight, inner: int = 0) -> str:
    """Returns the name of the order of a weight; "" if it is none of them."""
    if weight.ndim == 4:
        return "mma" if weight.dtype == torch.int32 and not inner and weight.shape[2] == 32 else ""
    if weight.ndim != 2 or weight.dtype not in (torch.uint8, torch.int32):
        return ""
    return ("bytes" if weight.dtype == torch.uint8 else "numbers") if inner else "cpu" if weight.dtype == torch.uint8 else ""


def rows(weight, inner: int = 0):
    n, k = shape(weight, inner)
    numbers = {"mma": _of_mma, "cpu": _of_cpu, "bytes": _of_bytes, "numbers": lambda w: w.to(torch.uint8)}[order(weight, inner)](weight)
    flipped = numbers.reshape(n, k // 2, 2) ^ 8  # two's complement of q - 8
    return flipped[..., 0] | flipped[..., 1] << 4


def _of_bytes(weight):
    return torch.stack((weight >> 4, weight & 15), -1).flatten(1)


def _of_mma(weight):
    """Lane l of a warp has row l / 4. The eight numbers of its word w are those of two tiles of K: number j is element
    32 w + 8 (j % 4) + 2 (l % 4) + j / 4 of I / 2 words."""
    blocks, along, _, words = weight.shape
    fields = _of_bytes(weight.contiguous().view(torch.uint8).reshape(-1, 4)).reshape(-1, 4, 2).flip(-1)  # from the lowest bits on
    fields = fields.reshape(blocks, along, 8, 4, words, 2, 4)  # row, lane, word, j / 4, j % 4
    return fields.permute(0, 2, 1, 4, 6, 3, 5).reshape(8 * blocks, along * words * 32)


def _of_cpu(weight):
    n, k = shape(weight)
    block, first, step = (x[:, None] for x in _places(n))
    at = block * k + first + step * torch.arange(k)
    fields = torch.stack((weight & 15, weight >> 4), -1).flatten()
    return fields[at.to(weight.device)]


@functools.cache
def _places(n: int) -> tuple:
    """Returns for each of n rows how many rows are before its block, which of the block's it is, and how many rows the block has, so that
    element k of K lies at before * K + k * rows + which. The order depends on the CPU, so that torch is asked to pack numbers that say where
    they were."""
    two, four = (_asked(n, k) for k in (2, 4))
    before = (four[:, 0] - two[:, 0]) // 2
    return before, two[:, 0] - 2 * before, two[:, 1] - two[:, 0]


def _asked(n: int, k: int):
    """Returns where torch puts the elements of a matrix (n, k), as a number of 4 bits."""
    index = torch.arange(n * k).reshape(n, k)
    packed = [torch.ops.aten._convert_weight_to_int4pack_for_cpu((index >> shift & 15).int(), 1) for shift in range(0, 32, 4)]
    fields = [torch.stack((p & 15, p >> 4), -1).flatten().long() << 4 * i for i, p in enumerate(packed)]
    place = torch.empty(n * k, dtype=torch.long)
    place[sum(fields)] = torch.arange(n * k)
    return place.reshape(n, k)
