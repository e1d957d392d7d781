#!/usr/bin/env python3
"""Times whole models, compiled and called as a user does: eager, torch.compile with backend="eager" (the cost of guards),
Inductor's default, and Zellige.

  bench/models.py --captured DIR (--draw N --seed S | --only NAME,...)   graphs in folders (captured.py), such as GraphNet's samples
  bench/models.py --zoo FILE [--only NAME,...] [--layers N]              a Python file with ZOO and build(name, layers) -> model, arguments, keywords
     [--rounds N] [--limit S] [--json FILE] [--options JSON] [--no-time] [--jobs N] [--device cpu]

Each model has its own process; --jobs N: N at a time are built, compiled and compared in parallel, then timed one after
another, when none compiles. Each is called from Python and, if it can be captured, in a CUDA graph: microseconds per call,
medians of interleaved rounds. Zellige is compiled once for each (in CUDA graphs with its option cudagraphs). Results are
checked against the model in float64, or float32 if float64 does not fit in memory, or eager's if neither runs: Zellige's rms error may be twice the larger of eager's
and Inductor's, or four steps of the dtype; 32 steps where neither differs from the reference, which then rounds as they do. --no-time only compiles and
compares. Prints a JSON row per model and a table at the end; exit status 1 if a result is wrong or a model fails.
"""
import argparse, concurrent.futures, contextlib, copy, importlib.util, json, math, os, statistics, subprocess, sys, tempfile, threading, time


IN_GRAPHS = "zellige_in_graphs"  # Zellige with the option cudagraphs, which is timed in CUDA graphs


def tensors(result):
    """The floating-point tensors in a model's result."""
    import torch
    if isinstance(result, torch.Tensor):
        return [result] if result.is_floating_point() else []
    values = result.values() if hasattr(result, "values") else result if isinstance(result, (list, tuple)) else []
    return [t for value in values for t in tensors(value)]


def zoo_of(path):
    spec = importlib.util.spec_from_file_location("zoo", path)
    zoo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(zoo)
    return zoo


def prepared(a, name):
    """The model as a function without arguments, and as one in another dtype."""
    import torch
    if a.captured:
        import captured
        model, arguments = captured.load(os.path.join(a.captured, name), a.device, a.seed)
        keywords = {}
    else:
        model, arguments, keywords = zoo_of(a.zoo).build(name, a.layers)

    def calls(compiled):
        own = copy.deepcopy(keywords)  # every call advances a cache
        return lambda: compiled(*arguments, **own)

    def exact():
        own = copy.deepcopy(keywords)
        for dtype in (torch.float64, torch.float32):
            try:
                wide = lambda t: t.to(dtype) if isinstance(t, torch.Tensor) and t.is_floating_point() else t
                return tensors(copy.deepcopy(model).to(dtype)(*map(wide, arguments), **own))
            except Exception as error:  # a dtype set by the model, or out of memory
                why = f"{type(error).__name__}: {error}"
        raise RuntimeError(why)

    used = [t for t in (*arguments, *model.parameters()) if isinstance(t, torch.Tensor) and t.is_floating_point()]
    return model, calls, exact, {t.dtype for t in used}


def error(found, exact):
    """The largest rms error of an output, relative to that output's rms."""
    worst = 0.0
    for f, e in zip(found, exact):
        e = e.double()
        scale = e.pow(2).mean().sqrt().item() or 1.0
        worst = max(worst, (f.double() - e).pow(2).mean().sqrt().item() / scale)
    return worst


def interleaved(runs, rounds):
    """Microseconds per call, the median of interleaved rounds; a round lasts some 20 ms."""
    import torch
    times, counts = {who: [] for who in runs}, {}
    for who, call in runs.items():
        torch.cuda.synchronize()
        start = time.perf_counter()
        call(), torch.cuda.synchronize()
        counts[who] = max(3, min(200, math.ceil(0.02 / max(time.perf_counter() - start, 1e-5))))
    for repeat in range(rounds):
        for who in (list(runs) if repeat % 2 == 0 else list(runs)[::-1]):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(counts[who]):
                runs[who]()
            torch.cuda.synchronize()
            times[who].append((time.perf_counter() - start) / counts[who] * 1e6)
    return {who: round(statistics.median(t), 1) for who, t in times.items()}


