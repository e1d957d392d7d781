// Kernels of one activation each, whose instructions ptx_test.cpp counts.
#include <zellige/atom/math.hpp>

extern "C" __global__ void one_gelu(float* x) { x[threadIdx.x] = zellige::gelu(x[threadIdx.x]); }
extern "C" __global__ void one_gelu_tanh(float* x) { x[threadIdx.x] = zellige::gelu_tanh(x[threadIdx.x]); }
extern "C" __global__ void one_silu(float* x) { x[threadIdx.x] = zellige::silu(x[threadIdx.x]); }
