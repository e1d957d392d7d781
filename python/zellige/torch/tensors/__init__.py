"""torch's functions on traced arrays, Zellige's functions on tensors of torch, and hand-written kernels as torch operators."""
