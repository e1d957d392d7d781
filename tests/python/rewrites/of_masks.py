"""Rewrites of masks, attention, rows, layouts and sums."""

REWRITES = []
