"""Tests that need a GPU: launches on torch's stream, captured graphs, threads, the time of a call. Run by tests/gpu/run.sh."""

import threading
import time

import pytest
import zellige

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("torch finds no GPU", allow_module_level=True)
if zellige.gpu()[1]:
    pytest.skip(zellige.gpu()[1], allow_module_level=True)


def layer(x, w, b):
    return zellige.softmax(zellige.silu(x @ w + b), -1)


def tensors(dtype=torch.float16, device="cuda"):
    torch.manual_seed(3)
    return [(torch.randn(s) / s[0] ** 0.5).to(device, dtype) for s in ((128, 256), (256, 64), (64,))]


@pytest.mark.parametrize("dtype, bound", [(torch.float16, 2e-3), (torch.bfloat16, 2e-2), (torch.float32, 2e-6)])
def test_a_layer_on_the_current_stream(dtype, bound):
    x, w, b = tensors(dtype)
    program = zellige.compile(layer, x, w, b, on="gpu", constant="w")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        delayed = x * 2  # only who waits on this stream sees it
        y = program(delayed, w, b)
    side.synchronize()
    assert y.is_cuda and y.dtype == dtype
    assert (y - layer(x * 2, w, b)).abs().max() <= bound
    out = torch.empty_like(y)
    assert program(delayed, w, b, out=[out]) is out
    torch.cuda.synchronize()
    assert torch.equal(out, y)


def two_kernels(x, w, b):
    """Softmax down the columns of a product, and a product of that: it needs a workspace."""
    return zellige.softmax(x @ w + b, 0) @ w.T


def test_a_captured_graph_is_replayed_on_new_values():
    x, w, b = tensors()
    program = zellige.compile(two_kernels, x, w, b, on="gpu", fuse=False)
    assert program.workspace > 0
    out = torch.empty(128, 256, device="cuda", dtype=torch.float16)
    program(x, w, b, out=[out])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        program(x, w, b, out=[out])
        again = program(x, w, b)
    for scale in (2, -1):
        x.mul_(scale)
        graph.replay()
        torch.cuda.synchronize()
        assert (out - two_kernels(x, w, b)).abs().max() <= 2e-3 and torch.equal(out, again)


def test_threads_and_streams_share_a_program():
    x, w, b = tensors()
    program = zellige.compile(two_kernels, x, w, b, on="gpu", fuse=False)
    expected = [two_kernels(x * i, w, b) for i in range(4)]
    found = [None] * 4

    def work(i):
        with torch.cuda.stream(torch.cuda.Stream()):
            mine = x * i
            for _ in range(50):
                found[i] = program(mine, w, b)
            torch.cuda.current_stream().synchronize()

    torch.cuda.synchronize()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for f, e in zip(found, expected):
        assert (f - e).abs().max() <= 2e-3


def test_every_gpu_has_its_own():
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU here")
    program = zellige.compile(two_kernels, *tensors(), on="gpu", fuse=False)
    for device in ("cuda:1", "cuda:0"):
        inputs = tensors(device=device)
        y = program(*inputs)
        torch.cuda.synchronize(device)
        assert str(y.device) == device and (y - two_kernels(*inputs)).abs().max() <= 2e-3
        assert torch.cuda.current_device() == 0
    inputs = [tensors(device=f"cuda:{i % 2}") for i in range(4)]
    expected, found = [two_kernels(*x) for x in inputs], [None] * 4

    def work(i):
        for _ in range(50):
            found[i] = program(*inputs[i])
        torch.cuda.synchronize(i % 2)

    for i in (0, 1):
        torch.cuda.synchronize(i)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, (f, e) in enumerate(zip(found, expected)):
        assert str(f.device) == f"cuda:{i % 2}" and (f - e).abs().max() <= 2e-3


def test_what_differs_is_one_sentence(refusal):
    x, w, b = tensors()
    program = zellige.compile(layer, x, w, b, on="gpu")
    sentence = "program layer, input w: expected it on cuda:0, where input x lies, found it on the host"
    assert refusal(lambda: program(x, w.cpu(), b)) == sentence
    assert refusal(lambda: program(x.cpu(), w.cpu(), b.cpu())).startswith("program layer: was made for the GPU, expected")
    shifted = torch.empty(x.numel() + 1, device="cuda", dtype=x.dtype)[1:].view_as(x)
    sentence = "program layer, input x: expected memory that begins at a multiple of 16 bytes, found 2 above one"
    assert refusal(lambda: program(shifted, w, b)) == sentence
    emulated = zellige.compile(layer, x, w, b, on="emulator")
    sentence = "program layer: was made for the emulator, expected tensors on the host, found them on cuda:0"
    assert refusal(lambda: emulated(x, w, b)) == sentence


