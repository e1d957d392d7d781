// Reverses each block's part of an array through shared memory. With an argument, the barrier is left out: a race.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void reverse(const float* x, float* y, int n, bool barrier) {
  __shared__ float s[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  if (barrier) __syncthreads();
  y[i] = s[blockDim.x - 1 - threadIdx.x];
}

int main(int argc, char**) {
  const int n = 1000, blocks = (n + 127) / 128, padded = blocks * 128;
  std::vector<float> x(n), y(padded);
  for (int i = 0; i < n; ++i) x[i] = i;
  float *d_x, *d_y;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, padded * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  reverse<<<blocks, 128>>>(d_x, d_y, n, argc == 1);
  cudaMemcpy(y.data(), d_y, padded * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("y[0] is %g\n", y[0]);
}
