#!/usr/bin/env python3
"""Draws the diagrams of docs/ that no command of Zellige draws: boxes, arrows and time axes.

  docs/pictures/diagrams.py            writes docs/pictures/NAME.svg
  docs/pictures/diagrams.py --check    changes nothing; fails where a file is not what this script draws
"""
import os, sys
from html import escape

FOLDER = os.path.dirname(os.path.abspath(__file__))
BLUE, GREEN, YELLOW, RED, GREY = "#dbe9f6", "#dff0d8", "#fff3cd", "#f8d7da", "#eeeeee"


class Diagram:
    def __init__(self, width, height):
        self.lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
                      f'<rect width="{width}" height="{height}" fill="white"/>',
                      '<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto"><path d="M0,0 L7,3 L0,6 z" fill="#333"/></marker>']

    def text(self, x, y, words, anchor="middle", size=12, colour="#111", bold=False, mono=False):
        style = (' font-weight="bold"' if bold else "") + (' font-family="monospace"' if mono else "")
        self.lines.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{style}>{escape(words)}</text>')

    def box(self, x, y, w, h, words, fill=BLUE, size=12, mono=False):
        self.lines.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="4" fill="{fill}" stroke="#555"/>')
        rows = words.split("\n")
        for i, row in enumerate(rows):
            self.text(x + w / 2, y + h / 2 + 4 + (i - (len(rows) - 1) / 2) * (size + 3), row, size=size, mono=mono)

    def arrow(self, x1, y1, x2, y2, words="", dash=False, colour="#333", side=-6):
        extra = ' stroke-dasharray="4"' if dash else ""
        self.lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" marker-end="url(#head)"{extra}/>')
        if words:
            self.text((x1 + x2) / 2, (y1 + y2) / 2 + side, words, size=11)

    def line(self, x1, y1, x2, y2, colour="#999", dash=False):
        self.lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}"' + (' stroke-dasharray="3"' if dash else "") + "/>")

    def done(self):
        return "\n".join(self.lines + ["</svg>\n"])


def verdicts():
    d = Diagram(760, 250)
    d.box(10, 20, 190, 54, "every element within its limit?\n(rounding, worst case)", YELLOW, size=11)
    d.box(285, 20, 190, 54, "tensor within its tolerance,\nand close?", YELLOW, size=11)
    d.box(285, 120, 190, 54, "twelve random runs:\nwithin four times the greatest?", YELLOW, size=11)
    d.box(285, 205, 190, 36, "the same for two more seeds?", YELLOW, size=11)
    d.box(600, 26, 140, 42, "correct", GREEN)
    d.box(600, 202, 140, 42, "borderline", BLUE)
    d.box(35, 180, 140, 42, "wrong", RED)
    d.arrow(200, 47, 285, 47, "yes")
    d.arrow(475, 47, 600, 47, "yes")
    d.arrow(380, 74, 380, 120)
    d.text(395, 100, "no", anchor="start", size=11)
    d.arrow(380, 174, 380, 205)
    d.text(395, 193, "yes", anchor="start", size=11)
    d.arrow(475, 223, 600, 223, "yes")
    d.arrow(105, 74, 105, 180)
    d.text(112, 130, "no", anchor="start", size=11)
    d.arrow(285, 150, 175, 190, "no")
    d.arrow(285, 225, 175, 212, "no", side=14)
    return d.done()


def proxy_fences():
    d = Diagram(760, 250)
    lanes = {"threads": 50, "asynchronous proxy": 190}
    for name, y in lanes.items():
        d.text(10, y + 4, name, anchor="start", bold=True)
        d.line(140, y, 750, y)
    d.text(10, 24, "time runs to the right", anchor="start", size=11, colour="#666")
    for x, w, words, fill in ((150, 84, "write out", GREEN), (254, 110, "fence_proxy\n_async", YELLOW), (384, 96, "__syncthreads", YELLOW), (500, 90, "bulk_store", BLUE), (650, 96, "store_wait", YELLOW)):
        d.box(x, lanes["threads"] - 18, w, 36, words, fill, size=11)
    d.box(520, lanes["asynchronous proxy"] - 18, 130, 36, "reads out", BLUE)
    d.arrow(545, 68, 565, 172, "")
    d.arrow(640, 172, 690, 68, "")
    d.arrow(192, 68, 520, 182, "visible only after the fence", dash=True, colour="#a33", side=-8)
    d.text(380, 235, "The fence belongs to the thread that wrote; the barrier passes it on to the thread that issues the copy.", size=11)
    return d.done()


