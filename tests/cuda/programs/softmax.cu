// Softmax of rows, a warp for each row. Faults: 1 warps beyond the last row have returned in part, 2 the maximum of half of
// the lanes, 3 columns beyond the end are read, 4 the block's maximum in shared memory is read before it is written.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define FULL 0xffffffffu

__device__ float warp_max(float v, unsigned mask) {
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(mask, v, o));
  return v;
}
__device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o, 32);
  return v;
}

__global__ void softmax(const float* x, float* y, int rows, int columns, int fault) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  if (fault == 1 && lane >= columns % 32) return;
  const int end = fault == 3 ? (columns + 31) / 32 * 32 : columns;
  float m = -FLT_MAX, sum = 0;
  for (int c = lane; c < end; c += 32) m = max(m, x[row * columns + c]);
  m = warp_max(m, fault == 2 ? 0x0000ffff : FULL);
  for (int c = lane; c < columns; c += 32) sum += __expf(x[row * columns + c] - m);
  sum = warp_sum(sum);
  for (int c = lane; c < columns; c += 32) y[row * columns + c] = __expf(x[row * columns + c] - m) / sum;
}

// A block for each row.
__global__ void softmax_block(const float* x, float* y, int columns, int fault) {
  __shared__ float shared_max, shared_sum;
  __shared__ float part[4];
  const float* row = x + blockIdx.x * columns;
  float m = -FLT_MAX, sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) m = fmaxf(m, row[c]);
  m = warp_max(m, FULL);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 4; ++w) m = fmaxf(m, part[w]);
    shared_max = m;
  }
  if (fault != 4) __syncthreads();
  m = shared_max;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - m);
  sum = warp_sum(sum);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) shared_sum = part[0] + part[1] + part[2] + part[3];
  __syncthreads();
  for (int c = threadIdx.x; c < columns; c += blockDim.x) y[blockIdx.x * columns + c] = expf(row[c] - m) / shared_sum;
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, rows = 5, columns = 77;
  std::vector<float> x(rows * columns), y(rows * columns);
  for (int i = 0; i < rows * columns; ++i) x[i] = std::sin(i * 0.7f) * 3;
  float *d_x, *d_y;
  cudaMalloc(&d_x, x.size() * sizeof(float));
  cudaMalloc(&d_y, x.size() * sizeof(float));
  cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  for (int kernel = 0; kernel < 2; ++kernel) {
    cudaMemset(d_y, 0, x.size() * sizeof(float));
    if (kernel == 0) softmax<<<(rows + 1) / 2, dim3(32, 2)>>>(d_x, d_y, rows, columns, fault);
    if (kernel == 1) softmax_block<<<rows, 128>>>(d_x, d_y, columns, fault);
    cudaMemcpy(y.data(), d_y, x.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int r = 0; r < rows && !fault; ++r) {
      float sum = 0;
      for (int c = 0; c < columns; ++c) sum += y[r * columns + c];
      if (std::fabs(sum - 1) > 1e-4f) return printf("wrong in row %d: %g\n", r, sum), 1;
    }
  }
  printf("right\n");
}
