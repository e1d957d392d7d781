"""Generates the parts of README.md and docs/performance that have measured numbers, prose included, from bench/results."""
import raw


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|"] + ["| " + " | ".join(line) + " |" for line in lines])


PRODUCTS, LAYERS, SAVED, KERNELS = (raw.read(f"{name}_h200.json") for name in ("products", "layers", "saved", "kernels"))
COMPILE = raw.read("compile_time.json", raw.ORIGIN + ("compilers", "cutlass", "rows"))
SQUARES = [row for row in raw.rows(PRODUCTS, "gemm_") if not row.name.endswith("_nn")]
LLAMA, ODD = raw.rows(PRODUCTS, "llama_"), raw.rows(PRODUCTS, "odd_")
WHOLE, HAND = raw.rows(LAYERS), raw.rows(KERNELS)


def products():
    lines = [[row.name, f"{row.floor:.2f}", row.text("emitted"), row.text("emitted/apart"), row.text("hand"), row.text("hand/apart"),
              f"{row.text(row.best)} ({row.best})", f"{row.speed():.3f}", f"{row.speed('/apart'):.3f}"] for row in raw.rows(PRODUCTS, "gemm_")]
    overlap, without_overlap = raw.Sweep(SQUARES), raw.Sweep(SQUARES, "/apart")
    return "\n\n".join([raw.origin(PRODUCTS), table(["workload", "roofline, us", "emitted, us", "no overlap, us", "hand-written, us", "no overlap, us", "best baseline, us",
                                                      "speedup", "no overlap"], lines),
                        f"Without the last row: {overlap.sentence()}; without overlap {without_overlap.sentence()}."])


def models():
    columns = sorted({int(row.name.rsplit("_", 1)[1]) for row in LLAMA})
    by_name = {row.name: row for row in LLAMA}
    lines = []
    for product in dict.fromkeys(row.name.rsplit("_", 1)[0] for row in LLAMA):
        found = [by_name[f"{product}_{m}"] for m in columns]
        lines.append([product.removeprefix("llama_")] + [f"{row.us['emitted/apart']:.1f} us, {row.speed('/apart', 'cublas'):.2f}" for row in found])
    return "\n\n".join([raw.origin(PRODUCTS), table(["matmul"] + [f"{m} row{'s' if m > 1 else ''}" for m in columns], lines),
                        sweep_of(LLAMA, "/apart", "cublas", "cuBLAS")])


def odd():
    name = lambda row: row.name.removeprefix("odd_")
    lines = [[name(row), f"{row.floor:.1f}", row.text("emitted/apart", 1), row.text("hand/apart", 1), row.text("cublas", 1), f"{row.speed('/apart', 'cublas'):.2f}"]
             for row in ODD]
    return "\n\n".join([raw.origin(PRODUCTS), table(["matmul, f16", "roofline, us", "emitted, us", "hand-written, us", "cuBLAS, us", "speedup"], lines),
                        sweep_of(ODD, "/apart", "cublas", "cuBLAS")])


def against_best(found):
    return [[row.name, f"{row.floor:.2f}", row.text("emitted"), row.text("emitted/apart"), f"{100 * row.floor / row.us['emitted']:.0f}%",
             f"{row.text(row.best)} ({row.best})", f"{row.speed():.3f}", f"{row.speed('/apart'):.3f}",
             ", ".join(f"{who} {row.us[who]:.1f}" for who in row.peers[1:] + [w for w in ("hand",) if w in row.us]) or "-"] for row in found]


BEST = ["workload", "roofline, us", "emitted, us", "no overlap, us", "roofline / emitted", "best baseline, us", "speedup", "no overlap", "others, us"]


def sweep_of(found, column="", peer=None, name="the best baseline"):
    sweep = raw.Sweep(found, column, peer)
    return f"Speed against {name}: {sweep.sentence()}" + (f": {sweep.behind()}." if sweep.slower else ".")


def saved():
    return "\n\n".join([raw.origin(SAVED), table(BEST, against_best(raw.rows(SAVED))), sweep_of(raw.rows(SAVED))])


def layers():
    return "\n\n".join([raw.origin(LAYERS), table(BEST, against_best(WHOLE)), sweep_of(WHOLE)])


def kernels():
    lines = []
    for row in HAND:
        ours = row.samples["ours"]
        lines.append([row.name, f"{row.floor:.2f}", f"{row.text('ours')} ({min(ours):.2f}, {max(ours):.2f})", f"{row.floor / row.us['ours']:.0%}",
                      f"{row.text(row.best)} ({row.best})", f"{row.speed():.3f}", ", ".join(f"{who} {row.us[who]:.1f}" for who in row.peers[1:]) or "-"])
    return "\n\n".join([raw.origin(KERNELS), table(["workload", "roofline, us", "ours, us (min, max)", "roofline / ours", "best baseline, us", "speedup",
                                                     "other baselines, us"], lines), sweep_of(HAND)])


def compile_time():
    lines = []
    for row in COMPILE["rows"]:
        ours, cute = row["ours"], row.get("cute")
        ratio = lambda key: f"{ours[key] / cute[key]:.2f}" if cute and cute[key] else "-"
        lines.append([row["compiler"], row["unit"], f"{ours['cpu_s']:.2f}", f"{cute['cpu_s']:.2f}" if cute else "-", ratio("cpu_s"),
                      f"{ours['peak_mib']:.0f}", f"{cute['peak_mib']:.0f}" if cute else "-", ratio("peak_mib")])
    versions = "; ".join(f"{name}: {version}" for name, version in COMPILE["compilers"].items())
    origin = (f"{COMPILE['device']}, load {COMPILE['load']:.1f} from other work; {COMPILE['date']}, commit {COMPILE['commit']}. CuTe of CUTLASS {COMPILE['cutlass']}; "
              f"median of {COMPILE['repeat']}. {versions}.")
    return "\n\n".join([origin, table(["compiler", "unit", "ours, s", "CuTe, s", "ratio", "ours, MiB", "CuTe, MiB", "ratio"], lines)])


