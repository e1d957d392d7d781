// A sum in one launch: the block that is last to finish adds up the others' sums. Faults: 1 no __threadfence, 2 the counter is
// no atomic, 3 the block's threads learn without a barrier whether it is the last.
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ unsigned finished = 0;
__device__ volatile float partial[64];

__global__ void sum(const float* x, float* result, int n, int fault) {
  __shared__ float s[128];
  __shared__ bool last;
  const int t = threadIdx.x;
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
  s[t] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  float* plain = const_cast<float*>(partial);
  if (t == 0) {
    plain[blockIdx.x] = s[0];
    if (fault != 1) __threadfence();
    const unsigned ticket = fault == 2 ? finished++ : atomicInc(&finished, gridDim.x - 1);
    last = ticket == gridDim.x - 1;
  }
  if (fault != 3) __syncthreads();
  if (!last) return;
  if (t == 0) {
    float all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += plain[b];
    *result = all;
  }
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 3000;
  std::vector<float> x(n, 1);
  float *d_x, *d_result, result = 0;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_result, sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int round = 0; round < 2; ++round) {
    sum<<<6, 128>>>(d_x, d_result, n, fault);
    cudaMemcpy(&result, d_result, sizeof result, cudaMemcpyDeviceToHost);
    if (!fault && result != n) return printf("wrong: %g\n", result), 1;
  }
  printf("right\n");
}