def test_a_program_tells_its_time():
    program = zellige.compile(layer, *tensors(), on="gpu")
    assert program.time() > 0


def test_tuning_takes_the_fastest_tiling():
    x, w, b = tensors()
    program = zellige.compile(layer, x, w, b, tune=3)
    assert (program(x, w, b) - layer(x, w, b)).abs().max() <= 2e-3


def test_the_time_of_a_call(capsys):
    """Eight arguments, `out`, no kernel of any size: what the host takes, the driver's launch included."""

    def total(a, b, c, d, e, f, g):
        return a + b + c + d + e + f + g

    inputs = [torch.randn(8, 8, device="cuda") for _ in range(7)]
    out = [torch.empty(8, 8, device="cuda")]
    program = zellige.compile(total, *inputs, on="gpu")
    for _ in range(100):
        program(*inputs, out=out)
    torch.cuda.synchronize()
    rounds = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(100):
            program(*inputs, out=out)
        rounds.append((time.perf_counter() - start) * 1e4)
        torch.cuda.synchronize()
    with capsys.disabled():
        print(f"\na call of 8 tensors takes the host {min(rounds):.1f} us, the driver's launch included")
    start = time.perf_counter()
    for _ in range(100):
        y = program(*inputs)
    each = (time.perf_counter() - start) * 1e4
    torch.cuda.synchronize()
    with capsys.disabled():
        print(f"without out {each:.1f} us")
    assert torch.equal(y, out[0])


def test_a_layer_by_torch_compile_on_the_gpu():
    from test_torch_compile import llama
    from zellige import torch_backend

    model, inputs = llama(torch.bfloat16)
    model, inputs = model.cuda(), [i.cuda() for i in inputs]
    torch._dynamo.reset()
    torch_backend.reports.clear()
    with torch.no_grad():
        run = torch.compile(model, backend=torch_backend.backend, options={"take": "all"})
        found, expected = [run(*inputs) for _ in range(2)][1], model(*inputs)
    assert (found - expected).abs().max() <= 4e-2
    assert torch_backend.reports[0].taken == torch_backend.reports[0].operators


def test_one_operator_is_left_to_torch_on_the_gpu():
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    x = torch.randn(8, 64, device="cuda")
    with torch.no_grad():
        found = torch.compile(torch.relu, backend=torch_backend.backend)(x)
    assert torch.equal(found, torch.relu(x))
    assert torch_backend.reports[0].parts == [] and "stays by itself" in torch_backend.reports[0].left["aten.relu.default"]