def online_softmax():
    d = Diagram(760, 230)
    d.text(380, 22, "one pass over the keys: three accumulators, and a factor when the maximum rises", bold=True)
    for i in range(3):
        x = 60 + 230 * i
        d.box(x, 44, 160, 34, f"key tile {i}: s = q k", BLUE)
        d.box(x, 98, 160, 34, "m' = max(m, max s)" if i else "m = max s", YELLOW)
        d.box(x, 152, 160, 52, "l = r l + sum e^(s - m')\no = r o + e^(s - m') v" if i else "l = sum e^(s - m)\no = e^(s - m) v", GREEN, size=11)
        d.arrow(x + 80, 78, x + 80, 98)
        d.arrow(x + 80, 132, x + 80, 152)
        if i:
            d.arrow(x - 70, 178, x, 178, "r = e^(m - m')")
    d.arrow(680, 178, 750, 178, "o / l")
    return d.done()


def cost():
    d = Diagram(760, 200)
    d.text(380, 20, "one kernel: what each limit alone would take, then what overlaps", bold=True)
    parts = (("DRAM", 250, BLUE), ("L2", 190, BLUE), ("shared memory", 90, BLUE), ("tensor cores", 130, BLUE), ("issue slots", 60, BLUE), ("latencies", 150, BLUE))
    for i, (name, w, fill) in enumerate(parts):
        y = 34 + i * 17
        d.text(128, y + 12, name, anchor="end", size=11)
        d.box(136, y, w, 14, "", "#9dc3e6" if i == 0 else fill)
    d.text(400, 46, "the slowest counts in full", anchor="start", size=11)
    d.text(400, 88, "of the others a share: what one iteration", anchor="start", size=11)
    d.text(400, 102, "cannot hide under the loads of another", anchor="start", size=11)
    x = 136
    for name, w, fill in (("launch", 70, GREY), ("first load", 60, GREY), ("slowest", 250, "#9dc3e6"), ("share of the rest", 110, BLUE)):
        d.box(x, 156, w, 28, name, fill, size=11)
        x += w
    d.text(128, 174, "expected time", anchor="end", size=11, bold=True)
    return d.done()


def graph_to_kernel():
    d = Diagram(760, 250)
    for x, title in ((10, "kernel graph"), (260, "block graph (one thread block)"), (520, "CUDA")):
        d.text(x, 22, title, anchor="start", bold=True)
    d.box(20, 45, 60, 28, "X"), d.box(100, 45, 60, 28, "W")
    d.box(50, 105, 80, 28, "matmul", GREEN), d.box(50, 160, 80, 28, "silu", GREEN), d.box(50, 212, 80, 28, "Y")
    d.arrow(50, 73, 75, 105), d.arrow(130, 73, 105, 105), d.arrow(90, 133, 90, 160), d.arrow(90, 188, 90, 212)
    d.box(265, 45, 95, 28, "tile of X"), d.box(385, 45, 95, 28, "tile of W")
    d.box(320, 95, 100, 28, "matmul", GREEN), d.box(320, 140, 100, 28, "accumulate", YELLOW), d.box(320, 185, 100, 28, "silu, store", GREEN)
    d.arrow(312, 73, 345, 95), d.arrow(432, 73, 395, 95), d.arrow(370, 123, 370, 140), d.arrow(370, 168, 370, 185)
    d.text(440, 118, "loop over K", anchor="start", size=11)
    d.line(430, 82, 430, 172, dash=True)
    for i, row in enumerate(("cp_async<16>(sX(..), gX(..));", "cp_async<16>(sW(..), gW(..));", "cp_async_wait<0>();", "__syncthreads();", "multiply(acc, sX, sW, warp, lane);", "silu(acc); store(gY, acc);")):
        d.text(520, 60 + 26 * i, row, anchor="start", size=11, mono=True)
    d.arrow(180, 125, 250, 125, "fuse, tile")
    d.arrow(485, 200, 515, 200, "emit")
    return d.done()


