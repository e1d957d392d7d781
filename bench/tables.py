"""Generates the parts of README.md and docs/performance that have measured numbers, prose included, from bench/results."""
import raw

NO_OVERLAP = raw.NO_OVERLAP


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|"] + ["| " + " | ".join(line) + " |" for line in lines])


PRODUCTS, LAYERS, SAVED, KERNELS = (raw.read(f"{name}_h200.json") for name in ("products", "layers", "saved", "kernels"))
COMPILE = raw.read("compile_time.json", raw.ORIGIN + ("compilers", "cutlass", "rows"))
SQUARES = [row for row in raw.rows(PRODUCTS, "gemm_") if not row.name.endswith("_nn")]
LLAMA, ODD = raw.rows(PRODUCTS, "llama_"), raw.rows(PRODUCTS, "odd_")
WHOLE, HAND = raw.rows(LAYERS), raw.rows(KERNELS)


def products():
    lines = [[row.name, f"{row.roofline:.2f}", row.shown("emitted"), row.shown("emitted" + NO_OVERLAP), row.shown("hand"), row.shown("hand" + NO_OVERLAP),
              f"{row.shown(row.best)} ({row.best})", f"{row.speed():.3f}", f"{row.speed(NO_OVERLAP):.3f}"] for row in raw.rows(PRODUCTS, "gemm_")]
    overlap, without_overlap = raw.Speedups(SQUARES), raw.Speedups(SQUARES, NO_OVERLAP)
    return "\n\n".join([raw.origin(PRODUCTS), table(["workload", "roofline, us", "emitted, us", "no overlap, us", "hand-written, us", "no overlap, us", "best baseline, us",
                                                      "speedup", "no overlap"], lines),
                        f"Without the last row: {overlap.sentence()}; without overlap {without_overlap.sentence()}."])


def models():
    columns = sorted({int(row.name.rsplit("_", 1)[1]) for row in LLAMA})
    by_name = {row.name: row for row in LLAMA}
    lines = []
    for product in dict.fromkeys(row.name.rsplit("_", 1)[0] for row in LLAMA):
        found = [by_name[f"{product}_{m}"] for m in columns]
        lines.append([product.removeprefix("llama_")] + [f"{row.us['emitted' + NO_OVERLAP]:.1f} us, {row.speed(NO_OVERLAP, 'cublas'):.2f}" for row in found])
    return "\n\n".join([raw.origin(PRODUCTS), table(["matmul"] + [f"{m} row{'s' if m > 1 else ''}" for m in columns], lines),
                        speedups_of(LLAMA, NO_OVERLAP, "cublas", "cuBLAS")])


def odd():
    name = lambda row: row.name.removeprefix("odd_")
    lines = [[name(row), f"{row.roofline:.1f}", row.shown("emitted" + NO_OVERLAP, 1), row.shown("hand" + NO_OVERLAP, 1), row.shown("cublas", 1), f"{row.speed(NO_OVERLAP, 'cublas'):.2f}"]
             for row in ODD]
    return "\n\n".join([raw.origin(PRODUCTS), table(["matmul, f16", "roofline, us", "emitted, us", "hand-written, us", "cuBLAS, us", "speedup"], lines),
                        speedups_of(ODD, NO_OVERLAP, "cublas", "cuBLAS")])


def against_best(found):
    return [[row.name, f"{row.roofline:.2f}", row.shown("emitted"), row.shown("emitted" + NO_OVERLAP), f"{100 * row.roofline / row.us['emitted']:.0f}%",
             f"{row.shown(row.best)} ({row.best})", f"{row.speed():.3f}", f"{row.speed(NO_OVERLAP):.3f}",
             ", ".join(f"{who} {row.us[who]:.1f}" for who in row.baselines[1:] + [w for w in ("hand",) if w in row.us]) or "-"] for row in found]


BEST = ["workload", "roofline, us", "emitted, us", "no overlap, us", "roofline / emitted", "best baseline, us", "speedup", "no overlap", "others, us"]


def speedups_of(found, column="", baseline=None, name="the best baseline"):
    speedups = raw.Speedups(found, column, baseline)
    return f"Speed against {name}: {speedups.sentence()}" + (f": {speedups.slower_rows()}." if speedups.slower else ".")


def saved():
    return "\n\n".join([raw.origin(SAVED), table(BEST, against_best(raw.rows(SAVED))), speedups_of(raw.rows(SAVED))])


def layers():
    return "\n\n".join([raw.origin(LAYERS), table(BEST, against_best(WHOLE)), speedups_of(WHOLE)])


