#!/usr/bin/env python3
"""Writes the tables and the pictures of docs/performance.md and README.md from the committed raw samples: bench/report.py [--check]"""
import json, math, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")


def median(samples):
    s = sorted(samples)
    return s[len(s) // 2] if len(s) % 2 else (s[len(s) // 2 - 1] + s[len(s) // 2]) / 2


def h200():
    d = json.load(open(os.path.join(HERE, "results", "h200.json")))
    peers = d.get("peers", {})
    rate, flops = peers.get("copy_TBps", 4.27), peers.get("bf16_TFLOPs", 780)
    lines = [f"{d['gpu']}; {d['date']}; copy {rate:.2f} TB/s, bf16 matrix product {flops:.0f} TFLOP/s in the same call.", "",
             "| graph | what | floor, us | ours, us (min, p90) | Mirage's kernel, us | ours / Mirage | best peer, us | verdict |",
             "|---|---|---|---|---|---|---|---|"]
    for r in d["rows"]:
        s = sorted(r["run"]["time_us"]["samples"])
        floor = max(r["bytes"] / rate / 1e6, r["flops"] / flops / 1e6)
        ours = median(s)
        mirage = f"{r['mirage_us']:.1f}" if r["mirage_us"] else "-"
        ratio = f"{ours / r['mirage_us']:.2f}" if r["mirage_us"] else "-"
        row = peers.get("rows", {}).get(r["peer_row"])
        peer = f"{row['best']:.2f} ({row['best_by']})" if row else "-"
        lines.append(f"| {r['file']}[{r['index']}] | {r['what']} | {floor:.2f} | {ours:.2f} ({s[0]:.2f}, {s[int(len(s) * 0.9)]:.2f}) "
                     f"| {mirage} | {ratio} | {peer} | {r['run']['status']} |")
    return "\n".join(lines)


def kernels():
    """The table of the kernels written by hand, and its picture: how much of the floor's speed is reached."""
    path = os.path.join(HERE, "results", "kernels_h200.json")
    d = json.load(open(path))
    lines = [f"{d['device']}; {d['date']}; copy {d['copy_bandwidth'] / 1e12:.2f} TB/s, cuBLAS bf16 8192^3 {d['matrix_rate'] / 1e12:.0f} TFLOP/s in the same "
             f"call; {len(next(iter(d['workloads'].values()))['microseconds']['ours'])} interleaved rounds.", "",
             "| workload | floor, us | ours, us (min, max) | floor / ours | best peer, us | speed against it | other peers, us |",
             "|---|---|---|---|---|---|---|"]
    bars = []
    for name, w in d["workloads"].items():
        t = {n: median(v) for n, v in w["microseconds"].items()}
        ours = w["microseconds"]["ours"]
        best = min((n for n in t if n != "ours"), key=t.get)
        others = ", ".join(f"{n} {v:.1f}" for n, v in t.items() if n not in ("ours", best)) or "-"
        lines.append(f"| {name} | {w['floor']:.2f} | {t['ours']:.2f} ({min(ours):.2f}, {max(ours):.2f}) | {w['floor'] / t['ours']:.0%} | "
                     f"{t[best]:.2f} ({best}) | {t[best] / t['ours']:.3f} | {others} |")
        bars.append((name, w["floor"] / t["ours"], w["floor"] / t[best], best))
    return "\n".join(lines), bars


def emitted():
    """The table of what the planner emits, and its bars: evaluations that overlap, and apart."""
    d = json.load(open(os.path.join(HERE, "results", "emitted_h200.json")))
    rounds = len(next(iter(next(iter(d["workloads"].values()))["microseconds"].values())))
    lines = [f"{d['device']}; {d['date']}; copy {d['copy_bandwidth'] / 1e12:.2f} TB/s, cuBLAS bf16 8192^3 {d['matrix_rate'] / 1e12:.0f} TFLOP/s in the same "
             f"call; {rounds} interleaved rounds.", "",
             "| workload | floor, us | emitted, us | apart, us | by hand, us | apart, us | best peer, us | speed against it | apart |",
             "|---|---|---|---|---|---|---|---|---|"]
    bars = []
    for name, w in d["workloads"].items():
        t = {n: median(v) for n, v in w["microseconds"].items()}
        ours = w["ours"][0]
        peers = [n for n in t if n.partition("/")[0] not in w["ours"] + ["hand"]]
        best = min(peers, key=t.get)
        text = lambda n: f"{t[n]:.2f}" if n in t else "-"
        speed = lambda n: f"{t[best] / t[n]:.3f}" if n in t else "-"
        lines.append(f"| {name} | {w['floor']:.2f} | {text(ours)} | {text(ours + '/apart')} | {text('hand')} | {text('hand/apart')} | "
                     f"{t[best]:.2f} ({best}) | {speed(ours)} | {speed(ours + '/apart')} |")
        bars.append((name, w["floor"] / t[ours if ours in t else ours + "/apart"], w["floor"] / t[best], best))
    return "\n".join(lines), bars


def machine(d):
    rounds = len(next(iter(next(iter(d["workloads"].values()))["microseconds"].values())))
    return (f"{d['device']}; {d['date']}; copy {d['copy_bandwidth'] / 1e12:.2f} TB/s, cuBLAS bf16 8192^3 {d['matrix_rate'] / 1e12:.0f} TFLOP/s in the same "
            f"call; {rounds} interleaved rounds.")


def layers():
    """Whole parts of transformers from plain math; each row is of one call."""
    d = json.load(open(os.path.join(HERE, "results", "layers_h200.json")))
    lines = [f"{d['device']}; {d['date']}; " + "; ".join(f"call {n}: copy {c['copy_bandwidth'] / 1e12:.2f} TB/s, cuBLAS bf16 8192^3 {c['matrix_rate'] / 1e12:.0f} TFLOP/s"
                                                         for n, c in d["calls"].items()) + "; 7 or 9 interleaved rounds.",
             "", "| workload | call | floor, us | emitted, us | apart, us | tuned, us | floor / emitted | best peer, us | speed against it | others, us |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for name, w in d["workloads"].items():
        t = {n: median(v) for n, v in w["microseconds"].items()}
        peers = sorted((n for n in t if n.partition("/")[0] not in w["ours"]), key=t.get)
        others = peers[1:] + [n for n in t if n == "hand"]
        tuned = f"{t['emitted_tuned']:.2f}" if "emitted_tuned" in t else "-"
        lines.append(f"| {name} | {w['call']} | {w['floor']:.2f} | {t['emitted']:.2f} | {t['emitted/apart']:.2f} | {tuned} | {100 * w['floor'] / t['emitted']:.0f}% | "
                     f"{t[peers[0]]:.2f} ({peers[0]}) | {t[peers[0]] / t['emitted']:.3f} | {', '.join(f'{n} {t[n]:.1f}' for n in others) or '-'} |")
    return "\n".join(lines)


def models():
    """The products of Llama 3 at few and many rows, each behind the end of the one before: emitted, and its speed against cuBLAS."""
    d = json.load(open(os.path.join(HERE, "results", "models_h200.json")))
    rows = sorted({int(n.rsplit("_", 1)[1]) for n in d["workloads"]})
    lines = [machine(d), "", "| product | " + " | ".join(f"{m} row{'s' if m > 1 else ''}" for m in rows) + " |", "|---" * (len(rows) + 1) + "|"]
    ratios = []
    for product in dict.fromkeys(n.rsplit("_", 1)[0] for n in d["workloads"]):
        cells = []
        for m in rows:
            w = d["workloads"][f"{product}_{m}"]
            t = {n: median(v) for n, v in w["microseconds"].items()}
            ours = t[w["ours"][0] + "/apart"]
            ratios.append(t["cublas"] / ours)
            cells.append(f"{ours:.1f} us, {ratios[-1]:.2f}")
        lines.append(f"| {product.removeprefix('llama_')} | " + " | ".join(cells) + " |")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lines += ["", f"Geometric mean {mean:.3f} of cuBLAS's speed, least {min(ratios):.3f}."]
    return "\n".join(lines)


def odd():
    """Sizes that divide nothing, each behind the end of the one before."""
    d = json.load(open(os.path.join(HERE, "results", "odd_h200.json")))
    lines = [machine(d), "", "| product, f16 | floor, us | emitted, us | by hand, us | cuBLAS, us | speed against it |", "|---|---|---|---|---|---|"]
    ratios = []
    for name, w in d["workloads"].items():
        t = {n: median(v) for n, v in w["microseconds"].items()}
        ours = t[w["ours"][0] + "/apart"]
        if name.startswith("odd_"):
            ratios.append(t["cublas"] / ours)
        lines.append(f"| {name.removeprefix('odd_').removeprefix('gemm_f16_').replace('_nn', ', B along N')} | {w['floor']:.1f} | {ours:.1f} | {t['hand/apart']:.1f} | {t['cublas']:.1f} | {t['cublas'] / ours:.2f} |")
    lines += ["", f"Geometric mean of the {len(ratios)} with B along K {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}."]
    return "\n".join(lines)


def picture(bars):
    row, left, width = 30, 300, 400
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 120}" height="{row * len(bars) + 40}" font-family="sans-serif" font-size="12">',
           f'<text x="{left}" y="14">share of the floor\'s speed (the larger of bytes and FLOPs); dark: ours, light: the best peer</text>']
    for i, (name, ours, peer, best) in enumerate(bars):
        y = 24 + i * row
        out.append(f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{name}</text>')
        for k, (share, colour, label) in enumerate(((ours, "#1f4e79", f"{ours:.0%}"), (peer, "#9dc3e6", f"{peer:.0%} {best}"))):
            w = min(share, 1.2) * width / 1.2
            out.append(f'<rect x="{left}" y="{y + 12 * k}" width="{w:.1f}" height="11" fill="{colour}"/>'
                       f'<text x="{left + w + 4:.1f}" y="{y + 12 * k + 10}" font-size="10">{label}</text>')
    x = left + width / 1.2
    out.append(f'<line x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{24 + row * len(bars)}" stroke="#888" stroke-dasharray="3"/></svg>\n')
    return "\n".join(out)


def short():
    d = json.load(open(os.path.join(HERE, "results", "h200.json")))
    lines = ["| graph | what | Zellige, us | Mirage's kernel for the same graph, us |", "|---|---|---|---|"]
    for r in d["rows"]:
        if r["mirage_us"]:
            lines.append(f"| {r['file']}[{r['index']}] | {r['what']} | {median(r['run']['time_us']['samples']):.1f} | {r['mirage_us']:.1f} |")
    return "\n".join(lines)


def put(name, new):
    path = os.path.join(ROOT, name)
    old = open(path).read() if os.path.exists(path) else ""
    if "--check" in sys.argv and new != old:
        sys.exit(f"{name} does not follow from bench/results: run bench/report.py")
    if new != old:
        open(path, "w").write(new)


def main():
    table, bars = kernels()
    emitted_table, emitted_bars = emitted()
    for name, tables in (("docs/performance.md", {"h200": h200(), "kernels": table, "emitted": emitted_table, "layers": layers(), "models": models(), "odd": odd()}), ("README.md", {"readme": short()})):
        page = open(os.path.join(ROOT, name)).read()
        for mark, text in tables.items():
            page = re.sub(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", lambda m: m[1] + text + "\n" + m[2], page, flags=re.S)
        put(name, page)
    put("docs/pictures/kernels_h200.svg", picture(bars))
    put("docs/pictures/emitted_h200.svg", picture(emitted_bars))


main()