def row_of(a, name):
    import torch
    from zellige import torch_backend
    row, on_gpu = {"model": name}, a.device == "cuda"
    torch.manual_seed(a.seed)
    with torch.no_grad():
        model, calls, exact, dtypes = prepared(a, name)
        runs, results, reports = {"eager": calls(model)}, {}, []
        results["eager"] = tensors(runs["eager"]())
        options = json.loads(a.options) if a.options else {}
        ways = {"zellige": dict(backend=torch_backend.backend, options=options or None)}
        if not a.no_time:
            ways.update({"guards": dict(backend="eager"), "inductor": dict()})
        if on_gpu and not a.no_time:  # parts are then taken without regard to the host
            ways[IN_GRAPHS] = dict(backend=torch_backend.backend, options=options | {"cudagraphs": True})
        for who, how in ways.items():
            call = calls(torch.compile(model, **how))
            start = time.perf_counter()
            try:
                results[who] = tensors(call())
                if on_gpu:
                    torch.cuda.synchronize()
                row[f"seconds_{who}"] = round(time.perf_counter() - start, 1)
                runs[who] = call
                reports = reports or list(torch_backend.reports)
            except Exception as problem:
                row[f"failed_{who}"] = f"{type(problem).__name__}: {problem}"[:400]
        row["operators"], row["taken"] = sum(r.operators for r in reports), sum(r.taken for r in reports)
        row["parts"] = sum(len(r.parts) for r in reports)
        row["kernels"] = sum(len(p.manifest["kernels"]) for r in reports for p in r.parts)
        row["left"] = {k: v[:80] for r in reports for k, v in r.left.items()}
        row["faults"] = [f for r in reports for f in r.faults + r.rejected]
        row["phases"] = {k: round(sum(r.seconds.get(k, 0) for r in reports), 1) for k in ("tracing", "programs")}
        try:
            try:
                right = exact()
            except Exception as problem:  # the model sets a dtype of its own: eager's results are the reference
                row["exact"] = f"{type(problem).__name__}: {problem}"[:200]
                right = results["eager"]
            row["error"] = {who: error(found, right) for who, found in results.items()}
            steps = [torch.finfo(t.dtype).eps for t in results["eager"]]
            if "exact" in row:  # both results have the errors of all dtypes in the model
                steps += [torch.finfo(dtype).eps for dtype in dtypes]
            baseline = max(row["error"].get(who, 0) for who in ("eager", "inductor"))
            worst = max(row["error"].get(who, 0) for who in (IN_GRAPHS, "zellige")) if "zellige" in row["error"] else math.inf
            row["right"] = worst <= max(2 * baseline, (4 if baseline else 32) * max(steps, default=0)) or baseline != baseline
        except Exception as problem:
            row["exact"] = f"{type(problem).__name__}: {problem}"[:200]
        if on_gpu and not a.no_time:
            print("READY", flush=True)
            sys.stdin.readline()  # waits for the GPU
            in_graphs = runs.pop(IN_GRAPHS, None)
            row["us"] = interleaved(runs, a.rounds)
            if in_graphs:
                runs["zellige"] = in_graphs
            import cuda_graph
            graphs = {}
            for who, call in runs.items():
                try:
                    graphs[who] = cuda_graph.captured(call)
                except Exception as problem:
                    row[f"no_graph_{who}"] = f"{type(problem).__name__}: {problem}"[:120]
            if "zellige" in graphs:
                row["us_graph"] = interleaved(graphs, a.rounds)
    return row


def ratio(row, baseline, where="us"):
    us = row.get(where, {})
    return us[baseline] / us["zellige"] if baseline in us and "zellige" in us else None


