"""Rewrites of torch graphs, before they are partitioned and after."""
