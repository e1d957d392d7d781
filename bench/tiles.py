#!/usr/bin/env python3
"""Times the tiles of standalone matmuls that have the least expected time, each against the others and against cuBLAS.

  bench/tiles.py --prepare DIR [--zellige FILE] [--each N] [--only NAME,...]      plan tiles, write sources (no GPU, no nvcc)
  bench/tiles.py DIR --json FILE [--rounds N] [--only NAME,...]                   compile and time them (nvcc and a GPU)

Matmuls: those of bench/emitted.py, and draws by seed: of float16 and bfloat16 (draw_), of float32 (f32_) and batched.
Evaluations overlap (PDL), as in bench/emitted.py. The file has a line of the device and the protocol, and a line per matmul:
its sizes, cuBLAS's us, and of each tile [[M, N, K], threads, A and B swapped, us]. bench/fit_price.py --tiles reads it.
"""
import argparse, concurrent.futures, json, os, pathlib, random, re, subprocess, sys, tempfile, threading
import emitted

HERE = pathlib.Path(__file__).resolve().parent
PER_UNIT = 8  # programs per source file: nvcc reads the headers once for all of them
HANGS_AFTER = 15  # seconds
PROTOCOL = "median of {} interleaved rounds of CUDA graphs, overlapping evaluations (PDL), operands three times the L2"


def of_16_bits(i):
    d = random.Random(81000 + i)
    m = d.choice((1, 8, 16, 64, 256, d.randrange(1, 128), d.randrange(128, 8192), d.choice((512, 1024, 2048, 4096))))
    n, k = (d.choice((d.choice((256, 512, 768, 1024, 2048, 4096, 8192)), 8 * d.randrange(8, 1200), 8 * d.randrange(8, 300))) for _ in "nk")
    n, k = (s + (d.randrange(1, 8) if d.random() < 0.15 else 0) for s in (n, k))
    return dict(m=m, n=n, k=k, dtype=d.choice(("f16", "bf16")), b=d.choice("kkkn"), seed=81000 + i)


def of_float32(i):
    d = random.Random(82000 + i)
    m = d.choice((1, 4, 8, 16, 32, 64, 128, d.randrange(1, 512), d.randrange(128, 4096)))
    n, k = (d.choice((256, 512, 1024, 2048, 4096, 8 * d.randrange(8, 500))) for _ in "nk")
    return dict(m=m, n=n, k=k, dtype="f32", b=d.choice("kn"), seed=82000 + i)


def batched(i):
    d = random.Random(83000 + i)
    batch, m = d.choice((2, 4, 8, 16, 32, d.randrange(2, 64))), d.choice((1, 16, 64, 128, 256, d.randrange(1, 1024)))
    n, k = (d.choice((64, 128, 256, 512, 8 * d.randrange(8, 200))) for _ in "nk")
    return dict(m=m, n=n, k=k, dtype=d.choice(("f16", "bf16")), b="k" if d.random() < 0.5 else "n", batch=batch, seed=83000 + i)


def products():
    """name -> sizes, dtype, and the dimension along which B is contiguous"""
    drawn = {f"{family}_{i}": draw(i) for family, draw, count in (("draw", of_16_bits, 70), ("f32", of_float32, 24), ("batched", batched, 16)) for i in range(count)}
    return {name: dict(zip(("m", "n", "k", "dtype", "b"), p)) for name, p in emitted.products().items()} | drawn


def graph_of(p):
    """The graph of a matmul, of products() or of a line of the file. Its weights are not declared constant."""
    m, n, k = p["m"], p["n"], p["k"]
    a, b = (graph := emitted.product_graph(m, n, k, p["dtype"], p["b"]))["inputs"]
    del b["constant"]
    if "batch" in p:
        a.update(shape=[p["batch"], m, k], strides=[m * k, k, 1])
        b.update(shape=[p["batch"], k, n], strides=[k * n] + b["strides"])
        graph["operators"][0]["outputs"] = [{"name": "C"}]
    return graph


