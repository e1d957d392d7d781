#!/usr/bin/env python3
"""Makes the screenshots of pages of `zellige explain` in headless Chromium, light and dark, with the holders of registers open:

  docs/pictures/explain.py ZELLIGE      writes docs/pictures/explain_*.webp

The graph, plan and source, and the banks are omitted, so that the rest of a launch is on one picture. Each
picture must be smaller than 200 KB.
"""
import base64
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
# The picture's name, the graph, the launch that is shown, and the height of the window.
PAGES = [("rmsnorm", "rmsnorm.json", 0, 2500), ("llama", "layers/llama_decode.json", 3, 2500), ("gemm", "gemm.json", 0, 2800)]
LARGEST = 200_000


# Draws a picture and leaves it in the title as WebP.
CONVERT = """<title></title><img id="x" src="data:image/png;base64,{}"><script>
document.getElementById('x').onload=function(){{var c=document.createElement('canvas'); c.width=this.naturalWidth; c.height=this.naturalHeight;
c.getContext('2d').drawImage(this,0,0); document.title=c.toDataURL('image/webp',0.7);}};</script>"""


def shown(page, launch):
    """Returns the page with one launch open, without its long sections."""
    hidden = [f"#launch{i}" for i in range(40) if i != launch]
    hidden += ["nav", "#graph", ".two", ".three", "#alternatives", "details:not([open])"]
    hidden += ["h3~.banks", ".banks figure:nth-of-type(n+2)"]
    return page.replace("</head>", "<style>" + ",".join(hidden) + "{display:none}details .banks{display:flex}</style></head>").replace(
        "<details><summary>Which thread", "<details open><summary>Which thread")


def chromium(browser, *options):
    call = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *options]
    return subprocess.run(call, check=True, capture_output=True, text=True, timeout=300).stdout


def screenshot(browser, page, to, height, dark):
    png, html = page.with_suffix(".png"), page.with_name("convert.html")
    chromium(browser, f"--window-size=1280,{height}", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
             f"--screenshot={png}", f"file://{page}")
    html.write_text(CONVERT.format(base64.b64encode(png.read_bytes()).decode()))
    dom = chromium(browser, "--virtual-time-budget=20000", "--dump-dom", f"file://{html}")
    found = re.search("<title>data:image/webp;base64,([^<]+)</title>", dom)
    if not found:
        sys.exit(f"{to}: Chromium wrote no WebP")
    to.write_bytes(base64.b64decode(found[1]))
    print(f"{to.name}: {to.stat().st_size} bytes")
    if to.stat().st_size > LARGEST:
        sys.exit(f"{to}: expected at most {LARGEST} bytes, found {to.stat().st_size}")


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser or len(sys.argv) != 2:
        sys.exit(__doc__ if browser else "there is no Chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        for name, graph, launch, height in PAGES:
            subprocess.run([sys.argv[1], "explain", EXAMPLES / graph, "-o", page, "--force"], check=True)
            page.write_text(shown(page.read_text(), launch))
            for dark in (False, True):
                screenshot(browser, page, HERE / f"explain_{name}_{'dark' if dark else 'light'}.webp", height, dark)


if __name__ == "__main__":
    main()
