"""Layouts in pictures: python examples/python/layouts.py [FOLDER]. A notebook displays layouts as pictures."""

import pathlib
import sys

from zellige.layout import Layout, composition, logical_divide, zipped_divide

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
rows = Layout((8, 8), (8, 1))
pictures = {
    "rows": rows,  # row-major: neighbours along a row
    "divided": logical_divide(rows, (2, 2)),  # tiles of 2x2, and which tile
    "zipped": zipped_divide(rows, (2, 4)),  # a column is a tile
    "swizzled": composition("Sw<3,0,3>", Layout("(_8,_8):(_8,_1)")),  # no two elements of a column in one bank
}
for name, layout in pictures.items():
    (folder / f"{name}.svg").write_text(layout.svg(element_bits=16))
    print(f"{name}.svg  {layout}")
