// A layer norm and a dot product in half and bfloat16, with vector loads of eight and votes of the block. Faults: 1 the
// vectors of a row of odd length are misaligned, 2 an index of the parameters is that of the row, 3 a warp skips the barrier.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct alignas(16) Eight {
  half2 pairs[4];
};

__global__ void dot(const half* a, const half* b, float* out, int n, int fault) {
  const half* from = a + (fault == 1 ? 1 : 0);
  float sum = 0;
  for (int i = threadIdx.x * 8; i + 8 <= n; i += blockDim.x * 8) {
    const Eight x = *reinterpret_cast<const Eight*>(from + i), y = *reinterpret_cast<const Eight*>(b + i);
    half2 part = __float2half2_rn(0.0f);
    for (int k = 0; k < 4; ++k) part = __hfma2(x.pairs[k], y.pairs[k], part);
    sum += __low2float(part) + __high2float(part);
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (threadIdx.x == 0) *out = sum;
}

__global__ void layer_norm(const __nv_bfloat16* x, const __nv_bfloat16* gamma, __nv_bfloat16* y, int columns,
                           int fault) {
  extern __shared__ float row[];
  __shared__ float mean, scale;
  const int r = blockIdx.x;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) row[c] = __bfloat162float(x[r * columns + c]);
  if (fault != 3 || threadIdx.x >= 32) __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0, squares = 0;
    for (int c = 0; c < columns; ++c) sum += row[c], squares += row[c] * row[c];
    mean = sum / columns;
    scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const __nv_bfloat16 g = gamma[fault == 2 ? r * columns + c : c];
    y[r * columns + c] = __float2bfloat16((row[c] - mean) * scale) * g;
  }
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 512, rows = 3, columns = 50;
  std::vector<half> a(n + 8, __float2half(0.5f)), b(n, half(2));
  half *d_a, *d_b;
  float *d_sum, sum;
  cudaMalloc(&d_a, a.size() * sizeof(half));
  cudaMalloc(&d_b, b.size() * sizeof(half));
  cudaMalloc(&d_sum, sizeof(float));
  cudaMemcpy(d_a, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
  dot<<<1, 32>>>(d_a, d_b, d_sum, n, fault);
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  if (!fault && sum != n) return printf("wrong: %g\n", sum), 1;

  std::vector<nv_bfloat16> x(rows * columns), gamma(columns, nv_bfloat16(1.0f)), y(rows * columns);
  for (int i = 0; i < rows * columns; ++i) x[i] = __float2bfloat16(i % 7 - 3.0f);
  nv_bfloat16 *d_x, *d_gamma, *d_y;
  cudaMalloc(&d_x, x.size() * sizeof(nv_bfloat16));
  cudaMalloc(&d_gamma, gamma.size() * sizeof(nv_bfloat16));
  cudaMalloc(&d_y, y.size() * sizeof(nv_bfloat16));
  cudaMemcpy(d_x, x.data(), x.size() * sizeof(nv_bfloat16), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, gamma.data(), gamma.size() * sizeof(nv_bfloat16), cudaMemcpyHostToDevice);
  layer_norm<<<rows, 64, columns * sizeof(float)>>>(d_x, d_gamma, d_y, columns, fault);
  cudaMemcpy(y.data(), d_y, y.size() * sizeof(nv_bfloat16), cudaMemcpyDeviceToHost);
  float squares = 0;
  for (int c = 0; c < columns; ++c) squares += float(y[c]) * float(y[c]);
  if (!fault && std::fabs(squares / columns - 1) > 0.02f) return printf("wrong: %g\n", squares / columns), 1;
  printf("right\n");
}
