// Products of matrices by cuBLAS and cuBLASLt against loops, and functions of vectors. Argument: 0 right, 1 an operand that nothing
// has written, 2 a leading dimension beyond the matrix, 3 a matrix of the host.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class T>
T* on_device(const std::vector<T>& v) {
  T* p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
std::vector<T> numbers(int n, int seed) {
  std::vector<T> v(n);
  for (int i = 0; i < n; ++i) v[i] = T(float((i * 7 + seed) % 11 - 5) / 4);
  return v;
}
template <class T>
float at(const std::vector<T>& v, int row, int column, int pitch, bool transposed) {
  return float(transposed ? v[row * pitch + column] : v[column * pitch + row]);
}
float gelu(float x) { return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x))); }

const int M = 13, N = 9, K = 17;

// One product of each kind of transposition; alpha 2, beta -1, leading dimensions larger than the matrices.
template <class T, class F>
bool products(F gemm, int fault) {
  for (int transposed = 0; transposed < 4; ++transposed) {
    const bool ta = transposed & 1, tb = transposed & 2;
    const int lda = (ta ? K : M) + 3, ldb = (tb ? N : K) + 1, ldc = M + 2;
    const auto a = numbers<T>(lda * (ta ? M : K), 1), b = numbers<T>(ldb * (tb ? K : N), 2), c = numbers<T>(ldc * N, 3);
    T *da = on_device(a), *db = on_device(b), *dc = on_device(c);
    if (fault == 1) cudaFree(da), cudaMalloc(&da, a.size() * sizeof(T));
    if (fault == 3) da = const_cast<T*>(a.data());
    gemm(ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, da, fault == 2 ? lda + 64 : lda, db, ldb, dc,
         ldc);
    if (fault) return true;
    std::vector<T> d(ldc * N);
    cudaMemcpy(d.data(), dc, d.size() * sizeof(T), cudaMemcpyDeviceToHost);
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < ldc; ++i) {
        float sum = 0;
        for (int k = 0; i < M && k < K; ++k) sum += at(a, i, k, lda, ta) * at(b, k, j, ldb, tb);
        const float right = i < M ? 2 * sum - float(c[j * ldc + i]) : float(c[j * ldc + i]);
        if (std::fabs(float(d[j * ldc + i]) - right) > 1e-2f) return false;
      }
    cudaFree(da), cudaFree(db), cudaFree(dc);
  }
  return true;
}

// gelu(A B + bias) by cuBLASLt.
bool with_epilogue(cublasLtHandle_t h) {
  const auto a = numbers<float>(M * K, 1), b = numbers<float>(K * N, 2), bias = numbers<float>(M, 3);
  float *da = on_device(a), *db = on_device(b), *dbias = on_device(bias), *dd, alpha = 1, beta = 0;
  cudaMalloc(&dd, M * N * sizeof(float));
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t la, lb, ld;
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, M, K, M);
  cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, K, N, K);
  cublasLtMatrixLayoutCreate(&ld, CUDA_R_32F, M, N, M);
  const cublasLtEpilogue_t last = CUBLASLT_EPILOGUE_GELU_BIAS;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &last, sizeof(last));
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias, sizeof(dbias));
  if (cublasLtMatmul(h, product, &alpha, da, la, db, lb, &beta, dd, ld, dd, ld, nullptr, nullptr, 0, nullptr))
    return false;
  std::vector<float> d(M * N);
  cudaMemcpy(d.data(), dd, d.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < M; ++i) {
      float sum = bias[i];
      for (int k = 0; k < K; ++k) sum += at(a, i, k, M, false) * at(b, k, j, K, false);
      if (std::fabs(d[j * M + i] - gelu(sum)) > 1e-4f) return false;
    }
  return true;
}

int main(int, char** v) {
  const int fault = std::atoi(v[1]);
  cublasHandle_t h;
  cublasCreate(&h);
  bool right = products<float>(
      [&](cublasOperation_t a, cublasOperation_t b, float* x, int lda, float* y, int ldb, float* z, int ldc) {
        const float alpha = 2, beta = -1;
        cublasSgemm(h, a, b, M, N, K, &alpha, x, lda, y, ldb, &beta, z, ldc);
      },
      fault);
  right &= products<__half>(
      [&](cublasOperation_t a, cublasOperation_t b, __half* x, int lda, __half* y, int ldb, __half* z, int ldc) {
        const float alpha = 2, beta = -1;
        cublasGemmEx(h, a, b, M, N, K, &alpha, x, CUDA_R_16F, lda, y, CUDA_R_16F, ldb, &beta, z, CUDA_R_16F, ldc,
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
      },
      0);
  right &= with_epilogue(reinterpret_cast<cublasLtHandle_t>(h));

  const auto x = numbers<float>(40, 1), y = numbers<float>(20, 2);
  float *dx = on_device(x), *dy = on_device(y), alpha = 3, sum = 0, expected = 0;
  cublasSaxpy(h, 20, &alpha, dx, 2, dy, 1);
  cublasSdot(h, 20, dx, 2, dy, 1, &sum);
  for (int i = 0; i < 20; ++i) expected += x[2 * i] * (y[i] + 3 * x[2 * i]);
  right &= std::fabs(sum - expected) < 1e-3f;
  cublasDestroy(h);
  std::puts(right ? "right" : "wrong");
  return !right;
}
