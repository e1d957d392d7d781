// C = A B by tiles in shared memory, then by tiles in registers with loads of float4. Faults: 1 no barrier after the loads,
// 2 none after the products, 3 K is no multiple of the tile and is not compared, 4 a float4 at an odd address, 5 the tile of
// B is indexed by rows that it does not have.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <int T>
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K, int fault) {
  __shared__ float a[T][T], b[T][T];
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < K; k += T) {
    const bool all = fault == 3;
    a[threadIdx.y][threadIdx.x] = all || k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0;
    b[threadIdx.y][threadIdx.x] = all || k + threadIdx.y < K ? B[(k + threadIdx.y) * N + column] : 0;
    if (fault != 1) __syncthreads();
#pragma unroll
    for (int i = 0; i < T; ++i) sum += a[threadIdx.y][i] * b[fault == 5 ? i + 1 : i][threadIdx.x];
    if (fault != 2) __syncthreads();
  }
  C[row * N + column] = sum;
}

// Each thread computes four columns.
__global__ void vectorized(const float* A, const float* B, float* C, int N, int K, int fault) {
  __shared__ __align__(16) float b[8][64];
  const int t = threadIdx.x, row = blockIdx.y * 16 + t / 16, column = t % 16 * 4;
  float sum[4] = {0, 0, 0, 0};
  for (int k = 0; k < K; k += 8) {
    if (t < 128) {
      const int r = t / 16;
      const float* from = B + (k + r) * N + blockIdx.x * 64 + column + (fault == 4 ? 1 : 0);
      *reinterpret_cast<float4*>(&b[r][column]) = *reinterpret_cast<const float4*>(from);
    }
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      const float left = A[row * K + k + i];
      const float4 right = reinterpret_cast<const float4*>(b[i])[t % 16];
      sum[0] += left * right.x;
      sum[1] += left * right.y;
      sum[2] += left * right.z;
      sum[3] += left * right.w;
    }
    __syncthreads();
  }
  reinterpret_cast<float4*>(&C[row * N + blockIdx.x * 64 + column])[0] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, M = 32, N = 64, K = fault == 3 ? 20 : 24;
  std::vector<float> a(M * K), b(K * N), c(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = i % 5;
  for (int i = 0; i < K * N; ++i) b[i] = i % 3;
  float *A, *B, *C;
  cudaMalloc(&A, a.size() * sizeof(float));
  cudaMalloc(&B, b.size() * sizeof(float));
  cudaMalloc(&C, c.size() * sizeof(float));
  cudaMemcpy(A, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(B, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  for (int kernel = 0; kernel < (fault == 3 ? 1 : 2); ++kernel) {
    if (kernel == 0) tiled<16><<<dim3(N / 16, M / 16), dim3(16, 16)>>>(A, B, C, M, N, K, fault);
    if (kernel == 1) vectorized<<<dim3(N / 64, M / 16), 256>>>(A, B, C, N, K, fault);
    cudaMemcpy(c.data(), C, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < M && !fault; ++i)
      for (int j = 0; j < N; ++j) {
        float sum = 0;
        for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
        if (sum != c[i * N + j]) return printf("wrong at %d %d: %g, not %g\n", i, j, c[i * N + j], sum), 1;
      }
  }
  printf("right\n");
}
