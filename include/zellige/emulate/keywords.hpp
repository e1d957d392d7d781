// CUDA's keywords for a host compiler: they are empty, because in the emulator everything runs on the host.
#pragma once

#define __global__
#define __device__
#define __host__
#define __shared__ thread_local  // a block runs on one thread of the host: its fibers share it
#define __constant__
#define __grid_constant__
#define __restrict__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))

// The built-in variables of the running thread, as CUDA names them: threadIdx.x is an unsigned.
#define threadIdx (::zellige::emulate::self().thread)
#define blockIdx (::zellige::emulate::self().block)
#define blockDim (::zellige::emulate::self().block_size)
#define gridDim (::zellige::emulate::self().grid)
