// The sum of n floats by three kernels, each faster than the one before. Faults: 1 no barrier after the loads, 2 none in
// the loop, 3 the last warp without __syncwarp, 4 a mask of 16 lanes, 5 the partial sums of warps without a barrier,
// 6 one block too few is added up.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void interleaved(const float* x, float* sums, unsigned n, int fault) {
  extern __shared__ float s[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  if (fault != 1) __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    if (fault != 2) __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

__device__ void last_warp(float* s, unsigned t, int fault) {
  for (unsigned d = 32; d > 0; d >>= 1) {
    const float v = s[t] + s[t + d];
    if (fault != 3) __syncwarp();
    s[t] = v;
    if (fault != 3) __syncwarp();
  }
}

template <unsigned BLOCK>
__global__ void sequential(const float* x, float* sums, unsigned n, int fault) {
  __shared__ float s[BLOCK + 32];
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (unsigned i = blockIdx.x * BLOCK + t; i < n; i += BLOCK * gridDim.x) sum += x[i];
  s[t] = sum;
  if (t < 32) s[BLOCK + t] = 0;
  __syncthreads();
#pragma unroll
  for (unsigned d = BLOCK / 2; d > 32; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) last_warp(s, t, fault);
  if (t == 0) sums[blockIdx.x] = s[0];
}

__device__ __forceinline__ float warp_sum(float v, int fault) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(fault == 4 ? 0xffff : 0xffffffff, v, d);
  return v;
}

__global__ void shuffled(const float* x, float* sums, unsigned n, int fault) {
  __shared__ float of_warp[32];
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i];
  const unsigned lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  sum = warp_sum(sum, fault);
  if (lane == 0) of_warp[warp] = sum;
  if (fault != 5) __syncthreads();
  if (warp > 0) return;
  sum = lane < blockDim.x / warpSize ? of_warp[lane] : 0;
  sum = warp_sum(sum, 0);
  if (lane == 0) sums[blockIdx.x] = sum;
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0;
  const unsigned n = 3000, threads = 128, blocks = (n + threads - 1) / threads;
  std::vector<float> x(n, 1.0f), sums(blocks);
  float *d_x, *d_sums;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_sums, blocks * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int kernel = 0; kernel < 3; ++kernel) {
    const unsigned grid = kernel == 0 ? blocks : 4;
    if (kernel == 0)
      interleaved<<<fault == 6 ? grid - 1 : grid, threads, threads * sizeof(float)>>>(d_x, d_sums, n, fault);
    if (kernel == 1) sequential<threads><<<grid, threads>>>(d_x, d_sums, n, fault);
    if (kernel == 2) shuffled<<<grid, threads>>>(d_x, d_sums, n, fault);
    cudaMemcpy(sums.data(), d_sums, grid * sizeof(float), cudaMemcpyDeviceToHost);
    float sum = 0;
    for (unsigned b = 0; b < grid; ++b) sum += sums[b];
    if (!fault && sum != n) return printf("wrong: %g\n", sum), 1;
  }
  printf("right\n");
}
