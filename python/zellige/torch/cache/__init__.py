"""Keeps on disk what was decided on a graph."""
