"""Graphs for the rows of the table of rewrites: a file per area. law.py has the law that each of them keeps."""

from . import of_expansions, of_flex, of_layouts, of_lengths, of_masks, of_modules, of_numbers, of_operators, of_rows, of_spellings, of_weights

REWRITES = [*of_numbers.REWRITES, *of_operators.REWRITES, *of_masks.REWRITES, *of_rows.REWRITES, *of_spellings.REWRITES, *of_layouts.REWRITES,
            *of_expansions.REWRITES, *of_lengths.REWRITES, *of_modules.REWRITES, *of_weights.REWRITES, *of_flex.REWRITES]  # fmt: skip
