// Defines CUDA's keywords and built-in variables for a host compiler. Most keywords are empty, because the
// emulator runs everything on the host.
#pragma once

#define __global__
#define __device__
#define __host__
// __shared__ variables become thread_local: a host thread runs one block at a time, and the CUDA threads of the
// block, which are fibers of this host thread, share its thread_local variables.
#define __shared__ thread_local
#define __constant__
#define __grid_constant__
#define __restrict__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))

// The built-in variables of the running CUDA thread; threadIdx.x is an unsigned, as in CUDA.
#define threadIdx (::zellige::emulate::self().thread)
#define blockIdx (::zellige::emulate::self().block)
#define blockDim (::zellige::emulate::self().block_size)
#define gridDim (::zellige::emulate::self().grid)