def candidates(p):
    """The tiles (M, N, K, threads, A and B swapped) that src/tiling/matmul_shapes.cpp lists, and a few more."""
    m, n, k = p["m"], p["n"], p["k"]
    if p["dtype"] == "f32":
        rows = re.findall(r"\{(\d+), (\d+), (\d+), (\d+)\}", (HERE.parent / "src/tiling/matmul_shapes.cpp").read_text().split("of_integers")[0])
        found = [(*map(int, row), False) for row in rows]
    else:
        powers = (16, 32, 64, 128)
        found = [(tm, tn, tk, threads, False) for tm in powers for tn in powers for tk in (32, 64, 128, 256, 512) if (tm + tn) * tk <= 24 * 1024
                 for threads in (128, 256) if threads == 128 or tm * tn >= 64 * 64]
    if p["dtype"] != "f32" and n % 8 == k % 8 == 0 and k >= 128:
        columns = range(16, 257, 16)
        found += [(tm, tn, 64, 2 * tm, False) for tm in (64, 128) for tn in columns if tm < m + 64 and tn < n + 16]
        parts = {-(-(-(-m // count)) // 8) * 8 for count in range(1, 9)} if m > 64 else {8} if m <= 8 else set()
        found += [(tm, tn, 64, min(256, 2 * tm), True) for tm in (64, 128, 256) if n % tm == 0 for tn in sorted({*columns, *parts})
                  if tn <= 256 and tn < m + 16 and tm * tn <= 128 * min(256, 2 * tm)]
    cut = lambda t: (min(t[0], n if t[4] else m), t[1] if t[4] else min(t[1], n), min(t[2], k), *t[3:])  # to the matrix
    return list({cut(t): t for t in reversed(found)}.values())


def transpiled(zellige, graph, tile, folder):
    """The source and the manifest of a graph of one matmul with this tile; None if zellige refuses the tile."""
    file, tiling = pathlib.Path(folder, "graph.json"), pathlib.Path(folder, "tiling.json")
    file.write_text(json.dumps(graph))
    tiling.write_text(json.dumps([dict(operator=0, tile=tile[:3], threads=tile[3], turned=tile[4])]))
    command = [zellige, "transpile", str(file), "--target", "sm_90a", "-o", folder, "--force", "--as-given", "--tiling", str(tiling)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None
    source = pathlib.Path(done.stdout.split("\n")[0])
    return source.read_text(), json.loads(source.with_suffix(".manifest.json").read_text())


def fastest(zellige, p, count):
    """The tiles of least expected time."""
    with tempfile.TemporaryDirectory() as folder:
        plans = [(transpiled(zellige, graph_of(p), tile, folder), tile) for tile in candidates(p)]
    return [tile for _, tile in sorted((sum(k["price"]["us"] for k in plan[1]["kernels"]), tile) for plan, tile in plans if plan)[:count]]


def joined(sources):
    """One source of several programs: each header once."""
    lines, first = "\n".join(sources).split("\n"), ("#include <zellige", "using namespace")
    return "\n".join(sorted({line for line in lines if line.startswith(first)}) + [line for line in lines if not line.startswith(first)])


def prepare(arguments):
    folder, sources = pathlib.Path(arguments.prepare), []
    folder.mkdir(parents=True, exist_ok=True)
    listed = [dict(product=name, **p, programs=[]) for name, p in products().items() if not arguments.only or name.startswith(tuple(arguments.only.split(",")))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, tempfile.TemporaryDirectory() as work:
        for p, tiles in zip(listed, pool.map(lambda p: fastest(arguments.zellige, p, arguments.each), listed)):
            for tile in tiles:
                program = f"p{len(sources)}"
                source, manifest = transpiled(arguments.zellige, {**graph_of(p), "name": program}, tile, work)
                p["programs"].append([program, f"u{len(sources) // PER_UNIT}", tile])
                (folder / f"{program}.json").write_text(json.dumps(manifest))
                sources.append(source)
    for i in range(0, len(sources), PER_UNIT):
        (folder / f"u{i // PER_UNIT}.cu").write_text(joined(sources[i:i + PER_UNIT]))
    (folder / "products.json").write_text(json.dumps(listed))
    print(f"{len(listed)} matmuls, {len(sources)} tiles")


def compiled(source):
    if not (out := source.with_suffix(".so")).exists():
        subprocess.run(["nvcc", "-std=c++20", "-O3", "-cudart", "shared", "-gencode=arch=compute_90a,code=sm_90a", "-shared", "-Xcompiler", "-fPIC",
                        "-I", str(HERE.parent / "include"), "-o", str(out), str(source)], check=True)


class Watch:
    """Ends the process if a program that was started does not end: a hanging kernel cannot be stopped otherwise."""

    timer = threading.Timer(0, print)

    def start(self, what):
        self.timer.cancel()
        self.what, self.timer = what, threading.Timer(HANGS_AFTER, self.stop)
        self.timer.daemon = True
        self.timer.start()

    def stop(self):
        print(f"bench/tiles.py: {self.what} has not ended within {HANGS_AFTER} s; the lines written so far are complete", file=sys.stderr, flush=True)
        os._exit(3)


def timed(folder, p, rounds, bench, watch):
    """A line of the file: the tiles with their times."""
    import torch
    programs = {(*tile,): emitted.Emitted(str(folder / program), str(folder / f"{unit}.so")) for program, unit, tile in p.pop("programs")}
    first = next(iter(programs.values()))
    sets = bench.sets_of(lambda: tuple(first.tensor(place) for place in first.inputs + first.outputs))
    exact, run = sets[0][0].float() @ sets[0][1].float(), {}
    for tile, program in programs.items():
        watch.start(f"{p['product']} with tile {tile}")
        sets[0][2].fill_(float("nan"))  # unwritten elements are detected
        error = bench.error(program.entry(True)(*sets[0]), exact)
        if not error < 1e-2:
            sys.exit(f"bench/tiles.py: {watch.what}: wrong, relative error {error:.3g}")
        run[tile] = program.entry(True)
    run["cublas"] = lambda a, b, d: torch.matmul(a, b, out=d)
    watch.start(p["product"])
    raw = bench.measure({who: [lambda s=s, f=f: f(*s) for s in sets] for who, f in run.items()}, rounds, 2.5)
    us = {who: float(f"{bench.median(v):.4g}") for who, v in raw.items()}
    watch.timer.cancel()
    return {**p, "tiles": [[tile[:3], tile[3], tile[4], us[tile]] for tile in programs], "cublas": us["cublas"]}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("folder", nargs="?", help="what --prepare wrote")
    a.add_argument("--prepare", metavar="DIR")
    a.add_argument("--zellige", default=str(HERE.parent / "build/zellige"))
    a.add_argument("--each", type=int, default=8, help="tiles per matmul")
    a.add_argument("--only", help="names or beginnings of names, separated by commas")
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument("--json", help="the lines are appended to this file")
    arguments = a.parse_args()
    if arguments.prepare:
        return prepare(arguments)
    if not arguments.folder or not arguments.json:
        a.error("expected DIR, which --prepare wrote, and --json FILE")
    import torch
    import clock as bench
    torch.cuda.is_available() or sys.exit("bench/tiles.py: no GPU here; it times kernels, so it needs one of compute capability 9.0")
    folder = pathlib.Path(arguments.folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compiled, sorted(folder.glob("u*.cu"))))
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    watch = Watch()
    with open(arguments.json, "a") as out:
        print(json.dumps({"device": torch.cuda.get_device_name(), **bench.machine(), "protocol": PROTOCOL.format(arguments.rounds)}), file=out)
        for p in json.loads((folder / "products.json").read_text()):
            if bench.wanted(p["product"], arguments.only):
                print(json.dumps(timed(folder, p, arguments.rounds, bench, watch), separators=(",", ":")), file=out, flush=True)
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