# The rows in README.md: one of each kind of part, including slower ones.
SHOWN = {"llama_decode": "Llama 3 8B layer, decode of one sequence", "llama_decode_b16": "the same, 16 sequences", "llama_prefill": "the same, prefill of 2048 tokens",
         "gpt_mlp": "MLP of GPT with its norm", "norm_gated_mlp": "gated MLP with its norm, one row", "plain_attention": "attention, softmax written out",
         "plain_attention_causal": "the same, causal", "cross_entropy": "cross entropy", "residual_rms_norm": "residual and RMSNorm"}


def readme():
    by_name = {row.name: row for row in WHOLE}
    lines = [[what, row.text("emitted", 1), f"{row.text(row.best, 1)} ({row.best})", f"{row.speed():.2f}"] for name, what in SHOWN.items() for row in [by_name[name]]]
    squares, llama, odd_sizes = raw.Sweep(SQUARES, "/apart"), raw.Sweep(LLAMA, "/apart", "cublas"), raw.Sweep(ODD, "/apart", "cublas")
    whole, hand = raw.Sweep(WHOLE), raw.Sweep(HAND)
    d = LAYERS
    return "\n\n".join([
        f"Parts of transformers, written in PyTorch, on one {d['device']} ({d['date']}, commit {d['commit']}), against the fastest of torch.compile (max-autotune), eager and cuDNN of the same call:",
        table(["part", "Zellige, us", "fastest baseline, us", "speedup"], lines),
        "\n".join([f"- All {whole.count} parts: {whole.sentence()}.",
                   f"- Standalone matmuls against cuBLAS, without overlap of launches: {squares.count} sizes, {squares.sentence()}.",
                   f"- {llama.count} matmuls of Llama 3: {llama.sentence()}. Of sizes that no tile divides, {odd_sizes.count} matmuls: {odd_sizes.sentence()}.",
                   f"- {hand.count} hand-written kernels on the library, against the fastest baseline: {hand.sentence()}."])])


def overview():
    """One row per sweep: number of rows, geometric mean of the speedups, the minimum, and the number slower than the baseline."""
    sweeps = (("parts of transformers", "fastest of torch.compile, eager, cuDNN", raw.Sweep(WHOLE), LAYERS),
              ("saved muGraphs", "fastest of torch.compile, eager", raw.Sweep(raw.rows(SAVED)), SAVED),
              ("standalone matmuls, no overlap", "cuBLAS", raw.Sweep(SQUARES, "/apart"), PRODUCTS),
              ("matmuls of Llama 3, no overlap", "cuBLAS", raw.Sweep(LLAMA, "/apart", "cublas"), PRODUCTS),
              ("matmuls that no tile divides, no overlap", "cuBLAS", raw.Sweep(ODD, "/apart", "cublas"), PRODUCTS),
              ("hand-written kernels", "fastest of cuBLAS, cuDNN, torch.compile, eager", raw.Sweep(HAND), KERNELS))
    lines = [[what, str(sweep.count), against, f"{sweep.mean:.3f}", f"{sweep.lowest:.3f} ({sweep.worst})", str(len(sweep.slower)), d["date"]]
             for what, against, sweep, d in sweeps]
    return "\n\n".join([raw.origin(LAYERS), table(["what", "rows", "baseline", "speedup, geometric mean", "least", "below 0.995", "date"], lines)])


def layer_steps():
    """The numbers of a Llama layer in docs/tutorials/torch-compile.md."""
    by_name = {row.name: row for row in WHOLE}
    lines = [[what, row.text("emitted", 1), *(row.text(who, 1) for who in ("compile", "eager")), f"{row.speed():.2f}"]
             for name, what in (("llama_decode", "1 sequence"), ("llama_decode_b8", "8 sequences"), ("llama_decode_b16", "16 sequences")) for row in [by_name[name]]]
    return "\n\n".join([raw.origin(LAYERS), table(["decode of a Llama 3 8B layer", "Zellige, us", "torch.compile max-autotune, us", "eager, us", "speedup over the faster"], lines)])


def bars(found, ours):
    """The data of a picture: name, fraction of the roofline bound that is reached, the same of the best baseline, and its
    name."""
    return [(row.name, row.floor / row.us[ours], row.floor / row.us[row.best], row.best) for row in found]


PAGES = {"README.md": {"readme": readme},
         "docs/tutorials/torch-compile.md": {"layer": layer_steps},
         "docs/performance/index.md": {"overview": overview},
         "docs/performance/tables-h200.md": {"products": products, "models": models, "odd": odd, "saved": saved, "layers": layers, "kernels": kernels},
         "docs/performance/compile-times.md": {"compile_time": compile_time}}
PICTURES = {"docs/pictures/kernels_h200.svg": lambda: bars(HAND, "ours"), "docs/pictures/emitted_h200.svg": lambda: bars(raw.rows(PRODUCTS, "gemm_"), "emitted"),
            "docs/pictures/layers_h200.svg": lambda: bars(WHOLE, "emitted")}