def kernels():
    lines = []
    for row in HAND:
        ours = row.samples["ours"]
        lines.append([row.name, f"{row.roofline:.2f}", f"{row.shown('ours')} ({min(ours):.2f}, {max(ours):.2f})", f"{row.roofline / row.us['ours']:.0%}",
                      f"{row.shown(row.best)} ({row.best})", f"{row.speed():.3f}", ", ".join(f"{who} {row.us[who]:.1f}" for who in row.baselines[1:]) or "-"])
    return "\n\n".join([raw.origin(KERNELS), table(["workload", "roofline, us", "ours, us (min, max)", "roofline / ours", "best baseline, us", "speedup",
                                                     "other baselines, us"], lines), speedups_of(HAND)])


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
    lines = [[what, row.shown("emitted", 1), f"{row.shown(row.best, 1)} ({row.best})", f"{row.speed():.2f}"] for name, what in SHOWN.items() for row in [by_name[name]]]
    squares, llama, odd_sizes = raw.Speedups(SQUARES, NO_OVERLAP), raw.Speedups(LLAMA, NO_OVERLAP, "cublas"), raw.Speedups(ODD, NO_OVERLAP, "cublas")
    whole, hand = raw.Speedups(WHOLE), raw.Speedups(HAND)
    d = LAYERS
    return "\n\n".join([
        f"Parts of transformers, written in PyTorch, on one {d['device']} ({d['date']}, commit {d['commit']}), against the fastest of torch.compile (max-autotune), eager and cuDNN of the same call:",
        table(["part", "Zellige, us", "fastest baseline, us", "speedup"], lines),
        "\n".join([f"- All {whole.count} parts: {whole.sentence()}.",
                   f"- Standalone matmuls against cuBLAS, without overlap of launches: {squares.count} sizes, {squares.sentence()}.",
                   f"- {llama.count} matmuls of Llama 3: {llama.sentence()}. Of sizes that no tile divides, {odd_sizes.count} matmuls: {odd_sizes.sentence()}.",
                   f"- {hand.count} hand-written kernels on the library, against the fastest baseline: {hand.sentence()}."])])


def overview():
    """One row per set of workloads: number of rows, geometric mean of the speedups, the minimum, and the number slower than the baseline."""
    groups = (("parts of transformers", "fastest of torch.compile, eager, cuDNN", raw.Speedups(WHOLE), LAYERS),
              ("saved muGraphs", "fastest of torch.compile, eager", raw.Speedups(raw.rows(SAVED)), SAVED),
              ("standalone matmuls, no overlap", "cuBLAS", raw.Speedups(SQUARES, NO_OVERLAP), PRODUCTS),
              ("matmuls of Llama 3, no overlap", "cuBLAS", raw.Speedups(LLAMA, NO_OVERLAP, "cublas"), PRODUCTS),
              ("matmuls that no tile divides, no overlap", "cuBLAS", raw.Speedups(ODD, NO_OVERLAP, "cublas"), PRODUCTS),
              ("hand-written kernels", "fastest of cuBLAS, cuDNN, torch.compile, eager", raw.Speedups(HAND), KERNELS))
    lines = [[what, str(speedups.count), against, f"{speedups.mean:.3f}", f"{speedups.lowest:.3f} ({speedups.worst})", str(len(speedups.slower)), d["date"]]
             for what, against, speedups, d in groups]
    return "\n\n".join([raw.origin(LAYERS), table(["what", "rows", "baseline", "speedup, geometric mean", "least", "below 0.995", "date"], lines)])


def layer_steps():
    """The numbers of a Llama layer in docs/tutorials/torch-compile.md."""
    by_name = {row.name: row for row in WHOLE}
    lines = [[what, row.shown("emitted", 1), *(row.shown(who, 1) for who in ("compile", "eager")), f"{row.speed():.2f}"]
             for name, what in (("llama_decode", "1 sequence"), ("llama_decode_b8", "8 sequences"), ("llama_decode_b16", "16 sequences")) for row in [by_name[name]]]
    return "\n\n".join([raw.origin(LAYERS), table(["decode of a Llama 3 8B layer", "Zellige, us", "torch.compile max-autotune, us", "eager, us", "speedup over the faster"], lines)])


def bars(found, ours):
    """The data of a picture: name, fraction of the roofline bound that is reached, the same of the best baseline, and its
    name."""
    return [(row.name, row.roofline / row.us[ours], row.roofline / row.us[row.best], row.best) for row in found]


PAGES = {"README.md": {"readme": readme},
         "docs/tutorials/torch-compile.md": {"layer": layer_steps},
         "docs/performance/index.md": {"overview": overview},
         "docs/performance/tables-h200.md": {"products": products, "models": models, "odd": odd, "saved": saved, "layers": layers, "kernels": kernels},
         "docs/performance/compile-times.md": {"compile_time": compile_time}}
PICTURES = {"docs/pictures/kernels_h200.svg": lambda: bars(HAND, "ours"), "docs/pictures/emitted_h200.svg": lambda: bars(raw.rows(PRODUCTS, "gemm_"), "emitted"),
            "docs/pictures/layers_h200.svg": lambda: bars(WHOLE, "emitted")}
