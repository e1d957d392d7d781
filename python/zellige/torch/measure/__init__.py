"""Times of torch's kernels and of programs, measured or estimated."""