@pytest.mark.parametrize("shape, groups", [((2, 8, 20, 24), 1), ((2, 8, 20, 24), 8), ((1, 3, 17, 9), 1)])
def test_convolutions_in_channels_last(shape, groups):
    """Their results, and the graph's, lie as eager's do."""
    from zellige import torch_backend

    torch._dynamo.reset()
    channels = shape[1]
    x, w, v = (torch.randn(s, device="cuda") for s in (shape, (16 if groups == 1 else 8, channels // groups, 3, 3), (16, 16 if groups == 1 else 8, 1, 1)))

    def function(x, w, v):
        y = torch.relu(torch.nn.functional.conv2d(x, w, padding=1, groups=groups) * 0.5)
        z = torch.nn.functional.conv2d(y, v)
        return torch.nn.functional.hardswish(z) + 1, z.flatten(1) * 2, y

    with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        found, expected = torch.compile(function, backend=torch_backend.backend)(x, w, v), function(x, w, v)
    for f, e in zip(found, expected):
        torch.testing.assert_close(f, e, rtol=1e-4, atol=1e-4)
        assert f.stride() == e.stride()


@pytest.mark.parametrize("last", [False, True])
def test_a_network_in_the_layout_that_is_selected(monkeypatch, last):
    """As if the other layout took longer; results have eager's strides."""
    from test_torch_layout import Net
    from zellige import torch_backend
    from zellige.torch.measure import convolution_kernels
    from zellige.torch.rewrites import channels_last

    selected, choose = [], channels_last._selected
    monkeypatch.setattr(channels_last, "_selected", lambda *given: selected.append(choose(*given)) or selected[-1])
    monkeypatch.setattr(convolution_kernels, "us", lambda node, deadline: (1e3, 0.0) if last else (0.0, 1e3))
    torch._dynamo.reset()
    torch.manual_seed(3)
    net, x = Net().eval().cuda(), torch.randn(2, 3, 24, 24, device="cuda")
    with torch.no_grad():
        run = torch.compile(net, backend=torch_backend.backend)
        found, again, expected = run(x), run(x), net(x)
    assert len(selected) == 1 and len(selected[0][0]) == (8 if last else 0)
    for f, a, e in zip(found, again, expected, strict=True):
        torch.testing.assert_close(f, e, rtol=1e-2, atol=1e-2)  # cuDNN's in TF32
        assert torch.equal(f, a) and f.stride() == e.stride()


def test_convolutions_are_measured_in_both_layouts():
    from zellige.torch.measure import convolution_kernels
    from test_torch_layout import traced

    graph = traced(lambda x, w: torch.nn.functional.conv2d(x, w, padding=1), (1, 64, 32, 32), (64, 64, 3, 3))
    node = next(iter(graph.find_nodes(op="call_function", target=torch.ops.aten.convolution.default)))
    before = len(convolution_kernels._US)
    assert all(0 < us < 1e4 for us in convolution_kernels.us(node, time.monotonic() + 60))
    assert len(convolution_kernels._US) == before + 2 and None not in convolution_kernels._US.values()


def test_parts_and_what_is_left_on_the_gpu():
    """Tensors that lie otherwise than when it was compiled, too."""
    from zellige import torch_backend

    def function(x, w, g):
        y = torch.nn.functional.conv_transpose2d(torch.relu(x) * g, w)  # whose windows overlap
        return torch.sigmoid(y) * 2 - 1, y.mean((2, 3)) + 1

    torch._dynamo.reset()
    torch_backend.reports.clear()
    run = torch.compile(function, backend=torch_backend.backend, options={"take": "all"})
    g, w = torch.rand(4, 1, 1, device="cuda"), torch.randn(4, 6, 3, 3, device="cuda")
    for x in (torch.randn(2, 4, 16, 16, device="cuda"), torch.randn(2, 4, 16, 16, device="cuda")):
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            for found, expected in zip(run(x, w, g), function(x, w, g), strict=True):
                torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    assert len(torch_backend.reports) == 1 and len(torch_backend.reports[0].parts) == 2


def test_calls_that_are_replayed_on_the_gpu():
    """Outputs are overwritten by the next call; weights that change where they lie, and others in their place."""
    from test_torch_compile import llama
    from zellige import torch_backend

    model, inputs = llama(torch.bfloat16)
    model, inputs = model.cuda(), [i.cuda() for i in inputs]
    torch._dynamo.reset()
    torch_backend.reports.clear()
    with torch.no_grad():
        run = torch.compile(model, backend=torch_backend.backend, mode="reduce-overhead")
        run(*inputs)
        first = run(*inputs)
        assert (first - model(*inputs)).abs().max() <= 4e-2
        other = [torch.randn_like(inputs[0]), *inputs[1:]]
        second = run(*other)
        assert torch.equal(first, second) and (second - model(*other)).abs().max() <= 4e-2
        weight = next(p for p in model.parameters() if p.ndim == 2)
        weight.mul_(0.5)
        torch.cuda.synchronize()
        assert (run(*other) - model(*other)).abs().max() <= 4e-2
        weight.data = weight.data * 2
        torch.cuda.synchronize()
        for _ in range(2):
            assert (run(*other) - model(*other)).abs().max() <= 4e-2
    assert torch_backend.reports[0].captured == 2 and torch_backend.reports[0].uncaptured == ""


@pytest.mark.parametrize("take", ["all", None])
def test_a_graph_that_the_caller_captured_outlives_the_function(take):
    """The graph reads constants, workspaces and kernels of a function that is gone, and whose memory others may get."""
    import gc

    from zellige import torch_backend

    def table(x, w, i):
        rows = torch.nn.functional.embedding(i, x) @ w
        mask = torch.arange(rows.shape[0], device=x.device)[:, None] >= torch.arange(rows.shape[0], device=x.device)
        return torch.softmax((rows @ rows.mT).masked_fill(~mask, -1e4), -1) @ rows + rows.cumsum(0)[torch.arange(rows.shape[0] - 1, -1, -1, device=x.device)]

    x, w, i = torch.randn(500, 256, device="cuda").half() / 16, torch.randn(256, 256, device="cuda").half() / 16, torch.randint(0, 500, (512,), device="cuda")
    torch._dynamo.reset()
    with torch.no_grad():
        run, graph, stream = torch.compile(table, backend=torch_backend.backend, options={"take": take}), torch.cuda.CUDAGraph(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            run(x, w, i)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            made = run(x, w, i)
        del run
        torch._dynamo.reset()
        torch_backend.reports.clear()
        gc.collect()
        torch.cuda.synchronize()
        others = [torch.full((n,), -(1 << 30), dtype=torch.int32, device="cuda") for n in (1 << k for k in range(1, 24)) for _ in range(8)]
        torch.cuda.empty_cache()
        for seed in range(3):
            i.copy_(torch.randint(0, 500, (512,), generator=torch.Generator().manual_seed(seed)))
            graph.replay()
            torch.cuda.synchronize()
            expected = table(x.float(), w.float(), i)
            assert (made.float() - expected).abs().max() <= 1e-2 * expected.abs().max()
    assert all(bool((t == -(1 << 30)).all()) for t in others)


@pytest.mark.parametrize("index", [500, -1])
def test_an_index_out_of_range_ends_in_torchs_assertion_on_the_gpu(index):
    """As in eager torch; the context is lost, so another process runs it."""
    import subprocess
    import sys

    text = f"""
import torch, zellige.torch_backend
table, i = torch.randn(500, 64, device="cuda"), torch.tensor([{index}], device="cuda")
with torch.no_grad():
    run = torch.compile(lambda x, i: torch.nn.functional.embedding(i, x) * 2, backend="zellige", options={{"take": "all"}})
    run(table, i * 0)
    run(table, i)
    torch.cuda.synchronize()
"""
    made = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert made.returncode != 0 and "device-side assert" in made.stderr, made.stderr[-2000:]


def test_a_capture_that_fails_leaves_the_gpu_as_it_was():
    from zellige.torch.execute import cudagraphs

    gpu, x = cudagraphs.Gpu(torch.device("cuda", torch.cuda.current_device())), torch.ones(4, device="cuda")
    stream = gpu.new_stream()
    with pytest.raises(RuntimeError):
        gpu.capture(lambda x: (x.cpu(),), [x], stream)
    assert torch.cuda.current_stream() != stream
    outputs, replay = gpu.capture(lambda x: (x * 2,), [x], stream)
    x.fill_(3)
    replay()
    assert torch.equal(outputs[0], torch.full_like(x, 6)) and torch.equal(x + torch.ones_like(x), torch.full_like(x, 4))


@pytest.mark.parametrize("shared, causal, masked, size", [(1, False, False, 72), (1, True, False, 64), (4, True, False, 128), (1, False, True, 64), (4, False, True, 64)])
def test_attention_that_is_left_calls_the_fastest_kernel(shared, causal, masked, size, capsys):
    from zellige.torch.import_ import custom
    from zellige.torch.measure import attention_kernels

    q, k, v = (torch.randn(2, 512, h, size, device="cuda", dtype=torch.float16).transpose(1, 2) for h in (8, 8 // shared, 8 // shared))
    mask = torch.randn(512, 512, device="cuda", dtype=torch.float16) if masked else None
    graph, given = torch.fx.Graph(), []
    for t in (q, k, v, mask):
        given.append(None if t is None else graph.placeholder(f"x{len(given)}"))
        if t is not None:
            given[-1].meta["val"] = t
    graph.call_function(custom.ATTENTION, (*given, causal, None, shared > 1))
    (choice,) = attention_kernels.choose(graph, captured=True)
    with capsys.disabled():
        print(f"\n{choice}")
    assert choice.costs[choice.name].gpu == min(cost.gpu for cost in choice.costs.values() if cost) or choice.name == attention_kernels.DEFAULT
    found, expected = choice.call(q, k, v, mask, causal, None, shared > 1), custom.attention(q, k, v, mask, causal, None, shared > 1)
    assert found.stride() == expected.stride() and attention_kernels._agrees(found, expected)
