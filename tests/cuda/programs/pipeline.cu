// Copies tiles by cp.async, two stages ahead, by inline PTX and by the pipeline primitives. Faults: 1 the tile is read before it
// is waited for, 2 no barrier after the wait, 3 the stage is filled again while it is read, 4 a copy of 3 bytes.
#include <cuda_pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int TILE = 128, STAGES = 2;

__device__ __forceinline__ void copy16(float* to, const float* from) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\n" ::"r"(address), "l"(from), "n"(16));
}

__global__ void by_ptx(const float* x, float* y, int tiles, int fault) {
  __shared__ __align__(16) float s[STAGES][TILE];
  const int t = threadIdx.x;
  if (t < TILE / 4) copy16(&s[0][4 * t], x + 4 * t);
  asm volatile("cp.async.commit_group;\n" ::);
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles && t < TILE / 4) copy16(&s[(i + 1) % STAGES][4 * t], x + (i + 1) * TILE + 4 * t);
    asm volatile("cp.async.commit_group;");
    if (fault != 1) asm volatile("cp.async.wait_group %0;\n" ::"n"(1));
    if (fault != 2) __syncthreads();
    y[i * TILE + t] = 2 * s[i % STAGES][TILE - 1 - t];
    if (fault != 3) __syncthreads();
  }
}

__global__ void by_primitives(const float* x, float* y, int n, int fault) {
  __shared__ float s[TILE];
  const int i = blockIdx.x * TILE + threadIdx.x;
  __pipeline_memcpy_async(&s[threadIdx.x], &x[i < n ? i : 0], fault == 4 ? 3 : 4, i < n ? 0 : 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[i] = s[TILE - 1 - threadIdx.x];
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, tiles = 4, n = tiles * TILE;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i;
  float *d_x, *d_y;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, n * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  by_ptx<<<1, TILE>>>(d_x, d_y, tiles, fault);
  cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (!fault && (y[0] != 2 * 127 || y[n - 1] != 2 * 384)) return printf("wrong: %g %g\n", y[0], y[n - 1]), 1;
  by_primitives<<<tiles, TILE>>>(d_x, d_y, n - 3, fault);
  cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (!fault && (y[0] != 127 || y[n - TILE] != 0)) return printf("wrong: %g\n", y[0]), 1;
  printf("right\n");
}
