#!/usr/bin/env python3
"""Writes the tables of docs/performance.md from the committed raw samples: bench/report.py [--check]"""
import json, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "docs", "performance.md")


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
        s = sorted(r["run"]["samples_us"])
        floor = max(r["bytes"] / rate / 1e6, r["flops"] / flops / 1e6)
        ours = median(s)
        mirage = f"{r['mirage_us']:.1f}" if r["mirage_us"] else "-"
        ratio = f"{ours / r['mirage_us']:.2f}" if r["mirage_us"] else "-"
        row = peers.get("rows", {}).get(r["peer_row"])
        peer = f"{row['best']:.2f} ({row['best_by']})" if row else "-"
        lines.append(f"| {r['file']}[{r['index']}] | {r['what']} | {floor:.2f} | {ours:.2f} ({s[0]:.2f}, {s[int(len(s) * 0.9)]:.2f}) "
                     f"| {mirage} | {ratio} | {peer} | {r['run']['status']} |")
    return "\n".join(lines)


def main():
    page = open(PAGE).read()
    new = re.sub(r"(<!-- h200 -->\n).*?(\n<!-- end -->)", lambda m: m[1] + h200() + m[2], page, flags=re.S)
    if "--check" in sys.argv:
        sys.exit(0 if new == page else "docs/performance.md does not follow from bench/results: run bench/report.py")
    open(PAGE, "w").write(new)


main()