def tile_hierarchy():
    d = Diagram(760, 210)
    d.text(80, 20, "grid", bold=True), d.text(260, 20, "block: 64 x 64", bold=True), d.text(460, 20, "warp: 32 x 32", bold=True), d.text(660, 20, "mma.m16n8k16", bold=True)
    for i in range(4):
        for j in range(4):
            d.box(10 + 35 * j, 40 + 35 * i, 35, 35, "", GREEN if (i, j) == (1, 2) else BLUE)
    for i in range(2):
        for j in range(2):
            d.box(190 + 70 * j, 40 + 70 * i, 70, 70, f"warp {2 * i + j}", YELLOW if (i, j) == (0, 1) else GREEN)
    for i in range(2):
        for j in range(4):
            d.box(390 + 35 * j, 40 + 70 * i, 35, 70, "", RED if (i, j) == (1, 1) else YELLOW)
    for i in range(8):
        for j in range(4):
            d.box(590 + 35 * j, 40 + 17.5 * i, 35, 17.5, f"T{4 * i + j}", RED, size=9)
    d.arrow(150, 110, 188, 110), d.arrow(330, 110, 388, 110), d.arrow(530, 110, 588, 110)
    d.text(660, 196, "rows 0 to 7: two neighbours per lane", size=11)
    return d.done()


def schedule():
    d = Diagram(760, 190)
    d.text(380, 18, "a warp-specialized GEMM on a ring of three stages", bold=True)
    for name, y in (("producer warp", 50), ("consumer warps", 120)):
        d.text(10, y + 4, name, anchor="start", bold=True)
        d.line(120, y, 750, y)
    for i in range(6):
        x = 125 + (60 * i if i < 3 else 200 + 100 * (i - 3) + 20)
        d.box(x, 34, 54, 32, f"load {i}", BLUE, size=11)
        d.box(185 + 95 * i, 104, 88, 32, f"wgmma {i}", GREEN, size=11)
        if i < 3:
            d.arrow(x + 40, 66, 190 + 95 * i, 104, "")
    for i in range(3):
        d.arrow(260 + 95 * i, 104, 350 + 100 * i, 66, "", dash=True)
    d.text(130, 166, "solid: the full barrier of a stage ends its phase (bytes arrived)   dashed: the empty barrier (stage released)", anchor="start", size=11)
    return d.done()


def happens_before():
    d = Diagram(760, 190)
    for name, y in (("warp 0", 60), ("warp 3", 130)):
        d.text(10, y + 4, name, anchor="start", bold=True)
        d.line(70, y, 750, y)
    d.box(90, 44, 110, 32, "write s[127]", GREEN, size=11)
    d.box(90, 114, 110, 32, "write s[96..]", GREEN, size=11)
    d.box(330, 40, 90, 110, "barrier", YELLOW)
    d.box(560, 114, 120, 32, "read s[127]", BLUE, size=11)
    d.arrow(200, 60, 330, 75, "clock 1"), d.arrow(200, 130, 330, 118, "clock 1", side=14)
    d.arrow(420, 118, 560, 130, "has observed (1, 1)")
    d.text(380, 180, "With the barrier the read knows of the write. Without it the two are unordered: a race, in whatever order they ran.", size=11)
    return d.done()


DRAWINGS = (verdicts, proxy_fences, online_softmax, cost, graph_to_kernel, tile_hierarchy, schedule, happens_before)


def main():
    if set(sys.argv[1:]) - {"--check"}:
        sys.exit(__doc__)
    wrong = []
    for draw in DRAWINGS:
        path = os.path.join(FOLDER, f"{draw.__name__}.svg")
        if "--check" in sys.argv:
            if not os.path.exists(path) or open(path).read() != draw():
                wrong.append(f"docs/pictures/{draw.__name__}.svg is not what docs/pictures/diagrams.py draws: run it")
        else:
            with open(path, "w") as f:
                f.write(draw())
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
