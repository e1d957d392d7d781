"""Decides which operators of a torch graph become programs."""
