#!/usr/bin/env python3
"""Writes the tables of docs/performance.md and README.md from the committed raw samples: bench/report.py [--check]"""
import json, os, re, sys

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


def short():
    d = json.load(open(os.path.join(HERE, "results", "h200.json")))
    lines = ["| graph | what | Zellige, us | Mirage's kernel for the same graph, us |", "|---|---|---|---|"]
    for r in d["rows"]:
        if r["mirage_us"]:
            lines.append(f"| {r['file']}[{r['index']}] | {r['what']} | {median(r['run']['time_us']['samples']):.1f} | {r['mirage_us']:.1f} |")
    return "\n".join(lines)


def main():
    for name, mark, table in (("docs/performance.md", "h200", h200()), ("README.md", "readme", short())):
        path = os.path.join(ROOT, name)
        page = open(path).read()
        new = re.sub(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", lambda m: m[1] + table + "\n" + m[2], page, flags=re.S)
        if "--check" in sys.argv and new != page:
            sys.exit(f"{name} does not follow from bench/results: run bench/report.py")
        if new != page:
            open(path, "w").write(new)


main()
