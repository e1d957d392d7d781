// A product of matrices by wmma fragments, from shared memory, with two kinds of operands and both layouts of the result. Argument: 0
// right, 1 no barrier after the copy, 2 a store beyond the result, 3 only half of the warp takes part.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace nvcuda;

const int M = 64, N = 32, K = 48;

// One warp for each tile of 16 x 16; A by rows, B by columns.
template <class T>
__global__ void multiply(const T* a, const T* b, float* c, bool by_rows, int fault) {
  __shared__ T a_tile[16 * 16], b_tile[16 * 16];
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> a_part;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> b_part;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      a_tile[i] = a[(row + i / 16) * K + k + i % 16];
      b_tile[i] = b[(column + i / 16) * K + k + i % 16];
    }
    if (fault != 1) __syncthreads();
    wmma::load_matrix_sync(a_part, a_tile, 16);
    wmma::load_matrix_sync(b_part, b_tile, 16);
    if (fault != 3 || threadIdx.x < 16) wmma::mma_sync(sum, a_part, b_part, sum);
    __syncthreads();
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
  if (fault == 2) c += 16;
  if (by_rows)
    wmma::store_matrix_sync(c + row * N + column, sum, N, wmma::mem_row_major);
  else
    wmma::store_matrix_sync(c + column * M + row, sum, M, wmma::mem_col_major);
}

template <class T>
bool check(int fault, bool by_rows) {
  std::vector<T> a(M * K), b(N * K);
  for (int i = 0; i < M * K; ++i) a[i] = T(float(i * 5 % 13 - 6) / 8);
  for (int i = 0; i < N * K; ++i) b[i] = T(float(i * 3 % 17 - 8) / 8);
  T *d_a, *d_b;
  float* d_c;
  cudaMalloc(&d_a, sizeof(T) * M * K);
  cudaMalloc(&d_b, sizeof(T) * N * K);
  cudaMalloc(&d_c, sizeof(float) * M * N);
  cudaMemcpy(d_a, a.data(), sizeof(T) * M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), sizeof(T) * N * K, cudaMemcpyHostToDevice);
  multiply<T><<<dim3(N / 16, M / 16), 32>>>(d_a, d_b, d_c, by_rows, fault);
  std::vector<float> c(M * N);
  cudaMemcpy(c.data(), d_c, sizeof(float) * M * N, cudaMemcpyDeviceToHost);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += float(a[i * K + k]) * float(b[j * K + k]);
      if (std::fabs(c[by_rows ? i * N + j : j * M + i] - 2 * sum) > 1e-3f) return false;
    }
  return true;
}

int main(int, char** v) {
  const int fault = std::atoi(v[1]);
  bool right = check<__half>(fault, true);
  if (!fault) right = check<__half>(0, false) && check<__nv_bfloat16>(0, true) && right;
  std::puts(right ? "right" : "wrong");
}
