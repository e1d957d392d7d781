"""The timing of all benches and what they share: inputs, kernels compiled by nvcc, cuBLAS, the two ceilings, and the JSON.

Every set of inputs is random, and the sets together exceed the L2 three times; a CUDA graph evaluates each set once; rounds
alternate between the contestants, and the median of the rounds is reported. The roofline bound of a workload is the larger of
its bytes over the copy bandwidth and its FLOPs over the rate of cuBLAS at 8192 (bf16), both measured in the same call.
"""
import ctypes, datetime, glob, json, math, os, subprocess, sys
import torch

vp, DEVICE = ctypes.c_void_p, "cuda"
here = os.path.dirname(os.path.abspath(__file__))


def pointer(t):
    return vp(t.data_ptr())


def stream():
    return vp(torch.cuda.current_stream().cuda_stream)


def rnd(*shape, dtype=torch.float16, scale=1.0):
    return (torch.randn(*shape, device=DEVICE) * scale).to(dtype)


def build(folder, only=None):
    os.makedirs(folder, exist_ok=True)
    libraries = {}
    for source in sorted(glob.glob(os.path.join(here, "kernels", "*.cu"))):
        name = os.path.basename(source)[:-3]
        if only and name not in only:
            continue
        out = os.path.join(folder, name + ".so")
        if not os.path.exists(out):
            print(f"building {name} ...", file=sys.stderr, flush=True)
            subprocess.run(["nvcc", "-std=c++20", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-shared", "-Xcompiler",
                            "-fPIC", "-I", os.path.join(here, "..", "include"), "-o", out, source], check=True)
        libraries[name] = ctypes.CDLL(out)
    return libraries


def must(status, what):
    if status != 0:
        raise RuntimeError(f"{what}: CUDA error {status}")


class Cublas:
    """cublasGemmEx on row-major D = A B^T."""

    def __init__(self):
        import importlib.util
        root = os.path.dirname(importlib.util.find_spec("nvidia").submodule_search_locations[0] + "/x")
        found = glob.glob(root + "/**/libcublas.so.*", recursive=True)
        self.lib = ctypes.CDLL(found[0] if found else "libcublas.so.13")
        self.handle = vp()
        must(self.lib.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")
        self.workspace = torch.empty(64 << 20, dtype=torch.uint8, device=DEVICE)
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)

    def nt(self, a, b, d, transposed_b=True):
        m, k = a.shape
        n = d.shape[1]
        kind = 2 if a.dtype == torch.float16 else 14
        must(self.lib.cublasSetStream_v2(self.handle, stream()), "cublasSetStream")
        must(self.lib.cublasSetWorkspace_v2(self.handle, pointer(self.workspace), ctypes.c_size_t(64 << 20)), "workspace")
        must(self.lib.cublasGemmEx(self.handle, 1 if transposed_b else 0, 0, n, m, k, ctypes.byref(self.one), pointer(b), kind,
                                   k if transposed_b else n, pointer(a), kind, k, ctypes.byref(self.zero), pointer(d), kind, n,
                                   68, -1), "cublasGemmEx")


def error(x, exact):
    return ((x.float() - exact.float()).norm() / exact.float().norm()).item()


def graph(thunks):
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        for f in thunks:
            f()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g, stream=s):
        g.keep = [f() for f in thunks]
    return g


def measure(contestants, rounds, ms=10.0):
    """name -> callables, one per input set; returns raw microseconds per evaluation, by name."""
    graphs = {n: graph(f) for n, f in contestants.items()}
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    repeats = {}
    for n, g in graphs.items():
        g.replay()
        torch.cuda.synchronize()
        begin.record(), g.replay(), end.record()
        torch.cuda.synchronize()
        repeats[n] = max(1, int(ms / max(begin.elapsed_time(end), 1e-3)))
    raw = {n: [] for n in graphs}
    for r in range(rounds):
        for n in (list(graphs) if r % 2 == 0 else list(graphs)[::-1]):
            begin.record()
            for _ in range(repeats[n]):
                graphs[n].replay()
            end.record()
            torch.cuda.synchronize()
            raw[n].append(begin.elapsed_time(end) * 1e3 / repeats[n] / len(contestants[n]))
    return raw


def median(values):
    return sorted(values)[len(values) // 2]


def ceilings():
    x = rnd(1 << 28)
    y = torch.empty_like(x)
    a, b = rnd(8192, 8192, dtype=torch.bfloat16), rnd(8192, 8192, dtype=torch.bfloat16)
    raw = measure({"copy": [lambda: torch.neg(x, out=y)], "matmul": [lambda: a @ b.t()]}, 9, 30.0)
    return 4 * x.numel() / median(raw["copy"]) * 1e6, 2 * 8192**3 / median(raw["matmul"]) * 1e6


def sets_of(make):
    """The number of sets that together exceed the L2 three times."""
    first = make()
    size = sum(t.numel() * t.element_size() for t in first)
    return [first] + [make() for _ in range(min(63, int(180e6 / size)))]


def wanted(name, only):
    return not only or any(name.startswith(o) for o in only.split(","))


def clocks():
    """SM and memory clock in MHz, power in W, temperature in C, as nvidia-smi reports them now; empty if it is missing."""
    fields = ("clocks.sm", "clocks.mem", "clocks.max.sm", "power.draw", "temperature.gpu")
    try:
        found = subprocess.run(["nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(zip(fields, found.stdout.splitlines()[0].split(", ")))


def commit():
    """The measured commit: of this checkout, or $ZELLIGE_COMMIT if the tree was copied without its history."""
    given = os.environ.get("ZELLIGE_COMMIT")
    found = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True)
    if not given and found.returncode:
        sys.exit("bench: the commit that is measured is not known: set ZELLIGE_COMMIT")
    return given or found.stdout.strip()


def machine():
    """The origin that a file of raw samples records; bench/report.py requires all of it."""
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.splitlines()[0]
    return {"driver": driver, "clocks": {"before": clocks()}, "date": datetime.date.today().isoformat(), "commit": commit(), "torch": torch.__version__}


class Results:
    """The output of a bench: the machine, the ceilings, and for each workload its roofline bound and the raw samples of every
    contestant."""

    def __init__(self, path):
        self.path = path
        self.bandwidth, self.rate = ceilings()
        print(f"{torch.cuda.get_device_name()}: copy {self.bandwidth / 1e12:.2f} TB/s, cuBLAS bf16 8192^3 {self.rate / 1e12:.0f} TFLOP/s")
        self.all = {"device": torch.cuda.get_device_name(), **machine(), "copy_bandwidth": self.bandwidth, "matrix_rate": self.rate, "workloads": {}}

    def roofline(self, moved, flops):
        return max(moved / self.bandwidth, flops / self.rate) * 1e6

    def add(self, name, moved, flops, raw, **more):
        self.all["workloads"][name] = dict(floor=self.roofline(moved, flops), bytes=moved, flops=flops, **more, microseconds=raw)
        if self.path:
            with open(self.path + ".part", "w") as f:
                json.dump(self.all, f, indent=1)

    def close(self):
        if self.path and self.all["workloads"]:
            self.all["clocks"]["after"] = clocks()
            with open(self.path + ".part", "w") as f:
                json.dump(self.all, f, indent=1)
            os.replace(self.path + ".part", self.path)