def table(rows):
    mean = lambda values: math.exp(statistics.fmean(map(math.log, values))) if values else math.nan
    cell = lambda value: "-" if value is None else f"{value:.2f}"
    lines = ["| model | s | taken | parts | kernels | right | eager / ours | Inductor / ours | the same in CUDA graphs | slower of eager and guards / ours |", "|---|---|---|---|---|---|---|---|---|---|"]
    all_of = {"eager": [], "inductor": [], "graph": [], "guards": []}
    for row in rows:
        if "failed" in row:
            lines.append(f"| {row['model']} | {row['failed'][:60]} | | | | | | | | |")
            continue
        slower = [r for r in (ratio(row, "eager"), ratio(row, "guards")) if r is not None]
        found = {"eager": ratio(row, "eager"), "inductor": ratio(row, "inductor"), "graph": ratio(row, "inductor", "us_graph"), "guards": max(slower, default=None)}
        for baseline, value in found.items():
            if value is not None:
                all_of[baseline].append(value)
        right = {True: "yes", False: "**no**", None: "?"}[row.get("right")]
        lines.append(f"| {row['model']} | {row.get('seconds_zellige', '-')} | {row['taken']} of {row['operators']} | {row['parts']} | {row['kernels']} | {right} | " + " | ".join(cell(found[p]) for p in all_of) + " |")
    lines.append(f"\n{len(rows)} models; geometric means: " + ", ".join(f"{baseline} {mean(v):.3f} (least {min(v, default=math.nan):.2f})" for baseline, v in all_of.items()))
    seconds = sorted(r["seconds_zellige"] for r in rows if "seconds_zellige" in r)
    if seconds:
        lines.append(f"compiled in {statistics.median(seconds)} s (median), at most {seconds[-1]} s")
    return "\n".join(lines)


class Measured:
    """A model in its own process, which waits between compilation and timing until it gets the GPU."""

    def __init__(self, name, limit):
        self.name, self.limit, self.row, self.failed = name, limit, None, None
        self.errors = tempfile.TemporaryFile("w+")
        command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--one", name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def _until(self, word):
        """Reads its output up to a line with this prefix, or to the end."""
        timer = threading.Timer(self.limit, self._expire)
        timer.start()
        for line in self.process.stdout:
            if line.startswith("ROW "):
                self.row = json.loads(line[4:])
            if line.startswith(word):
                break
        timer.cancel()

    def _expire(self):
        self.failed = f"over {self.limit} s"
        self.process.kill()

    def compile(self):
        self._until("READY")

    def time(self):
        if self.process.poll() is None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.write("\n")
                self.process.stdin.flush()
            self._until("ROW ")
        self.process.kill()
        self.process.wait()
        if self.row:
            return self.row
        self.errors.seek(0)
        return {"model": self.name, "failed": self.failed or (self.errors.read().strip().splitlines() or ["no output"])[-1][:400]}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--captured", metavar="DIR")
    p.add_argument("--zoo", metavar="FILE")
    p.add_argument("--only", default="", metavar="NAME,...")
    p.add_argument("--draw", type=int, metavar="N")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--layers", type=int)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--limit", type=int, default=300, metavar="S", help="seconds a model")
    p.add_argument("--json", metavar="FILE")
    p.add_argument("--options", metavar="JSON", help="of the backend")
    p.add_argument("--no-time", action="store_true")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    p.add_argument("--one", help=argparse.SUPPRESS)
    a = p.parse_args()
    if bool(a.captured) == bool(a.zoo):
        p.error("expected --captured DIR or --zoo FILE")
    if a.device == "cpu":
        a.no_time = True  # times would be the emulator's
    if a.one:
        print("ROW " + json.dumps(row_of(a, a.one)), flush=True)
        return
    names = [n for n in a.only.split(",") if n]
    if a.captured and not names:
        import captured
        names = captured.draw(a.captured, a.draw, a.seed) if a.draw else captured.folders(a.captured)
    elif not names:
        names = list(zoo_of(a.zoo).ZOO)

    rows = []

    def done(row):
        rows.append(row)
        print("ROW " + json.dumps(row), flush=True)
        if a.json:
            with open(a.json, "w") as f:
                json.dump({"seed": a.seed, "rows": rows}, f, indent=1)

    for at in range(0, len(names), a.jobs):
        some = [Measured(name, a.limit) for name in names[at : at + a.jobs]]
        with concurrent.futures.ThreadPoolExecutor(len(some)) as pool:
            list(pool.map(Measured.compile, some))
        for one in some:
            done(one.time())
    print(table(sorted(rows, key=lambda r: r["model"])))
    if any(r.get("right") is False or r.get("failed") or r.get("failed_zellige") or r.get("faults") for r in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
