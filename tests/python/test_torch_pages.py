"""Attention over the pages of a cache, and lengths of sequences, as models write them: the kernels read the pages where they are."""

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

BATCH, HEADS, GROUP, SIZE, PAGE, MOST, PAGES = 3, 2, 4, 64, 16, 64, 101


@pytest.fixture
def backend():
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    return torch_backend


def keys(cache, table):
    """The keys (batch, heads, keys, size) of a cache (pages, page, heads, size)."""
    return cache[table].reshape(table.shape[0], -1, HEADS, SIZE).transpose(1, 2)


def by_selection(q, k, v, table, lengths):
    before = torch.arange(MOST * PAGE)[None] < lengths[:, None]
    scores = q @ keys(k, table).transpose(-1, -2) * SIZE**-0.5
    return scores.masked_fill(~before[:, None, None], -torch.inf).softmax(-1) @ keys(v, table)


def by_attention(q, k, v, table, lengths):
    before = torch.arange(MOST * PAGE)[None] < lengths[:, None]
    return F.scaled_dot_product_attention(q, keys(k, table), keys(v, table), before[:, None, None])


def drawn(seed, numbers):
    generator = torch.Generator().manual_seed(seed)
    k, v = (torch.randn(PAGES, PAGE, HEADS, SIZE, generator=generator).half() for _ in range(2))
    q = torch.randn(BATCH, HEADS, GROUP, SIZE, generator=generator).half()
    return q, k, v, torch.randint(PAGES, (BATCH, MOST), generator=generator, dtype=numbers)


@pytest.mark.parametrize("numbers", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("attend", [by_selection, by_attention])
def test_pages_are_read_where_they_are(backend, attend, numbers):
    q, k, v, table = drawn(6060, numbers)
    run = torch.compile(attend, backend="zellige", options={"take": "all"})
    for lengths in ([1, PAGE, PAGE + 1], [MOST * PAGE] * 3, [37, 2 * PAGE, 5]):
        lengths = torch.tensor(lengths, dtype=numbers)
        found, right = run(q, k, v, table, lengths), attend(q.double(), k.double(), v.double(), table, lengths)
        assert (found - right).abs().max() <= 4e-3
    (report,) = backend.reports
    assert len(report.parts) == 1, str(report)
    source = report.parts[0].source
    assert " / 16)" in source or "/ 16, 0)" in source, source
    assert "_rows" not in source, source  # no kernel gathers rows in memory


def test_an_entry_that_names_no_page(backend):
    q, k, v, table = drawn(6061, torch.int64)
    table[1, 2] = PAGES
    with pytest.raises(IndexError, match="index 101 is out of bounds for dimension 0 with size 101"):
        torch.compile(by_selection, backend="zellige", options={"take": "all"})(q, k, v, table, torch.tensor([1, 2, 3]))
