"""The table of the rewrites of torch graphs: a file per area. law.py has the law that each of them keeps."""

from . import of_masks, of_numbers

REWRITES = [*of_numbers.REWRITES, *of_masks.REWRITES]
