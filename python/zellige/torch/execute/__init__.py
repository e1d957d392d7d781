"""Functions that call programs and torch's kernels, and CUDA graphs of their calls."""
