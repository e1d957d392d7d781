#!/usr/bin/env python3
"""Writes the performance numbers in README.md and docs/performance, from the raw samples in bench/results.

  bench/report.py             rewrites the parts between `<!-- NAME -->` and `<!-- end -->`, and the pictures
  bench/report.py --check     changes nothing; fails if a part differs from the samples, or if a measured number is outside of the parts
"""
import os, re, sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PART = r"(<!-- {} -->\n).*?(<!-- end -->)"
# A number with a unit of measurement, or with two decimals (a ratio). Versions, sizes in code and links are removed first.
MEASURED = re.compile(r"\d[\d.,]*\s?(?:us|ms|TB/s|GB/s|TFLOP/s|MiB|GiB|%|times as fast|times the speed)(?!\w)|\b\d+\.\d{2,3}\b")
NOT_MEASURED = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->|```.*?```|`[^`\n]*`|\]\([^)]*\)|CMake \d+\.\d+|PyTorch \d+\.\d+|Apache-2\.0", re.S)


def picture(bars):
    row, left, width = 30, 300, 400
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 120}" height="{row * len(bars) + 40}" font-family="sans-serif" font-size="12">',
           f'<text x="{left}" y="14">share of the roofline bound (bytes or FLOPs, whichever takes longer); dark: ours, light: the best baseline</text>']
    for i, (name, ours, baseline, best) in enumerate(bars):
        y = 24 + i * row
        out.append(f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{name}</text>')
        for k, (share, colour, label) in enumerate(((ours, "#1f4e79", f"{ours:.0%}"), (baseline, "#9dc3e6", f"{baseline:.0%} {best}"))):
            w = min(share, 1.2) * width / 1.2
            out.append(f'<rect x="{left}" y="{y + 12 * k}" width="{w:.1f}" height="11" fill="{colour}"/>'
                       f'<text x="{left + w + 4:.1f}" y="{y + 12 * k + 10}" font-size="10">{label}</text>')
    x = left + width / 1.2
    out.append(f'<line x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{24 + row * len(bars)}" stroke="#888" stroke-dasharray="3"/></svg>\n')
    return "\n".join(out)


def filled(name, page, parts):
    """The page with each part rewritten; exits if the page lacks a part."""
    for mark, text in parts.items():
        page, found = re.subn(PART.format(mark), lambda m: m[1] + text + "\n" + m[2], page, flags=re.S)
        if found != 1:
            sys.exit(f"{name}: expected one part `<!-- {mark} -->`, found {found}")
    return page


def strays(name, page):
    """Sentences with measured numbers outside of the parts."""
    kept = NOT_MEASURED.sub(lambda m: "\n" * m[0].count("\n"), page)
    return [f"{name}:{kept.count(chr(10), 0, m.start()) + 1}: the number `{m[0]}` is typed in; let bench/tables.py write it from bench/results, or leave it out"
            for m in MEASURED.finditer(kept)]


def main():
    if set(sys.argv[1:]) - {"--check"}:
        sys.exit(__doc__)
    check, wrong = "--check" in sys.argv, []
    from tables import PAGES, PICTURES
    read = lambda name: open(os.path.join(ROOT, name)).read() if os.path.exists(os.path.join(ROOT, name)) else ""
    made = {name: filled(name, read(name), {mark: make() for mark, make in parts.items()}) for name, parts in PAGES.items()}
    for name, page in made.items():
        wrong += strays(name, page)
    made.update({name: picture(bars()) for name, bars in PICTURES.items()})
    for name, text in made.items():
        if text == read(name):
            continue
        if check:
            wrong.append(f"{name} does not follow from bench/results: run bench/report.py")
        else:
            with open(os.path.join(ROOT, name), "w") as f:
                f.write(text)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
