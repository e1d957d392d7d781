// cuBLAS for programs that check their kernels with it: products of matrices and a few functions of vectors. The emulator
// computes them; their time says nothing of a GPU's.
#pragma once
#define CUBLAS_API_H_ 1
#define CUBLAS_V2_H_ 1
#include <vector>

#include "zellige/cuda/data_types.hpp"
#include "zellige/cuda/half.hpp"

enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t : int { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasPointerMode_t : int { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasMath_t : int {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
enum cublasGemmAlgo_t : int {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99
};
enum cublasComputeType_t : int {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};
using cublasHandle_t = cublasContext*;

namespace zellige::cuda {

/// The cudaDataType_t of a type.
template <class T>
inline constexpr cudaDataType_t data_type = CUDA_R_32F;
template <>
inline constexpr cudaDataType_t data_type<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType_t data_type<__half> = CUDA_R_16F;

/// Returns the type of alpha and beta of a product that is computed in a type.
inline cudaDataType_t scale_type(cublasComputeType_t t) {
  return t <= CUBLAS_COMPUTE_16F_PEDANTIC                              ? CUDA_R_16F
         : t == CUBLAS_COMPUTE_64F || t == CUBLAS_COMPUTE_64F_PEDANTIC ? CUDA_R_64F
         : t == CUBLAS_COMPUTE_32I || t == CUBLAS_COMPUTE_32I_PEDANTIC ? CUDA_R_32I
                                                                       : CUDA_R_32F;
}
/// Returns alpha or beta, which the program keeps in its own memory or in the device's.
inline double scalar(const cublasContext* handle, const void* p, cudaDataType_t type) {
  alignas(8) unsigned char bytes[8] = {};
  const std::size_t n = type == CUDA_R_64F ? 8 : type == CUDA_R_16F ? 2 : 4;
  if (handle && handle->mode == CUBLAS_POINTER_MODE_DEVICE)
    cudaMemcpy(bytes, p, n, cudaMemcpyDefault);
  else
    __builtin_memcpy(bytes, p, n);
  switch (type) {
    case CUDA_R_64F:
      return *reinterpret_cast<double*>(bytes);
    case CUDA_R_32I:
      return *reinterpret_cast<int*>(bytes);
    case CUDA_R_16F:
      return HalfFormat::widen(*reinterpret_cast<unsigned short*>(bytes));
    default:
      return *reinterpret_cast<float*>(bytes);
  }
}

/// A matrix of a product: its first element, type, leading dimension and stride in a batch.
inline MatrixProduct::Operand matrix(const void* p, cudaDataType_t type, long long pitch, long long stride = 0) {
  return {p, type, pitch, stride};
}
inline cublasStatus_t multiply(cublasHandle_t h, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                               const void* alpha, const void* beta, cudaDataType_t scale, MatrixProduct::Operand a,
                               MatrixProduct::Operand b, MatrixProduct::Operand c, int batch = 1) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  return static_cast<cublasStatus_t>(host->multiply({of_a != CUBLAS_OP_N, of_b != CUBLAS_OP_N, m, n, k, batch,
                                                     scalar(h, alpha, scale), scalar(h, beta, scale), a, b, c, c}));
}

/// A vector of the device, which is read with its first use and written at the end, if it is written at all.
template <class T>
class BlasVector {
 public:
  BlasVector(T* p, int n, int step) : p_(p), n_(n), step_(step), values_(static_cast<std::size_t>(n > 0 ? n : 0)) {
    cudaMemcpy2D(values_.data(), sizeof(T), p, pitch(), sizeof(T), values_.size(), cudaMemcpyDeviceToHost);
  }
  T& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  void write() {
    cudaMemcpy2D(p_, pitch(), values_.data(), sizeof(T), sizeof(T), values_.size(), cudaMemcpyHostToDevice);
  }

 private:
  std::size_t pitch() const { return sizeof(T) * static_cast<std::size_t>(step_ < 0 ? -step_ : step_); }
  T* p_;
  int n_, step_;
  std::vector<T> values_;
};

template <class T>
cublasStatus_t give(cublasHandle_t h, T* result, T value) {
  if (h->mode == CUBLAS_POINTER_MODE_DEVICE)
    cudaMemcpy(result, &value, sizeof(T), cudaMemcpyDefault);
  else
    *result = value;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace zellige::cuda

inline cublasStatus_t cublasCreate(cublasHandle_t* h) { return *h = new cublasContext, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(cublasHandle_t h) { return delete h, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t h, cudaStream_t s) { return h->stream = s, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetStream(cublasHandle_t h, cudaStream_t* s) {
  return *s = h->stream, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t h, cublasMath_t m) { return h->math = m, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetMathMode(cublasHandle_t h, cublasMath_t* m) {
  return *m = h->math, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t h, cublasPointerMode_t m) {
  return h->mode = m, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) { return *version = 12000, CUBLAS_STATUS_SUCCESS; }
inline const char* cublasGetStatusName(cublasStatus_t s) {
  return s == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : s == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : s == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                            : "CUBLAS_STATUS_INTERNAL_ERROR";
}
inline const char* cublasGetStatusString(cublasStatus_t s) { return cublasGetStatusName(s); }
inline cublasStatus_t cublasSetVector(int n, int size, const void* from, int from_step, void* to, int to_step) {
  return cudaMemcpy2D(to, std::size_t(to_step) * std::size_t(size), from, std::size_t(from_step) * std::size_t(size),
                      std::size_t(size), std::size_t(n), cudaMemcpyHostToDevice) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasGetVector(int n, int size, const void* from, int from_step, void* to, int to_step) {
  return cudaMemcpy2D(to, std::size_t(to_step) * std::size_t(size), from, std::size_t(from_step) * std::size_t(size),
                      std::size_t(size), std::size_t(n), cudaMemcpyDeviceToHost) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* from, int from_pitch, void* to,
                                      int to_pitch) {
  return cudaMemcpy2D(to, std::size_t(to_pitch) * std::size_t(size), from, std::size_t(from_pitch) * std::size_t(size),
                      std::size_t(rows) * std::size_t(size), std::size_t(columns),
                      cudaMemcpyHostToDevice) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* from, int from_pitch, void* to,
                                      int to_pitch) {
  return cudaMemcpy2D(to, std::size_t(to_pitch) * std::size_t(size), from, std::size_t(from_pitch) * std::size_t(size),
                      std::size_t(rows) * std::size_t(size), std::size_t(columns),
                      cudaMemcpyDeviceToHost) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_MAPPING_ERROR;
}

// Products of matrices of one type.
#define ZELLIGE_GEMM(LETTER, T)                                                                                       \
  inline cublasStatus_t cublas##LETTER##gemm(cublasHandle_t h, cublasOperation_t of_a, cublasOperation_t of_b, int m, \
                                             int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,  \
                                             const T* beta, T* c, int ldc) {                                          \
    constexpr cudaDataType_t t = ::zellige::cuda::data_type<T>;                                                       \
    return ::zellige::cuda::multiply(h, of_a, of_b, m, n, k, alpha, beta, t, ::zellige::cuda::matrix(a, t, lda),      \
                                     ::zellige::cuda::matrix(b, t, ldb), ::zellige::cuda::matrix(c, t, ldc));         \
  }                                                                                                                   \
  inline cublasStatus_t cublas##LETTER##gemmStridedBatched(                                                           \
      cublasHandle_t h, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T* alpha,          \
      const T* a, int lda, long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, T* c, int ldc, \
      long long stride_c, int batch) {                                                                                \
    constexpr cudaDataType_t t = ::zellige::cuda::data_type<T>;                                                       \
    return ::zellige::cuda::multiply(                                                                                 \
        h, of_a, of_b, m, n, k, alpha, beta, t, ::zellige::cuda::matrix(a, t, lda, stride_a),                         \
        ::zellige::cuda::matrix(b, t, ldb, stride_b), ::zellige::cuda::matrix(c, t, ldc, stride_c), batch);           \
  }
ZELLIGE_GEMM(S, float)
ZELLIGE_GEMM(D, double)
ZELLIGE_GEMM(H, __half)
#undef ZELLIGE_GEMM

// Products and functions of vectors. A matrix and a vector are a product with one column.
#define ZELLIGE_BLAS(LETTER, T)                                                                                       \
  inline cublasStatus_t cublas##LETTER##gemv(cublasHandle_t h, cublasOperation_t of_a, int m, int n, const T* alpha,  \
                                             const T* a, int lda, const T* x, int x_step, const T* beta, T* y,        \
                                             int y_step) {                                                            \
    constexpr cudaDataType_t t = ::zellige::cuda::data_type<T>;                                                       \
    if (y_step != 1) return CUBLAS_STATUS_NOT_SUPPORTED;                                                              \
    const bool transposed = of_a != CUBLAS_OP_N;                                                                      \
    return ::zellige::cuda::multiply(h, of_a, CUBLAS_OP_T, transposed ? n : m, 1, transposed ? m : n, alpha, beta, t, \
                                     ::zellige::cuda::matrix(a, t, lda), ::zellige::cuda::matrix(x, t, x_step),       \
                                     ::zellige::cuda::matrix(y, t, transposed ? n : m));                              \
  }                                                                                                                   \
  inline cublasStatus_t cublas##LETTER##axpy(cublasHandle_t h, int n, const T* alpha, const T* x, int x_step, T* y,   \
                                             int y_step) {                                                            \
    const T factor = static_cast<T>(::zellige::cuda::scalar(h, alpha, ::zellige::cuda::data_type<T>));                \
    ::zellige::cuda::BlasVector<T> a(const_cast<T*>(x), n, x_step), b(y, n, y_step);                                  \
    for (int i = 0; i < n; ++i) b[i] += factor * a[i];                                                                \
    return b.write(), CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                                   \
  inline cublasStatus_t cublas##LETTER##scal(cublasHandle_t h, int n, const T* alpha, T* x, int x_step) {             \
    const T factor = static_cast<T>(::zellige::cuda::scalar(h, alpha, ::zellige::cuda::data_type<T>));                \
    ::zellige::cuda::BlasVector<T> a(x, n, x_step);                                                                   \
    for (int i = 0; i < n; ++i) a[i] *= factor;                                                                       \
    return a.write(), CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                                   \
  inline cublasStatus_t cublas##LETTER##dot(cublasHandle_t h, int n, const T* x, int x_step, const T* y, int y_step,  \
                                            T* result) {                                                              \
    ::zellige::cuda::BlasVector<T> a(const_cast<T*>(x), n, x_step), b(const_cast<T*>(y), n, y_step);                  \
    T sum = 0;                                                                                                        \
    for (int i = 0; i < n; ++i) sum += a[i] * b[i];                                                                   \
    return ::zellige::cuda::give(h, result, sum);                                                                     \
  }                                                                                                                   \
  inline cublasStatus_t cublas##LETTER##nrm2(cublasHandle_t h, int n, const T* x, int x_step, T* result) {            \
    ::zellige::cuda::BlasVector<T> a(const_cast<T*>(x), n, x_step);                                                   \
    T sum = 0;                                                                                                        \
    for (int i = 0; i < n; ++i) sum += a[i] * a[i];                                                                   \
    return ::zellige::cuda::give(h, result, static_cast<T>(std::sqrt(sum)));                                          \
  }                                                                                                                   \
  inline cublasStatus_t cublas##LETTER##asum(cublasHandle_t h, int n, const T* x, int x_step, T* result) {            \
    ::zellige::cuda::BlasVector<T> a(const_cast<T*>(x), n, x_step);                                                   \
    T sum = 0;                                                                                                        \
    for (int i = 0; i < n; ++i) sum += a[i] < 0 ? -a[i] : a[i];                                                       \
    return ::zellige::cuda::give(h, result, sum);                                                                     \
  }
ZELLIGE_BLAS(S, float)
ZELLIGE_BLAS(D, double)
#undef ZELLIGE_BLAS

// Products of matrices of several types. Older programs give the type in which to compute as a cudaDataType_t.
inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t of_a, cublasOperation_t of_b,
                                                 int m, int n, int k, const void* alpha, const void* a,
                                                 cudaDataType_t a_type, int lda, long long stride_a, const void* b,
                                                 cudaDataType_t b_type, int ldb, long long stride_b, const void* beta,
                                                 void* c, cudaDataType_t c_type, int ldc, long long stride_c, int batch,
                                                 cublasComputeType_t compute, cublasGemmAlgo_t) {
  return ::zellige::cuda::multiply(h, of_a, of_b, m, n, k, alpha, beta, ::zellige::cuda::scale_type(compute),
                                   ::zellige::cuda::matrix(a, a_type, lda, stride_a),
                                   ::zellige::cuda::matrix(b, b_type, ldb, stride_b),
                                   ::zellige::cuda::matrix(c, c_type, ldc, stride_c), batch);
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t a_type, int lda,
                                   const void* b, cudaDataType_t b_type, int ldb, const void* beta, void* c,
                                   cudaDataType_t c_type, int ldc, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(h, of_a, of_b, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta, c,
                                    c_type, ldc, 0, 1, compute, algorithm);
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t a_type, int lda,
                                   const void* b, cudaDataType_t b_type, int ldb, const void* beta, void* c,
                                   cudaDataType_t c_type, int ldc, cudaDataType_t compute, cublasGemmAlgo_t) {
  return ::zellige::cuda::multiply(h, of_a, of_b, m, n, k, alpha, beta, compute,
                                   ::zellige::cuda::matrix(a, a_type, lda), ::zellige::cuda::matrix(b, b_type, ldb),
                                   ::zellige::cuda::matrix(c, c_type, ldc));
}
