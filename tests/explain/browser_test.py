#!/usr/bin/env python3
"""The pages of `zellige explain` in headless Chromium: nothing is wider than the window, choosing a tensor marks it in plan and source,
and everything that can be chosen can be reached by the keyboard.

  tests/explain/browser_test.py ZELLIGE      exits with 77 where there is no Chromium
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = ["examples/layers/llama_decode.json", "examples/gemm.json"]
# Runs in the page, and leaves what it found in the title.
PROBE = """<script>
var link=document.querySelector('pre a.id'), marked=0, unreachable=0;
if(link){link.click(); marked=link.closest('section').querySelectorAll('pre .on').length;}
document.querySelectorAll('a,pre,summary').forEach(function(x){if(x.tabIndex<0) ++unreachable;});
document.querySelectorAll('svg').forEach(function(x){if(!x.getAttribute('aria-label')) ++unreachable;});
document.title='PROBE '+document.documentElement.scrollWidth+' '+innerWidth+' '+marked+' '+unreachable;
</script></body>"""


def probe(browser, page, width):
    """Returns the page's width, the window's, how many places of plan and source were marked, and what no keyboard or reader reaches."""
    call = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},2000", "--dump-dom", f"file://{page}"]
    dom = subprocess.run(call, capture_output=True, text=True, timeout=120).stdout
    found = re.search(r"<title>PROBE (\d+) (\d+) (\d+) (\d+)</title>", dom)
    if not found:
        sys.exit(f"{page}: expected the probe's title, found {dom[:300]!r}")
    return [int(n) for n in found.groups()]


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("there is no Chromium")
        sys.exit(77)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for file in FILES:
            page = pathlib.Path(folder) / "page.html"
            subprocess.run([sys.argv[1], "explain", ROOT / file, "-o", page, "--force"], check=True)
            page.write_text(page.read_text().replace("</body>", PROBE))
            for width in (1280, 390):
                wide, window, marked, unreachable = probe(browser, page, width)
                if wide > window:
                    wrong.append(f"{file}: at {width} pixels expected a page of at most {window}, found {wide}")
                if marked < 2:
                    wrong.append(f"{file}: expected a chosen tensor to be marked in plan and source, found {marked} places")
                if unreachable:
                    wrong.append(f"{file}: {unreachable} things have no place in the order of the keyboard, or no name")
    print("\n".join(wrong) or "2 pages, at 1280 and 390 pixels")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
